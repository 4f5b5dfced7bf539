"""The rules, weights or votes that decide each sample, and their display."""

from dataclasses import dataclass
from math import fsum

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.feature_names import (
    conjunction_words,
    parse_name,
    split_pipeline,
)
from sklboolean._core.formulas import python_value
from sklboolean._core.parameters import check_integer
from sklboolean.active_learning import QueryByCommittee
from sklboolean.boosting import BoostByMajorityRegressor
from sklboolean.inspection._figure import draw_bars, take_samples
from sklboolean.inspection._sums import (
    as_bits,
    check_names,
    compare_with_predictions,
    final_estimator,
    read_sums,
    terms_that_hold,
)
from sklboolean.inspection._votes import (
    committee_votes,
    prediction_parts,
    vote_parts,
)


@dataclass(frozen=True)
class Explanation:
    """What decided one sample.

    Parameters
    ----------
    kind : {"rules", "weights", "votes", "predictions"}
        "rules": the first of ``parts`` decides. "weights": they and ``intercept`` add
        up to ``score``. "votes": each is what the vote of a hypothesis, or of equal
        ones, adds to ``score``, the margin of the vote. "predictions": each is what a
        hypothesis predicts; ``score`` is their median.
    prediction : label or float
        What the model predicts.
    target : label or None
        The class whose score is explained. None for rules and regressors.
    parts : list of (str, float)
        Conditions that hold. With "rules" the rules in their order, each with the
        probability of its label. With "predictions" the closest to the median first.
        Otherwise the largest absolute value first.
    intercept : float
        Part of the score that no condition has; 0 where ``kind`` is not "weights".
    score : float
        For "rules" the probability of the prediction, else the score of ``target``, or
        the value that a regressor predicts.

    See Also
    --------
    explain : Explain the samples of a data set.
    ExplanationDisplay : Draw an explanation.

    Examples
    --------
    >>> from sklboolean.inspection import Explanation
    >>> parts = [("age <= 30", 2.0), ("smoker", -0.5)]
    >>> print(Explanation("weights", "yes", "yes", parts, 1.0, 2.5).to_text())
    yes (score of yes: 2.5)
      +2.0000  age <= 30
      -0.5000  smoker
      +1.0000  always
    """

    kind: str
    prediction: object
    target: object
    parts: list
    intercept: float
    score: float

    def to_text(self, max_parts=10):
        """Write the explanation, a line for each part.

        Parameters
        ----------
        max_parts : int, default=10
            Maximum number of parts, at least 1. A last line tells how many are left.

        Returns
        -------
        text : str
        """
        check_integer(max_parts, "max_parts", 1)
        about = "probability" if self.kind == "rules" else "score"
        if self.target is not None:
            about += f" of {self.target}"
        lines = [f"{self.prediction} ({about}: {self.score:.4g})"]
        if self.kind != "rules" and self.target is None:  # a regressor
            lines = [f"{self.score:.4g}"]
        lines += [f"{value:+9.4f}  {text}" for text, value in self.parts[:max_parts]]
        rest = self.parts[max_parts:]
        if rest:
            value = sum(value for _, value in rest)
            adds_up = self.kind in ("weights", "votes")
            start = f"{value:+9.4f}" if adds_up else " " * 9
            lines.append(f"{start}  {len(rest)} more")
        if self.kind == "weights":
            lines.append(f"{self.intercept:+9.4f}  always")
        return "\n".join(lines)


