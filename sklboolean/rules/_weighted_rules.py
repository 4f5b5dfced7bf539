"""Base of models that add up weights of conjunctions."""

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.formula import Columns, WeightedSum, class_labels
from sklboolean._core.formulas import html_table
from sklboolean._core.validation import validate_boolean
from sklboolean.rules._edits import EditedMixin
from sklboolean.rules._exports import RulesMixin
from sklboolean.rules._rules import Rule, names_of, numbers_of


class WeightedRulesMixin(EditedMixin, RulesMixin):
    """Scores, rules and formula of a model that keeps a `ConjunctionSum`.

    Subclasses have ``_state`` and ``coverages_``, and for notebooks ``_caption()`` and
    ``_header``, the names of the columns of their table.
    """

    def _scores(self, X):
        """Compute the sums of each sample, of shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        return self._state.scores(validate_boolean(self, X, reset=False))

    def _weighted_rules(self):
        """List a `Rule` for each weight of each output that is not 0."""
        check_is_fitted(self)
        state, names = self._state, self._names()
        labels = [None] if len(state.coefficients) == 1 else class_labels(self)
        return [
            Rule(
                literals, float(weight), float(weight), int(n), label=label,
                names=names_of(literals, names),
            )
            for label, weights in zip(labels, state.coefficients, strict=True)
            for literals, weight, n in zip(
                state.conjunctions, weights, self.coverages_, strict=True
            )
            if weight
        ]  # fmt: skip

    def _formula(self, **fields):
        is_label = is_classifier(self)
        return WeightedSum(
            Columns.of(self, self.binarize),
            self._state.conjunctions,
            self._state.coefficients,
            self._state.intercepts,
            class_labels(self) if is_label else None,
            has_probabilities=is_label,
            proof=self._proof(),
            **fields,
        )

    def _rules_html(self):
        names = self._names()
        rows = [
            [
                str(rule.label),
                rule.to_text(names),
                *numbers_of(rule, "weight", "coverage"),
            ]
            for rule in self.rules_
        ]
        # Regressors, and two classes, have one sum, whose conjunctions have no label.
        first = int(len(self._state.coefficients) == 1)
        header = self._header[first:]
        return html_table(self._caption(), header, [row[first:] for row in rows])
