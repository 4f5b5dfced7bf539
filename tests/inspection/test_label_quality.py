"""Which labels may be wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import AveragedPerceptron, BooleanStump, BooleanSVC
from sklboolean.datasets import flip_labels, load_votes, make_tic_tac_toe
from sklboolean.inspection import label_quality

X, CLEAN = make_tic_tac_toe(return_X_y=True)
Y = flip_labels(CLEAN, 0.1, random_state=0)
NAMES = np.array(["a", "b", "c"])
THREE = NAMES[np.random.default_rng(0).integers(0, 3, 90)]
BITS = np.random.default_rng(1).integers(0, 2, (90, 6))


def quality_by_definition(model, X, y, folds):
    """The score of the given label minus the largest other one, sample by sample."""
    quality = np.full(len(y), np.nan)
    for train, test in folds.split(X, y):
        model.fit(X[train], y[train])
        for sample in test:
            one = X[[sample]]
            if hasattr(model, "decision_function"):
                scores = model.decision_function(one)[0]
                scores = [-scores, scores] if np.ndim(scores) == 0 else list(scores)
                factor = 0.5
            else:
                scores, factor = list(model.predict_proba(one)[0]), 1.0
            own = scores.pop(list(model.classes_).index(y[sample]))
            quality[sample] = factor * (own - max(scores))
    return quality


@pytest.mark.parametrize(
    "model",
    [AveragedPerceptron(random_state=0), LogisticRegression(), BernoulliNB()],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize(("X", "y"), [(X[:200], Y[:200]), (BITS, THREE)])
def test_quality_is_the_margin_of_the_given_label_in_folds(model, X, y):
    # The seed of the model is that drawn from random_state.
    seed = int(np.random.RandomState(3).randint(np.iinfo(np.int32).max))
    if "random_state" in model.get_params():
        model = model.set_params(random_state=seed)
    folds = StratifiedKFold(4, shuffle=True, random_state=seed)
    expected = quality_by_definition(model, X, y, folds)
    quality = label_quality(X, y, model, cv=4, random_state=3)
    np.testing.assert_allclose(quality, expected, rtol=1e-9, atol=1e-12)
    given = label_quality(X, y, model, cv=folds, random_state=3)
    np.testing.assert_array_equal(given, quality)


def test_wrong_labels_have_small_quality():
    quality = label_quality(X, Y, random_state=0)
    assert quality.dtype == np.float64
    assert roc_auc_score(CLEAN != Y, -quality) > 0.97
    quality = label_quality(X, Y, BooleanSVC(), random_state=0)
    assert roc_auc_score(CLEAN != Y, -quality) > 0.95


def test_same_quality_for_the_same_data_in_any_form():
    frame = pd.DataFrame(BITS, columns=list("uvwxyz"))
    quality = label_quality(BITS, THREE, random_state=0)
    for same, labels in [
        (frame, pd.Series(THREE, index=range(5, 95))),
        (sparse.csr_array(BITS), THREE),
        (sparse.coo_matrix(BITS), list(THREE)),
        (BITS.tolist(), THREE[:, np.newaxis].ravel()),
    ]:
        again = label_quality(same, labels, random_state=0)
        np.testing.assert_array_equal(again, quality)
    first = label_quality(BITS, THREE, random_state=1)
    assert not np.array_equal(first, quality)


def test_names_of_columns_reach_a_pipeline():
    X, y = load_votes(return_X_y=True, as_frame=True)
    frame = X.astype(str)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    assert np.mean(label_quality(frame, y, model, random_state=0) > 0) > 0.9


def test_rare_labels_reduce_the_folds():
    y = THREE.copy()
    y[y == "c"] = "a"
    y[[4, 70]] = "c"
    quality = label_quality(BITS, y, random_state=0)
    assert np.isfinite(quality).all()
    y[70] = "b"
    with pytest.raises(ValueError, match=r"label .*'c'.* once"):
        label_quality(BITS, y, random_state=0)


@pytest.mark.parametrize(
    ("estimator", "error", "said"),
    [
        (Ridge(), TypeError, "must be a classifier"),
        (LogisticRegression, TypeError, "must be a classifier"),
        ("svc", TypeError, "must be a classifier"),
        (SVC(decision_function_shape="ovo"), ValueError, None),
    ],
)
def test_other_estimators_are_refused(estimator, error, said):
    y = np.arange(90) % 4
    with pytest.raises(error, match=said or "shape='ovr'"):
        label_quality(BITS, y, estimator)


def test_an_estimator_without_scores_is_refused():
    class Mute(BooleanStump):
        predict_proba = property()

    with pytest.raises(ValueError, match="has neither"):
        label_quality(BITS, THREE, Mute())


@pytest.mark.parametrize(
    ("X", "y", "options", "said"),
    [
        (BITS, THREE[:-1], {}, "inconsistent"),
        (BITS, ["a"] * 90, {}, "only one class"),
        (BITS, [None, *THREE[1:]], {}, "missing"),
        (BITS, THREE, {"cv": 1}, "cv"),
        (np.where(BITS, np.nan, 0.0), THREE, {}, "NaN"),
    ],
)
def test_bad_data_is_refused(X, y, options, said):
    with pytest.raises(ValueError, match=said):
        label_quality(X, y, **options)


def test_a_damaged_sparse_matrix_is_refused():
    damaged = sparse.csr_array(BITS)
    damaged.indices[3] = 100
    with pytest.raises(ValueError, match="index arrays"):
        label_quality(damaged, THREE)


def test_folds_may_be_any_splitter_and_trees_have_probabilities():
    quality = label_quality(BITS, THREE, DecisionTreeClassifier(), cv=KFold(3))
    assert quality.min() >= -1
    assert quality.max() <= 1


@pytest.mark.parametrize(
    ("cv", "found"),
    [
        (ShuffleSplit(3, test_size=0.2, random_state=0), r"\d+ is tested in 0 folds"),
        (RepeatedKFold(n_splits=3, n_repeats=2), "sample 0 is tested in 2 folds"),
        ([(np.arange(1, 90), np.array([0]))], "sample 1 is tested in 0 folds"),
        ([(range(45), range(45, 90)), (range(45, 90), range(1, 45))], "sample 0 is te"),
    ],
)
def test_folds_test_each_sample_once(cv, found):
    with pytest.raises(ValueError, match=f"cv must test each sample.*{found}"):
        label_quality(BITS, THREE, cv=cv)


def test_folds_are_masks_or_a_generator():
    halves = np.arange(90) % 2 == 0
    quality = label_quality(
        BITS, THREE, cv=((part, ~part) for part in (halves, ~halves)), random_state=0
    )
    numbers = [(np.flatnonzero(p), np.flatnonzero(~p)) for p in (halves, ~halves)]
    np.testing.assert_array_equal(
        label_quality(BITS, THREE, cv=numbers, random_state=0), quality
    )