def explain(model, X, *, target=None, feature_names=None):
    """List for each sample the rules, weights or votes that decide its prediction.

    Parameters
    ----------
    model : fitted estimator
        One of these, or a pipeline that ends in one, whose transformers name the
        features. A search such as ``GridSearchCV`` stands for its best estimator.

        * `RuleClassifier`, `ConjunctionClassifier`, `BooleanStump`,
          `ConjunctionStump`: the rules that hold.
        * `ConjunctionLogisticRegression`, `ConjunctionRegressor`, linear models with
          ``coef_``: the weights of the conjunctions or features that hold. Of linear
          and kernel models, all bounds of `BooleanEncoder` on one column are one part.
        * `KernelPerceptron`, `BooleanSVC`: the exact part of each feature in the score,
          see ``KernelPerceptron.feature_contributions``.
        * `BoostByMajority`, `FilteringBoostByMajority`, `OnlineBoostByMajority`: the
          votes of the hypotheses; stumps that agree are one part. Where classes play
          games against each other, a part names the two classes.
        * `QueryByCommittee`: the votes of the members, by their probabilities; of a
          version space the posterior; of a final estimator what it is explained by.
        * `BoostByMajorityRegressor`: what each regressor predicts.
    X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
        Samples, as for ``predict``.
    target : class label, default=None
        The class whose score is explained. None: the second of two classes, the
        predicted one of more. Rules need none.
    feature_names : sequence of str or None, default=None
        A name for each feature of the last step. None: those that the pipeline or the
        model knows, else x0, x1, ...

    Returns
    -------
    explanations : list of n_samples `Explanation`
        With ``parts``, the conditions and their values, and ``to_text()``.

    Raises
    ------
    ValueError
        For a model of another kind, an unknown ``target``, a wrong number of names, and
        when the parts do not add up to what the model predicts.

    See Also
    --------
    ExplanationDisplay : The same as a bar chart.
    top_features : The features with the largest weight over all samples.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import BooleanEncoder, BoostByMajority
    >>> from sklboolean.inspection import explain
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> booster = BoostByMajority(n_estimators=9, random_state=0)
    >>> model = make_pipeline(BooleanEncoder(n_bins=4), booster).fit(X, y)
    >>> explanation = explain(model, X.head(1))[0]
    >>> explanation.kind, explanation.prediction
    ('votes', 0)
    >>> parts = sum(value for _, value in explanation.parts)
    >>> abs(parts - explanation.score) < 1e-12
    True
    """
    check_is_fitted(model)
    whole = getattr(model, "best_estimator_", model)
    transformers, last, names = split_pipeline(whole)
    last = final_estimator(last)
    samples = X if transformers is None else transformers.transform(X)
    names = names if feature_names is None else feature_names
    predictions = [python_value(value) for value in whole.predict(X)]
    is_kernel = hasattr(last, "feature_contributions")
    if isinstance(last, QueryByCommittee) or hasattr(last, "_vote_shares"):
        columns, targets, scores = _scores(whole, last, X, predictions, target)
        names = check_names(names, last.n_features_in_)
        classes = [python_value(label) for label in last.classes_]
        bits = last._check_X(samples)
        if isinstance(last, QueryByCommittee):
            committee = last._state.committee
            found = committee.predict(bits, last.classes_, with_probabilities=True)
            votes = committee_votes(last.committee_, found, classes)
        else:
            votes = last._vote_shares(bits)
        parts = vote_parts(votes, bits, classes, columns, names)
        return _explanations("votes", predictions, targets, parts, scores)
    if isinstance(last, BoostByMajorityRegressor):
        texts = [f"{type(m).__name__} {k}" for k, m in enumerate(last.estimators_)]
        table = np.stack(list(last._predictions(samples)), axis=1)
        parts = prediction_parts(texts, table)
        targets, scores = [None] * len(parts), np.array(predictions, dtype=float)
        return _explanations("predictions", predictions, targets, parts, scores)
    sums = None if is_kernel else read_sums(last)
    bits = as_bits(samples, getattr(last, "binarize", 0.0))
    names = check_names(names, bits.shape[1])
    if is_kernel:
        columns, targets, scores = _scores(whole, last, X, predictions, target)
        shares = last.feature_contributions(samples)
        parts = []
        for sample, k in enumerate(columns):
            own = shares[sample] if shares.ndim == 2 else shares[sample, k]
            own = own if shares.ndim == 3 or k else -own
            found = np.flatnonzero(own)
            literals = [(int(j), bool(bits[sample, j])) for j in found]
            parts.append(_merge_bounds(literals, own[found].tolist(), names))
        return _explanations("weights", predictions, targets, parts, scores)
    held = terms_that_hold(sums.terms, bits)
    compare_with_predictions(sums.evaluate(held), whole, X, sums.link)
    texts = [
        " and ".join(conjunction_words(literals, names)) or "always"
        for literals in sums.terms
    ]
    if sums.link == "first":
        return _rules(last, sums, held, texts, predictions)
    if sums.link == "value":
        weights = np.broadcast_to(sums.weights[0], held.shape)
        targets, scores = [None] * len(held), np.asarray(whole.predict(X), dtype=float)
    else:
        columns, targets, scores = _scores(whole, last, X, predictions, target)
        weights = sums.weights
        if len(weights) == 1:
            weights = np.concatenate([-weights, weights])
        weights = weights[columns]
    is_linear = all(len(literals) == 1 for literals in sums.terms)
    parts = []
    for own, here in zip(weights, held, strict=True):
        found = [int(k) for k in np.flatnonzero(here) if own[k]]
        values = [float(own[k]) for k in found]
        if is_linear:
            literals = [sums.terms[k][0] for k in found]
            parts.append(_merge_bounds(literals, values, names))
        else:
            parts.append([(texts[k], w) for k, w in zip(found, values, strict=True)])
    return _explanations("weights", predictions, targets, parts, scores)


def _scores(whole, last, X, predictions, target):
    """Find the number and label of each sample's explained class, and its score."""
    classes = [python_value(label) for label in last.classes_]
    if target is not None and target not in classes:
        raise ValueError(f"target must be one of {classes}; got {target!r}.")
    if target is None:
        targets = [classes[1]] * len(predictions) if len(classes) == 2 else predictions
    else:
        targets = [python_value(target)] * len(predictions)
    columns = np.array([classes.index(label) for label in targets], dtype=np.intp)
    scores = np.asarray(whole.decision_function(X))
    if scores.ndim == 1:
        return columns, targets, np.where(columns, scores, -scores)
    return columns, targets, scores[np.arange(len(scores)), columns]


