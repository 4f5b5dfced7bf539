"""The average potential of boost-by-majority, round by round."""

import numpy as np
from scipy.special import bdtr
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import COLORS, open_axes


class PotentialDisplay:
    """Average potential against rounds: the training error that is to be expected.

    Made by ``from_estimator`` or ``from_predictions``. The potential of an example is
    the probability that the vote gets it wrong if each hypothesis to come is right
    about it with probability 1/2 + gamma. Its average never rises while hypotheses
    keep the edge gamma, and after the last round it is the training error.

    Parameters
    ----------
    rounds : ndarray of shape (n_points,), dtype int
        Rounds played.
    potentials : ndarray of shape (n_points,), dtype float64
        Average potentials, from 0 to 1.
    training_error : float or None, default=None
        Share of the training rows that the vote gets wrong.
    name : str, default="average potential"
        Name of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
        After ``plot``.
    line_ : matplotlib Line2D
        After ``plot``: the curve.

    See Also
    --------
    sklboolean.BoostByMajority : Plays the game.

    References
    ----------
    Y. Freund. "Data Filtering and Distribution Modeling Algorithms for Machine
    Learning". PhD thesis, UC Santa Cruz, 1993, section 2.3.

    Examples
    --------
    Three rounds with the edge 1/4. Before the first, the vote goes wrong where at most
    one of three hypotheses will be right, with probability (1 + 9) / 64; in the end it
    is wrong about one of two rows.

    >>> from sklboolean.inspection import PotentialDisplay
    >>> votes = [[1, 0], [1, 0], [0, 1]]
    >>> display = PotentialDisplay.from_predictions([1, 1], votes, gamma=0.25)
    >>> display.potentials
    array([0.15625, 0.25   , 0.5    , 0.5    ])
    """

    def __init__(
        self, rounds, potentials, *, training_error=None, name="average potential"
    ):
        self.rounds = rounds
        self.potentials = potentials
        self.training_error = training_error
        self.name = name

    @classmethod
    def from_estimator(cls, estimator, *, name="average potential", ax=None):
        """Draw the potentials of a fitted booster.

        Parameters
        ----------
        estimator : BoostByMajority or BoostByMajorityRegressor
            Fitted on rows, not on a stream: a stream has no row to average over.
        name : str, default="average potential"
            Name of the curve.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        display : PotentialDisplay
            Drawn.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If the estimator has no potentials.
        """
        check_is_fitted(estimator)
        potentials = getattr(estimator, "potentials_", None)
        if potentials is None or not len(potentials):
            raise ValueError(
                f"This {type(estimator).__name__} has no potentials: it must be a "
                "booster by majority fitted with `fit`, not on a stream."
            )
        error = getattr(estimator, "training_error_", None)
        rounds = np.arange(len(potentials))
        return cls(rounds, potentials, training_error=error, name=name).plot(ax=ax)

    @classmethod
    def from_predictions(cls, y_true, votes, *, gamma, name="average potential"):
        """Average the potential over rows after each vote of any committee.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The labels.
        votes : array-like of shape (n_rounds, n_samples)
            What each hypothesis says of each row; an odd number of hypotheses.
        gamma : float
            The edge that is assumed, above 0 and below 0.5.
        name : str, default="average potential"
            Name of the curve.

        Returns
        -------
        display : PotentialDisplay
            Not drawn yet: call ``plot``.

        Raises
        ------
        ValueError
            If an argument is out of range, or shapes do not agree.
        """
        y_true, votes = np.asarray(y_true), np.asarray(votes)
        if votes.ndim != 2 or y_true.shape != votes.shape[1:] or not y_true.size:
            raise ValueError(
                f"votes has shape {votes.shape} and y_true {y_true.shape}: they must "
                "be (n_rounds, n_samples) and (n_samples,), with at least one row."
            )
        k = len(votes)
        if k % 2 == 0:
            raise ValueError(f"votes must be of an odd number of rounds; got {k}.")
        if not 0 < gamma < 0.5:
            raise ValueError(f"gamma must be above 0 and below 0.5; got {gamma!r}.")
        labels = np.unique(np.append(votes, y_true))
        if len(labels) > 2:
            raise ValueError(
                f"There are {len(labels)} labels; the votes must be on two."
            )
        right = np.zeros((k + 1, len(y_true)), dtype=int)
        np.cumsum(votes == y_true, axis=0, out=right[1:])
        rounds = np.arange(k + 1)
        # Wrong in the end when at most this many of the rounds to come are right.
        missing = k // 2 - right
        chances = bdtr(missing, (k - rounds)[:, np.newaxis], 0.5 + gamma)
        # bdtr knows no chance of fewer than none, nor of all of them for certain.
        chances = np.where(missing < 0, 0.0, chances)
        chances = np.where(missing >= (k - rounds)[:, np.newaxis], 1.0, chances)
        potentials = chances.mean(axis=1)
        return cls(rounds, potentials, training_error=potentials[-1], name=name)

    def plot(self, ax=None):
        """Draw the curve, and the training error as a dotted line.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        self : PotentialDisplay
            With ``ax_``, ``figure_`` and ``line_``.
        """
        self.ax_ = open_axes(ax)
        self.figure_ = self.ax_.figure
        (self.line_,) = self.ax_.plot(
            self.rounds, self.potentials, color=COLORS[0], label=self.name
        )
        if self.training_error is not None:
            self.ax_.axhline(
                self.training_error, color=COLORS[1], linestyle=":",
                label="training error",
            )  # fmt: skip
        self.ax_.set_xlabel("Rounds played")
        self.ax_.set_ylabel("Average potential")
        self.ax_.set_ylim(bottom=0)
        self.ax_.legend()
        return self
