"""One table of Booleans, many ways to hand it over: the same model and kernel."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles.kernels import (
    counting_kernel,
    decision_exact,
    plain_perceptron,
    same_state,
)
from scipy import sparse

from sklboolean.kernels import (
    CNFKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def strided_view(X):
    """Every second row and third column of a larger table of other values."""
    large = np.ones((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    large[::2, 1::3] = X
    return large[::2, 1::3]


def untidy_csr(X):
    """Stored zeros, entries in two parts, columns out of order."""
    coo = sparse.coo_array(X.astype(float))
    rows, columns = coo.coords
    order = np.lexsort((-columns, rows))
    rows, columns = rows[order], columns[order]
    zeros = np.argwhere(X == 0)[:7]
    rows = np.r_[rows, rows, zeros[:, 0]]
    columns = np.r_[columns, columns, zeros[:, 1]]
    data = np.r_[np.full(2 * coo.nnz, 0.5), np.zeros(len(zeros))]
    order = np.argsort(rows, kind="stable")
    indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=len(X)))]
    table = sparse.csr_array((data[order], columns[order], indptr), shape=X.shape)
    assert not table.has_canonical_format
    return table


def wide_index_csr(X):
    table = sparse.csr_array(X)
    return sparse.csr_array(
        (table.data, table.indices.astype(np.int64), table.indptr.astype(np.int64)),
        shape=X.shape,
    )


def signs_csr(X):
    """True is 1, false is a stored -1."""
    return sparse.csr_array(2.0 * X - 1)


DENSE = {
    "bool": lambda X: X.astype(bool),
    "uint8": lambda X: X.astype(np.uint8),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "float64": lambda X: X.astype(np.float64),
    "object": lambda X: X.astype(object),
    "column-major bool": lambda X: np.asfortranarray(X, dtype=bool),
    "column-major float64": lambda X: np.asfortranarray(X, dtype=np.float64),
    "read-only": lambda X: read_only(X.astype(bool)),
    "view of bool": lambda X: strided_view(X.astype(bool)),
    "view of float64": lambda X: strided_view(X.astype(np.float64)),
    "reversed twice": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "list of bool": lambda X: X.astype(bool).tolist(),
    "signs": lambda X: 2 * X.astype(np.int64) - 1,
    "signs in float32": lambda X: (2 * X - 1.0).astype(np.float32),
    "magnitudes": lambda X: np.where(X, 0.001, -7.5),
    "pandas": lambda X: pd.DataFrame(X.astype(bool)),
    "pandas nullable": lambda X: pd.DataFrame(X.astype(bool)).astype("boolean"),
    "pandas mixed": lambda X: pd.DataFrame(X).astype({0: bool, 1: float}),
    "polars": lambda X: pl.DataFrame(X.astype(bool)),
}
SPARSE = {
    "csr_array": lambda X: sparse.csr_array(X.astype(bool)),
    "csr_array of float64": lambda X: sparse.csr_array(X.astype(float)),
    "csr_matrix": lambda X: sparse.csr_matrix(X),
    "csc_array": lambda X: sparse.csc_array(X),
    "csc_matrix": lambda X: sparse.csc_matrix(X.astype(bool)),
    "coo_array": lambda X: sparse.coo_array(X),
    "csr of 64-bit indices": wide_index_csr,
    "csr with signs": signs_csr,
    "untidy csr": untidy_csr,
}
ALL = DENSE | SPARSE

LEARNERS = {
    "default": {},
    "voted": {"average": "voted", "margin": 2.0},
    "joint": {"average": None, "multi_class": "joint"},
    "all conjunctions": {"kernel": counting_kernel(decay=0.5)},
    "rbf": {"kernel": "rbf", "class_weight": "balanced"},
    "tanimoto": {"kernel": TanimotoKernel()},
    "budget": {"max_support": 9},
    "function": {"kernel": lambda A, B: np.asarray((A @ B.T).todense())
                 if sparse.issparse(A) else A @ B.T},
}  # fmt: skip

KERNELS = {
    "conjunctions": counting_kernel(),
    "short conjunctions": counting_kernel(max_literals=3, monotone=True, decay=0.5),
    "normalized": counting_kernel(max_literals=2, normalize=True),
    "disjunctions": DisjunctionKernel(n_literals=3),
    "DNFs": DNFKernel(),
    "CNFs": CNFKernel(monotone=False),
    "tanimoto": TanimotoKernel(),
}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = (rng.random((90, 70)) < 0.3).astype(np.uint8)
    X[:2] = [[0], [1]]  # an empty and a full row
    y = (X[:, 0] + X[:, 1] + (rng.random(90) < 0.2)) % 3
    return X, y


@pytest.fixture(scope="module")
def wide_problem():
    """A table whose rare features stay sparse inside, too."""
    rng = np.random.default_rng(1)
    density = np.r_[np.full(100, 0.3), np.full(2900, 0.01)]
    X = (rng.random((150, 3000)) < density).astype(np.uint8)
    return X, (X[:, 0] + 2 * X[:, 1]) % 3


def parts_of(X):
    """Everything that a careless learner could change in its input."""
    if sparse.issparse(X):
        names = {"coo": ["data", "row", "col"]}
        names = names.get(X.format, ["data", "indices", "indptr"])
        return [np.array(getattr(X, name)) for name in names]
    if isinstance(X, pd.DataFrame | pl.DataFrame):
        return [X.to_numpy().copy(), list(X.columns), [str(t) for t in X.dtypes]]
    return copy.deepcopy(X)


def fitted_attributes(model):
    names = [
        "classes_", "support_", "dual_coef_", "raw_dual_coef_", "intercept_",
        "n_support_", "n_mistakes_", "mistakes_per_epoch_", "n_updates_", "n_iter_",
        "t_", "score_exponent_", "n_features_in_",
    ]  # fmt: skip
    return [getattr(model, name) for name in names]


def support_table(model):
    if model.support_rows_ is not None:
        return model.support_rows_.toarray().astype(bool)
    words = model.support_words_.astype("<u8").view(np.uint8)
    return np.unpackbits(
        words, axis=1, bitorder="little", count=model.n_features_in_
    ).astype(bool)


@pytest.fixture(scope="module")
def reference(problem):
    """Fit each learner once, to a plain bool table."""
    X, y = problem
    X = X.astype(bool)
    return {
        name: plain_perceptron(max_iter=4, random_state=0, **parameters).fit(X, y)
        for name, parameters in LEARNERS.items()
    }


# One function reads samples for all learners and kernels: these are what differs then.
READ = ["view of float64", "pandas mixed", "untidy csr"]


def with_every_form(names):
    """Pair the first name with every form, and the others with a few."""
    first, *others = names
    pairs = [(form, first) for form in ALL]
    return pairs + [(form, name) for name in others for form in READ]


@pytest.mark.parametrize(("form", "learner"), with_every_form(LEARNERS))
def test_model_does_not_depend_on_the_form(problem, reference, form, learner):
    X, y = problem
    table, expected = ALL[form](X), reference[learner]
    before = parts_of(table)
    model = plain_perceptron(max_iter=4, random_state=0, **LEARNERS[learner])
    model.fit(table, y)
    predicted, scores = model.predict(table), model.decision_function(table)
    assert same_state(parts_of(table), before)
    assert same_state(fitted_attributes(model), fitted_attributes(expected))
    assert np.array_equal(support_table(model), support_table(expected))
    assert (model.support_rows_ is None) == (form in DENSE)
    assert (model.support_words_ is None) == (form in SPARSE)
    assert same_state(predicted, expected.predict(X.astype(bool)))
    assert same_state(scores, expected.decision_function(X.astype(bool)))


def test_dense_and_sparse_models_take_queries_of_every_form(problem, reference):
    X, y = problem
    dense = reference["default"]
    in_csr = plain_perceptron(max_iter=4, random_state=0).fit(sparse.csr_array(X), y)
    expected = decision_exact(dense, X)
    for form, convert in ALL.items():
        table = convert(X)
        if isinstance(table, pd.DataFrame | pl.DataFrame):
            table = table.to_numpy()  # the models were fitted without feature names
        assert same_state(decision_exact(dense, table), expected), form
        assert same_state(decision_exact(in_csr, table), expected), form


@pytest.mark.parametrize("form", ALL)
def test_stream_does_not_depend_on_the_form(problem, form):
    X, y = problem
    expected = plain_perceptron()
    model = plain_perceptron()
    for rows in np.split(np.arange(90), 3):
        expected.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        model.partial_fit(ALL[form](X[rows]), y[rows], classes=[0, 1, 2])
    assert same_state(fitted_attributes(model), fitted_attributes(expected))


@pytest.mark.parametrize(("form", "kernel"), with_every_form(KERNELS))
def test_kernel_does_not_depend_on_the_form(problem, form, kernel):
    X, _ = problem
    function = KERNELS[kernel]
    expected = function(X[:40].astype(bool), X[40:].astype(bool))
    left, right = ALL[form](X[:40]), ALL[form](X[40:])
    before = parts_of(left), parts_of(right)
    assert same_state(function(left, right), expected)
    assert same_state(function(left, X[40:]), expected)
    assert same_state(function(X[:40], right), expected)
    assert same_state(function(left), function(X[:40].astype(bool)))
    assert same_state((parts_of(left), parts_of(right)), before)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", ["csr_array", "untidy csr"])
def test_kernel_of_a_wide_sparse_table_equals_the_dense_one(wide_problem, form, kernel):
    X, _ = wide_problem
    function = KERNELS[kernel]
    if kernel == "conjunctions":  # of 3000 features: 2**3000
        for left in (X[:70], SPARSE[form](X[:70])):
            with pytest.raises(ValueError, match="float64"):
                function(left, SPARSE[form](X[70:]))
        return
    expected = function(X[:70], X[70:])
    assert same_state(function(SPARSE[form](X[:70]), SPARSE[form](X[70:])), expected)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("form", ["untidy csr"])
def test_model_of_a_wide_sparse_table_equals_the_dense_one(wide_problem, form, learner):
    X, y = wide_problem
    options = {"max_iter": 3, "random_state": 0, **LEARNERS[learner]}
    dense = plain_perceptron(**options).fit(X[:120], y[:120])
    model = plain_perceptron(**options).fit(SPARSE[form](X[:120]), y[:120])
    assert same_state(fitted_attributes(model), fitted_attributes(dense))
    assert np.array_equal(support_table(model), support_table(dense))
    scores = model.decision_function(SPARSE[form](X))
    assert same_state(scores, dense.decision_function(X))


def test_support_rows_of_a_sparse_fit_are_a_bool_csr_array(problem):
    X, y = problem
    for form, convert in SPARSE.items():
        model = plain_perceptron(max_iter=2, random_state=0).fit(convert(X), y)
        assert isinstance(model.support_rows_, sparse.csr_array), form
        assert model.support_rows_.dtype == bool, form
        assert model.support_rows_.data.all(), form


@pytest.mark.parametrize("form", ["csr with signs", "csr with stored zeros"])
def test_entries_that_are_false_are_not_removed_from_the_users_table(form):
    X = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1]])
    values = {"csr with signs": -1.0, "csr with stored zeros": 0.0}[form]
    table = sparse.csr_array(
        (np.where(X, 1.0, values).ravel(), np.tile([0, 1, 2], 3), [0, 3, 6, 9]),
        shape=(3, 3),
    )
    before = parts_of(table)
    plain_perceptron().fit(table, [0, 1, 1]).predict(table)
    counting_kernel()(table, table)
    assert table.has_canonical_format
    assert same_state(parts_of(table), before)


@pytest.mark.parametrize("binarize", [0.0, 0.4, 1.0, 2.5])
def test_values_above_the_threshold_are_true(problem, binarize):
    X, y = problem
    values = np.where(X, binarize + 0.125, binarize)
    expected = plain_perceptron(max_iter=2, random_state=0).fit(X, y)
    for table in (values, np.asfortranarray(values), sparse.csr_array(values)):
        model = plain_perceptron(max_iter=2, random_state=0, binarize=binarize)
        model.fit(table, y)
        assert same_state(fitted_attributes(model), fitted_attributes(expected))
    kernel = counting_kernel(max_literals=2, binarize=binarize)
    plain = counting_kernel(max_literals=2)
    assert same_state(kernel(values, values[:5]), plain(X, X[:5]))


@pytest.mark.parametrize(
    "form", ["bool", "uint8", "int64", "float64", "list", "pandas", "csr_array"]
)
def test_strict_mode_takes_zeros_and_ones(problem, reference, form):
    X, y = problem
    model = plain_perceptron(max_iter=4, random_state=0, binarize=None)
    model.fit(ALL[form](X), y)
    assert same_state(fitted_attributes(model), fitted_attributes(reference["default"]))


@pytest.mark.parametrize("bad", [2, -1, 0.5])
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_strict_mode_names_the_column_of_another_value(problem, layout, bad):
    X, y = problem
    X = X.astype(float)
    X[60, 13] = bad
    message = rf"Column 13 of X holds {bad}(\.0)?, but binarize=None"
    with pytest.raises(ValueError, match=message):
        plain_perceptron(binarize=None).fit(layout(X), y)
    with pytest.raises(ValueError, match=message):
        counting_kernel(binarize=None)(layout(X))
