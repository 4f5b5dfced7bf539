"""Random Boolean samples with a known labelling rule, and label noise."""

# Generators draw in one order whatever the other arguments are: for a seed, a small
# noise flips a part of the labels that a larger noise flips, and changes no sample.

from math import comb, log
from numbers import Integral, Real

import numpy as np
from scipy.special import betaincinv
from sklearn.utils import check_random_state, check_scalar, column_or_1d

MOST = 2**62  # the largest index of NumPy


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
) -> tuple[np.ndarray, np.ndarray, list]:
    """Generate random Boolean samples labelled by a random DNF, an OR of ANDs.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples.
    n_features : int, default=50
        Number of Boolean features.
    n_terms : int, default=4
        Number of conjunctions in the DNF; all of them differ.
    n_literals : int, default=3
        Number of literals in each conjunction, over different features. No feature
        occurs in two terms if ``n_terms * n_literals <= n_features``.
    noise : float, default=0.0
        Probability, from 0 to 1, that a label is flipped, independently for each label.
        It does not change the samples and terms of a given ``random_state``.
    correlation : float, default=0.0
        Correlation of neighbouring features, in [0, 1). Each sample is a stationary
        Markov chain along the features: feature ``j`` repeats feature ``j - 1`` with
        this probability, and is drawn independently otherwise. Features ``i`` and ``j``
        have the correlation ``correlation ** abs(i - j)``.
    monotone : bool, default=False
        True: all literals are positive. False: each is negated with probability 1/2.
    density : float, default=0.5
        Probability that a feature is true, in (0, 1).
    positive_fraction : float or None, default=None
        Fraction of samples that satisfy the DNF, from 0 to 1: exactly
        ``round(n_samples * positive_fraction)`` samples, before the noise. Set it for
        long terms, which are almost never satisfied at random, or for many short ones,
        which almost always are. None: the fraction is random; with disjoint terms and
        independent features of density 1/2 its mean is
        ``1 - (1 - 2 ** -n_literals) ** n_terms``.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator. An int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype uint8
        The samples, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        Labels after the noise: 1 if the sample satisfies a term, else 0.
    terms : list of n_terms tuples
        The terms of the DNF. Each is a tuple of ``n_literals`` pairs ``(feature,
        value)``, an int and a bool, sorted by feature. The term is true if all these
        features have their value.

    Raises
    ------
    ValueError
        If an argument is out of range, if there are fewer than ``n_terms`` different
        terms, or if ``positive_fraction`` requires negative samples of a DNF that
        nearly every sample satisfies.

    Notes
    -----
    With ``positive_fraction``, positive samples are drawn from the distribution of the
    chain given that the DNF is true, and negative ones given that it is false. For a
    positive sample, a term is drawn in proportion to its probability, a sample is drawn
    given the term, and it is accepted with probability one over the number of terms
    that it satisfies [2]_.

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
        # Each class is drawn from the chain under its condition, then both are mixed.
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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate random Boolean samples labelled by "at least r of k features are true".

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples.
    n_features : int, default=50
        Number of Boolean features, drawn independently.
    n_relevant : int, default=9
        Number k of features that determine the label, chosen at random.
    threshold : int or None, default=None
        Number r of relevant features that must be true, from 1 (a disjunction) to
        ``n_relevant`` (a conjunction). None: half of them, ``(n_relevant + 1) // 2``.
    density : float or None, default=None
        Probability that a feature is true, in (0, 1). None: the density for which half
        of the samples are positive on average.
    noise : float, default=0.0
        Probability, from 0 to 1, that a label is flipped, independently for each label.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator. An int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype uint8
        The samples, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        Labels after the noise: 1 if at least ``threshold`` relevant features are true,
        else 0.
    relevant : ndarray of shape (n_relevant,), dtype int64
        Indices of the relevant features, sorted.

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
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate random Boolean samples labelled by an OR of a few features.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples.
    n_features : int, default=50
        Number of Boolean features, drawn independently.
    n_relevant : int, default=5
        Number of features in the disjunction, chosen at random.
    density : float or None, default=None
        Probability that a feature is true, in (0, 1). None:
        ``1 - 2 ** (-1 / n_relevant)``, so that half of the samples are positive on
        average.
    noise : float, default=0.0
        Probability, from 0 to 1, that a label is flipped, independently for each label.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator. An int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype uint8
        The samples, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        Labels after the noise: 1 if a relevant feature is true, else 0.
    relevant : ndarray of shape (n_relevant,), dtype int64
        Indices of the relevant features, sorted.

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
    options = {"density": density, "noise": noise, "random_state": random_state}
    return make_threshold(
        n_samples, n_features, n_relevant=n_relevant, threshold=1, **options
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
    if not (above and below):  # check_scalar would accept NaN
        raise ValueError(f"{name} must lie in {interval}; got {value}.")


def _check_enough_terms(n_terms, n_literals, n_features, monotone):
    if n_literals > n_features:
        raise ValueError(
            f"n_literals must be at most n_features={n_features}; got {n_literals}."
        )
    # With more literals than n_terms has bits there are enough signs for all terms, and
    # 2**n_literals may be huge.
    n_bits = min(n_literals, n_terms.bit_length())
    n_possible = comb(n_features, n_literals) * (1 if monotone else 2**n_bits)
    if n_terms > n_possible:
        raise ValueError(
            f"n_terms must be at most {n_possible}, the number of different terms of "
            f"{n_literals} literals over {n_features} features; got {n_terms}."
        )


def _draw_terms(n_terms, n_literals, n_features, monotone, rng):
    """Draw different terms, which share features only if there are too few."""
    terms, unused = [], []
    while len(terms) < n_terms:
        if len(unused) < n_literals:
            # Features are used up before one is used again.
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
    """Add label noise: replace labels at random by other classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any type.
    noise : float
        Probability, from 0 to 1, that a label is replaced. The new label is uniform
        among the other classes.
    exact : bool, default=False
        True: replace exactly ``round(n_samples * noise)`` labels, chosen at random.
        False: replace each label independently.
    classes : array-like of shape (n_classes,) or None, default=None
        All classes; the result has their dtype. None: the labels in ``y``.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator. An int makes the result reproducible.

    Returns
    -------
    noisy : ndarray of shape (n_samples,)
        Labels after the noise. For a given ``random_state``, the labels replaced with a
        small ``noise`` are also replaced with a larger one.

    Raises
    ------
    ValueError
        If ``noise`` is out of range, if there is only one class, if a label is not
        among ``classes``, or if a label is NaN or infinite.

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
    _check_interval(noise, "noise", "[0, 1]")
    y = _as_labels(y, "y")
    class_list, codes = _encode(y, classes)
    rng = check_random_state(random_state)
    if exact:
        chosen = rng.permutation(len(y))[: round(len(y) * noise)]
    else:
        chosen = np.flatnonzero(rng.random_sample(len(y)) < noise)
    if len(chosen) and len(class_list) < 2:
        raise ValueError(
            f"y must have two or more classes; got {class_list.tolist()[0]!r} only. "
            "Pass all labels as classes."
        )
    # A step of 1 to n_classes - 1 reaches each other class with equal probability.
    steps = np.ones(len(y), dtype=np.intp)
    if len(class_list) > 2:
        steps = rng.randint(1, len(class_list), size=len(y))
    codes[chosen] = (codes[chosen] + steps[chosen]) % len(class_list)
    return class_list[codes]


