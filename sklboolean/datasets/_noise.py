"""Label noise, and the sample on which it defeats boosters."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state, check_scalar, column_or_1d

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
