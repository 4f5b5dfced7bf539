import inspect
import pickle
from fractions import Fraction
from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.kernels import (
    count_cnfs,
    count_disjunctions,
    count_dnfs,
    counting_kernel,
    shared_conjunctions,
)
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
    cnf_kernel,
    conjunction_kernel,
    disjunction_kernel,
    dnf_kernel,
    tanimoto_kernel,
)

OBJECTS = {
    "ConjunctionKernel()": (ConjunctionKernel(), conjunction_kernel),
    "ConjunctionKernel(decay=0.3, max_literals=4, min_literals=1, normalize=False)": (
        ConjunctionKernel(min_literals=1, max_literals=4, normalize=False, decay=0.3),
        conjunction_kernel,
    ),
    "ConjunctionKernel(max_literals=None, monotone=False, normalize=False)": (
        ConjunctionKernel(max_literals=None, monotone=False, normalize=False),
        conjunction_kernel,
    ),
    "ConjunctionKernel(binarize=0.5, n_jobs=2)": (
        ConjunctionKernel(binarize=0.5, n_jobs=2),
        conjunction_kernel,
    ),
    "DisjunctionKernel()": (DisjunctionKernel(), disjunction_kernel),
    "DisjunctionKernel(monotone=False, n_literals=3)": (
        DisjunctionKernel(n_literals=3, monotone=False),
        disjunction_kernel,
    ),
    "DNFKernel(n_terms=3)": (DNFKernel(n_terms=3), dnf_kernel),
    "CNFKernel(monotone=False, n_clauses=3, n_literals=1)": (
        CNFKernel(n_clauses=3, n_literals=1, monotone=False),
        cnf_kernel,
    ),
    "TanimotoKernel(binarize=None)": (TanimotoKernel(binarize=None), tanimoto_kernel),
}
every_object = pytest.mark.parametrize(
    ("kernel", "function"), OBJECTS.values(), ids=OBJECTS
)


def random_rows(n_samples, n_features, share=0.5, seed=0):
    return np.random.default_rng(seed).random((n_samples, n_features)) < share


def parity_of_two(n_samples=80, n_features=6):
    """Labels that need conjunctions of two literals, on all rows there are."""
    X = np.array(list(product([0, 1], repeat=n_features)))[:n_samples]
    return X, X[:, 0] ^ X[:, 1]


# -- the object is the function with its parameters ---------------------------------


@every_object
def test_calling_the_object_is_calling_the_function(kernel, function):
    X, Y = random_rows(6, 9).astype(float), random_rows(4, 9, seed=1).astype(float)
    parameters = kernel.get_params()
    assert np.array_equal(kernel(X, Y), function(X, Y, **parameters))
    assert np.array_equal(kernel(X), function(X, **parameters))
    assert np.array_equal(kernel(sparse.csr_array(X), Y), function(X, Y, **parameters))


@every_object
def test_the_object_has_the_defaults_of_the_function(kernel, function):
    defaults = type(kernel)().get_params()
    signature = inspect.signature(function).parameters
    expected = {name: signature[name].default for name in list(signature)[2:]}
    options = {name: expected.pop(name) for name in ("dtype", "out")}
    assert defaults == expected
    called = inspect.signature(kernel).parameters
    assert options == {name: called[name].default for name in options}


@every_object
def test_parameters_can_be_read_set_and_cloned(kernel, function):
    copy = clone(kernel)
    assert copy is not kernel
    assert copy.get_params() == kernel.get_params()
    assert copy.set_params(binarize=0.25) is copy
    assert copy.binarize == 0.25
    assert kernel.binarize != 0.25
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        copy.set_params(depth=3)


@every_object
def test_objects_pickle(kernel, function):
    X = random_rows(5, 7)
    copy = pickle.loads(pickle.dumps(kernel))
    assert type(copy) is type(kernel)
    assert copy.get_params() == kernel.get_params()
    assert np.array_equal(copy(X), kernel(X))


@pytest.mark.parametrize("text", OBJECTS)
def test_the_representation_shows_what_differs_from_the_defaults(text):
    assert " ".join(repr(OBJECTS[text][0]).split()) == text


def test_errors_of_the_function_come_through():
    with pytest.raises(ValueError, match="max_literals=1 is below min_literals=2"):
        counting_kernel(min_literals=2, max_literals=1)([[1, 0]])
    with pytest.raises(ValueError, match="X has 2 features and Y has 3"):
        TanimotoKernel()([[1, 0]], [[1, 0, 1]])


# -- in scikit-learn ----------------------------------------------------------------


