"""The majority game between two players, and sample bounds of boosting by majority."""

from fractions import Fraction
from math import ceil, e, log, pi, sqrt

import numpy as np

from sklboolean._core.parameters import check_choice
from sklboolean.boosting._majority_game import (
    check_game,
    majority_potentials,
    majority_weights,
    min_rounds,
)
from sklboolean.theory._numbers import as_fraction, as_integer, natural_log


def play_majority_game(weightor, chooser, *, k, gamma) -> tuple[float, np.ndarray]:
    """Play the majority game, the abstract form of boosting by majority.

    In each round the weightor gives weights to the points of a space, and the chooser
    marks points with at least ``1/2 + gamma`` of the weight. In the end, points that
    were marked in at most half of the rounds are lost. In boosting, the points are
    samples, and a hypothesis marks those that it classifies correctly.

    The space is divisible: any fraction of the points of a state can be marked.

    Parameters
    ----------
    weightor : {"majority", "uniform"} or callable
        Player that chooses the weights. "majority": as boost-by-majority. "uniform":
        each point keeps its initial weight. A callable ``weightor(k, i, gamma,
        values)`` returns an array of shape ``(i + 1,)``: the weights, not negative and
        up to a factor, of the points marked 0, 1, ..., i times so far. ``values`` has
        the same shape and contains the share of the space of these points.
    chooser : {"iid", "richest", "poorest", "adversarial"} or callable
        Player that marks points. "iid": the fraction ``1/2 + gamma`` of each state.
        "richest": first the points marked most often so far. "poorest": first those
        marked least often. "adversarial": first those whose mark lowers the potential
        least relative to their weight, which looks one round ahead only. All mark the
        smallest weight allowed. A callable ``chooser(k, i, gamma, values, weights)``
        returns an array of the same shape: the fraction of each state that is marked.
        ``weights`` sum to 1.
    k : int
        Number of rounds, odd.
    gamma : float
        Edge: the weight to be marked beyond one half, above 0 and below 0.5.

    Returns
    -------
    loss : float
        Share of the space that is lost.
    potentials : ndarray of shape (k + 1,), dtype float64
        Average potential before each round and at the end, where it is the loss.

    Raises
    ------
    TypeError
        If an argument is not a number of its kind.
    ValueError
        If an argument is out of range, `k` is even, weights are negative or all 0 while
        points are undecided, or too little weight is marked.

    See Also
    --------
    majority_potentials : The potential of each state.

    Notes
    -----
    Against "majority" every chooser that marks exactly ``1/2 + gamma`` ends
    with the same loss: the binomial tail that is the potential at the start. More marks
    lower the loss (Lemma 2.3.8). "iid" has that loss against all weightors, so no
    weightor does better (section 2.2.1). "adversarial" has at least that loss.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, section 2.2.

    Examples
    --------
    >>> from sklboolean.theory import play_majority_game
    >>> for weightor in "majority", "uniform":
    ...     for chooser in "iid", "adversarial":
    ...         loss, _ = play_majority_game(weightor, chooser, k=21, gamma=0.2)
    ...         print(f"{weightor} against {chooser}: {loss:.4f}")
    majority against iid: 0.0264
    majority against adversarial: 0.0264
    uniform against iid: 0.0264
    uniform against adversarial: 0.3000
    """
    k, _, gamma = check_game(k, 0, gamma)
    weigh, mark = (
        _player(weightor, WEIGHTORS, "weightor"),
        _player(chooser, CHOOSERS, "chooser"),
    )
    # values[r]: share of the points that were marked r times so far.
    values = np.ones(1)
    potentials = np.full(k + 1, majority_potentials(k, 0, gamma)[0])
    for i in range(k):
        if not (values @ (majority_weights(k, i, gamma, log=True) > -np.inf)):
            potentials[i + 1 :] = potentials[i]  # all points are lost or saved
            break
        weights = _checked_weights(weigh(k, i, gamma, values), i)
        marked = mark(k, i, gamma, values, weights)
        marked = values * _checked_fractions(marked, weights, i, gamma)
        # Marked points move from state r to state r + 1.
        values = np.append(values - marked, 0.0) + np.insert(marked, 0, 0.0)
        potentials[i + 1] = values @ majority_potentials(k, i + 1, gamma)
    return float(potentials[-1]), potentials


def weigh_by_majority(k, i, gamma, values):
    """Weigh states as boost-by-majority does."""
    # Scale after multiplying by the values: a state that is almost empty must not push
    # the others out of the range of floats.
    with np.errstate(divide="ignore"):
        logs = np.log(values) + majority_weights(k, i, gamma, log=True)
    return np.exp(logs - logs.max())


def weigh_uniformly(k, i, gamma, values):
    """Weigh points as at the start."""
    return values


def mark_independently(k, i, gamma, values, weights):
    """Mark the same fraction of each state."""
    return np.full(i + 1, 0.5 + gamma)


