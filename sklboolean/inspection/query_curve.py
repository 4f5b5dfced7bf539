"""How a score grows with the number of labels: queried against random rows."""

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import COLORS, LINE_STYLES, open_axes, take_rows

__all__ = ["QueryCurveDisplay"]


class QueryCurveDisplay:
    """Score against the number of labels, a curve for each way of choosing rows.

    Made by ``from_estimator`` or ``from_predictions``.

    Parameters
    ----------
    n_labels : ndarray of shape (n_points,), dtype int
        Numbers of labels.
    scores : dict of str to ndarray of shape (n_points,) or (n_runs, n_points)
        Scores of each curve; of several runs the mean is drawn, with a band of one
        standard error.
    score_name : str, default="Score"
        Label of the vertical axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
        After ``plot``.
    lines_ : dict of str to matplotlib Line2D
        After ``plot``: the curve of each name.

    See Also
    --------
    sklboolean.QueryByCommittee : Chooses the rows.

    Examples
    --------
    >>> from sklboolean.inspection import QueryCurveDisplay
    >>> display = QueryCurveDisplay.from_predictions(
    ...     [10, 20, 40], {"queried": [0.8, 0.9, 1.0], "random": [0.7, 0.8, 0.9]}
    ... )
    >>> display.n_labels
    array([10, 20, 40])
    """

    def __init__(self, n_labels, scores, *, score_name="Score"):
        self.n_labels = n_labels
        self.scores = scores
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls, estimator, X, y, X_test, y_test, *, n_points=20, n_random=5, scoring=None,
        random_state=None, ax=None,
    ):  # fmt: skip
        """Teach the queried rows again, and as many random ones, and draw the scores.

        Parameters
        ----------
        estimator : QueryByCommittee
            Fitted on ``X``; it is not changed.
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            The pool that it was fitted on.
        y : array-like of shape (n_rows,)
            All labels of the pool: the random rows need theirs.
        X_test : {array-like, sparse matrix} of shape (n_test_rows, n_features)
            Rows to score on.
        y_test : array-like of shape (n_test_rows,)
            Their labels.
        n_points : int, default=20
            Points on a curve, at most.
        n_random : int, default=5
            Random orders of the pool to compare with.
        scoring : str, callable or None, default=None
            As in scikit-learn. None: the estimator's own ``score``.
        random_state : int, RandomState instance or None, default=None
            For the random orders.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        display : QueryCurveDisplay
            Drawn.

        Raises
        ------
        ValueError
            If no row has been queried.
        """
        check_is_fitted(estimator, "query_indices_")
        scorer = check_scoring(estimator, scoring=scoring)
        random = check_random_state(random_state)
        queried = np.asarray(estimator.query_indices_)
        if not len(queried):
            raise ValueError("The estimator has queried no row: there is no curve.")
        y = np.asarray(y)
        n_rows = len(y)
        first = _labels_until_two_classes(y[queried])
        n_labels = np.unique(
            np.linspace(first, len(queried), min(n_points, len(queried))).astype(int)
        )

        def curve(rows):
            scores, learner, known = [], clone(estimator), 0
            for n in n_labels:
                learner.teach(take_rows(X, rows[known:n]), y[rows[known:n]])
                scores.append(scorer(learner, X_test, y_test))
                known = n
            return scores

        scores = {"queried": np.array(curve(queried))}
        if n_random:
            orders = [
                _two_classes_first(random.permutation(n_rows), y, first)
                for _ in range(n_random)
            ]
            scores["random"] = np.array([curve(rows) for rows in orders])
        name = scoring if isinstance(scoring, str) else "Accuracy"
        return cls(n_labels, scores, score_name=name).plot(ax=ax)

    @classmethod
    def from_predictions(cls, n_labels, scores, *, score_name="Score"):
        """Take curves that were measured elsewhere.

        Parameters
        ----------
        n_labels : array-like of shape (n_points,)
            Numbers of labels.
        scores : dict of str to array-like of shape (n_points,) or (n_runs, n_points)
            Scores of each curve.
        score_name : str, default="Score"
            Label of the vertical axis.

        Returns
        -------
        display : QueryCurveDisplay
            Not drawn yet: call ``plot``.

        Raises
        ------
        ValueError
            If a curve has another number of points.
        """
        n_labels = np.asarray(n_labels)
        scores = {name: np.asarray(values, float) for name, values in scores.items()}
        for name, values in scores.items():
            if values.ndim not in (1, 2) or values.shape[-1] != len(n_labels):
                raise ValueError(
                    f"scores[{name!r}] has shape {values.shape}; n_labels has "
                    f"{len(n_labels)} points."
                )
        return cls(n_labels, scores, score_name=score_name)

    def plot(self, ax=None):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        self : QueryCurveDisplay
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        self.ax_ = open_axes(ax)
        self.figure_, self.lines_ = self.ax_.figure, {}
        looks = zip(COLORS, LINE_STYLES, strict=True)
        for (name, values), (color, style) in zip(
            self.scores.items(), looks, strict=False
        ):
            runs = np.atleast_2d(values)
            mean = runs.mean(axis=0)
            (self.lines_[name],) = self.ax_.plot(
                self.n_labels, mean, color=color, linestyle=style, label=name
            )
            if len(runs) > 1:
                error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
                self.ax_.fill_between(
                    self.n_labels, mean - error, mean + error, color=color, alpha=0.2
                )
        self.ax_.set_xlabel("Labels")
        self.ax_.set_ylabel(self.score_name)
        self.ax_.legend()
        return self


def _labels_until_two_classes(labels):
    """Return how many labels are needed until two classes are known."""
    others = np.flatnonzero(labels != labels[0])
    return int(others[0]) + 1 if len(others) else len(labels)


def _two_classes_first(rows, y, first):
    """Move a row of another class forward, so that ``first`` rows can be learned."""
    needed = _labels_until_two_classes(y[rows])
    if needed <= first or first < 2:
        return rows
    rows[[first - 1, needed - 1]] = rows[[needed - 1, first - 1]]
    return rows
