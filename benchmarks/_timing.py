"""What the benchmark scripts share: timing, forced CPU paths, tables, the header.

Import it before numpy does any work: it limits BLAS to one thread.
"""

import contextlib
import datetime
import json
import platform
import re
import resource
import time
from importlib.metadata import version
from statistics import median

from sklboolean._core._cpu import available_cpu_paths, cpu_path, use_cpu_path
from threadpoolctl import threadpool_info, threadpool_limits

NUMBER = re.compile(r"[ 0-9.x]*")

threadpool_limits(1)


def cpu_name():
    """Return the model name, family and model number of the processor."""
    fields = {}
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    if "model name" not in fields:
        return platform.processor() or platform.machine()
    return "{} (family {}, model {})".format(
        fields["model name"], fields.get("cpu family"), fields.get("model")
    )


def print_header(title):
    """Print what a reader needs to judge the numbers."""
    print(title)
    print(f"  date        {datetime.date.today().isoformat()}")
    print(f"  CPU         {cpu_name()}")
    print(f"  sklboolean  {version('sklboolean')}, CPU path {cpu_path()}")
    packages = ("numpy", "scipy", "scikit-learn")
    print("  packages    " + ", ".join(f"{p} {version(p)}" for p in packages))
    for library in threadpool_info():
        if library["user_api"] == "blas":
            owner = "numpy" if "numpy" in library["filepath"] else "scipy"
            print(
                "  BLAS        of {}: {internal_api} {version}, {num_threads} thread, "
                "core type {architecture}".format(
                    owner, **{"architecture": "unknown", **library}
                )
            )
    print("  times       medians of CPU time, peers in turn in one process")


def compare(functions, repeats=3, warm_ups=1):
    """Return the median CPU time of each function, in seconds.

    Parameters
    ----------
    functions : dict of callables without arguments
    repeats : int
        Each round calls every function once, so that a disturbance of the machine
        meets all of them.
    warm_ups : int
        Rounds before these, which are not counted: 0 for fits of a minute.
    """
    times = {name: [] for name in functions}
    for round_ in range(-warm_ups, repeats):
        for name, function in functions.items():
            start = time.process_time()
            result = function()
            elapsed = time.process_time() - start
            del result  # freeing the result is nobody's work
            if round_ >= 0:
                times[name].append(elapsed)
    return {name: median(values) for name, values in times.items()}


def timed(function):
    """Call once; return the result and the CPU time in seconds."""
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def kept(folder, name, function):
    """Return a result made of lists, dictionaries, texts and numbers.

    Parameters
    ----------
    folder : Path or None
        Holds the results of earlier runs, a JSON file for each: so a long run can be
        interrupted, and continues where it ended. None: nothing is kept.
    name : str
    function : callable without arguments
        Called if there is no earlier result.
    """
    if folder is None:
        return function()
    path = folder / (re.sub(r"\W+", "_", name) + ".json")
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(function(), default=float))
    return json.loads(path.read_text())


def on_path(path, function):
    """Return a function that runs with one instruction set forced."""

    def run():
        before = cpu_path()
        use_cpu_path(path)
        try:
            return function()
        finally:
            use_cpu_path(before)

    return run


def forced_paths():
    """Return the instruction sets of this processor, the fastest first."""
    return tuple(reversed(available_cpu_paths()))


def peak_memory():
    """Return the most memory that the process has held so far, in MiB."""
    with contextlib.suppress(OSError), open("/proc/self/status") as lines:
        for line in lines:
            if line.startswith("VmHWM:"):  # not the parent's, as that of getrusage
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak_memory():
    """Let ``peak_memory`` start from the memory that is held now, where Linux can."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def milliseconds(seconds):
    """Write a time in ms with three digits or more."""
    value = 1e3 * seconds
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def as_ratio(peer, ours):
    """Write how many times as long a peer takes as we do."""
    ratio = peer / ours
    return f"{ratio:.0f}x" if ratio >= 20 else f"{ratio:.1f}x"


def print_table(title, columns, rows):
    """Print a Markdown table: texts to the left, numbers to the right."""
    table = [columns, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    is_number = [
        all(NUMBER.fullmatch(cell) for cell in column[1:])
        for column in zip(*table, strict=True)
    ]
    table.insert(
        1,
        [
            "-" * (width - 1) + (":" if number else "-")
            for width, number in zip(widths, is_number, strict=True)
        ],
    )
    print(f"\n### {title}\n")
    for row in table:
        cells = zip(row, widths, is_number, strict=True)
        texts = [c.rjust(w) if number else c.ljust(w) for c, w, number in cells]
        print("| " + " | ".join(texts) + " |", flush=True)
