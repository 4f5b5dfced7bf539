"""Three ways to be told about a hidden conjunction: ask, be taught, or watch.

Each function talks to an oracle, a function that says whether a row satisfies the
hidden conjunction, and counts the rows it needed.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from sklboolean._core.bits import unpack_words
from sklboolean._core.formulas import formula_text
from sklboolean._core.validation import check_boolean_array, check_integer, check_real


@dataclass(frozen=True)
class LearnedConjunction:
    """A conjunction and what it cost to learn.

    Parameters
    ----------
    positive : ndarray of int
        Features that must be true.
    negative : ndarray of int
        Features that must be false.
    n_features : int
        Features of a row.
    n_examples : int
        Labelled rows that were used.

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

    def holds(self, X):
        """Say which rows satisfy the conjunction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of zeros and ones.

        Returns
        -------
        holds : ndarray of shape (n_samples,), dtype bool
            True where all literals hold.
        """
        X = unpack_words(*check_boolean_array(np.asarray(X), "X")).astype(bool)
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features; the conjunction has {self.n_features}."
            )
        return X[:, self.positive].all(axis=1) & ~X[:, self.negative].any(axis=1)

    def __repr__(self):
        literals = np.zeros(2 * self.n_features, dtype=bool)
        literals[self.positive] = True
        literals[self.n_features + self.negative] = True
        names = [f"x{j}" for j in range(self.n_features)]
        text = formula_text(literals, names)
        return f"LearnedConjunction({text!r}, n_examples={self.n_examples})"


def learn_conjunction_by_queries(oracle, n_features, *, positive_example=None):
    """Learn a conjunction by asking about rows of one's own choice.

    One feature of an accepted row is flipped at a time: when the flipped row is
    rejected, the literal belongs to the conjunction.

    Parameters
    ----------
    oracle : callable
        Takes a row, a bool array of shape (n_features,), and says whether it satisfies
        the hidden conjunction.
    n_features : int
        Number of features, at least 1.
    positive_example : array-like of shape (n_features,), default=None
        A row of zeros and ones known to be accepted. None: the row of ones, which any
        conjunction without negations accepts. Negations can be learned only from an
        example in which they hold.

    Returns
    -------
    learned : LearnedConjunction
        The hidden conjunction itself, after ``n_features`` queries.

    Raises
    ------
    ValueError
        If the oracle rejects every flipped row and the example too: then it was not a
        positive one.

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
    # All features needed is the sign of an example that never was accepted; it costs a
    # query more to tell, in that case only.
    if needed.all() and not _ask(oracle, start.copy()):
        raise ValueError(
            "The oracle rejects the row to start from. A conjunction with negations "
            "needs positive_example, a row that it accepts."
        )
    return LearnedConjunction(
        np.flatnonzero(needed & start), np.flatnonzero(needed & ~start), n, n
    )


def teaching_set(positive, negative, n_features):
    """Choose the rows with which a teacher shows a conjunction.

    Two rows that satisfy it and differ in everything else leave no other literal; one
    row for each literal shows that it is needed. A conjunction without negations, known
    to have none, needs only the first of the two.

    Parameters
    ----------
    positive, negative : array-like of int
        Features that must be true, and that must be false.
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    X : ndarray of shape (n_literals + 2, n_features), dtype bool
        First two rows that satisfy the conjunction (other features false, then true),
        then one row for each literal that only this literal rejects.
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
    wanted = np.zeros(n, dtype=bool)
    for name, features, value in (("positive", positive, 1), ("negative", negative, 0)):
        for feature in features:
            j = check_integer(feature, f"a feature in {name}", 0, n - 1)
            if needed[j] and wanted[j] != value:
                raise ValueError(f"Feature {j} is both positive and negative.")
            needed[j], wanted[j] = True, value
    accepted = np.stack(
        [np.where(needed, wanted, False), np.where(needed, wanted, True)]
    )
    rejected = np.repeat(accepted[:1], needed.sum(), axis=0)
    rejected[np.arange(len(rejected)), np.flatnonzero(needed)] ^= True
    return np.vstack([accepted, rejected]), np.arange(len(rejected) + 2) < 2


def learn_conjunction_from_teacher(X, y):
    """Learn a conjunction from the rows of a teacher.

    A literal is kept when a rejected row differs from an accepted one in that feature
    alone; with a `teaching_set` these are the literals of the conjunction.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows of zeros and ones.
    y : array-like of shape (n_samples,)
        Whether each row satisfies the conjunction.

    Returns
    -------
    learned : LearnedConjunction
        The literals that the rows prove to be needed.

    Raises
    ------
    ValueError
        If no row is accepted, or if the rows leave a literal open: one that all
        accepted rows have and no rejected row proves.

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
            "X must have two dimensions and y one label for each row, with at least "
            "one row accepted."
        )
    accepted = X[y]
    possible = (accepted == accepted[0]).all(axis=0)
    needed = np.zeros(X.shape[1], dtype=bool)
    for row in X[~y]:
        # What the accepted rows do not share is no literal, whatever it is here.
        differs = (row != accepted[0]) & possible
        if differs.sum() == 1:
            needed |= differs
    if (possible & ~needed).any():
        open_features = np.flatnonzero(possible & ~needed).tolist()
        raise ValueError(
            f"The rows do not settle whether features {open_features} belong to the "
            "conjunction: add an accepted row without the literal, or a rejected one "
            "that lacks only this literal."
        )
    value = accepted[0]
    return LearnedConjunction(
        np.flatnonzero(needed & value),
        np.flatnonzero(needed & ~value),
        X.shape[1],
        len(X),
    )


def learn_conjunction_from_examples(
    oracle, draw, n_features, n_examples, *, random_state=None
):
    """Learn a conjunction by watching random rows (elimination).

    Parameters
    ----------
    oracle : callable
        Takes a row, a bool array of shape (n_features,), and says whether it satisfies
        the hidden conjunction.
    draw : callable or float
        Takes a RandomState and gives a row; or the probability of a 1 in each feature.
    n_features : int
        Number of features, at least 1.
    n_examples : int
        Rows to draw, 1 to 10**9. `sklboolean.theory.sample_complexity` tells how many
        are enough.
    random_state : int, RandomState instance or None, default=None
        For the rows.

    Returns
    -------
    learned : LearnedConjunction
        The longest conjunction that accepts every accepted row. It contains the hidden
        one and errs on accepted rows only. With no row accepted it holds every literal,
        and accepts nothing.

    Raises
    ------
    ValueError
        If ``draw`` is a number outside 0 to 1 or gives rows of another length.

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
        probability = check_real(draw, "draw")
        if not 0 <= probability <= 1:
            raise ValueError(f"draw must be a callable or between 0 and 1; got {draw}.")

        def draw(rng):
            return rng.random_sample(n) < probability

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
