"""Edited models: terms by text, and weights, counts and losses by definition."""

import pickle
import re

import numpy as np
import pytest
from oracles.rules import satisfies, smallest_objective
from scipy.optimize import minimize
from sklearn.metrics import log_loss, mean_squared_error

from sklboolean import (
    BooleanEncoder,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    RuleClassifier,
    ScorecardClassifier,
)
from sklboolean.datasets import load_recurrence
from sklboolean.inspection import check_monotone

X, Y = load_recurrence(return_X_y=True, as_frame=True)
BITS = BooleanEncoder(n_bins=3).set_output(transform="pandas").fit_transform(X)
WEIGHTS = np.random.default_rng(0).integers(1, 4, len(Y))
THREE = np.array(["a", "b", "c"])[Y + (X["age (years)"] > 50)]
CONJUNCTIONS = [
    (ConjunctionLogisticRegression(C=0.1, class_weight={0: 1, 1: 2}), Y, "logistic"),
    (ConjunctionLogisticRegression(C=0.1, max_literals=2), THREE, "softmax"),
    (ConjunctionRegressor(C=0.02), X["age (years)"], "squared"),
]
RULES = RuleClassifier("labels", literal_cost=1, random_state=0).fit(BITS, Y)
CARD = ScorecardClassifier(4, max_literals=2).fit(BITS, Y)


def covers(terms):
    """Mark the samples that satisfy each conjunction, of shape (n_samples, n_terms)."""
    rows = BITS.to_numpy()
    marks = [[satisfies(row, term) for term in terms] for row in rows]
    return np.array(marks, dtype=float).reshape(len(rows), len(terms))


def test_edits_keep_to_the_directions():
    name = "age (years)"
    options = {"monotonic_cst": {name: -1}, "literal_cost": 1, "random_state": 0}
    rules = RuleClassifier("labels", **options).fit(BITS, Y)
    bound = next(column for column in BITS if column.startswith(f"{name} <= "))
    edited = rules.with_rules(f"1 if {bound}\nelse 0", BITS, Y)
    assert check_monotone(edited, BITS, {bound: 1}).is_proved
    for wrong, message in (
        (f"0 if {bound}\nelse 1", f"'{re.escape(bound)}' contradicts monotonic_cst"),
        (f"1 if not {bound}\nelse 0", "contradicts monotonic_cst"),
        (f"1 if {bound}\n0 if breast = left\nelse 1", "all must be of one class"),
    ):
        with pytest.raises(ValueError, match=message):
            rules.with_rules(wrong, BITS, Y)


@pytest.mark.parametrize(("model", "y", "loss"), CONJUNCTIONS)
def test_weights_of_the_conjunctions_left_are_the_best(model, y, loss):
    model.fit(BITS, y, WEIGHTS)
    first = model.rules_[0]
    edited = model.without([first.to_text(), 2], BITS, y, WEIGHTS)
    assert first.literals not in edited.conjunctions_
    # The best objective over the conjunctions that are left, by a general solver.
    removed = first.literals, model.conjunctions_[2]
    kept = [c for c in model.conjunctions_ if c not in removed]
    factors = [2.0 * 1.1 ** (len(c) - 1) if len(c) > 1 else 1.0 for c in kept]
    targets, weights, C, unit = np.array(y)[:, None], WEIGHTS * 1.0, model.C, 1.0
    if loss == "squared":
        mean = np.average(y, weights=weights)
        unit = np.sqrt(np.average((y - mean) ** 2, weights=weights))
        targets, C = (targets - mean) / unit, C * unit
    elif loss == "softmax":
        targets = (targets == model.classes_).astype(float)
    else:
        weights = weights * np.where(y == 1, 2.0, 1.0)
    design, prices = covers(kept), np.array(factors)
    best = smallest_objective(design, prices, C, weights, targets, loss) * unit
    assert edited.objective_ == pytest.approx(best, rel=1e-3)
    assert edited.objective_ - edited.optimality_gap_ <= best * (1 + 1e-9)
    assert edited.is_optimal_
    assert "edited" in edited._proof()[0]
    assert edited.fit(BITS, y, WEIGHTS).edit_losses_ is None


@pytest.mark.parametrize(("model", "y", "loss"), CONJUNCTIONS)
def test_losses_before_and_after_are_those_of_the_samples(model, y, loss):
    model.fit(BITS, y)
    edited = model.without(0, BITS[::2], y[::2], WEIGHTS[::2])
    measure, name = (
        (mean_squared_error, "predict")
        if loss == "squared"
        else (log_loss, "predict_proba")
    )
    expected = [
        measure(y[::2], getattr(each, name)(BITS[::2]), sample_weight=WEIGHTS[::2])
        for each in (model, edited)
    ]
    assert edited.edit_losses_ == pytest.approx(expected)
    assert model.edit_losses_ is None


def test_all_conjunctions_may_be_left_out():
    model = ConjunctionLogisticRegression(C=0.1).fit(BITS, Y)
    edited = model.without(range(len(model.conjunctions_)), BITS, Y)
    assert edited.predict_proba(BITS[:1])[0, 1] == pytest.approx(Y.mean(), abs=1e-6)


def test_the_text_of_a_rule_list_gives_the_same_list():
    edited = RULES.with_rules(f"\n{RULES.to_text()}\n\n", BITS, Y)
    assert edited.rules_ == RULES.rules_
    assert np.array_equal(edited.predict_proba(BITS), RULES.predict_proba(BITS))
    assert edited.edit_losses_[0] == edited.edit_losses_[1]
    nothing = RULES.with_rules([], BITS, Y)
    assert nothing.to_text() == "1"
    assert nothing.with_rules(nothing.to_text(), BITS, Y).rules_ == []


