"""The certificate bounds the cost of every DNF, by definition."""

import warnings

import numpy as np
import pytest
from oracles.rules import every_dnf_cost, relaxed_dnf_cost
from sklearn.tree import DecisionTreeClassifier

from sklboolean import RuleClassifier
from sklboolean._core.bits import pack_dense
from sklboolean.datasets import load_votes, make_monks, make_tic_tac_toe
from sklboolean.rules._dnf_bound import DNFProblem, relax
from sklboolean.rules._gain_search import GainParams


def params(max_literals, monotone, time_limit=None):
    return GainParams.check(
        max_rules=20, max_literals=max_literals, monotone=monotone, penalty=1,
        literal_price=1, width=64, feature_groups=None, time_limit=time_limit,
        n_jobs=None,
    )  # fmt: skip


def noisy(seed, n_samples=40, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, n_features)).astype(np.uint8)
    positive = (X[:, 0] & X[:, 1]).astype(bool) ^ (rng.random(n_samples) < 0.25)
    return X, positive, rng


def bound_of(X, positive, weights, price, start=(), *, max_literals=2, monotone=False):
    problem = DNFProblem(pack_dense(X), X.shape[1], positive, weights, price)
    settings = params(max_literals, monotone)
    search = settings.conjunction_search(problem.X, X.shape[1])
    return relax(problem, search, settings, list(start)).bound


@pytest.mark.parametrize("price", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_no_dnf_costs_less_than_the_bound(seed, price):
    X, positive, rng = noisy(seed, n_samples=30, n_features=4)
    weights = rng.integers(1, 4, len(X)).astype(float)
    # Without negations there are 10 conjunctions, and 2 ** 11 DNFs.
    options = {"max_literals": 2, "negations": False}
    best = min(every_dnf_cost(X, positive, weights, price, **options))
    bound = bound_of(X, positive, weights, price, monotone=True)
    assert bound <= best * (1 + 1e-9)
    relaxed = relaxed_dnf_cost(X, positive, weights, price, **options)
    if price in (0.0, 1.0):
        # Costs are whole numbers.
        relaxed = np.ceil(relaxed - 1e-6)
    assert bound == pytest.approx(relaxed, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_the_value_of_the_program_over_all_conjunctions(seed):
    X, positive, rng = noisy(seed, n_samples=80, n_features=6)
    weights = rng.random(len(X))
    bound = bound_of(X, positive, weights, 0.2, max_literals=3)
    relaxed = relaxed_dnf_cost(
        X, positive, weights, 0.2, max_literals=3, negations=True
    )
    assert bound == pytest.approx(relaxed, rel=1e-4)
    assert bound <= relaxed + 1e-9


def test_the_cost_of_a_dnf():
    X, positive, rng = noisy(0)
    weights = rng.random(len(X))
    one, other = ((0, True),), ((0, True), (1, False))
    counts = X[:, 0] + (X[:, 0] & (1 - X[:, 1]))
    expected = sum(
        w * ((n == 0) if wanted else n)
        for w, n, wanted in zip(weights, counts, positive, strict=True)
    )
    problem = DNFProblem(pack_dense(X), X.shape[1], positive, weights, 0.5, 2.0)
    # Three literals and two rules.
    assert problem.cost([one, other]) == pytest.approx(expected + 1.5 + 4.0)
    assert problem.cost([()]) == pytest.approx(weights[~positive].sum())


def test_certificates_of_classifiers():
    data = make_tic_tac_toe()
    model = RuleClassifier(
        "labels", monotone=True, max_literals=3, penalty=3, literal_price=1,
        certificate=True,
    )  # fmt: skip
    model.fit(data.data, data.target)
    # Eight rules of three literals without an error. The other class needs more.
    assert model.cost_ == 24
    assert 0 < model.cost_bound_ <= 24
    assert RuleClassifier("labels").fit(data.data, data.target).rules_
    data = make_monks(1)
    model.set_params(monotone=False, feature_groups=data.feature_groups)
    model.fit(data.data, data.target)
    assert model.cost_ == model.cost_bound_ == 7
    before = model.cost_bound_
    with pytest.raises(ValueError, match="certificate=True needs two classes"):
        model.fit(data.data, np.arange(len(data.target)) % 3)
    assert model.cost_bound_ == before


def test_a_certificate_counts_the_samples_that_the_rules_learned_from():
    # Of few samples none are held out, and the model is trusted.
    X, y = (part[:90] for part in load_votes(return_X_y=True))
    model = RuleClassifier(
        DecisionTreeClassifier(max_depth=1), penalty=1, literal_price=1,
        certificate=True, random_state=0,
    )  # fmt: skip
    model.fit(X, y)
    trusted = model.estimator_.predict(X) == y
    assert 0 < trusted.sum() < len(y)
    positive = (y == model.rules_[0].label)[trusted]
    problem = DNFProblem(
        pack_dense(X[trusted]), X.shape[1], positive, np.ones(trusted.sum()), 1.0
    )
    assert model.cost_ == problem.cost([rule.literals for rule in model.rules_])
    assert 0 < model.cost_bound_ <= model.cost_


def test_a_certificate_of_no_rules_and_of_little_time():
    X, positive, _ = noisy(1, n_samples=400, n_features=12)
    model = RuleClassifier("labels", literal_price=1e6, certificate=True)
    with pytest.warns(UserWarning, match="No rule gained enough"):
        model.fit(X, positive)
    assert model.cost_ == model.cost_bound_ == min(positive.sum(), (~positive).sum())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "time_limit=0.001 ended")
        model.set_params(literal_price=1, time_limit=1e-3).fit(X, positive)
    hurried = model.cost_bound_
    model.set_params(time_limit=None).fit(X, positive)
    assert 0 <= hurried <= model.cost_bound_ <= model.cost_
