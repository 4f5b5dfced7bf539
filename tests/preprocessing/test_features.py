"""ConjunctionFeatures against conjunctions that are listed and tried on each row."""

from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import preprocessing as oracle
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from sklboolean import ConjunctionClassifier, ConjunctionFeatures, Winnow
from sklboolean.datasets import make_tic_tac_toe
from sklboolean.preprocessing import _enumeration as enumeration

KINDS = [np.array, sparse.csr_array, sparse.csc_array, sparse.csr_matrix]


@st.composite
def tables(draw, max_rows=12):
    """A small Boolean table, and the same in any format and type."""
    n_samples, n_features = draw(st.integers(1, max_rows)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.random((n_samples, n_features)) < draw(st.sampled_from([0.1, 0.5, 0.9]))
    dtype = draw(st.sampled_from([bool, np.uint8, np.float64]))
    return X, draw(st.sampled_from(KINDS))(X.astype(dtype))


@st.composite
def problems(draw, max_rows=12):
    """A table, what may be asked of it, and the conjunctions that it means."""
    X, given_X = draw(tables(max_rows))
    n_features = X.shape[1]
    labels = st.lists(st.sampled_from("abcd"), min_size=n_features, max_size=n_features)
    longest = draw(st.integers(1, n_features + 1))
    shortest = draw(st.integers(1, longest))
    options = {
        "monotone": draw(st.booleans()),
        "feature_groups": draw(st.one_of(st.none(), labels)),
    }
    conjunctions = oracle.all_conjunctions(
        n_features,
        shortest,
        longest,
        negations=not options["monotone"],
        groups=options["feature_groups"],
    )
    options |= {"min_literals": shortest, "max_literals": longest}
    return X, given_X, options, conjunctions


def assert_is(features, X, expected):
    """Columns, names and literals are those of the expected conjunctions."""
    n_features = features.n_features_in_
    output = features.transform(X)
    assert sparse.issparse(output) == features.sparse_output
    assert output.dtype == np.float64
    assert output.shape == (X.shape[0], len(expected))
    assert features.n_output_features_ == len(expected)
    if sparse.issparse(output):
        assert isinstance(output, sparse.csr_array)
        for first, last in zip(output.indptr, output.indptr[1:], strict=False):
            assert (np.diff(output.indices[first:last]) > 0).all()
        output.check_format(full_check=True)
        output = output.toarray()
    dense = X.toarray() if sparse.issparse(X) else X
    np.testing.assert_array_equal(output, oracle.table(expected, dense))
    names = [f"x{j}" for j in range(n_features)]
    texts = [oracle.text(conjunction, names) for conjunction in expected]
    assert list(features.get_feature_names_out()) == texts
    signs = [oracle.signs(conjunction, n_features) for conjunction in expected]
    np.testing.assert_array_equal(features.literals_.toarray(), signs)


# -- columns by definition ----------------------------------------------------------


@given(problems(), st.booleans())
def test_columns_are_all_conjunctions(problem, sparse_output):
    _X, given_X, options, expected = problem
    features = ConjunctionFeatures(sparse_output=sparse_output, **options)
    if not expected:
        with pytest.raises(ValueError, match="no conjunction of min_literals"):
            features.fit(given_X)
        return
    assert_is(features.fit(given_X), given_X, expected)
    assert features.supports_ is None


@given(problems(20), st.integers(1, 5))
def test_frequent_conjunctions_are_those_of_brute_force(problem, min_count):
    X, given_X, options, conjunctions = problem
    features = ConjunctionFeatures(min_support=min_count, **options)
    expected = oracle.frequent(conjunctions, X, min_count)
    if not expected:
        with pytest.raises(ValueError, match=r"[Nn]o conjunction of"):
            features.fit(given_X)
        return
    assert_is(features.fit(given_X), given_X, expected)
    assert list(features.supports_) == [oracle.support(c, X) for c in expected]
    # Rows that were not there when the conjunctions were chosen.
    others = np.array(list(product([0, 1], repeat=X.shape[1])))
    assert_is(features, others, expected)


@given(tables(), st.data())
def test_columns_are_those_of_polynomial_features(table, data):
    X, given_X = table
    longest = data.draw(st.integers(1, 4))
    shortest = data.draw(st.integers(1, min(longest, X.shape[1])))
    peer = PolynomialFeatures(
        (shortest, longest), interaction_only=True, include_bias=False
    ).fit(X)
    ours = ConjunctionFeatures(min_literals=shortest, max_literals=longest).fit(given_X)
    products = peer.transform(X.astype(float))
    np.testing.assert_array_equal(ours.transform(given_X).toarray(), products)
    names = [name.replace(" ", " and ") for name in peer.get_feature_names_out()]
    assert list(ours.get_feature_names_out()) == names
    np.testing.assert_array_equal(ours.literals_.toarray(), peer.powers_)
    assert ours.n_output_features_ == peer.n_output_features_


def test_no_limit_on_literals_means_any_length():
    X = np.array(list(product([0, 1], repeat=4)))
    expected = oracle.all_conjunctions(4, 1, 4, negations=True)
    assert len(expected) == 3**4 - 1
    every = ConjunctionFeatures(max_literals=None, monotone=False).fit(X)
    assert_is(every, X, expected)
    frequent = ConjunctionFeatures(max_literals=None, monotone=False, min_support=1)
    assert_is(frequent.fit(X), X, expected)


def test_share_of_rows_is_the_least_count_that_reaches_it():
    for n_samples, share in product(range(1, 40), [0.1, 0.3, 1 / 3, 0.7, 1.0, 1e-9]):
        X = np.tri(n_samples, dtype=bool)  # feature j holds in n_samples - j rows
        features = ConjunctionFeatures(max_literals=1, min_support=share).fit(X)
        expected = [n for n in range(n_samples, 0, -1) if n / n_samples >= share]
        assert list(features.supports_) == expected


@pytest.mark.filterwarnings("ignore:max_literals=.* columns")
def test_as_many_columns_as_a_learner_takes():
    rng, n = np.random.default_rng(0), 65_535
    X = sparse.random_array((300, n), density=2e-4, random_state=rng, format="csr")
    features = ConjunctionFeatures().fit(X)
    assert features.n_output_features_ == n + n * (n - 1) // 2 < 2**31
    output = features.transform(X)
    for i in range(0, 300, 37):
        row = sorted(X.indices[X.indptr[i] : X.indptr[i + 1]].tolist())
        # C(n, 2) - C(n - a, 2) pairs begin before a.
        pairs = [
            n + n * (n - 1) // 2 - (n - a) * (n - a - 1) // 2 + b - a - 1
            for a, b in combinations(row, 2)
        ]
        assert output[[i]].indices.tolist() == row + pairs
    with pytest.raises(ValueError, match="too many to be listed"):
        features.get_feature_names_out()
    one_more = sparse.csr_array((300, n + 1))
    with pytest.raises(ValueError, match=r"are 2147516416 columns.*at most 2147483647"):
        features.fit(one_more)
    assert (features.transform(X) != output).nnz == 0


@pytest.mark.filterwarnings("ignore:max_literals=.* columns")
def test_only_columns_that_are_made_are_counted():
    """Short conjunctions that nobody asked for are no columns."""
    X = np.eye(3, 40, dtype=bool)
    features = ConjunctionFeatures(min_literals=35, max_literals=40).fit(X)
    assert features.n_output_features_ == sum(comb(40, k) for k in range(35, 41))
    with pytest.raises(ValueError, match=r"Conjunctions of 20 to 40 .*min_support"):
        features.set_params(min_literals=20).fit(X)
    with pytest.raises(ValueError, match=r"at least 10\^18, too many to be numbered"):
        features.fit(np.eye(3, 80))


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_slabs_chunks_and_blocks_change_nothing(monkeypatch, kind, grouped, monotone):
    X = kind(np.random.default_rng(1).random((1700, 12)) < 0.3)
    groups = [j % 5 for j in range(12)] if grouped else None
    every = ConjunctionFeatures(
        max_literals=3, monotone=monotone, feature_groups=groups
    )
    frequent = clone(every).set_params(min_support=0.05)
    all_columns = every.fit_transform(X)
    columns = frequent.fit_transform(X)
    # What is frequent is some of what there is: the same rows by another way.
    kept = np.flatnonzero(all_columns.sum(axis=0) >= 0.05 * 1700)
    assert 20 < len(kept) < all_columns.shape[1]
    assert (all_columns[:, kept] != columns).nnz == 0
    monkeypatch.setattr(enumeration, "SLAB_CELLS", 1)
    monkeypatch.setattr(enumeration, "CHUNK", 7)
    monkeypatch.setattr(enumeration, "KEPT_BYTES", 1)
    assert (clone(every).fit_transform(X) != all_columns).nnz == 0
    assert (clone(frequent).fit_transform(X) != columns).nnz == 0


def test_every_processor_path_counts_the_same(cpu_paths):
    X = np.random.default_rng(2).random((1500, 40)) < 0.4
    expected = (X[:, :, None] & X[:, None, :]).sum(axis=0)[np.triu_indices(40, 1)]
    features = ConjunctionFeatures(min_literals=2, min_support=1)
    for _ in cpu_paths():
        np.testing.assert_array_equal(features.fit(X).supports_, expected)


# -- with other estimators ------------------------------------------------------------


def test_disjunction_of_conjunctions_is_a_k_dnf():
    X = np.array(list(product([0, 1], repeat=6)))
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & (1 - X[:, 5])) | ((1 - X[:, 3]) & X[:, 4])
    learner = make_pipeline(
        ConjunctionFeatures(min_literals=2, monotone=False),
        ConjunctionClassifier(target="disjunction", monotone=True),
    ).fit(X, y)
    assert learner[-1].n_contradictions_ == 0
    np.testing.assert_array_equal(learner.predict(X), y)


