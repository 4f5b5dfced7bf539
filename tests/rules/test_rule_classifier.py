"""RuleClassifier predicts what its rules predict, by definition."""

import numpy as np
import pandas as pd
import pytest
from oracles.kernels import counting_kernel, plain_perceptron
from oracles.rules import satisfies, table
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from sklboolean import (
    AveragedPerceptron,
    BooleanSVC,
    OptimalRuleSet,
    RuleClassifier,
    ScorecardClassifier,
)
from sklboolean._core import conjunction_search
from sklboolean.datasets import (
    load_mushroom,
    make_dnf,
    make_monks,
    make_tic_tac_toe,
)
from sklboolean.rules import extract_dnf


def three_classes(n_samples=300, seed=0):
    X = np.random.default_rng(seed).integers(0, 2, (n_samples, 6))
    y = np.where(X[:, 0] & X[:, 1], "a", np.where(X[:, 2] & ~X[:, 3] & 1, "b", "c"))
    return X, y


def decided_by(model, row):
    """The number of the first rule that a row satisfies, by definition."""
    holds = [satisfies(row, rule.literals) for rule in model.rules_]
    return [*holds, True].index(True)


@pytest.mark.parametrize(
    "model",
    [
        RuleClassifier(random_state=0),
        RuleClassifier(SVC(gamma=0.1), monotone=True),
        RuleClassifier("labels", literal_cost=1, penalty=2),
        RuleClassifier(SVC(kernel=counting_kernel(max_literals=2)), max_rules=2),
        RuleClassifier(AveragedPerceptron(), random_state=0, literal_cost=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("data", [table(120, 6), three_classes()], ids=["two", "three"])
@pytest.mark.filterwarnings("ignore:No rule gained")
def test_the_first_rule_that_holds_decides(model, data):
    X, y = data
    model.fit(X, y)
    decided = [decided_by(model, row) for row in X]
    assert model.apply(X).tolist() == decided
    labels = [*(rule.label for rule in model.rules_), model.default_]
    assert model.predict(X).tolist() == [labels[k] for k in decided]
    assert (model.apply(sparse.csr_array(X)) == decided).all()
    for k in range(len(labels)):
        here = np.array(decided) == k
        counts = np.array([(y[here] == label).sum() for label in model.classes_])
        assert model.class_counts_[k].tolist() == counts.tolist()
        if k < len(model.rules_):
            rule = model.rules_[k]
            assert rule.coverage == here.sum()
            assert rule.precision == (y[here] == rule.label).mean()
    check_grades(model, X, y, np.array(decided))


def check_grades(model, X, y, decided):
    """Compare probabilities with their definition, from the grades that hold."""
    grades = [rule.literals for rule in model.grades_] + [()]
    first = np.array([[satisfies(x, one) for one in grades].index(True) for x in X])
    labels = [*(rule.label for rule in model.rules_), model.default_]
    codes = np.searchsorted(model.classes_, y)
    n_classes = len(model.classes_)
    for k, literals in enumerate(grades):
        here = first == k
        assert len(set(decided[here])) == 1
        rule = decided[here][0]
        assert rule == len(model.rules_) or set(model.rules_[rule].literals) <= set(
            literals
        )
        counts = np.bincount(codes[here], minlength=n_classes)
        whole = np.bincount(codes[decided == rule], minlength=n_classes)
        label = list(model.classes_).index(labels[rule])
        n, whole = counts.sum(), (whole + 1) / (whole.sum() + n_classes)
        if whole.argmax() == label:
            counts = np.minimum(counts, counts[label])
        own = (counts + 1) / (counts.sum() + n_classes)
        expected = (n * own + 10 * whole) / (n + 10)
        found = model.predict_proba(X[here])
        np.testing.assert_allclose(found, np.tile(expected, (n, 1)), rtol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        if whole.argmax() == label:
            assert (found.argmax(axis=1) == label).all()
        if k < len(model.grades_):
            assert model.grades_[k].coverage == n
            assert model.grades_[k].label == labels[rule]


def test_rules_of_three_classes():
    X, y = three_classes()
    model = RuleClassifier(random_state=0).fit(X, y)
    assert model.score(X, y) == 1
    labels = [rule.label for rule in model.rules_]
    sizes = {label: (y == label).sum() for label in "abc"}
    turns = [*dict.fromkeys(labels), model.default_]
    assert sorted(turns) == ["a", "b", "c"]
    order = sorted(turns, key=sizes.get)
    assert turns in (order, order[::-1])


@pytest.mark.parametrize(
    ("n", "terms", "length"),
    [
        (30, 5, 3),
        pytest.param(50, 6, 3, marks=pytest.mark.slow),
        pytest.param(60, 5, 4, marks=pytest.mark.slow),
        pytest.param(200, 5, 4, marks=pytest.mark.slow),
    ],
)
def test_planted_dnfs_untuned(n, terms, length):
    X, y, planted = make_dnf(
        4000, n, n_terms=terms, n_literals=length, correlation=0.5,
        positive_fraction=0.5, random_state=1,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    order = rng.permutation(4000)
    train, test = order[:2000], order[2000:]
    noisy = y[train] ^ (rng.random(2000) < 0.04)
    model = RuleClassifier(random_state=0).fit(X[train], noisy)
    assert model.score(X[test], y[test]) >= 0.99
    assert {rule.literals for rule in model.rules_} == set(planted)


def test_tic_tac_toe_is_its_eight_lines():
    data = make_tic_tac_toe()
    model = RuleClassifier(monotone=True, random_state=0)
    assert model.fit(data.data, data.target).score(data.data, data.target) == 1
    assert sorted(len(rule.literals) for rule in model.rules_) == [3] * 8


@pytest.mark.parametrize(("number", "n_rules"), [(1, 4), (3, 2)])
def test_monks_have_few_rules(number, n_rules):
    data = make_monks(number)
    model = RuleClassifier(feature_groups=data.feature_groups, random_state=0)
    assert model.fit(data.data, data.target).score(data.data, data.target) == 1
    assert len(model.rules_) == n_rules


@pytest.mark.slow
def test_mushroom_is_four_rules_at_most():
    data = load_mushroom(as_frame=True)
    model = RuleClassifier(feature_groups=data.feature_groups, random_state=0)
    model.fit(data.data, data.target)
    assert len(model.rules_) <= 4
    assert model.score(data.data, data.target) >= 0.995
    assert "odor=" in model.to_text()


def test_names_and_text():
    X, y = table(120, 4)
    frame = pd.DataFrame(X.astype(bool), columns=list("abcd"))
    model = RuleClassifier(random_state=0).fit(frame, y)
    lines = model.to_text().splitlines()
    assert lines[-1] == f"else {model.default_}"
    for line, rule in zip(lines, model.rules_, strict=False):
        assert line == f"{rule.label} if {rule.to_text(list('abcd'))}"
    with pytest.raises(ValueError, match="1 names, but the rule uses"):
        model.to_text(["a"])


def test_nothing_to_find_is_a_constant_and_says_so():
    X = np.zeros((20, 3))
    y = np.r_[np.zeros(12), np.ones(8)]
    model = RuleClassifier(random_state=0)
    with pytest.warns(
        UserWarning, match=r"No rule gained enough: every sample is predicted as 0.0"
    ):
        model.fit(X, y)
    assert model.rules_ == []
    assert model.to_text() == "0.0"
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[13 / 22, 9 / 22]])


def test_grades_rank_samples_of_one_label_and_rare_classes_have_one():
    rng = np.random.default_rng(0)
    X = rng.random((1000, 8)) < 0.3
    X[:, 0] = np.arange(1000) % 10 == 0
    for share in (0.35, 0.2):
        y = rng.random(1000) < np.where(X[:, 0], share, 0.02)
        with pytest.warns(UserWarning, match="No rule gained"):
            model = RuleClassifier(random_state=0).fit(X, y)
        assert (0, True) in model.grades_[0].literals
        assert not model.predict(X).any()
        probabilities = model.predict_proba(X)[:, 1]
        assert probabilities[X[:, 0]].mean() > 5 * probabilities[~X[:, 0]].mean()
        assert model.to_text() == "False"


def test_noise_gets_a_grade_only_where_a_class_is_rare():
    rng = np.random.default_rng(1)
    X = rng.random((400, 5)) < 0.5
    n_grades = []
    for n_positive in (100, 20):
        y = rng.permutation(400) < n_positive
        with pytest.warns(UserWarning, match="No rule gained"):
            model = RuleClassifier("labels", literal_cost=64).fit(X, y)
        n_grades.append(len(model.grades_))
    assert n_grades == [0, 1]


@pytest.mark.parametrize(("n_samples", "penalty"), [(1500, 0.2), (400, (0.1, 0.2))])
def test_penalty_below_one_finds_a_rare_event(n_samples, penalty):
    rng = np.random.default_rng(0)
    X = rng.random((n_samples, 8)) < 0.5
    risk = X[:, 0] & X[:, 1]
    # Of the samples at risk every third one has the event: a rule gains, at 0.2.
    y = risk & (np.cumsum(risk) % 3 == 0)
    with pytest.warns(UserWarning, match="Set class_weight='balanced' to find rules"):
        RuleClassifier("labels", random_state=0).fit(X, y)
    weighted = RuleClassifier("labels", class_weight="balanced", random_state=0)
    assert weighted.fit(X, y).rules_
    model = RuleClassifier("labels", penalty=penalty, random_state=0).fit(X, y)
    assert model.rules_[0].literals == ((0, True), (1, True))
    assert model.rules_[0].label is True
    assert model.rules_[0].precision == y.sum() / risk.sum()
    # Nothing is missed.
    assert model.predict(X)[y].all()


def test_grid_search_in_a_pipeline():
    data = make_monks(1)
    attributes = np.repeat(np.arange(2), 30)[:, None] + np.zeros((60, 2), dtype=int)
    y = np.repeat([0, 1], 30)
    search = GridSearchCV(
        make_pipeline(OneHotEncoder(), RuleClassifier(random_state=0)),
        {"ruleclassifier__max_literals": [1, 2], "ruleclassifier__penalty": [2.0, 5.0]},
        cv=2,
    ).fit(attributes, y)
    assert search.best_score_ == 1
    search = GridSearchCV(
        RuleClassifier(plain_perceptron(random_state=0)),
        {"estimator__max_literals": [1, 2]},
        cv=2,
    ).fit(data.data[::3], data.target[::3])
    assert search.best_estimator_.estimator.max_literals in (1, 2)


def test_random_state_reaches_the_model():
    X, y = table(200, 6)
    one, other = (RuleClassifier(random_state=3).fit(X, y) for _ in range(2))
    assert one.rules_ == other.rules_
    noisy = y ^ (np.random.default_rng(0).random(200) < 0.2)
    seeds = set()
    for seed in (3, 3, 4):
        model = RuleClassifier(plain_perceptron(), random_state=seed, cv=3)
        model.set_params(literal_cost=0.1, penalty=1).fit(X[:90], noisy[:90])
        seeds.add(model.estimator_.random_state)
    assert len(seeds) == 2
    kept = RuleClassifier(plain_perceptron(random_state=7), random_state=3)
    assert kept.fit(X[:90], y[:90]).estimator_.random_state == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": LinearRegression()}, "estimator must be a classifier"),
        ({"estimator": "svm"}, "estimator must be a classifier, None or 'labels'"),
        ({"feature_groups": [0]}, "one label for each of 4 features"),
        ({"max_rules": 0}, "max_rules"),
        ({"penalty": 0}, "penalty must be greater than 0"),
        ({"literal_cost": -1}, "literal_cost must be at least 0"),
        ({"cv": 1}, "cv == 1"),
        ({"class_weight": {0: -1, 1: 1}}, "class_weight must hold finite weights"),
        ({"binarize": None}, "Column 0 of X holds 2"),
    ],
)
def test_errors_leave_the_model_as_it_was(options, message):
    X, y = table()
    model = RuleClassifier(random_state=0).fit(X, y)
    before = dict(vars(model))
    X = X + (options.get("binarize", 0) is None) * 2.0
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(X, y)
    assert {**vars(model), **before}.keys() == vars(model).keys()
    assert model.rules_ is before["rules_"]


def noisy_conjunction(n_samples, noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, 12))
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    return X, y, y ^ (rng.random(n_samples) < noise)