def mark_richest(k, i, gamma, values, weights):
    """Mark points with most marks first."""
    return _mark_in_order(np.arange(i + 1)[::-1], gamma, weights)


def mark_poorest(k, i, gamma, values, weights):
    """Mark points with fewest marks first."""
    return _mark_in_order(np.arange(i + 1), gamma, weights)


def mark_adversarially(k, i, gamma, values, weights):
    """Mark points first whose mark lowers the potential least for its weight."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (
            majority_weights(k, i, gamma, log=True) + np.log(values) - np.log(weights)
        )
    return _mark_in_order(np.argsort(logs, kind="stable"), gamma, weights)


WEIGHTORS = {"majority": weigh_by_majority, "uniform": weigh_uniformly}
CHOOSERS = {
    "iid": mark_independently,
    "richest": mark_richest,
    "poorest": mark_poorest,
    "adversarial": mark_adversarially,
}


def _mark_in_order(order, gamma, weights):
    """Mark states in an order until their weight is ``1/2 + gamma``, skip weight 0."""
    fractions = np.zeros(len(weights))
    order = order[weights[order] > 0]
    # Weight of the states before each one; the last is marked in part.
    before = np.append(0.0, np.cumsum(weights[order])[:-1])
    fractions[order] = np.clip((0.5 + gamma - before) / weights[order], 0.0, 1.0)
    return fractions


def _player(player, known, name):
    if callable(player):
        return player
    return known[check_choice(player, name, known)]


def _checked_weights(weights, i):
    weights = np.asarray(weights, dtype=np.float64)
    total = weights.sum()
    if weights.shape != (i + 1,) or not (weights >= 0).all() or not 0 < total < np.inf:
        raise ValueError(
            f"weightor must return {i + 1} weights after {i} rounds, one for each "
            "number of marks, finite, not negative and not all 0; got "
            f"{weights.tolist()}."
        )
    return weights / total


def _checked_fractions(fractions, weights, i, gamma):
    fractions = np.asarray(fractions, dtype=np.float64)
    if fractions.shape != (i + 1,) or not ((fractions >= 0) & (fractions <= 1)).all():
        raise ValueError(
            f"chooser must return {i + 1} fractions from 0 to 1 after {i} rounds, one "
            f"for each number of marks; got {fractions.tolist()}."
        )
    if weights @ fractions < 0.5 + gamma - 1e-12:
        raise ValueError(
            f"chooser must mark at least {0.5 + gamma} of the weight; it marked "
            f"{weights @ fractions} after {i} rounds."
        )
    return fractions


def subsample_bound(gamma, epsilon, delta, *, n_weak_samples) -> int:
    """Compute a training set size that suffices for boosting a weak learner.

    The weak learner is deterministic. From `n_weak_samples` samples of any distribution
    it finds, with positive probability, a hypothesis with an error rate below
    ``1/2 - gamma``. Boost it by majority until the vote is correct on a training set of
    this size. The error rate on new samples is then below `epsilon`, except with
    probability `delta`.

    Parameters
    ----------
    gamma : real number
        Edge of the weak learner, above 0 and below 1/2.
    epsilon : real number
        Allowed error rate, above 0 and below 1.
    delta : real number
        Allowed probability of failure, above 0 and below 1.
    n_weak_samples : int
        Number of samples that the weak learner needs, at least 1.

    Returns
    -------
    n_samples : int
        ``max(208, (2 / epsilon) ln(2 / delta), 16 a ln(a)**2)`` rounded up, where ``a =
        n_weak_samples / (epsilon gamma**2)``.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    See Also
    --------
    filter_sample_bound : For boosting on a stream.

    Notes
    -----
    The vote depends on the few samples from which its hypotheses were made; the others
    test it. The constants are those of a proof. Fewer samples are enough in practice.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Corollary
       2.3.4.

    Examples
    --------
    >>> from sklboolean.theory import subsample_bound
    >>> subsample_bound(gamma=0.25, epsilon=0.1, delta=0.05, n_weak_samples=10)
    1393442
    """
    gamma = as_fraction(gamma, "gamma", above=0, below=0.5)
    epsilon = as_fraction(epsilon, "epsilon", above=0, below=1)
    delta = as_fraction(delta, "delta", above=0, below=1)
    n_weak = as_integer(n_weak_samples, "n_weak_samples", at_least=1)
    growth = n_weak / (epsilon * gamma**2)
    tests = 2 / epsilon * natural_log(2 / delta)
    return max(208, ceil(tests), ceil(16 * growth * natural_log(growth) ** 2))


def filter_sample_bound(
    gamma, epsilon, delta, *, n_weak_samples, weak_learner_success_rate=1
) -> int:
    """Bound the number of samples that boosting by filtering takes from a stream.

    From `n_weak_samples` samples of any distribution the weak learner finds, with
    probability at least `weak_learner_success_rate`, a hypothesis with an error rate
    below ``1/2 - gamma``. Boost it by majority on filtered samples. The error rate on
    new samples is then below `epsilon`, except with probability `delta`.

    Parameters
    ----------
    gamma : real number
        Edge of the weak learner, above 0 and below 1/2.
    epsilon : real number
        Allowed error rate, above 0 and at most 1/2.
    delta : real number
        Allowed probability of failure, above 0 and below 1.
    n_weak_samples : int
        Number of samples that the weak learner needs, at least 1.
    weak_learner_success_rate : real number, default=1
        Probability that the weak learner succeeds, above 0 and at most 1.

    Returns
    -------
    n_samples : int
        Bound on the number of samples drawn by the whole algorithm, accepted or not.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range, or more than
        10**9 rounds are needed.

    See Also
    --------
    subsample_bound : For boosting on a fixed training set.
    min_rounds : The number of rounds.

    Notes
    -----
    The bound is the left one of (2.16), with the number of rounds k that
    ``min_rounds(gamma / 2, epsilon**2)`` gives. The samples of one round, m_R, train
    ``ln(4k / delta) / weak_learner_success_rate`` hypotheses and choose one of them;
    the choice takes ``(8 / gamma**2) ln(2r / d)`` samples for r hypotheses and ``d =
    delta / 2k``. The printed m_R (and Lemma 2.3.6) omits the ln 2 of the latter. Both
    numbers are rounded up here.

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Theorem
       2.3.9.

    Examples
    --------
    >>> from sklboolean.theory import filter_sample_bound
    >>> filter_sample_bound(gamma=0.3, epsilon=0.1, delta=0.1, n_weak_samples=10)
    5475762
    """
    gamma = float(as_fraction(gamma, "gamma", above=0, below=0.5))
    epsilon = float(as_fraction(epsilon, "epsilon", above=0, at_most=0.5))
    delta = as_fraction(delta, "delta", above=0, below=1)
    nats = -float(natural_log(delta))  # a quotient by delta may overflow
    n_weak = as_integer(n_weak_samples, "n_weak_samples", at_least=1)
    success_rate = as_fraction(
        weak_learner_success_rate, "weak_learner_success_rate", above=0, at_most=1
    )
    k = min_rounds(gamma / 2, epsilon**2)
    n_hypotheses = ceil(Fraction(log(4 * k) + nats) / success_rate)
    n_tests = ceil(8 / gamma**2 * (log(4 * k * n_hypotheses) + nats))
    accepted = max(
        n_hypotheses * n_weak + n_tests,
        Fraction(4 * (log(32 * k**2 * gamma / epsilon) + nats)),
    )
    constant = 8 * sqrt(2) * e ** (1 / 12) / sqrt(3 * pi)
    factor = Fraction(constant * k**1.5 * gamma / (epsilon * (1 - epsilon)))
    return ceil(factor * accepted)


def majority_gate_size(n_features, correlation) -> int:
    """Compute a number of functions that suffices to represent f as their majority.

    Let a set of Boolean functions have, for each distribution of the samples, a member
    h with ``E[f(x) h(x)] >= correlation``, with values -1 and +1. Then f is the
    majority of this number of its members, some perhaps more than once.

    Parameters
    ----------
    n_features : int
        Number of Boolean features n, at least 1.
    correlation : real number
        The distribution-free correlation D of f and the set, above 0 and at most 1.

    Returns
    -------
    n_gates : int
        The least odd number above ``2 ln(2) n / D**2``, exact for numbers of any size.

    Raises
    ------
    ValueError
        If an argument is not a number of its kind or is out of range.

    See Also
    --------
    min_rounds : A smaller number, for ``gamma=correlation / 2, error=2**-n_features``.

    Notes
    -----
    If the correlation is below ``1 / k`` for some distribution, no majority
    of k members represents f (Lemma 2.2.6).

    References
    ----------
    .. [1] Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for
       Machine Learning. PhD thesis, University of California, Santa Cruz, Theorem
       2.2.5 (due to R. E. Schapire).
    .. [2] M. Goldmann, J. Håstad, A. Razborov (1992). Majority Gates vs. General
       Weighted Threshold Gates. Computational Complexity 2, 277-300.

    Examples
    --------
    >>> from sklboolean.theory import majority_gate_size, min_rounds
    >>> majority_gate_size(10, correlation=0.2)
    347
    >>> min_rounds(gamma=0.1, error=2**-10)
    235
    """
    n_features = as_integer(n_features, "n_features", at_least=1)
    correlation = as_fraction(correlation, "correlation", above=0, at_most=1)
    gates_per_nat = 2 * n_features / correlation**2
    # ln 2 is irrational, so the product is no integer; these digits decide which is
    # next.
    digits = 60 + gates_per_nat.denominator.bit_length()
    return ceil(gates_per_nat * natural_log(2, digits)) | 1
