"""Models stored by each release load, and predict as they did then.

The files are those of ``tests/robustness/pickles/make.py``. The promise is that
later releases load them; NumPy promises no more for its own objects.
"""

import json
import re
import warnings
from importlib.metadata import version
from pathlib import Path

import joblib
import numpy as np
import pytest
from _instances import MODELS, answers, data
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning

import sklboolean

FOLDER = Path(__file__).parents[1] / "pickles"
STORED = sorted(FOLDER.glob("*/*.joblib"))
# Their insides are scikit-learn's, which promises nothing between its versions.
OF_SCIKIT_LEARN = ("_trees", "_regressor", "_bayes", "query_by_committee")


def release(number):
    return [int(part) for part in re.findall(r"\d+", number)[:2]]


# Cases that are newer than the last release: the next one stores them.
NEW = set()


def written_by_newer(folder):
    """Whether a library that wrote the files is older here."""
    writers = json.loads((folder / "versions.json").read_text())
    return any(release(version(name)) < release(v) for name, v in writers.items())


@pytest.mark.parametrize("path", STORED, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_stored_model_loads_and_answers(path):
    if written_by_newer(path.parent):
        pytest.skip("written by newer libraries")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            stored = joblib.load(path)
        except Exception:
            if of_another_scikit_learn(path, caught):
                pytest.skip("holds estimators of another version of scikit-learn")
            raise
    assert {w.category for w in caught} <= {InconsistentVersionWarning}
    if of_another_scikit_learn(path, caught):
        pytest.skip("holds estimators of another version of scikit-learn")
    # Parameters that are newer than the model have the value that it was fitted with.
    assert repr(stored["model"]) == repr(clone(stored["model"]))
    said = answers(stored["model"], stored["X"])
    assert said.keys() == stored["answers"].keys()
    for name, expected in stored["answers"].items():
        np.testing.assert_allclose(said[name], expected, rtol=1e-9, atol=1e-12)
    if learned_in_parts(stored["model"]):
        X, y = data(20, seed=3)
        for _ in range(2):  # what an older format lacks is there the second time
            answers(stored["model"].partial_fit(X, y), X)


def learned_in_parts(model):
    """Whether the class could do so when the model was stored."""
    return hasattr(model, "partial_fit") and all(
        hasattr(model, name) for name in type(model)().get_params(deep=False)
    )


def of_another_scikit_learn(path, caught):
    foreign = any(part in path.stem for part in OF_SCIKIT_LEARN)
    return foreign and any(w.category is InconsistentVersionWarning for w in caught)


def test_every_estimator_is_stored_by_this_version():
    """A new version runs make.py once; folders of releases stay, others go."""
    here = FOLDER / sklboolean.__version__
    # Cases of which parameters have gone stay stored.
    assert {path.stem for path in here.glob("*.joblib")} >= MODELS.keys() - NEW
    assert all(path.stat().st_size < 40_000 for path in STORED)
    stored = {type(model).__name__ for model in MODELS.values()}
    things = {name: getattr(sklboolean, name) for name in sklboolean.__all__}
    assert stored == {name for name, t in things.items() if hasattr(t, "get_params")}
