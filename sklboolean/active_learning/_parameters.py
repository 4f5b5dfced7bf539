"""Parameters of QueryByCommittee: what they may be, and what they ask of the data."""

from inspect import signature
from numbers import Integral

import numpy as np
from sklearn.base import is_regressor
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklboolean._core.meta import reading
from sklboolean._core.validation import check_choice, check_integer, check_real
from sklboolean.active_learning._gibbs import is_version_space
from sklboolean.active_learning._posterior import check_noise
from sklboolean.active_learning._strategies import STRATEGIES
from sklboolean.kernels import BOOLEAN_KERNELS

KINDS = ("bootstrap", "subsample", "seed", "gibbs")
# Who makes use of which parameters: set for another committee they would mislead.
OF_CLASSIFIERS = ("estimator", "n_members", "rebag")
OF_HALFSPACES = ("kernel", "fit_intercept", "gibbs", "n_steps", "n_chains")
OF_FORMULAS = ("max_literals", "monotone")
OF_GIBBS = ("hypotheses", "eta", *OF_FORMULAS, *OF_HALFSPACES)
# Rows at random with which classifiers begin, unless the user says otherwise.
DEFAULT_INITIAL = 10


def uses_version_space(learner):
    """Return whether the committee is drawn from a version space."""
    if isinstance(learner.committee, str):
        return learner.committee == "gibbs"
    return not isinstance(learner.committee, list | tuple)


def member_bases(learner):
    """Return the unfitted members of a committee of classifiers."""
    if isinstance(learner.committee, list | tuple):
        return list(learner.committee)
    base = learner.estimator
    base = DecisionTreeClassifier() if base is None else base
    return [base] * learner.n_members


def n_initial(learner):
    """Return how many labels come before the committee's choice."""
    initial = learner.initial
    if initial is None:
        return 0 if uses_version_space(learner) else DEFAULT_INITIAL
    return int(initial) if isinstance(initial, Integral) else len(initial)


def label_budget(learner):
    """Return how many labels may be asked for."""
    return np.inf if learner.max_queries is None else learner.max_queries


def check_parameters(learner):
    """Check all parameters; ValueError or TypeError names the first bad one."""
    check_choice(learner.mode, "mode", ("pool", "stream"))
    if learner.strategy is not None:
        check_choice(learner.strategy, "strategy", tuple(STRATEGIES))
    for name in ("epsilon", "delta"):
        value = getattr(learner, name)
        if not (name == "epsilon" and value is None):
            check_real(value, name, 0.0, strict=True)
            if value >= 1:
                raise ValueError(f"{name} must be less than 1; got {value}.")
    check_choice(learner.prediction, "prediction", ("majority", "gibbs"))
    check_integer(learner.batch_size, "batch_size", 1)
    if learner.max_queries is not None:
        check_integer(learner.max_queries, "max_queries", 1)
    if learner.initial is not None:
        if np.ndim(learner.initial) == 0:
            check_integer(learner.initial, "initial", 0)
        elif np.asarray(learner.initial).dtype.kind not in "iu":
            raise ValueError("initial must be a number of rows, or indices of rows.")
    if learner.final_estimator is not None:
        check_classifier(learner.final_estimator, "final_estimator")
    if learner.mode == "stream":
        check_streaming(learner)
        check_stream_start(learner)
    check_committee(learner)
    check_effects(learner)


def check_streaming(learner):
    """Refuse what needs rows to compare: streams are read one row after the other."""
    if learner.strategy not in (None, "disagreement"):
        raise ValueError(
            "A stream is asked where two members differ: strategy must be "
            f"'disagreement' or None; {learner.strategy!r} compares rows."
        )
    if learner.batch_size > 1:
        raise ValueError(
            "A stream is asked for one label after the other: batch_size must be 1; "
            f"got {learner.batch_size}."
        )


def check_stream_start(learner):
    """Refuse row numbers to begin with: a stream is read in order."""
    if np.ndim(learner.initial):
        raise ValueError(
            "A stream is read in order: initial must be a number of rows; got "
            f"{learner.initial!r}."
        )


def check_effects(learner):
    """Refuse parameters that were set, and of which the others leave no use."""
    parameters = signature(type(learner)).parameters
    for names, needed in _without_effect(learner):
        for name in names:
            value, default = getattr(learner, name), parameters[name].default
            if value is not default and (default is None or value != default):
                raise ValueError(
                    f"{name} would have no effect: it needs {needed}. Set that, or "
                    f"leave {name}={default!r}."
                )


