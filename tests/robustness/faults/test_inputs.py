"""Arrays of users are never changed; they may be read-only or memory-mapped."""

import joblib
import numpy as np
import pytest
from _instances import (
    MODELS,
    OF_CLASSES,
    answers,
    data,
    fitted,
    same_answers,
    target_for,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklboolean import kernels

EVEN_X, EVEN_Y = data()
NEW_X, _ = data(30, seed=1)


def learn_and_answer(model, X, y, weights, new):
    """Use all that takes rows: fit, partial_fit, and the answers."""
    weigh = weights is not None and has_fit_parameter(model, "sample_weight")
    options = {"sample_weight": weights} if weigh else {}
    said = answers(model.fit(X, y, **options), new)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)
        said |= {f"{k} later": v for k, v in answers(model, new).items()}
    return said


def data_of(model):
    y = target_for(model, EVEN_X, EVEN_Y)
    return {"X": EVEN_X, "y": y, "weights": np.ones(len(y)), "new": NEW_X}


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_read_only_and_memory_mapped_arrays_serve_and_stay(name, dtype, tmp_path):
    model = clone(MODELS[name])
    data = {k: v.astype(dtype) if v.ndim == 2 else v for k, v in data_of(model).items()}
    writable = {k: v.copy() for k, v in data.items()}
    expected = learn_and_answer(clone(model), **writable)
    for key in data:
        np.testing.assert_array_equal(writable[key], data[key], err_msg=key)
    given = {k: frozen(v) for k, v in data.items()}
    if dtype is np.uint8:  # mapped arrays are read-only, too
        joblib.dump(data, tmp_path / "data.joblib")
        given = joblib.load(tmp_path / "data.joblib", mmap_mode="r")
        assert all(isinstance(array, np.memmap) for array in given.values())
    same_answers(learn_and_answer(model, **given), expected)


@pytest.mark.parametrize("name", MODELS)
def test_memory_mapped_model_answers(name, tmp_path):
    model = fitted(name)
    joblib.dump(model, tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    same_answers(answers(mapped, NEW_X), answers(model, NEW_X))


def as_csr(array):
    table = sparse.csr_array(array.astype(np.float64))
    for part in ("indices", "indptr", "data"):
        setattr(table, part, frozen(getattr(table, part)))
    return table


TAKE_SPARSE = [n for n in OF_CLASSES if get_tags(MODELS[n]).input_tags.sparse]


@pytest.mark.parametrize("name", TAKE_SPARSE)
def test_read_only_sparse_tables_serve(name):
    model = clone(MODELS[name])
    data = data_of(model)
    data["X"], data["new"] = (as_csr(data[k]) for k in ("X", "new"))
    expected = learn_and_answer(clone(model), **{k: v.copy() for k, v in data.items()})
    same_answers(learn_and_answer(model, **data), expected)


@pytest.mark.parametrize("name", sorted(kernels.BOOLEAN_KERNELS))
@pytest.mark.parametrize("lay_out", [frozen, as_csr])
def test_kernels_of_read_only_rows(name, lay_out):
    kernel = kernels.BOOLEAN_KERNELS[name]
    expected = kernel(EVEN_X, NEW_X)
    found = kernel(lay_out(EVEN_X), lay_out(NEW_X))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
