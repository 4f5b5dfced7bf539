"""What ConjunctionFeatures refuses, and what it says then."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklboolean import ConjunctionFeatures
from sklboolean.preprocessing import _columns as columns
from sklboolean.preprocessing import _level_wise as level_wise

ROWS = np.array([[1, 0, 1], [0, 1, 1]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_literals": 0}, "max_literals"),
        ({"min_literals": 0}, "min_literals"),
        ({"min_literals": 3}, "max_literals=2 is below min_literals=3"),
        ({"min_literals": 4, "max_literals": 4}, "n_features = 3.*lower min_literals"),
        ({"min_literals": 2, "feature_groups": [0, 0, 0]}, "may meet: lower min_lit"),
        ({"max_features": 0}, "max_features"),
        ({"min_support": 0}, "min_support"),
        ({"min_support": 0.0}, "min_support"),
        ({"min_support": 1.5}, "neither a share"),
        ({"min_support": float("nan")}, "min_support"),
        ({"min_support": 3}, "commonest literal holds in 2. Lower min_support"),
        ({"negations": "yes"}, "negations"),
        ({"sparse_output": None}, "sparse_output"),
        ({"binarize": -1.0}, "binarize"),
        ({"dtype": "complex128"}, "dtype"),
        ({"dtype": "words"}, "dtype"),
        ({"feature_groups": [0, 1]}, "feature_groups holds 2 labels for 3 features"),
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


@pytest.mark.parametrize("name", ["max_literals", "min_literals", "max_features"])
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
    with pytest.raises(
        ValueError, match=r"too many to be numbered.*min_support, max_features"
    ):
        ConjunctionFeatures(max_literals=longest).fit(wide)


def test_huge_outputs_are_refused_with_their_size(monkeypatch):
    monkeypatch.setattr(columns, "LARGEST_OUTPUT", 2**10)
    X = np.ones((20, 6))
    features = ConjunctionFeatures().fit(X)
    size = 20 * 21 * (8 + 4) / 2**30  # values and column numbers
    with pytest.raises(ValueError, match=f"21 columns would take {size:.3g} GiB.*rows"):
        features.transform(X)
    assert features.transform(X[:2]).sum() == 42
    with pytest.raises(ValueError, match="sparse_output=True"):
        ConjunctionFeatures(sparse_output=False).fit(X).transform(X)


@pytest.mark.parametrize("shortest", [1, 2])
def test_too_many_frequent_conjunctions_are_refused(monkeypatch, shortest):
    monkeypatch.setattr(level_wise, "MOST_LISTED", 40)
    with pytest.raises(ValueError, match="Raise min_support"):
        ConjunctionFeatures(min_support=0.5, min_literals=shortest).fit(
            np.ones((5, 12))
        )
