"""Displays of curves: mistakes, queries and potentials."""

from itertools import pairwise

import numpy as np
from scipy.special import bdtr
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

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


class QueryCurveDisplay:
    """Score against the number of labels, one curve per way of choosing samples.

    Made by ``from_estimator`` or ``from_predictions``.

    Parameters
    ----------
    n_labels : ndarray of shape (n_points,), dtype int
        Numbers of labels.
    scores : dict of str to ndarray of shape (n_points,) or (n_runs, n_points)
        Scores of each curve. For several runs, the mean is plotted with a band of one
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
    sklboolean.QueryByCommittee : Chooses the samples.

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
        """Train on the queried samples again, and on as many random ones; plot scores.

        While all labels are of one class, that class is predicted.

        Parameters
        ----------
        estimator : QueryByCommittee
            Classifier fitted on ``X``. It is not modified.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The pool on which it was fitted.
        y : array-like of shape (n_samples,)
            All labels of the pool: the random samples need theirs.
        X_test : {array-like, sparse matrix} of shape (n_test_samples, n_features)
            Samples for the score.
        y_test : array-like of shape (n_test_samples,)
            Their labels.
        n_points : int, default=20
            Maximum number of points of a curve.
        n_random : int, default=5
            Number of random orders of the pool. 0: no random curve.
        scoring : str, callable or None, default=None
            Scorer, as in scikit-learn. None: the ``score`` of the estimator.
        random_state : int, RandomState instance or None, default=None
            Draws the random orders. Pass an int for reproducible results.
        ax : matplotlib Axes, default=None
            Axes to draw on. None: new ones.

        Returns
        -------
        display : QueryCurveDisplay
            Drawn.

        Raises
        ------
        ValueError
            If no sample has been queried.
        """
        check_is_fitted(estimator, "query_indices_")
        scorer = check_scoring(estimator, scoring=scoring)
        random = check_random_state(random_state)
        queried = estimator.query_indices_
        if not len(queried):
            raise ValueError("The estimator has queried no sample: there is no curve.")
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
