"""The majority game itself, between a weightor and a chooser on a divisible space."""

import numpy as np

from sklboolean._core.validation import check_choice
from sklboolean.boosting._majority_game import (
    check_game,
    majority_potentials,
    majority_weights,
)


def play_majority_game(weightor, chooser, *, k, gamma):
    """Play the game that boosting a weak learner by majority amounts to.

    In each round the weightor gives weights to the points of a space and the chooser
    marks points that have at least ``1/2 + gamma`` of the weight. At the end the points
    that are marked in at most half of the rounds are lost. In boosting the points are
    examples, and a hypothesis marks those about which it is right.

    The space is divisible: any fraction of the points of a state can be marked.

    Parameters
    ----------
    weightor : {"majority", "uniform"} or callable
        Who weighs: boost-by-majority, or each point as at the start. A callable
        ``weightor(k, i, gamma, values)`` returns an array of shape ``(i + 1,)``, the
        weights of the points marked 0, 1, ..., i times so far, up to a factor, not
        negative. ``values`` has the same shape and holds their share of the space.
    chooser : {"iid", "richest", "poorest", "adversarial"} or callable
        Who marks. "iid" marks the fraction ``1/2 + gamma`` of each state; "richest"
        fills up with those marked most often so far and "poorest" with those marked
        least; "adversarial" with those whose marks lower the potential least for their
        weight, which looks one round ahead only. All mark the least weight allowed. A
        callable ``chooser(k, i, gamma, values, weights)`` returns an array of the same
        shape, the fraction of each state that is marked; ``weights`` sum to 1.
    k : int
        Number of rounds, odd.
    gamma : float
        The weight to be marked beyond one half, above 0 and below 0.5.

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
    Against "majority" each chooser that marks just ``1/2 + gamma`` ends with the same
    loss, the binomial tail that is the potential at the start, and more marks lower it:
    the weights make up for whatever the chooser prefers (Lemma 2.3.8). "iid" has that
    loss against all weightors, so that none does better (section 2.2.1), and
    "adversarial" has no less.

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
    values = np.ones(1)
    potentials = np.full(k + 1, majority_potentials(k, 0, gamma)[0])
    for i in range(k):
        if not (values @ (majority_weights(k, i, gamma, log=True) > -np.inf)):
            potentials[i + 1 :] = potentials[i]  # all is decided
            break
        weights = _checked_weights(weigh(k, i, gamma, values), i)
        marked = mark(k, i, gamma, values, weights)
        marked = values * _checked_fractions(marked, weights, i, gamma)
        values = np.append(values - marked, 0.0) + np.insert(marked, 0, 0.0)
        potentials[i + 1] = values @ majority_potentials(k, i + 1, gamma)
    return float(potentials[-1]), potentials


def weigh_by_majority(k, i, gamma, values):
    """Weigh states as boost-by-majority does."""
    # Scaled only after the values are counted in: a state that is almost empty must not
    # push the rest out of the range of floats.
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
    """Mark those with most marks first."""
    return _mark_in_order(np.arange(i + 1)[::-1], gamma, weights)


def mark_poorest(k, i, gamma, values, weights):
    """Mark those with fewest marks first."""
    return _mark_in_order(np.arange(i + 1), gamma, weights)


def mark_adversarially(k, i, gamma, values, weights):
    """Mark first where a mark lowers the potential least for the weight it has."""
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
    """Mark states in an order until their weight is ``1/2 + gamma``, none without."""
    fractions = np.zeros(len(weights))
    order = order[weights[order] > 0]
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
            f"weightor must return {i + 1} numbers after {i} rounds, finite, not "
            "negative and not all 0, one for each number of marks."
        )
    return weights / total


def _checked_fractions(fractions, weights, i, gamma):
    fractions = np.asarray(fractions, dtype=np.float64)
    if fractions.shape != (i + 1,) or not ((fractions >= 0) & (fractions <= 1)).all():
        raise ValueError(
            f"chooser must return {i + 1} fractions after {i} rounds, from 0 to 1, one "
            "for each number of marks."
        )
    if weights @ fractions < 0.5 + gamma - 1e-12:
        raise ValueError(
            f"chooser must mark at least {0.5 + gamma} of the weight; it marked "
            f"{weights @ fractions} after {i} rounds."
        )
    return fractions
