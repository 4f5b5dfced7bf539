"""How a score grows with the number of labels: queried against random rows."""

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import COLORS, LINE_STYLES, open_axes, take_rows


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

        As long as all labels are of one class, it is what is predicted.

        Parameters
        ----------
        estimator : QueryByCommittee
            Fitted on ``X``; it is not changed.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The pool that it was fitted on.
        y : array-like of shape (n_samples,)
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
        queried = estimator.query_indices_
        if not len(queried):
            raise ValueError("The estimator has queried no row: there is no curve.")
        y = np.asarray(y)
        n_points = min(n_points, len(queried))
        n_labels = np.linspace(1, len(queried), n_points).round().astype(int)

        def curve(rows):
            scores, learner, known = [], clone(estimator), 0
            for n in n_labels:
                learner.teach(take_rows(X, rows[known:n]), y[rows[known:n]])
                known, model = n, learner
                if len(np.unique(y[rows[:n]])) == 1:
                    model = DummyClassifier(strategy="constant", constant=y[rows[0]])
                    model.fit(X, y)
                scores.append(scorer(model, X_test, y_test))
            return np.array(scores)

        scores = {"queried": curve(queried)}
        if n_random:
            orders = [random.permutation(len(y)) for _ in range(n_random)]
            scores["random"] = np.array([curve(rows) for rows in orders])
        name = scoring if isinstance(scoring, str) else "Score"
        name = "Accuracy" if scoring is None else name
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
