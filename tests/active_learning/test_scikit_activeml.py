"""Together with scikit-activeml, where it is installed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles.kernels import plain_perceptron
from sklearn.base import clone

from sklboolean import (
    AveragedPerceptron,
    BoostByMajority,
    ConjunctionClassifier,
    OnlineBoostByMajority,
    QueryByCommittee,
    RuleClassifier,
    Winnow,
)
from sklboolean.datasets import load_votes

pytest.importorskip("skactiveml")

from skactiveml.base import SingleAnnotatorPoolQueryStrategy
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import Badge, UncertaintySampling
from skactiveml.pool import QueryByCommittee as PeerCommittee
from skactiveml.utils import is_labeled

X, y = load_votes(return_X_y=True)
X, y = X[:150].astype(float), y[:150]
KNOWN = np.where(np.arange(150) < 30, y, np.nan)
WANTED = np.arange(30, 150)

pytestmark = pytest.mark.filterwarnings("ignore::Warning:skactiveml")


def wrapped(estimator, n=3):
    """Wrap clones with different seeds, as scikit-activeml wants it."""
    clones = [clone(estimator) for _ in range(n)]
    for seed, member in enumerate(clones):
        if "random_state" in member.get_params():
            member.set_params(random_state=seed)
    return [SklearnClassifier(member, classes=[0, 1]) for member in clones]


PROBABILISTIC = [
    AveragedPerceptron(),
    Winnow(),
    plain_perceptron(),
    BoostByMajority(n_estimators=5),
    RuleClassifier(),
    QueryByCommittee(n_members=3, max_queries=20),
]
VOTERS = [
    *PROBABILISTIC,
    OnlineBoostByMajority(n_estimators=5),
    ConjunctionClassifier(),
]


@pytest.mark.parametrize("estimator", PROBABILISTIC, ids=str)
def test_estimators_are_members_by_their_probabilities(estimator):
    members = wrapped(estimator)
    peer = PeerCommittee(method="KL_divergence", random_state=0)
    chosen, utilities = peer.query(
        X, KNOWN, ensemble=members, batch_size=3, return_utilities=True
    )
    assert set(chosen) <= set(WANTED)
    p = np.array([each.fit(X, KNOWN).predict_proba(X[WANTED]) for each in members])
    logs = np.log(np.maximum(p, 1e-7)) - np.log(np.maximum(p.mean(axis=0), 1e-7))
    divergence = (p * logs).sum(axis=2).mean(axis=0)
    # It replaces probabilities below 1e-7: 1e-7 log(1e7) = 2e-6 for each class.
    assert_allclose(utilities[0][WANTED], divergence, atol=1e-5)


@pytest.mark.parametrize("estimator", VOTERS, ids=str)
def test_estimators_are_members_by_their_votes(estimator):
    peer = PeerCommittee(method="vote_entropy", random_state=0)
    chosen = peer.query(X, KNOWN, ensemble=wrapped(estimator), batch_size=3)
    assert set(chosen) <= set(WANTED)


@pytest.mark.parametrize("strategy", [Badge(random_state=0), UncertaintySampling()])
def test_estimators_are_models_of_strategies(strategy):
    model = wrapped(Winnow(), 1)[0]
    chosen = strategy.query(X, KNOWN, clf=model, batch_size=4)
    assert len(set(map(int, chosen))) == 4
    assert set(chosen) <= set(WANTED)


class CommitteeStrategy(SingleAnnotatorPoolQueryStrategy):
    """`QueryByCommittee` behind the interface of scikit-activeml's strategies."""

    def __init__(self, committee, missing_label=np.nan, random_state=None):
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.committee = committee

    def query(self, X, y, candidates=None, batch_size=1, return_utilities=False):
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        pool, rows = self._transform_candidates(candidates, X, y)
        known = is_labeled(y, self.missing_label_)
        committee = clone(self.committee).teach(X[known], y[known])
        chosen, scores = committee.query(pool, batch_size, return_utilities=True)
        if rows is None:
            utilities = np.tile(scores, (batch_size, 1))
        else:
            utilities = np.full((batch_size, len(X)), np.nan)
            utilities[:, rows] = scores
            chosen = rows[chosen]
        return (chosen, utilities) if return_utilities else chosen


@pytest.mark.parametrize("form", ["all", "indices", "samples"])
def test_committee_is_a_strategy(form):
    committee = QueryByCommittee(random_state=0, initial=5)
    candidates = {"all": None, "indices": WANTED, "samples": X[WANTED]}[form]
    chosen, utilities = CommitteeStrategy(committee).query(
        X, KNOWN, candidates, batch_size=4, return_utilities=True
    )
    expected, scores = (
        clone(committee)
        .teach(X[:30], y[:30])
        .query(X[WANTED], 4, return_utilities=True)
    )
    first = 0 if form == "samples" else 30
    assert_array_equal(chosen, expected + first)
    assert_array_equal(utilities[0][first:], scores)
    if form != "samples":
        assert np.isnan(utilities[:, :30]).all()


def test_loop_of_a_strategy_learns():
    known, strategy = KNOWN.copy(), CommitteeStrategy(QueryByCommittee(random_state=0))
    for _ in range(5):
        rows = strategy.query(X, known, batch_size=5)
        assert np.isnan(known[rows]).all()
        known[rows] = y[rows]
    rows = np.flatnonzero(is_labeled(known))
    assert len(rows) == 55
    assert QueryByCommittee(random_state=0).teach(X[rows], y[rows]).score(X, y) > 0.9


def test_missing_labels_are_never_taken_for_answers():
    """NaN marks a label that is wanted: nobody can be asked for it in ``fit``."""
    with pytest.raises(ValueError, match=r"120 missing labels .* teach\("):
        QueryByCommittee().fit(X, KNOWN)