def test_conjunction_of_negated_conjunctions_is_a_k_cnf():
    X = np.array(list(product([0, 1], repeat=6)))
    y = (X[:, 0] | X[:, 1]) & (X[:, 2] | (1 - X[:, 5])) & ((1 - X[:, 3]) | X[:, 4])
    learner = make_pipeline(
        ConjunctionFeatures(min_literals=2, monotone=False),
        ConjunctionClassifier(target="conjunction"),
    ).fit(X, y)
    assert learner[-1].n_contradictions_ == 0
    np.testing.assert_array_equal(learner.predict(X), y)


def test_winnow_over_conjunctions_learns_tic_tac_toe():
    X, y = make_tic_tac_toe(return_X_y=True)
    learner = make_pipeline(
        ConjunctionFeatures(min_literals=3, max_literals=3),
        Winnow(max_iter=30, random_state=0),
    )
    assert learner.fit(X, y).score(X, y) == 1.0
    assert learner[-1].mistakes_per_epoch_[-1] == 0


# -- the interface --------------------------------------------------------------------


def test_data_frames_come_in_and_go_out():
    frame = pd.DataFrame({"wet": [1, 0, 1], "cold": [1, 1, 0]}, index=[7, 8, 9])
    features = ConjunctionFeatures(monotone=False, sparse_output=False)
    out = features.set_output(transform="pandas").fit_transform(frame)
    assert list(out.columns) == [
        "wet", "not wet", "cold", "not cold", "wet and cold",
        "wet and not cold", "not wet and cold", "not wet and not cold",
    ]  # fmt: skip
    assert list(out.index) == [7, 8, 9]
    assert out["wet and not cold"].tolist() == [0.0, 0.0, 1.0]
    assert features.set_output(transform="polars").transform(frame).shape == (3, 8)
    with pytest.raises(ValueError, match="sparse matrix"):
        ConjunctionFeatures().set_output(transform="pandas").fit_transform(frame)