def _without_effect(learner):
    """Yield names of parameters that have no effect, and what they need to have one."""
    committee, hypotheses = learner.committee, learner.hypotheses
    if learner.final_estimator is not None:
        yield ("prediction",), "final_estimator=None"
    if not uses_version_space(learner):
        yield OF_GIBBS, "committee='gibbs'"
        if not isinstance(committee, str):
            yield OF_CLASSIFIERS[:2], "committee='bootstrap', 'subsample' or 'seed'"
        return
    yield OF_CLASSIFIERS, "a committee of classifiers, such as committee='bootstrap'"
    if not isinstance(committee, str):  # it has parameters of its own
        yield OF_GIBBS, "committee='gibbs'"
        return
    if hypotheses is not None:
        yield OF_HALFSPACES, "hypotheses=None"
    if not isinstance(hypotheses, str) or hypotheses == "thresholds":
        yield OF_FORMULAS, "a class of formulas, such as hypotheses='conjunctions'"
    if learner.kernel is not None:
        yield ("fit_intercept",), "kernel=None"


def check_committee(learner):
    """Check who the members are."""
    committee = learner.committee
    if isinstance(committee, str):
        check_choice(committee, "committee", KINDS)
    elif not isinstance(committee, list | tuple) and not is_version_space(committee):
        raise ValueError(
            f"committee must be one of {list(KINDS)}, a list of classifiers, or a "
            f"version space; got {committee!r}."
        )
    if uses_version_space(learner):
        check_noise(learner.eta)
        kernel = learner.kernel
        if isinstance(kernel, str) and kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' would have to know the kernel of rows to come: "
                "pass kernel=GramKernel(gram), of all rows, and row numbers as X."
            )
        if kernel is not None and not callable(kernel):
            check_choice(kernel, "kernel", tuple(BOOLEAN_KERNELS))
        return
    check_integer(learner.n_members, "n_members", 2)
    bases = member_bases(learner)
    if len(bases) < 2:
        raise ValueError("committee must list two classifiers at least.")
    for base in bases:
        check_classifier(base, "estimator")
    if committee == "seed" and not any(map(has_chance, bases)):
        raise ValueError(
            f"committee='seed' needs an estimator with random_state; {bases[0]!r} has "
            "none, so all members would be the same. Take committee='bootstrap'."
        )


def has_chance(base):
    """Return whether an estimator or a part of it takes a seed."""
    return any(name.endswith("random_state") for name in base.get_params())


def check_classifier(base, name):
    """Refuse what cannot be a member."""
    if isinstance(base, type) or not hasattr(base, "fit") or is_regressor(base):
        raise TypeError(
            f"{name} must be a classifier, such as DecisionTreeClassifier(); got "
            f"{base!r}."
        )
    if get_tags(base).input_tags.pairwise:
        raise ValueError(
            f"{base!r} takes a matrix of kernels or distances, and the rows to be "
            "asked for are not known in advance: give it the kernel as a function."
        )


def check_weighable(learner):
    """Refuse weights that a classifier could not be shown."""
    bases = [] if uses_version_space(learner) else member_bases(learner)
    if learner.committee == "bootstrap":
        bases = []  # rows are drawn by weight
    if learner.final_estimator is not None:
        bases.append(learner.final_estimator)
    for base in bases:
        if not has_fit_parameter(base, "sample_weight"):
            raise ValueError(
                f"{base!r} takes no sample_weight. Take committee='bootstrap', which "
                "draws rows by weight, or an estimator that can weigh rows."
            )


def all_bases(learner):
    """Return all classifiers that a table is handed to."""
    bases = [] if uses_version_space(learner) else member_bases(learner)
    return bases + [e for e in (learner.final_estimator,) if e is not None]


def takes_sparse(learner):
    """Return whether everybody who sees the table takes a sparse one."""
    if uses_version_space(learner) and (
        not isinstance(learner.committee, str) or learner.hypotheses is not None
    ):
        return False
    return all(get_tags(base).input_tags.sparse for base in all_bases(learner))


def takes_nan(learner):
    """Return whether everybody who sees the table takes missing features."""
    return not uses_version_space(learner) and all(
        get_tags(base).input_tags.allow_nan for base in all_bases(learner)
    )


def table_reading(learner):
    """Return how a table is validated: as the strictest of those who see it do."""
    if uses_version_space(learner):
        sparse = "csr" if takes_sparse(learner) else False
        return {"for_others": True, "accept_sparse": sparse, "dtype": "numeric"}
    options = reading(member_bases(learner)[0])
    options["accept_sparse"] = "csr" if takes_sparse(learner) else False
    options["ensure_all_finite"] = "allow-nan" if takes_nan(learner) else True
    return options
