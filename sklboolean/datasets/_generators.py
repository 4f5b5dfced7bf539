"""Random Boolean samples with a known labelling rule, and label noise."""

from math import comb, log
from numbers import Integral, Real

import numpy as np
from scipy.special import betaincinv
from sklearn.utils import check_random_state, check_scalar, column_or_1d

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


N_FIRST, N_LAST = 11, 10
N_RIGHT_FIRST, N_RIGHT_LAST = 5, 6


def flip_labels(y, noise, *, exact=False, classes=None, random_state=None):
    """Exchange labels for wrong ones, whatever the rows.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any kind.
    noise : float
        Probability that a label becomes another one, in [0, 1]; each of the other
        classes is as likely.
    exact : bool, default=False
        Exchange exactly ``round(n_samples * noise)`` labels, chosen at random, instead
        of each one independently.
    classes : array-like of shape (n_classes,) or None, default=None
        All labels, which the result takes its dtype from. None: those in ``y``.
    random_state : int, RandomState instance or None, default=None
        Source of randomness; an int gives the same noise each time.

    Returns
    -------
    noisy : ndarray of shape (n_samples,)
        The labels after the noise; with the same ``random_state``, those that a smaller
        ``noise`` exchanges are among those of a larger one.

    Raises
    ------
    ValueError
        If ``noise`` is out of range, if the only class is to be exchanged, if a label
        is not among ``classes``, or if one is NaN or infinite.

    References
    ----------
    .. [1] D. Angluin, P. Laird (1988). Learning From Noisy Examples. Machine Learning
       2(4), 343-370.

    Examples
    --------
    >>> from sklboolean.datasets import flip_labels
    >>> flip_labels(["a", "b", "b", "a"], 0.5, exact=True, random_state=0)
    array(['a', 'b', 'a', 'b'], dtype='<U1')
    """
    check_scalar(noise, "noise", Real)
    if not 0 <= noise <= 1:  # check_scalar's own bounds would let NaN through
        raise ValueError(f"noise must lie in [0, 1]; got {noise}.")
    y = _as_labels(y, "y")
    known, codes = _encode(y, classes)
    rng = check_random_state(random_state)
    if exact:
        chosen = rng.permutation(len(y))[: round(len(y) * noise)]
    else:
        chosen = np.flatnonzero(rng.random_sample(len(y)) < noise)
    if len(chosen) and len(known) < 2:
        raise ValueError(
            f"There is only one class, {known.tolist()[0]!r}; give the other ones in "
            "classes."
        )
    steps = np.ones(len(y), dtype=np.intp)
    if len(known) > 2:
        steps = rng.randint(1, len(known), size=len(y))
    codes[chosen] = (codes[chosen] + steps[chosen]) % len(known)
    return known[codes]


def _as_labels(labels, name):
    labels = column_or_1d(labels)
    finite = labels.dtype.kind != "f" or np.isfinite(labels).all()
    if not finite or (labels.dtype.kind == "O" and not all(map(_is_label, labels))):
        raise ValueError(
            f"{name} must not hold NaN or infinity, nor None: they are no labels."
        )
    return labels


def _is_label(value):
    """Return whether a value equals itself, which what is missing does not."""
    try:
        return value is not None and bool(value == value)
    except (TypeError, ArithmeticError):  # pandas' NA, signalling NaN of decimal
        return False
    except ValueError:  # an array, of which np.unique complains
        return True


def _encode(y, classes):
    """Return all classes, sorted, and the index of each label."""
    if classes is None:
        try:
            return np.unique(y, return_inverse=True)
        except TypeError as error:
            raise ValueError("y mixes labels that have no order.") from error
    known = np.unique(_as_labels(classes, "classes"))
    if not len(known):
        raise ValueError("classes holds no labels; give all that can occur.")
    codes = np.searchsorted(known, y)
    codes[codes == len(known)] = 0
    unknown = y[known[codes] != y]
    if len(unknown):
        raise ValueError(
            f"y holds the label {unknown.tolist()[0]!r}, which is not among classes."
        )
    return known, codes