def _as_labels(labels, name):
    labels = column_or_1d(labels)
    finite = labels.dtype.kind != "f" or np.isfinite(labels).all()
    if not finite or (labels.dtype.kind == "O" and not all(map(_is_label, labels))):
        raise ValueError(
            f"{name} must not contain NaN, infinity or None, which are not labels. "
            "Remove these samples."
        )
    return labels


def _is_label(value):
    """Check that a value equals itself. Missing values do not."""
    try:
        return value is not None and bool(value == value)
    except (TypeError, ArithmeticError):  # pandas' NA, signalling NaN of decimal
        return False
    except ValueError:  # an array, for which np.unique raises an error
        return True


def _encode(y, classes):
    """Find all classes, sorted, and the index of each label."""
    if classes is None:
        try:
            return np.unique(y, return_inverse=True)
        except TypeError as error:
            raise ValueError(
                "y must have labels of one type, which can be sorted; got a mixture."
            ) from error
    given_classes = np.unique(_as_labels(classes, "classes"))
    if not len(given_classes):
        raise ValueError("classes must list all labels that can occur; got none.")
    # Labels behind the last class are compared with the first, and differ.
    codes = np.searchsorted(given_classes, y)
    codes[codes == len(given_classes)] = 0
    unknown = y[given_classes[codes] != y]
    if len(unknown):
        raise ValueError(
            f"y must contain labels among classes only; got {unknown.tolist()[0]!r}."
        )
    return given_classes, codes


