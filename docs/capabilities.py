"""Write the table of user_guide/capabilities.md: what can be had from which model.

    python docs/capabilities.py

Each classifier and regressor is fitted to a small data frame, and everything is tried.
``tests/test_documentation.py`` fails where the page differs.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from dask.dataframe import from_pandas
from skl2onnx import to_onnx
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

import sklboolean
import sklboolean.onnx
from sklboolean import BooleanEncoder
from sklboolean.inspection import counterfactuals, model_page, shapley_values
from sklboolean.io import BitTable

PAGE = Path(__file__).parent / "user_guide" / "capabilities.md"
BEGIN, END = "<!-- docs/capabilities.py -->\n", "<!-- end -->"
# An ensemble of more than 2000 samples has trees in the place of the Gaussian process.
N_SAMPLES, N_MANY = 60, 2400


def from_table(model, X, y):
    """Learn from a table on disk."""
    with tempfile.TemporaryDirectory() as folder:
        model.fit(BitTable.write(Path(folder) / "bits", [(X, y)]), y)


def from_dask(model, X, y):
    """Learn from partitions on a cluster."""
    model.fit(from_pandas(X, npartitions=2), from_pandas(y, npartitions=2))


def convert(model, X, y):
    """Convert the model to ONNX."""
    to_onnx(getattr(model, "pipeline_", model), X)


def last_step(model):
    """Return what writes an ensemble: the sum of its models behind its encoder."""
    return getattr(model, "pipeline_", [model])[-1]


def has_directions(model, X, y):
    """Test if some features may only raise the prediction."""
    assert {"monotone", "monotonic_cst"} & set(model.get_params())


def has_partial_fit(model, X, y):
    """Test if the model learns on from new samples."""
    assert hasattr(model, "partial_fit")


def has_weights(model, X, y):
    """Test if samples have weights."""
    assert has_fit_parameter(model, "sample_weight")


def fit_classes(model, X, y):
    """Learn three classes."""
    assert is_classifier(model)
    model.fit(X, X.iloc[:, 0].astype(int) + X.iloc[:, 1])


def change(model, X, y):
    """Find the least change, a target of which is any other prediction."""
    target = None if is_classifier(model) else (y.max(), np.inf)
    counterfactuals(model, X[:1], target, encoder=BooleanEncoder().fit(X))


CAPABILITIES = {
    "text": lambda model, X, y: last_step(model).to_text(),
    "Shapley values": lambda model, X, y: shapley_values(model, X[:5], X),
    "least change": change,
    "page": model_page,
    "SQL": lambda model, X, y: model.to_sql(),
    "C": lambda model, X, y: last_step(model).to_c(),
    "Python": lambda model, X, y: last_step(model).to_python(),
    "ONNX": convert,
    "table on disk": from_table,
    "Dask": from_dask,
    "partial_fit": has_partial_fit,
    "weights": has_weights,
    "several classes": fit_classes,
    "monotone": has_directions,
}


def models():
    """Yield the name of each model, the model, and its number of samples."""
    for name in sklboolean.__all__:
        kind = getattr(sklboolean, name)
        if not (hasattr(kind, "predict") and hasattr(kind, "fit")):
            continue
        model = kind()
        if not (is_classifier(model) or is_regressor(model)):
            continue
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        yield f"`{name}`", model, N_SAMPLES
        if name == "BooleanEnsembleClassifier":
            yield f"`{name}`, more than 2000 samples", model, N_MANY


def can(capability, model, X, y):
    """Try something of a fitted model."""
    try:
        capability(model, X, y)
    except Exception:
        return False
    return True


def rows():
    """Yield the name of each model, and what can be had from it."""
    for name, model, n_samples in models():
        bits = np.random.default_rng(0).integers(0, 2, (n_samples, 4))
        X = pd.DataFrame(bits, columns=list("abcd")).astype(bool)
        # Labels that a conjunction, and a linear model, tell apart.
        y = (X["a"] & X["b"]).astype(int)
        y = y if is_classifier(model) else y + 0.5 * X["c"]
        model.fit(X, y)
        yield (
            name,
            [can(capability, model, X, y) for capability in CAPABILITIES.values()],
        )


def table():
    """Write the table."""
    lines = [["estimator", *CAPABILITIES], ["---"] * (1 + len(CAPABILITIES))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, found in rows():
            lines.append([name, *("yes" if is_there else "" for is_there in found)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def filled(page):
    """Put the table into the text of a page."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
