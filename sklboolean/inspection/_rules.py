"""RuleDisplay: rules as bars."""

from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import draw_bars

# Quantities that bars can show, and the labels of the axis.
SHOWN = {
    "weight": "weight",
    "contribution": "contribution",
    "coverage": "coverage (samples)",
    "precision": "precision",
}


class RuleDisplay:
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
    ax_ : matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
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
            The drawn display.

        Raises
        ------
        ValueError
            For an unknown ``value``, and if a rule has no such value.
        """
        return cls._draw(rules, value, feature_names, max_rules, ax, "{} if {}")

    @classmethod
    def _draw(cls, rules, value, feature_names, max_rules, ax, labelled):
        """Draw rules; the text ``labelled`` joins a label and a rule."""
        if value not in SHOWN:
            raise ValueError(f"value must be one of {list(SHOWN)}; got {value!r}.")
        if feature_names is None:
            feature_names = getattr(rules, "feature_names", None)
        if max_rules is not None and not (
            isinstance(max_rules, Integral) and max_rules > 0
        ):
            raise ValueError(
                f"max_rules must be None or an integer above 0; got {max_rules!r}."
            )
        rules = list(getattr(rules, "rules", rules))[:max_rules]
        values = [getattr(rule, value) for rule in rules]
        if any(one is None for one in values):
            raise ValueError(
                f"value={value!r}: not every rule has a {value}. Choose another value."
            )
        texts = [rule.to_text(feature_names) for rule in rules]
        texts = [
            text if rule.label is None else labelled.format(rule.label, text)
            for rule, text in zip(rules, texts, strict=True)
        ]
        return cls(texts, values, value_name=SHOWN[value]).plot(ax=ax)

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
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the names of the columns, or x0, x1, ...
        max_rules : int or None, default=None
            Number of rules to draw, the first ones. None: all.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : RuleDisplay
            The drawn display.

        Raises
        ------
        ValueError
            As for ``from_rules``.
        TypeError
            If there are no ``rules_``. A ``DNF`` is drawn by ``from_rules``.
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
        labelled = "{}: {}" if is_sum else "{} if {}"
        return cls._draw(
            estimator.rules_, value, feature_names, max_rules, ax, labelled
        )

    def plot(self, ax=None) -> "RuleDisplay":
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        self : RuleDisplay
            The display, with ``ax_``, ``figure_`` and ``bars_``.
        """
        self.ax_, self.figure_, self.bars_ = draw_bars(
            list(zip(self.texts, self.values, strict=True)), self.value_name, ax
        )
        return self
