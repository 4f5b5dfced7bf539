"""Parameters of the combination machine: checks, and whether sums are affordable."""

import numpy as np

from sklboolean._core.validation import check_choice, check_integer, check_real
from sklboolean.density._conditionals import n_hidden_states
from sklboolean.density._hidden_states import work_of
from sklboolean.density._machine_starts import pursues
from sklboolean.density._training import Settings

MULTIPLICATIONS_PER_SECOND = 2e9
BITS_OF_TABLE = 3  # a table may hold 2 ** (exact_limit + 3) numbers


def check_settings(machine):
    """Check the parameters of a machine and return those of learning."""
    solvers = ("lbfgs", "gradient", "projection_pursuit", "pcd")
    check_choice(machine.solver, "solver", solvers)
    if machine.n_components != "auto":
        check_integer(machine.n_components, "n_components", 1)
    elif not pursues(machine):
        raise ValueError(
            "n_components='auto' counts the hidden units of projection pursuit: set "
            "init='projection_pursuit' or solver='projection_pursuit'."
        )
    check_choice(machine.base, "base", ("independent", "chow_liu"))
    check_choice(machine.visible, "visible", ("binary", "real"))
    if machine.visible == "real" and (
        machine.base != "independent" or machine.solver == "pcd"
    ):
        raise ValueError(
            "visible='real' knows neither trees nor solver='pcd'. Set "
            "base='independent' and solver='lbfgs'."
        )
    check_integer(machine.n_init, "n_init", 1)
    check_integer(machine.exact_limit, "exact_limit", 1, 30)
    if machine.max_active is not None:
        check_integer(machine.max_active, "max_active", 1)
    if machine.solver == "pcd":
        check_without_sums(machine)
    if not 0 < check_real(machine.validation_fraction, "validation_fraction") < 1:
        raise ValueError(
            "validation_fraction must be between 0 and 1; got "
            f"{machine.validation_fraction}."
        )
    momentum = check_real(machine.momentum, "momentum", 0.0)
    if momentum >= 1:
        raise ValueError(f"momentum must be below 1; got {momentum}.")
    return Settings(
        solver=machine.solver,
        alpha=check_real(machine.alpha, "alpha", 0.0),
        visible_bias=bool(machine.visible_bias),
        max_active=machine.max_active,
        learning_rate=check_real(
            machine.learning_rate, "learning_rate", 0.0, strict=True
        ),
        momentum=momentum,
        batch_size=check_integer(machine.batch_size, "batch_size", 1),
        max_iter=check_integer(machine.max_iter, "max_iter", 1),
        tol=check_real(machine.tol, "tol", 0.0),
        tree_updates=check_integer(machine.tree_updates, "tree_updates", 0),
        n_jobs=machine.n_jobs,
        verbose=check_integer(machine.verbose, "verbose", 0),
    )


def check_without_sums(machine, way_out=""):
    """Refuse parameters that need sums over states where none are taken."""
    if machine.early_stopping or machine.max_active:
        raise ValueError(
            f"solver={machine.solver!r} takes no sums here: it knows neither the "
            "likelihood that early_stopping needs nor max_active. Set "
            f"early_stopping=False and max_active=None{way_out}."
        )


def is_affordable(n, m, max_active, exact_limit, tree=False):
    """Return whether there are at most 2 ** exact_limit states to sum over."""
    n_states = n_hidden_states(m, max_active)
    # Inputs can be summed over instead if they are free, and all hidden states count.
    if n_states == 2**m and not tree:
        n_states = min(2**n, n_states)
    return n_states <= 2**exact_limit


def learns_by_sums(machine, n):
    """Return whether a machine learns by exact likelihood; refuse what it cannot sum.

    Projection pursuit needs no sums where it is the solver: only its refit does.
    """
    if machine.solver == "pcd":
        return False
    if machine.n_components == "auto":  # counted up to exact_limit
        return True
    real = machine.visible == "real"
    size = n, machine.n_components, machine.max_active, machine.exact_limit
    hidden_only = real or machine.base == "chow_liu"
    if machine.solver == "projection_pursuit" and not real:
        by_sums = is_affordable(*size, hidden_only)
        if not by_sums:
            limit = machine.exact_limit
            check_without_sums(machine, f", or raise exact_limit={limit}")
        return by_sums
    check_affordable(*size, hidden_only, real)
    return True


def check_affordable(n, m, max_active, exact_limit, tree=False, real=False):
    """Refuse sums over more than 2 ** exact_limit states.

    Real inputs, as those of a tree, are not summed over instead of hidden states.
    """
    if is_affordable(n, m, max_active, exact_limit, tree or real):
        return
    multiplications, n_bytes = work_of(n, m, max_active, tree or real)
    chains = "" if real else "or solver='pcd', "
    raise ValueError(
        f"The exact likelihood of n_components={m} with {n} features needs "
        f"{multiplications:.1e} multiplications for each gradient, about "
        f"{multiplications / MULTIPLICATIONS_PER_SECOND:.1e} seconds, and "
        f"{n_bytes:.1e} bytes: more than exact_limit={exact_limit} allows, 2 ** "
        f"{exact_limit} states. Take at most {exact_limit} components, or max_active=2 "
        "for hidden states with at most two active units, "
        f"{chains}or raise exact_limit."
    )


def check_missing(signs, m, max_active, exact_limit):
    """Refuse rows with too many missing bits for sums over states or completions."""
    if n_hidden_states(m, max_active) <= 2**exact_limit:
        return
    # A table of completions has a number for each unit.
    most = max(exact_limit + BITS_OF_TABLE - m.bit_length(), 0)
    n_missing = np.count_nonzero(signs == 0, axis=1)
    if n_missing.max(initial=0) > most:
        row = int(np.argmax(n_missing > most))
        raise ValueError(
            f"A row of X misses {n_missing[row]} bits; with {m} hidden units at most "
            f"{most} can be summed out or filled in. Fit fewer units, or raise "
            f"exact_limit={exact_limit}."
        )
