"""All models at their defaults on tables of mixed columns, beside their peers.

    python benchmarks/bench_tables.py [--quick] [--data DIR] [--sizes 300 1000 ...]
        [--targets classes numbers] [--noise 0 0.2] [--seeds N ...] [--half report]
        [--only NAME ...] [--without NAME ...] [--tables NAME ...] [--keep DIR]

Of each table a random 30 % are held out, and up to so many of the other samples are the
training data; a share of their labels is changed to another class ("noise"). Accuracy
and log-loss, and R2 of numbers, are of the held-out samples, with their true labels.
For each size there are three tables. Ranks are over the learners on one table (means
over splits first), and their mean and standard error over the tables. The lead is that
of the first learner, as means over tables with their standard errors. The last one says
who is first on each table, and gives means over splits with their standard errors. With
noise the ensemble also knows the share of wrong labels ("share known"), and estimates
it ("share estimated"). SVC gives no probabilities, so it has no rank by log-loss.
Seconds are the CPU time of ``fit``, encoding included.

Our models get the columns of `BooleanEncoder`; so do `LogisticRegressionCV` and
`RidgeCV`, the simplest rivals, which skrub also puts behind its own encoders. LightGBM,
XGBoost, CatBoost and EBM get the categories as they are; forests, SVC and
`HistGradientBoosting` one-hot columns and medians for missing numbers. "tuned" is
LightGBM with the best of twelve settings by three folds and early stopping. Learners
are left out of more samples than `MOST_SAMPLES`.

Seven tables come with scikit-learn and this package. With ``--data`` every Parquet file
of the folder and of its subfolders ``mixed`` and ``wide`` is a table, whose column
``__target__`` is the label, or a number if it is a float; nursery and car, if they are
there, are tables of zeros and ones. ``--half report`` takes the tables on which no
shape of the ensembles was chosen; hypothyroid and storms among them shaped the bins. A
table is left out at a size, except the smallest, of which it does not fill half. With
``--keep`` the figures of each fit are kept in a folder, and a run that was interrupted
continues. Empty it when the package changes.
"""

import argparse
import os
import sys
import time
import warnings
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from _peers import StoppedLightGBM
from _timing import kept, print_header, print_table
from _workloads import load_part
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
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
    "BooleanEnsembleClassifier", "ConjunctionLogisticRegression", "RuleClassifier",
    "LogisticRegressionCV", "LightGBM, early stopping", "LightGBM, tuned",
    "CatBoost", "EBM", "BooleanEnsembleRegressor",
    "BooleanGaussianProcessRegressor", "ConjunctionRegressor", "RidgeCV",
)  # fmt: skip
OWN_OF_NUMBERS = (
    "BooleanGaussianProcessRegressor", "ConjunctionRegressor",
    "BooleanGradientBoostingRegressor",
)  # fmt: skip
# The most samples of learners that are slow, or whose time grows with their square, and
# of those that are further behind.
MOST_SAMPLES = dict.fromkeys(
    (
        "KernelPerceptron", "AveragedPerceptron", "Winnow", "BooleanSVC",
        "BoostByMajority", "RuleClassifier", "SVC(rbf)", "forest",
    ),
    300,
) | {
    "BooleanGaussianProcessClassifier": 1000, "BooleanGaussianProcessRegressor": 1000,
}  # fmt: skip
# The tables of `wide` and `mixed` on which members, bins and trees of the ensembles
# were chosen.
CHOICE = (
    "sick", "stops", "flights", "krkopt", "hpc", "wa_churn", "monica", "nasscds",
    "bike", "kchouse", "salaries",
)  # fmt: skip
PEERS = ("lightgbm", "xgboost", "catboost", "skrub", "interpret")
SHARE_HELD_OUT, MOST_HELD_OUT, LEAST_OF_CLASS = 0.3, 2000, 3


class Peer(BaseEstimator):
    """A model of another package, for classes or for numbers."""

    def __init__(self, numbers=False):
        self.numbers = numbers

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    @property
    def classes_(self):
        return self.model_.classes_


