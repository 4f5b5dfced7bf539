"""What all density models promise, against the table of all 2**n rows."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.density import all_rows, chi_square, completions
from scipy import sparse
from scipy.stats import chi2
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from sklboolean import BernoulliMixture, ChowLiuTree, CombinationMachine
from sklboolean.density import _base as model_module
from sklboolean.density import _information

MODELS = {
    "mixture": lambda: BernoulliMixture(3, random_state=0),
    "mixture of two starts": lambda: BernoulliMixture(
        4, n_init=2, alpha=0.5, random_state=0
    ),
    "tree": lambda: ChowLiuTree(),
    "sharp tree": lambda: ChowLiuTree(alpha=1e-9),
    "machine": lambda: CombinationMachine(3, n_init=1, max_iter=20, random_state=0),
    "machine on a tree": lambda: CombinationMachine(
        2, base="chow_liu", n_init=1, max_iter=20, random_state=0
    ),
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def some_rows(n_samples=40, n_features=5, seed=0):
    """Rows with structure: two prototypes, noise, and a copied column."""
    rng = np.random.default_rng(seed)
    prototypes = rng.integers(0, 2, (2, n_features))
    X = prototypes[rng.integers(0, 2, n_samples)] ^ (
        rng.random((n_samples, n_features)) < 0.2
    )
    X[:, -1] = X[:, 0]
    return X.astype(float)


@st.composite
def tables_and_questions(draw):
    """Rows to learn and rows with missing bits, of up to six bits."""
    n = draw(st.integers(1, 6))
    bit = st.sampled_from([0.0, 1.0])
    row = st.lists(bit, min_size=n, max_size=n)
    asked = st.lists(st.sampled_from([0.0, 1.0, math.nan]), min_size=n, max_size=n)
    X = draw(st.lists(row, min_size=1, max_size=12))
    questions = draw(st.lists(asked, min_size=1, max_size=4))
    return np.array(X), np.array(questions)


def table_of(model):
    return np.exp(model.score_samples(all_rows(model.n_features_in_)))


@pytest.mark.filterwarnings("ignore:A weight has grown")  # of a few samples
@every_model
@settings(max_examples=12)
@given(tables_and_questions())
def test_probabilities_and_completions_are_those_of_the_table(make, data):
    X, questions = data
    model = make().fit(X)
    table, rows = table_of(model), all_rows(X.shape[1])
    assert abs(table.sum() - 1) < 1e-12
    scores = model.score_samples(questions)
    means = model.impute(questions)
    best = model.impute(questions, "map")
    drawn = model.impute(questions, "sample", random_state=0)
    for i, known in enumerate(questions):
        numbers, conditional = completions(table, known)
        assert scores[i] == pytest.approx(np.log(table[numbers].sum()), abs=1e-10)
        np.testing.assert_allclose(means[i], conditional @ rows[numbers], atol=1e-10)
        chosen = [(rows[k] == best[i]).all() for k in numbers]
        assert sum(chosen) == 1
        assert conditional[chosen.index(True)] >= conditional.max() - 1e-9
        assert any((rows[k] == drawn[i]).all() for k in numbers)
    assert model.score(questions) == pytest.approx(scores.mean())


@every_model
@settings(max_examples=12)
@given(tables_and_questions(), st.data())
def test_joint_conditionals_are_those_of_the_table(make, data, choices):
    X, questions = data
    model = make().fit(X)
    n = X.shape[1]
    columns = choices.draw(st.permutations(range(n)))
    columns = columns[: choices.draw(st.integers(1, n))]
    answers = model.predict_proba_bits(questions, columns)
    assert answers.shape == (len(questions), 2 ** len(columns))
    table, rows = table_of(model), all_rows(n)
    for known, answer in zip(questions, answers, strict=True):
        known = known.copy()
        known[columns] = np.nan
        numbers, conditional = completions(table, known)
        for state, value in zip(all_rows(len(columns)), answer, strict=True):
            same = (rows[numbers][:, columns] == state).all(axis=1)
            assert value == pytest.approx(conditional[same].sum(), abs=1e-10)


@every_model
def test_errors_are_those_of_the_definition(make):
    X = some_rows()
    X[0, 1] = X[3, :2] = np.nan
    model = make().fit(np.nan_to_num(X))
    table, rows = table_of(model), all_rows(X.shape[1])
    wrong, known = 0, 0
    for row in X:
        for bit, value in enumerate(row):
            if np.isnan(value):
                continue
            rest = row.copy()
            rest[bit] = np.nan
            numbers, conditional = completions(table, rest)
            true = conditional @ rows[numbers][:, bit]
            wrong += (true >= 0.5) != value
            known += 1
    assert model.completion_error(X) == pytest.approx(wrong / known, abs=1e-15)
    loss = -model.score_samples(X).sum() / (known * np.log(2))
    assert model.scaled_log_loss(X) == pytest.approx(loss)


@every_model
def test_general_log_odds_equal_those_of_the_model(make):
    X = some_rows()
    X[::3, 1] = np.nan
    model = make().fit(np.nan_to_num(X))
    signs = np.nan_to_num(2 * X - 1).astype(np.int8)
    general = model_module.BinaryDensityMixin._log_odds(model, signs)
    np.testing.assert_allclose(model._log_odds(signs), general, rtol=1e-9, atol=1e-9)


@every_model
def test_samples_follow_the_table(make):
    """Pearson's statistic is about chi-square; one draw in a million fails."""
    model = make().fit(some_rows(n_features=4))
    statistic, freedom = chi_square(
        model.sample(20000, random_state=1), table_of(model)
    )
    assert freedom > 2
    assert chi2.sf(statistic, freedom) > 1e-6


