"""Versions of what is installed, for bug reports."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from sklboolean._core._cpu import available_cpu_paths, cpu_path

PACKAGES = ("sklboolean", "scikit-learn", "numpy", "scipy", "joblib", "matplotlib")


def show_versions():
    """Print the versions of what sklboolean runs on, and the processor path chosen.

    The environment variable ``SKLBOOLEAN_CPU`` (plain, avx2 or avx512) chooses another
    path before the import. Results are the same on all of them.

    Examples
    --------
    >>> import sklboolean
    >>> sklboolean.show_versions()  # doctest: +ELLIPSIS
    System
      python: ...
    """
    print("System")
    print(f"  python: {sys.version.split()[0]}")
    print(f"  platform: {platform.platform()}")
    print(f"  CPU path: {cpu_path()} of {', '.join(available_cpu_paths())}")
    print("Packages")
    for name in PACKAGES:
        try:
            print(f"  {name}: {version(name)}")
        except PackageNotFoundError:
            print(f"  {name}: not installed")
