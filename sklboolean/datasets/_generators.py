"""Random Boolean samples whose labelling rule is known."""

from math import comb
from numbers import Integral, Real

import numpy as np
from scipy.special import betaincinv
from sklearn.utils import check_random_state, check_scalar

from sklboolean.datasets._chain import (
    BooleanChain,
    count_satisfied,
    draw_falsifying,
    draw_satisfying,
)
from sklboolean.datasets._noise import flip_labels

MOST = 2**62  # what an index of NumPy holds


def make_dnf(
    n_samples=1000,
    n_features=50,
    *,
    n_terms=4,
    n_literals=3,
    noise=0.0,
    correlation=0.0,
    monotone=False,
    density=0.5,
    positive_fraction=None,
    random_state=None,
):
    """Label random Boolean rows by a random DNF: an OR of ANDs.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=50
        Number of Boolean features.
    n_terms : int, default=4
        Number of conjunctions in the DNF; all of them differ.
    n_literals : int, default=3
        Number of literals in each conjunction, over different features. No feature
        occurs in two terms as long as ``n_terms * n_literals <= n_features``.
    noise : float, default=0.0
        Probability that a label is flipped, each one independently, in [0, 1]. It
        changes neither the rows nor the terms that a ``random_state`` gives.
    correlation : float, default=0.0
        Correlation of neighbouring features, in [0, 1). Each row is a stationary
        Markov chain along the features: feature ``j`` repeats feature ``j - 1`` with
        this probability and is drawn afresh otherwise, so that features ``i`` and
        ``j`` have correlation ``correlation ** abs(i - j)``.
    monotone : bool, default=False
        Whether all literals are positive. Otherwise a fair coin negates each.
    density : float, default=0.5
        Probability that a feature is true, in (0, 1).
    positive_fraction : float or None, default=None
        Share of rows that satisfy the DNF, in [0, 1]: exactly
        ``round(n_samples * positive_fraction)`` of them, before the noise. Long terms
        are almost never satisfied by chance, and many short ones almost always.
        None leaves the share to chance; with disjoint terms and independent features
        of density 1/2 it is ``1 - (1 - 2 ** -n_literals) ** n_terms`` on average.
    random_state : int, RandomState instance or None, default=None
        Source of randomness; an int gives the same sample each time.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype uint8
        The rows, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        1 where the row satisfies a term, else 0, after the noise.
    terms : list of n_terms tuples
        Each a tuple of ``n_literals`` pairs ``(feature, value)``, an int and a bool,
        sorted by feature: the term is true where all these features have their value.

    Raises
    ------
    ValueError
        If an argument is out of range, if there are fewer than ``n_terms`` different
        terms, or if ``positive_fraction`` asks for negative rows of a DNF that nearly
        every row satisfies.

    Notes
    -----
    With ``positive_fraction`` the positive rows follow the distribution of the chain
    given that the DNF is true, however rare that is, and the negative rows the one
    given that it is false. Positive rows: pick a term in proportion to its
    probability, draw a row given the term, and accept it with probability one over
    the number of terms that it satisfies [2]_.

    References
    ----------
    .. [1] R. Khardon, D. Roth, R. Servedio (2001). Efficiency versus Convergence of
       Boolean Kernels for On-Line Learning Algorithms. NIPS 14.
    .. [2] R. M. Karp, M. Luby, N. Madras (1989). Monte-Carlo Approximation Algorithms
       for Enumeration Problems. Journal of Algorithms 10(3), 429-448.

    Examples
    --------
    >>> from sklboolean.datasets import make_dnf
    >>> X, y, terms = make_dnf(200, 6, n_terms=2, n_literals=2, random_state=0)
    >>> X.shape, y.shape, len(terms)
    ((200, 6), (200,), 2)
    >>> by_hand = [any(all(x[j] == v for j, v in term) for term in terms) for x in X]
    >>> bool((y == by_hand).all())
    True
    """
    n_samples, n_features, n_terms, n_literals = _checked_sizes(
        n_samples, n_features, n_terms=n_terms, n_literals=n_literals
    )
    _check_interval(noise, "noise", "[0, 1]")
    _check_interval(density, "density", "(0, 1)")
    _check_interval(correlation, "correlation", "[0, 1)")
    if positive_fraction is not None:
        _check_interval(positive_fraction, "positive_fraction", "[0, 1]")
    _check_enough_terms(n_terms, n_literals, n_features, monotone)

    rng = check_random_state(random_state)
    terms = _draw_terms(n_terms, n_literals, n_features, monotone, rng)
    chain = BooleanChain(n_features, density, correlation)
    if positive_fraction is None:
        X = chain.draw(n_samples, rng)
    else:
        n_positive = round(n_samples * positive_fraction)
        positive = draw_satisfying(n_positive, terms, chain, rng)
        negative = draw_falsifying(n_samples - n_positive, terms, chain, rng)
        X = np.vstack([positive, negative])[rng.permutation(n_samples)]
    y = count_satisfied(X, terms) > 0
    y = flip_labels(y.astype(np.int64), noise, classes=[0, 1], random_state=rng)
    return X, y, terms


