"""Learning curve of a booster: its score after each round."""

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import draw_curves


class BoostingCurveDisplay:
    """Score of a booster after each hypothesis, one curve for each data set.

    Create it with ``from_estimator``. Where a curve of held-out samples is flat, fewer
    rounds do as well.

    Parameters
    ----------
    scores : dict of str to array-like of shape (n_stages,)
        Scores after 1, 2, ... hypotheses, by the name of the data.
    score_name : str, default="Accuracy"
        Label of the vertical axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes. Set by ``plot``.
    figure_ : matplotlib Figure
        The figure. Set by ``plot``.
    lines_ : dict of str to matplotlib Line2D
        Curves by name. Set by ``plot``.

    See Also
    --------
    sklboolean.BoostByMajority : ``staged_predict`` gives the predictions.
    PotentialDisplay : The potential of a game, round by round.

    Examples
    --------
    >>> from sklboolean.inspection import BoostingCurveDisplay
    >>> display = BoostingCurveDisplay({"training": [0.7, 0.8, 0.9]})
    >>> display.score_name
    'Accuracy'
    """

    def __init__(self, scores, *, score_name="Accuracy"):
        self.scores = scores
        self.score_name = score_name

    @classmethod
    def from_estimator(cls, estimator, data, *, ax=None) -> "BoostingCurveDisplay":
        """Score the staged predictions of a booster, and plot them.

        Parameters
        ----------
        estimator : fitted estimator with ``staged_predict``
            `BoostByMajority`, `BoostByMajorityRegressor`, or a booster of scikit-learn.
            A classifier is scored by accuracy, a regressor by R2.
        data : dict of str to (X, y)
            Samples and their targets, by the name of the curve.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        display : BoostingCurveDisplay
            The display, already plotted.

        Raises
        ------
        TypeError
            If the estimator has no ``staged_predict``.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "staged_predict"):
            raise TypeError(
                "estimator must have staged_predict, as boosters have; got "
                f"{estimator!r}."
            )
        is_classifier = hasattr(estimator, "classes_")
        metric = accuracy_score if is_classifier else r2_score
        scores = {
            name: np.array([metric(y, each) for each in estimator.staged_predict(X)])
            for name, (X, y) in data.items()
        }
        display = cls(scores, score_name="Accuracy" if is_classifier else "R2")
        return display.plot(ax=ax)

    def plot(self, ax=None) -> "BoostingCurveDisplay":
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: a new figure.

        Returns
        -------
        self : BoostingCurveDisplay
            The display, with ``ax_``, ``figure_`` and ``lines_``.
        """
        curves = {
            name: (np.arange(1, len(values) + 1), values)
            for name, values in self.scores.items()
        }
        self.ax_, self.figure_, self.lines_ = draw_curves(
            curves, "Hypotheses", self.score_name, ax
        )
        return self
