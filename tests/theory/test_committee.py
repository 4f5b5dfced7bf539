from decimal import Decimal, localcontext
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import active_learning as oracles

from sklboolean.theory import information_gain_lower_bound, query_stopping_wait

probabilities = st.floats(1e-12, 1 - 1e-12)


@given(st.integers(0, 10**30), probabilities, probabilities)
def test_wait_is_that_of_the_figure(n_queries, epsilon, delta):
    with localcontext(prec=50):
        pi = Decimal("3.14159265358979323846264338327950288419716939937511")
        inner = pi**2 * Decimal(n_queries + 1) ** 2 / (3 * Decimal(delta))
        expected = float(inner.ln() / Decimal(epsilon))
    wait = query_stopping_wait(n_queries, epsilon, delta)
    assert wait == pytest.approx(expected, rel=1e-13)
    assert query_stopping_wait(n_queries + 1, epsilon, delta) >= wait > 0


def test_chance_of_stopping_too_early_is_delta():
    # A committee that is wrong too often agrees on t rows in a row with probability
    # below (1 - epsilon)^t < exp(-epsilon t), at t_n that is 3 delta / (pi (n + 1))^2:
    # summed over all n, delta / 2.
    delta, n = 0.1, np.arange(2 * 10**4)
    waits = [query_stopping_wait(int(k), 0.01, delta) for k in n]
    total = np.sum(np.exp(-0.01 * np.array(waits)))
    rest = 3 * delta / np.pi**2 / len(n)  # of the sum beyond, by an integral
    assert total + rest == pytest.approx(delta / 2, rel=1e-7)


@pytest.mark.parametrize("dimension", [1, 2, 3, 5, 10])
def test_bound_is_the_gain_on_a_double_cone(dimension):
    positions = np.linspace(-1, 1, 40001)
    gain = oracles.query_gain(positions, 1 - abs(positions), dimension)
    if dimension == 1:  # the slices of an interval are points
        gain = oracles.query_gain(positions, np.ones_like(positions), dimension)
        assert gain == pytest.approx(7 / 12 / log(2), rel=1e-6)
    assert information_gain_lower_bound(dimension) == pytest.approx(gain, rel=1e-6)


@given(
    st.integers(2, 10),
    st.lists(st.tuples(st.floats(-4, 4), st.floats(0.05, 3)), min_size=1, max_size=4),
)
def test_no_convex_body_is_below_the_bound(dimension, lines):
    # Slices of a convex body have a concave radius (Lemma 3.6.2), and every concave
    # radius is that of a body: here the least of some lines and of a tent.
    positions = np.linspace(-1, 1, 4001)
    tops = [height + slope * positions for slope, height in lines]
    radius = np.clip(np.min([*tops, 5 * (1 - abs(positions))], axis=0), 0, None)
    gain = oracles.query_gain(positions, radius, dimension)
    assert gain > information_gain_lower_bound(dimension) - 1e-4


def test_bound_falls_to_its_limit():
    limit = information_gain_lower_bound()
    assert limit == pytest.approx(1 / 9 + 7 / (18 * log(2)), rel=1e-15)
    assert limit > 0.672
    bounds = [information_gain_lower_bound(d) for d in (1, 2, 3, 5, 10, 100, 10**4)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] > limit
    assert information_gain_lower_bound(10**15) == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: query_stopping_wait(-1, 0.1, 0.1), "n_queries must be at least 0"),
        (lambda: query_stopping_wait(1.5, 0.1, 0.1), "n_queries must be an integer"),
        (lambda: query_stopping_wait(1, 0, 0.1), "epsilon must be above 0"),
        (lambda: query_stopping_wait(1, 1, 0.1), "epsilon must be below 1"),
        (lambda: query_stopping_wait(1, 0.1, 0), "delta must be above 0"),
        (lambda: query_stopping_wait(1, 0.1, 1.0), "delta must be below 1"),
        (lambda: query_stopping_wait(1, float("nan"), 0.5), "epsilon must be a finite"),
        (lambda: information_gain_lower_bound(0), "dimension must be at least 1"),
        (lambda: information_gain_lower_bound(2.0), "dimension must be an integer"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
