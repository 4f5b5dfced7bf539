"""BoostByMajority: its promise, one model however bits are held, what it publishes."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from boosting_cases import make_booster, scheduled
from numpy.testing import assert_allclose, assert_array_equal
from oracles.boosting import RowByRow
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import BooleanStump, BoostByMajority
from sklboolean._core.calibration import fit_slope
from sklboolean._core.held_out import stratified_split
from sklboolean.boosting import (
    BoostingSchedule,
    CrossValidatedSchedule,
    _cross_validated_schedule,
    _games,
)
from sklboolean.boosting._votes import MajorityVotes
from sklboolean.datasets import flip_labels, make_long_servedio
from sklboolean.theory import max_gamma, min_rounds

TREE = DecisionTreeClassifier(max_depth=2)


class PlainStump(BooleanStump):
    """The same weak learner, but one that the booster treats as any other."""


class Promise(ClassifierMixin, BaseEstimator):
    """Right about 1/2 + gamma of the weight and hardly more. X numbers the rows."""

    def __init__(self, gamma=0.1, random_state=None):
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X, y, sample_weight):
        rng = np.random.default_rng(self.random_state)
        self.classes_ = np.unique(y)
        order = rng.permutation(len(y))
        total = np.cumsum(sample_weight[order])
        n_right = np.searchsorted(total, (0.5 + self.gamma) * total[-1]) + 1
        shift = rng.integers(1, len(self.classes_), len(y))
        shift[order[:n_right]] = 0
        codes = np.searchsorted(self.classes_, y) + shift
        answers = self.classes_[codes % len(self.classes_)]
        self.answers_ = dict(zip(X[:, 0], answers, strict=True))
        return self

    def predict(self, X):
        # Rows whose game is over are not shown.
        return np.array([self.answers_.get(row, self.classes_[0]) for row in X[:, 0]])


def noisy_majority(n=200, *, noise=0.1, n_features=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_features)).astype(np.uint8)
    y = np.where(X[:, :5].sum(axis=1) > 2, "yes", "no")
    flipped = rng.random(n) < noise
    y[flipped] = np.where(y[flipped] == "yes", "no", "yes")
    return X, y


def three_classes(n=200, seed=0):
    """A majority whose exceptions, an eighth of the rows, have a label of their own."""
    X, y = noisy_majority(n, noise=0, seed=seed)
    return X, np.where(X[:, 6:].all(axis=1), "exception", y)


def replay(model, X, y):
    """Yield vote counts before each round, with the hypothesis or None."""
    codes = np.searchsorted(model.classes_, y)
    vote_counts = MajorityVotes(codes, len(model.classes_))
    hypotheses = dict(zip(model.estimator_rounds_, model.estimators_, strict=True))
    for i in range(model.n_rounds_):
        hypothesis = hypotheses.get(i)
        yield vote_counts, hypothesis
        if hypothesis is None:
            vote_counts.add(None)
        else:
            vote_counts.add(np.searchsorted(model.classes_, hypothesis.predict(X)))


# -- the promise ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gamma", "labels", "weighted"),
    [
        (0.1, ["a", "b"], True),
        (0.2, [3, 5, 9], False),
        (0.35, ["a", "b"], False),
        (0.35, [3, 5, 9], True),
    ],
)
def test_base_that_keeps_its_promise_leaves_no_row_wrong(gamma, labels, weighted):
    rng = np.random.default_rng(0)
    m = 60
    X, y = np.arange(m)[:, np.newaxis], rng.choice(labels, m)
    weights = rng.integers(1, 5, m) if weighted else None
    share = 1 / m if weights is None else weights.min() / weights.sum()
    model = make_booster(
        Promise(gamma),
        n_estimators="auto",
        gamma=gamma,
        multi_class="joint",
        random_state=0,
    ).fit(X, y, weights)
    assert model.training_error_ == 0
    assert_array_equal(model.predict(X), y)
    assert model.schedule_history_ == [(0, min_rounds(gamma, share), gamma)]
    assert model.n_rounds_ <= model.k_
    assert (model.estimator_edges_ >= gamma - 1e-12).all()
    assert (np.diff(model.potentials_) <= 1e-7).all()
    full = make_booster(
        Promise(gamma),
        n_estimators=model.k_,
        gamma=gamma,
        multi_class="joint",
        random_state=0,
    ).fit(X, y, weights)
    assert_array_equal(full.predict(X), y)


def test_exact_mode_leaves_no_row_of_a_majority_wrong():
    X, y = noisy_majority(400, noise=0)
    model = BoostByMajority(n_estimators="auto").fit(X, y)
    assert model.schedule_ == "replanned"
    assert model.schedule_scores_ is None
    assert model.termination_condition_ == "target_error"
    assert model.training_error_ == 0
    assert_array_equal(model.predict(X), y)
    assert model.schedule_history_[0][0] == 1
    assert model.schedule_history_[-1][1] == model.k_


# -- the two paths ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:All samples of")
@pytest.mark.parametrize("data", [noisy_majority, three_classes])
@pytest.mark.parametrize("base", [BooleanStump(), PlainStump()])
def test_each_stump_is_the_best_under_the_weights_of_its_round(data, base):
    X, y = data()
    model = make_booster(base, n_estimators=15, gamma=0.05, multi_class="joint").fit(
        X, y
    )
    n_kept = 0
    for i, (vote_counts, hypothesis) in enumerate(replay(model, X, y)):
        weights = vote_counts.weights(15, 0.05)
        shown = (
            weights.of_samples()
            if type(base) is PlainStump
            else weights.of_samples(quantized=True)
        )
        best = BooleanStump().fit(X, y, shown)
        if hypothesis is None:
            assert best.edge_ <= 2.0**-15 * len(y)
            continue
        n_kept += 1
        assert hypothesis.feature_ == best.feature_
        assert_array_equal(hypothesis.side_classes_, best.side_classes_)
        # Stumps of the compiled path are judged on what they have been shown.
        right = hypothesis.predict(X) == y
        edge = shown[right].sum(dtype=float) / shown.sum(dtype=float) - 0.5
        assert model.estimator_edges_[n_kept - 1] == pytest.approx(edge, abs=1e-13)
        assert model.divergences_[i] == pytest.approx(weights.divergence, abs=1e-12)
        assert model.acceptance_rates_[i] == pytest.approx(weights.acceptance)
        assert model.potentials_[i] == pytest.approx(weights.potential)
    assert n_kept == len(model.estimators_) > 5


@pytest.mark.parametrize("gamma", [0.1, "measured"])
def test_compiled_path_makes_the_model_of_the_general_one(gamma):
    X, y = noisy_majority(300, noise=0)
    first, second = (
        make_booster(base, n_estimators=9, gamma=gamma).fit(X, y)
        for base in (BooleanStump(), PlainStump())
    )
    assert [e.feature_ for e in first.estimators_] == [
        e.feature_ for e in second.estimators_
    ]
    assert_array_equal(first.decision_function(X), second.decision_function(X))
    # Weights of 15 bits are off by 2**-16 of the heaviest.
    atol = 2.0**-15 / first.acceptance_rates_.min()
    assert_allclose(first.estimator_edges_, second.estimator_edges_, atol=atol)
    assert_allclose(first.gammas_, second.gammas_, atol=atol)


# -- one vote each ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        make_booster(n_estimators=12 + 1, gamma=0.05),
        make_booster(TREE, n_estimators=5, gamma=0.1),
        make_booster(n_estimators=9, sampling="resample", gamma=0.1),
        make_booster(KNeighborsClassifier(3), n_estimators=5, gamma=0.1),
        make_booster(n_estimators=21, holdout=0.4, gamma="measured"),
    ],
    ids=str,
)
@pytest.mark.parametrize("data", [noisy_majority, three_classes])
def test_margin_is_the_mean_of_the_votes(model, data):
    X, y = data()
    X_new, _y = data(70, seed=1)
    model = clone(model).set_params(random_state=0, multi_class="joint").fit(X, y)
    n = len(model.estimators_)
    assert n == len(model.estimator_edges_) == model.n_rounds_ - model.n_aborted_
    votes = np.array([estimator.predict(X_new) for estimator in model.estimators_])
    stages = list(model.staged_decision_function(X_new))
    labels = list(model.staged_predict(X_new))
    assert len(stages) == len(labels) == n
    for i, (stage, predicted) in enumerate(zip(stages, labels, strict=True), start=1):
        shares = [(votes[:i] == label).mean(axis=0) for label in model.classes_]
        if len(model.classes_) == 2:
            expected = shares[1] - shares[0]
            codes = (expected >= 0).astype(int)
        else:
            expected = 2 * np.transpose(shares) - 1
            codes = expected.round(12).argmax(axis=1)
        assert_allclose(stage, expected, atol=1e-14)
        assert_array_equal(predicted, model.classes_[codes])
    assert_array_equal(model.decision_function(X_new), stages[-1])
    assert_array_equal(model.predict(X_new), labels[-1])
    wrong = (model.predict(X) != y).mean()
    if len(model.classes_) == 2 and n % 2:
        assert model.training_error_ == pytest.approx(wrong, abs=1e-15)
    else:  # in the game a tie is lost
        assert model.training_error_ >= wrong - 1e-15


# -- one model -------------------------------------------------------------------------


def representations(X):
    names = [f"bit {j}" for j in range(X.shape[1])]
    return {
        "bool": X.astype(bool),
        "uint8": X.astype(np.uint8),
        "float64": X.astype(np.float64),
        "Fortran order": np.asfortranarray(X),
        "list": X.tolist(),
        "CSC": sparse.csc_matrix(X),
        "pandas": pd.DataFrame(X, columns=names),
        "pandas bool": pd.DataFrame(X.astype(bool), columns=names),
        "polars": pl.DataFrame(X, schema=names),
    }


@pytest.mark.parametrize(
    ("base", "parameters"),
    [(None, {"gamma": "auto"}), (TREE, {"gamma": 0.05})],
    ids=str,
)
def test_model_is_one_whatever_holds_the_bits(base, parameters):
    X, y = noisy_majority(120)
    model = BoostByMajority(
        base, n_estimators=7, random_state=0, **scheduled(parameters)
    )
    expected = clone(model).fit(X.astype(np.float64), y)
    for name, table in representations(X).items():
        other = clone(model).fit(table, y)
        assert other.schedule_ == expected.schedule_, name
        assert_array_equal(other.estimator_edges_, expected.estimator_edges_, name)
        scores = expected.decision_function(X.astype(np.float64))
        assert_array_equal(other.decision_function(table), scores, name)
        if "pandas" in name or name == "polars":
            assert other.feature_names_in_[0] == "bit 0"
            if base is None:
                assert "bit " in other.estimators_[0].rule_


@pytest.mark.parametrize(
    "base", [None, DecisionTreeClassifier(max_depth=2, splitter="random")]
)
def test_random_state_repeats_and_jobs_do_not_matter(base):
    X, y = noisy_majority(90)
    schedule = CrossValidatedSchedule(["fixed", "measured"], sampling="resample", cv=2)
    model = BoostByMajority(base, n_estimators=5, schedule=schedule, random_state=0)
    first = clone(model).fit(X, y)
    for again in (clone(model), clone(model).set_params(n_jobs=2)):
        again.fit(X, y)
        assert_array_equal(again.decision_function(X), first.decision_function(X))
        assert again.schedule_scores_ == first.schedule_scores_
        assert again.calibration_slope_ == first.calibration_slope_
        assert_array_equal(again.estimator_edges_, first.estimator_edges_)
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(other.estimator_edges_, first.estimator_edges_)
    seeded = clone(model).set_params(random_state=np.random.RandomState(0)).fit(X, y)
    assert_array_equal(seeded.estimator_edges_, first.estimator_edges_)


# -- weights of rows -------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, TREE], ids=str)
@pytest.mark.parametrize("data", [noisy_majority, three_classes])
@pytest.mark.parametrize(
    "parameters",
    [
        {"gamma": 0.05, "n_estimators": 15, "target_error": 0.1},
        {"gamma": "measured", "n_estimators": 15, "target_error": 0.1},
        {"gamma": 0.1, "n_estimators": "auto", "target_error": 0.2},
        {"gamma": "auto", "n_estimators": "auto", "target_error": 0.2},
    ],
    ids=str,
)
def test_row_of_weight_three_is_three_rows(base, data, parameters):
    X, y = data(90)
    weights = np.random.default_rng(1).integers(1, 4, 90)
    rows = np.repeat(np.arange(90), weights)
    model = BoostByMajority(
        base, random_state=0, multi_class="joint", **scheduled(parameters)
    )
    weighted = clone(model).fit(X, y, weights)
    repeated = clone(model).fit(X[rows], y[rows])
    assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert_array_equal(weighted.gammas_, repeated.gammas_)
    assert_array_equal(weighted.estimator_edges_, repeated.estimator_edges_)
    assert weighted.schedule_history_ == repeated.schedule_history_
    assert weighted.training_error_ == pytest.approx(repeated.training_error_)


PRECOMPUTED = SVC(kernel="precomputed", C=0.01)


@pytest.mark.parametrize(
    ("base", "parameters"),
    [
        (None, {"gamma": "auto"}),
        (PRECOMPUTED, {"gamma": "auto"}),
        (TREE, {"gamma": 0.1, "sampling": "resample"}),
        (PRECOMPUTED, {"gamma": 0.1, "sampling": "resample"}),
        (None, {"gamma": "measured", "holdout": 0.5}),
        (PRECOMPUTED, {"gamma": "measured", "holdout": 0.5}),
    ],
    ids=str,
)
def test_row_of_weight_zero_is_no_row(base, parameters):
    X, y = noisy_majority(120)
    weights = np.random.default_rng(2).integers(0, 3, 120)
    kept = np.flatnonzero(weights)
    fewer = X[kept]
    if isinstance(base, SVC):
        X, fewer = rbf_kernel(X, gamma=0.3), rbf_kernel(fewer, gamma=0.3)
    model = BoostByMajority(
        base, n_estimators=7, random_state=0, **scheduled(parameters)
    )
    weighted = clone(model).fit(X, y, weights)
    removed = clone(model).fit(fewer, y[kept], weights[kept])
    columns = kept if isinstance(base, SVC) else slice(None)
    assert_array_equal(
        weighted.decision_function(X), removed.decision_function(X[:, columns])
    )
    assert weighted.schedule_scores_ == removed.schedule_scores_
    assert weighted.calibration_slope_ == removed.calibration_slope_
    assert_array_equal(weighted.estimator_edges_, removed.estimator_edges_)
    if removed.compression_indices_ is not None:
        for these, those in zip(
            weighted.compression_indices_, removed.compression_indices_, strict=True
        ):
            assert_array_equal(these, kept[those])


def test_folds_are_given_in_terms_of_all_rows():
    X, y = noisy_majority(120)
    weights = np.random.default_rng(2).integers(0, 3, 120)
    kept = np.flatnonzero(weights)
    folds = list(StratifiedKFold(4).split(X, y))
    number = {row: i for i, row in enumerate(kept)}
    of_kept = [
        [np.array([number[row] for row in part if row in number]) for part in fold]
        for fold in folds
    ]
    schedule = CrossValidatedSchedule(cv=folds)
    weighted = BoostByMajority(n_estimators=7, schedule=schedule, random_state=0)
    weighted.fit(X, y, weights)
    schedule = CrossValidatedSchedule(cv=of_kept)
    removed = BoostByMajority(n_estimators=7, schedule=schedule, random_state=0)
    removed.fit(X[kept], y[kept], weights[kept])
    assert weighted.schedule_scores_ == removed.schedule_scores_


def test_constant_weight_changes_nothing():
    X, y = noisy_majority()
    plain = make_booster(n_estimators=9, gamma=0.1).fit(X, y)
    scaled = make_booster(n_estimators=9, gamma=0.1).fit(X, y, np.full(len(y), 0.3))
    assert_array_equal(plain.decision_function(X), scaled.decision_function(X))


class Recorder(DecisionTreeClassifier):
    """A tree that keeps the weights it was shown."""

    def fit(self, X, y, sample_weight):
        self.shown_ = sample_weight
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("holdout", [None, 0.5])
def test_base_sees_about_as_much_weight_in_every_round(holdout):
    """Else a base with a penalty would be held back more and more."""
    X, y = noisy_majority(150)
    values = np.random.default_rng(0).integers(1, 4, 150)
    model = make_booster(
        Recorder(max_depth=2),
        n_estimators=21,
        gamma=0.2,
        holdout=holdout,
        random_state=0,
    ).fit(X, y, values)
    assert len(model.estimators_) > 10
    assert model.acceptance_rates_.min() < 0.3
    for tree in model.estimators_:
        assert (tree.shown_ > 0).all()
        # The nearest power of two is off by no more than its root.
        ratio = tree.shown_.sum() / values.sum()
        assert np.sqrt(0.5) - 1e-9 <= ratio <= np.sqrt(2) + 1e-9


# -- kernels and resampling ------------------------------------------------------------


def kernel_of_rows(X, Y):
    return rbf_kernel(X, Y, gamma=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["weight", "resample"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [(BoostingSchedule, {"gamma": 0.2}), (CrossValidatedSchedule, {"cv": 2})],
)
def test_precomputed_kernel_is_the_kernel_of_the_base(sampling, kind, options):
    X, y = noisy_majority(100, noise=0.2)
    X = X.astype(np.float64)
    K = kernel_of_rows(X, X)

    def model(kernel):
        return BoostByMajority(
            SVC(kernel=kernel, C=0.05),
            n_estimators=15,
            schedule=kind(**options, sampling=sampling),
            random_state=0,
        )

    outside, inside = model("precomputed"), model(kernel_of_rows)
    assert outside.__sklearn_tags__().input_tags.pairwise
    scores = (
        cross_val_score(*each, cv=2) for each in ((outside, K, y), (inside, X, y))
    )
    assert_array_equal(*scores)
    outside.fit(K, y)
    inside.fit(X, y)
    assert_array_equal(outside.decision_function(K), inside.decision_function(X))
    assert_array_equal(outside.estimator_edges_, inside.estimator_edges_)


@pytest.mark.parametrize("n_samples_weak", [None, 1, 25])
@pytest.mark.parametrize("base", [None, TREE, KNeighborsClassifier(1)])
def test_compression_indices_are_the_rows_that_were_drawn(base, n_samples_weak):
    X, y = noisy_majority(80)
    model = make_booster(
        base,
        n_estimators=9,
        gamma=0.1,
        sampling="resample",
        n_samples_weak=n_samples_weak,
        random_state=0,
    ).fit(X, y)
    assert len(model.compression_indices_) == model.n_rounds_
    for rows in model.compression_indices_:
        assert_array_equal(rows, np.unique(rows))
        assert 1 <= len(rows) <= (n_samples_weak or 80)
        assert 0 <= rows[0] <= rows[-1] < 80
    assert len({tuple(rows) for rows in model.compression_indices_}) > 1
    plain = make_booster(base, n_estimators=9, gamma=0.1, random_state=0).fit(X, y)
    takes_weights = not isinstance(base, KNeighborsClassifier)
    assert (plain.compression_indices_ is None) == takes_weights


def test_compression_indices_have_one_entry_for_each_round():
    X, y = noisy_majority(80, noise=0.3)
    model = make_booster(
        n_estimators=9,
        gamma=0.3,
        sampling="resample",
        n_samples_weak=10,
        max_tries=4,
        random_state=0,
    ).fit(X, y)
    assert len(model.compression_indices_) == model.n_rounds_


# -- what is published about the rounds ------------------------------------------------


@pytest.mark.parametrize("data", [noisy_majority, three_classes])
@pytest.mark.parametrize("target_error", [0.1, None])
def test_required_edge_is_that_of_the_lemma(data, target_error):
    X, y = data(60)
    k, gamma = 9, Fraction(1, 16)
    model = make_booster(
        n_estimators=k,
        gamma=float(gamma),
        target_error=target_error,
        multi_class="joint",
    ).fit(X, y)
    error = target_error or 1 / 60
    codes = np.searchsorted(model.classes_, y)
    vote_counts = RowByRow(codes, len(model.classes_))
    hypotheses = dict(zip(model.estimator_rounds_, model.estimators_, strict=True))
    assert len(model.required_edges_) == model.n_rounds_
    for i in range(model.n_rounds_):
        t_i = float(vote_counts.mean(vote_counts.weights(k, gamma)))
        expected = float(gamma) * (1 - error * (1 - error) / (t_i * float(gamma) * k))
        assert model.required_edges_[i] == pytest.approx(expected, abs=1e-9)
        potential = vote_counts.mean(vote_counts.potentials(k, gamma))
        assert model.potentials_[i] == pytest.approx(float(potential), abs=1e-10)
        if i in hypotheses:
            vote_counts.add(np.searchsorted(model.classes_, hypotheses[i].predict(X)))
        else:
            vote_counts.add(None)
    assert model.training_error_ == pytest.approx(float(vote_counts.error()))


@pytest.mark.parametrize("base", [None, TREE], ids=str)
def test_scores_of_policies_are_those_of_boosters_kept_from_the_rows(base):
    X, y = noisy_majority(150, noise=0.2)
    folds = list(StratifiedKFold(3).split(X, y))
    schedule = CrossValidatedSchedule(cv=folds)
    model = BoostByMajority(base, n_estimators=11, schedule=schedule, random_state=0)
    model.fit(X, y)
    assert list(model.schedule_scores_) == [
        "fixed",
        "measured",
        "holdout_train_edges",
        "holdout_edges",
    ]
    assert model.schedule_ == max(
        model.schedule_scores_, key=model.schedule_scores_.get
    )
    alone = {"fixed": max_gamma(11, 0.2), "measured": "measured"}
    for name, gamma in alone.items():
        hits = 0
        for train, test in folds:
            part = make_booster(base, n_estimators=11, gamma=gamma, random_state=0)
            part.fit(X[train], y[train])
            hits += (part.predict(X[test]) == y[test]).sum()
        assert model.schedule_scores_[name] == pytest.approx(hits / 150, abs=1e-12)


def test_scores_of_policies_count_only_rows_that_were_held_out():
    X, y = noisy_majority(150, noise=0.2)
    (train, test), *_others = StratifiedKFold(3).split(X, y)
    schedule = CrossValidatedSchedule(["measured", "fixed"], cv=[(train, test)])
    model = BoostByMajority(n_estimators=11, schedule=schedule).fit(X, y)
    assert list(model.schedule_scores_) == ["measured", "fixed"]
    part = make_booster(n_estimators=11, gamma=max_gamma(11, 0.2))
    expected = part.fit(X[train], y[train]).score(X[test], y[test])
    assert model.schedule_scores_["fixed"] == pytest.approx(expected, abs=1e-12)


def test_first_fold_compares_the_candidates_of_many_games():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (90, 8)), np.repeat(np.arange(6), 15)
    folds = list(StratifiedKFold(3).split(X, y))
    options = {"n_estimators": 5, "multi_class": "ovo", "random_state": 0}
    schedule = CrossValidatedSchedule(["measured", "fixed"], cv=folds)
    model = BoostByMajority(BooleanStump(), schedule=schedule, **options).fit(X, y)
    (train, test), *_others = folds
    for name, gamma in (("measured", "measured"), ("fixed", max_gamma(5, 0.2))):
        options["schedule"] = BoostingSchedule(gamma=gamma)
        part = BoostByMajority(BooleanStump(), **options).fit(X[train], y[train])
        expected = part.score(X[test], y[test])
        assert model.schedule_scores_[name] == pytest.approx(expected, abs=1e-12)
    assert not np.isnan(model.label_quality_).any()  # the choice played all folds


def test_schedule_that_was_given_is_named():
    X, y = noisy_majority(60, noise=0)
    for parameters, name in [
        ({"gamma": 0.1}, "given"),
        ({"gamma": "measured"}, "measured"),
        ({"gamma": 0.1, "n_estimators": "auto", "target_error": 0.2}, "given"),
        ({"n_estimators": "auto", "target_error": 0.2}, "replanned"),
        (
            {"gamma": "measured", "n_estimators": "auto", "target_error": 0.2},
            "replanned",
        ),
    ]:
        given = {"n_estimators": 5, **parameters}
        model = BoostByMajority(**scheduled(given)).fit(X, y)
        assert model.schedule_ == name
        assert model.schedule_scores_ is None


def test_default_is_a_schedule_chosen_by_cross_validation():
    X, y = noisy_majority(90)
    default, schedule = (
        BoostByMajority(n_estimators=5, schedule=schedule, random_state=0).fit(X, y)
        for schedule in ("auto", CrossValidatedSchedule())
    )
    assert default.schedule_scores_ == schedule.schedule_scores_
    assert_array_equal(default.estimator_edges_, schedule.estimator_edges_)
    assert clone(schedule).set_params(schedule__cv=4).schedule.cv == 4
    with pytest.raises(ValueError, match=r"n_estimators is 'auto'\. Set"):
        clone(schedule).set_params(n_estimators="auto").fit(X, y)
    for candidates in ([], "fixed", ["fixed", "bold"]):
        wrong = CrossValidatedSchedule(candidates)
        with pytest.raises(ValueError, match=r"^candidates must be"):
            clone(schedule).set_params(schedule=wrong).fit(X, y)


def test_long_games_whose_weights_underflow_have_a_record_for_each_round():
    X, y = noisy_majority(60, noise=0)
    options = {"schedule": BoostingSchedule(gamma=0.4), "random_state": 0}
    long = BoostByMajority(n_estimators=1001, **options).fit(X, y)
    assert np.isfinite(long.required_edges_).all()
    model = BoostByMajority(n_estimators=4001, **options).fit(X, y)
    assert model.training_error_ == 0
    assert not np.isnan(model.required_edges_).any()
    assert model.required_edges_.min() == -np.inf
    assert (model.required_edges_ < 0.4).all()


def test_holdout_leaves_only_policies_that_hold_out():
    X, y = noisy_majority(90)
    model = make_booster(n_estimators=5, holdout=0.3, random_state=0).fit(X, y)
    assert "measured" not in model.schedule_scores_
    assert len(model.schedule_scores_) == 3


@pytest.mark.parametrize("data", [noisy_majority, three_classes])
@pytest.mark.parametrize("gamma", ["auto", 0.1])
def test_probabilities_follow_the_vote(data, gamma):
    X, y = data()
    model = make_booster(n_estimators=11, gamma=gamma, random_state=0).fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), len(model.classes_))
    assert_allclose(shares.sum(axis=1), 1)
    assert ((shares >= 0) & (shares <= 1)).all()
    # As large as any: votes may be tied.
    chosen = np.searchsorted(model.classes_, model.predict(X))
    assert_array_equal(shares[np.arange(len(X)), chosen], shares.max(axis=1))
    margins = model.decision_function(X)
    if margins.ndim == 1:
        odds = np.log(shares[:, 1] / shares[:, 0])
        assert_allclose(odds, model.calibration_slope_ * margins, atol=1e-9)
    assert model.calibration_slope_ > 0
    *_, last = model.staged_predict_proba(X)
    assert_allclose(last, shares)


# -- warnings --------------------------------------------------------------------------


def test_first_hypothesis_that_needs_no_boosting_is_told():
    X, _y = noisy_majority(50)
    with pytest.warns(UserWarning, match=r"^The first hypothesis alone reaches"):
        model = make_booster(n_estimators=5, gamma=0.1).fit(X, X[:, 2])
    assert model.score(X, X[:, 2]) == 1
    with pytest.warns(UserWarning, match=r"^The first hypothesis alone reaches"):
        BoostByMajority(n_estimators="auto").fit(X, X[:, 2])


def test_linear_hypotheses_are_told():
    X, y = noisy_majority(100)
    with pytest.warns(UserWarning, match=r"^The hypotheses are linear"):
        make_booster(LogisticRegression(), n_estimators=3, gamma=0.1).fit(X, y)


def test_end_at_the_limit_is_told():
    X, y = noisy_majority(200, noise=0.3)
    model = make_booster(n_estimators="auto", max_estimators=7)
    with pytest.warns(
        UserWarning, match=r"^After max_estimators=7 rounds the training"
    ):
        model.fit(X, y)
    assert model.n_rounds_ == 7
    assert model.termination_condition_ == "max_rounds"
    assert model.k_ > 7


@pytest.mark.parametrize(
    "gamma",
    [
        0.1,
        "measured",
        pytest.param(
            "auto",
        ),
    ],
)
def test_nothing_to_boost_is_told_and_one_hypothesis_is_kept(gamma):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 9)
    y = X[:, 0] ^ X[:, 1]
    model = make_booster(BooleanStump(), n_estimators=3, random_state=0, gamma=gamma)
    message = r"^No hypothesis was right on more than half"
    with pytest.warns(UserWarning, match=message) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert len(model.estimators_) == 1
    assert len(model.estimator_edges_) == 0
    assert model.n_aborted_ == model.n_rounds_ == 3
    assert model.score(X, y) == 0.5


def test_several_labels_without_an_edge_point_to_games_of_two():
    X = np.tile(np.eye(4, dtype=np.uint8), (5, 1))
    y = np.tile(np.arange(4), 5)
    model = make_booster(n_estimators=3, gamma=0.1, multi_class="joint")
    with pytest.warns(UserWarning, match="multi_class='ovo'"):
        model.fit(X, y)
    assert model.score(X, y) == 0.5
    assert make_booster(n_estimators=3, gamma=0.1).fit(X, y).score(X, y) == 1


# -- what it is for --------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_mislabelled_rows_do_not_draw_all_the_weight(seed):
    X, y = make_long_servedio(1000, noise=0.2, random_state=seed)
    X_new, y_new = make_long_servedio(4000, noise=0, random_state=100 + seed)
    booster = BoostByMajority(random_state=0).fit(X, y)
    rival = AdaBoostClassifier(n_estimators=101, random_state=0).fit(X, y)
    error, rivals = 1 - booster.score(X_new, y_new), 1 - rival.score(X_new, y_new)
    assert rivals > 0.1
    assert error < rivals / 3


def test_several_labels_are_learned_in_one_pass_with_trees():
    X, y = load_iris(return_X_y=True)
    model = BoostByMajority(
        TREE, n_estimators="auto", multi_class="joint", random_state=0
    ).fit(X, y)
    assert model.termination_condition_ == "target_error"
    assert model.score(X, y) == 1
    margins = model.decision_function(X)
    assert margins.shape == (150, 3)
    assert_allclose(margins.sum(axis=1), -1, atol=1e-12)
    alone = clone(TREE).set_params(random_state=0).fit(X, y)
    assert alone.score(X, y) < 1


def test_missing_values_reach_a_base_that_takes_them():
    X, y = noisy_majority(100)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    model = make_booster(TREE, n_estimators=5, gamma=0.1).fit(X, y)
    assert model.score(X, y) > 0.7


def test_integers_beyond_ones_are_true():
    X, y = noisy_majority()
    ones = make_booster(n_estimators=7, gamma=0.1).fit(X, y)
    sevens = make_booster(n_estimators=7, gamma=0.1).fit(7 * X.astype(int), y)
    assert_array_equal(ones.decision_function(X), sevens.decision_function(7 * X))


# -- several classes as games of two ---------------------------------------------------


def scores_by_definition(model, X):
    """Play the vote of each game of two classes again, sample by sample."""
    classes = list(model.classes_)
    pairs = list(combinations(classes, 2))
    if model.multi_class_ == "ovr":
        pairs = [(None, label) for label in classes]
    scores = np.zeros((len(X), len(classes)))
    for booster, (first, second) in zip(model.estimators_, pairs, strict=True):
        wanted = booster.classes_[1]
        votes = np.array([e.predict(X) == wanted for e in booster.estimators_])
        margins = 2 * votes.mean(axis=0) - 1
        if first is None:
            scores[:, classes.index(second)] = margins
            continue
        z = np.sqrt(len(votes)) * margins
        won = z / np.sqrt(1 + z**2)
        scores[:, classes.index(second)] += won / (len(classes) - 1)
        scores[:, classes.index(first)] -= won / (len(classes) - 1)
    return scores


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("base", [None, TREE, KNeighborsClassifier(3)], ids=str)
def test_games_of_two_classes_are_boosters_of_their_samples(base, multi_class):
    X, y = three_classes()
    model = make_booster(
        base, n_estimators=9, gamma=0.1, multi_class=multi_class, random_state=0
    ).fit(X, y)
    assert model.multi_class_ == multi_class
    assert_allclose(model.decision_function(X), scores_by_definition(model, X))
    *_, last = model.staged_decision_function(X)
    assert_array_equal(last, model.decision_function(X))
    pairs = list(combinations(model.classes_, 2))
    for i, booster in enumerate(model.estimators_):
        if multi_class == "ovo":
            kept = np.isin(y, pairs[i])
            labels = y[kept]
        else:
            kept, labels = slice(None), (y == model.classes_[i]).astype(int)
        alone = clone(booster).fit(X[kept], labels)
        assert_array_equal(alone.classes_, booster.classes_)
        assert_array_equal(alone.decision_function(X), booster.decision_function(X))


@pytest.mark.parametrize("gamma", ["auto", 0.1])
def test_many_classes_of_texts_are_games_against_the_rest(gamma):
    # 190 pairs of 20 classes; 5519 features are more than 2**20 / 190.
    y = np.repeat(np.arange(20), 4)
    X = sparse.random_array((80, 5519), density=0.01, format="csr", random_state=0)
    model = make_booster(n_estimators=3, gamma=gamma, random_state=0)
    assert model.fit(X, y).multi_class_ == "ovr"
    again = clone(model).set_params(multi_class="ovr").fit(X, y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    fewer = make_booster(n_estimators=3, gamma=0.1).fit(X[:, :5518], y)
    assert fewer.multi_class_ == "ovo"


@pytest.mark.parametrize(("n_class", "noise"), [(4, 0.0), (4, 0.3), (6, 0.0)])
def test_pairs_play_when_they_are_better_on_held_out_samples(n_class, noise):
    X, y = load_digits(n_class=n_class, return_X_y=True)
    X, y = (X > 7)[:500], flip_labels(y[:500], noise, random_state=0)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = BoostByMajority(BooleanStump(), n_estimators=21, random_state=0)
    schedule = CrossValidatedSchedule(["measured"], cv=folds)
    model.set_params(schedule=schedule).fit(X, y)
    hits = {}
    for kind in ("ovr", "ovo"):
        given = clone(model).set_params(multi_class=kind).fit(X, y)
        if kind == model.multi_class_:
            assert given.schedule_scores_ == model.schedule_scores_
            assert_array_equal(given.decision_function(X), model.decision_function(X))
        given.set_params(schedule=BoostingSchedule(gamma="measured"))
        hits[kind] = cross_val_predict(given, X, y, cv=folds) == y
    is_better = hits["ovo"].sum() > hits["ovr"].sum()
    assert model.multi_class_ == ("ovo" if is_better else "ovr")
    assert is_better == (noise == 0.0)  # the test sees both
    # The first fold alone compares schedules for the 15 games of six classes.
    scored = np.concatenate([test for _, test in folds[: 1 if n_class == 6 else 3]])
    score = np.mean(hits[model.multi_class_][scored])
    assert_allclose(model.schedule_scores_["measured"], score)


def test_pairs_are_tried_with_what_is_best_against_the_rest(monkeypatch):
    """On the first fold, which the choice does not play again."""
    calls = []

    def held_out_margins(learner, games, schedules, splits, seed, n_jobs):
        calls.append((learner, games, schedules, splits, seed))
        return _games.held_out_margins(*calls[-1])

    monkeypatch.setattr(_cross_validated_schedule, "held_out_margins", held_out_margins)
    X, y = load_digits(n_class=6, return_X_y=True)
    BoostByMajority(n_estimators=11, random_state=0).fit((X > 7)[:300], y[:300])
    pairs = [call for call in calls if len(call[1]) == 15]
    assert len(calls) > len(pairs) == 2
    assert [len(splits) for _, _, _, splits, _ in pairs] == [1, 2]
    assert all(len(schedules) == 1 for _, _, schedules, _, _ in pairs)
    assert pairs[0][0] is pairs[1][0]
    tests = [test for _, _, _, splits, _ in pairs for _, test in splits]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(300))


@pytest.mark.slow
def test_several_classes_are_no_worse_than_one_booster_against_each_rest():
    X, y = load_digits(n_class=3, return_X_y=True)
    X, X_new, y, y_new = train_test_split((X > 7).astype(np.uint8), y, random_state=0)
    model = BoostByMajority(random_state=0).fit(X, y)
    against_rest = OneVsRestClassifier(clone(model)).fit(X, y)
    assert model.score(X_new, y_new) >= against_rest.score(X_new, y_new) > 0.9
    likeliest = model.predict_proba(X_new).argmax(axis=1)
    assert_array_equal(model.classes_[likeliest], model.predict(X_new))


def test_class_of_one_sample_is_learned_beside_others():
    X, y = three_classes(60)
    y[np.argmax(y == "exception")] = "single"
    assert (y == "single").sum() == 1
    model = BoostByMajority(n_estimators=5, random_state=0)
    model.fit(X, y)
    assert model.decision_function(X).shape == (60, 4)
    assert np.isfinite(model.predict_proba(X)).all()


def test_kernel_matrix_of_several_classes_is_the_kernel_of_the_features():
    X, y = three_classes(90)
    plain = make_booster(SVC(C=0.05, gamma=0.3), n_estimators=5, gamma=0.1)
    plain = plain.set_params(random_state=0).fit(X, y)
    kernel = clone(plain).set_params(estimator=SVC(C=0.05, kernel="precomputed"))
    kernel.fit(rbf_kernel(X, gamma=0.3), y)
    X_new, _y = three_classes(40, seed=1)
    assert_allclose(
        kernel.decision_function(rbf_kernel(X_new, X, gamma=0.3)),
        plain.decision_function(X_new),
    )


# -- labels that are probably wrong ----------------------------------------------------


@pytest.mark.parametrize("data", [noisy_majority, three_classes])
def test_label_quality_is_the_held_out_margin_of_the_label(data):
    X, y = data(150)
    weights = np.ones(150)
    weights[:5] = 0
    model = BoostByMajority(n_estimators=11, random_state=0).fit(X, y, weights)
    quality = model.label_quality_
    assert np.isnan(quality[:5]).all()
    assert (np.abs(quality[5:]) <= 1).all()
    # The label has the largest score where its margin is above 0; ties go to the first.
    best = max(model.schedule_scores_.values())
    assert (quality[5:] > 0).mean() <= best + 1e-12
    assert (quality[5:] >= 0).mean() >= best - 1e-12
    assert make_booster(gamma=0.1, n_estimators=3).fit(X, y).label_quality_ is None


def test_flipped_labels_have_low_quality():
    X, y = noisy_majority(600, noise=0)
    flipped = np.random.default_rng(0).random(600) < 0.2
    given = np.where(flipped, np.where(y == "yes", "no", "yes"), y)
    model = BoostByMajority(n_estimators=51, random_state=0).fit(X, given)
    assert roc_auc_score(flipped, -model.label_quality_) > 0.9


# -- early stopping and class weights --------------------------------------------------


@pytest.mark.parametrize("base", [None, TREE, SVC(kernel="precomputed", C=0.01)])
@pytest.mark.parametrize("data", [noisy_majority, three_classes])
def test_boosting_stops_when_held_out_samples_gain_nothing(base, data):
    X, y = data(240)
    if isinstance(base, SVC):
        X = rbf_kernel(X, gamma=0.3)
    model = make_booster(base, gamma="measured", early_stopping=4, random_state=0)
    model.fit(X, y)
    games = [model] if model.multi_class_ == "joint" else model.estimators_
    for game in games:
        scores = game.validation_scores_
        assert len(scores) == game.n_rounds_
        best = int(np.argmax(scores))  # the first of the largest
        is_stopped = game.termination_condition_ == "early_stopping"
        assert is_stopped == (len(scores) - 1 - best >= 4)
        assert len(scores) - 1 - best <= 4
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.calibration_slope_ > 0
    again = clone(model).fit(X, y)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_validation_scores_are_log_losses_of_the_staged_vote():
    X, y = noisy_majority(200)
    weights = np.random.default_rng(0).integers(1, 4, 200).astype(float)
    rng = np.random.RandomState(0)
    _train, held = stratified_split((y == "yes").astype(int), 0.9, rng)
    model = make_booster(
        BooleanStump(), gamma=0.05, early_stopping=15, random_state=0
    ).fit(X, y, weights)
    is_yes, losses = y[held] == "yes", []
    for scores in model.staged_decision_function(X[held]):
        slope = fit_slope(scores, is_yes.astype(int), weights[held])
        log_shares = -np.logaddexp(0, np.where(is_yes, -1, 1) * slope * scores)
        losses.append(np.average(log_shares, weights=weights[held]))
    assert_allclose(model.validation_scores_, losses)
    # The others train it: their labels alone decide about the hypotheses.
    y_other = y.copy()
    y_other[held[0]] = "no" if y[held[0]] == "yes" else "yes"
    plain = make_booster(
        BooleanStump(), gamma=0.05, n_estimators=101, random_state=0
    ).fit(X[_train], y[_train], weights[_train])
    n = min(len(plain.estimators_), len(model.estimators_))
    assert [each.rule_ for each in model.estimators_[:n]] == [
        each.rule_ for each in plain.estimators_[:n]
    ]


def test_stratified_split_takes_a_share_of_each_class():
    codes = np.repeat([0, 1, 2], [10, 5, 1])
    first, second = stratified_split(codes, 0.75, np.random.RandomState(0))
    assert_array_equal(np.bincount(codes[first]), [8, 4, 1])
    assert_array_equal(np.sort(np.append(first, second)), np.arange(16))


@pytest.mark.filterwarnings("ignore:The first hypothesis alone")
def test_class_weights_multiply_sample_weights():
    X, y = noisy_majority(150)
    weights = np.random.default_rng(1).integers(1, 3, 150).astype(float)
    schedule = BoostingSchedule(gamma=0.05)
    options = {"n_estimators": 9, "schedule": schedule, "random_state": 0}
    weighted = BoostByMajority(class_weight={"yes": 3.0, "no": 1.0}, **options)
    weighted.fit(X, y, weights)
    plain = BoostByMajority(**options)
    plain.fit(X, y, weights * np.where(y == "yes", 3.0, 1.0))
    assert_array_equal(weighted.decision_function(X), plain.decision_function(X))
    balanced = BoostByMajority(class_weight="balanced", **options).fit(X, y)
    factors = len(y) / 2 / np.where(y == "yes", (y == "yes").sum(), (y == "no").sum())
    plain.fit(X, y, factors)
    assert_array_equal(balanced.decision_function(X), plain.decision_function(X))
    with pytest.warns(UserWarning, match="All samples of .'yes'. have weight 0"):
        one = BoostByMajority(class_weight={"yes": 0.0}, **options).fit(X, y)
    assert set(one.predict(X)) == {"no"}


@pytest.mark.parametrize("multi_class", ["joint", "ovo"])
def test_stages_of_a_data_frame_are_those_of_its_array(multi_class):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (90, 4))
    y = X[:, 0] + X[:, 1]
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = BoostByMajority(n_estimators=3, multi_class=multi_class, random_state=0)
    of_frame = clone(model).fit(frame, y).staged_decision_function(frame)
    of_array = clone(model).fit(X, y).staged_decision_function(X)
    for own, other in zip(of_frame, of_array, strict=True):
        np.testing.assert_array_equal(own, other)
