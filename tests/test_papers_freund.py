"""The experiments on Freund's thesis compute what they say, and notice errors."""

import importlib.util
from math import log
from pathlib import Path

import numpy as np
import pytest

from sklboolean.theory import information_gain_lower_bound, majority_weights, min_rounds

PAPERS = Path(__file__).parents[1] / "benchmarks" / "papers"


@pytest.fixture
def load(monkeypatch):
    """Return a function that imports a script of the papers."""
    monkeypatch.syspath_prepend(PAPERS.parent)

    def load(name):
        spec = importlib.util.spec_from_file_location(name, PAPERS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


# -- the majority game ----------------------------------------------------------------


def test_rounds_are_the_least(load, monkeypatch):
    script = load("majority_game")
    assert script.rounds_row(0.1, 1e-4)[2] == 339
    monkeypatch.setattr(script, "min_rounds", lambda *args: min_rounds(*args) + 2)
    with pytest.raises(AssertionError, match="least number"):
        script.rounds_row(0.1, 1e-4)


def test_games_notice_a_weightor_that_loses(load):
    script = load("majority_game")
    tail, losses = script.game_losses(21, 0.2, 2, {"majority": "majority"})
    at_most = [losses["majority", title] for title in ("random, more", "random", "iid")]
    assert at_most == pytest.approx([at_most[0], tail, tail], rel=1e-9)
    assert at_most[0] < tail
    with pytest.raises(AssertionError, match=r"2\.2\."):
        script.game_losses(21, 0.2, 2, {"majority": "uniform"})


@pytest.mark.parametrize("seed", range(3))
def test_adversary_marks_no_more_than_it_must(load, seed):
    script, rng = load("majority_game"), np.random.default_rng(seed)
    weights, order = rng.random(50), rng.permutation(50)
    marked = script.marks_of_adversary(order, weights, 0.1)
    total, last = weights.sum(), order[marked.sum() - 1]
    assert marked[order[: marked.sum()]].all()
    assert weights[marked].sum() >= 0.6 * total > weights[marked].sum() - weights[last]


def test_sample_is_learned_with_these_weights_and_not_with_others(load, monkeypatch):
    script = load("majority_game")
    for order_of in script.ADVERSARIES.values():
        game = script.sample_game(60, 0.2, order_of, np.random.default_rng(0))
        k, first, decided = game
        assert k == min_rounds(0.2, 1 / 60)
        assert first <= decided <= k
    monkeypatch.setattr(script, "majority_weights", lambda k, i, gamma: np.ones(i + 1))
    with pytest.raises(AssertionError, match=r"2\.[23]\."):
        script.sample_game(
            60, 0.2, script.ADVERSARIES["richest first"], np.random.default_rng(0)
        )


@pytest.mark.parametrize("sampling", ["weight", "resample"])
def test_stumps_learn_a_sample_within_the_rounds_of_the_theorem(load, sampling):
    k, first, decided = load("majority_game").stump_game(5, 0.09, sampling, 80, 0)
    assert k == min_rounds(0.09, 1 / 80)
    assert 5 <= first <= decided <= k  # fewer stumps are no majority of five


def test_filter_notices_other_shares_than_expected(load, monkeypatch):
    script = load("majority_game")
    rows, justified, scores, bound = script.filter_stream(3, 1 / 6, 0.45, 0.1, 0)
    largest, mean, seen, accepted, aborted = rows.T
    assert len(rows) == min_rounds(1 / 12, 0.45**2)
    assert seen[0] == accepted[0]
    assert mean[0] == pytest.approx(largest[0])
    assert seen.sum() < bound
    assert not (aborted.astype(bool) & ~justified).any()
    assert len(scores) == len(rows) - aborted.sum()

    def others(k, i, gamma, n_aborted=0):
        return majority_weights(k, i, 2 * gamma, n_aborted=n_aborted)

    monkeypatch.setattr(script, "majority_weights", others)
    with pytest.raises(AssertionError, match=r"2\.14"):
        script.filter_stream(3, 1 / 6, 0.45, 0.1, 0)


# -- query by committee ---------------------------------------------------------------


def test_lengths_of_thresholds_are_those_of_the_labels_asked_for(load):
    script = load("query_by_committee")
    logs, rows = script.shrinking(4, 3)
    assert logs.shape == rows.shape == (3, 4)
    assert (np.diff(logs, axis=1, prepend=0) < 0).all()
    assert (np.diff(rows, axis=1, prepend=0) > 0).all()
    # A cut x has density 6 x (1 - x), and the target is in the part x with chance x.
    steps = np.random.default_rng(0).beta(3, 2, size=(400, 5))
    script.steps_row(np.cumsum(np.log(steps), axis=1))
    with pytest.raises(AssertionError, match="7/12"):
        script.steps_row(np.cumsum(np.log(steps) / 1.2, axis=1))


def test_gain_of_bodies_is_that_of_the_formula(load):
    script = load("query_by_committee")
    places = np.linspace(-1, 1, 20_001)
    cylinder = script.gain_of_slices(np.ones_like(places), places)
    assert cylinder == pytest.approx(7 / (12 * log(2)), abs=1e-6)
    cone = script.gain_of_slices((1 - np.abs(places)) ** 4, places)
    assert cone == pytest.approx(information_gain_lower_bound(5), abs=1e-6)
    # A body that is not convex tells less than the bound.
    dumbbell = script.gain_of_slices(np.abs(places) > 0.99, places)
    spike = script.gain_of_slices((1 - np.abs(places)) ** 400 + 1e-4, places)
    assert dumbbell > script.BOUND > spike


def test_queries_on_planes_tell_more_than_the_bound(load):
    script = load("query_by_committee")
    found = script.planes_run(2, 4000, 500, np.random.default_rng(0))
    expected, instant = np.array(found).T
    assert expected.min() > script.BOUND
    # The run ends with the query that leaves less than 500 points.
    assert instant.sum() > np.log2(3999 / 500) >= instant[:-1].sum()


def test_perceptrons_report_their_quarters(load):
    rows = list(load("query_by_committee").perceptron_rows(2, 8, 1))
    assert [row[:3] for row in rows] == [(2, "committee", 8), (2, "random", 8)]


# -- the combination machine ----------------------------------------------------------


def test_code_has_the_factor_of_two(load, monkeypatch):
    script = load("combination_machine")
    exact, doubled, printed = map(float, script.code_row(3, 2, 1)[2:])
    assert exact == doubled < printed
    monkeypatch.setattr(script, "expit", lambda field: 0.5 + 0 * field)
    with pytest.raises(AssertionError, match=r"4\.2\.3"):
        script.code_row(3, 2, 1)


def test_numbers_of_the_thesis_are_the_same_in_both_scripts(load):
    script = load("combination_machine")
    theirs = {name: numbers for name, _, numbers in script.ROWS}
    for divisor, rows in script.THESIS.items():
        for name, measures in rows.items():
            if name != "true model":
                assert theirs[name][divisor][1] == measures[0]


def test_tables_of_pictures_and_digits_have_a_row_for_each_method(load):
    script = load("combination_machine")
    rows = list(script.difference_rows(7, 60, 3, ["edges"]))
    assert [row[1] for row in rows] == [
        "gradient ascent, 3", "projection pursuit", "projection pursuit, ascent, 3"
    ]  # fmt: skip
    rows = list(script.digits_rows(2, 40, 1))
    assert [row[0] for row in rows[:3]] == list(script.THESIS_DIGITS)
    assert all(0 < float(cell.split()[0]) < 1 for row in rows for cell in row[1:5])
