"""The cheapest change that turns a prediction: milliseconds, and whether it is proved.

    python benchmarks/bench_counterfactuals.py [--quick] [--data DIR]

A ConjunctionLogisticRegression behind a `BooleanEncoder` is trained on 4000 samples;
200 samples are changed. "one call" is the time of `counterfactuals` for all of them,
with checks, predictions and the data frame, divided by their number. The quantiles are
of the searches of single samples. "changes" is the mean number of changed columns.

Beside DiCE (dice-ml, its random search, and its genetic one, which needs numbers): the
model and 10 samples are the same, one counterfactual each. "valid" is the share of
samples whose prediction turns, "changes" the mean number of changed columns of these.

Recurrence comes with the package; nursery (each class against the rest) and a9a need
``--data``.
"""

import argparse
import sys
import warnings
from importlib.util import find_spec

import numpy as np
from _timing import milliseconds, print_header, print_table, timed
from _workloads import load_part
from bench_shapley import A9A
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, ConjunctionLogisticRegression
from sklboolean.datasets import load_recurrence
from sklboolean.inspection import counterfactuals
from sklboolean.inspection._counterfactuals import _Search

N_TRAINED, N_CHANGED, N_PEER = 4000, 200, 10
NURSERY = {
    "parents": 3, "nursery": 5, "form": 4, "children": 4, "housing": 3, "finance": 2,
    "social": 3, "health": 3,
}  # fmt: skip


BESIDE_DICE = ("recurrence", "nursery, class 0", "a9a")


def levels(X, widths):
    """Read the levels of columns from their indicators, as a data frame of text."""
    import pandas as pd

    X = X.toarray() if hasattr(X, "toarray") else X
    ends = np.cumsum(list(widths.values()))
    parts = np.split(X, ends[:-1], axis=1)
    columns = {
        name: np.where(part.any(axis=1), part.argmax(axis=1).astype(str), None)
        for name, part in zip(widths, parts, strict=True)
    }
    return pd.DataFrame(columns, dtype=object)


def tables(folder):
    """Yield name, samples and labels."""
    yield "recurrence", *load_recurrence(return_X_y=True, as_frame=True)
    if folder is None:
        return
    X, y = load_part(folder, "uci_nursery", "all")
    for code in np.flatnonzero(np.bincount(y) > N_CHANGED):
        yield f"nursery, class {code}", levels(X, NURSERY), y == code
    X, y = load_part(folder, "libsvm_a9a", "train")
    yield "a9a", levels(X, A9A), y > 0


def row(name, X, y, n_changed):
    """Train a model, change samples, and write a line."""
    order = np.random.default_rng(0).permutation(len(y))
    chosen = order[:N_TRAINED]
    model = make_pipeline(
        BooleanEncoder(), ConjunctionLogisticRegression(random_state=0)
    ).fit(X.iloc[chosen], np.asarray(y)[chosen])
    samples = X.iloc[order[-n_changed:]]
    found, seconds = timed(lambda: counterfactuals(model, samples))
    search = _Search(model)
    read = search.read(samples)
    bits, times = read.bits, []
    targets = search.targets(read, None)
    for place in range(len(bits)):

        def one(place=place):
            costs = search.costs_of(read, place)
            return search.answers(read, place, costs, targets[place], 1, None, 10.0)

        times.append(timed(one)[1])
    return (
        name, len(model[-1].conjunctions_), milliseconds(seconds / len(bits)),
        milliseconds(np.median(times)), milliseconds(np.quantile(times, 0.95)),
        f"{np.mean(np.array(times) < 0.01):.3f}", f"{found.is_proved.mean():.3f}",
        f"{found.changed.sum(axis=1).mean():.2f}",
    )  # fmt: skip


def peer_rows(name, X, y):
    """Change samples by our function and by DiCE."""
    import dice_ml
    from raiutils.exceptions import UserConfigValidationException

    y = np.asarray(y).astype(int)
    X = X.where(X.notna(), "none")
    numbers = X.select_dtypes("number").columns.tolist()
    order = np.random.default_rng(0).permutation(len(y))
    chosen, samples = order[:N_TRAINED], X.iloc[order[-N_PEER:]]
    model = make_pipeline(
        BooleanEncoder(), ConjunctionLogisticRegression(random_state=0)
    ).fit(X.iloc[chosen], y[chosen])
    before = model.predict(samples)
    found, seconds = timed(lambda: counterfactuals(model, samples))
    yield peer_row(name, "ours", model, samples, before, found.values, seconds)
    frame = X.iloc[chosen].assign(outcome=y[chosen])
    data = dice_ml.Data(
        dataframe=frame, continuous_features=numbers, outcome_name="outcome"
    )
    parts = [samples.iloc[[k]] for k in range(len(samples))]
    for method in ("random", "genetic") if numbers else ("random",):
        explainer = dice_ml.Dice(
            data, dice_ml.Model(model=model, backend="sklearn"), method=method
        )

        def change(sample, explainer=explainer):
            try:
                answer = (
                    explainer.generate_counterfactuals(
                        sample, total_CFs=1, desired_class="opposite"
                    )
                    .cf_examples_list[0]
                    .final_cfs_df
                )
            except UserConfigValidationException:
                return sample  # none was found
            return sample if answer is None else answer[X.columns]

        changed, seconds = timed(lambda change=change: [*map(change, parts)])
        values = np.concatenate([one.to_numpy(dtype=object)[:1] for one in changed])
        yield peer_row(name, f"DiCE, {method}", model, samples, before, values, seconds)


def peer_row(name, method, model, samples, before, values, seconds):
    """Write a line about changed samples."""
    import pandas as pd

    columns = samples.columns
    changed = pd.DataFrame(values, columns=columns).astype(samples.dtypes.to_dict())
    is_valid = model.predict(changed) != before
    n_changes = (changed.to_numpy() != samples.to_numpy()).sum(axis=1)[is_valid]
    mean = f"{n_changes.mean():.2f}" if is_valid.any() else ""
    each = milliseconds(seconds / len(samples))
    return name, method, each, f"{is_valid.mean():.2f}", mean


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data")
    options = parser.parse_args()
    print_header("Cheapest changes")
    warnings.simplefilter("ignore")
    folder = None if options.quick else options.data
    n_changed = 20 if options.quick else N_CHANGED
    rows = [row(*table, n_changed) for table in tables(folder)]
    print()
    columns = [
        "table", "conjunctions", "ms, one call", "ms, median", "ms, 95 %",
        "within 10 ms", "proved", "changes",
    ]  # fmt: skip
    print_table("Milliseconds of a cheapest change", columns, rows)
    if options.quick or not find_spec("dice_ml"):
        print("\nPeer left out: DiCE (dice-ml is not installed, or --quick).")
        return
    print()
    few = [one for one in tables(folder) if one[0] in BESIDE_DICE]
    rows = [line for table in few for line in peer_rows(*table)]
    columns = ["table", "by", "ms, one sample", "valid", "changes"]
    print_table("Beside DiCE", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
