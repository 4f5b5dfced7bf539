"""Displays of bars: rules, and pairs of columns that depend on each other."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.feature_names import parse_name
from sklboolean._core.formulas import feature_names_of
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean.inspection._figure import Display, draw_bars
from sklboolean.inspection._formulas import check_names

QUANTITIES = ("weight", "contribution", "coverage", "precision")


class RuleDisplay(Display):
    """Bar chart of rules: their weights, or the samples that they cover.

    Parameters
    ----------
    texts : list of str
        The rules, from top to bottom.
    values : array-like of shape (n_rules,)
        Lengths of the bars.
    value_name : str, default="weight"
        Label of the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After ``plot``.
    bars_ : matplotlib BarContainer
        After ``plot``; the first rule is on top.

    See Also
    --------
    WeightsDisplay : Weights of features as squares.

    Examples
    --------
    >>> from sklboolean.inspection import RuleDisplay
    >>> RuleDisplay(["odor=foul", "not odor=none"], [3.0, 2.0]).values
    array([3., 2.])
    """

    def __init__(self, texts, values, *, value_name="weight"):
        self.texts = list(texts)
        self.values = np.asarray(values, dtype=float)
        self.value_name = value_name
        if self.values.shape != (len(self.texts),):
            raise ValueError(
                f"There are {len(self.texts)} texts, and values of shape "
                f"{self.values.shape}: give one value for each."
            )

    @classmethod
    def from_rules(
        cls, rules, *, value="weight", feature_names=None, max_rules=None, ax=None
    ) -> "RuleDisplay":
        """Draw the rules of a list, a `DNF` or a `RuleEnsemble`.

        Parameters
        ----------
        rules : sequence of Rule
            From `sklboolean.rules`, or a ``DNF`` or ``RuleEnsemble`` with ``rules``.
        value : {"weight", "contribution", "coverage", "precision"}, default="weight"
            Quantity that the bars show.
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the names stored with the rules, or x0,
            x1, ...
        max_rules : int or None, default=None
            Number of rules to draw, the first ones. None: all.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : RuleDisplay
        """
        return cls._draw_rules(rules, value, feature_names, max_rules, ax, "{} if {}")

    @classmethod
    def from_estimator(
        cls, estimator, *, value=None, feature_names=None, max_rules=None, ax=None
    ) -> "RuleDisplay":
        """Draw the rules of a fitted estimator.

        Parameters
        ----------
        estimator : RuleClassifier, ConjunctionLogisticRegression, ConjunctionRegressor
            A fitted estimator with ``rules_``.
        value : {"weight", "contribution", "coverage", "precision"}, default=None
            Quantity that the bars show. None: "weight" where rules have weights that
            are added up, else "coverage".
        feature_names, max_rules, ax : object, default=None
            As for ``from_rules``.

        Returns
        -------
        display : RuleDisplay
        """
        if not hasattr(estimator, "rules_"):
            if hasattr(estimator, "fit"):
                check_is_fitted(estimator)
            raise TypeError(
                f"A {type(estimator).__name__} has no rules_. Fit a RuleClassifier, or "
                "pass what extract_dnf or top_conjunctions returns to from_rules."
            )
        if feature_names is None:
            feature_names = getattr(estimator, "feature_names_in_", None)
        # A weight, which may be below 0, is a part of the score of the label.
        is_sum = hasattr(estimator, "conjunctions_")
        value = value or ("weight" if is_sum else "coverage")
        template = "{}: {}" if is_sum else "{} if {}"
        return cls._draw_rules(
            estimator.rules_, value, feature_names, max_rules, ax, template
        )

    @classmethod
    def _draw_rules(cls, rules, value, feature_names, max_rules, ax, template):
        """Draw rules; ``template`` joins a label and a rule."""
        check_choice(value, "value", QUANTITIES)
        if max_rules is not None:
            check_integer(max_rules, "max_rules", 1)
        if feature_names is None:
            feature_names = getattr(rules, "feature_names", None)
        rules = list(getattr(rules, "rules", rules))[:max_rules]
        values = [getattr(rule, value) for rule in rules]
        if None in values:
            raise ValueError(
                f"value={value!r}: not every rule has a {value}. Choose another value."
            )
        texts = [rule.to_text(feature_names) for rule in rules]
        texts = [
            text if rule.label is None else template.format(rule.label, text)
            for rule, text in zip(rules, texts, strict=True)
        ]
        name = "coverage (samples)" if value == "coverage" else value
        return cls(texts, values, value_name=name).plot(ax=ax)

    def _draw(self, is_new_figure):
        bars = list(zip(self.texts, self.values, strict=True))
        self.bars_ = draw_bars(self.ax_, bars, self.value_name, is_new_figure)


class DependenceDisplay(Display):
    """Bar chart of the pairs of columns with the largest mutual information.

    Parameters
    ----------
    pairs : list of (str, str, float)
        The names of two columns, and their mutual information in nats.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After ``plot``.
    bars_ : matplotlib BarContainer
        After ``plot``; the first pair is on top.

    See Also
    --------
    sklboolean.ChowLiuTree.mutual_information : The mutual information of all pairs.

    Examples
    --------
    >>> from sklboolean.inspection import DependenceDisplay
    >>> DependenceDisplay([("odor", "habitat", 0.5)]).pairs
    [('odor', 'habitat', 0.5)]
    """

    def __init__(self, pairs):
        self.pairs = list(pairs)

    @classmethod
    def from_estimator(cls, density, n_pairs=10, *, feature_names=None, ax=None):
        """Find the strongest pairs of a fitted density and draw them.

        Parameters
        ----------
        density : ChowLiuTree, BernoulliMixture, CombinationMachine, DensityMixture
            A fitted density of Boolean features.
        n_pairs : int, default=10
            Maximum number of pairs, at least 1.
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the column names of the fit, or x0, x1,
            ... Features such as ``age <= 30`` and ``city = Rome`` stand for the columns
            age and city: two columns have the largest mutual information of two of
            their features, unless `feature_groups` made one attribute of a column.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : DependenceDisplay
        """
        check_is_fitted(density)
        check_integer(n_pairs, "n_pairs", 1)
        names = feature_names_of(density) if feature_names is None else feature_names
        names = check_names(names, density.n_features_in_)
        # Conditions on one column, such as age <= 30 and age <= 40, are one column.
        columns = [parse_name(name).column for name in names]
        distinct = list(dict.fromkeys(columns))
        column_numbers = np.array([distinct.index(column) for column in columns])
        largest = np.zeros((len(distinct),) * 2)
        information = density.mutual_information()
        np.maximum.at(largest, (column_numbers[:, None], column_numbers), information)
        first, second = np.triu_indices(len(distinct), 1)
        order = np.argsort(-largest[first, second], kind="stable")[:n_pairs]
        pairs = [
            (distinct[i], distinct[j], float(largest[i, j]))
            for i, j in zip(first[order], second[order], strict=True)
        ]
        return cls(pairs).plot(ax=ax)

    def _draw(self, is_new_figure):
        bars = [(f"{first}, {second}", value) for first, second, value in self.pairs]
        label = "mutual information (nats)"
        self.bars_ = draw_bars(self.ax_, bars, label, is_new_figure)
