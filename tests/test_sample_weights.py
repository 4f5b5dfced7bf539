"""What weights mean: the same for every estimator that takes them."""

from decimal import Decimal
from fractions import Fraction
from inspect import signature

import numpy as np
import pytest
from _instances import MODELS, OF_CLASSES, answers, same_answers, target_for
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import has_fit_parameter

from sklboolean import (
    AveragedPerceptron,
    BooleanEnsembleClassifier,
    BooleanSVC,
    BoostByMajority,
    DensityOutlierDetector,
    HalvingClassifier,
    KernelPerceptron,
    OptimalRuleSet,
    RuleClassifier,
    ScorecardClassifier,
    Winnow,
)
from sklboolean._core.weights import checked_weights, relative_weights
from sklboolean.io import BitTable

# One of each class, and those whose estimators inside get weights, or draws by them.
INSIDE = [
    "boost_by_majority_trees", "boost_by_majority_resample", "query_by_committee_gibbs",
    "online_boost_by_majority_bayes",
]  # fmt: skip
WEIGHTED = [
    name
    for name in [*OF_CLASSES, *INSIDE]
    if has_fit_parameter(MODELS[name], "sample_weight")
]
CLASSIFIERS = [name for name in WEIGHTED if is_classifier(MODELS[name])]
# They begin with a hypothesis that mistakes change, or that samples contradict, and
# stay with it for a class of which they see nothing.
BY_MISTAKES = (
    "perceptron",
    "winnow",
    "online_boost",
    "halving",
    "conjunction_classifier",
)


def takes_tables(name):
    """Test for classifiers whose labels and real weights a `BitTable` may hold."""
    y = signature(MODELS[name].fit).parameters["y"]
    is_other = any(part in name for part in ("query", "trees", "halving"))
    return is_classifier(MODELS[name]) and y.default is None and not is_other


seeds, quiet = st.integers(0, 10**6), pytest.mark.filterwarnings("ignore::UserWarning")


