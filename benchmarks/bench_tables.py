"""All classifiers at their defaults on tables of mixed columns, beside their peers.

    python benchmarks/bench_tables.py [--quick] [--data DIR] [--sizes 100 300 1000]
        [--noise 0 0.2] [--seeds N] [--only NAME ...] [--tables NAME ...] [--keep DIR]

Of each table a random 30 % are held out, and up to so many of the other samples are the
training data; a share of their labels is changed to another class ("noise"). Accuracy
and log-loss are of the held-out samples, with their true labels. Ranks are over the
learners on one table of one size, and their mean and standard error over the tables
(means over sizes and seeds first). Another table says who is first on each of them, and
gives means over splits with their standard errors. SVC gives no probabilities, so it
has no rank by log-loss. Seconds are the CPU time of ``fit``, encoding included.

Our classifiers get the columns of `BooleanEncoder`; so does `LogisticRegressionCV`, the
simplest rival. LightGBM, CatBoost and EBM get the categories as they are; forests, SVC
and `HistGradientBoosting` one-hot columns and medians for missing numbers. "tuned" is
LightGBM with the best of twelve settings by three folds and early stopping.

Seven tables come with scikit-learn and this package. With ``--data`` every Parquet file
of the folder and of its subfolder ``mixed`` is a table, whose column ``__target__`` is
the label; nursery and car, if they are there, are tables of zeros and ones. With
``--keep`` the figures of each fit are kept in a folder, and a run that was interrupted
continues. Empty it when the package changes.
"""

import argparse
import os
import sys
import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from _peers import StoppedLightGBM
from _timing import kept, print_header, print_table
from _workloads import load_part
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import sklboolean
from sklboolean.datasets import (
    load_mushroom,
    load_recurrence,
    load_votes,
    make_tic_tac_toe,
)

OWN = (
    "BooleanGaussianProcessClassifier", "ConjunctionLogisticRegression",
    "KernelPerceptron", "AveragedPerceptron", "Winnow", "BooleanSVC",
    "BoostByMajority", "RuleClassifier",
)  # fmt: skip
# The columns of the table that names the first on each table.
SHOWN = (
    "BooleanEnsembleClassifier", "ConjunctionLogisticRegression", "BooleanSVC",
    "RuleClassifier", "LogisticRegressionCV", "LightGBM", "LightGBM, tuned",
    "CatBoost", "EBM",
)  # fmt: skip
SHARE_HELD_OUT, MOST_HELD_OUT, LEAST_OF_CLASS = 0.3, 2000, 3


