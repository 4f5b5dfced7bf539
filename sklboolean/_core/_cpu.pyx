"""The instruction set that the compiled loops use.

It is chosen once, at import: the fastest that the processor has, or the one that the
environment variable ``SKLBOOLEAN_CPU`` names. Results are the same for all of them.
"""
import os

cdef extern from "dispatch.h":
    int sklb_highest_level()

CPU_PATHS = ("plain", "avx2", "avx512")

cdef int cpu_level = sklb_highest_level()


def available_cpu_paths():
    """List the names of the instruction sets that this processor can run."""
    return CPU_PATHS[: sklb_highest_level() + 1]


def cpu_path():
    """Give the name of the instruction set in use."""
    return CPU_PATHS[cpu_level]


def use_cpu_path(name):
    """Switch all compiled loops to one instruction set (for tests and benchmarks)."""
    global cpu_level
    if name not in available_cpu_paths():
        raise ValueError(
            f"The instruction set {name!r} is not one of those that this processor "
            f"runs: {available_cpu_paths()}. Check SKLBOOLEAN_CPU."
        )
    cpu_level = CPU_PATHS.index(name)


if os.environ.get("SKLBOOLEAN_CPU"):
    use_cpu_path(os.environ["SKLBOOLEAN_CPU"])
