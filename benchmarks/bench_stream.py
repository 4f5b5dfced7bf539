"""Learning from a stream: rows per second, and memory and time that must not grow.

    python benchmarks/bench_stream.py [--quick] [--rows N] [--only NAME ...]

Sparse rows are made up a chunk at a time, learned, and forgotten. Each learner has a
process of its own, so that the peaks of one do not hide what another takes:

* rows per second of CPU time spent in the learner, and the time of the second half of
  the stream over that of the first: 1 when time grows with the number of rows, and no
  faster.
* Resident memory after a tenth, a half and all of the stream, and what was added since
  the first tenth: 0 when the stream leaves nothing behind.

Slow learners get fewer rows, which the table says.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _timing import peak_memory, print_header, print_table
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    ConjunctionClassifier,
    FilteringBoostByMajority,
    HalvingClassifier,
    KernelPerceptron,
    OnlineBoostByMajority,
    QueryByCommittee,
    SampledCombinationMachine,
    Winnow,
)
from sklboolean.boosting import FilteringSchedule

N_ROWS, QUICK_ROWS, CHUNK_ROWS = 10_000_000, 6000, 10_000
WIDE, NARROW = (10_000, 20), (64, 8)  # features, and how many of a row are true
CLASSES = np.array([0, 1])


# -- the stream -----------------------------------------------------------------------


def make_chunks(n_samples, chunk_rows, shape, noise):
    """Yield (X, y): CSR of ones; y says whether the rows have a negative weight sum.

    Columns are drawn in proportion to 1 / rank, with repetition; ``noise`` is the share
    of labels that are wrong. With None the label is the conjunction of two negations.
    """
    n_features, n_true = shape
    weights = np.random.default_rng(0).standard_normal(n_features)
    for number in range(n_samples // chunk_rows):
        rng = np.random.default_rng([1, number])
        drawn = rng.random((chunk_rows, n_true), dtype=np.float32)
        # The inverse of a logarithm, about: P(column < c) is log(c) / log(n_features).
        columns = np.minimum(np.exp(drawn * np.log(n_features)), n_features) - 1
        # 32 bits: scikit-learn's trees take no others.
        indptr = np.arange(0, chunk_rows * n_true + 1, n_true, dtype=np.int32)
        X = sparse.csr_array(
            (np.ones(columns.size), columns.astype(np.int32).ravel(), indptr),
            shape=(chunk_rows, n_features),
        )
        X.sum_duplicates()
        X.data[:] = 1
        if noise is None:
            y = np.asarray(X[:, [3, 5]].sum(axis=1)).ravel() == 0
        else:
            y = (X @ weights < 0) ^ (rng.random(chunk_rows) < noise)
        yield X, y.astype(np.int64)


# -- learners -------------------------------------------------------------------------


def by_parts(learner, chunks):
    """Learn each chunk by ``partial_fit``."""
    if hasattr(learner, "score_samples"):
        for X, _ in chunks:
            learner.partial_fit(X)
        return
    for X, y in chunks:
        learner.partial_fit(X, y, classes=CLASSES)


def by_stream(learner, chunks):
    """Learn from a generator."""
    learner.fit_stream(chunks, classes=CLASSES)


def learners():
    """Return learner, how it learns, shape of rows, noise, and what N is divided by."""
    # Edges so small that the rounds last as long as the stream.
    boosters = {
        mode: FilteringBoostByMajority(
            schedule=FilteringSchedule(gamma=g, target_error=0.05, mode=mode),
            random_state=0,
        )
        for mode, g in (("theory", 0.1), ("practical", 0.03))
    }
    committee = QueryByCommittee(
        DecisionTreeClassifier(max_depth=3), epsilon=None, n_members=2, random_state=0
    )  # fmt: skip
    budget = KernelPerceptron(max_support=500, random_state=0)
    machine = SampledCombinationMachine(32, random_state=0)
    line = OnlineBoostByMajority(n_estimators=11, random_state=0)
    mixture = BernoulliMixture(10, random_state=0)
    return {
        "AveragedPerceptron": (AveragedPerceptron(), by_parts, WIDE, 0.05, 1),
        "Winnow": (Winnow(), by_parts, WIDE, 0.05, 1),
        "ConjunctionClassifier": (ConjunctionClassifier(), by_parts, NARROW, None, 1),
        "BernoulliMixture": (mixture, by_parts, NARROW, 0.05, 1),
        "OnlineBoostByMajority": (line, by_parts, NARROW, 0.2, 1),
        "QueryByCommittee, fit_stream": (committee, by_stream, NARROW, None, 1),
        "FilteringBoostByMajority, theory": (
            boosters["theory"], by_stream, NARROW, 0.2, 1,
        ),
        "FilteringBoostByMajority": (boosters["practical"], by_parts, NARROW, 0.2, 10),
        "SampledCombinationMachine": (machine, by_parts, NARROW, 0.05, 10),
        "HalvingClassifier, 8193": (
            HalvingClassifier(max_literals=2), by_parts, NARROW, None, 10,
        ),
        "KernelPerceptron, 500": (budget, by_parts, NARROW, 0.05, 10),
    }  # fmt: skip


# -- one learner, in a process of its own ---------------------------------------------


def resident():
    """Return the memory that the process holds now, in MiB."""
    try:
        with open("/proc/self/statm") as fields:
            return int(fields.read().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return peak_memory()  # where there is no such file: it grows at least as much


class Meter:
    """Passes chunks on and notes, when the next is asked for, what was used until then.

    The time that it takes to make the chunks is left out.
    """

    def __init__(self, chunks):
        self.chunks = chunks
        self.seconds, self.memory, self.n_samples = [], [], 0

    def __iter__(self):
        for X, y in self.chunks:
            start = time.process_time()
            yield X, y
            self.seconds.append(time.process_time() - start)
            self.memory.append(resident())
            self.n_samples += len(y)


def measure(name, n_samples):
    """Return what the table shows of one learner."""
    learner, learn, shape, noise, divisor = learners()[name]
    n_samples = max(n_samples // divisor, min(n_samples, QUICK_ROWS))
    chunks = make_chunks(n_samples, min(CHUNK_ROWS, n_samples // 10), shape, noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels are noisy; streams end
        meter = Meter(chunks)
        learn(learner, meter)
    n_chunks = len(meter.seconds)
    half = n_chunks // 2
    # The first chunk starts what later ones go on with.
    halves = [np.sum(meter.seconds[1:half]), np.sum(meter.seconds[half + 1 :])]
    tenths = [max(0, n_chunks * tenth // 10 - 1) for tenth in (1, 5, 10)]
    return {
        "rows": meter.n_samples,
        "speed": meter.n_samples / np.sum(meter.seconds),
        "memory": [meter.memory[i] for i in tenths],
        "halves": float(halves[1] / halves[0]) if halves[0] else 1.0,
    }


def measure_apart(name, n_samples):
    """Measure a learner in a fresh process."""
    here = Path(__file__)
    command = [sys.executable, str(here), "--measure", name, "--rows", str(n_samples)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout)


def row_of_table(name, found):
    """Return the row of the table for what was measured."""
    memory = found["memory"]
    return (
        name, found["rows"], f"{found['speed']:.3g}",
        *(f"{value:.0f}" for value in memory), f"{memory[2] - memory[0]:+.1f}",
        f"{found['halves']:.2f}",
    )  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, few rows")
    parser.add_argument("--rows", type=int, help=f"of the stream; {N_ROWS}")
    parser.add_argument("--only", nargs="+", choices=learners(), metavar="NAME")
    parser.add_argument("--measure", choices=learners(), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    n_samples = options.rows or (QUICK_ROWS if options.quick else N_ROWS)
    if options.measure:
        print(json.dumps(measure(options.measure, n_samples)))
        return
    print_header("Streams")
    rows = []
    for name in options.only or learners():
        # A process each takes a second or two to start: not for a quick look.
        found = (measure if options.quick and rows else measure_apart)(name, n_samples)
        rows.append(row_of_table(name, found))
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    print_table(
        f"Streams, {CHUNK_ROWS} rows at a time",
        [
            "learner", "rows", "rows per second", "MiB at 1/10", "at 1/2", "at the end",
            "growth", "second half / first",
        ],
        rows,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