def make_problem(name, seed, n_samples=40):
    """Draw Boolean samples, noisy labels or real targets, and weights of sum 1."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_samples, 5)) < 0.5).astype(np.uint8)
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(n_samples) < 0.1)
    y[:4] = 0, 1, 0, 1
    weights = rng.dirichlet(np.ones(n_samples))
    if name.startswith(("halving", "query_by_committee_gibbs")):  # counts only
        weights = np.full(n_samples, 1 / n_samples)
    return X, target_for(MODELS[name], X, y), weights, rng


def fit(name, X, y, weights):
    return clone(MODELS[name]).fit(X, y, sample_weight=weights)


@quiet
@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=2)
@given(seed=seeds, exponent=st.floats(-200, 0))
def test_small_weights_only_say_how_samples_compare(name, seed, exponent):
    X, y, weights, _ = make_problem(name, seed)
    expected = answers(fit(name, X, y, weights), X)
    got = answers(fit(name, X, y, 10**exponent * weights), X)
    if "stump" not in name:
        return same_answers(got, expected)
    for method, values in expected.items():  # a stump divides sums of the weights given
        np.testing.assert_allclose(got[method], values, rtol=1e-12)


@quiet
@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=2)
@given(
    seed=seeds,
    size=st.floats(1e-200, 1) | st.sampled_from([1 - 2**-53, 1 - 1e-10, 1 + 2**-52]),
)
def test_equal_weights_up_to_1_are_no_weights(name, seed, size):
    X, y, _, _ = make_problem(name, seed)
    expected = answers(fit(name, X, y, None), X)
    same_answers(answers(fit(name, X, y, np.ones(len(y))), X), expected)
    if "balanced" not in str(MODELS[name]):  # their weights are rounded
        same_answers(answers(fit(name, X, y, size), X), expected)


@quiet
@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=2)
@given(seed=seeds)
def test_samples_of_weight_0_are_as_if_absent(name, seed):
    X, y, weights, rng = make_problem(name, seed)
    used = rng.permutation(np.arange(len(y)) < 25)
    used[:4] = True
    weights = len(y) * weights * used
    expected = answers(fit(name, X[used], y[used], weights[used]), X)
    got = answers(fit(name, X, y, weights), X)
    for method, values in expected.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(got[method], values, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(got[method], values)


@pytest.mark.parametrize("model", [BooleanEnsembleClassifier, DensityOutlierDetector])
def test_samples_of_weight_0_do_not_choose_thresholds(model):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(
        {"age": rng.normal(size=60), "city": rng.choice(["a", "b"], 60)}
    )
    y, model = (X["age"] > 0).to_numpy(), model()
    if is_classifier(model):
        model.set_params(estimators=[("only", AveragedPerceptron())], random_state=0)
    others = pandas.DataFrame({"age": rng.normal(5, 9, 60), "city": ["c"] * 60})
    arguments = (y,) if is_classifier(model) else (None,)
    expected = answers(clone(model).fit(X, *arguments), X)
    both = pandas.concat([X, others], ignore_index=True)
    arguments = (np.append(y, ~y),) if is_classifier(model) else (None,)
    weights = np.repeat([1.0, 0.0], 60)
    same_answers(answers(clone(model).fit(both, *arguments, weights), X), expected)


@pytest.mark.parametrize("number", [Decimal("0.5"), Fraction(1, 3), np.array(0.5)])
def test_any_number_is_a_weight_of_all_samples(number):
    np.testing.assert_array_equal(checked_weights(number, 3), np.ones(3))


@pytest.mark.parametrize("weights", ["a", ["a", 1, 1], {1: 2}, 1j])
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(ValueError, match="sample_weight must hold numbers: "):
        checked_weights(weights, 3)


@quiet
@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_that_float64_cannot_count_are_refused(name):
    X, y, _, _ = make_problem(name, 0)
    model = fit(name, X, y, None)
    expected = answers(model, X)
    for weight in (1e300, 2.0**53 / len(y)):
        with pytest.raises(ValueError, match=r"sample_weight.* below 2\*\*53"):
            model.fit(X, y, sample_weight=np.full(len(y), weight))
    same_answers(answers(model, X), expected)


@quiet
@pytest.mark.parametrize("name", CLASSIFIERS)
@settings(max_examples=2)
@given(seed=seeds, data=st.data())
def test_a_class_without_weight_stays_in_classes(name, seed, data):
    X, y, _, _ = make_problem(name, seed)
    model, labels = clone(MODELS[name]), np.array(["no", "perhaps", "yes"])
    is_query = name.startswith("query")  # of one label alone there is nothing to ask
    if model.__sklearn_tags__().classifier_tags.multi_class and "gibbs" not in name:
        y = y + X[:, 2] * (is_query or data.draw(st.booleans()))
    absent = data.draw(st.sampled_from(np.unique(y).tolist()))
    with pytest.warns(UserWarning, match=r"All samples of \['\w+'\] have weight 0"):
        model.fit(X, labels[y], sample_weight=(y != absent) * 1.0)
    assert model.classes_.tolist() == labels[np.unique(y)].tolist()
    probabilities = model.predict_proba(X)
    shares = probabilities[:, absent]
    assert np.isfinite(shares).all()
    if not any(part in name for part in BY_MISTAKES):
        assert labels[absent] not in model.predict(X)
        # Laplace smoothing adds one sample of it to what a rule decides; 64 draws from
        # the hypotheses without mistakes leave a region open where no sample lies.
        bounds = {"rule": 1 / 3 + 1e-12, "gibbs": 0.5}
        bound = next((bounds[part] for part in bounds if part in name), 0.2 + 1e-12)
        assert shares.max() < bound
    if "rule" in name:
        np.testing.assert_array_equal(shares, probabilities.min(axis=1))


@quiet
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_bagging_may_leave_out_a_rare_class(name):
    rng = np.random.default_rng(0)
    X = (rng.random((60, 5)) < 0.5).astype(np.uint8)
    y = 2.0 * (np.arange(60) < 2)
    if name.startswith("query"):
        y[2:31] = 1
    if "gibbs" in name:
        y = np.minimum(y, 1)
    model = BaggingClassifier(MODELS[name], n_estimators=6, random_state=2).fit(X, y)
    if "gibbs" not in name:
        assert any(2 not in y[samples] for samples in model.estimators_samples_)
    assert np.isfinite(model.predict_proba(X)).all()


@given(
    size=st.floats(1e-3, 1e3), n_samples=st.integers(1, 200), n_absent=st.integers(0, 9)
)
@example(1 - 2**-53, 10, 0)
def test_equal_weights_divided_by_their_mean_are_1(size, n_samples, n_absent):
    weights = np.full(n_samples, size)
    weights = np.append(weights / weights.mean(), np.zeros(n_absent))
    expected = np.repeat([1.0, 0.0], [n_samples, n_absent])
    np.testing.assert_array_equal(relative_weights(weights), expected)


def test_whole_weights_of_halving_may_be_large():
    X, y, _, _ = make_problem("halving_classifier", 1)
    model = HalvingClassifier(max_literals=2)
    with pytest.warns(UserWarning, match="None of the"):
        counts = model.fit(X, y)._state.mistakes.values()
    with pytest.warns(UserWarning, match="None of the"):
        model.fit(X, y, sample_weight=np.full(len(y), 256))
    assert (model._state.mistakes.values() == 256 * counts).all()


@quiet
@pytest.mark.parametrize(
    "model",
    [
        AveragedPerceptron(), BooleanSVC(), BoostByMajority(n_estimators=11),
        KernelPerceptron(), RuleClassifier(), ScorecardClassifier(3), Winnow(),
    ],
    ids=str,
)  # fmt: skip
def test_one_over_the_class_sizes_is_balanced(model):
    rng = np.random.default_rng(0)
    X = (rng.random((300, 6)) < 0.5).astype(np.uint8)
    y = (rng.random(300) < 0.05 + 0.3 * X[:, 0] * X[:, 1]).astype(int)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    sizes, results = np.bincount(y), []
    for weights in ("balanced", dict(enumerate(1 / sizes))):
        scores = clone(model).set_params(class_weight=weights).fit(X, y)
        scores = scores.predict_proba(X)[:, 1]
        results.append((roc_auc_score(y, scores), (scores > 0.5).mean()))
    np.testing.assert_allclose(*results, atol=0.005)
    assert results[0][1] > 1.2 * y.mean()


@quiet
@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(), OptimalRuleSet(max_literals=2), ScorecardClassifier(3),
        Winnow(),
    ],
    ids=str,
)  # fmt: skip
def test_adaboost_is_no_worse_than_its_learner(model):
    rng = np.random.default_rng(0)
    X = (rng.random((200, 6)) < 0.5).astype(np.uint8)
    y = ((X[:, 0] & X[:, 1]) | X[:, 2]) ^ (rng.random(200) < 0.1)
    boosted = AdaBoostClassifier(model, n_estimators=5, random_state=0).fit(X, y)
    assert boosted.score(X, y) >= clone(model).fit(X, y).score(X, y) - 0.01


@quiet
@pytest.mark.parametrize("name", [name for name in WEIGHTED if takes_tables(name)])
def test_weights_of_a_file_are_scaled_together(name, tmp_path):
    X, y, weights, _ = make_problem(name, 0)
    weights *= np.where(np.arange(len(y)) < 20, 1e-9, 1e-3)
    expected = answers(fit(name, X, y, weights), X)
    parts = [(X[k], y[k], weights[k]) for k in (slice(20), slice(20, None))]
    table = BitTable.write(tmp_path / "table.bits", parts)
    found = answers(clone(MODELS[name]).fit(table), X)
    if "ensemble" in name:  # the columns of an encoder are added up in another order
        for method in expected:
            np.testing.assert_allclose(found[method], expected[method], rtol=1e-12)
    else:
        same_answers(found, expected)
