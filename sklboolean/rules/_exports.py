"""Exports that estimators with rules share."""

import numpy as np
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.exports import ExportMixin, import_pandas
from sklboolean._core.packed_partitions import PackedPartitionsMixin


def rules_frame(rules, feature_names):
    """Make a data frame with a row for each `Rule`."""
    numbers = ("n_literals", "weight", "contribution", "coverage", "precision")
    return import_pandas().DataFrame(
        {
            "label": [rule.label for rule in rules],
            "rule": [rule.to_text(feature_names) for rule in rules],
            **{name: [getattr(rule, name) for rule in rules] for name in numbers},
        }
    )


class RulesMixin(PackedPartitionsMixin, ExportMixin):
    """Base of estimators with ``rules_``: exports, notebooks, fits to partitions.

    For estimators with ``_formula`` and ``_rules_html``. It comes before
    ``BaseEstimator``, whose diagram it shows above the rules in a notebook.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _names(self):
        """List the column names of X, if it had any."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(map(str, names))

    def _groups(self):
        """Number the groups of features, by their labels or by the column names."""
        return encode_groups(self.feature_groups, self.n_features_in_, self._names())

    @property
    def feature_importances_(self):
        """Share of each feature in what the rules do on the training samples.

        An ndarray of shape (`n_features_in_`,), dtype float64, of sum 1; all 0 without
        rules. A rule counts by the training samples that it decides, or, where rules
        have weights, by the number it covers times the absolute weight. Its literals
        share this equally.
        """
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        for rule in self.rules_:
            size = rule.coverage * (1.0 if rule.weight is None else abs(rule.weight))
            for feature, _ in rule.literals:
                importances[feature] += size / len(rule.literals)
        return importances / (importances.sum() or 1.0)

    def to_frame(self):
        """Make a data frame with a row for each rule.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns label, rule, n_literals, weight, contribution, coverage and
            precision.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        check_is_fitted(self)
        return rules_frame(self.rules_, self._names())

    def _repr_html_(self):
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, **_options):
        html, text = estimator_html_repr(self), repr(self)
        try:
            check_is_fitted(self)
        except ValueError:
            return {"text/plain": text, "text/html": html}
        return {
            "text/plain": f"{text}\n{self.to_text()}",
            "text/html": html + self._rules_html(),
        }
