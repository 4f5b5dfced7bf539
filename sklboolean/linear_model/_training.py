"""Epochs of the on-line loop, stopping, averages: what all linear learners share."""

from dataclasses import dataclass, field

import numpy as np

from sklboolean.linear_model._loop import OnlineLoop

ARRAYS = (
    "weights", "parts", "squares", "lags", "longest_weights", "born", "longest",
)  # fmt: skip
PLUS, MINUS, SUM, SINCE = range(4)  # the parts of a multiplied weight
SCALARS = ("t", "scale", "clock")
TERMS_AT_A_TIME = 2**26


@dataclass
class OnlineState:
    """The weights of all hypotheses and what their average needs.

    Attributes
    ----------
    values : dict
        The arrays and scalars of `OnlineLoop`, by name.
    kind : dict
        What the arrays are good for, as `kind_of` says.
    """

    values: dict
    kind: dict

    def copy(self):
        """Return a state that can be trained without changing this one."""
        copies = {name: self.values[name].copy() for name in ARRAYS}
        return OnlineState(self.values | copies, self.kind)

    def last(self, n_features):
        """Return the last hypothesis: (coefficients, constants), float64."""
        weights, scale = self.values["weights"], self.values["scale"]
        return scale * weights[:n_features].T, weights[-2:].sum(axis=0)

    def unscaled(self):
        """Return the weights with the factor that was kept apart."""
        weights = self.values["scale"] * self.values["weights"]
        weights[-2:] = self.values["weights"][-2:]  # the constant does not shrink
        return weights

    def sums(self):
        """Return the sum of the hypotheses after each example, row by row."""
        values = self.values
        if len(values["lags"]):
            clock = np.full((len(values["weights"]), 1), values["clock"])
            clock[-1] = values["t"]  # the constant does not shrink
            return clock * values["weights"] - values["lags"]
        # What is in force since the last change has not been added yet.
        parts = values["parts"]
        in_force = values["clock"] - parts[:, :, SINCE]
        return parts[:, :, SUM] + values["weights"] * in_force

    def mean(self, n_features):
        """Return the mean of the hypotheses after each example."""
        t = self.values["t"]
        if not t:
            return self.last(n_features)
        sums = self.sums()
        return sums[:n_features].T / t, sums[-2:].sum(axis=0) / t

    def longest(self, n_features, joint):
        """Return the hypothesis that survived the most examples."""
        values = self.values
        coefficients, constants = self.last(n_features)
        coefficients, constants = coefficients.copy(), constants.copy()
        survived = values["t"] + 1 - values["born"]
        older = values["longest"] >= survived
        older = np.full(len(older), older[0]) if joint else older
        best = values["longest_weights"]
        coefficients[older] = best[:n_features].T[older]
        constants[older] = best[-2:].sum(axis=0)[older]
        return coefficients, constants


def kind_of(parameters):
    """Return the parameters on which it depends what the arrays of a state hold."""
    joint = parameters.get("joint", False)
    return {
        "average": parameters["average"],
        "schedule": "adagrad" if parameters["schedule"] == "adagrad" else "others",
        "variant": parameters["rule"],
        "target": "conjunction" if parameters["flipped"] else "disjunction",
        "fit_intercept": parameters["fit_intercept"],
        "binarize": parameters.get("binarize"),
        "multi_class": "joint" if joint else "ovr",
    }


def new_state(n_features, n_hypotheses, parameters, initial=(0.0, 0.0)):
    """Return the state before the first example.

    Parameters
    ----------
    n_features, n_hypotheses : int
    parameters : dict
        Of `OnlineLoop`.
    initial : (float, float)
        First values of ``plus`` and of ``minus``, with multiplicative rules.
    """
    height = 64 * -(-n_features // 64) + 2
    shape = (height, n_hypotheses)
    rule, average = parameters["rule"], parameters["average"]

    def table(needed):
        return np.zeros(shape if needed else (0, n_hypotheses))

    multiplies = rule != "additive"
    parts = np.zeros((height if multiplies else 0, n_hypotheses, 4))
    values = {
        "weights": table(True),
        "parts": parts,
        "squares": table(parameters["schedule"] == "adagrad"),
        "lags": table(average == "mean" and not multiplies),
        "longest_weights": table(average == "longest"),
        "born": np.ones(n_hypotheses, dtype=np.int64),
        "longest": np.full(n_hypotheses, -1, dtype=np.int64),
        "t": 0,
        "scale": 1.0,
        "clock": 0.0,
    }
    if multiplies:
        initial = initial if rule != "positive" else (initial[0], 0.0)
        for rows in (slice(n_features), slice(height - 1, height)):
            parts[rows, :, PLUS], parts[rows, :, MINUS] = initial
            values["weights"][rows] = initial[0] - initial[1]
    if rule == "complement":
        values["weights"][height - 2] = initial[1] * n_features
    if not parameters["fit_intercept"]:
        values["weights"][height - 1] = 0.0
    return OnlineState(values, kind_of(parameters))


def _terms_of_a_row(state, parameters, table):
    """Return about how many weights one example looks at or changes."""
    height, n_hypotheses = state.values["weights"].shape
    if parameters["rule"] != "complement" and parameters["average"] != "longest":
        height = 1 + len(table.indices) // table.n_samples + 64 * table.words.shape[1]
    return height * n_hypotheses


@dataclass
class Progress:
    """Counts by epoch."""

    mistakes: list = field(default_factory=list)
    updates: list = field(default_factory=list)


def run_epochs(state, parameters, table, codes, class_weights, orders, after=None):
    """Train a state in place, an order of examples at a time.

    Parameters
    ----------
    state : OnlineState
    parameters : dict
        Of `OnlineLoop`.
    table : OnlineTable
    codes : ndarray of shape (n_samples,), int32
    class_weights : ndarray of shape (n_classes,), float64
    orders : iterable of ndarrays, int64
        The examples of each epoch.
    after : callable or None
        ``after(progress)`` is called after each epoch; true stops.

    Returns
    -------
    progress : Progress
    """
    loop = OnlineLoop(state.values, parameters)
    progress = Progress()
    step = max(1, TERMS_AT_A_TIME // _terms_of_a_row(state, parameters, table))
    for order in orders:
        mistakes, updates = loop.n_mistakes, loop.n_updates
        # A part of the order at a time: an interrupt is seen after it.
        for first in range(0, len(order), step):
            part = order[first : first + step]
            loop.run(part, codes, class_weights, *table.arrays())
        progress.mistakes.append(loop.n_mistakes - mistakes)
        progress.updates.append(loop.n_updates - updates)
        state.values.update({name: getattr(loop, name) for name in SCALARS})
        if after is not None and after(progress):
            break
    return progress