def make_long_servedio(n_samples=1000, *, noise=0.0, random_state=None):
    """Draw the rows on which label noise defeats boosting by any convex potential.

    Of 21 features the majority has the label's value, always. A quarter of the rows has
    it in all features (large margin), a quarter in the first 11 only (pullers), and
    half of the rows in 5 of the first 11 and in 6 of the last 10, chosen at random
    (penalizers).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.0
        Probability that a label is flipped, each one independently, in [0, 1]. It does
        not change the rows that a ``random_state`` gives.
    random_state : int, RandomState instance or None, default=None
        Source of randomness; an int gives the same sample each time.

    Returns
    -------
    X : ndarray of shape (n_samples, 21), dtype uint8
        The rows, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        1 where at least 11 features are 1, else 0, after the noise.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Without noise boosters learn the sample. With a little of it those that descend a
    convex potential over single features, early stopped or not, trust the first 11
    features too much: AdaBoost is wrong on half of the penalizers, a quarter of all
    rows. Boosting by majority gives up on rows that too many hypotheses were wrong
    about.

    References
    ----------
    .. [1] P. M. Long, R. A. Servedio (2010). Random Classification Noise Defeats All
       Convex Potential Boosters. Machine Learning 78(3), 287-304.

    Examples
    --------
    >>> from sklboolean.datasets import make_long_servedio
    >>> X, y = make_long_servedio(500, random_state=0)
    >>> bool(((X.sum(axis=1) > 10) == y).all())
    True
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    rng = check_random_state(random_state)
    y = rng.randint(2, size=n_samples)
    kinds = rng.randint(4, size=n_samples)
    order_of_first = rng.random_sample((n_samples, N_FIRST)).argsort(axis=1)
    order_of_last = rng.random_sample((n_samples, N_LAST)).argsort(axis=1)
    penalizer = np.hstack(
        [order_of_first < N_RIGHT_FIRST, order_of_last < N_RIGHT_LAST]
    )
    puller = np.arange(N_FIRST + N_LAST) < N_FIRST
    right = np.where((kinds == 1)[:, np.newaxis], puller, penalizer)
    right[kinds == 0] = True
    X = (right == (y == 1)[:, np.newaxis]).astype(np.uint8)
    y = y.astype(np.int64)
    return X, flip_labels(y, noise, classes=[0, 1], random_state=rng)


class BooleanChain:
    """A stationary Markov chain along Boolean features.

    Feature ``j`` repeats feature ``j - 1`` with probability ``correlation`` and is
    drawn afresh otherwise, true with probability ``density``.
    """

    def __init__(self, n_features, density, correlation=0.0):
        self.n_features = n_features
        self.density = density
        self.correlation = correlation

    def draw(self, n_samples, rng, term=()):
        """Return 0/1 rows drawn from the chain given that ``term`` is true."""
        X = np.empty((n_samples, self.n_features), dtype=np.uint8)
        waiting = sorted(term, reverse=True)
        for j in range(self.n_features):
            if waiting and waiting[-1][0] == j:
                X[:, j] = waiting.pop()[1]
                continue
            chance = self._reach(X[:, j - 1], 1, steps=1) if j else self.density
            if waiting:
                # Bayes: weigh both values by their chance to reach the next literal.
                k, value = waiting[-1]
                yes = chance * self._reach(1, value, steps=k - j)
                no = (1 - chance) * self._reach(0, value, steps=k - j)
                chance = yes / (yes + no)
            X[:, j] = rng.random_sample(n_samples) < chance
        return X

    def log_probability(self, term):
        """Return the log-probability that ``term`` is true."""
        (first, value), *others = sorted(term)
        total = log(self.density if value else 1 - self.density)
        for feature, next_value in others:
            total += log(self._reach(value, next_value, steps=feature - first))
            first, value = feature, next_value
        return total

    def _reach(self, start, end, steps):
        """Return the chance of the value ``end`` so many ``steps`` after ``start``."""
        repeated = self.correlation**steps
        fresh = self.density if end else 1 - self.density
        return repeated * (start == end) + (1 - repeated) * fresh


def count_satisfied(X, terms):
    """Return how many of the ``terms`` each row satisfies."""
    counts = np.zeros(len(X), dtype=np.int64)
    for term in terms:
        features, values = map(list, zip(*term, strict=True))
        counts += (X[:, features] == values).all(axis=1)
    return counts


def draw_satisfying(n_samples, terms, chain, rng):
    """Return rows drawn from the chain given that some term is true."""
    log_p = np.array([chain.log_probability(term) for term in terms])
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    kept = [chain.draw(0, rng)]
    n_kept = 0
    while n_kept < n_samples:
        # A row comes up once for each term that it satisfies; keep one in so many.
        # The rows come term by term: mix them, so that any cut is fair.
        shares = rng.multinomial(max(1000, n_samples - n_kept), p)
        drawn = [chain.draw(shares[i], rng, terms[i]) for i in np.flatnonzero(shares)]
        X = rng.permutation(np.vstack(drawn))
        X = X[rng.random_sample(len(X)) * count_satisfied(X, terms) < 1]
        kept.append(X)
        n_kept += len(X)
    return np.vstack(kept)[:n_samples]


def draw_falsifying(n_samples, terms, chain, rng):
    """Return rows drawn from the chain given that no term is true."""
    kept = [chain.draw(0, rng)]
    n_kept = n_drawn = 0
    while n_kept < n_samples:
        X = chain.draw(max(1000, n_samples - n_kept), rng)
        n_drawn += len(X)
        X = X[count_satisfied(X, terms) == 0]
        kept.append(X)
        n_kept += len(X)
        if n_drawn >= 10_000 and n_kept < n_drawn / 1000:
            raise ValueError(
                f"positive_fraction leaves {n_samples} negative rows, but fewer "
                "than one row in 1000 falsifies the DNF: raise n_literals or "
                "positive_fraction, or lower n_terms."
            )
    return np.vstack(kept)[:n_samples]
