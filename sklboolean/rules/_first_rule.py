"""What classifiers share whose first satisfied rule decides."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import TableScoreMixin
from sklboolean._core.damage import labels_of, require_shape
from sklboolean._core.dictionaries import check_columns, check_exported, read_numbers
from sklboolean._core.exports import versioned
from sklboolean._core.formula import Columns, FirstRule, class_labels
from sklboolean._core.formulas import html_table, python_label, python_value
from sklboolean._core.validation import validate_boolean
from sklboolean.rules._exports import RulesMixin, read_classes
from sklboolean.rules._gain_search import first_satisfied
from sklboolean.rules._grades import frequencies, grade
from sklboolean.rules._rules import Rule, names_of, numbers_of, rules_from_fields


class FirstRuleMixin(RulesMixin, TableScoreMixin, ClassifierMixin):
    """Prediction, formula and exports of a list of rules and a default class.

    For estimators with ``classes_``, ``rules_``, ``default_``, ``class_counts_``,
    ``grades_``, ``probabilities_`` and ``binarize``.
    """

    grades_ = probabilities_ = None  # 0.1.0 had none

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

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
        grades, decisions, self.probabilities_ = grade(
            rules, default, decisions.counts, samples
        )
        self.grades_ = self._labelled_rules(grades, decisions)

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
        """Say what is proved about the rules, a sentence each."""
        return ()

    def to_dict(self) -> dict:
        """Write the rules and what ``predict`` needs as a dictionary of JSON types.

        Returns
        -------
        data : dict
            Without the estimator that the rules were read from.

        Raises
        ------
        ValueError
            For labels that are neither text nor finite numbers.
        """
        check_is_fitted(self)
        values = {
            "classes": [python_label(label) for label in self.classes_],
            "dtype": self.classes_.dtype.str,
            "rules": [rule._fields() for rule in self.rules_],
            "default": python_label(self.default_),
            "class_counts": self.class_counts_.tolist(),
            "n_features": self.n_features_in_,
            "feature_names": self._names(),
            "binarize": self.binarize,
        }
        if self.grades_ is not None:
            values["grades"] = [rule._fields() for rule in self.grades_]
            values["probabilities"] = self.probabilities_.tolist()
        return versioned(type(self).__name__, values)

    @classmethod
    def from_dict(cls, data):
        """Make a fitted classifier from a dictionary.

        Parameters
        ----------
        data : dict
            From ``to_dict``, also after ``json.loads(json.dumps(data))``.

        Returns
        -------
        model : RuleClassifier or OptimalRuleSet
            An object of the class whose method was called. It predicts as the original.
            It has neither ``estimator_`` nor a proof, and its parameters other than
            ``binarize`` are the defaults.

        Raises
        ------
        ValueError
            When the dictionary is not one of this class, or was written by a newer
            version.
        """
        names = (
            "classes dtype rules default class_counts n_features feature_names binarize"
        ).split()
        classes, dtype, rules, default, counts, n_features, columns, binarize = (
            check_exported(data, cls.__name__, names).values()
        )
        check_columns(n_features, columns, binarize)
        rules = rules_from_fields(rules, n_features, ("coverage", "precision"))
        model = cls(binarize=binarize)
        model.n_features_in_ = n_features
        if columns is not None:
            model.feature_names_in_ = np.array(columns, dtype=object)
        model.classes_ = read_classes(classes, dtype)
        labels = model.classes_.tolist()
        check_labels([default, *(rule.label for rule in rules)], labels)
        shape = len(rules) + 1, len(labels)
        model.class_counts_ = read_numbers(counts, "class_counts", shape)
        if (model.class_counts_ < 0).any():
            raise ValueError("data: class_counts must not be negative.")
        model.rules_ = list(rules)
        if "grades" in data:
            model._read_grades(data["grades"], data.get("probabilities"))
        model.default_ = model.classes_[labels.index(default)]
        return model

    def _read_grades(self, grades, probabilities):
        """Read the grades and their probabilities, which 0.1.0 did not write."""
        labels = self.classes_.tolist()
        needs = ("coverage", "precision")
        self.grades_ = list(rules_from_fields(grades, self.n_features_in_, needs))
        check_labels([rule.label for rule in self.grades_], labels)
        shape = len(grades) + 1, len(labels)
        self.probabilities_ = read_numbers(probabilities, "probabilities", shape)
        if (self.probabilities_ <= 0).any():
            raise ValueError("data: probabilities must be above 0.")

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


def check_labels(found, labels):
    """Check that labels that were read are among those of the classes."""
    if not all(label in labels for label in found):
        raise ValueError(
            f"data: the labels of rules, and the default, must be among {labels}."
        )


def proof_text(whose, cost, bound, allowed=""):
    """Say what rules cost, and how far from the least cost that can be."""
    least = "" if bound >= cost else f" than {bound:.6g}"
    return (
        f"The rules {whose}cost {cost:.6g}. It is proved that no set of rules{allowed} "
        f"costs less{least}."
    )


def log_odds(probabilities):
    """Compute log-odds of the second of two classes, or logarithms of each class."""
    scores = np.log(probabilities)
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
