"""BooleanEncoder beside scikit-learn's encoders, DensityImputer beside its imputers.

    python benchmarks/bench_preprocessing.py [--quick]

Speed: a data frame of ten columns of numbers and ten of text. Accuracy: classifiers on
encoded breast cancer data, and the share of erased cells that imputers fill in wrongly
on two bundled tables of categories.
"""

import argparse
import warnings
from functools import partial

import numpy as np
import pandas as pd
from _timing import compare, milliseconds, print_header, print_table, ratio_cells
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BoostByMajority,
    DensityImputer,
    KernelPerceptron,
)
from sklboolean.datasets import make_monks, make_tic_tac_toe

GOAL = 3


def mixed_frame(n_samples, seed=0):
    """Make ten columns of numbers, three of them integers, and ten of text."""
    rng = np.random.default_rng(seed)
    columns = {f"number {j}": rng.normal(size=n_samples) for j in range(7)}
    columns |= {f"count {j}": rng.integers(0, 100, n_samples) for j in range(3)}
    for j in range(10):
        levels = np.array([f"level {k}" for k in range(2 + 2 * j)])
        columns[f"text {j}"] = rng.choice(levels, n_samples)
    return pd.DataFrame(columns)


def speed(n_samples, repeats):
    """Print the time of fit and transform beside ColumnTransformer."""
    frame = mixed_frame(n_samples)
    text = [name for name in frame if name.startswith("text")]
    numbers = [name for name in frame if name not in text]
    bins = KBinsDiscretizer(8, encode="onehot", quantile_method="averaged_inverted_cdf")
    peer = ColumnTransformer(
        [("levels", OneHotEncoder(), text), ("bins", bins, numbers)]
    )
    rows = []
    for name, X in (
        ("str", frame),
        ("object", frame.astype(dict.fromkeys(text, object))),
    ):
        dense = BooleanEncoder()
        shorter = BooleanEncoder(complement=False, sparse_output=True)
        for kind, ours in (
            ("dense", dense),
            ("CSR", BooleanEncoder(sparse_output=True)),
            ("CSR, no complement", shorter),
        ):
            fitted, theirs = clone(ours).fit(X), clone(peer).fit(X)
            transforms = {
                "theirs": partial(theirs.transform, X),
                "ours": partial(fitted.transform, X),
            }
            fits = {
                "theirs": partial(clone(peer).fit_transform, X),
                "ours": partial(clone(ours).fit_transform, X),
            }
            for task, runs in (("transform", transforms), ("fit_transform", fits)):
                times = compare(runs, repeats)
                cells = ratio_cells(times["theirs"], times["ours"], GOAL)
                shown = [milliseconds(times[who]) for who in ("theirs", "ours")]
                rows.append([task, kind, name, *shown, *cells])
    columns = [
        "task",
        "output",
        "text as",
        "ColumnTransformer, ms",
        "ours, ms",
        "ratio",
        "goal",
        "",
    ]
    print_table(f"Encoding {n_samples} samples of 20 columns", columns, rows)


def accuracy(n_shuffles):
    """Print the accuracy of classifiers on encoded numbers."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    models = (
        KernelPerceptron(max_literals=2, random_state=0),
        AveragedPerceptron(random_state=0),
        BoostByMajority(random_state=0),
    )
    bins = KBinsDiscretizer(8, quantile_method="averaged_inverted_cdf")
    encoders = {"BooleanEncoder": BooleanEncoder(), "KBinsDiscretizer": bins}
    rows = []
    for model in models:
        cells = []
        for encoder in encoders.values():
            scores = [
                cross_val_score(
                    make_pipeline(encoder, model), X, y,
                    cv=StratifiedKFold(5, shuffle=True, random_state=seed),
                ).mean()
                for seed in range(n_shuffles)
            ]  # fmt: skip
            error = np.std(scores) / np.sqrt(n_shuffles)
            cells.append(f"{np.mean(scores):.4f} +- {error:.4f}")
        rows.append([type(model).__name__, *cells])
    print_table("Accuracy on breast cancer, five folds", ["model", *encoders], rows)


def as_categories(data):
    """Undo the one-hot encoding of a bundled data set."""
    names = [name.split("=") for name in data.feature_names]
    columns = {}
    for j, (column, level) in enumerate(names):
        values = columns.setdefault(column, np.full(len(data.data), None))
        values[np.asarray(data.data)[:, j] > 0] = level
    return pd.DataFrame(columns).assign(label=np.asarray(data.target).astype(str))


def imputation():
    """Print the share of erased cells that are filled in wrongly."""
    rows = []
    for name, data in (("tic-tac-toe", make_tic_tac_toe()), ("monks 1", make_monks(1))):
        full = as_categories(data)
        for share in (0.1, 0.3, 0.5):
            erased = np.random.default_rng(0).random(full.shape) < share
            gaps = full.mask(erased)
            encoder = BooleanEncoder(missing="propagate").fit(gaps)
            bits = encoder.transform(gaps)
            filled = {"ours": DensityImputer(random_state=0).fit_transform(gaps)}
            for peer in (SimpleImputer(strategy="mean"), KNNImputer()):
                means = peer.fit_transform(bits)
                chosen = np.zeros(means.shape)
                for column in full:
                    places = np.flatnonzero(encoder.feature_groups_ == column)
                    best = places[means[:, places].argmax(axis=1)]
                    chosen[np.arange(len(full)), best] = 1
                values = encoder.inverse_transform(chosen)
                filled[type(peer).__name__] = pd.DataFrame(values, columns=full.columns)
            wrong = {
                who: (X != full).to_numpy()[erased].mean() for who, X in filled.items()
            }
            cells = [f"{wrong[k]:.3f}" for k in ("SimpleImputer", "KNNImputer", "ours")]
            rows.append([name, f"{share:.0%}", *cells])
    columns = ["data", "erased", "most frequent", "KNNImputer", "DensityImputer"]
    print_table("Share of erased cells filled in wrongly", columns, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    print_header("Preprocessing")
    # A million samples need few repeats.
    speed(20_000, 3) if quick else speed(1_000_000, 1)
    accuracy(1 if quick else 8)
    imputation()


if __name__ == "__main__":
    main()
