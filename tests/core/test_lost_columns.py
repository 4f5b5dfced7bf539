"""A warning where nothing is left of a column: its values differ and all are true."""

import numpy as np
import pandas as pd
import pytest
from _instances import MODELS, OF_CLASSES
from oracles.kernels import plain_perceptron
from sklearn.base import clone

BINARIZING = [
    name
    for name in OF_CLASSES
    if getattr(MODELS[name], "binarize", None) == 0
    and getattr(MODELS[name], "visible", "binary") == "binary"
]


def data_with(column, n_samples=40):
    """Return samples of bits and one more column, and labels."""
    bits = np.random.default_rng(0).integers(0, 2, (n_samples, 3)).astype(float)
    return np.column_stack([bits, np.resize(column, n_samples)]), bits[:, 0]


@pytest.mark.parametrize("name", BINARIZING)
@pytest.mark.parametrize("column", [(1, 2), (17.5, 40, 64)])
def test_columns_that_differ_but_are_all_true_are_named_in_a_warning(name, column):
    X, y = data_with(column)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "age"])
    with pytest.warns(UserWarning, match="Column age is above binarize=0.0 in every"):
        clone(MODELS[name]).fit(frame, y)


@pytest.mark.parametrize("name", BINARIZING)
def test_other_columns_are_no_reason_for_a_warning(name):
    # Always true, one number, bits, counts.
    columns = [data_with(column)[0][:, 3] for column in (1, 7, (0, 1), (0, 5, 6))]
    X, y = data_with(1)
    X = np.column_stack([X[:, :3], *columns])
    clone(MODELS[name]).fit(X, y)
    clone(MODELS[name]).fit(X.astype(bool), y)


@pytest.mark.parametrize("name", BINARIZING)
def test_probabilities_in_the_place_of_bits_are_a_warning(name):
    """As a ClassifierChain passes them with chain_method="predict_proba"."""
    X, y = data_with((0, 1))
    model = clone(MODELS[name]).fit(X, y)
    method = "predict" if hasattr(model, "predict") else "score_samples"
    if not hasattr(model, method):
        method = "transform"
    X[:, 3] = 0.01 + 0.9 * X[:, 3]
    message = r"Column 3 holds numbers between 0 and 1 only.* chain_method='predict'"
    with pytest.warns(UserWarning, match=message):
        getattr(model, method)(X)
    X[0, 3] = 1.0  # a share that happens to be above 0
    getattr(model, method)(X)


def test_a_few_samples_are_no_reason_for_a_warning():
    X, y = data_with((1, 2))
    plain_perceptron().partial_fit(X[:10], y[:10], classes=[0, 1])


def test_the_warning_names_the_encoder_and_says_when_nothing_is_left():
    X, y = data_with((17.5, 40, 64))
    with pytest.warns(UserWarning, match="constant. Encode .* with BooleanEncoder"):
        plain_perceptron().fit(X, y)
    everything = r"Column 0 \(and 3 more\) .* No column is left .* BooleanEncoder"
    with pytest.warns(UserWarning, match=everything):
        plain_perceptron().fit(X + 1, y)


def test_no_column_left_is_an_error():
    X, y = data_with((17.5, 40, 64), n_samples=200)
    with pytest.raises(ValueError, match=r"3 more\) .* No column is left"):
        plain_perceptron().fit(X + 1, y)


@pytest.mark.parametrize("name", BINARIZING)
def test_signed_numbers_cut_at_0_are_named_in_a_warning(name):
    X, y = data_with((-1.5, -0.5, 0.5))
    frame = pd.DataFrame(X, columns=["a", "b", "c", "scaled age"])
    with pytest.warns(UserWarning, match="Column scaled age holds .* BooleanEncoder"):
        clone(MODELS[name]).fit(frame, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("column", [(-1, 1), (0, 1.5, 2)], ids=["signs", "amounts"])
def test_signs_and_amounts_may_be_cut_at_0(column):
    X, y = data_with(column)
    plain_perceptron().fit(X, y)


@pytest.mark.filterwarnings("error")
def test_a_threshold_that_was_chosen_is_no_reason_for_a_warning():
    X, y = data_with((-1.5, -0.5, 0.5))
    plain_perceptron(binarize=0.4).fit(X, y)
