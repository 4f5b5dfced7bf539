"""Complete Boolean data sets: tic-tac-toe end boards and the MONK's problems."""

from itertools import product
from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from sklboolean.datasets._bundled import make_bunch
from sklboolean.datasets._generators import flip_labels

_SQUARES = [
    f"{row}-{column}"
    for row in ("top", "middle", "bottom")
    for column in ("left", "middle", "right")
]
_LINES = np.array(
    [
        *([0, 1, 2], [3, 4, 5], [6, 7, 8]),  # rows
        *([0, 3, 6], [1, 4, 7], [2, 5, 8]),  # columns
        *([0, 4, 8], [2, 4, 6]),  # diagonals
    ]
)

_TIC_TAC_TOE = """\
Tic-tac-toe end boards

The 958 boards on which a game of tic-tac-toe can end when x moves first: 626 won by
x (positive) and 332 won by o or drawn (negative). Each of the 9 squares gives three
columns: x, o and b (blank). The boards are found by playing every game; they are
those of the set "Tic-Tac-Toe Endgame" that D. Aha gave to the UCI Machine Learning
Repository in 1991, https://doi.org/10.24432/C5688J, in lexicographic order.

"Won by x" is a monotone DNF of 8 terms with 3 literals each, one for each line.
"""

_MONKS = """\
The monk's problem {problem}

All 432 robots that six attributes describe, one column for each value:
a1 head shape (round, square, octagon), a2 body shape (the same three), a3 is smiling
(yes, no), a4 holding (sword, balloon, flag), a5 jacket color (red, yellow, green,
blue), a6 has tie (yes, no); the values are numbered from 1 in this order.

Class 1: {rule}.

Origin: S. B. Thrun et al., "The MONK's Problems: A Performance Comparison of
Different Learning Algorithms", report CMU-CS-91-197, Carnegie Mellon University, 1991.
"""

_MONK_RULES = {
    1: "a1 equals a2, or a5 is 1",
    2: "exactly two of the six attributes have the value 1",
    3: "a5 is 3 and a4 is 1, or a5 is not 4 and a2 is not 3",
}