@every_object
def test_svc_takes_the_object_as_its_kernel(kernel, function):
    X, y = random_rows(40, 8).astype(float), np.arange(40) % 3
    learner = SVC(kernel=clone(kernel)).fit(X, y)
    gram = SVC(kernel="precomputed").fit(kernel(X), y)
    Z = random_rows(10, 8, seed=1).astype(float)
    assert np.array_equal(learner.support_, gram.support_)
    assert np.array_equal(
        learner.decision_function(Z), gram.decision_function(kernel(Z, X))
    )
    copy = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(copy.predict(Z), learner.predict(Z))


def test_svc_with_all_conjunctions_is_svc_with_an_rbf_kernel():
    # 2**same is 2**n times the RBF kernel with gamma = ln 2.
    X, y = random_rows(60, 10).astype(float), random_rows(60, 1, seed=1)[:, 0]
    ours = SVC(kernel=counting_kernel(), C=2.0**-10, tol=1e-8).fit(X, y)
    rbf = SVC(kernel="rbf", gamma=log(2), C=1.0, tol=1e-8).fit(X, y)
    assert np.array_equal(ours.support_, rbf.support_)
    Z = random_rows(30, 10, seed=2).astype(float)
    assert ours.decision_function(Z) == pytest.approx(
        rbf.decision_function(Z), abs=1e-5
    )


def test_grid_search_reaches_the_parameters_of_the_kernel():
    X, y = parity_of_two(64)
    grid = {"svc__kernel__max_literals": [1, 2], "svc__C": [100.0]}
    pipeline = make_pipeline(
        VarianceThreshold(), SVC(kernel=counting_kernel(max_literals=1))
    )
    search = GridSearchCV(pipeline, grid, cv=4).fit(X, y)
    assert search.best_params_["svc__kernel__max_literals"] == 2
    assert search.score(X, y) == 1.0
    assert search.best_estimator_[-1].kernel.max_literals == 2
    # One literal cannot tell an exclusive or from chance.
    assert search.cv_results_["mean_test_score"][0] < 0.7


def test_grid_search_takes_numpy_ranges():
    X, y = parity_of_two(64)
    grid = {"kernel__max_literals": np.arange(1, 3)}
    search = GridSearchCV(
        SVC(kernel=counting_kernel()), grid, cv=4, error_score="raise"
    )
    assert search.fit(X, y).best_params_ == {"kernel__max_literals": 2}


def test_kernel_pca_takes_the_matrix_and_kernel_ridge_the_parity():
    X, y = parity_of_two(64)
    kernel = counting_kernel(min_literals=1, max_literals=2)
    components = KernelPCA(3, kernel="precomputed").fit_transform(kernel(X))
    assert components.shape == (64, 3)
    # The centred kernel matrix has the squared lengths of the components on its trace.
    K = kernel(X)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    largest = np.linalg.eigvalsh(centred)[::-1][:3]
    assert (components**2).sum(axis=0) == pytest.approx(largest, rel=1e-9)
    ridge = KernelRidge(kernel="precomputed", alpha=1e-9).fit(K, y)
    assert ridge.predict(K) == pytest.approx(y, abs=1e-6)


# -- weights of conjunctions by length ----------------------------------------------


@given(
    st.integers(1, 6),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(0, 8)),
    st.booleans(),
    st.sampled_from([1.0, 0.5, 0.3, 4.0]),
    st.data(),
)
def test_conjunction_weights_are_those_of_the_enumerated_conjunctions(
    n_features, low, high, monotone, decay, data
):
    high = None if high is None else max(low, high)
    kernel = counting_kernel(
        min_literals=low, max_literals=high, monotone=monotone, decay=decay
    )
    weights = kernel.length_weights(n_features).to_float()
    assert weights.shape == (n_features + 1,)
    row = st.lists(st.booleans(), min_size=n_features, max_size=n_features)
    x, z = data.draw(row), data.draw(row)
    lengths = [len(t) for t in shared_conjunctions(x, z, 0, None, monotone)]
    by_weights = sum(Fraction(weights[length]) for length in lengths)
    exact = sum(
        Fraction(decay) ** length
        for length in lengths
        if low <= length <= (n_features if high is None else high)
    )
    # Each weight is rounded once.
    assert abs(by_weights - exact) <= exact * Fraction(1, 2**53)
    expected = [
        float(Fraction(decay) ** length)
        if low <= length <= (n_features if high is None else high)
        else 0
        for length in range(n_features + 1)
    ]
    assert weights.tolist() == expected


