"""Exact learning of a conjunction: from queries, a teaching set or random examples.

The oracle is a function that tells whether a sample satisfies the hidden conjunction.
Each learner counts the samples it needed.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sklboolean._core.bits import unpack_words
from sklboolean._core.data_errors import check_n_features
from sklboolean._core.formulas import formula_text
from sklboolean._core.parameters import check_integer, check_real
from sklboolean._core.validation import check_boolean_array


@dataclass(frozen=True)
class LearnedConjunction:
    """A conjunction and the number of samples used to learn it.

    Parameters
    ----------
    positive : ndarray of int
        Features that must be true.
    negative : ndarray of int
        Features that must be false.
    n_features : int
        Number of features.
    n_examples : int
        Number of labelled samples that were used.

    Examples
    --------
    >>> from sklboolean.concepts import learn_conjunction_by_queries
    >>> learned = learn_conjunction_by_queries(lambda row: row[1] and row[2], 4)
    >>> learned
    LearnedConjunction('x1 and x2', n_examples=4)
    >>> learned.holds([[1, 1, 1, 0], [1, 0, 1, 0]])
    array([ True, False])
    """

    positive: np.ndarray
    negative: np.ndarray
    n_features: int
    n_examples: int

    def holds(self, X) -> np.ndarray:
        """Test which samples satisfy the conjunction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of zeros and ones.

        Returns
        -------
        holds : ndarray of shape (n_samples,), dtype bool
            True where all literals hold.
        """
        X = unpack_words(*check_boolean_array(np.asarray(X), "X")).astype(bool)
        check_n_features(X.shape[1], self.n_features, "the conjunction has")
        return X[:, self.positive].all(axis=1) & ~X[:, self.negative].any(axis=1)

    def __repr__(self):
        literals = np.zeros(2 * self.n_features, dtype=bool)
        literals[self.positive] = True
        literals[self.n_features + self.negative] = True
        names = [f"x{j}" for j in range(self.n_features)]
        text = formula_text(literals, names)
        return f"LearnedConjunction({text!r}, n_examples={self.n_examples})"


# n queries: flipping one bit of an accepted sample is rejected exactly if a literal of
# the conjunction is on that bit (Angluin 1988).
def learn_conjunction_by_queries(oracle, n_features, *, positive_example=None):
    """Learn a conjunction from membership queries.

    One feature of an accepted sample is flipped at a time. If the flipped sample is
    rejected, the literal belongs to the conjunction.

    Parameters
    ----------
    oracle : callable
        Takes a sample, a bool array of shape (n_features,), and returns whether it
        satisfies the hidden conjunction.
    n_features : int
        Number of features, at least 1.
    positive_example : array-like of shape (n_features,), default=None
        A sample of zeros and ones that is accepted. None: the sample of ones, which any
        conjunction without negations accepts. Negations can be learned only from an
        example in which they hold.

    Returns
    -------
    learned : LearnedConjunction
        The hidden conjunction itself, after ``n_features`` queries.

    Raises
    ------
    ValueError
        If the oracle rejects every flipped sample and the example itself.

    References
    ----------
    .. [1] D. Angluin (1988). Queries and Concept Learning. Machine Learning 2, 319-342.

    Examples
    --------
    >>> from sklboolean.concepts import learn_conjunction_by_queries
    >>> learn_conjunction_by_queries(lambda row: row[0] and row[99], 100)
    LearnedConjunction('x0 and x99', n_examples=100)
    >>> learn_conjunction_by_queries(
    ...     lambda row: row[0] and not row[2], 3, positive_example=[1, 0, 0]
    ... )
    LearnedConjunction('x0 and not x2', n_examples=3)
    """
    n = check_integer(n_features, "n_features", 1)
    start = _as_row(positive_example, n)
    needed = np.zeros(n, dtype=bool)
    for feature in range(n):
        row = start.copy()
        row[feature] = not row[feature]
        needed[feature] = not _ask(oracle, row)
    # All features are needed only if the example was not accepted, or has them all.
    # One more query tells, in that case only.
    if needed.all() and not _ask(oracle, start.copy()):
        raise ValueError(
            "The oracle rejects the first sample. A conjunction with negations needs "
            "positive_example, a sample that it accepts."
        )
    return LearnedConjunction(
        np.flatnonzero(needed & start), np.flatnonzero(needed & ~start), n, n
    )


# Two accepted samples that differ in all free features, and for each literal a sample
# in which it alone is false: k + 2 labels that no other conjunction fits.
def teaching_set(positive, negative, n_features) -> tuple[np.ndarray, np.ndarray]:
    """Choose samples that teach a conjunction.

    Two samples that satisfy it and differ in all other features exclude every other
    literal. One sample for each literal shows that it is needed. A conjunction known to
    have no negations needs only the first of the two.

    Parameters
    ----------
    positive, negative : array-like of int
        Features that must be true, and that must be false.
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    X : ndarray of shape (n_literals + 2, n_features), dtype bool
        First two samples that satisfy the conjunction (other features false, then
        true), then for each literal a sample that only this literal rejects.
    y : ndarray of shape (n_literals + 2,), dtype bool
        Their labels.

    Raises
    ------
    ValueError
        If a feature is out of range, or both positive and negative.

    References
    ----------
    .. [1] S. A. Goldman, M. J. Kearns (1995). On the Complexity of Teaching. Journal of
       Computer and System Sciences 50(1), 20-31.

    Examples
    --------
    >>> from sklboolean.concepts import teaching_set
    >>> X, y = teaching_set(positive=[0], negative=[2], n_features=4)
    >>> X.astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 1],
           [0, 0, 0, 0],
           [1, 0, 1, 0]])
    >>> y.astype(int)
    array([1, 1, 0, 0])
    """
    n = check_integer(n_features, "n_features", 1)
    needed = np.zeros(n, dtype=bool)
    needed_value = np.zeros(n, dtype=bool)
    for name, features, value in (("positive", positive, 1), ("negative", negative, 0)):
        for feature in features:
            j = check_integer(feature, f"a feature in {name}", 0, n - 1)
            if needed[j] and needed_value[j] != value:
                raise ValueError(f"Feature {j} is both positive and negative.")
            needed[j], needed_value[j] = True, value
    accepted = np.stack([needed & needed_value, ~needed | needed_value])
    rejected = np.repeat(accepted[:1], needed.sum(), axis=0)
    rejected[np.arange(len(rejected)), np.flatnonzero(needed)] ^= True
    return np.vstack([accepted, rejected]), np.arange(len(rejected) + 2) < 2


def learn_conjunction_from_teacher(X, y) -> "LearnedConjunction":
    """Learn a conjunction from the samples of a teacher.

    A literal is kept if a rejected sample differs from an accepted one in that feature
    alone. With a `teaching_set` these are the literals of the conjunction.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples of zeros and ones.
    y : array-like of shape (n_samples,)
        Whether each sample satisfies the conjunction.

    Returns
    -------
    learned : LearnedConjunction
        The literals that the samples prove to be needed.

    Raises
    ------
    ValueError
        If no sample is accepted, or if a literal remains open: all accepted samples
        have it, and no rejected sample proves it.

    References
    ----------
    .. [1] S. A. Goldman, M. J. Kearns (1995). On the Complexity of Teaching. Journal of
       Computer and System Sciences 50(1), 20-31.

    Examples
    --------
    >>> from sklboolean.concepts import learn_conjunction_from_teacher, teaching_set
    >>> X, y = teaching_set(positive=[1, 2, 3, 4, 99], negative=[], n_features=100)
    >>> learn_conjunction_from_teacher(X, y)
    LearnedConjunction('x1 and x2 and x3 and x4 and x99', n_examples=7)
    """
    X, y = np.asarray(X, dtype=bool), np.asarray(y, dtype=bool)
    if X.ndim != 2 or y.shape != (len(X),) or not y.any():
        raise ValueError(
            "X must have two dimensions and y one label for each sample, with at "
            "least one sample accepted."
        )
    accepted = X[y]
    possible = (accepted == accepted[0]).all(axis=0)
    needed = np.zeros(X.shape[1], dtype=bool)
    for row in X[~y]:
        # A literal is shared by all accepted samples.
        differs = (row != accepted[0]) & possible
        if differs.sum() == 1:
            needed |= differs
    if (possible & ~needed).any():
        open_features = np.flatnonzero(possible & ~needed).tolist()
        raise ValueError(
            f"The samples do not determine whether features {open_features} belong to "
            "the conjunction: add an accepted sample without the literal, or a "
            "rejected one that lacks only this literal."
        )
    value = accepted[0]
    positive, negative = np.flatnonzero(needed & value), np.flatnonzero(needed & ~value)
    return LearnedConjunction(positive, negative, X.shape[1], len(X))


def learn_conjunction_from_examples(
    oracle, draw, n_features, n_examples, *, random_state=None
) -> "LearnedConjunction":
    """Learn a conjunction from random samples (elimination).

    Parameters
    ----------
    oracle : callable
        Takes a sample, a bool array of shape (n_features,), and returns whether it
        satisfies the hidden conjunction.
    draw : callable or float
        Takes a RandomState and returns a sample; or the probability of a 1 in each
        feature.
    n_features : int
        Number of features, at least 1.
    n_examples : int
        Number of samples to draw, 1 to 10**9. `sklboolean.theory.sample_complexity`
        computes how many are enough.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples.

    Returns
    -------
    learned : LearnedConjunction
        The longest conjunction that accepts every accepted sample. It contains the
        hidden one, so it errs only on samples that the hidden one accepts. If no sample
        was accepted, it has every literal and accepts nothing.

    Raises
    ------
    ValueError
        If ``draw`` is a number outside 0 to 1 or returns samples of another length.

    References
    ----------
    .. [1] L. G. Valiant (1984). A Theory of the Learnable. Communications of the ACM
       27(11), 1134-1142.

    Examples
    --------
    >>> from sklboolean.concepts import learn_conjunction_from_examples
    >>> learn_conjunction_from_examples(
    ...     lambda row: row[1] and row[2], 0.7, 8, 100, random_state=0
    ... )
    LearnedConjunction('x1 and x2', n_examples=100)
    """
    n = check_integer(n_features, "n_features", 1)
    n_examples = check_integer(n_examples, "n_examples", 1, 10**9)
    rng = check_random_state(random_state)
    if not callable(draw):
        probability = check_real(draw, "draw", 0, 1)

        def draw(rng):
            return rng.random_sample(n) < probability

    # As in `ConjunctionClassifier`: accepted samples remove the literals false in them.
    true, false = np.ones(n, dtype=bool), np.ones(n, dtype=bool)
    for _example in range(n_examples):
        row = _as_row(draw(rng), n, "draw")
        if _ask(oracle, row.copy()):
            true &= row
            false &= ~row
    return LearnedConjunction(
        np.flatnonzero(true), np.flatnonzero(false), n, n_examples
    )


def _ask(oracle, row):
    return bool(oracle(row))


def _as_row(row, n_features, name="positive_example"):
    if row is None:
        return np.ones(n_features, dtype=bool)
    row = np.asarray(row)
    if row.shape != (n_features,) or not np.isin(row, (0, 1)).all():
        raise ValueError(f"{name} must give {n_features} values, all 0 or 1.")
    return row.astype(bool)
