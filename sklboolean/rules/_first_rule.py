"""Base of classifiers whose first satisfied rule decides."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import TableScoreMixin
from sklboolean._core.bits import count_features
from sklboolean._core.damage import labels_of, require_shape
from sklboolean._core.directions import check_signs, directions_of
from sklboolean._core.formula import Columns, FirstRule, class_labels
from sklboolean._core.formulas import html_table, python_value
from sklboolean._core.validation import validate_boolean
from sklboolean.rules._exports import RulesMixin
from sklboolean.rules._gain_search import first_satisfied
from sklboolean.rules._grades import frequencies, grade
from sklboolean.rules._rules import Rule, names_of, numbers_of


class FirstRuleMixin(RulesMixin, TableScoreMixin, ClassifierMixin):
    """Prediction, formula and exports of a list of rules and a default class.

    For estimators with ``classes_``, ``rules_``, ``default_``, ``class_counts_``,
    ``grades_``, ``probabilities_`` and ``binarize``.
    """

    grades_ = probabilities_ = None  # 0.1.0 had none

    def _labelled_rules(self, rules, decisions):
        """Make the `Rule` objects of (literals, class number) pairs."""
        labelled = []
        for (literals, k), here, n in zip(rules, *decisions, strict=False):
            precision = float(here[k] / (here.sum() or 1.0))
            label = python_value(self.classes_[k])
            names = names_of(literals, self._names())
            labelled.append(Rule(literals, None, None, int(n), precision, label, names))
        return labelled

    def _set_rules(self, rules, default, decisions, samples):
        """Keep a rule list, what it decides, and the grades of its samples."""
        self.rules_ = self._labelled_rules(rules, decisions)
        self.default_, self.class_counts_ = self.classes_[default], decisions.counts
        directions = directions_of(self)
        if directions.any():
            conjunctions, classes = zip(*rules, strict=True) if rules else ((), ())
            if len(set(classes)) > 1:
                raise ValueError(
                    "rules: with monotonic_cst all must be of one class, and the other "
                    "class the default. Write the rules of one class."
                )
            signs = 2 * np.array(classes, dtype=int) - 1
            check_signs(conjunctions, signs, directions, self._names())
        grades, decisions, self.probabilities_ = grade(
            rules, default, decisions.counts, samples, directions
        )
        self.grades_ = self._labelled_rules(grades, decisions)
        self.n_samples_fit_ = len(samples)
        self.feature_counts_ = count_features(samples.words, self.n_features_in_)

    def predict(self, X) -> np.ndarray:
        """Predict the label of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels of the first rules satisfied, else ``default_``.
        """
        indices = self.apply(X)
        labels = [*(rule.label for rule in self.rules_), self.default_]
        codes = np.searchsorted(self.classes_, labels)[indices]
        return labels_of(self.classes_, codes)

    def predict_proba(self, X) -> np.ndarray:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Those of the first of ``grades_`` that a sample satisfies: the class
            frequencies among its training samples, with one more of each class (Laplace
            smoothing). Those of the whole rule count as ten samples more. The most
            probable class is the label that ``predict`` returns, but for rules whose
            label is not the most frequent one, as may be with a penalty below 1.
        """
        check_is_fitted(self)
        samples = validate_boolean(self, X, reset=False)
        rules, probabilities = self._graded()
        return probabilities[first_satisfied(samples, [r.literals for r in rules])]

    def _graded(self):
        """Return the grades, and the probabilities of each and of all others."""
        rules, table = self.grades_, self.probabilities_
        if rules is None:
            rules, table = self.rules_, frequencies(self.class_counts_)
        require_shape(table, (len(rules) + 1, len(self.classes_)), "its probabilities")
        return rules, table

    def decision_function(self, X) -> np.ndarray:
        """Compute a score of each sample from the probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            With two classes the log of the odds of the second one, else the log of the
            probability of each class.
        """
        return log_odds(self.predict_proba(X))

    def apply(self, X) -> np.ndarray:
        """Find the rule that decides each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        indices : ndarray of shape (n_samples,), dtype int64
            Indices into ``rules_``; its length where the default decides.
        """
        check_is_fitted(self)
        samples = validate_boolean(self, X, reset=False)
        return first_satisfied(samples, [rule.literals for rule in self.rules_])

    def _formula(self):
        def rule_list(rules, probabilities=None, scores=None, **fields):
            return FirstRule(
                Columns.of(self, self.binarize),
                [rule.literals for rule in rules],
                [rule.label for rule in rules],
                python_value(self.default_),
                class_labels(self),
                probabilities,
                scores,
                **fields,
            )

        grades, probabilities = self._graded()
        scores, of_labels = log_odds(probabilities), rule_list(self.rules_)
        return rule_list(
            grades, probabilities, scores, proof=self._proof(), of_labels=of_labels
        )

    def _proof(self):
        """State what is proved about the rules, a sentence each."""
        return ()

    def _rules_html(self):
        names = self._names()
        rows = [
            [
                f"{rule.label} if {rule.to_text(names)}",
                *numbers_of(rule, "coverage", "precision"),
            ]
            for rule in self.rules_
        ]
        rows.append(
            [f"else {self.default_}", f"{self.class_counts_[-1].sum():.6g}", ""]
        )
        return html_table(
            "The first rule decides", ["rule", "coverage", "precision"], rows
        )


def log_odds(probabilities):
    """Compute log-odds of the second of two classes, or logarithms of each class."""
    scores = np.log(probabilities)
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
