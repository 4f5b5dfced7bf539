"""fit_partitions: accuracy, bytes moved, and a cost model that these measure.

    python benchmarks/bench_partitions.py [--quick] [--data DIR]

* Accuracy on the test part for 1, 2, 4 and 8 partitions, beside `fit` on all rows in
  one place, and what 2, 4 and 8 lose on it at most; 1 partition is `fit` with
  ``shuffle=False``. Rows are dealt out in turn after one shuffle.
* Bytes moved for each partition and epoch: pickled arguments and results of the tasks.
  The rows do not count: the partitions are callables that load them.
* The cost model: seconds of an epoch on S workers are compute / S, S times the bytes
  over the bandwidth of the one machine that mixes, and S times the mixing of one state.
  Compute and mixing are measured on 1 and 8 partitions.
* Models of bits at 8 and 64 partitions: the bytes that all partitions return together,
  about n (8 ceil(m / 64) + 8). "Agreement" is the share of the predictions that are
  those of `fit`.

Without ``--data`` the rows are made up.
"""

import argparse
import os
import pickle
import sys
import time
from functools import partial
from unittest import mock

import joblib
import numpy as np
from _timing import print_header, print_table, timed
from _workloads import linear_labels, load_part, zipf_rows
from joblib.parallel import ThreadingBackend
from sklearn.base import clone

from sklboolean import (
    AveragedPerceptron,
    BooleanStump,
    BoostByMajority,
    ConjunctionLogisticRegression,
    RuleClassifier,
    Winnow,
)
from sklboolean._core import packed_partitions
from sklboolean.boosting import BoostingSchedule

SHARES = (1, 2, 4, 8)
BIT_SHARES, N_BITS, N_LITERALS = (8, 64), 100, 2
WORKERS = (1, 2, 4, 8, 16, 64, 250, 1000)
BANDWIDTH = 1.25e9  # bytes a second: 10 gigabit
LEARNERS = {"AveragedPerceptron": AveragedPerceptron(), "Winnow": Winnow()}
TABLES = {}  # what the loaders read
MOVED = []  # (sent, returned) by batch; appending is safe among threads


class CountingBackend(ThreadingBackend):
    """Threads; counts what other backends would move."""

    def submit(self, func, callback=None):
        return super().submit(partial(self.counted, func), callback)

    def counted(self, batch):
        """Run a batch of tasks and count its bytes."""
        results = batch()
        MOVED.append((len(pickle.dumps(batch)), len(pickle.dumps(results))))
        return results


joblib.register_parallel_backend("counting", CountingBackend)


def load_rows(name, number, n_parts):
    """Return one partition of a table: what a callable on a cluster reads from disk."""
    X, y = TABLES[name][:2]
    return X[number::n_parts], y[number::n_parts]


def loaders(name, n_parts):
    """Return the callables of all partitions."""
    return [partial(load_rows, name, number, n_parts) for number in range(n_parts)]