def test_names_may_be_given():
    features = ConjunctionFeatures(max_literals=2, min_literals=2).fit([[1, 0, 1]])
    names = features.get_feature_names_out(["a", "b", "c"])
    assert names.dtype == object
    assert names.tolist() == ["a and b", "a and c", "b and c"]
    with pytest.raises(ValueError, match="should have length equal"):
        features.get_feature_names_out(["a", "b"])
    named = clone(features).fit(pd.DataFrame([[1, 0, 1]], columns=list("abc")))
    assert named.get_feature_names_out(list("abc")).tolist() == names.tolist()
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        named.get_feature_names_out(list("abd"))


@pytest.mark.parametrize("min_support", [None, 1])
@pytest.mark.parametrize("sparse_output", [False, True])
def test_rows_without_a_true_feature_stay_empty(min_support, sparse_output):
    features = ConjunctionFeatures(min_support=min_support, sparse_output=sparse_output)
    features.fit([[1, 1, 0], [0, 1, 1]])
    for empty in (np.zeros((4, 3)), sparse.csr_array((4, 3))):
        output = features.transform(empty)
        assert output.shape == (4, features.n_output_features_)
        assert not output.sum()
        assert output.dtype == np.float64


@pytest.mark.parametrize(
    "options", [{}, {"min_support": 1}, {"feature_groups": [0, 1, 0]}]
)
def test_data_of_the_caller_are_left_alone(options):
    # Unsorted, with a duplicate and a stored zero.
    parts = [2.0, 1.0, 0.0, 3.0, 1.0], [2, 0, 1, 2, 2], [0, 3, 5]
    X = sparse.csr_matrix(parts, shape=(2, 3))
    before = X.copy()
    ConjunctionFeatures(**options).fit(X).transform(X)
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)
    np.testing.assert_array_equal(X.indptr, before.indptr)


def test_threshold_decides_what_is_true():
    X = [[0.2, 0.6], [0.7, 0.9]]
    features = ConjunctionFeatures(binarize=0.5).fit(X)
    assert features.transform(X).toarray().tolist() == [[0, 1, 0], [1, 1, 1]]


def test_very_many_columns_are_a_warning():
    X = np.eye(3, 48, dtype=bool)
    with pytest.warns(UserWarning, match=r"=5 gives 1.93e\+06 columns for 48"):
        ConjunctionFeatures(max_literals=5).fit(X)
    ConjunctionFeatures(max_literals=5, min_support=1).fit(X)
