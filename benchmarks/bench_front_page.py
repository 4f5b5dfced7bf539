"""The table of the README: models at their defaults on real data.

    python benchmarks/bench_front_page.py [--quick] [--data DIR] [--seeds N]
        [--slow N] [--keep DIR]

Means over random splits that hold out a quarter of the samples: ten, of EBM, which is
slow, three. Accuracy and log-loss are of the held-out samples. Seconds are the CPU time
of ``fit``, with the encoding of numbers. Size is what a reader of the model reads,
the median over the splits: weights that are not 0, leaves, curves and surfaces (EBM),
support vectors or conjunctions.

`LogisticRegression` gets standardized numbers, our models the columns of
`BooleanEncoder`, and LightGBM and EBM the numbers as they are. Data of zeros and
ones are given to all models as they are. "Early stopping" is LightGBM with up to 1000
rounds, ended by a tenth of the training samples.

Breast cancer (of scikit-learn), diabetes (is the progression above its median?) and
votes need nothing; a9a, nursery, car and the breast cancer data of Ljubljana need
``--data``. Of a9a and nursery 4000 samples are drawn for each split; classes of fewer
than 20 samples are left out. With ``--keep`` the figures of each split are kept in a
folder, and a run that was interrupted continues. Empty it when the package changes.
"""

import argparse
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from statistics import mean, median, stdev

import numpy as np
from _peers import StoppedLightGBM
from _timing import kept, print_header, print_table
from _workloads import load_part
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    ConjunctionLogisticRegression,
    KernelPerceptron,
)
from sklboolean.datasets import load_votes

MOST_SAMPLES, SMALLEST_CLASS = 4000, 20
TITLE = "Accuracy / log-loss on held-out samples, seconds of fit, size"


def weights(model):
    """Count the weights that are not 0."""
    return np.count_nonzero(model.coef_)


def leaves(model):
    """Count the leaves of all trees of LightGBM."""
    return sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])


def graphs(model):
    """Count the curves and surfaces of EBM."""
    return len(model.term_scores_)


def conjunctions(model):
    """Count the conjunctions."""
    return len(model.conjunctions_)


def support_vectors(model):
    """Count the support vectors."""
    return np.sum(model.n_support_)


def peer_models():
    """Make the peers that are installed: each with its size, and what it gets."""
    found = {"LogisticRegression": (LogisticRegression(max_iter=1000), weights)}
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        print("Peer left out: lightgbm")
    else:
        found["LightGBM"] = (LGBMClassifier(verbose=-1, n_jobs=1), leaves)
        found["LightGBM, early stopping"] = (StoppedLightGBM(), leaves)
    try:
        from interpret.glassbox import ExplainableBoostingClassifier
    except ImportError:
        print("Peer left out: interpret")
    else:
        found["EBM"] = (ExplainableBoostingClassifier(n_jobs=1), graphs)
    return found


OWN = {
    "`AveragedPerceptron`": (AveragedPerceptron(), weights),
    "`KernelPerceptron`": (KernelPerceptron(), support_vectors),
    "`ConjunctionLogisticRegression`": (ConjunctionLogisticRegression(), conjunctions),
}


def load_progression():
    """Load the diabetes data: is the progression above its median?"""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return X, (y > np.median(y)).astype(int)


def load_all(folder, name, parts):
    """Load parts of a file of the data folder, as one dense array."""
    found = [load_part(folder, name, part) for part in parts]
    return np.vstack([X for X, _ in found]), np.concatenate([y for _, y in found])


def data_sets(folder):
    """Make the functions that load the data."""
    found = {
        "breast cancer": partial(load_breast_cancer, return_X_y=True),
        "diabetes": load_progression,
        "votes": partial(load_votes, return_X_y=True),
    }
    if folder is None:
        print("Data left out: a9a, nursery, car, recurrence; they need --data")
        return found
    return {
        "a9a": partial(load_all, folder, "libsvm_a9a", ("train", "test")),
        "nursery": partial(load_all, folder, "uci_nursery", ("all",)),
        "car": partial(load_all, folder, "uci_car", ("all",)),
        "recurrence": partial(
            load_all, folder, "uci_breast_cancer_ljubljana", ("all",)
        ),
        **found,
    }