@every_model
def test_drawn_completions_follow_the_conditional_distribution(make):
    model = make().fit(some_rows(n_features=4))
    known = np.array([1.0, np.nan, 0.0, np.nan])
    numbers, conditional = completions(table_of(model), known)
    drawn = model.impute(np.tile(known, (20000, 1)), "sample", random_state=2)
    table = np.zeros(16)
    table[numbers] = conditional
    statistic, freedom = chi_square(drawn, table)
    assert freedom >= 2
    assert chi2.sf(statistic, freedom) > 1e-6


@every_model
def test_random_state_repeats_draws(make):
    model = make().fit(some_rows())
    first = model.sample(9, random_state=3)
    np.testing.assert_array_equal(first, model.sample(9, random_state=3))
    again = make().fit(some_rows())
    np.testing.assert_array_equal(first, again.sample(9, random_state=3))
    assert not np.array_equal(first, model.sample(9, random_state=4))


@every_model
def test_draws_use_the_random_state_of_the_estimator_by_default(make):
    model = make().set_params(random_state=7).fit(some_rows())
    X = some_rows()
    X[:, :3] = np.nan
    drawn, filled = model.sample(9), model.impute(X, "sample")
    np.testing.assert_array_equal(drawn, model.sample(9))
    np.testing.assert_array_equal(drawn, model.sample(9, random_state=7))
    np.testing.assert_array_equal(filled, model.impute(X, "sample", random_state=7))
    assert not np.array_equal(drawn, model.sample(9, random_state=8))
    # A generator given to the estimator goes on from call to call.
    model.set_params(random_state=np.random.RandomState(7))
    np.testing.assert_array_equal(drawn, model.sample(9))
    assert not np.array_equal(drawn, model.sample(9))


def written_differently(X):
    """The same rows in all codes and containers."""
    names = [f"c{j}" for j in range(X.shape[1])]
    return {
        "list": X.tolist(),
        "bool": X.astype(bool),
        "uint8": X.astype(np.uint8),
        "Fortran": np.asfortranarray(X),
        "signs": 2 * X - 1,
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X.astype(bool)),
        "frame": pd.DataFrame(X.astype(bool), columns=names),
        "nullable": pd.DataFrame(X.astype(bool), columns=names).astype("boolean"),
    }


@every_model
def test_codes_and_containers_change_no_number(make):
    X = some_rows()
    expected = make().fit(X).score_samples(X)
    for name, other in written_differently(X).items():
        model = make().fit(other)
        np.testing.assert_array_equal(model.score_samples(other), expected, name)
        codes = [-1, 1] if name == "signs" else [0, 1]
        assert model.codes_.tolist() == codes
        assert set(np.unique(model.sample(50, random_state=0))) == set(codes)


@every_model
def test_answers_are_in_the_codes_that_were_learned(make):
    X = some_rows()
    zero_one, signed = make().fit(X), make().fit(2 * X - 1)
    X[::2, 1] = np.nan
    for method in ("mean", "map", "sample"):
        first = zero_one.impute(X, method, random_state=0)
        second = signed.impute(2 * X - 1, method, random_state=0)
        np.testing.assert_allclose(second, 2 * first - 1, atol=1e-12)
    complete = some_rows()
    np.testing.assert_array_equal(zero_one.impute(complete), complete)