def _explanations(kind, predictions, targets, parts, scores):
    found = []
    for prediction, label, own, score in zip(
        predictions, targets, parts, scores.tolist(), strict=True
    ):
        if kind != "predictions":
            own = sorted(own, key=lambda part: -abs(part[1]))
        rest = score - sum(value for _, value in own) if kind == "weights" else 0.0
        found.append(Explanation(kind, prediction, label, own, rest, score))
    return found


def _merge_bounds(literals, values, names):
    """Make parts of single features; bounds on one number are one part."""
    groups = {}
    for (feature, is_true), value in zip(literals, values, strict=True):
        condition = parse_name(names[feature])
        is_bound = condition.relation in ("<=", ">")
        key = condition.column if is_bound else feature
        group = groups.setdefault(key, ([], []))
        group[0].append((feature, is_true))
        group[1].append(value)
    return [
        (" and ".join(conjunction_words(own, names)), fsum(weights))
        for own, weights in groups.values()
    ]


def _rules(last, sums, held, texts, predictions):
    """Explain by the rules that hold; the first decides, or the default."""
    classes = [python_value(label) for label in last.classes_]
    places = [classes.index(python_value(label)) for label in sums.labels]
    found = []
    for here, prediction in zip(held, predictions, strict=True):
        numbers = np.flatnonzero(here)
        parts = [
            (
                f"{sums.labels[k]} if {texts[k]}",
                float(sums.probabilities[k, places[k]]),
            )
            for k in numbers
        ]
        decides = numbers[0] if len(numbers) else -1
        score = float(sums.probabilities[decides, classes.index(prediction)])
        if not parts:
            parts = [(f"{prediction} if no rule holds", score)]
        found.append(Explanation("rules", prediction, None, parts, 0.0, score))
    return found


class ExplanationDisplay:
    """Bar chart of what decides the prediction of one sample.

    Parameters
    ----------
    explanation : Explanation
        From `explain`.
    max_parts : int, default=12
        Maximum number of bars, at least 1. One more bar sums up the rest.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
        After ``plot``.
    bars_ : matplotlib BarContainer
        After ``plot``; the first part is on top.

    See Also
    --------
    explain : The same as text and numbers.

    Examples
    --------
    >>> from sklboolean import AveragedPerceptron
    >>> from sklboolean.inspection import ExplanationDisplay, explain
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    >>> model = AveragedPerceptron(random_state=0).fit(X, y)
    >>> display = ExplanationDisplay(explain(model, X)[3])
    >>> display.explanation.prediction
    1
    """

    def __init__(self, explanation, *, max_parts=12):
        self.explanation = explanation
        self.max_parts = check_integer(max_parts, "max_parts", 1)

    @classmethod
    def from_estimator(
        cls, model, X, *, sample=0, target=None, feature_names=None, max_parts=12,
        ax=None,
    ):  # fmt: skip
        """Explain one sample and draw it.

        Parameters
        ----------
        model : fitted estimator
            As for `explain`.
        X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as for ``predict``.
        sample : int, default=0
            Number of the sample to explain.
        target : class label, default=None
            As for `explain`.
        feature_names : sequence of str or None, default=None
            As for `explain`.
        max_parts : int, default=12
            Maximum number of bars, at least 1.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : ExplanationDisplay
            The drawn display.

        Raises
        ------
        ValueError
            As for `explain`, and if there is no such sample.
        """
        check_integer(sample, "sample", 0)
        n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
        if sample >= n_samples:
            raise ValueError(
                f"sample={sample} must be below the number of samples in X, which is "
                f"{n_samples}."
            )
        found = explain(
            model, take_samples(X, [sample]), target=target,
            feature_names=feature_names,
        )  # fmt: skip
        return cls(found[0], max_parts=max_parts).plot(ax=ax)

    def plot(self, ax=None):
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        self : ExplanationDisplay
            The display, with ``ax_``, ``figure_`` and ``bars_``.
        """
        one = self.explanation
        parts, rest = one.parts[: self.max_parts], one.parts[self.max_parts :]
        if rest and one.kind in ("weights", "votes"):
            parts = [*parts, (f"{len(rest)} more", sum(value for _, value in rest))]
        if one.kind == "weights":
            parts = [*parts, ("always", one.intercept)]
        label = (
            "probability of the label" if one.kind == "rules" else "part of the score"
        )
        if one.target is not None:
            label += f" of {one.target}"
        if one.kind == "votes":
            label = f"share of votes for {one.target} less those against"
        if one.kind == "predictions":
            label = "prediction"
        self.ax_, self.figure_, self.bars_ = draw_bars(parts, label, ax)
        if one.kind == "rules":  # only the first one decides
            for bar in list(self.bars_)[1:]:
                bar.set_alpha(0.3)
        about = "probability" if one.kind == "rules" else "score"
        prefix = "" if one.target is None else "predicted: "
        title = f"{prefix}{one.prediction} ({about} {one.score:.3g})"
        if one.kind == "predictions":
            self.ax_.axvline(one.score, color="black", linestyle="--")
            title = f"predicted: {one.score:.4g}, the median"
        elif one.kind == "weights" and one.target is None:  # a regressor
            title = f"predicted: {one.score:.4g}"
        self.ax_.set_title(title)
        return self
