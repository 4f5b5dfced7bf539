"""Exact Shapley values: seconds, and the error of smaller backgrounds.

    python benchmarks/bench_shapley.py [--quick] [--data DIR]

`shapley_values` explains samples against the whole background: those of a
ConjunctionLogisticRegression, and of our boosted trees, as many and as large as those
of LightGBM. ``WoodelfExplainer`` explains LightGBM against the whole background, and
``shap.TreeExplainer`` (interventional) against 100 and 1000 samples of it. The models
are trained on 4000 samples.

* Seconds: of one call for all samples that are explained, the median of four calls.
  Woodelf reads the trees in this time, too. ``TreeExplainer`` explains some of the
  samples once, and its seconds are multiplied.
* Ratio: seconds over those of the ConjunctionLogisticRegression.
* Error: distance from the values against the whole background, over the size of those
  values (root mean squares, of the columns of the original table). Also the largest
  distance of the sum of the values from the score.

Mushroom comes with the package; car, car repeated 600 times as background, and a9a need
``--data``.
"""

import argparse
import sys
import warnings
from importlib.util import find_spec

import numpy as np
from _timing import print_header, print_table, timed
from _workloads import load_part
from sklearn.base import clone

from sklboolean import BooleanGradientBoostingClassifier, ConjunctionLogisticRegression
from sklboolean._core.feature_names import parse_name
from sklboolean.datasets import load_mushroom
from sklboolean.inspection import shapley_values

BACKGROUNDS, PEERS = (100, 1000), ("woodelf", "shap")
OURS = (
    ConjunctionLogisticRegression(random_state=0),
    BooleanGradientBoostingClassifier(
        random_state=0, max_iter=100, max_leaf_nodes=31, n_iter_no_change=None
    ),
)
N_TRAINED, N_PEER, N_ERROR = 4000, 200, 10  # samples
# Columns of a9a, in the order of its features.
A9A = {
    "age": 5, "workclass": 8, "weight": 5, "education": 16, "years": 5, "marital": 7,
    "occupation": 14, "relationship": 6, "race": 5, "sex": 2, "gain": 2, "loss": 2,
    "hours": 5, "country": 41,
}  # fmt: skip


def tables(folder, is_quick):
    """Yield name, samples, labels, column of each feature, explained, background."""
    mushroom = load_mushroom()
    X, y = mushroom.data, mushroom.target
    groups = [parse_name(name).column for name in mushroom.feature_names]
    if is_quick:
        yield "mushroom", X[::20], y[::20], groups, X[:50], X[::20]
        return
    yield "mushroom", X, y, groups, X, X
    if folder is None:
        return
    X, y = load_part(folder, "uci_car", "all")
    y = y == np.bincount(y).argmax()
    with np.load(f"{folder}/uci_car.npz", allow_pickle=False) as arrays:
        groups = arrays["feature_group"].tolist()
    yield "car", X, y, groups, X, X
    yield "car, repeated", X, y, groups, X, np.repeat(X, 600, axis=0)
    X, y = load_part(folder, "libsvm_a9a", "train")
    X = X.toarray().astype(np.uint8) if hasattr(X, "toarray") else X
    groups = np.repeat(list(A9A), list(A9A.values())).tolist()
    yield "a9a", X, y > 0, groups, X[:10_000], X


def drawn(X, n_samples):
    """Draw samples, always the same."""
    n_samples = min(n_samples, len(X))
    return X[np.random.default_rng(0).choice(len(X), n_samples, replace=False)]


def size(values):
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def our_row(name, table, model):
    """Explain by our function; then against smaller backgrounds."""
    X, y, groups, explained, background = table
    chosen = np.random.default_rng(0).permutation(len(y))[:N_TRAINED]
    model.fit(X[chosen], y[chosen])
    runs = [
        timed(
            lambda: shapley_values(model, explained, background, feature_groups=groups)
        )
        for _ in range(4)
    ]
    shapley, seconds = runs[-1][0], np.median([time for _, time in runs])
    gap = np.abs(shapley.scores() - model.decision_function(explained)).max()
    errors = []
    for n_others in BACKGROUNDS:
        others = drawn(background, n_others)
        fewer = shapley_values(model, explained, others, feature_groups=groups)
        errors.append(
            f"{size(fewer.values - shapley.values) / size(shapley.values):.2g}"
        )
    shape = f"{len(explained)} x {len(background)}"
    is_sum = hasattr(model, "conjunctions_")
    return (
        name,
        f"{len(model.conjunctions_)} conjunctions" if is_sum else "ours, 100 trees",
        shape,
        seconds,
        *errors,
        f"{gap:.1g}",
    )


