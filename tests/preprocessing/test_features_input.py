"""Input that ConjunctionFeatures refuses, and its messages."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklboolean import ConjunctionFeatures
from sklboolean._core import memory
from sklboolean.preprocessing import _enumeration as enumeration

ROWS = np.array([[1, 0, 1], [0, 1, 1]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_literals": 0}, "max_literals"),
        ({"min_literals": 0}, "min_literals"),
        ({"min_literals": 3}, "max_literals=2 is below min_literals=3"),
        ({"min_literals": 4, "max_literals": 4}, "n_features = 3.*lower min_literals"),
        (
            {"min_literals": 2, "feature_groups": [0, 0, 0]},
            "3, which are in 1 groups.*lower min_lit",
        ),
        ({"min_support": 0}, "min_support"),
        ({"min_support": 0.0}, "min_support"),
        ({"min_support": 1.5}, "neither a fraction"),
        ({"min_support": float("nan")}, "min_support"),
        ({"min_support": 3}, "most frequent literal holds in 2. Lower min_support"),
        ({"monotone": "yes"}, "monotone"),
        ({"sparse_output": None}, "sparse_output"),
        ({"binarize": -1.0}, "binarize"),
        (
            {"feature_groups": [0, 1]},
            "one label for each of 3 features; its shape is .2,.",
        ),
        ({"feature_groups": "abc"}, "feature_groups"),
        ({"feature_groups": [[0, 1], [2, 3]]}, "feature_groups"),
    ],
)
def test_bad_parameters_are_named_and_change_nothing(options, message):
    features = ConjunctionFeatures().fit(ROWS[:, :2])
    features.set_params(**options)
    before = dict(vars(features))
    with pytest.raises(ValueError, match=message):
        features.fit(ROWS)
    assert vars(features) == before


@pytest.mark.parametrize("name", ["max_literals", "min_literals"])
@pytest.mark.parametrize("value", [True, 1.5, "two"])
def test_counts_must_be_integers(name, value):
    with pytest.raises(TypeError, match=name):
        ConjunctionFeatures(**{name: value}).fit(ROWS)


@pytest.mark.parametrize("value", [True, "many"])
def test_support_must_be_a_number(value):
    with pytest.raises(TypeError, match="min_support"):
        ConjunctionFeatures(min_support=value).fit(ROWS)


def test_other_values_than_bits_are_refused_on_demand():
    with pytest.raises(ValueError, match="Column 1 of X holds"):
        ConjunctionFeatures(binarize=None).fit([[1, 2], [0, 1]])


@pytest.mark.parametrize(
    "call",
    [
        lambda features: features.transform(ROWS),
        lambda features: features.get_feature_names_out(),
        lambda features: features.literals_,
    ],
)
def test_unfitted_transformer_says_so(call):
    with pytest.raises(NotFittedError):
        call(ConjunctionFeatures())


@pytest.mark.parametrize("longest", [12, None])
def test_more_columns_than_int64_numbers_are_refused(longest):
    wide = sparse.csr_array((2, 3000))
    with pytest.raises(ValueError, match=r"too many to be numbered.*by min_support"):
        ConjunctionFeatures(max_literals=longest).fit(wide)


def test_huge_outputs_are_refused_with_their_size(monkeypatch):
    monkeypatch.setattr(memory, "FEW_BYTES", 0)
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**10)
    X = np.ones((20, 6))
    features = ConjunctionFeatures().fit(X)
    size = 20 * 21 * (8 + 4) / 2**30  # values and column numbers
    with pytest.raises(
        ValueError, match=f"21 columns would take {size:.3g} GiB .* free.*samples"
    ):
        features.transform(X)
    assert features.transform(X[:2]).sum() == 42
    with pytest.raises(ValueError, match="sparse_output=True"):
        ConjunctionFeatures(sparse_output=False).fit(X).transform(X)


@pytest.mark.parametrize("shortest", [1, 2])
def test_too_many_frequent_conjunctions_are_refused(monkeypatch, shortest):
    monkeypatch.setattr(enumeration, "MAX_LISTED", 40)
    with pytest.raises(ValueError, match="Raise min_support"):
        ConjunctionFeatures(min_support=0.5, min_literals=shortest).fit(
            np.ones((5, 12))
        )


@pytest.mark.slow
def test_too_many_conjunctions_are_refused_before_they_take_memory():
    """Of 100 features true in one sample, 75 million conjunctions have 5 literals."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"up to 5 literals hold in 1 samples"):
            ConjunctionFeatures(min_support=1, max_literals=None).fit(np.ones((1, 100)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 500e6


def test_many_candidates_of_which_few_are_frequent_are_listed(monkeypatch):
    X = np.random.default_rng(0).random((60, 12)) < 0.5
    features = ConjunctionFeatures(max_literals=None, min_support=0.2)
    expected = features.fit(X).get_feature_names_out().tolist()
    # There are more candidates than that, and they are only counted first.
    assert len(expected) < 12 * 11 / 2 + 12
    monkeypatch.setattr(enumeration, "MAX_LISTED", len(expected))
    monkeypatch.setattr(enumeration, "CHUNK", 5)
    assert features.fit(X).get_feature_names_out().tolist() == expected
    monkeypatch.setattr(enumeration, "MAX_LISTED", len(expected) - 1)
    with pytest.raises(ValueError, match="Raise min_support"):
        features.fit(X)


def test_old_parameters_say_what_to_do_instead():
    with pytest.warns(FutureWarning, match=r"astype\('bool'\)"):
        features = ConjunctionFeatures(dtype="float64")
    assert features.fit_transform(ROWS).dtype == np.float64
    for options in ({"dtype": "bool"}, {"max_features": 10}):
        with pytest.raises(ValueError, match=r"not supported since .*(Convert|Set)"):
            ConjunctionFeatures(**options)
