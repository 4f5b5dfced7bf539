"""Where to start to learn a machine: the base distribution and weak hidden units."""

import numpy as np

from sklboolean._core.validation import check_choice, check_same_params
from sklboolean.density._chow_liu import chow_liu_parents, log_conditionals
from sklboolean.density._coordinates import Coordinates
from sklboolean.density._likelihood import make_table
from sklboolean.density._projection_pursuit import count_units, pursue, rows_of
from sklboolean.density._real_tables import Reals

# What the weights of a machine are.
KIND = ("n_components", "visible", "base", "visible_bias", "binarize")

SCALE = 0.1  # of random components: near the base, but off the saddle at 0
ALPHA = 1.0  # smoothing of the base, in rows


def base_of(signs, sample_weight, base, visible_bias):
    """Return visible biases, and parents and couplings of the tree if there is one."""
    parents = None
    if base == "chow_liu":
        parents = chow_liu_parents(signs, sample_weight, ALPHA)
    own, couplings = inputs_alone(signs, parents, sample_weight)
    return own if visible_bias else np.zeros_like(own), parents, couplings


def inputs_alone(signs, parents, sample_weight=None):
    """Return visible biases and couplings of the inputs without hidden units."""
    given = np.full(signs.shape[1], -1) if parents is None else parents
    tables = log_conditionals(signs, given, sample_weight, ALPHA)
    # log p(x | p) is a constant + own x + other p + coupling x p.
    own = (tables[:, :, 1] - tables[:, :, 0]).sum(axis=1) / 4
    other = (tables[:, 1] - tables[:, 0]).sum(axis=1) / 4
    couplings = tables[:, 1, 1] - tables[:, 1, 0] - tables[:, 0, 1] + tables[:, 0, 0]
    child = given >= 0
    np.add.at(own, given[child], other[child])
    return own, None if parents is None else np.where(child, couplings / 4, 0.0)


def start_of(components, base, centre, visible_bias):
    """Return the base distribution with hidden units that are active half of the time.

    Parameters
    ----------
    components : ndarray of shape (m, n)
    base : tuple
        From ``base_of``.
    centre : ndarray of shape (n,)
        Means of the inputs.
    visible_bias : bool
    """
    visible, parents, couplings = base
    coordinates = Coordinates(len(components), centre, visible_bias, parents)
    parts = [components.ravel(), np.zeros(len(components))]
    parts += [visible] * visible_bias + [couplings] * (parents is not None)
    return coordinates.weights_of(np.concatenate(parts))


def pursues(machine):
    """Return whether the parameters of a machine ask for projection pursuit."""
    if not isinstance(machine.init, str):
        return False
    return "projection_pursuit" in (machine.init, machine.solver)


def starts_of(machine, signs, sample_weight, centre, rng):
    """Return the weights from which a machine's parameters say to start.

    Parameters
    ----------
    machine : CombinationMachine
        With checked parameters.
    signs : ndarray of shape (n_samples, n), dtype int8; or float64, of real numbers
    sample_weight : ndarray of shape (n_samples,)
    centre : ndarray of shape (n,)
    rng : RandomState

    Returns
    -------
    starts : iterable of Weights
        Projection pursuit looks for each when it is asked for: the first may be enough.
    """
    shape = machine.n_components, signs.shape[1]
    if machine.warm_start and hasattr(machine, "components_"):
        if machine.n_components == "auto":
            shape = machine.components_.shape
        return [_fitted_weights(machine, shape)]
    if signs.dtype == np.float64:
        base = centre, None, None
    else:
        base = base_of(signs, sample_weight, machine.base, machine.visible_bias)
    if pursues(machine):
        return pursuit_starts(machine, signs, sample_weight, base, rng)
    arrays = given_arrays(machine.init, *shape)
    if arrays is None:
        draws = rng.normal(scale=SCALE, size=(machine.n_init, *shape))
        return [start_of(draw, base, centre, machine.visible_bias) for draw in draws]
    start = start_of(arrays[0], base, centre, machine.visible_bias)
    names = ("hidden_bias", "visible_bias")
    return [start._replace(**dict(zip(names, arrays[1:], strict=False)))]


def pursuit_starts(machine, signs, sample_weight, base, rng):
    """Yield the base distribution with units that projection pursuit finds.

    Each start shifts other rows. Units that are not found are weak random ones.
    """
    m, centred = machine.n_components, machine.visible_bias
    table = make_table(signs, sample_weight)
    rows, row_weights = rows_of(table, sample_weight.sum())
    # On the mean, that visible biases explain, the first unit would be wasted.
    centre = table.visible * bool(centred)
    if m == "auto":
        m = count_units(rows, row_weights, machine.exact_limit, rng, centred)
    for _ in range(machine.n_init):
        units = pursue(rows, row_weights, m, rng, centred)
        components = rng.normal(scale=SCALE, size=(m, signs.shape[1]))
        for i, unit in enumerate(units):
            components[i] = unit.weights
        start = start_of(components, base, centre, centred)
        for i, unit in enumerate(units):
            start.hidden_bias[i] += unit.bias
            if centred:
                start.visible_bias[:] += (0.5 - unit.shift) * unit.weights
        yield start


def check_kind(machine):
    """Refuse to go on from weights that do not suit the parameters."""
    check_same_params(
        machine,
        KIND[1:] if machine.n_components == "auto" else KIND,
        n_components=machine.n_components_,
        visible="real" if machine._kind is Reals else "binary",
        base="independent" if machine.tree_ is None else "chow_liu",
    )


def _fitted_weights(machine, shape):
    """Return the weights of the last fit if they suit the parameters and the rows."""
    check_kind(machine)
    weights = machine._weights()
    if weights.components.shape != shape:
        raise ValueError(
            f"X has {shape[1]} features; warm_start=True goes on from components of "
            f"shape {weights.components.shape}. Set warm_start=False to start anew."
        )
    return weights


def given_arrays(init, m, n):
    """Return the arrays of a start, or None for random ones.

    Returns
    -------
    arrays : list of ndarray or None
        Components, and hidden and visible biases where they were given.
    """
    if isinstance(init, str):
        check_choice(init, "init", ("random", "projection_pursuit"))
        return None
    arrays = list(init) if isinstance(init, tuple) else [init]
    arrays = [np.array(array, dtype=np.float64) for array in arrays]
    shapes, expected = [array.shape for array in arrays], [(m, n), (m,), (n,)]
    if not arrays or shapes != expected[: len(shapes)]:
        raise ValueError(
            f"init has arrays of shapes {shapes}; with n_components={m} and {n} "
            f"features they must be the first of {expected}: components, hidden biases "
            "and visible biases."
        )
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError("init holds values that are not finite.")
    return arrays


def held_out_rows(n_samples, fraction, rng):
    """Return which rows are held out: a mask, with rows on both sides."""
    if n_samples < 2:
        raise ValueError("early_stopping=True needs two rows or more; X has 1 sample.")
    n_apart = min(max(1, round(fraction * n_samples)), n_samples - 1)
    apart = np.zeros(n_samples, dtype=bool)
    apart[rng.permutation(n_samples)[:n_apart]] = True
    return apart