@pytest.mark.parametrize(
    ("kernel", "oracle"),
    [
        (
            DisjunctionKernel(n_literals=2, monotone=False),
            lambda x, z: count_disjunctions(x, z, 2, False),
        ),
        (
            DisjunctionKernel(n_literals=4, monotone=False),
            lambda x, z: count_disjunctions(x, z, 4, False),
        ),
        (
            DNFKernel(n_terms=2, n_literals=2, monotone=False),
            lambda x, z: count_dnfs(x, z, 2, 2, False),
        ),
        (
            CNFKernel(n_clauses=2, n_literals=2, monotone=False),
            lambda x, z: count_cnfs(x, z, 2, 2, False),
        ),
    ],
    ids=lambda value: repr(value) if hasattr(value, "get_params") else "",
)
def test_weights_give_back_kernels_of_literals_of_both_signs(kernel, oracle):
    n = 4
    weights = kernel.length_weights(n).to_float()
    x = [0, 1, 1, 0]
    for same in range(n + 1):
        z = x[:same] + [1 - value for value in x[same:]]
        total = sum(weights[length] * comb(same, length) for length in range(n + 1))
        assert total == oracle(x, z)
        assert kernel([x], [z])[0, 0] == oracle(x, z)


@given(st.integers(1, 60), st.integers(0, 60), st.booleans())
def test_values_are_weighted_binomials(n_features, max_literals, monotone):
    kernel = counting_kernel(max_literals=max_literals, monotone=monotone)
    weights = [int(w) for w in kernel.length_weights(n_features).to_float()]
    rows = np.tri(n_features + 1, n_features, -1)  # 0, 1, ..., n ones
    values = kernel(rows, np.ones((1, n_features)))[:, 0]
    for s, value in enumerate(values.tolist()):
        total = sum(w * comb(s, length) for length, w in enumerate(weights))
        assert value == float(total)


def test_weights_are_correctly_rounded():
    weights = counting_kernel(decay=0.3).length_weights(100).to_float()
    assert weights.tolist() == [float(Fraction(0.3) ** k) for k in range(101)]


@pytest.mark.parametrize(
    "kernel",
    [
        TanimotoKernel(),
        DisjunctionKernel(),
        DNFKernel(),
        CNFKernel(),
        counting_kernel(normalize=True),
    ],
    ids=repr,
)
def test_kernels_that_weigh_nothing_by_length_have_no_weights(kernel):
    with pytest.raises(ValueError, match="not a weighting of conjunctions") as caught:
        kernel.length_weights(5).to_float()
    assert repr(kernel) in str(caught.value)
    assert "ConjunctionKernel, or monotone=False" in str(caught.value)


def test_weights_beyond_float64_are_an_error():
    with pytest.raises(ValueError, match="weight exceeds float64"):
        counting_kernel(decay=1e30).length_weights(20).to_float()


def test_bad_parameters_are_errors_naming_them():
    with pytest.raises(ValueError, match="decay must be greater than 0"):
        counting_kernel(decay=0).length_weights(4).to_float()
    with pytest.raises(ValueError, match="n_literals == 0"):
        DisjunctionKernel(n_literals=0).length_weights(4).to_float()


@pytest.mark.parametrize("n_features", [-1, True, 2.5, "3"])
def test_a_bad_number_of_features_is_an_error_naming_it(n_features):
    with pytest.raises((TypeError, ValueError), match="n_features"):
        counting_kernel().length_weights(n_features).to_float()


def test_a_numpy_number_of_features_is_fine():
    weights = counting_kernel(max_literals=2).length_weights(np.int64(70)).to_float()
    assert weights.tolist() == [1, 1, 1] + [0] * 68
    weights = DisjunctionKernel(monotone=False).length_weights(np.int32(70)).to_float()
    assert weights.tolist() == [2 * comb(70, 2), 0, 1] + [0] * 68


def test_defaults_are_short_normalised_conjunctions():
    X = np.random.default_rng(0).integers(0, 2, (30, 40))
    counts = counting_kernel(max_literals=3, monotone=True)(X)
    norms = np.sqrt(counts.diagonal())
    assert ConjunctionKernel()(X) == pytest.approx(counts / np.outer(norms, norms))


def test_values_that_libsvm_cannot_hold_are_an_error_that_names_the_fix():
    X = np.eye(130)
    kernel = ConjunctionKernel(max_literals=None, monotone=False, normalize=False)
    with pytest.raises(ValueError, match=r"2\*\*127 or more.*Use normalize=True"):
        SVC(kernel=kernel).fit(X, np.arange(130) % 2)
    assert np.isfinite(kernel(X[:, :126])).all()
    assert conjunction_kernel(X, **kernel.get_params())[0, 0] == 2.0**130