def make_tic_tac_toe(*, return_X_y=False, as_frame=False):
    """Generate all final boards of tic-tac-toe, labelled by "x has won".

    Parameters
    ----------
    return_X_y : bool, default=False
        True: return ``(data, target)``. False: return a Bunch.
    as_frame : bool, default=False
        True: ``data`` is a DataFrame and ``target`` a Series. Needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        A Bunch with the attributes

        data : ndarray of shape (958, 27), dtype uint8
            Three 0/1 columns for each square: x, o and blank.
        target : ndarray of shape (958,), dtype int64
            1 if x has won, else 0.
        frame : DataFrame of shape (958, 28) or None
            ``data`` and ``target`` in one DataFrame, if ``as_frame=True``.
        feature_names : list of 27 str
            ``"top-left=x"``, ``"top-left=o"``, ``"top-left=b"``, ...
        feature_groups : list of 27 str
            The square that each column belongs to.
        target_names : ndarray of 2 str
            ``["negative", "positive"]``.
        DESCR : str
            Description of the data set.
    (data, target) : tuple
        Only ``data`` and ``target``, if ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    .. [1] D. Aha (1991). Tic-Tac-Toe Endgame [data set]. UCI Machine Learning
       Repository. https://doi.org/10.24432/C5688J

    Examples
    --------
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> X, y = make_tic_tac_toe(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((958, 27), 626)
    """
    # Sorted, so that the samples do not depend on the order of a set.
    boards = np.array(sorted(_end_boards()))
    return make_bunch(
        _one_hot(boards, [3] * 9),
        _has_line(boards, 0).astype(np.int64),
        feature_names=[f"{square}={mark}" for square in _SQUARES for mark in "xob"],
        target_names=np.array(["negative", "positive"]),
        DESCR=_TIC_TAC_TOE,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def make_monks(
    problem, *, noise=0.0, random_state=None, return_X_y=False, as_frame=False
):
    """Generate one of the three MONK's problems over all 432 robots.

    Problem 1 is a DNF that compares two attributes, problem 2 counts values (hard for
    short rules), problem 3 is a short DNF that was published with label noise.

    Parameters
    ----------
    problem : {1, 2, 3}
        The rule that decides the class: (1) a1 = a2 or a5 = 1; (2) exactly two of the
        six attributes have the value 1; (3) a5 = 3 and a4 = 1, or a5 != 4 and
        a2 != 3.
    noise : float, default=0.0
        Fraction of labels to flip, from 0 to 1: exactly ``round(432 * noise)`` labels,
        chosen at random. In the published training set of problem 3, 5 % of the labels
        are wrong (``noise=0.05``); those of problems 1 and 2 have no noise.
    random_state : int, RandomState instance or None, default=None
        Seed that chooses the labels to flip. An int makes the result reproducible.
    return_X_y : bool, default=False
        True: return ``(data, target)``. False: return a Bunch.
    as_frame : bool, default=False
        True: ``data`` is a DataFrame and ``target`` a Series. Needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        A Bunch with the attributes

        data : ndarray of shape (432, 17), dtype uint8
            One 0/1 column for each value of a1 to a6.
        target : ndarray of shape (432,), dtype int64
            The class, 0 or 1, after the noise.
        clean_target : ndarray of shape (432,), dtype int64
            The class without noise: train on ``target``, compute scores on this.
        frame : DataFrame of shape (432, 18) or None
            ``data`` and ``target`` in one DataFrame, if ``as_frame=True``.
        feature_names : list of 17 str
            ``"a1=1"``, ``"a1=2"``, ...
        feature_groups : list of 17 str
            The attribute that each column belongs to.
        target_names : ndarray of 2 str
            ``["0", "1"]``.
        DESCR : str
            Description of the attributes and the rule.
    (data, target) : tuple
        Only ``data`` and ``target``, if ``return_X_y=True``.

    Raises
    ------
    ValueError
        If ``problem`` is not 1, 2 or 3, or ``noise`` is outside [0, 1].
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    .. [1] S. B. Thrun et al. (1991). The MONK's Problems: A Performance Comparison
       of Different Learning Algorithms. CMU-CS-91-197, Carnegie Mellon University.

    Examples
    --------
    >>> from sklboolean.datasets import make_monks
    >>> monks = make_monks(3, noise=0.05, random_state=0)
    >>> monks.data.shape, int((monks.target != monks.clean_target).sum())
    ((432, 17), 22)
    """
    check_scalar(problem, "problem", Integral, min_val=1, max_val=3)
    sizes = [3, 3, 2, 3, 4, 2]
    # Every combination of values is one sample, so the data are the whole domain.
    robots = np.array(list(product(*map(range, sizes)))) + 1
    clean = _monk_class(problem, robots).astype(np.int64)
    target = flip_labels(clean, noise, exact=True, random_state=random_state)
    return make_bunch(
        _one_hot(robots - 1, sizes),
        target,
        feature_names=[
            f"a{a}={v}" for a, size in enumerate(sizes, 1) for v in range(1, size + 1)
        ],
        clean_target=clean,
        target_names=np.array(["0", "1"]),
        DESCR=_MONKS.format(problem=problem, rule=_MONK_RULES[problem]),
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def _end_boards():
    """Find all boards that end a game; 0 is x, 1 is o, 2 is blank."""
    # Play all games from the empty board; different games meet in one board, which is
    # played on once. Whoever moved last has won if there is a line.
    ended, seen, waiting = set(), set(), [(2,) * 9]
    while waiting:
        board = waiting.pop()
        if board in seen:
            continue
        seen.add(board)
        blanks = [square for square, mark in enumerate(board) if mark == 2]
        mover = (9 - len(blanks)) % 2
        if not blanks or _has_line(np.array([board]), 1 - mover)[0]:
            ended.add(board)
            continue
        for square in blanks:
            waiting.append((*board[:square], mover, *board[square + 1 :]))
    return ended


def _has_line(boards, mark):
    return (boards[:, _LINES] == mark).all(axis=2).any(axis=1)


def _monk_class(problem, robots):
    a1, a2, _, a4, a5, _ = robots.T
    if problem == 1:
        return (a1 == a2) | (a5 == 1)
    if problem == 2:
        return (robots == 1).sum(axis=1) == 2
    return ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3))


def _one_hot(values, sizes):
    """One-hot encode ``values``, whose column ``j`` has numbers below ``sizes[j]``."""
    columns = [values[:, [j]] == np.arange(size) for j, size in enumerate(sizes)]
    return np.hstack(columns).astype(np.uint8)
