"""Parameters of version 0.2 of the linear models, and what they mean today."""

from sklboolean._core.deprecation import Gone, jobs_of_context


def schedule_in_learning_rate(name, value, params):
    """Use learning_rate, which takes a number or the name of a schedule, instead."""
    if name == "aggressive":
        value = "aggressive" if value else "constant"
    if value == "constant":
        return
    rate = params["learning_rate"]
    if not isinstance(rate, str) and rate != 1:
        raise ValueError(
            f"{name}={value!r} with learning_rate={rate} is not supported since "
            f"version 0.3. Set learning_rate={value!r}, and divide a margin "
            f"that is a number by {rate}."
        )
    # The size of an aggressive update follows no other schedule.
    if rate != "aggressive":
        params["learning_rate"] = value


def demotion_in_promotion(name, value, params):
    """Use a pair, promotion=(promotion, demotion), instead."""
    if value is not None:
        params["promotion"] = params["promotion"], value


def target_in_variant(name, value, params):
    """Use variant='positive_conjunction' or 'complement_conjunction' instead."""
    if value == "disjunction":
        return
    if params["variant"] == "balanced":
        raise ValueError(
            f"target={value!r} with variant='balanced' is not supported since version "
            "0.3: the balanced variant learns either target. Leave target out."
        )
    params["variant"] += "_conjunction"


def intercept_in_threshold(name, value, params):
    """Use threshold=None, which is a fixed threshold of 0, instead."""
    if value or params["variant"] != "balanced":
        return
    if params["threshold"] not in ("auto", 0):
        raise ValueError(
            f"fit_intercept=False with threshold={params['threshold']!r} is not "
            "supported since version 0.3. Use threshold=None, and a column of ones "
            "for another threshold than 0."
        )
    params["threshold"] = None


def solver_in_sigma(name, value, params):
    """Use sigma instead: None is linear programming, a cosine the perceptron."""
    if value == "linprog":
        params["sigma"] = None
    elif params["sigma"] is None:
        params["sigma"] = 0.05


def constant_starts(name, value, params):
    """Leave it out: the modified perceptron makes up to 40 random starts."""


HOLD_OUT = "Set early_stopping=False and choose max_iter with GridSearchCV."
SHARED = {
    "warm_start": Gone(False, "Call partial_fit, once for each pass."),
    "tol": Gone(None, "Set max_iter, or early_stopping=True."),
    "validation_fraction": Gone(0.1, HOLD_OUT),
    "n_iter_no_change": Gone(5, HOLD_OUT),
    "n_jobs": jobs_of_context,
}
OF_AVERAGED_PERCEPTRON = SHARED | {
    "alpha": Gone(0.0, "Lower max_iter, or set early_stopping=True."),
    "learning_rate_schedule": schedule_in_learning_rate,
    "aggressive": schedule_in_learning_rate,
}
OF_WINNOW = SHARED | {
    "demotion": demotion_in_promotion,
    "target": target_in_variant,
    "fit_intercept": intercept_in_threshold,
}
OF_CONSISTENT_HALFSPACE = {
    "solver": solver_in_sigma,
    "max_starts": constant_starts,
    "abstain_label": Gone(
        None,
        "Use np.where(abs(model.decision_function(X)) <= model.sigma, label, "
        "model.predict(X)).",
    ),
}
