"""The rules, weights or votes that decide each sample, and their display."""

from dataclasses import dataclass
from math import fsum

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.exports import import_pandas
from sklboolean._core.feature_names import FeatureNames, split_pipeline
from sklboolean._core.formula import FirstRule, Members, class_labels, formula_of
from sklboolean._core.formulas import python_value
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean._core.validation import count_samples, take_samples
from sklboolean.inspection._figure import Display, draw_bars
from sklboolean.inspection._formulas import (
    as_bits,
    check_conjunctions,
    check_names,
    compare_with_predictions,
)

# `explain` in steps: read the formula of the last step of the model, or the shares of
# features of a kernel model; compare its values with the predictions, so that nothing
# is explained that the model does not do; choose for each sample the class whose score
# is explained; list the parts of this score; multiply them where log-odds are
# explained. Except for lists of rules, the parts of a sample and the intercept add up
# to its score.
# Samples are rows of arrays of shape (n_samples, ...); ``columns`` has for each of them
# the number of its class, ``parts_by_sample`` a list of pairs of a text and a number.

SMALLEST = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Explanation:
    """Explanation of one prediction by the conditions, rules or votes behind it.

    Parameters
    ----------
    kind : {"rules", "weights", "votes", "predictions"}
        "rules": the first of ``parts`` decides. "weights": they and ``intercept`` add
        up to ``score``. "votes": each is what the vote of a hypothesis, or of equal
        ones, adds to ``score``. "predictions": each is what a hypothesis predicts;
        ``score`` is their median.
    prediction : label or float
        Prediction of the model.
    target : label or None
        The class whose score is explained. None for rules and regressors.
    parts : list of (str, float)
        Conditions that hold. With "rules" the rules in their order, each with the
        probability of its label. With "predictions" the closest to the median first.
        Otherwise the largest absolute value first.
    intercept : float
        Part of the score that no condition has; 0 where ``kind`` is not "weights".
    score : float
        For "rules" the probability of the prediction, for a regressor the value that it
        predicts, else the score of ``target`` in the unit that ``quantity`` names.
    probability : float or None
        Probability of ``target``, for "rules" of the prediction. None: the model has no
        probabilities.
    quantity : {"score", "log-odds", "probability"}
        Meaning of ``score``. "log-odds": of two classes with probabilities, the natural
        logarithm of the odds of ``target``, to which the parts add up. "score": what
        ``decision_function`` returns.

    Attributes
    ----------
    about : str
        Description of the score, such as "log-odds of yes".
    answer : str
        The prediction and its probability, as sentences.

    See Also
    --------
    explain : Explain the samples of a data set.
    ExplanationDisplay : Draw an explanation.

    Examples
    --------
    >>> from sklboolean.inspection import Explanation
    >>> parts = [("age <= 30", 2.0), ("smoker", -0.5)]
    >>> explanation = Explanation(
    ...     "weights", "yes", "yes", parts, 1.0, 2.5, 0.924, "log-odds"
    ... )
    >>> explanation
    Explanation(log-odds of yes: 2.5, weights: 2)
    >>> print(explanation.to_text())
    The prediction is yes. The probability of yes is 92.4 %.
    These conditions raise the log-odds of yes:
      +2  age <= 30
    These conditions lower the log-odds of yes:
      -0.5  smoker
    Every sample starts at +1. The sum is 2.5, the log-odds of yes.
    """

    kind: str
    prediction: object
    target: object
    parts: list
    intercept: float
    score: float
    probability: float | None
    quantity: str

    def __repr__(self):
        n_parts = f"{self.kind}: {len(self.parts)}"
        return f"Explanation({self.about}: {self.score:.4g}, {n_parts})"

    def __str__(self):
        return self.to_text()

    @property
    def about(self):
        """Description of the score, such as "log-odds of yes"."""
        if self.target is not None:
            return f"{self.quantity} of {self.target}"
        if self.kind == "rules":
            return f"probability of {self.prediction}"
        return "prediction"

    def to_frame(self):
        """Make a data frame with a row for each part, and for the intercept.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns part and value.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        columns = ["part", "value"]
        return import_pandas().DataFrame(shown_parts(self), columns=columns)

    def to_text(self, max_parts=10) -> str:
        """Write the explanation in sentences, with a line for each part.

        Parameters
        ----------
        max_parts : int, default=10
            Maximum number of parts, at least 1. A last line counts the others.

        Returns
        -------
        text : str
        """
        check_integer(max_parts, "max_parts", 1)
        shown, others = self.parts[:max_parts], self.parts[max_parts:]
        adds_up = self.kind in ("weights", "votes")
        lines = [self.answer]
        for sentence, parts in self._groups(shown):
            lines += [sentence] * bool(parts)
            lines += [f"  {v:{'+' * adds_up}.4g}  {text}" for text, v in parts]
        if others:
            what = f"adds up to {sum(v for _, v in others):+.4g}"
            what = what if adds_up else "is left out"
            lines.append(f"The rest, {len(others)} more, {what}.")
        if self.kind == "weights":
            lines.append(
                f"Every sample starts at {self.intercept:+.4g}. The sum is "
                f"{self.score:.4g}, the {self.about}."
            )
        return "\n".join(lines)

    @property
    def answer(self):
        """The prediction and its probability, as sentences."""
        if self.kind != "rules" and self.target is None:  # a regressor
            return f"The prediction is {self.score:.4g}."
        text = f"The prediction is {self.prediction}."
        if self.probability is None:
            return text
        label = self.prediction if self.target is None else self.target
        return f"{text} The probability of {label} is {100 * self.probability:.3g} %."

    def _groups(self, parts):
        """List sentences and the parts that each is about."""
        if self.kind == "rules":
            yield "This rule is the first that holds, so it decides:", parts[:1]
            yield "These rules hold, too, but do not count:", parts[1:]
        elif self.kind == "predictions":
            yield "It is the median of these predictions:", parts
        else:
            things = "conditions" if self.kind == "weights" else self.kind
            raising = [part for part in parts if part[1] > 0]
            lowering = [part for part in parts if part[1] < 0]
            yield f"These {things} raise the {self.about}:", raising
            yield f"These {things} lower the {self.about}:", lowering


def explain(model, X, *, target=None, feature_names=None) -> list:
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
        model has, else x0, x1, ...

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
    transformers, last, names = split_pipeline(model)
    X = as_frame(X)
    samples = X if transformers is None else transformers.transform(X)
    names = names if feature_names is None else feature_names
    is_kernel = hasattr(last, "feature_contributions")
    formula = formula_of(last)
    # Conjunctions: a list of rules, weights, or votes of stumps.
    if not is_kernel and not isinstance(formula, Members):
        formula = check_conjunctions(last, formula)
        bits = as_bits(samples, formula.columns.binarize)
        names = FeatureNames(check_names(names, bits.shape[1]))
        compare_with_predictions(formula, bits, model, X)
        if isinstance(formula, FirstRule):
            return rule_explanations(formula, bits, names)
        score = ExplainedScore.of(model, X, target, formula.has_probabilities)
        list_parts = stump_votes if formula.kind == "votes" else weight_parts
        parts_by_sample = list_parts(formula, bits, score.columns, names)
        return score.explanations(formula.kind, parts_by_sample)
    # Members without a formula, and kernel models: the slope of the calibration, where
    # there is one, is the only link to probabilities.
    is_calibrated = hasattr(last, "calibration_slope_")
    score = ExplainedScore.of(model, X, target, is_calibrated)
    # A regressor predicts the median of its hypotheses.
    if not is_kernel and formula.kind == "predictions":
        parts_by_sample = prediction_parts(formula.of_samples(samples))
        return score.explanations("predictions", parts_by_sample)
    names = FeatureNames(check_names(names, last.n_features_in_))
    if is_kernel:
        # Kernel models divide their score among the features exactly.
        bits = as_bits(samples, getattr(last, "binarize", 0.0))
        shares = last.feature_contributions(samples)
        parts_by_sample = kernel_parts(shares, bits, score.columns, names)
        return score.explanations("weights", parts_by_sample)
    # Any other ensemble: a vote of each hypothesis.
    votes = formula.of_samples(samples)
    classes = class_labels(last)
    parts_by_sample = member_votes(votes, samples, classes, score.columns, names)
    return score.explanations("votes", parts_by_sample)


def shown_parts(explanation, max_parts=None):
    """List the first parts, all others with their sum or None, and the intercept."""
    pairs, kind = list(explanation.parts), explanation.kind
    shown = len(pairs) if max_parts is None else max_parts
    pairs, others = pairs[:shown], pairs[shown:]
    if others:
        # Predictions and rules cannot be summed up.
        adds_up = kind in ("weights", "votes")
        value = sum(value for _, value in others) if adds_up else None
        pairs.append((f"{len(others)} more", value))
    return pairs + [("always", explanation.intercept)] * (kind == "weights")


def as_frame(X):
    """Make a frame with one line of a Series, the one sample that it holds."""
    is_series = hasattr(X, "to_frame") and getattr(X, "ndim", 2) == 1
    return X.to_frame().T.infer_objects() if is_series else X


@dataclass(frozen=True)
class ExplainedScore:
    """The score of each sample that is explained, and what its parts are multiplied by.

    Attributes
    ----------
    predictions : list of labels or floats
    targets : list of labels, or of None for a regressor
    columns : ndarray of shape (n_samples,), int
        Number of the target.
    values : ndarray of shape (n_samples,), float64
    factors : ndarray of shape (n_samples,), float64
        They turn parts of ``decision_function`` into parts of ``values``.
    probabilities : list of float, or of None
    quantity : {"score", "log-odds"}
    """

    predictions: list
    targets: list
    columns: np.ndarray
    values: np.ndarray
    factors: np.ndarray
    probabilities: list
    quantity: str

    @classmethod
    def of(cls, whole, X, target, is_calibrated):
        """Choose the class that is explained for each sample, and compute its score.

        ``is_calibrated`` says that the probabilities are a sigmoid of the score.
        """
        predictions = [python_value(value) for value in whole.predict(X)]
        n_samples, everything = len(predictions), np.arange(len(predictions))
        ones, unknown = np.ones(n_samples), [None] * n_samples
        if not hasattr(whole, "classes_"):
            # A regressor: the prediction is the score.
            values = np.array(predictions, dtype=np.float64)
            columns = np.zeros(n_samples, dtype=np.intp)
            return cls(predictions, unknown, columns, values, ones, unknown, "score")
        targets, columns = explained_classes(class_labels(whole), predictions, target)
        scores = np.asarray(whole.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            # One column of scores, for the second of two classes.
            values = np.where(columns, scores, -scores)
        else:
            values = scores[everything, columns]
        if not hasattr(whole, "predict_proba"):
            return cls(predictions, targets, columns, values, ones, unknown, "score")
        table = whole.predict_proba(X)
        probabilities = table[everything, columns].tolist()
        factors, quantity = ones, "score"
        if scores.ndim == 1 and is_calibrated:
            # Both columns are exact where they are small, so their ratio is, too.
            sides = np.log(np.maximum(table, SMALLEST))
            log_odds = sides[everything, columns] - sides[everything, 1 - columns]
            slope = getattr(split_pipeline(whole)[1], "calibration_slope_", 1.0)
            is_tie = np.abs(values) < SMALLEST
            factors = np.where(is_tie, slope, log_odds / np.where(is_tie, 1.0, values))
            values, quantity = factors * values, "log-odds"
        return cls(
            predictions, targets, columns, values, factors, probabilities, quantity
        )

    def explanations(self, kind, parts_by_sample):
        """Make an explanation of the parts of each sample."""
        explanations = []
        for sample, parts_of_sample in enumerate(parts_by_sample):
            score, intercept = float(self.values[sample]), 0.0
            if kind != "predictions":
                factor = float(self.factors[sample])
                # Parts of the score of decision_function become parts of the log-odds.
                scaled = [(t, float(factor * value)) for t, value in parts_of_sample]
                parts_of_sample = sorted(scaled, key=lambda part: -abs(part[1]))
            if kind == "weights":
                # The intercept is computed last, so that rounding errors are in it.
                intercept = score - sum(value for _, value in parts_of_sample)
            answer = self.predictions[sample], self.targets[sample]
            result = score, self.probabilities[sample], self.quantity
            explanations.append(
                Explanation(kind, *answer, parts_of_sample, intercept, *result)
            )
        return explanations


def explained_classes(classes, predictions, target):
    """Choose the class to explain: the target, the second of two, or the predicted."""
    if target is not None:
        check_choice(target, "target", classes)
        targets = [python_value(target)] * len(predictions)
    elif len(classes) == 2:
        targets = [classes[1]] * len(predictions)
    else:
        targets = predictions
    columns = [classes.index(label) for label in targets]
    return targets, np.array(columns, dtype=np.intp)


def weight_parts(formula, bits, columns, names):
    """List the weights of the terms that hold in each sample."""
    weights = formula.weights
    if formula.classes is not None and len(weights) == 1:
        # One row of weights is for the second class; the first has the opposite.
        weights = np.concatenate([-weights, weights])
    satisfied, terms, texts = formula.satisfied(bits), formula.terms, {}
    parts_by_sample = []
    for holds, column in zip(satisfied, columns, strict=True):
        satisfied_terms = np.flatnonzero(holds & (weights[column] != 0))
        singles, parts = [], []
        for k in satisfied_terms.tolist():
            weight = float(weights[column, k])
            if len(terms[k]) == 1 and not formula.has_points:
                singles.append((terms[k][0], weight))
                continue
            if k not in texts:
                # A text serves all samples in which its term holds.
                texts[k] = " and ".join(names.words(terms[k])) or "always"
            parts.append((texts[k], weight))
        # The bounds of one column that hold become one interval.
        parts_by_sample.append(merge_bounds(singles, names) + parts)
    return parts_by_sample


def kernel_parts(shares, bits, columns, names):
    """List the exact part of each feature in the score of a kernel model."""
    parts_by_sample = []
    for sample, column in enumerate(columns):
        # Shares have shape (n_samples, n_features), or a second axis of classes.
        values = shares[sample] if shares.ndim == 2 else shares[sample, column]
        values = values if shares.ndim == 3 or column else -values
        features = np.flatnonzero(values)
        pairs = [((int(j), bool(bits[sample, j])), float(values[j])) for j in features]
        parts_by_sample.append(merge_bounds(pairs, names))
    return parts_by_sample


def merge_bounds(pairs, names):
    """Make parts of literals and their values; bounds on one number are one part."""
    groups = {}
    for (feature, is_true), value in pairs:
        condition = names.condition(feature)
        is_bound = condition.relation in ("<=", ">")
        # Bounds on one number have its column as key, other conditions their feature.
        key = condition.column if is_bound else feature
        group = groups.setdefault(key, ([], []))
        group[0].append((feature, is_true))
        group[1].append(value)
    return [
        (" and ".join(names.words(group)), fsum(weights))
        for group, weights in groups.values()
    ]


def rule_explanations(formula, bits, names):
    """Explain by the rules that hold; the first decides, or the default."""
    columns = [formula.classes.index(label) for label in formula.labels]
    texts = [
        f"{label} if {' and '.join(names.words(term)) or 'always'}"
        for label, term in zip(formula.labels, formula.terms, strict=True)
    ]
    probabilities = formula.probabilities
    explanations = []
    for holds in formula.satisfied(bits):
        numbers = np.flatnonzero(holds)
        # The first rule that holds decides; index -1 is the default.
        decides = numbers[0] if len(numbers) else -1
        prediction = formula.labels[decides] if len(numbers) else formula.default
        score = float(probabilities[decides, formula.classes.index(prediction)])
        rules = [(texts[k], float(probabilities[k, columns[k]])) for k in numbers]
        rules = rules or [(f"{prediction} if no rule holds", score)]
        result = 0.0, score, score, "probability"
        explanations.append(Explanation("rules", prediction, None, rules, *result))
    return explanations


def stump_votes(formula, bits, columns, names):
    """Collect the votes of stumps on each sample; each condition is one part.

    A condition with the weight w adds w / 2 where it holds and -w / 2 elsewhere; the
    rest of its weight is a constant.

    Parameters
    ----------
    formula : WeightedSum
        Formula of votes.
    bits : ndarray of shape (n_samples, n_features), bool
    columns : ndarray of shape (n_samples,), int
        Number of the class whose score is explained.
    names : FeatureNames

    Returns
    -------
    parts : list of n_samples lists of (str, float)
        They add up to the score of the class.
    """
    weights, intercepts = formula.scaled()
    halves = weights / 2
    constants = intercepts + halves.sum(axis=1)
    sides = [condition_and_opposite(term, names) for term in formula.terms]
    satisfied = formula.satisfied(bits)
    parts_by_sample = []
    for number, (holds, column) in enumerate(zip(satisfied, columns, strict=True)):
        sums = {}
        # Conditions of several games can have the same text: their votes are added.
        for output, factor, game in summands_of_class(
            formula, column, bits[number : number + 1]
        ):
            values = np.where(holds, halves[output], -halves[output])
            votes = [
                (sides[k][not holds[k]], values[k]) for k in np.flatnonzero(values)
            ]
            for text, value in [*votes, ("always", constants[output])]:
                text = f"{text} ({game})" if game else text
                sums[text] = sums.get(text, 0.0) + factor * value
        # Votes for and against one condition cancel out, except for rounding.
        parts_by_sample.append([pair for pair in sums.items() if abs(pair[1]) > 1e-12])
    return parts_by_sample


def summands_of_class(formula, column, sample):
    """List the sums that make up the score of a class.

    Returns
    -------
    outputs : list of (int, float, str)
        Number of the sum, its factor, and the two classes of its game if it is one.
    """
    if formula.games is None:
        is_single = len(formula.weights) == 1
        return [(0, 1.0 if column else -1.0, "")] if is_single else [(column, 1.0, "")]
    # The score of a class is the sum of its games, each with the sign of its side.
    factors = formula.game_factors(formula.sums(sample))[0]
    return [
        (output, factors[output] * (1 if column == game[1] else -1), name)
        for output, (game, name) in enumerate(
            zip(formula.games, formula.output_names(), strict=True)
        )
        if column in game
    ]


def condition_and_opposite(term, names):
    """Write a conjunction, and its negation."""
    text = " and ".join(names.words(term))
    if len(term) == 1:
        [(feature, value)] = term
        return text, names.words([(feature, not value)])[0]
    return text, f"not ({text})"


def member_votes(votes, samples, classes, columns, names):
    """Collect the votes of any hypotheses on each sample; equal texts are one part.

    Parameters
    ----------
    votes : iterable of (hypothesis or str, str, ndarray)
        Each hypothesis, the game that it plays, and what its vote adds to the scores,
        of shape (n_samples, n_classes).
    samples : ndarray or sparse array of shape (n_samples, n_features)
    classes : list of n_classes labels
    columns : ndarray of shape (n_samples,), int
        Number of the class whose score is explained.
    names : FeatureNames

    Returns
    -------
    parts : list of n_samples lists of (str, float)
        They add up to the score of the class. Hypotheses without a part in it are left
        out.
    """
    sums, numbers = [{} for _ in columns], np.arange(len(columns))
    for number, (hypothesis, game, shares) in enumerate(votes):
        if isinstance(hypothesis, str):
            texts = [hypothesis] * len(numbers)
        elif hasattr(hypothesis, "side_classes_"):
            texts = side_texts(hypothesis, samples, names)
        else:
            start = f"{type(hypothesis).__name__} {number}: "
            texts = [start + voted_class(row, classes) for row in shares]
        for i, value in enumerate(shares[numbers, columns].tolist()):
            # A hypothesis of another game adds nothing to this class.
            if value:
                text = f"{texts[i]} ({game})" if game else texts[i]
                sums[i][text] = sums[i].get(text, 0.0) + value
    return [
        [(text, value) for text, value in values.items() if abs(value) > 1e-12]
        for values in sums
    ]


def voted_class(shares, classes):
    """Write the class that a hypothesis voted for."""
    if shares.max() > 0:
        return str(classes[shares.argmax()])
    return f"not {classes[shares.argmin()]}"


def side_texts(stump, samples, names):
    """Write the side of a stump on which each sample is."""
    rules = formula_of(stump)
    if not rules.terms:
        return ["always"] * samples.shape[0]
    satisfied = rules.satisfied(as_bits(samples, rules.columns.binarize))[:, 0]
    text, opposite = condition_and_opposite(rules.terms[0], names)
    return [text if holds else opposite for holds in satisfied]


def prediction_parts(predictions):
    """List what each regressor of a median predicts, the closest to it first.

    Parameters
    ----------
    predictions : iterable of (regressor, ndarray of shape (n_samples,))

    Returns
    -------
    parts : list of n_samples lists of (str, float)
    """
    models, columns = zip(*predictions, strict=True)
    names = [f"{type(model).__name__} {k}" for k, model in enumerate(models)]
    table = np.stack(columns, axis=1)
    far = np.abs(table - np.median(table, axis=1)[:, None])
    return [
        [(names[k], float(row[k])) for k in order]
        for row, order in zip(table, np.argsort(far, kind="stable"), strict=True)
    ]


class ExplanationDisplay(Display):
    """Bar chart of what decides the prediction of one sample.

    Parameters
    ----------
    explanation : Explanation
        From `explain`.
    max_parts : int, default=12
        Maximum number of bars, at least 1. One more bar sums up the rest.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
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
    ) -> "ExplanationDisplay":  # fmt: skip
        """Explain one sample and draw it.

        Parameters
        ----------
        model : fitted estimator
            As for `explain`.
        X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as for ``predict``.
        sample : int, default=0
            Number of the sample to explain.
        target, feature_names : object, default=None
            As for `explain`.
        max_parts : int, default=12
            Maximum number of bars, at least 1.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : ExplanationDisplay
        """
        check_integer(sample, "sample", 0, count_samples(X) - 1)
        explanations = explain(
            model, take_samples(X, [sample]), target=target, feature_names=feature_names
        )
        return cls(explanations[0], max_parts=max_parts).plot(ax=ax)

    def _draw(self, is_new_figure):
        explanation, kind = self.explanation, self.explanation.kind
        pairs = shown_parts(explanation, self.max_parts)
        bars = [(text, value) for text, value in pairs if value is not None]
        label = {"rules": "probability of the label", "predictions": "prediction"}
        label = label.get(kind, f"part of the {explanation.about}")
        if kind == "votes" and explanation.quantity == "score":
            label = f"share of votes for {explanation.target} less those against"
        self.bars_ = draw_bars(self.ax_, bars, label, is_new_figure)
        if kind == "rules":  # only the first one decides
            # Later rules hold, too, but do not count.
            for bar in list(self.bars_)[1:]:
                bar.set_alpha(0.3)
        elif kind == "predictions":
            self.ax_.axvline(explanation.score, color="black", linestyle="--")
        self.ax_.set_title(explanation.answer)
