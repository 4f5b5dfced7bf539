"""Parameters of version 0.2 of the densities, and what they mean today."""

from sklearn.base import clone

from sklboolean._core.deprecation import Gone, jobs_of_context
from sklboolean.density._maximum_likelihood import TOL, GradientAscent


def active_units(name, value, params):
    """Use n_components=(m, k) instead: m units, of which at most k are active."""
    m = params["n_components"]
    m = m[0] if isinstance(m, tuple) else m
    params["n_components"] = m if value is None else (m, value)


def no_visible_bias(name, value, params):
    """Use base='uniform' instead of visible_bias=False."""
    if not value and params["base"] == "independent":
        params["base"] = "uniform"
    elif not value and params["base"] != "uniform":
        raise ValueError(
            "visible_bias=False with a tree is not supported since version 0.3. Take "
            "base='uniform', which has neither, or leave out visible_bias."
        )


def gradient_setting(name, value, params):
    """Use solver=GradientAscent(...) instead."""
    solver = params["solver"]
    solver = GradientAscent() if isinstance(solver, str) else solver
    if params["solver"] not in ("lbfgs", "projection_pursuit"):  # they had no use of it
        params["solver"] = clone(solver).set_params(**{name: value})


class OldTol(Gone):
    """The rule of `tol`, which belongs to the solver."""

    def __call__(self, name, value, params):
        gradient_setting(name, value, params)
        if params["solver"] in ("lbfgs", "projection_pursuit"):
            super().__call__(name, value, params)


class OldTreeUpdates(Gone):
    """The rule of `tree_updates`, which is a value of `base`."""

    def __call__(self, name, value, params):
        if value == 0 and params["base"] == "chow_liu":
            params["base"] = "fixed_chow_liu"
        elif params["base"] == "chow_liu":
            super().__call__(name, value, params)


class OldAveraged(Gone):
    """The rule of `n_averaged`."""

    def __call__(self, name, value, params):
        chooses = params["n_components"] == "auto" and params["estimator"] is None
        if value != (4 if chooses else 1):
            super().__call__(name, value, params)


OF_EXACT_MACHINES = {
    "max_active": active_units,
    "n_jobs": jobs_of_context,
    "early_stopping": Gone(False, "Raise alpha, or take alpha='auto'."),
    "validation_fraction": Gone(
        0.1, "Leave it out: a tenth of the samples is held out."
    ),
    "warm_start": Gone(False, "Raise max_iter, or give weights as init."),
    "exact_limit": Gone(
        20, "Take at most 20 units, n_components=(m, 2), or another density."
    ),
}
OF_COMBINATION_MACHINE = OF_EXACT_MACHINES | {
    "visible_bias": no_visible_bias,
    "learning_rate": gradient_setting,
    "momentum": gradient_setting,
    "tol": OldTol(TOL, "Set max_iter; GradientAscent has a tol of its own."),
    "tree_updates": OldTreeUpdates(
        4, "Take base='chow_liu', or base='fixed_chow_liu' for 0."
    ),
}
ONLY_LBFGS = "Leave it out: L-BFGS is the only solver of real inputs."
OF_GAUSSIAN_MACHINE = OF_EXACT_MACHINES | {
    "visible_bias": Gone(True, "Subtract the mean of each column from X."),
    "solver": Gone("lbfgs", ONLY_LBFGS),
    "learning_rate": Gone(0.05, ONLY_LBFGS),
    "momentum": Gone(0.9, ONLY_LBFGS),
    "tol": Gone(TOL, "Set max_iter."),
}
OF_SAMPLED_MACHINE = {
    "visible_bias": no_visible_bias,
    "momentum": Gone(0.9, "Choose the learning_rate."),
    "warm_start": Gone(False, "Call partial_fit, or give weights as init."),
    "exact_limit": Gone(20, "Likelihoods of more than 2 ** 20 states are estimated."),
    "n_jobs": jobs_of_context,
}
OF_BERNOULLI_MIXTURE = {
    "growth": Gone("doubling", "Leave it out, and set n_init for several starts."),
    "tol": Gone(1e-3, "Set max_iter."),
    "batch_size": Gone(1000, "Call partial_fit with chunks of fewer samples."),
    "learning_decay": Gone(0.7, "Leave it out."),
    "warm_start": Gone(False, "Raise max_iter."),
    "n_jobs": jobs_of_context,
}
OF_DENSITY_MIXTURE = {
    "n_averaged": OldAveraged(
        None, "Take the mean of the likelihoods of mixtures with other random_state."
    ),
    "tol": Gone(5e-3, "Set max_iter."),
    "n_jobs": jobs_of_context,
}