class TunedLightGBM(ClassifierMixin, BaseEstimator):
    """LightGBM with the best of twelve settings by three folds."""

    def fit(self, X, y):
        from lightgbm import LGBMClassifier, early_stopping

        folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
        found = []
        for leaves, rate, least in product((4, 15, 31), (0.02, 0.08), (5, 20)):
            model = LGBMClassifier(
                num_leaves=leaves, learning_rate=rate, min_child_samples=least,
                n_estimators=400, n_jobs=1, verbose=-1,
            )  # fmt: skip
            losses, rounds = [], []
            for train, test in folds:
                one = clone(model).fit(
                    X.iloc[train], y[train], eval_set=[(X.iloc[test], y[test])],
                    callbacks=[early_stopping(30, verbose=False)],
                )  # fmt: skip
                losses.append(min(*one.evals_result_["valid_0"].values()))
                rounds.append(one.best_iteration_ or 100)
            found.append((np.mean(losses), model, max(5, int(np.mean(rounds)))))
        _, model, n_rounds = min(found, key=lambda each: each[0])
        self.model_ = model.set_params(n_estimators=n_rounds).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class NativeCatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost at its defaults, which takes categories as texts."""

    def _texts(self, X):
        names = X.select_dtypes("category").columns
        texts = X[names].astype(object).fillna("missing").astype(str)
        return X.assign(**texts), list(names)

    def fit(self, X, y):
        from catboost import CatBoostClassifier

        X, names = self._texts(X)
        self.model_ = CatBoostClassifier(
            verbose=0, thread_count=1, cat_features=names, allow_writing_files=False
        ).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(self._texts(X)[0])


def one_hot(model, *, scales=False):
    """Put one-hot columns and imputed numbers before a model."""
    numbers = [SimpleImputer(strategy="median"), *([StandardScaler()] * scales)]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer(
        (encoder, make_column_selector(dtype_include="category")),
        remainder=make_pipeline(*numbers),
    )
    return make_pipeline(columns, model)


def on_bits(model):
    """Put our encoder before a model."""
    return make_pipeline(sklboolean.BooleanEncoder(), model)


def learners():
    """Make all learners whose packages are installed, by name."""
    regression = LogisticRegressionCV(max_iter=1000, scoring="neg_log_loss", cv=5)
    forest = partial(RandomForestClassifier, random_state=0)
    found = {
        "BooleanEnsembleClassifier": sklboolean.BooleanEnsembleClassifier(),
        **{name: on_bits(getattr(sklboolean, name)()) for name in OWN},
        "LogisticRegressionCV": on_bits(regression),
        "SVC(rbf)": one_hot(SVC(), scales=True),
        "forest": one_hot(forest()),
        "forest, leaves of 5": one_hot(forest(min_samples_leaf=5)),
        "HistGradientBoosting": one_hot(HistGradientBoostingClassifier()),
    }
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        print("Peer left out: lightgbm")
    else:
        found["LightGBM"] = LGBMClassifier(verbose=-1, n_jobs=1)
        found["LightGBM, early stopping"] = StoppedLightGBM(random_state=0)
        found["LightGBM, tuned"] = TunedLightGBM()
    try:
        import catboost  # noqa: F401
    except ImportError:
        print("Peer left out: catboost")
    else:
        found["CatBoost"] = NativeCatBoost()
    try:
        from interpret.glassbox import ExplainableBoostingClassifier
    except ImportError:
        print("Peer left out: interpret")
    else:
        found["EBM"] = ExplainableBoostingClassifier(n_jobs=1)
    return found


def load_progression():
    """Load the diabetes data: is the progression above its median?"""
    X, y = load_diabetes(return_X_y=True, scaled=False, as_frame=True)
    return X, (y > y.median()).astype(int)


def read_parquet(path):
    """Read a table of the data folder."""
    frame = pd.read_parquet(path)
    return frame, frame.pop("__target__")


def tables(folder):
    """Make the functions that load the tables, by name."""
    options = {"return_X_y": True, "as_frame": True}
    found = {
        "breast cancer": partial(load_breast_cancer, **options),
        "wine": partial(load_wine, **options),
        "diabetes": load_progression,
        "votes": partial(load_votes, **options),
        "recurrence": partial(load_recurrence, **options),
        "mushroom": partial(load_mushroom, **options),
        "tic-tac-toe": partial(make_tic_tac_toe, return_X_y=True),
    }
    if folder is None:
        print("Tables left out: those of --data")
        return found
    paths = sorted(
        [*Path(folder).glob("*.parquet"), *Path(folder).glob("mixed/*.parq*")]
    )
    bits = {
        name: partial(load_part, folder, file, "all")
        for name, file in (("car", "uci_car"), ("nursery", "uci_nursery"))
        if (Path(folder) / f"{file}.npz").exists()
    }
    return found | bits | {path.stem: partial(read_parquet, path) for path in paths}


def draw(load, size, noise, seed):
    """Draw training and held-out samples; change a share of the training labels."""
    X, y = load()
    X, codes = pd.DataFrame(X), np.unique(np.asarray(y), return_inverse=True)[1]
    X.columns = list(map(str, X.columns))
    texts = X.select_dtypes(exclude=["number", "bool"]).columns
    X = X.astype(dict.fromkeys(texts, "category"))
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(codes))
    n_test = min(int(SHARE_HELD_OUT * len(codes)), MOST_HELD_OUT)
    test, train = order[:n_test], order[n_test:][:size]
    counts = np.bincount(codes[train], minlength=codes.max() + 1)
    common = np.flatnonzero(counts >= LEAST_OF_CLASS)
    train, test = (part[np.isin(codes[part], common)] for part in (train, test))
    codes = np.searchsorted(common, codes)
    labels = codes[train].copy()
    wrong = rng.random(len(labels)) < noise
    labels[wrong] += rng.integers(1, max(2, len(common)), wrong.sum())
    return X.iloc[train], labels % len(common), X.iloc[test], codes[test]


def has_two_classes(load, sizes, n_seeds):
    """Tell whether each training part of a table has two classes or more."""
    return all(
        len(np.unique(draw(load, size, 0.0, seed)[1])) > 1
        for size, seed in product(sizes, range(n_seeds))
    )


def evaluate(model, load, size, noise, seed):
    """Fit a learner and measure accuracy, log-loss and seconds."""
    X, y, X_test, y_test = draw(load, size, noise, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        np.random.seed(seed)
        fitted = clone(model).fit(X, y)
        seconds = time.process_time() - start
        if not hasattr(fitted, "predict_proba"):
            return float(np.mean(fitted.predict(X_test) == y_test)), None, seconds
        table = fitted.predict_proba(X_test)
    loss = log_loss(y_test, table, labels=fitted.classes_)
    right = np.mean(fitted.classes_[table.argmax(axis=1)] == y_test)
    return float(right), float(loss), seconds


def mean_and_error(values, decimals=2):
    """Write a mean with its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.{decimals}f} +- {error:.{decimals}f}"