def test_wrong_labels_do_not_mislead_the_rules():
    X, y, noisy = noisy_conjunction(600, 0.2)
    model = RuleClassifier(random_state=0).fit(X, noisy)
    assert (model.predict(X) == y).all()
    assert {rule.literals for rule in model.rules_} == {
        ((0, True), (1, True)), ((2, True), (3, True)),
    }  # fmt: skip


def test_lists_that_compare_parameters_come_from_narrower_searches(monkeypatch):
    widths, best = [], conjunction_search.ConjunctionSearch.best

    def watched(*arguments, **options):
        widths.append(options["width"])
        return best(*arguments, **options)

    monkeypatch.setattr(conjunction_search, "MAX_RUNNING_SUMS", 0)
    monkeypatch.setattr(conjunction_search.ConjunctionSearch, "best", watched)
    X, _, y = noisy_conjunction(120, 0.1)
    assert RuleClassifier("labels", random_state=0).fit(X, y).rules_
    # The searches of the choice come first.
    assert set(widths) == {128, 512}
    assert widths == sorted(widths)


def test_a_sample_of_weight_two_counts_as_two():
    X, _, y = noisy_conjunction(60, 0.1)
    weights = np.random.default_rng(1).integers(0, 3, 60)
    repeated = np.repeat(np.arange(60), weights)
    for options in ({}, {"estimator": "labels"}, {"class_weight": "balanced"}):
        one = RuleClassifier(random_state=0, **options).fit(X, y, weights)
        other = RuleClassifier(random_state=0, **options).fit(X[repeated], y[repeated])
        assert [rule.literals for rule in one.rules_] == [
            rule.literals for rule in other.rules_
        ]
        np.testing.assert_allclose(one.class_counts_, other.class_counts_, rtol=1e-12)