def draw(X, y, seed):
    """Draw samples of the classes that are not tiny; number the classes from 0."""
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    common = np.flatnonzero(counts[numbers] >= SMALLEST_CLASS)
    chosen = np.random.default_rng(seed).permutation(common)[:MOST_SAMPLES]
    return X[chosen], np.unique(y[chosen], return_inverse=True)[1]


def evaluate(model, size, load, seed):
    """Fit to three quarters of the samples, and measure on the others."""
    X, y = draw(*load(), seed)
    train, test = train_test_split(np.arange(len(y)), random_state=seed, stratify=y)
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=seed)
    is_ours = type(model).__module__.startswith("sklboolean")
    is_boolean = np.isin(X, (0, 1)).all()
    steps = [clone(model)]
    if not is_boolean and is_ours:
        steps.insert(0, BooleanEncoder())
    elif not is_boolean and isinstance(model, LogisticRegression):
        steps.insert(0, StandardScaler())
    whole = make_pipeline(*steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        whole.fit(X[train], y[train])
        seconds = time.process_time() - start
        probabilities = whole.predict_proba(X[test])
        accuracy = np.mean(whole.predict(X[test]) == y[test])
    loss = log_loss(y[test], probabilities, labels=whole.classes_)
    return float(accuracy), float(loss), seconds, int(size(whole[-1]))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one split, two data sets")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--seeds", type=int, default=10, help="number of splits")
    parser.add_argument("--slow", type=int, default=3, help="splits of EBM, at most")
    parser.add_argument("--keep", type=Path, help="folder for the figures so far")
    options = parser.parse_args(arguments)
    print_header("sklboolean: the table of the README")
    seeds = range(1 if options.quick else options.seeds)
    few = seeds[: options.slow]
    print(f"  splits      {len(seeds)} (EBM: {len(few)}), a quarter held out\n")
    sets, models = data_sets(options.data), {**peer_models(), **OWN}
    ebm_last = sorted(models, key=lambda name: name == "EBM")
    if options.quick:
        sets = {name: sets[name] for name in ("diabetes", "votes")}
    # By model and data set: accuracies, losses, seconds, sizes, one for each split.
    found = {
        (name, data): list(zip(*(
            kept(options.keep, f"{data} {name} {seed}",
                 partial(evaluate, *models[name], load, seed))
            for seed in (few if name == "EBM" else seeds)
        ), strict=True))
        for name in ebm_last
        for data, load in sets.items()
    }  # fmt: skip
    shown = {name: name for name in models} | {"EBM": f"EBM (splits: {len(few)})"}
    head = next(iter(sets))
    columns = ["model", *sets, f"fit, {head}", f"size, {head}"]
    rows = []
    for name in models:
        scores = [found[name, data][:2] for data in sets]
        cells = [f"{mean(right):.3f} / {mean(loss):.3f}" for right, loss in scores]
        seconds, sizes = found[name, head][2:]
        cells += [f"{mean(seconds):.2g} s", f"{median(sizes):.0f}"]
        rows.append([shown[name], *cells])
    print_table(TITLE, columns, rows)
    if len(few) > 1:
        rows = [
            [shown[name], *(
                " / ".join(f"{stdev(part) / len(part) ** 0.5:.3f}" for part in
                           found[name, data][:2])
                for data in sets
            )]
            for name in models
        ]  # fmt: skip
        print_table("Standard errors", ["model", *sets], rows)
    rows = [
        [shown[name], *(
            f"{mean(found[name, data][2]):.2g} s, {median(found[name, data][3]):.0f}"
            for data in sets
        )]
        for name in models
    ]  # fmt: skip
    print_table("Seconds of fit and size, on all data", ["model", *sets], rows)


if __name__ == "__main__":
    sys.exit(main())
