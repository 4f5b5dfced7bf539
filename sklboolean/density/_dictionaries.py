"""Densities as dictionaries of JSON types: written, read and checked."""

import numpy as np
from scipy.special import logsumexp

from sklboolean._core.dictionaries import (
    check_columns,
    check_exported,
    is_integer,
    read_numbers,
)
from sklboolean._core.exports import versioned
from sklboolean._core.formulas import shown
from sklboolean.density._spanning_tree import parents_first

MAX_PARAM = 1e9  # no density that was fitted comes near
TOLERANCE = 1e-9  # of sums of probabilities, which were rounded
MAX_DEPTH = 9  # of mixtures of mixtures


def json_value(value):
    """Convert an array, a density model or a list of them to JSON types."""
    if isinstance(value, list):
        return list(map(json_value, value))
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "fit"):
        raise ValueError(f"{value!r} has no to_dict. Store the model as a pickle.")
    return value.tolist() if hasattr(value, "tolist") else value


def read_list(values, name):
    """Return a list that was read, which must not be empty."""
    if not isinstance(values, list) or not values:
        raise ValueError(f"data: {name} must be a list that is not empty.")
    return values


def read_integer(value, name, first, last):
    """Return an integer that was read, which must be from ``first`` to ``last``."""
    if not is_integer(value) or not first <= value <= last:
        raise ValueError(
            f"data: {name} must be an integer from {first} to {last}; got "
            f"{shown(value)}."
        )
    return value


def read_integers(values, name, size, first, last):
    """Make an array of so many integers, each from ``first`` to ``last``."""
    if not isinstance(values, list) or len(values) != size:
        raise ValueError(f"data: {name} must be a list of {size} integers.")
    return np.array([read_integer(value, name, first, last) for value in values])


def read_parameters(values, name, shape):
    """Make an array of parameters, which must not be huge, from nested lists."""
    numbers = read_numbers(values, name, shape)
    if (np.abs(numbers) > MAX_PARAM).any():
        raise ValueError(
            f"data: {name} must hold numbers from -{MAX_PARAM:g} to {MAX_PARAM:g}."
        )
    return numbers


def read_logs(values, name, shape):
    """Make an array of log-probabilities, whose last axis is a distribution."""
    logs = read_parameters(values, name, shape)
    check_normalised(logs, name)
    return logs


def check_normalised(logs, name):
    """Require that the last axis of log-probabilities is a distribution."""
    if (np.abs(logsumexp(logs, axis=-1)) > TOLERANCE).any():
        raise ValueError(
            f"data: {name} must hold logarithms of probabilities whose sum is 1."
        )


def check_forest(parents, name):
    """Require that parents, each -1 or the number of a node, have no cycle."""
    try:
        parents_first(parents)
    except ValueError as error:
        raise ValueError(f"data: {name} must be a forest; it has a cycle.") from error


def read_tree(tree, couplings, n_features, attributes):
    """Make the parents of the inputs of a machine, and their couplings."""
    if tree is None and couplings is None:
        return None, None
    parents = read_integers(tree, "tree", n_features, -1, n_features - 1)
    weights = read_parameters(couplings, "couplings", (n_features,))
    of_column = np.arange(n_features) if attributes is None else attributes.of_column
    above = np.append(of_column, -1)[parents]
    first = np.unique(of_column, return_index=True)[1]
    if (above != above[first][of_column]).any():
        raise ValueError(
            "data: tree must give the columns of an attribute parents in one attribute."
        )
    check_forest(above[first], "tree")
    if weights[parents < 0].any():
        raise ValueError("data: couplings must be 0 where tree has -1, a root.")
    return parents, weights


class DictionaryMixin:
    """The methods ``to_dict`` and ``from_dict`` of a density.

    It has

    * ``_exported``, the names of the fields that define the density;
    * ``_written_state()``, a dict of their values, and perhaps of more;
    * ``_read_state(**fields)``, which checks them and sets the fitted attributes.
    """

    _shared = ("n_features", "feature_names")

    def to_dict(self) -> dict:
        """Write the density as a dictionary of JSON types.

        Returns
        -------
        data : dict
            "type", "version", "n_features", "feature_names", which may be None, and the
            fields from which any program can compute each probability. They are named
            as in the page "Ask a table". Of Boolean samples "binarize", "codes", and
            "attributes", the number of the attribute of each column, or None without
            `feature_groups`. The components of a mixture are dictionaries.

        Raises
        ------
        ValueError
            For a mixture of models that have no such dictionaries.
        """
        self._prepare_likelihood()
        state = self._written_state()
        fields = self._written_shared() | {name: state[name] for name in self._exported}
        plain = {name: json_value(value) for name, value in fields.items()}
        return versioned(type(self).__name__, plain)

    @classmethod
    def from_dict(cls, data):
        """Make a fitted density from a dictionary.

        Parameters
        ----------
        data : dict
            From ``to_dict``, also after ``json.loads(json.dumps(data))``.

        Returns
        -------
        density : estimator
            It answers as the original, to the last bit. Parameters on which no answer
            depends are the defaults, `random_state` too, and attributes about the fit
            are empty.

        Raises
        ------
        ValueError
            When the dictionary is not one of this class, was written by a newer
            version, or describes no density. The message names the field.

        Examples
        --------
        >>> import json
        >>> from sklboolean import ChowLiuTree
        >>> tree = ChowLiuTree().fit([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
        >>> text = json.dumps(tree.to_dict())
        >>> again = ChowLiuTree.from_dict(json.loads(text))
        >>> again.score([[0, 0, 1]]) == tree.score([[0, 0, 1]])
        True
        """
        return cls._from_dict(data, 0)

    @classmethod
    def _from_dict(cls, data, depth):
        """Make a density, at a depth of mixtures."""
        fields = check_exported(data, cls.__name__, (*cls._shared, *cls._exported))
        density = cls()
        density._read_shared(*(fields.pop(name) for name in cls._shared))
        density._read_state(**fields)
        return density

    def _written_shared(self):
        names = getattr(self, "feature_names_in_", None)
        return {"n_features": self.n_features_in_, "feature_names": names}

    def _read_shared(self, n_features, feature_names, binarize=None):
        check_columns(n_features, feature_names, binarize)
        self.n_features_in_ = n_features
        if feature_names is not None:
            self.feature_names_in_ = np.array(feature_names, dtype=object)