def make_threshold(
    n_samples=1000,
    n_features=50,
    *,
    n_relevant=9,
    threshold=None,
    density=None,
    noise=0.0,
    random_state=None,
):
    """Label random Boolean rows by "at least r of k features are true".

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=50
        Number of Boolean features, drawn independently.
    n_relevant : int, default=9
        How many features, chosen at random, the label depends on: k.
    threshold : int or None, default=None
        How many of them must be true: r, from 1 (a disjunction) to ``n_relevant``
        (a conjunction). None means at least half of them, ``(n_relevant + 1) // 2``.
    density : float or None, default=None
        Probability that a feature is true, in (0, 1). None means the density with
        which half of the rows are positive on average.
    noise : float, default=0.0
        Probability that a label is flipped, each one independently, in [0, 1].
    random_state : int, RandomState instance or None, default=None
        Source of randomness; an int gives the same sample each time.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype uint8
        The rows, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        1 where at least ``threshold`` relevant features are true, else 0, after the
        noise.
    relevant : ndarray of shape (n_relevant,), dtype int64
        The relevant features, sorted.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] N. Littlestone (1988). Learning Quickly When Irrelevant Attributes Abound:
       A New Linear-Threshold Algorithm. Machine Learning 2(4), 285-318.

    Examples
    --------
    >>> from sklboolean.datasets import make_threshold
    >>> X, y, relevant = make_threshold(
    ...     100, 20, n_relevant=5, threshold=2, random_state=0
    ... )
    >>> bool(((X[:, relevant].sum(axis=1) >= 2) == y).all())
    True
    """
    n_samples, n_features, n_relevant = _checked_sizes(
        n_samples, n_features, n_relevant=n_relevant
    )
    _check_interval(noise, "noise", "[0, 1]")
    if n_relevant > n_features:
        raise ValueError(
            f"n_relevant must be at most n_features={n_features}; got {n_relevant}."
        )
    if threshold is None:
        threshold = (n_relevant + 1) // 2
    threshold = _checked_size(threshold, "threshold", n_relevant)
    if density is None:
        # P[Binomial(k, p) >= r] is the incomplete beta function I_p(r, k - r + 1).
        density = float(betaincinv(threshold, n_relevant - threshold + 1, 0.5))
    _check_interval(density, "density", "(0, 1)")

    rng = check_random_state(random_state)
    relevant = np.sort(rng.permutation(n_features)[:n_relevant]).astype(np.int64)
    X = BooleanChain(n_features, density).draw(n_samples, rng)
    y = X[:, relevant].sum(axis=1, dtype=np.int64) >= threshold
    y = flip_labels(y.astype(np.int64), noise, classes=[0, 1], random_state=rng)
    return X, y, relevant


def make_disjunction(
    n_samples=1000,
    n_features=50,
    *,
    n_relevant=5,
    density=None,
    noise=0.0,
    random_state=None,
):
    """Label random Boolean rows by an OR of a few features.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=50
        Number of Boolean features, drawn independently.
    n_relevant : int, default=5
        How many features, chosen at random, the disjunction holds.
    density : float or None, default=None
        Probability that a feature is true, in (0, 1). None means
        ``1 - 2 ** (-1 / n_relevant)``: half of the rows are positive on average.
    noise : float, default=0.0
        Probability that a label is flipped, each one independently, in [0, 1].
    random_state : int, RandomState instance or None, default=None
        Source of randomness; an int gives the same sample each time.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype uint8
        The rows, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        1 where a relevant feature is true, else 0, after the noise.
    relevant : ndarray of shape (n_relevant,), dtype int64
        The relevant features, sorted.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] N. Littlestone (1988). Learning Quickly When Irrelevant Attributes Abound:
       A New Linear-Threshold Algorithm. Machine Learning 2(4), 285-318.

    Examples
    --------
    >>> from sklboolean.datasets import make_disjunction
    >>> X, y, relevant = make_disjunction(100, 1000, n_relevant=3, random_state=0)
    >>> bool((X[:, relevant].any(axis=1) == y).all())
    True
    """
    return make_threshold(
        n_samples,
        n_features,
        n_relevant=n_relevant,
        threshold=1,
        density=density,
        noise=noise,
        random_state=random_state,
    )


def _checked_sizes(n_samples, n_features, **sizes):
    sizes = {"n_samples": n_samples, "n_features": n_features, **sizes}
    return [_checked_size(size, name, MOST) for name, size in sizes.items()]


def _checked_size(size, name, most):
    return int(check_scalar(size, name, Integral, min_val=1, max_val=most))


def _check_interval(value, name, interval):
    check_scalar(value, name, Real)
    above = value >= 0 if interval[0] == "[" else value > 0
    below = value <= 1 if interval[-1] == "]" else value < 1
    if not (above and below):  # check_scalar's own bounds would let NaN through
        raise ValueError(f"{name} must lie in {interval}; got {value}.")


def _check_enough_terms(n_terms, n_literals, n_features, monotone):
    if n_literals > n_features:
        raise ValueError(
            f"n_literals must be at most n_features={n_features}; got {n_literals}."
        )
    # Beyond the bits of n_terms there are signs enough, and 2**n_literals may be huge.
    n_bits = min(n_literals, n_terms.bit_length())
    n_possible = comb(n_features, n_literals) * (1 if monotone else 2**n_bits)
    if n_terms > n_possible:
        raise ValueError(
            f"n_terms must be at most {n_possible}, the number of different terms of "
            f"{n_literals} literals over {n_features} features; got {n_terms}."
        )


def _draw_terms(n_terms, n_literals, n_features, monotone, rng):
    """Return different terms that share features only when there are too few."""
    terms, unused = [], []
    while len(terms) < n_terms:
        if len(unused) < n_literals:
            again = rng.permutation(n_features).tolist()
            unused += [feature for feature in again if feature not in unused]
        chosen, unused = sorted(unused[:n_literals]), unused[n_literals:]
        values = rng.randint(2, size=n_literals).astype(bool) | bool(monotone)
        term = tuple(zip(chosen, values.tolist(), strict=True))
        if term not in terms:
            terms.append(term)
    return terms
