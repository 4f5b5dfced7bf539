"""Mistakes against examples seen: how fast on-line learners learn."""

from itertools import pairwise

import numpy as np
from sklearn.base import clone

from sklboolean.inspection._figure import COLORS, LINE_STYLES, open_axes, take_rows


class MistakeCurveDisplay:
    """Mistakes made so far against examples seen, a curve for each learner.

    Made by ``from_estimator`` or ``from_predictions``. A curve that has become flat
    belongs to a learner that has converged; a bound on mistakes is a line that no
    curve crosses.

    Parameters
    ----------
    n_examples : ndarray of shape (n_points,), dtype int
        Examples seen.
    mistakes : dict of str to ndarray of shape (n_points,)
        Mistakes among them.
    bounds : dict of str to float or None, default=None
        Bounds on the mistakes, drawn as horizontal lines.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
        After ``plot``.
    lines_ : dict of str to matplotlib Line2D
        After ``plot``: the curves and the bounds by name.

    See Also
    --------
    sklboolean.theory : Bounds on mistakes.

    References
    ----------
    A. Blum, A. Kalai, J. Langford. "Beating the Hold-Out: Bounds for K-fold and
    Progressive Cross-Validation". COLT 1999.

    Examples
    --------
    >>> from sklboolean.inspection import MistakeCurveDisplay
    >>> display = MistakeCurveDisplay.from_predictions(
    ...     [1, 0, 1, 1], {"always 1": [1, 1, 1, 1], "late": [0, 0, 0, 1]}
    ... )
    >>> display.mistakes["late"]
    array([1, 1, 2, 2])
    """

    def __init__(self, n_examples, mistakes, *, bounds=None):
        self.n_examples = n_examples
        self.mistakes = mistakes
        self.bounds = bounds

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, classes=None, growth=0.01, bounds=None, ax=None
    ):
        """Learn the rows in their order, each predicted before it is learned.

        Parameters
        ----------
        estimator : classifier with ``partial_fit``, or dict of str to such
            Learners; clones of them learn.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The stream.
        y : array-like of shape (n_samples,)
            Its labels.
        classes : array-like or None, default=None
            All labels. None: those of `y`.
        growth : float, default=0.01
            Rows are predicted and learned in blocks, each of this share of the rows
            before it and at least one row; 0 goes row by row, which is slow. The
            first row is predicted by nothing and not counted.
        bounds : dict of str to float or None, default=None
            Bounds on the mistakes to draw beside the curves.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        display : MistakeCurveDisplay
            Drawn.

        Raises
        ------
        ValueError
            If `growth` is negative or infinite, or `y` has another number of rows.
        TypeError
            If a learner has no ``partial_fit``.
        """
        if not 0 <= growth < np.inf:
            raise ValueError(
                f"growth must be a finite number of at least 0; got {growth!r}."
            )
        y = np.asarray(y)
        n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
        if y.shape != (n_samples,):
            raise ValueError(f"X has {n_samples} rows; y has shape {y.shape}.")
        classes = np.unique(y) if classes is None else np.asarray(classes)
        learners = (
            estimator
            if isinstance(estimator, dict)
            else {type(estimator).__name__: estimator}
        )
        for learner in learners.values():
            try:
                _ = learner.partial_fit
            except AttributeError as error:  # it may say why
                raise TypeError(
                    "Mistakes are counted while rows are learned one by one, which "
                    f"needs partial_fit; {learner!r} has none."
                ) from error
        edges = _edges(n_samples, growth)

        def curve(learner):
            learner, counts = clone(learner), [0]
            learner.partial_fit(take_rows(X, slice(0, 1)), y[:1], classes=classes)
            for first, last in pairwise(edges):
                rows = take_rows(X, slice(first, last))
                wrong = np.count_nonzero(learner.predict(rows) != y[first:last])
                counts.append(counts[-1] + wrong)
                learner.partial_fit(rows, y[first:last])
            return np.array(counts)

        mistakes = {name: curve(learner) for name, learner in learners.items()}
        return cls(np.array(edges), mistakes, bounds=bounds).plot(ax=ax)

    @classmethod
    def from_predictions(cls, y_true, y_pred, *, bounds=None):
        """Count the mistakes of predictions that were made on the way.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels in the order of the stream.
        y_pred : array-like of shape (n_samples,), or dict of str to such
            What was predicted for each row before its label was known.
        bounds : dict of str to float or None, default=None
            Bounds on the mistakes.

        Returns
        -------
        display : MistakeCurveDisplay
            Not drawn yet: call ``plot``.

        Raises
        ------
        ValueError
            If there are other numbers of predictions than labels.
        """
        y_true = np.asarray(y_true)
        if not isinstance(y_pred, dict):
            y_pred = {"mistakes": y_pred}
        mistakes = {}
        for name, predicted in y_pred.items():
            predicted = np.asarray(predicted)
            if y_true.ndim != 1 or predicted.shape != y_true.shape:
                raise ValueError(
                    f"y_pred of {name!r} has shape {predicted.shape}; y_true has shape "
                    f"{y_true.shape}: give one prediction for each row."
                )
            mistakes[name] = np.cumsum(predicted != y_true)
        return cls(1 + np.arange(len(y_true)), mistakes, bounds=bounds)

    def plot(self, ax=None):
        """Draw the curves and the bounds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        self : MistakeCurveDisplay
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        self.ax_ = open_axes(ax)
        self.figure_, self.lines_ = self.ax_.figure, {}
        for place, (name, counts) in enumerate(self.mistakes.items()):
            (self.lines_[name],) = self.ax_.plot(
                self.n_examples, counts, label=name,
                color=COLORS[place % len(COLORS)],
                linestyle=LINE_STYLES[place % len(LINE_STYLES)],
            )  # fmt: skip
        for place, (name, bound) in enumerate((self.bounds or {}).items()):
            style = LINE_STYLES[(1 + place) % len(LINE_STYLES)]
            self.lines_[name] = self.ax_.axhline(
                bound, color="0.5", linestyle=style, label=name
            )
        self.ax_.set_xlabel("Examples seen")
        self.ax_.set_ylabel("Mistakes")
        self.ax_.legend()
        return self


def _edges(n_samples, growth):
    """Return where blocks end; the first is one row, others grow with what went on."""
    edges = [1]
    while edges[-1] < n_samples:
        edges.append(min(n_samples, edges[-1] + max(1, int(growth * edges[-1]))))
    return edges