def test_weights_that_add_up_to_one_are_those_of_mean_one():
    X, _, y = noisy_conjunction(200, 0.1)
    weights = np.random.default_rng(1).integers(1, 4, 200) / 256
    one = RuleClassifier(random_state=0).fit(X, y, weights)
    other = RuleClassifier(random_state=0).fit(X, y, weights / weights.mean())
    assert one.rules_
    assert one.to_text() == other.to_text()


def test_rare_classes_get_rules_when_weights_ask_for_them():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 6))
    # Of the samples with the first feature one in five is positive, of others none.
    y = (X[:, 0] & (rng.random(1000) < 0.2)).astype(int)
    with pytest.warns(UserWarning, match="No rule gained enough"):
        RuleClassifier(random_state=0).fit(X, y)
    for class_weight in ("balanced", {0: 1, 1: 10}):
        model = RuleClassifier(random_state=0, class_weight=class_weight).fit(X, y)
        assert model.predict(X)[y == 1].all()
        assert model.predict(X)[X[:, 0] == 0].sum() == 0


def test_decision_function_is_the_log_of_the_odds():
    for X, y in (table(120, 6), three_classes()):
        model = RuleClassifier(random_state=0).fit(X, y)
        probabilities = model.predict_proba(X)
        expected = np.log(probabilities)
        if len(model.classes_) == 2:
            expected = expected[:, 1] - expected[:, 0]
        np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)


