"""Elimination and Halving against the algorithms by definition, and their theorems."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import kernels as oracles
from oracles import linear_model as oracles_online
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier

from sklboolean import ConjunctionClassifier, HalvingClassifier
from sklboolean.theory import elimination_mistake_bound, halving_mistake_bound

layouts = st.sampled_from([np.asarray, sparse.csr_array, sparse.csc_array, np.float64])
quiet = pytest.mark.filterwarnings(
    "ignore:No (con|dis)junction classifies", "ignore:None of the"
)


@st.composite
def examples(draw, noisy):
    """Rows labelled by a conjunction of literals, or at random; both classes occur."""
    n_samples, n_features = draw(st.integers(2, 40)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, 2, (n_samples, n_features))
    wanted = rng.integers(-1, 2, n_features)  # -1: not in the conjunction
    if (wanted < 0).all():
        wanted[0] = 1
    y = ((X == wanted) | (wanted < 0)).all(axis=1)
    if noisy:
        y = rng.random(n_samples) < 0.5
    X[0] = np.where(wanted < 0, X[0], wanted)
    X[1] = np.where(wanted < 0, X[1], 1 - wanted)
    y[:2] = [True, False]
    return X, y


def literals_of(learner):
    positive = {(int(j), True) for j in learner.positive_features_}
    return positive | {(int(j), False) for j in learner.negated_features_}


@quiet
@given(examples(noisy=True), st.booleans(), layouts)
def test_elimination_is_the_one_of_the_definition(data, monotone, layout):
    X, y = data
    learner = ConjunctionClassifier(monotone=monotone).fit(layout(X), y)
    player = oracles_online.play_elimination(X, y, monotone=monotone)
    assert learner.n_mistakes_ == player.n_mistakes
    assert literals_of(learner) == player.literals
    expected = np.array([player.predict(x) for x in X])
    np.testing.assert_array_equal(learner.predict(layout(X)), expected)
    assert learner.n_contradictions_ == np.count_nonzero(expected != y)


@quiet
@given(examples(noisy=True), st.booleans())
def test_disjunctions_are_conjunctions_of_negations(data, monotone):
    X, y = data
    learner = ConjunctionClassifier(target="disjunction", monotone=monotone).fit(X, y)
    mirror = ConjunctionClassifier(monotone=monotone).fit(1 - X, ~y)
    assert literals_of(learner) == literals_of(mirror)
    assert learner.n_mistakes_ == mirror.n_mistakes_
    assert learner.n_contradictions_ == mirror.n_contradictions_
    np.testing.assert_array_equal(learner.predict(X), ~mirror.predict(1 - X))


@quiet
@given(examples(noisy=True))
def test_formula_means_what_predict_does(data):
    X, y = data
    for target in ("conjunction", "disjunction"):
        learner = ConjunctionClassifier(target=target).fit(X, y)
        rows = np.array(list(product([0, 1], repeat=X.shape[1])))
        meant = [
            eval(learner.formula_, {f"x{j}": bool(v) for j, v in enumerate(row)})
            for row in rows
        ]
        np.testing.assert_array_equal(learner.predict(rows), meant)


@given(examples(noisy=False))
def test_a_conjunction_is_learned_within_the_bound(data):
    X, y = data
    learner = ConjunctionClassifier().fit(X, y)
    assert learner.n_contradictions_ == 0
    assert learner.n_mistakes_ <= elimination_mistake_bound(X.shape[1])
    np.testing.assert_array_equal(learner.predict(X), y)


@quiet
@given(examples(noisy=True), st.booleans())
def test_a_contradiction_means_that_no_conjunction_fits(data, monotone):
    X, y = data
    terms = oracles.conjunctions(X.shape[1], 0, X.shape[1], monotone)
    fits = any(
        all(
            oracles.conjunction_holds(term, x) == label
            for x, label in zip(X, y, strict=True)
        )
        for term in terms
    )
    learner = ConjunctionClassifier(monotone=monotone).fit(X, y)
    assert (learner.n_contradictions_ == 0) == fits


def test_contradictions_are_counted_in_the_warning():
    X, y = [[1, 0], [0, 1], [1, 1], [0, 0]], [1, 1, 0, 0]
    with pytest.warns(
        UserWarning, match="No conjunction classifies.*accepts 2 samples"
    ):
        learner = ConjunctionClassifier().fit(X, y)
    assert learner.formula_ == "True"
    assert learner.n_contradictions_ == 2
    with pytest.warns(
        UserWarning, match="No disjunction classifies.*rejects 2 samples"
    ):
        ConjunctionClassifier(target="disjunction").fit(X, y)


def test_formula_has_the_names_of_the_columns():
    X = pd.DataFrame({"odor=foul": [1, 1, 0], "cap=red": [0, 0, 1]})
    learner = ConjunctionClassifier().fit(X, ["bad", "bad", "edible"])
    assert learner.formula_ == "not odor=foul and cap=red"
    assert list(learner.predict(X)) == ["bad", "bad", "edible"]


@pytest.mark.parametrize("learner", [ConjunctionClassifier(), HalvingClassifier()])
def test_parts_equal_one_pass(learner):
    X = np.random.default_rng(0).integers(0, 2, (60, 4))
    y = X[:, 0] & (1 - X[:, 2])
    whole = learner.fit(X, y)
    parts = type(learner)()
    for first in range(0, 60, 7):
        rows = slice(first, first + 7)
        parts.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert parts.n_mistakes_ == whole.n_mistakes_
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    copied = pickle.loads(pickle.dumps(parts))
    np.testing.assert_array_equal(copied.predict(X), whole.predict(X))


def hypothesis_class(kind, n_features, max_literals, monotone):
    terms = oracles.conjunctions(n_features, 0, max_literals, monotone)
    holds = (
        oracles.conjunction_holds
        if kind == "conjunctions"
        else oracles.disjunction_holds
    )
    return [lambda x, term=term: holds(term, x) for term in terms]


@quiet
@given(
    examples(noisy=True),
    st.sampled_from(["conjunctions", "disjunctions", "k-disjunctions"]),
    st.integers(0, 4),
    st.booleans(),
    layouts,
)
def test_halving_is_the_one_of_the_definition(data, kind, longest, monotone, layout):
    X, y = data
    longest = min(longest, X.shape[1])
    hypotheses = hypothesis_class(kind, X.shape[1], longest, monotone)
    player = oracles_online.Halving(hypotheses, tie=True).play(X, y)
    learner = HalvingClassifier(kind, max_literals=longest, monotone=monotone)
    learner.fit(layout(X), y)
    assert learner.n_hypotheses_ == len(hypotheses)
    assert learner.n_consistent_ == len(player.consistent)
    assert learner.n_mistakes_ == player.n_mistakes
    assert learner.collapsed_ == (not player.consistent)
    votes = [float(player.vote(x)) for x in X]
    np.testing.assert_allclose(learner.decision_function(X), votes, atol=1e-12)
    np.testing.assert_array_equal(
        learner.predict(layout(X)), [player.predict(x) for x in X]
    )
    shares = learner.predict_proba(X)
    np.testing.assert_allclose(shares[:, 1], (1 + np.array(votes)) / 2, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@given(examples(noisy=False))
def test_halving_stays_within_its_bound(data):
    X, y = data
    learner = HalvingClassifier().fit(X, y)
    assert not learner.collapsed_
    assert learner.mistake_bound_ == halving_mistake_bound(learner.n_hypotheses_)
    assert learner.n_mistakes_ <= learner.mistake_bound_
    formulas = learner.consistent_formulas(max_formulas=10**6)
    assert len(formulas) == learner.n_consistent_
    names = [{f"x{j}": bool(v) for j, v in enumerate(x)} for x in X]
    for formula in formulas:
        assert [eval(formula, row) for row in names] == list(y)


def test_own_hypotheses():
    def at_least(m):
        return lambda values: values.sum(axis=1) >= m

    X = np.array(list(product([0, 1], repeat=6)))
    y = X.sum(axis=1) >= 4
    learner = HalvingClassifier([at_least(m) for m in range(8)]).fit(X, y)
    assert learner.n_consistent_ == 1
    assert learner.n_mistakes_ <= learner.mistake_bound_ == 3
    np.testing.assert_array_equal(learner.predict(X), y)
    with pytest.raises(AttributeError, match="no formula"):
        learner.consistent_formulas()


def test_collapse_is_said_once_and_leaves_weighted_majority():
    X, y = [[0], [1], [1], [1], [0]], [0, 1, 1, 0, 0]
    learner = HalvingClassifier(monotone=True)
    with pytest.warns(UserWarning, match="None of the 2 hypotheses agrees"):
        learner.fit(X, y)
    # "True" errs on rows 0, 3 and 4, "x0" on row 3 only: weights 1/8 and 1/2.
    np.testing.assert_allclose(learner.decision_function([[0]]), (1 - 4) / 5)
    np.testing.assert_allclose(learner.decision_function([[1]]), 1)
    learner.partial_fit(X, y)


BAD = [
    (ConjunctionClassifier(target="rule"), {}, "target must be one of"),
    (ConjunctionClassifier(monotone="no"), {}, "monotone must be one of"),
    (ConjunctionClassifier(binarize=-1.0), {}, "binarize must be at least"),
    (ConjunctionClassifier(binarize=None), {"X": [[0, 2], [1, 0]]}, "Column 1"),
    (HalvingClassifier("parities"), {}, "hypotheses must be one of"),
    (HalvingClassifier([]), {}, "list of one or more"),
    (HalvingClassifier([3]), {}, "list of one or more"),
    (HalvingClassifier([lambda values: values]), {}, r"hypotheses\[0\] must return"),
    (HalvingClassifier([lambda values: [2, 0]]), {}, r"hypotheses\[0\] must return"),
    (HalvingClassifier("k-disjunctions"), {}, "needs max_literals"),
    (HalvingClassifier(max_literals=-1), {}, "max_literals"),
    (HalvingClassifier(), {"X": np.eye(2, 40)}, r"least 10\^19 hypotheses, too many"),
    (HalvingClassifier(), {"X": [[0, np.nan], [1, 0]]}, "NaN"),
    (HalvingClassifier(), {"y": [1, 1]}, "only one class"),
    (
        ConjunctionClassifier(),
        {"X": np.eye(3), "y": [0, 1, 2]},
        "Only binary classification.*OneVsRestClassifier",
    ),
]


@pytest.mark.parametrize(("learner", "data", "message"), BAD)
def test_bad_input_is_named_and_nothing_is_forgotten(learner, data, message):
    bad = {"X": [[0, 1], [1, 0]], "y": [0, 1]} | data
    fitted = type(learner)().fit([[0, 1], [1, 0]], [0, 1])
    before = fitted.predict([[0, 1], [1, 0]])
    fitted.set_params(**learner.get_params())
    with pytest.raises(ValueError, match=message):
        fitted.fit(**bad)
    fitted.set_params(**type(learner)().get_params())
    np.testing.assert_array_equal(fitted.predict([[0, 1], [1, 0]]), before)


def test_stream_refuses_new_labels_and_widths():
    for learner in (ConjunctionClassifier(), HalvingClassifier()):
        learner.partial_fit([[0, 1], [1, 0]], [0, 1], classes=[0, 1])
        with pytest.raises(ValueError, match="label 7"):
            learner.partial_fit([[0, 1]], [7])
        with pytest.raises(ValueError, match="3 features"):
            learner.partial_fit([[0, 1, 1]], [1])
        np.testing.assert_array_equal(learner.predict([[0, 1], [1, 0]]), [0, 1])


@quiet
@pytest.mark.parametrize("target", ["conjunction", "disjunction"])
def test_scores_count_literals_and_serve_one_against_the_rest(target):
    """The score of a formula by definition; three classes by one formula each."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 6))
    y = X[:, 0] & ~X[:, 1] & 1 if target == "conjunction" else X[:, 0] | X[:, 2]
    model = ConjunctionClassifier(target=target).fit(X, y)
    true = np.hstack(
        [X[:, model.positive_features_], 1 - X[:, model.negated_features_]]
    )
    n_true, n_false = true.sum(axis=1), (1 - true).sum(axis=1)
    expected = np.where(n_false > 0, -n_false, 1)
    if target == "disjunction":
        expected = np.where(n_true > 0, n_true, -1)
    np.testing.assert_array_equal(model.decision_function(X), expected)
    np.testing.assert_array_equal(model.predict(X), expected > 0)
    classes = X[:, 0] + (X[:, 0] & X[:, 1])
    rest = OneVsRestClassifier(ConjunctionClassifier()).fit(X, classes)
    assert rest.score(X, classes) == 1.0