class TunedLightGBM(Peer):
    """LightGBM with the best of twelve settings by three folds."""

    def fit(self, X, y):
        from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping

        kind = LGBMRegressor if self.numbers else LGBMClassifier
        splitter = KFold if self.numbers else StratifiedKFold
        folds = list(splitter(3, shuffle=True, random_state=0).split(X, y))
        found = []
        for leaves, rate, least in product((4, 15, 31), (0.02, 0.08), (5, 20)):
            model = kind(
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
        return self


class NativeCatBoost(Peer):
    """CatBoost at its defaults, which takes categories as texts."""

    def _texts(self, X):
        names = X.select_dtypes("category").columns
        texts = X[names].astype(object).fillna("missing").astype(str)
        return X.assign(**texts), list(names)

    def fit(self, X, y):
        from catboost import CatBoostClassifier, CatBoostRegressor

        X, names = self._texts(X)
        self.model_ = (CatBoostRegressor if self.numbers else CatBoostClassifier)(
            verbose=0, thread_count=1, cat_features=names, allow_writing_files=False
        ).fit(X, y)
        return self

    def predict(self, X):
        return super().predict(self._texts(X)[0])

    def predict_proba(self, X):
        return super().predict_proba(self._texts(X)[0])


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


def peers(numbers, linear):
    """Make the models of other packages that are installed, by name.

    ``linear`` is the model behind skrub's encoders.
    """
    found, end = {}, "Regressor" if numbers else "Classifier"
    with leave_out("lightgbm"):
        import lightgbm

        found["LightGBM"] = getattr(lightgbm, f"LGBM{end}")(verbose=-1, n_jobs=1)
        stopped = StoppedLightGBM(random_state=0, numbers=numbers)
        found["LightGBM, early stopping"] = stopped
        found["LightGBM, tuned"] = TunedLightGBM(numbers)
    with leave_out("xgboost"):
        import xgboost

        found["XGBoost"] = getattr(xgboost, f"XGB{end}")(
            n_jobs=1, enable_categorical=True
        )
    with leave_out("catboost"):
        import catboost  # noqa: F401

        found["CatBoost"] = NativeCatBoost(numbers)
    with leave_out("skrub"):
        from skrub import tabular_pipeline

        found[f"{type(linear).__name__}, skrub"] = tabular_pipeline(linear)
    with leave_out("interpret"):
        from interpret import glassbox

        found["EBM"] = getattr(glassbox, f"ExplainableBoosting{end}")(n_jobs=1)
    return found


def name_and_version(package):
    """Write the version of a package, if it is installed."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"


@contextmanager
def leave_out(package):
    """Say so where a package is not installed."""
    try:
        yield
    except ImportError:
        print(f"Peer left out: {package}")


def classifiers():
    """Make all classifiers, by name."""
    regression = LogisticRegressionCV(max_iter=1000, scoring="neg_log_loss", cv=5)
    forest = partial(RandomForestClassifier, random_state=0)
    return {
        "BooleanEnsembleClassifier": sklboolean.BooleanEnsembleClassifier(),
        **{name: on_bits(getattr(sklboolean, name)()) for name in OWN},
        "LogisticRegressionCV": on_bits(regression),
        "SVC(rbf)": one_hot(SVC(), scales=True),
        "forest": one_hot(forest()),
        "forest, leaves of 5": one_hot(forest(min_samples_leaf=5)),
        "HistGradientBoosting": one_hot(HistGradientBoostingClassifier()),
        **peers(False, regression),
    }


def corrected(noise):
    """Make the ensembles that correct for wrong labels, by name."""
    if not noise:
        return {}
    kind = sklboolean.BooleanEnsembleClassifier
    return {
        "BooleanEnsembleClassifier, share known": kind(label_noise=noise),
        "BooleanEnsembleClassifier, share estimated": kind(label_noise="auto"),
    }


def regressors():
    """Make all regressors, by name."""
    ridge = RidgeCV(10.0 ** np.arange(-2, 4))
    return {
        "BooleanEnsembleRegressor": sklboolean.BooleanEnsembleRegressor(),
        **{name: on_bits(getattr(sklboolean, name)()) for name in OWN_OF_NUMBERS},
        "RidgeCV": on_bits(ridge),
        "HistGradientBoosting": one_hot(HistGradientBoostingRegressor()),
        **peers(True, ridge),
    }


def load_progression():
    """Load the diabetes data: is the progression above its median?"""
    X, y = load_diabetes(return_X_y=True, scaled=False, as_frame=True)
    return X, (y > y.median()).astype(int)


def read_parquet(path):
    """Read a table of the data folder."""
    frame = pd.read_parquet(path)
    return frame, frame.pop("__target__")


def has_numbers(path):
    """Tell whether the targets are numbers: classes are texts or integers."""
    targets = pd.read_parquet(path, columns=["__target__"])["__target__"]
    return targets.dtype.kind == "f"


def tables(folder, numbers):
    """Make the functions that load the tables of classes or of numbers, by name."""
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
    if numbers:
        found = {"diabetes": partial(load_diabetes, scaled=False, **options)}
    if folder is None:
        print("Tables left out: those of --data")
        return found
    folder = Path(folder)
    bits = {
        name: partial(load_part, folder, file, "all")
        for name, file in (("car", "uci_car"), ("nursery", "uci_nursery"))
        if (folder / f"{file}.npz").exists() and not numbers
    }
    folders = [folder, folder / "mixed", folder / "wide"]
    paths = [path for each in folders for path in each.glob("*.p*q*")]
    frames = {p.stem: partial(read_parquet, p) for p in sorted(paths)
              if has_numbers(p) == numbers}  # fmt: skip
    return found | bits | frames


def split(load, size, seed):
    """Draw the numbers of training and held-out samples of a table."""
    X, y = load()
    X, y = pd.DataFrame(X), np.asarray(y)
    X.columns = list(map(str, X.columns))
    texts = X.select_dtypes(exclude=["number", "bool"]).columns
    X = X.astype(dict.fromkeys(texts, "category"))
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    n_test = min(int(SHARE_HELD_OUT * len(y)), MOST_HELD_OUT)
    return X, y, order[n_test:][:size], order[:n_test], rng


def draw(load, size, noise, seed):
    """Draw training and held-out samples; change a share of the training labels."""
    X, y, train, test, rng = split(load, size, seed)
    if y.dtype.kind == "f":
        return X.iloc[train], y[train], X.iloc[test], y[test]
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(codes[train], minlength=codes.max() + 1)
    common = np.flatnonzero(counts >= LEAST_OF_CLASS)
    train, test = (part[np.isin(codes[part], common)] for part in (train, test))
    codes = np.searchsorted(common, codes)
    labels = codes[train].copy()
    wrong = rng.random(len(labels)) < noise
    labels[wrong] += rng.integers(1, max(2, len(common)), wrong.sum())
    return X.iloc[train], labels % len(common), X.iloc[test], codes[test]


def is_used(load, size, n_seeds, is_smallest):
    """Tell whether a table has enough samples of a size, and two classes in each part.

    Of the smallest size all tables are used, of others those that fill half of it.
    """
    X = load()[0]
    if not is_smallest and (1 - SHARE_HELD_OUT) * len(X) < size / 2:
        return False
    return all(
        len(np.unique(draw(load, size, 0.0, seed)[1])) > 1 for seed in range(n_seeds)
    )


def evaluate(model, load, size, noise, seed):
    """Fit a learner; measure accuracy or R2, log-loss if there is one, and seconds."""
    X, y, X_test, y_test = draw(load, size, noise, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        np.random.seed(seed)
        fitted = clone(model).fit(X, y)
        seconds = time.process_time() - start
        if y.dtype.kind == "f":
            return float(r2_score(y_test, fitted.predict(X_test))), None, seconds
        if not hasattr(fitted, "predict_proba"):
            return float(np.mean(fitted.predict(X_test) == y_test)), None, seconds
        table = fitted.predict_proba(X_test)
    loss = log_loss(y_test, table, labels=fitted.classes_)
    right = np.mean(fitted.classes_[table.argmax(axis=1)] == y_test)
    return float(right), float(loss), seconds


def mean_and_error(values, decimals=2):
    """Write a mean, with its standard error if there are several values."""
    mean = f"{np.mean(values):.{decimals}f}"
    if len(values) == 1:
        return mean
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean} +- {error:.{decimals}f}"


def print_ranks(title, names, figures, quality):
    """Print ranks and means; ``figures`` are (table, learner, seed, 3).

    ``quality`` names the first of the three. Learners without probabilities have the
    log-loss NaN.
    """
    right, loss, seconds = np.moveaxis(figures.mean(axis=2), -1, 0)
    by_right = rankdata(-right.round(4), axis=1)
    has_loss = ~np.isnan(loss[0])
    by_loss = np.full(by_right.shape, np.nan)
    by_loss[:, has_loss] = rankdata(loss[:, has_loss].round(4), axis=1)
    behind = right.max(axis=1, keepdims=True) - right
    rows = [
        [
            name, mean_and_error(by_right[:, k]), f"{right[:, k].mean():.4f}",
            mean_and_error(by_loss[:, k]) if has_loss[k] else "",
            f"{loss[:, k].mean():.4f}" if has_loss[k] else "",
            f"{np.mean(behind[:, k] > 0.015):.2f}", f"{seconds[:, k].mean():.2g}",
        ]
        for k, name in enumerate(names)
    ]  # fmt: skip
    columns = [
        "learner", f"rank by {quality}", quality, "rank by log-loss", "log-loss",
        "share of tables 1.5 points behind the best", "fit s",
    ]  # fmt: skip
    kept_columns = [0, 1, 2, 3, 4, 5, 6] if has_loss.any() else [0, 1, 2, 5, 6]
    rows = [[row[k] for k in kept_columns] for row in rows]
    print_table(title, [columns[k] for k in kept_columns], rows)


def print_lead(title, names, figures, quality):
    """Print by how much the first learner is ahead of each other one, by table."""
    right, loss, _ = np.moveaxis(figures.mean(axis=2), -1, 0)
    measure = f"ahead by {quality}" if np.isnan(loss[0, 0]) else "ahead in nats"
    ahead = right[:, :1] - right if np.isnan(loss[0, 0]) else loss - loss[:, :1]
    rows = [
        [name, mean_and_error(ahead[:, k], 4), (ahead[:, k] > 0).sum(),
         (ahead[:, k] < 0).sum()]
        for k, name in enumerate(names)
        if k and not np.isnan(ahead[:, k]).any()
    ]  # fmt: skip
    print_table(f"{title}: {names[0]}", ["beside", measure, "better on", "worse"], rows)


def print_by_table(title, tables, names, figures, quality):
    """Print who is first on each table, and the figures of the learners of `SHOWN`.

    ``figures`` are (table, learner, seed, 3).
    """
    right, loss, _ = np.moveaxis(figures.mean(axis=2), -1, 0)
    first = {quality: right} | ({} if np.isnan(loss).all() else {"log-loss": -loss})
    shown = [k for k, name in enumerate(names) if name in SHOWN]
    rows = [
        [
            table, *(names[np.nanargmax(each[t])] for each in first.values()),
            *(" / ".join(mean_and_error(part, 3) for part in
                         figures[t, k, :, : len(first)].T) for k in shown),
        ]
        for t, table in enumerate(tables)
    ]  # fmt: skip
    columns = ["table", *(f"first by {name}" for name in first)]
    print_table(title, columns + [names[k] for k in shown], rows)


def run(of_numbers, models, found, noise, size, n_seeds, options):
    """Measure all learners on all tables of one size, and print the tables."""
    models = {n: m for n, m in models.items() if size <= MOST_SAMPLES.get(n, size)}
    quality = "R2" if of_numbers else "accuracy"
    used = [
        name
        for name, load in found.items()
        if is_used(load, size, n_seeds, size == options.sizes[0])
    ]
    print(f"  {size} samples: {n_seeds} splits of {len(used)} tables")
    if not used or not models:
        return
    figures = np.array([
        [
            [
                kept(options.keep, f"{quality} {name} {table} {size} {noise} {seed}",
                     partial(evaluate, model, found[table], size, noise, seed))
                for seed in range(n_seeds)
            ]
            for name, model in models.items()
        ]
        for table in used
    ], dtype=float)  # fmt: skip
    what = "numbers" if of_numbers else f"{100 * noise:.0f} % wrong labels"
    what += f", training samples: {size}"
    print_ranks(f"Ranks with {what}", list(models), figures, quality)
    print_lead(f"Lead with {what}", list(models), figures, quality)
    heads = quality if of_numbers else f"{quality} / log-loss"
    title = f"By table, {heads}, {what}"
    print_by_table(title, used, list(models), figures, quality)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one split, two tables")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--targets", choices=("classes", "numbers"), nargs="+",
                        default=["classes", "numbers"])  # fmt: skip
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[300, 1000, 5000, 20_000]
    )
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.2])
    parser.add_argument("--seeds", type=int, nargs="+", default=[5],
                        help="number of splits, or one for each size")  # fmt: skip
    parser.add_argument("--half", choices=("choice", "report"),
                        help="tables of our choices, or others")  # fmt: skip
    parser.add_argument("--only", nargs="+", help="names of learners")
    parser.add_argument("--without", nargs="+", default=(), help="not these")
    parser.add_argument("--tables", nargs="+", help="names of tables")
    parser.add_argument("--keep", type=Path, help="folder for the figures so far")
    options = parser.parse_args(arguments)
    print_header("sklboolean: models of tables of mixed columns")
    print("  peers       " + ", ".join(map(name_and_version, PEERS)))
    if options.quick:
        options.sizes, options.noise, options.seeds = [100], [0.0], [1]
        options.tables = ["votes", "diabetes"]
    seeds = options.seeds
    if len(seeds) == 1:
        seeds *= len(options.sizes)
    for target in options.targets:
        numbers = target == "numbers"
        found = tables(options.data, numbers)
        models = regressors() if numbers else classifiers()
        found = {
            name: load
            for name, load in found.items()
            if name in (options.tables or found)
            and (options.half is None or (name in CHOICE) == (options.half == "choice"))
        }
        for noise in [0.0] if numbers else options.noise:
            at_noise = models | corrected(noise)
            wanted = set(options.only or at_noise).difference(options.without)
            at_noise = {n: m for n, m in at_noise.items() if n in wanted}
            for size, n_seeds in zip(options.sizes, seeds, strict=True):
                run(numbers, at_noise, found, noise, size, n_seeds, options)


if __name__ == "__main__":
    sys.exit(main())