def test_large_weights_do_not_regularise_the_trusted_model_less():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 8))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(300) < 0.2)
    weights = rng.integers(1, 4, 300)
    first, second = (
        RuleClassifier(literal_cost=0, random_state=0).fit(X, y, scale * weights)
        for scale in (1.0, 4096.0)
    )
    assert first.rules_ == second.rules_
    assert first.penalty_ == second.penalty_
    scores = [model.estimator_.decision_function(X) for model in (first, second)]
    np.testing.assert_array_equal(*scores)


def test_old_parameters_mean_what_they_did():
    X, _, y = noisy_conjunction(120, 0.1)
    with (
        pytest.warns(FutureWarning, match="'literal_price' is .* Use 'literal_cost'"),
        pytest.warns(FutureWarning, match="'n_folds' is deprecated. Use 'cv'"),
    ):
        model = RuleClassifier(literal_price=2.0, n_folds=3, random_state=0)
    assert (model.literal_cost, model.cv) == (2.0, 3)
    with pytest.warns(FutureWarning, match="Fit an OptimalRuleSet"):
        assert "certificate" not in RuleClassifier(certificate=False).get_params()
    for option in ({"width": 64}, {"time_limit": 1.0}, {"certificate": True}):
        with pytest.raises(ValueError, match="is not supported since version"):
            RuleClassifier(**option)
    with pytest.warns(FutureWarning, match="Use 'literal_cost_' instead"):
        assert model.fit(X, y).literal_price_ == model.literal_cost_ == 2.0
    stored = model.__getstate__()
    stored["literal_price_"] = stored.pop("literal_cost_")
    again = RuleClassifier()
    again.__setstate__(stored)
    assert again.literal_cost_ == 2.0
    with (
        pytest.warns(FutureWarning, match="Use joblib.parallel_config"),
        pytest.warns(FutureWarning, match="Use 'literal_cost'"),
        pytest.warns(FutureWarning, match="Use 'rule_cost'"),
    ):
        other = OptimalRuleSet(literal_price=3.0, rule_price=1.0, n_jobs=2)
    assert (other.literal_cost, other.rule_cost) == (3.0, 1.0)
    with pytest.warns(FutureWarning, match="argument 'literal_price' is deprecated"):
        extract_dnf(BooleanSVC().fit(X, y), X, y, literal_price=1.0)
    with pytest.raises(ValueError, match="Name the columns as BooleanEncoder does"):
        ScorecardClassifier(feature_groups=[0, 0, 1])


def test_splits_of_the_user_hold_samples_out():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (240, 6))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(240) < 0.1)
    weights = np.where(np.arange(240) % 6 == 0, 0.0, 1.0)
    splits = list(StratifiedKFold(3).split(X, y))
    model = RuleClassifier(cv=splits, random_state=0).fit(X, y, weights)
    named = RuleClassifier(cv=StratifiedKFold(3), random_state=0).fit(X, y, weights)
    assert model.to_text() == named.to_text()
    # Samples of weight 0 are as if absent, and the others keep their parts.
    used = np.flatnonzero(weights)
    number = np.full(240, -1)
    number[used] = np.arange(len(used))
    parts = [[number[part][weights[part] > 0] for part in split] for split in splits]
    absent = RuleClassifier(cv=parts, random_state=0).fit(X[used], y[used])
    assert model.to_text() == absent.to_text()
    with pytest.raises(ValueError, match="cv: split 0 has a class without samples"):
        RuleClassifier(cv=[(np.flatnonzero(y), np.arange(9))]).fit(X, y)
