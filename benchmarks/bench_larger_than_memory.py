"""From rows that are not in memory to a table of bits, models of it, and predictions.

    python benchmarks/bench_larger_than_memory.py [--quick] [--rows N] [--folder DIR]

Rows of 100 bits are made up in batches, packed into a `BitTable`, and learned from
there. Every step has a process of its own, whose peak of memory is that of the step;
pages of the mapped table count too. The folder holds the table, 24 bytes a row, a
Parquet file of the same rows, and a table of ten times the rows for the perceptron; all
are deleted. The defaults take about ten minutes of a core.

* Packing beside reading alone: the generator of arrays, and pyarrow's reader of the
  Parquet file.
* One pass of AveragedPerceptron and, as a peer, of SGDClassifier over the batches;
  models of conjunctions of two literals with a fixed C or price, whose searches are by
  tables of all sums, under ``memory_limit="2 GB"``; boosting. Seconds for 100 million
  rows are extrapolated in proportion.
* A pipeline of BooleanEncoder and AveragedPerceptron as one SQL statement with label
  and probability in DuckDB, beside ``predict`` and ``predict_proba``, on a frame of
  numbers and categories.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow
from _timing import peak_memory, print_header, print_table
from pyarrow import parquet
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BoostByMajority,
    ConjunctionLogisticRegression,
    RuleClassifier,
)
from sklboolean.io import BitTable, predict_to_parquet

N_ROWS, QUICK_ROWS, N_BITS, BATCH = 10_000_000, 100_000, 100, 65_600
SQL_ROWS, QUICK_SQL_ROWS = 1_000_000, 20_000
PER = 100_000_000  # rows of the goals
MANY = 10  # times the rows, for one pass
FILES = {"bits": "table.bits", "many": "many.bits", "parquet": "rows.parquet"}


def make_batches(n_samples):
    """Yield (X, y): random bits; two conjunctions decide, and a tenth is wrong."""
    for number, first in enumerate(range(0, n_samples, BATCH)):
        rng = np.random.default_rng([3, number])
        n = min(BATCH, n_samples - first)
        packed = rng.integers(0, 256, (n, -(-N_BITS // 8)), dtype=np.uint8)
        X = np.unpackbits(packed, axis=1, count=N_BITS).view(bool)
        y = (X[:, 3] & X[:, 70]) | (X[:, 8] & ~X[:, 41])
        yield X, (y ^ (rng.random(n) < 0.1)).astype(np.int64)


def write_parquet(path, n_samples):
    """Write the rows as a Parquet file of Boolean columns."""
    writer = None
    for X, y in make_batches(n_samples):
        columns = {f"x{j}": X[:, j] for j in range(N_BITS)} | {"y": y}
        table = pyarrow.table(columns)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


# -- the steps, each in a process of its own ------------------------------------------


def read_batches(folder, n_samples):
    """Make all rows, and forget them."""
    return sum(len(X) for X, _ in make_batches(n_samples))


def pack_batches(folder, n_samples):
    """Pack the generator."""
    return len(BitTable.write(folder / FILES["bits"], make_batches(n_samples)))


def pack_many(folder, n_samples):
    """Pack the generator, for one pass over many samples."""
    return len(BitTable.write(folder / FILES["many"], make_batches(n_samples)))


def read_parquet(folder, n_samples):
    """Read the Parquet file batch by batch."""
    file = parquet.ParquetFile(folder / FILES["parquet"])
    return sum(batch.num_rows for batch in file.iter_batches(BATCH))


def pack_parquet(folder, n_samples):
    """Pack the Parquet file."""
    path = folder / FILES["parquet"]
    return len(BitTable.write(folder / "again.bits", path, label="y"))


def fit_and_score(model, folder, memory_limit=None):
    """Fit a model to the table; return its accuracy on the first rows."""
    path = folder / FILES["bits"]
    table = BitTable(path, verify=False, memory_limit=memory_limit)
    model.fit(table)
    return float(model.score(table[:BATCH]))


def perceptron_in_epochs(folder, n_samples):
    """Five passes in random order."""
    return fit_and_score(AveragedPerceptron(max_iter=5, random_state=0), folder)


def perceptron(folder, n_samples):
    """One pass in the order of the rows, a million at a time."""
    table, model = BitTable(folder / FILES["many"], verify=False), AveragedPerceptron()
    for first in range(0, n_samples, 2**20):
        part = table[first : first + 2**20]
        model.partial_fit(part, classes=table.classes)
    return float(model.score(table[:BATCH]))


def conjunctions(folder, n_samples):
    """Conjunctions of two literals with a fixed C."""
    model = ConjunctionLogisticRegression(
        C=300 / n_samples, max_literals=2, monotone=False, work_limit=None
    )
    return fit_and_score(model, folder, "2 GB")


def boosting(folder, n_samples):
    """A vote of stumps."""
    return fit_and_score(BoostByMajority(n_estimators=15, random_state=0), folder)


def rules(folder, n_samples):
    """Rules of two literals with a fixed penalty and price."""
    model = RuleClassifier(
        max_literals=2, penalty=1.0, literal_cost=n_samples / 1000, random_state=0
    )
    return fit_and_score(model, folder, "2 GB")


def sgd(folder, n_samples):
    """The peer: one pass over the batches."""
    table, model = BitTable(folder / FILES["bits"], verify=False), SGDClassifier()
    for X, y, _ in table.batches(BATCH):
        model.partial_fit(X, y, classes=[0, 1])
    X, y, _ = next(table.batches(BATCH))
    return float(model.score(X, y))


def predict(folder, n_samples):
    """Write the predictions of a linear model for all rows."""
    table = BitTable(folder / FILES["bits"], verify=False)
    model = AveragedPerceptron(max_iter=1, random_state=0).fit(table[:BATCH])
    target = folder / "scored.parquet"
    n_samples = predict_to_parquet(model, table, target)
    target.unlink()
    return n_samples


READ = {"arrays": (read_batches, pack_batches), "Parquet": (read_parquet, pack_parquet)}
LEARN = {
    "AveragedPerceptron, one pass by slices": (perceptron, 60, MANY),
    "AveragedPerceptron, five epochs": (perceptron_in_epochs, None, 1),
    "SGDClassifier, one pass": (sgd, None, 1),
    "ConjunctionLogisticRegression, C fixed": (conjunctions, 600, 1),
    "RuleClassifier, penalty and price fixed": (rules, 600, 1),
    "BoostByMajority, 15 stumps": (boosting, None, 1),
    "predict_to_parquet": (predict, None, 1),
}
STEPS = {
    step.__name__: step
    for step in (
        read_batches, pack_batches, pack_many, read_parquet, pack_parquet, perceptron,
        perceptron_in_epochs, sgd, conjunctions, rules, boosting, predict,
    )
}  # fmt: skip


def measure(name, folder, n_samples):
    """Return the result, seconds (CPU and wall) and peak memory of a step."""
    start, cpu = time.perf_counter(), time.process_time()
    result = STEPS[name](folder, n_samples)
    seconds = time.perf_counter() - start
    cpu = time.process_time() - cpu
    return {"result": result, "wall": seconds, "cpu": cpu, "peak": peak_memory()}


def measure_apart(step, folder, n_samples):
    """Measure a step in a fresh process."""
    command = [sys.executable, __file__, "--measure", step.__name__]
    command += ["--rows", str(n_samples), "--folder", str(folder)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


# -- tables ---------------------------------------------------------------------------


def packing_rows(folder, n_samples):
    """Yield a row for each source: reading alone, and packing."""
    write_parquet(folder / FILES["parquet"], n_samples)
    for name, (read, pack) in READ.items():
        alone = measure_apart(read, folder, n_samples)
        packed = measure_apart(pack, folder, n_samples)
        yield (
            name, n_samples, f"{alone['cpu']:.1f}", f"{packed['cpu']:.1f}",
            f"{n_samples / packed['cpu']:.3g}", f"{alone['cpu'] / packed['cpu']:.0%}",
            f"{packed['peak']:.0f}",
        )  # fmt: skip
    (folder / FILES["parquet"]).unlink()
    (folder / "again.bits").unlink()


def learning_rows(folder, n_samples):
    """Yield a row for each method."""
    measure_apart(pack_many, folder, MANY * n_samples)
    for name, (step, goal, factor) in LEARN.items():
        n = n_samples * factor
        found = measure_apart(step, folder, n)
        accuracy = found["result"]
        yield (
            name, n, f"{found['cpu']:.1f}", f"{found['cpu'] * PER / n:.0f}",
            goal or "", f"{accuracy:.3f}" if accuracy <= 1 else "",
            f"{found['peak']:.0f}",
        )  # fmt: skip


def sql_rows(n_samples):
    """Yield a row for each way of scoring a frame with a pipeline."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"n{j}": rng.normal(size=n_samples) for j in range(6)})
    for j in range(4):
        frame[f"c{j}"] = rng.choice(["red", "green", "blue"], n_samples)
    y = np.where((frame["n0"] > 0) & (frame["c0"] == "red"), "yes", "no")
    model = make_pipeline(BooleanEncoder(), AveragedPerceptron(random_state=0))
    model.fit(frame[:10_000], y[:10_000])
    encoder, linear = model
    columns = linear.to_sql(output="all", encoder=encoder)
    statement = f"SELECT {columns} FROM frame AS f"
    start = time.process_time()
    scored = duckdb.sql(statement).fetchnumpy()
    yield "DuckDB, one statement", n_samples, f"{time.process_time() - start:.2f}", ""
    start = time.process_time()
    labels, probabilities = model.predict(frame), model.predict_proba(frame)
    seconds = time.process_time() - start
    differ = int((np.asarray(scored["prediction"]) != labels).sum())
    error = np.abs(np.asarray(scored["proba_yes"]) - probabilities[:, 1]).max()
    yield (
        "predict and predict_proba", n_samples, f"{seconds:.2f}",
        f"{differ} labels differ, probabilities by {error:.0e}",
    )  # fmt: skip


def main():
    """Run all steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--folder", type=Path, help="where the table is written")
    parser.add_argument("--measure", choices=STEPS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    n_samples = arguments.rows or (QUICK_ROWS if arguments.quick else N_ROWS)
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.folder, n_samples)))
        return
    print_header("Larger than memory")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        print_table(
            f"Packing {N_BITS} bits, CPU seconds",
            ["source", "rows", "reading", "packing", "rows per second",
             "of the reader's rate", "peak MiB"],
            list(packing_rows(Path(name), n_samples)),
        )  # fmt: skip
        print_table(
            "Learning from the table, CPU seconds",
            ["method", "rows", "seconds", "for 100 M rows", "goal", "accuracy",
             "peak MiB"],
            list(learning_rows(Path(name), n_samples)),
        )  # fmt: skip
    print_table(
        "A pipeline in SQL, CPU seconds", ["by", "rows", "seconds", "difference"],
        list(sql_rows(QUICK_SQL_ROWS if arguments.quick else SQL_ROWS)),
    )  # fmt: skip


if __name__ == "__main__":
    main()