def load_tables(folder, quick):
    """Fill `TABLES` with (X, y, X_test, y_test), rows shuffled once."""
    if folder and not quick:
        for name in ("libsvm_a9a", "newsgroups20_bydate_bool"):
            rows = load_part(folder, name, "train")
            TABLES[name] = (*shuffled(*rows), *load_part(folder, name, "test"))
        return
    n_samples = 1500 if quick else 20000
    X = zipf_rows(n_samples, 2000, 60, seed=0)
    y = linear_labels(X, 0.05, seed=1)
    TABLES["made up"] = (
        X[: n_samples // 2],
        y[: n_samples // 2],
        X[n_samples // 2 :],
        y[n_samples // 2 :],
    )


def shuffled(X, y):
    """Return the rows in one random order."""
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def measure(name, learner):
    """Return accuracies in percent (fit first), and the traffic by partitions."""
    X, y, X_test, y_test = TABLES[name]
    whole = clone(learner).set_params(random_state=0).fit(X, y)
    accuracies, traffic = [100 * whole.score(X_test, y_test)], {}
    for n_parts in SHARES:
        MOVED.clear()
        model = clone(learner)
        with joblib.parallel_config("counting", n_jobs=2):
            _, seconds = timed(
                lambda model=model, n_parts=n_parts: model.fit_partitions(
                    loaders(name, n_parts), classes=np.unique(y)
                )
            )
        accuracies.append(100 * model.score(X_test, y_test))
        tasks = n_parts * model.n_iter_
        traffic[n_parts] = (
            *(np.sum(MOVED or [(0, 0)], axis=0) / tasks),
            seconds / model.n_iter_,
        )  # fmt: skip
    return accuracies, traffic


def state_bytes(name, learner):
    """Return what the cost model says a state of a linear learner weighs."""
    X, y = TABLES[name][:2]
    n_classes = len(np.unique(y))
    height = 64 * -(-X.shape[1] // 64) + 2
    arrays = 2 if isinstance(learner, AveragedPerceptron) else 5
    return 8 * arrays * height * (1 if n_classes == 2 else n_classes)


def seconds_of_mixing(state_size, repeats=3):
    """Return the seconds that mixing one more state of this size takes."""
    one, other = np.ones(state_size // 8), np.full(state_size // 8, 2.0)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        one = one + 0.5 * (other - one) + (other - one)
        times.append(time.process_time() - start)
    return min(times)


def bit_rows(n_samples):
    """Yield a row for each model of bits and number of partitions."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n_samples, N_BITS), dtype=np.uint8)
    y = (X[:, 3] & X[:, 70] | X[:, 8] & (1 - X[:, 41])) ^ (rng.random(n_samples) < 0.1)
    TABLES["bits"] = X, y.astype(np.int64)
    for model in (
        ConjunctionLogisticRegression(C=300 / n_samples, max_literals=N_LITERALS),
        RuleClassifier(
            max_literals=N_LITERALS, penalty=1.0, literal_cost=20.0, random_state=0
        ),
        BoostByMajority(
            BooleanStump(),
            n_estimators=51,
            schedule=BoostingSchedule(gamma="measured"),
            random_state=0,
        ),
    ):
        labels = clone(model).fit(X, y).predict(X)
        for n_parts in BIT_SHARES:
            joined, returned = clone(model), []
            with counted_packing(returned):
                joined.fit(loaders("bits", n_parts))
            agreement = np.mean(joined.predict(X) == labels)
            megabytes = f"{sum(returned) / 1e6:.2f}"
            yield (
                type(model).__name__,
                n_samples,
                n_parts,
                megabytes,
                f"{agreement:.4f}",
            )


def counted_packing(returned):
    """Return a context in which the bytes that packed partitions return are noted."""
    pack = packed_partitions.pack_partition

    def counted(model, number, *source):
        result = pack(model, number, *source)
        returned.append(len(pickle.dumps(result)))
        return result

    return mock.patch.object(packed_partitions, "pack_partition", counted)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, made-up rows")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with libsvm_a9a.npz and newsgroups20_bydate_bool.npz",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    print_header("Partitions")
    load_tables(options.data, options.quick)
    accuracy_rows, byte_rows, model_rows = [], [], []
    for name in TABLES:
        for learner_name, learner in LEARNERS.items():
            accuracies, traffic = measure(name, learner)
            loss = f"{accuracies[0] - min(accuracies[2:]):+.2f}"
            cells = [f"{a:.2f}" for a in accuracies]
            accuracy_rows.append((name, learner_name, *cells, loss))
            size = state_bytes(name, learner)
            for n_parts, (sent, returned, _) in traffic.items():
                cells = [f"{n / 1e3:.0f}" for n in (sent, returned, size)]
                byte_rows.append((name, learner_name, n_parts, *cells))
            compute, mixing = traffic[1][2], seconds_of_mixing(size)
            model_rows.append(
                (
                    name, learner_name, f"{1e3 * compute:.1f}",
                    *(
                        f"{1e3 * epoch_seconds(compute, size, mixing, s):.1f}"
                        for s in WORKERS
                    ),
                    f"{(compute / (2 * size / BANDWIDTH + mixing)) ** 0.5:.1f}",
                )
            )  # fmt: skip
    parts = [f"{n} parts" for n in SHARES]
    print_table(
        "Accuracy in percent on the test part",
        ["data", "learner", "fit", *parts, "worst loss"],
        accuracy_rows,
    )
    print_table(
        "Kilobytes for each partition and epoch",
        ["data", "learner", "partitions", "sent", "returned", "model, each way"],
        byte_rows,
    )
    print_table(
        "Cost model: milliseconds of an epoch by workers, 10 gigabit, one mixer",
        ["data", "learner", "compute", *map(str, WORKERS), "best S"],
        model_rows,
    )
    print_table(
        "Megabytes of bits, all partitions together",
        ["model", "samples", "partitions", "returned", "agreement"],
        list(bit_rows(2000 if options.quick else 100_000)),
    )


def epoch_seconds(compute, size, mixing, workers):
    """Return the seconds of an epoch by the cost model; one worker mixes nothing."""
    if workers == 1:
        return compute
    return compute / workers + workers * (2 * size / BANDWIDTH + mixing)


if __name__ == "__main__":
    sys.exit(main())
