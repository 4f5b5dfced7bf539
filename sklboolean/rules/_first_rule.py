"""What classifiers share whose first satisfied rule decides."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import TableScoreMixin
from sklboolean._core.exports import versioned
from sklboolean._core.formula import Columns, FirstRule, class_labels
from sklboolean._core.formulas import html_table, python_label, python_value
from sklboolean._core.validation import validate_boolean
from sklboolean.rules._exports import (
    RulesMixin,
    check_columns,
    check_exported,
    read_classes,
    read_numbers,
)
from sklboolean.rules._gain_search import first_satisfied
from sklboolean.rules._rules import Rule, names_of, numbers_of, rules_from_fields


class FirstRuleMixin(RulesMixin, TableScoreMixin, ClassifierMixin):
    """Prediction, formula and exports of a list of rules and a default class.

    For estimators with ``classes_``, ``rules_``, ``default_``, ``class_counts_`` and
    ``binarize``.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _labelled_rules(self, rules, counts, decided):
        """Make the `Rule` objects of (literals, class number) pairs.

        ``counts`` holds the weight of each class that each rule decides, and
        ``decided`` the number of samples.
        """
        labelled = []
        for (literals, k), here, n in zip(rules, counts, decided, strict=False):
            precision = float(here[k] / (here.sum() or 1.0))
            label = python_value(self.classes_[k])
            names = names_of(literals, self._names())
            labelled.append(Rule(literals, None, None, int(n), precision, label, names))
        return labelled

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
        return self.classes_[np.searchsorted(self.classes_, labels)[indices]]

    def predict_proba(self, X) -> np.ndarray:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            Class frequencies among the training samples that the rule decides, with
            one more sample of each class (Laplace smoothing). All samples that a rule
            decides have the same. With a penalty below 1 a rule may predict a class of
            a probability below one half.
        """
        indices = self.apply(X)
        return self._probabilities()[indices]

    def _probabilities(self):
        """Compute the probabilities for each rule and the default."""
        counts = self.class_counts_ + 1.0
        return counts / counts.sum(axis=1, keepdims=True)

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
        probabilities = self._probabilities()
        return FirstRule(
            Columns.of(self, self.binarize),
            [rule.literals for rule in self.rules_],
            [rule.label for rule in self.rules_],
            python_value(self.default_),
            class_labels(self),
            probabilities,
            log_odds(probabilities),
            self._proof(),
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
            "classes", "dtype", "rules", "default", "class_counts", "n_features",
            "feature_names", "binarize",
        )  # fmt: skip
        classes, dtype, rules, default, counts, n_features, columns, binarize = (
            check_exported(data, cls.__name__, names).values()
        )
        check_columns(n_features, columns, binarize)
        rules = rules_from_fields(rules, n_features, ("coverage", "precision"))
        model = cls(binarize=binarize)
        model.classes_ = read_classes(classes, dtype)
        labels = model.classes_.tolist()
        if any(label not in labels for label in [default, *(r.label for r in rules)]):
            raise ValueError(
                f"data: the labels of rules, and the default, must be among {labels}."
            )
        shape = len(rules) + 1, len(labels)
        model.class_counts_ = read_numbers(counts, "class_counts", shape)
        if (model.class_counts_ < 0).any():
            raise ValueError("data: class_counts must not be negative.")
        model.rules_ = list(rules)
        model.default_ = model.classes_[labels.index(default)]
        model.n_features_in_ = n_features
        if columns is not None:
            model.feature_names_in_ = np.array(columns, dtype=object)
        return model

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