def test_a_new_rule_is_counted():
    lines = ["0 if irradiated = no and malignancy (1 to 3) <= 2", 1, "else 0"]
    edited = RULES.with_rules(lines, BITS, Y, WEIGHTS)
    names = list(BITS.columns)
    first = {names.index("irradiated = no"), names.index("malignancy (1 to 3) <= 2")}
    assert edited.rules_[0].literals == tuple((j, True) for j in sorted(first))
    assert edited.rules_[1].literals == RULES.rules_[1].literals
    marks = covers([rule.literals for rule in edited.rules_]).astype(bool)
    decided = np.where(marks.any(axis=1), marks.argmax(axis=1), 2)
    for k, counts in enumerate(edited.class_counts_):
        expected = [WEIGHTS[(decided == k) & (Y == c)].sum() for c in (0, 1)]
        assert counts.tolist() == expected
    assert edited.default_ == 0
    assert [r.coverage for r in edited.rules_] == [(decided == k).sum() for k in (0, 1)]


def test_slope_and_intercept_fit_new_points_best():
    points = {0: -7, "irradiated = yes and not breast = left": 2}
    edited = CARD.with_points(points, BITS, Y, WEIGHTS)
    assert edited.points_[0] == -7
    assert len(edited.conditions_) == len(CARD.conditions_) + 1
    sums = covers(edited.conditions_) @ edited.points_
    assert np.array_equal(edited.sum_points(BITS), sums)
    assert set(edited.sum_points(BITS)) <= set(edited.probability_by_points())

    def objective(parameters):
        slope, intercept = parameters
        scores = slope * sums + intercept
        losses = WEIGHTS @ np.logaddexp(0, np.where(Y == 1, -scores, scores))
        return losses + (slope * edited.points_) @ (slope * edited.points_) / 2

    best = minimize(objective, [0.1, 0.0], method="Nelder-Mead", tol=1e-10).x
    slope = edited.calibration_slope_
    assert slope == pytest.approx(best[0], rel=1e-4)
    assert slope * edited.intercept_ == pytest.approx(best[1], rel=1e-4)
    assert 0 <= edited.gap_ <= edited.loss_
    assert edited.loss_ == pytest.approx(edited.edit_losses_[1])


def test_points_of_nothing_leave_the_frequency():
    edited = CARD.with_points(dict.fromkeys(range(len(CARD.points_)), 0), BITS, Y)
    assert edited.conditions_ == []
    assert edited.predict_proba(BITS[:1])[0, 1] == pytest.approx(Y.mean())


@pytest.mark.parametrize(
    ("edit", "given", "message"),
    [
        (
            RULES.with_rules,
            ["2 if breast = left"],
            r"no class '2'. It has \['0', '1'\]",
        ),
        (RULES.with_rules, ["1 if breast = lift"], "'breast = lift'. Did .* = left'"),
        (RULES.with_rules, ["breast = left", 0], "Write 'label if condition'"),
        (RULES.with_rules, [99], "99 is neither .* of the 3 in the model"),
        (RULES.with_rules, [True], "True is neither"),
        (RULES.with_rules, ["breast = left"], "Write a rule as 'label if condition'"),
        (RULES.with_rules, ["1 if q > 3"], "'q > 3'. Use the names of its features"),
        (RULES.with_rules, None, "rules must be a text, a number, or a list"),
        (RULES.with_rules, {"1 if breast = left": 2}, "rules must be a text"),
        (CARD.with_points, {"breast = lift": 1}, "Did you mean 'breast = left'"),
        (CARD.with_points, {-1: 1}, "-1 is neither"),
        (CARD.with_points, {0: 1001}, r"points\[0\] == 1001, must be <= 1000"),
        (CARD.with_points, {"True": 1}, "conjunction of 0, but max_literals=2"),
        (CARD.with_points, [3], r"points must be a dict of conditions; got \[3\]"),
        (CARD.with_points, {0: 90}, "second class, 1, less often"),
    ],
)
def test_impossible_edits_are_refused(edit, given, message):
    before = pickle.dumps(edit.__self__)
    with pytest.raises(ValueError, match=message):
        edit(given, BITS, Y)
    assert pickle.dumps(edit.__self__) == before


def test_data_of_an_edit_are_checked():
    model = ConjunctionLogisticRegression(C=0.1).fit(BITS, Y)
    for given in (None, {0: 1}):
        with pytest.raises(ValueError, match="conjunctions must be a text, a number"):
            model.without(given, BITS, Y)
    with pytest.raises(ValueError, match=r"'breast = left'\. .*rules_ lists"):
        model.without(["breast = left"], BITS, Y)
    with pytest.raises(ValueError, match="feature names"):
        model.without([0], BITS.iloc[:, ::-1], Y)
    with pytest.raises(ValueError, match="label 7, which is not among"):
        model.without([0], BITS, np.where(Y == 1, 7, Y))


def test_directions_are_kept():
    up = {"affected lymph nodes": 1, "malignancy (1 to 3)": 1}
    model = ConjunctionLogisticRegression(C=0.3, monotonic_cst=up).fit(BITS, Y)
    edited = model.without(0, BITS, Y)
    assert edited.is_optimal_
    for rule in edited.rules_:
        for feature, value in rule.literals:
            name = BITS.columns[feature]
            if name.startswith((*up,)) and "missing" not in name:
                assert (rule.weight > 0) == ((">" in name) == value)