def trees_of(table):
    """Train LightGBM; return it, and the matrix that adds up values by column."""
    from lightgbm import LGBMClassifier

    X, y, groups, _, _ = table
    chosen = np.random.default_rng(0).permutation(len(y))[:N_TRAINED]
    model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    model.fit(X[chosen].astype(float), y[chosen])
    columns = {label: place for place, label in enumerate(dict.fromkeys(groups))}
    places = np.array([columns[label] for label in groups])
    return model, np.eye(len(columns))[places]


def gap_of(model, sums, samples):
    """Compute the largest distance of sums of values from the scores."""
    return np.abs(sums - model.predict(samples.astype(float), raw_score=True)).max()


def woodelf_row(name, table, model):
    """Explain LightGBM by Woodelf against the whole background."""
    from pandas import DataFrame
    from woodelf import WoodelfExplainer

    explained, background = (DataFrame(part.astype(float)) for part in table[3:])

    def explain():
        explainer = WoodelfExplainer(model, background)
        return explainer.shap_values(explained, verbose=False)

    runs = [timed(explain) for _ in range(4)]
    values, seconds = runs[-1][0], np.median([time for _, time in runs])
    # Its expected_value is not the mean score of the background.
    base = model.predict(table[4].astype(float), raw_score=True).mean()
    gap = gap_of(model, np.asarray(values).sum(axis=1) + base, table[3])
    shape = f"{len(explained)} x {len(background)}"
    return name, "woodelf, 100 trees", shape, seconds, "", "", f"{gap:.1g}"


def shap_rows(name, table, model, to_columns):
    """Explain LightGBM by shap against 100 and 1000 samples of the background."""
    import shap

    *_, explained, background = table

    def explain(samples, others):
        masker = shap.maskers.Independent(others.astype(float), max_samples=len(others))
        explainer = shap.TreeExplainer(model, masker, model_output="raw")
        values = explainer.shap_values(samples.astype(float), check_additivity=False)
        return values @ to_columns, values.sum(axis=1) + explainer.expected_value

    few = drawn(explained, N_ERROR)
    whole, _ = explain(few, drawn(background, 10_000))
    for n_others in BACKGROUNDS:
        others, some = drawn(background, n_others), drawn(explained, N_PEER)
        (_, sums), seconds = timed(
            lambda others=others, some=some: explain(some, others)
        )
        error = size(explain(few, others)[0] - whole) / size(whole)
        errors = ["" if n != n_others else f"{error:.2g}" for n in BACKGROUNDS]
        shape, gap = f"{len(explained)} x {n_others}", gap_of(model, sums, some)
        seconds *= len(explained) / len(some)
        yield name, "shap, 100 trees", shape, seconds, *errors, f"{gap:.1g}"


def peer_rows(name, table):
    """Explain LightGBM by the peers that are installed."""
    model, to_columns = trees_of(table)
    if find_spec("woodelf"):
        yield woodelf_row(name, table, model)
    if find_spec("shap"):
        yield from shap_rows(name, table, model, to_columns)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data")
    options = parser.parse_args()
    print_header("Exact Shapley values")
    has_peers = find_spec("lightgbm") and not options.quick
    missing = [peer for peer in PEERS if not (has_peers and find_spec(peer))]
    if missing:
        print(f"\nLeft out with LightGBM: {', '.join(missing)} (or --quick).")
    warnings.simplefilter("ignore")
    rows = []
    for name, *table in tables(options.data, options.quick):
        ours = [our_row(name, table, clone(model)) for model in OURS]
        peers = peer_rows(name, table) if has_peers else []
        for first, second, shape, seconds, *others in [*ours, *peers]:
            ratio = f"{seconds / ours[0][3]:.3g}"
            rows.append((first, second, shape, f"{seconds:.3g}", ratio, *others))
    print()
    columns = [
        "table", "model", "samples x background", "seconds", "ratio", "error 100",
        "error 1000", "gap of the sum",
    ]  # fmt: skip
    print_table("Seconds and error of Shapley values", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
