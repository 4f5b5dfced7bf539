"""Rules as plain dictionaries, read and checked, and as data frames."""

from itertools import pairwise

import numpy as np
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.dictionaries import is_integer
from sklboolean._core.exports import ExportMixin, import_pandas
from sklboolean._core.formulas import python_label, shown
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


def read_classes(labels, dtype):
    """Make the sorted array of class labels of its list and the name of its dtype."""
    if not isinstance(labels, list) or not labels or not isinstance(dtype, str):
        raise ValueError(
            "data: classes must be a list of labels, and dtype the name of their dtype;"
            f" got {shown(labels)} and {shown(dtype)}."
        )
    values = [python_label(label) for label in labels]
    try:
        classes = np.array(values, dtype=dtype)
        is_right = classes.dtype.kind in "biufUO" and classes.tolist() == values
        # Longer floats have labels that no plain value equals.
        is_right &= classes.dtype.kind != "f" or classes.dtype.itemsize <= 8
        is_right &= all(a < b for a, b in pairwise(values))
    except (TypeError, ValueError, OverflowError):
        is_right = False
    if not is_right:
        raise ValueError(
            f"data: classes must be ascending labels of dtype {shown(dtype)}; got "
            f"{shown(labels)}."
        )
    return classes


def read_conjunctions(conjunctions, n_features):
    """Make a tuple of conjunctions from lists of pairs."""
    if not isinstance(conjunctions, list):
        raise ValueError(
            f"data: conjunctions must be a list; got {shown(conjunctions)}."
        )
    return tuple(read_literals(one, n_features) for one in conjunctions)


def read_literals(literals, n_features):
    """Make a conjunction from a list of pairs of a feature and true or false."""
    if not isinstance(literals, list) or not all(
        isinstance(literal, list | tuple)
        and len(literal) == 2
        and is_integer(literal[0])
        and 0 <= literal[0] < n_features
        and isinstance(literal[1], bool)
        for literal in literals
    ):
        raise ValueError(
            f"data: literals must be pairs of a feature below {n_features} and true or "
            f"false; got {shown(literals)}."
        )
    return tuple((j, value) for j, value in literals)


class RulesMixin(PackedPartitionsMixin, ExportMixin):
    """What estimators with ``rules_`` share: exports, notebooks, fits to partitions.

    For estimators with ``_formula`` and ``_rules_html``. It comes before
    ``BaseEstimator``, whose diagram it shows above the rules in a notebook.
    """

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
