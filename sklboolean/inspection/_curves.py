"""Displays of curves: scores, mistakes, queries, potentials, certified accuracy."""

from itertools import pairwise

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, check_scoring, r2_score
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklboolean._core.labels import plain_labels
from sklboolean._core.parameters import check_real
from sklboolean._core.validation import take_samples
from sklboolean.boosting._majority_game import check_odd, majority_potentials
from sklboolean.inspection._counterfactuals import robustness
from sklboolean.inspection._figure import COLORS, Display, draw_curves


class BoostingCurveDisplay(Display):
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
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
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
        data : dict of str to (X, y), or one such pair
            Samples and their targets, by the name of the curve.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : BoostingCurveDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "staged_predict"):
            raise TypeError(
                "estimator must have staged_predict, as boosters have; got "
                f"{estimator!r}."
            )
        is_classifier, is_named = hasattr(estimator, "classes_"), isinstance(data, dict)
        metric = accuracy_score if is_classifier else r2_score
        scores = {
            name: [metric(y, predicted) for predicted in estimator.staged_predict(X)]
            for name, (X, y) in dict(data if is_named else {"score": data}).items()
        }
        name = "Accuracy" if is_classifier else "R2"
        return cls(scores, score_name=name).plot(ax=ax)

    def _draw(self, is_new_figure):
        curves = {
            name: (np.arange(1, len(scores) + 1), scores)
            for name, scores in self.scores.items()
        }
        self.lines_ = draw_curves(self.ax_, curves, "Hypotheses", self.score_name)


