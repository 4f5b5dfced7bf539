"""Rules as plain dictionaries, read and checked, and as data frames."""

import math
from itertools import pairwise
from numbers import Integral, Real

import numpy as np
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.conjunction_search import encode_groups
from sklboolean._core.exports import VERSION, ExportMixin, import_pandas
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


def check_exported(data, kind, fields):
    """Return the fields of a dictionary made by `versioned`.

    Raises
    ------
    ValueError
        When ``data`` is no dictionary of this kind with these fields, or is newer.
    """
    if not isinstance(data, dict) or data.get("type") != kind:
        found = data.get("type") if isinstance(data, dict) else type(data).__name__
        raise ValueError(
            f"data: expected what {kind}.to_dict returns, a dict with the type {kind!r}"
            f"; got {shown(found)}."
        )
    version = data.get("version")
    if not is_integer(version) or version < 1:
        raise ValueError(f"data: the version must be an integer; got {shown(version)}.")
    if version > VERSION:
        raise ValueError(
            f"data: version {version} was written by a newer release of sklboolean; "
            f"this one reads up to version {VERSION}. Upgrade sklboolean."
        )
    missing = [name for name in fields if name not in data]
    if missing:
        raise ValueError(f"data: a {kind} needs {', '.join(missing)}.")
    return {name: data[name] for name in fields}


def check_name_list(feature_names, n_features=None):
    """Check feature names that were read: None, or one string for each feature."""
    if feature_names is None:
        return
    if (
        not isinstance(feature_names, list)
        or n_features not in (None, len(feature_names))
        or not all(isinstance(name, str) for name in feature_names)
    ):
        raise ValueError(
            "data: feature_names must be null or a list of strings, one for each of "
            f"the features; got {shown(feature_names)}."
        )


def check_columns(n_features, feature_names, binarize):
    """Check the number of features, their names and the threshold that were read."""
    if not is_integer(n_features) or not 1 <= n_features < 2**31:
        raise ValueError(
            "data: n_features must be an integer from 1 to 2**31 - 1; got "
            f"{shown(n_features)}."
        )
    check_name_list(feature_names, n_features)
    if binarize is not None and not (is_finite(binarize) and binarize >= 0):
        raise ValueError(
            "data: binarize must be null or a finite number of at least 0; got "
            f"{shown(binarize)}."
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


def read_numbers(values, name, shape):
    """Make an array of finite numbers of a given shape, from nested lists."""

    def has_shape(part, lengths):
        if not lengths:
            return is_finite(part)
        return (
            isinstance(part, list)
            and len(part) == lengths[0]
            and all(has_shape(each, lengths[1:]) for each in part)
        )

    if not has_shape(values, shape):
        raise ValueError(
            f"data: {name} must hold finite numbers, in lists of shape {shape}."
        )
    return np.array(values, dtype=np.float64).reshape(shape)


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


def is_integer(value):
    """Whether a value is an integer and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_finite(value):
    """Whether a value is a number that float64 holds, and not a bool."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:  # an integer beyond float64
        return False


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
