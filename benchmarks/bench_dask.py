"""From a Dask data frame of mixed columns to a model, beside peers.

    python benchmarks/bench_dask.py [--quick] [--rows N]

A cluster of two worker processes with a thread each makes a frame of 10 columns of
numbers and 10 of text, in 8 partitions. Each learner gets it in a cluster of its own,
as a user would write it: the row "lines" counts the lines between the frame and the
fitted model. Peers are Dask's interfaces of LightGBM and XGBoost and ``Incremental`` of
dask-ml over SGDClassifier; those that are not installed are left out.

* MB moved are all bytes of the loopback interface.
  Other programs that use it at the time are counted, too. "of the bits" divides them by
  the packed features and labels: 8 bytes for 64 features and 1 for a label.
* CPU seconds are those of the driver and of both workers, making the frame included.
* Log-loss is that of 100,000 rows that no learner saw.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
import psutil
from _timing import print_header, print_table
from dask import dataframe
from dask.distributed import Client, LocalCluster
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanGradientBoostingClassifier,
    ConjunctionLogisticRegression,
    RuleClassifier,
)

N_ROWS, QUICK_ROWS, TEST_ROWS, PARTS = 1_000_000, 20_000, 100_000, 8
NUMBERS = [f"n{j}" for j in range(10)]
TEXTS = [f"t{j}" for j in range(10)]
COLUMNS = NUMBERS + TEXTS
LEVELS = np.array(["amber", "blue", "coral", "denim", "ebony", "fern"])


def make_part(number, n_samples):
    """Make one partition: three conditions decide, and some noise."""
    rng = np.random.default_rng([5, number])
    columns = {name: rng.normal(size=n_samples).round(3) for name in NUMBERS}
    columns |= {name: LEVELS[rng.integers(0, 6, n_samples)] for name in TEXTS}
    frame = pd.DataFrame(columns)
    score = 2.0 * ((frame["n0"] > 0.3) & (frame["t0"] == "blue"))
    score += 1.5 * ((frame["n1"] < 0) & frame["t1"].isin(["amber", "fern"]))
    score += (frame["n2"] > 0) - 1.2
    frame["y"] = (rng.random(n_samples) < 1 / (1 + np.exp(-score))).astype(np.int64)
    return frame


def fit_pipeline(learner):
    """Make the function that fits an encoder and a learner."""

    def fit(frame, client):
        frame = frame.persist()  # read once, as the peers do
        model = make_pipeline(BooleanEncoder(), learner)
        model.fit(frame[COLUMNS], frame["y"])
        return model.predict_proba

    return fit


def as_categories(frame):
    """Give texts the type that LightGBM and XGBoost read."""
    dtype = pd.CategoricalDtype(LEVELS)
    return frame.assign(**{name: frame[name].astype(dtype) for name in TEXTS})


def fit_lightgbm(frame, client):
    import lightgbm

    frame = frame.map_partitions(as_categories).persist()
    model = lightgbm.DaskLGBMClassifier(client=client, verbose=-1)
    model.fit(frame[COLUMNS], frame["y"])
    model = model.to_local()
    return lambda X: model.predict_proba(as_categories(X))


def fit_xgboost(frame, client):
    from xgboost.dask import DaskXGBClassifier

    frame = frame.map_partitions(as_categories).persist()
    model = DaskXGBClassifier(enable_categorical=True)
    model.client = client
    model.fit(frame[COLUMNS], frame["y"])
    booster = model.get_booster()

    def predict(X):
        import xgboost

        data = xgboost.DMatrix(as_categories(X), enable_categorical=True)
        return booster.predict(data)

    return predict


def as_numbers(frame):
    """Write texts as columns of zeros and ones."""
    return pd.get_dummies(as_categories(frame), columns=TEXTS, dtype=np.float64)


def fit_incremental(frame, client):
    from dask_ml.wrappers import Incremental

    numbers = frame.map_partitions(as_numbers).persist()
    names = [name for name in numbers.columns if name != "y"]
    X = numbers[names].to_dask_array(lengths=True)
    y = numbers["y"].to_dask_array(lengths=True)
    model = Incremental(SGDClassifier(loss="log_loss", random_state=0))
    model.fit(X, y, classes=[0, 1])
    return lambda X: model.estimator_.predict_proba(as_numbers(X).to_numpy())


# The functions that fit, and the lines of a user between the frame and the model.
LEARNERS = {
    "BooleanGradientBoostingClassifier": (
        fit_pipeline(BooleanGradientBoostingClassifier(random_state=0)),
        3,
    ),
    "AveragedPerceptron": (fit_pipeline(AveragedPerceptron(random_state=0)), 3),
    "RuleClassifier": (fit_pipeline(RuleClassifier(random_state=0)), 3),
    "ConjunctionLogisticRegression, C=.01": (
        fit_pipeline(ConjunctionLogisticRegression(C=0.01)),
        3,
    ),
    "DaskLGBMClassifier": (fit_lightgbm, 4),
    "DaskXGBClassifier": (fit_xgboost, 5),
    "Incremental(SGDClassifier)": (fit_incremental, 6),
}


def cpu_seconds():
    """Sum the CPU seconds of the driver and of its workers."""
    driver = psutil.Process()
    processes = [driver, *driver.children(recursive=True)]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def measure(fit, n_samples, test):
    """Fit in a cluster of its own; return MB moved, CPU and wall seconds, log-loss."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        meta = make_part(0, 10).head(0)
        frame = dataframe.from_map(
            make_part, range(PARTS), n_samples=n_samples // PARTS, meta=meta
        )
        interface = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
        cpu, wall = cpu_seconds(), time.perf_counter()
        predict = fit(frame, client)
        moved = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - interface
        used = cpu_seconds() - cpu, time.perf_counter() - wall
        return moved, *used, log_loss(test["y"], predict(test[COLUMNS]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--learners", default="", help="parts of names, by commas")
    options = parser.parse_args()
    n_samples = QUICK_ROWS if options.quick else options.rows
    print_header("From a Dask data frame to a model")
    test = make_part(PARTS, TEST_ROWS)
    n_bits = BooleanEncoder().fit(test[COLUMNS], test["y"]).order_.size
    bits = n_samples * (8 * -(-n_bits // 64) + 1)
    print(
        f"  {n_samples} rows, {n_bits} features: {bits / 1e6:.1f} MB packed with labels"
    )
    rows = []
    for name, (fit, n_lines) in LEARNERS.items():
        if not any(part in name for part in options.learners.split(",")):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                moved, cpu, wall, loss = measure(fit, n_samples, test)
            except ImportError as error:
                print(f"  left out: {name}, {error}")
                continue
        numbers = (
            f"{moved / 1e6:.1f}",
            f"{moved / bits:.2f}",
            f"{cpu:.1f}",
            f"{wall:.1f}",
        )
        rows.append([name, str(n_samples), *numbers, f"{loss:.4f}", str(n_lines)])
    header = ["learner", "rows", "MB moved", "of the bits", "CPU s", "wall s"]
    print_table("A frame of 20 mixed columns", [*header, "log-loss", "lines"], rows)


if __name__ == "__main__":
    main()