class MistakeCurveDisplay(Display):
    """Plot the number of mistakes against the number of samples seen.

    Create it with ``from_estimator`` or ``from_predictions``. A flat curve means that
    the classifier has converged. A mistake bound is a horizontal line that the curve
    does not cross.

    Parameters
    ----------
    n_examples : ndarray of shape (n_points,), dtype int
        Numbers of samples seen.
    mistakes : dict of str to ndarray of shape (n_points,)
        Mistakes on these samples, for each curve.
    bounds : dict of str to float or None, default=None
        Mistake bounds by name, drawn as horizontal lines.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    lines_ : dict of str to matplotlib Line2D
        Curves and bounds by name. Set by ``plot``.

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
    ) -> "MistakeCurveDisplay":
        """Predict each sample before it is used for training, and draw the curve.

        Parameters
        ----------
        estimator : classifier with ``partial_fit``, or dict of str to classifiers
            Classifiers to train. Clones are trained; the classifiers stay as they are.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples of the stream, in order.
        y : array-like of shape (n_samples,)
            Labels of the stream.
        classes : array-like or None, default=None
            All labels that can occur. None: those of `y`.
        growth : float, default=0.01
            Size of a block as a fraction of the samples before it, at least 0; a block
            has at least one sample. Each block is predicted before it is used for
            training. With 0 all blocks have one sample, which is exact but slow. The
            first sample has no prediction and does not count.
        bounds : dict of str to float or None, default=None
            Mistake bounds to draw as horizontal lines, by name.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : MistakeCurveDisplay
        """
        check_real(growth, "growth", 0)
        y = column_or_1d(plain_labels(y))
        check_consistent_length(X, y)
        classes = np.unique(y) if classes is None else np.asarray(classes)
        models = estimator
        if not isinstance(estimator, dict):
            models = {type(estimator).__name__: estimator}
        for model in models.values():
            _check_partial_fit(model)
        edges = _edges(len(y), growth)
        mistakes = {
            name: _count_mistakes(clone(model), X, y, classes, edges)
            for name, model in models.items()
        }
        return cls(np.array(edges), mistakes, bounds=bounds).plot(ax=ax)

    @classmethod
    def from_predictions(cls, y_true, y_pred, *, bounds=None) -> "MistakeCurveDisplay":
        """Count the mistakes of predictions that were made before training.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels in the order of the stream.
        y_pred : array-like of shape (n_samples,), or dict of str to array-likes
            Prediction for each sample, made before its label was known.
        bounds : dict of str to float or None, default=None
            Mistake bounds by name, drawn as horizontal lines.

        Returns
        -------
        display : MistakeCurveDisplay
            The display. Call ``plot`` to draw it.
        """
        y_true = np.asarray(y_true)
        if not isinstance(y_pred, dict):
            y_pred = {"mistakes": y_pred}
        mistakes = {}
        for name, predicted in y_pred.items():
            predicted = np.asarray(predicted)
            if y_true.ndim != 1 or predicted.shape != y_true.shape:
                raise ValueError(
                    f"y_pred of {name!r} must have one prediction for each label in "
                    f"y_true; got shapes {predicted.shape} and {y_true.shape}."
                )
            mistakes[name] = np.cumsum(predicted != y_true)
        return cls(1 + np.arange(len(y_true)), mistakes, bounds=bounds)

    def _draw(self, is_new_figure):
        curves = {name: (self.n_examples, n) for name, n in self.mistakes.items()}
        self.lines_ = draw_curves(
            self.ax_, curves, "Samples seen", "Mistakes", self.bounds
        )


def _check_partial_fit(model):
    try:
        _ = model.partial_fit
    except AttributeError as error:  # its message may give the reason
        raise TypeError(
            "estimator must have partial_fit, to count mistakes while samples "
            f"arrive one by one; got {model!r}."
        ) from error


def _count_mistakes(model, X, y, classes, edges):
    """Count the mistakes up to each edge; a block is predicted, then trained on."""
    # The first sample has no prediction: it only sets the classes.
    counts = [0]
    model.partial_fit(take_samples(X, slice(0, 1)), y[:1], classes=classes)
    for first, last in pairwise(edges):
        block = take_samples(X, slice(first, last))
        wrong = np.count_nonzero(model.predict(block) != y[first:last])
        counts.append(counts[-1] + wrong)
        model.partial_fit(block, y[first:last])
    return np.array(counts)


def _edges(n_samples, growth):
    """Compute the ends of the blocks. The first has one sample; later ones grow."""
    edges = [1]
    while edges[-1] < n_samples:
        edges.append(min(n_samples, edges[-1] + max(1, int(growth * edges[-1]))))
    return edges


class QueryCurveDisplay(Display):
    """Score against the number of labels, one curve per way of choosing samples.

    Create it with ``from_estimator`` or ``from_predictions``.

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
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    lines_ : dict of str to matplotlib Line2D
        Curves by name. Set by ``plot``.

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
        self.n_labels = np.asarray(n_labels)
        self.scores = {name: np.asarray(runs, float) for name, runs in scores.items()}
        self.score_name = score_name
        for name, runs in self.scores.items():
            if runs.ndim not in (1, 2) or runs.shape[-1] != len(self.n_labels):
                raise ValueError(
                    f"scores[{name!r}] must have one score for each of the "
                    f"{len(self.n_labels)} entries of n_labels; got shape {runs.shape}."
                )

    @classmethod
    def from_estimator(
        cls, estimator, X, y, X_test, y_test, *, n_points=20, n_random=5, scoring=None,
        random_state=None, ax=None,
    ) -> "QueryCurveDisplay":  # fmt: skip
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
            Metric, as in scikit-learn. None: the ``score`` of the estimator.
        random_state : int, RandomState instance or None, default=None
            Draws the random orders. Pass an int for reproducible results.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : QueryCurveDisplay
        """
        check_is_fitted(estimator, "query_indices_")
        scorer = check_scoring(estimator, scoring=scoring)
        rng = check_random_state(random_state)
        queried = np.asarray(estimator.query_indices_)
        queried = queried[queried >= 0]  # -1: taught without a query
        if not len(queried):
            raise ValueError("The estimator has queried no sample: there is no curve.")
        y = np.asarray(y)
        n_points = min(n_points, len(queried))
        n_labels = np.linspace(1, len(queried), n_points).round().astype(int)

        def curve(order):
            scores, committee, n_taught = [], clone(estimator), 0
            for n in n_labels:
                new = order[n_taught:n]
                # The committee is trained on from one point of the curve to the next.
                committee.teach(take_samples(X, new), y[new])
                n_taught, model = n, committee
                # A classifier needs two classes; until then the only label is
                # predicted.
                if len(np.unique(y[order[:n]])) == 1:
                    model = DummyClassifier(strategy="constant", constant=y[order[0]])
                    model.fit(X, y)
                scores.append(scorer(model, X_test, y_test))
            return np.array(scores)

        scores = {"queried": curve(queried)}
        if n_random:
            orders = [rng.permutation(len(y)) for _ in range(n_random)]
            scores["random"] = np.array([curve(order) for order in orders])
        name = scoring if isinstance(scoring, str) else "Score"
        name = "Accuracy" if scoring is None else name
        return cls(n_labels, scores, score_name=name).plot(ax=ax)

    @classmethod
    def from_predictions(cls, n_labels, scores, *, score_name="Score"):
        """Create the display from curves that were measured before.

        Parameters
        ----------
        n_labels : array-like of shape (n_points,)
            As for the class.
        scores : dict of str to array-likes
            As for the class.
        score_name : str, default="Score"
            As for the class.

        Returns
        -------
        display : QueryCurveDisplay
            The display. Call ``plot`` to draw it.
        """
        return cls(n_labels, scores, score_name=score_name)

    def _draw(self, is_new_figure):
        curves = {name: (self.n_labels, scores) for name, scores in self.scores.items()}
        self.lines_ = draw_curves(self.ax_, curves, "Labels", self.score_name)


class PotentialDisplay(Display):
    """Plot the average potential, which is the expected training error, by round.

    Create it with ``from_estimator`` or ``from_predictions``. The potential of a sample
    is the probability that the final vote is wrong about it, if each remaining
    hypothesis is correct with probability 1/2 + gamma. The average does not rise in
    rounds whose hypothesis has the edge gamma. After the last round it is the training
    error.

    Parameters
    ----------
    rounds : ndarray of shape (n_points,), dtype int
        Numbers of rounds played.
    potentials : ndarray of shape (n_points,), dtype float64
        Average potentials, from 0 to 1.
    training_error : float or None, default=None
        Error rate of the final vote on the training set. None: not drawn.
    name : str, default="average potential"
        Name of the curve.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    line_ : matplotlib Line2D
        The curve. Set by ``plot``.

    See Also
    --------
    sklboolean.BoostByMajority : The booster.

    References
    ----------
    Y. Freund. "Data Filtering and Distribution Modeling Algorithms for Machine
    Learning". PhD thesis, UC Santa Cruz, 1993, section 2.3.

    Examples
    --------
    Three rounds with the edge 1/4. Before the first round, the vote is wrong if at most
    one of the three hypotheses is correct, with probability (1 + 9) / 64. In the end it
    is wrong about one of two samples.

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
            Fitted by ``fit``. A booster fitted on a stream has no potentials.
        name : str, default="average potential"
            Name of the curve.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : PotentialDisplay
        """
        check_is_fitted(estimator)
        potentials = getattr(estimator, "potentials_", None)
        if potentials is None or not len(potentials):
            raise ValueError(
                "estimator must be a booster by majority that was fitted by fit, not "
                f"on a stream; got a {type(estimator).__name__} without potentials_."
            )
        error = getattr(estimator, "training_error_", None)
        rounds = np.arange(len(potentials))
        return cls(rounds, potentials, training_error=error, name=name).plot(ax=ax)

    @classmethod
    def from_predictions(cls, y_true, votes, *, gamma, name="average potential"):
        """Compute the average potential after each vote of any ensemble.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        votes : array-like of shape (n_rounds, n_samples)
            Prediction of each hypothesis for each sample. The number of hypotheses must
            be odd.
        gamma : float
            Assumed edge of the hypotheses, above 0 and below 0.5.
        name : str, default="average potential"
            Name of the curve.

        Returns
        -------
        display : PotentialDisplay
            The display. Call ``plot`` to draw it.
        """
        y_true, votes = np.asarray(y_true), np.asarray(votes)
        if votes.ndim != 2 or y_true.shape != votes.shape[1:] or not y_true.size:
            raise ValueError(
                "votes and y_true must have shapes (n_rounds, n_samples) and "
                f"(n_samples,), with at least one sample; got {votes.shape} and "
                f"{y_true.shape}."
            )
        k = check_odd(len(votes), "The number of rounds in votes")
        labels = np.unique(np.append(votes, y_true))
        if len(labels) > 2:
            raise ValueError(
                f"votes and y_true must have two labels at most; got {len(labels)}."
            )
        # Row i: how many of the first i votes are correct, for each sample.
        n_correct = np.zeros((k + 1, len(y_true)), dtype=int)
        np.cumsum(votes == y_true, axis=0, out=n_correct[1:])
        rounds = np.arange(k + 1)
        potentials = np.array(
            [majority_potentials(k, i, gamma)[n_correct[i]].mean() for i in rounds]
        )
        return cls(rounds, potentials, training_error=potentials[-1], name=name)

    def _draw(self, is_new_figure):
        error = self.training_error
        lines = draw_curves(
            self.ax_,
            {self.name: (self.rounds, self.potentials)},
            "Rounds played",
            "Average potential",
            None if error is None else {"training error": error},
        )
        self.line_ = lines[self.name]
        self.ax_.set_ylim(bottom=0)


class RobustnessDisplay(Display):
    """Draw the accuracy that is certain when some columns hold other values.

    At k it is the share of samples that are predicted correctly, whatever legal values
    any k of their columns are changed to. At 0 it is the accuracy.

    Parameters
    ----------
    n_changes : array-like of shape (n_samples,)
        Number of columns that must change to turn each prediction, from `robustness`.
    is_correct : array-like of shape (n_samples,), bool
        Whether the prediction of each sample is correct.

    Attributes
    ----------
    n_columns : ndarray of shape (n_points,), int
        0, 1, ..., up to the number of columns that turns every correct prediction that
        can be turned.
    certified_accuracy : ndarray of shape (n_points,), float64
        Certified accuracy for so many columns.
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.

    See Also
    --------
    robustness : Number of columns that must change.

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
        # The curve ends at the last correct prediction that can be turned.
        can_turn = self.is_correct & np.isfinite(self.n_changes)
        largest = int(self.n_changes[can_turn].max(initial=0))
        self.n_columns = np.arange(largest + 1)
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
        """
        is_correct = np.asarray(model.predict(X)) == np.asarray(y)
        n_changes = robustness(model, X, time_limit=time_limit)
        return cls(n_changes, is_correct).plot(ax=ax)

    def _draw(self, is_new_figure):
        points = self.n_columns, self.certified_accuracy
        self.ax_.step(*points, where="mid", color=COLORS[0])
        self.ax_.plot(*points, "o", color=COLORS[0])
        self.ax_.set(xlabel="Columns that may change", ylabel="Certified accuracy")
        self.ax_.set(xticks=self.n_columns, ylim=(0, 1.02))