@every_model
def test_missing_values_of_frames(make):
    X = some_rows(n_features=3)
    model = make().fit(pd.DataFrame(X.astype(bool), columns=list("abc")))
    asked = pd.DataFrame({"a": [True, None], "b": [None, False], "c": [True, True]})
    asked = asked.astype("boolean")
    plain = [[1, np.nan, 1], [np.nan, 0, 1]]
    other = make().fit(X)
    np.testing.assert_array_equal(model.impute(asked), other.impute(plain))
    by_name = model.predict_proba_bits(asked, ["c", "a"])
    np.testing.assert_array_equal(by_name, other.predict_proba_bits(plain, [2, 0]))
    one = model.predict_proba_bits(asked, "c")
    np.testing.assert_array_equal(one, other.predict_proba_bits(plain, [2]))


@every_model
def test_blocks_change_no_number(make, monkeypatch):
    X = some_rows(23)
    X[::2, 1] = np.nan
    model = make().fit(np.nan_to_num(X))

    def answers():
        yield model.score_samples(X)
        yield model.impute(X)
        yield model.impute(X, "map")
        yield model.predict_proba_bits(X, [0, 2])
        yield np.array([model.completion_error(X), model.scaled_log_loss(X)])

    before = list(answers())
    for module in (model_module, _information):
        monkeypatch.setattr(module, "BLOCK_SIZE", 3)
    for one, other in zip(before, answers(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


# Bad input


@pytest.mark.filterwarnings("ignore:In 2 samples there are too many likely completions")
@every_model
@pytest.mark.parametrize(
    "X",
    [
        np.ones((1, 1)),
        np.zeros((1, 3)),
        np.ones((7, 1)),
        np.ones((6, 4)),
        np.eye(2, 30),
        np.tile([0.0, 1.0], (5, 3)),
    ],
    ids=["one bit", "one row", "one column", "constant", "N < n", "one row five times"],
)
def test_meagre_tables_give_finite_answers(make, X):
    model = make().fit(X)
    assert np.isfinite(model.score_samples(np.concatenate([X, 1 - X]))).all()
    missing = np.full_like(X, np.nan)
    np.testing.assert_allclose(model.score_samples(missing), 0, atol=1e-12)
    for method in ("mean", "map", "sample"):
        filled = model.impute(missing, method)
        assert ((filled >= 0) & (filled <= 1)).all()
    assert 0 <= model.completion_error(X) <= 1


@every_model
def test_binarize_sets_the_threshold_or_demands_two_codes(make):
    X = some_rows()
    strict = make().set_params(binarize=None)
    half = make().set_params(binarize=0.5).fit(0.2 + 0.6 * X)
    expected = make().fit(X).score(X)
    assert half.score(X) == strict.fit(X).score(X) == expected
    assert strict.fit(2 * X - 1).score(2 * X - 1) == expected
    with pytest.raises(ValueError, match="demands the codes -1 and 1"):
        strict.score(X)
    with pytest.raises(ValueError, match=r"holds 3\.0 in column 2; .* 0 and 1"):
        strict.fit(np.where(np.arange(5) == 2, 3.0, X))
    with pytest.raises(ValueError, match="binarize"):
        make().set_params(binarize=-1.0).fit(X)


@every_model
def test_bad_questions_are_refused_by_name(make):
    X = some_rows(n_features=3)
    with pytest.raises(NotFittedError):
        make().sample()
    model = make().fit(X)
    with pytest.raises(ValueError, match="method"):
        model.impute(X, "mode")
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(0)
    with pytest.raises(ValueError, match="infinity"):
        model.score([[np.inf, 0, 1]])
    with pytest.raises(ValueError, match="3 features"):
        model.score([[0, 1]])
    for columns, words in [
        ([], "1 to 20"),
        (range(21), "1 to 20"),
        ([3], "columns"),
        (["z"], r"'z', which is not a column: .*from 0 to 2"),
        (3, "columns"),
        ([-1], "columns"),
        ([0, 0], "twice"),
        ("a", "is not a column"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.predict_proba_bits(X, columns)
    for measure in (model.completion_error, model.scaled_log_loss):
        with pytest.raises(ValueError, match="no known bit"):
            measure(np.full((2, 3), np.nan))


@every_model
def test_missing_bits_in_fit_are_learned_from_or_refused(make):
    X = some_rows()
    X[2, 1] = np.nan
    model = make()
    if get_tags(model).input_tags.allow_nan:
        assert np.isfinite(model.fit(X).score(X))
        return
    with pytest.raises(
        ValueError, match=r"NaN in column 1\. BernoulliMixture .*impute"
    ):
        model.fit(X)
