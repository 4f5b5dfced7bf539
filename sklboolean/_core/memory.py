"""The memory that a fit to a table of bits takes, its limit, and what is free."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sklboolean._core.parameters import check_integer

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
SMALLEST = 2**20
# Bytes that are asked for without a look at what is free.
FEW_BYTES = 2**26
# Where Linux tells the limit of a container, what of it is used, and which of that are
# files that it can drop, of both versions of control groups.
CONTAINER_LIMITS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
        "total_inactive_file",
    ),
)  # fmt: skip


def check_free(n_bytes, what, remedy):
    """Refuse what takes more memory than is free, before it is asked for.

    Parameters
    ----------
    n_bytes : float
    what, remedy : str
        The subject of the message, such as "The output of 1e+06 columns", and its last
        sentence.
    """
    free = free_bytes() if n_bytes > FEW_BYTES else np.inf
    if n_bytes > free:
        raise ValueError(
            f"{what} would take {n_bytes / 2**30:.3g} GiB of memory, of which "
            f"{free / 2**30:.3g} GiB are free. {remedy}"
        )


def free_bytes():
    """Read how much memory a process may still take; infinite where nothing tells.

    Linux tells what is available, and the limit of a container.
    """
    sizes = [np.inf]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        available = [line.split()[1] for line in lines if "MemAvailable" in line]
        sizes += [2**10 * int(kibibytes) for kibibytes in available]
    except OSError:  # not Linux: numpy raises MemoryError
        return np.inf
    for folder, limit, used, cached in CONTAINER_LIMITS:
        texts = (Path(folder) / name for name in (limit, used, "memory.stat"))
        try:
            n_limit, n_used, numbers = (path.read_text() for path in texts)
            n_cached = dict(map(str.split, numbers.splitlines()))[cached]
            sizes.append(int(n_limit) - int(n_used) + int(n_cached))
        except (OSError, ValueError):  # there is none, or it is "max"
            continue
    return max(0, min(sizes))


class MemoryCost(NamedTuple):
    """The most that a fit takes, the mapped file included; a slow test measures it.

    An estimator declares its own as ``_memory``. None: no bound is known.

    Attributes
    ----------
    fixed : int
        Bytes of any fit.
    of_sample : int
        Bytes of each sample, of two classes.
    of_packed : float
        Bytes of each byte of packed features.
    of_output : int
        Bytes of a sample for each class, where there are more than two.
    of_pair : int, default=0
        Bytes of each pair of classes, where there are more than two.
    """

    fixed: int
    of_sample: int
    of_packed: float
    of_output: int
    of_pair: int = 0

    def of_each(self, X, y):
        """Compute the bytes of a sample, with its label."""
        labels, n_more = _labels_and_more(X, y)
        of_labels = 2 * labels.itemsize + self.of_output * n_more
        return self.of_sample + of_labels + self.of_packed * 8 * X.words.shape[1]

    def of_all(self, X, y):
        """Compute the bytes that do not depend on the number of samples."""
        _, n_more = _labels_and_more(X, y)
        n_pairs = (n_more + 2) * (n_more + 1) // 2 if n_more else 0
        return self.fixed + self.of_pair * n_pairs


def _labels_and_more(X, y):
    """Return the labels, or the classes of a table, and how many more than two."""
    if y is None:
        y = X.classes if hasattr(X, "classes") else X.y
    labels = np.asarray(y)
    labels = labels.astype(str) if labels.dtype.kind == "O" else labels
    n_classes = len(np.unique(labels)) if labels.dtype.kind in "biuU" else 0
    return labels, max(0, n_classes - 2)


def as_bytes(limit):
    """Return a limit of memory in bytes: a number, or a text such as "2 GB"."""
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?I?B)\s*", limit.upper())
        if match is None or match[2] not in UNITS:
            raise ValueError(
                "memory_limit must be a number of bytes, or a text such as '2 GB' or "
                f"'500 MiB'; got {limit!r}."
            )
        limit = int(float(match[1]) * UNITS[match[2]])
    return check_integer(limit, "memory_limit", SMALLEST)


def bytes_left(estimator, X, y=None):
    """Return the bytes that a fit to packed samples leaves of their limit.

    Raises
    ------
    ValueError
        Where the fit may take more than the limit, before it takes anything.
    """
    limit = getattr(X, "memory_limit", None)
    if limit is None:
        return np.inf
    name, cost = type(estimator).__name__, getattr(estimator, "_memory", None)
    remedy = (
        "Fit to a part, such as table[::10], or pass slices of the table, one after "
        "the other, to partial_fit of AveragedPerceptron or Winnow"
    )
    if cost is None:
        raise ValueError(
            f"{name} with these parameters may take more than memory_limit={limit}: no "
            "bound of its memory is known. Set C, if the estimator has one. Or open "
            f"the table without memory_limit. {remedy}."
        )
    # The cost is linear in the samples; its two numbers are measured by a slow test.
    of_each = cost.of_each(X, y)
    n_bytes = limit - cost.of_all(X, y) - of_each * len(X)
    if n_bytes < 0:
        raise ValueError(
            f"{name} takes up to {limit - n_bytes:.3g} bytes to fit {len(X)} samples "
            f"of {X.n_features} features, {of_each:.0f} for each, and memory_limit is "
            f"{limit}. {remedy}. Or raise memory_limit."
        )
    return n_bytes