def print_ranks(title, names, figures):
    """Print ranks and means; ``figures`` are (table, size, learner, seed, 3).

    Learners without probabilities have the log-loss NaN.
    """
    right, loss, seconds = np.moveaxis(figures.mean(axis=-2), -1, 0)
    by_right = rankdata(-right.round(4), axis=-1).mean(axis=1)
    has_loss = ~np.isnan(loss[0, 0])
    by_loss = np.full(by_right.shape, np.nan)
    ranks = rankdata(loss[..., has_loss].round(4), axis=-1)
    by_loss[:, has_loss] = ranks.mean(axis=1)
    behind = right.mean(axis=1).max(axis=1, keepdims=True) - right.mean(axis=1)
    rows = [
        [
            name, mean_and_error(by_right[:, k]), f"{right[..., k].mean():.4f}",
            mean_and_error(by_loss[:, k]) if has_loss[k] else "",
            f"{loss[..., k].mean():.4f}" if has_loss[k] else "",
            f"{np.mean(behind[:, k] > 0.015):.2f}", f"{seconds[..., k].mean():.2g}",
        ]
        for k, name in enumerate(names)
    ]  # fmt: skip
    columns = [
        "learner", "rank by accuracy", "accuracy", "rank by log-loss", "log-loss",
        "share of tables 1.5 points behind the best", "fit s",
    ]  # fmt: skip
    print_table(title, columns, rows)


def print_by_table(title, tables, names, figures):
    """Print who is first on each table, and the figures of the learners of `SHOWN`.

    ``figures`` are (table, learner, seed, 3), of one size.
    """
    right, loss, _ = np.moveaxis(figures.mean(axis=-2), -1, 0)
    shown = [k for k, name in enumerate(names) if name in SHOWN]
    rows = [
        [
            table, names[np.argmax(right[t])], names[np.nanargmin(loss[t])],
            *(" / ".join(mean_and_error(part, 3) for part in figures[t, k, :, :2].T)
              for k in shown),
        ]
        for t, table in enumerate(tables)
    ]  # fmt: skip
    columns = ["table", "first by accuracy", "first by log-loss"]
    print_table(title, columns + [names[k] for k in shown], rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one split, two tables")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.2])
    parser.add_argument("--seeds", type=int, default=5, help="number of splits")
    parser.add_argument("--only", nargs="+", help="names of learners")
    parser.add_argument("--tables", nargs="+", help="names of tables")
    parser.add_argument("--keep", type=Path, help="folder for the figures so far")
    options = parser.parse_args(arguments)
    print_header("sklboolean: classifiers on tables of mixed columns")
    found, models = tables(options.data), learners()
    models = {n: m for n, m in models.items() if n in (options.only or models)}
    found = {n: load for n, load in found.items() if n in (options.tables or found)}
    if options.quick:
        found = {name: found[name] for name in ("votes", "diabetes")}
        options.sizes, options.noise, options.seeds = [100], [0.0], 1
    for name, load in list(found.items()):
        if not has_two_classes(load, options.sizes, options.seeds):
            print(f"Table left out, a part has one class: {name}")
            del found[name]
    print(f"  splits      {options.seeds}, of {len(found)} tables\n")
    for noise in options.noise:
        figures = np.array([
            [[
                [
                    kept(options.keep, f"{name} {table} {size} {noise} {seed}",
                         partial(evaluate, model, load, size, noise, seed))
                    for seed in range(options.seeds)
                ]
                for name, model in models.items()
            ] for size in options.sizes]
            for table, load in found.items()
        ], dtype=float)  # fmt: skip
        sizes = ", ".join(map(str, options.sizes))
        wrong = f"{100 * noise:.0f} % wrong labels, training samples:"
        print_ranks(f"Ranks with {wrong} {sizes}", list(models), figures)
        for k, size in enumerate(options.sizes):
            title = f"By table, accuracy / log-loss, {wrong} {size}"
            print_by_table(title, list(found), list(models), figures[:, k])


if __name__ == "__main__":
    sys.exit(main())