def make_long_servedio(n_samples=1000, *, noise=0.0, random_state=None):
    """Generate the samples on which label noise defeats all convex potential boosters.

    The label is the majority of 21 features. A quarter of the samples has the label's
    value in all features (large margin), a quarter in the first 11 only (pullers), and
    half of the samples in 5 of the first 11 and in 6 of the last 10, chosen at random
    (penalizers).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples.
    noise : float, default=0.0
        Probability, from 0 to 1, that a label is flipped, independently for each label.
        It does not change the samples of a given ``random_state``.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator. An int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 21), dtype uint8
        The samples, 0 or 1.
    y : ndarray of shape (n_samples,), dtype int64
        Labels after the noise: 1 if at least 11 features are 1, else 0.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Without noise, boosters fit these samples. With a little noise, boosters that
    minimize a convex potential over single features give too much weight to the first
    11 features, with or without early stopping. AdaBoost misclassifies half of the
    penalizers, which is a quarter of all samples. Boosting by majority gives up on
    samples about which too many hypotheses were wrong.

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
    # 0: large margin, 1: puller, 2 and 3: penalizer.
    kinds = rng.randint(4, size=n_samples)
    # Ranks of random numbers: a random choice of so many features in each sample.
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

    Feature ``j`` repeats feature ``j - 1`` with probability ``correlation``. Otherwise
    it is drawn independently, and is true with probability ``density``.
    """

    def __init__(self, n_features, density, correlation=0.0):
        self.n_features = n_features
        self.density = density
        self.correlation = correlation

    def draw(self, n_samples, rng, term=()):
        """Draw 0/1 samples from the chain, given that ``term`` is true."""
        X = np.empty((n_samples, self.n_features), dtype=np.uint8)
        # Draw from left to right; literals that are given steer the features before
        # them.
        waiting = sorted(term, reverse=True)
        for j in range(self.n_features):
            if waiting and waiting[-1][0] == j:
                X[:, j] = waiting.pop()[1]
                continue
            p = self._transition(X[:, j - 1], 1, steps=1) if j else self.density
            if waiting:
                # Bayes: weight both values by the probability of the next literal.
                k, value = waiting[-1]
                yes = p * self._transition(1, value, steps=k - j)
                no = (1 - p) * self._transition(0, value, steps=k - j)
                p = yes / (yes + no)
            X[:, j] = rng.random_sample(n_samples) < p
        return X

    def log_probability(self, term):
        """Compute the log-probability that ``term`` is true."""
        # The chain rule, from one literal to the next.
        (first, value), *others = sorted(term)
        total = log(self.density if value else 1 - self.density)
        for feature, next_value in others:
            total += log(self._transition(value, next_value, steps=feature - first))
            first, value = feature, next_value
        return total

    def _transition(self, start, end, steps):
        """Compute the probability of the value ``end``, ``steps`` after ``start``."""
        # Either every step repeated the value before, or the last fresh draw decided.
        repeated = self.correlation**steps
        independent = self.density if end else 1 - self.density
        return repeated * (start == end) + (1 - repeated) * independent


def count_satisfied(X, terms):
    """Count the ``terms`` that each sample satisfies."""
    counts = np.zeros(len(X), dtype=np.int64)
    for term in terms:
        # A term holds where all its literals do.
        features, values = map(list, zip(*term, strict=True))
        counts += (X[:, features] == values).all(axis=1)
    return counts


def draw_satisfying(n_samples, terms, chain, rng):
    """Draw samples from the chain, given that some term is true."""
    # Logarithms: the probability of a long term underflows.
    log_p = np.array([chain.log_probability(term) for term in terms])
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    samples = [chain.draw(0, rng)]
    n_kept = 0
    while n_kept < n_samples:
        # A sample occurs once for each term that it satisfies; keep it with probability
        # one over their number. The samples are sorted by term: permute them before
        # the first n_samples are taken.
        shares = rng.multinomial(max(1000, n_samples - n_kept), p)
        drawn = [chain.draw(shares[i], rng, terms[i]) for i in np.flatnonzero(shares)]
        X = rng.permutation(np.vstack(drawn))
        X = X[rng.random_sample(len(X)) * count_satisfied(X, terms) < 1]
        samples.append(X)
        n_kept += len(X)
    return np.vstack(samples)[:n_samples]


def draw_falsifying(n_samples, terms, chain, rng):
    """Draw samples from the chain, given that no term is true."""
    samples = [chain.draw(0, rng)]
    n_kept = n_drawn = 0
    while n_kept < n_samples:
        X = chain.draw(max(1000, n_samples - n_kept), rng)
        n_drawn += len(X)
        X = X[count_satisfied(X, terms) == 0]
        samples.append(X)
        n_kept += len(X)
        if n_drawn >= 10_000 and n_kept < n_drawn / 1000:
            raise ValueError(
                f"positive_fraction requires {n_samples} negative samples, but fewer "
                "than one sample in 1000 falsifies the DNF. Raise n_literals or "
                "positive_fraction, or lower n_terms."
            )
    return np.vstack(samples)[:n_samples]
