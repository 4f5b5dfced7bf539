"""Certified accuracy: right predictions that no change of so many columns turns."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from sklboolean.inspection._counterfactuals import robustness
from sklboolean.inspection._figure import COLORS, open_axes


class RobustnessDisplay:
    """Draw the accuracy that is certain when some columns hold other values.

    At k it is the share of samples that are predicted correctly, whatever legal values
    any k of their columns are changed to. At 0 it is the accuracy.

    Parameters
    ----------
    n_changes : array-like of shape (n_samples,)
        How many columns must change to turn each prediction, from `robustness`.
    is_correct : array-like of shape (n_samples,), bool
        Whether the prediction of each sample is correct.

    Attributes
    ----------
    n_columns : ndarray of shape (n_points,), int
        0, 1, ..., up to the number of columns that turns every correct prediction that
        can be turned.
    certified_accuracy : ndarray of shape (n_points,), float64
        Certified accuracy for so many columns.
    ax_ : matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
        After ``plot``.

    See Also
    --------
    robustness : How many columns must change.

    Examples
    --------
    >>> from sklboolean.inspection import RobustnessDisplay
    >>> display = RobustnessDisplay([1, 2, 2, 3], [True, True, False, True])
    >>> display.certified_accuracy
    array([0.75, 0.5 , 0.25, 0.  ])
    """

    def __init__(self, n_changes, is_correct):
        self.n_changes = np.asarray(n_changes, dtype=np.float64)
        self.is_correct = np.asarray(is_correct, dtype=bool)
        check_consistent_length(self.n_changes, self.is_correct)
        can_turn = self.is_correct & np.isfinite(self.n_changes)
        most = int(self.n_changes[can_turn].max(initial=0))
        self.n_columns = np.arange(most + 1)
        survives = self.n_changes > self.n_columns[:, None]
        self.certified_accuracy = (survives & self.is_correct).mean(axis=1)

    @classmethod
    def from_estimator(cls, model, X, y, *, time_limit=None, ax=None):
        """Count the columns that must change, and draw the curve.

        Parameters
        ----------
        model : fitted estimator
            A classifier, as for `robustness`.
        X : {data frame of pandas, array-like} of shape (n_samples, n_features)
            Samples, as for ``predict``.
        y : array-like of shape (n_samples,)
            Their labels.
        time_limit : float or None, default=None
            Seconds for each sample, as for `robustness`. The curve is a lower bound
            where it ends a search.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : RobustnessDisplay
            The drawn display.
        """
        is_correct = np.asarray(model.predict(X)) == np.asarray(y)
        display = cls(robustness(model, X, time_limit=time_limit), is_correct)
        return display.plot(ax=ax)

    def plot(self, ax=None):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        self : RobustnessDisplay
            The display, with ``ax_`` and ``figure_``.
        """
        self.ax_ = open_axes(ax)
        self.figure_ = self.ax_.figure
        self.ax_.step(
            self.n_columns, self.certified_accuracy, where="mid", color=COLORS[0]
        )
        self.ax_.plot(self.n_columns, self.certified_accuracy, "o", color=COLORS[0])
        self.ax_.set(xlabel="Columns that may change", ylabel="Certified accuracy")
        self.ax_.set(xticks=self.n_columns, ylim=(0, 1.02))
        return self
