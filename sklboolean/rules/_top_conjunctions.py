"""Conjunctions inside a fitted model: the weight of one, and the largest weights."""

from dataclasses import replace
from numbers import Integral

import numpy as np

from sklboolean._core.conjunction_search import encode_groups, search_conjunctions
from sklboolean._core.parameters import check_choice, check_integer
from sklboolean.rules._dual_representation import dual_representation, last_step
from sklboolean.rules._rules import RuleList

# Default length for kernels of all conjunctions: longer rules are hard to read.
READABLE_LENGTH = 6


def conjunction_weight(model, literals, X=None, *, target=None, kernel=None) -> float:
    """Compute the weight of one conjunction in a fitted model, exactly.

    On Boolean data a kernel model is a sum over conjunctions: its score is
    ``f(x) = b + sum of w[T] over the conjunctions T that x satisfies``. This function
    computes w[T], which `Rule` calls ``contribution``.

    Parameters
    ----------
    model : fitted estimator
        `KernelPerceptron`, `SVC`, `NuSVC`, `SVR`, `NuSVR`, `OneClassSVM` or
        `KernelRidge` with a linear, polynomial or RBF kernel or a kernel of this
        package that weighs conjunctions by length; or a linear model, whose
        conjunctions are single features. A pipeline may end in one of these; its
        transformers name the features.
    literals : sequence
        Features that must be true, by number or name, or pairs (feature, value). The
        empty conjunction is true everywhere; b is not part of its weight.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The training samples: see `top_conjunctions`.
    target : class label, default=None
        The class whose score is explained: see `top_conjunctions`.
    kernel : kernel object, default=None
        The kernel of a precomputed matrix: see `top_conjunctions`.

    Returns
    -------
    weight : float
        0.0 for conjunctions outside the kernel's feature space: too short or too long,
        or with negations when the kernel has none.

    Raises
    ------
    ValueError
        For a model that is not a sum over conjunctions, for unknown features, and for a
        weight that exceeds float64.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklboolean.rules import conjunction_weight
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> model = SVC(kernel="poly", degree=2, gamma=1.0, C=1e3).fit(X, y)
    >>> round(conjunction_weight(model, [0, 1]), 2)
    1.6
    """
    model, X, names = last_step(model, X)
    dual = dual_representation(model, X, names, kernel=kernel, target=target)
    literals = _check_literals(literals, dual.n_features, dual.feature_names or [])
    return dual.contribution(literals, dual.weight(literals))


def _check_literals(literals, n_features, names):
    """Convert features, names and pairs to sorted (feature number, bool) pairs."""
    values = {}
    for literal in literals:
        is_pair = isinstance(literal, tuple | list | np.ndarray)
        if is_pair and len(literal) != 2:
            raise ValueError(
                "literals: each one is a feature or a pair (feature, value); got "
                f"{literal!r}."
            )
        feature, value = literal if is_pair else (literal, True)
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"literals: the model has no feature {feature!r}.")
            feature = names.index(feature)
        is_number = isinstance(feature, Integral) and not isinstance(feature, bool)
        if not is_number or not 0 <= feature < n_features:
            raise ValueError(
                f"literals: {feature!r} is not one of {n_features} features. Give "
                f"numbers from 0 to {n_features - 1}, or column names."
            )
        if values.setdefault(int(feature), bool(value)) != bool(value):
            raise ValueError(
                f"literals: feature {feature} cannot be both true and false."
            )
    return tuple(sorted(values.items()))


def top_conjunctions(
    model, n_rules=20, *, max_literals=None, monotone=True, rank="weight", sign="both",
    feature_groups=None, X=None, target=None, kernel=None, time_limit=None, n_jobs=None,
) -> RuleList:  # fmt: skip
    """Find the conjunctions with the largest weight in a fitted model, exactly.

    Conjunctions satisfied by the same support vectors count as one rule: the shortest
    of them, and among those the one with the lowest features, true ones before negated
    ones.

    Parameters
    ----------
    model : fitted estimator
        `KernelPerceptron`, `SVC`, `NuSVC`, `SVR`, `NuSVR`, `OneClassSVM` or
        `KernelRidge` with a linear, polynomial or RBF kernel or a kernel of this
        package that weighs conjunctions by length; or a linear model such as
        `AveragedPerceptron` and `Winnow`, whose conjunctions are single features. A
        pipeline may end in one of these; its transformers name the features, and X is
        what the pipeline receives.
    n_rules : int, default=20
        Maximum number of rules.
    max_literals : int or None, default=None
        Maximum number of literals in a rule. None: that of the kernel, but at most 6.
    monotone : bool, default=True
        Whether rules consist of true features only. False: negated features too.
    rank : {"weight", "contribution"}, default="weight"
        "weight": by the sum S of the coefficients of the support vectors that satisfy
        the conjunction; choose it to read rules. "contribution": by the weight in the
        score, a * S, with a the kernel's weight of this length; choose it to see what
        makes up the score. Kernels that prefer short conjunctions then rank single
        features first.
    sign : {"positive", "negative", "both"}, default="both"
        Rules with positive weights, with negative weights, or both, ranked by absolute
        value.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a rule.
        For one-hot columns: the attribute. None: the levels of one column of
        `BooleanEncoder`, found by their names, share a label.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The training samples. scikit-learn's support vector machines need them when the
        kernel is a callable or precomputed, because they keep no support vectors then,
        and for ``gamma="scale"``, which depends on the training samples.
    target : class label, default=None
        The class whose score is explained. None: the second of two classes. With more
        classes of a support vector machine, the one-against-one scores of the class
        are added up.
    kernel : kernel object, default=None
        The kernel of a precomputed matrix.
    time_limit : float or None, default=None
        Seconds after which the best rules so far are returned.
    n_jobs : int or None, default=None
        Number of parallel jobs of a long search. The result does not depend on it,
        except under ``time_limit``.

    Returns
    -------
    rules : RuleList
        Largest weight first, none of weight 0. Its attribute ``bound`` is a bound on
        the absolute weight (or contribution, by ``rank``) of every other rule,
        ``is_optimal`` is False when time was up.

    Raises
    ------
    ValueError
        For invalid parameters, and for a model that is not a sum over conjunctions with
        nonnegative weights by length: a sigmoid kernel, scaled columns, an unknown
        callable. Also when X is needed.

    Notes
    -----
    Branch and bound: the weight of every extension of a conjunction is at most the sum
    of its positive coefficients, and at least the sum of its negative ones.
    Coefficients are rounded to 2**-52 of their total; sums are then exact.

    References
    ----------
    Khardon, Roth, Servedio. "Efficiency versus Convergence of Boolean Kernels for
    On-Line Learning Algorithms". NIPS 2001, section 2 (kernels as conjunctions).

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> from sklboolean.rules import top_conjunctions
    >>> data = make_tic_tac_toe()
    >>> model = SVC(gamma=0.1, C=10).fit(data.data, data.target)
    >>> rules = top_conjunctions(model, 8, max_literals=3, sign="positive")
    >>> rules[0].to_text(data.feature_names)
    'top-left=x and top-middle=x and top-right=x'
    """
    check_choice(rank, "rank", ("weight", "contribution"))
    check_choice(monotone, "monotone", (False, True))
    model, X, names = last_step(model, X)
    dual = dual_representation(model, X, names, kernel=kernel, target=target)
    if max_literals is None:
        longest = min(max(1, dual.length_weights.longest), READABLE_LENGTH)
    else:
        longest = check_integer(max_literals, "max_literals", 1)
    if not monotone and dual.is_linear:
        raise ValueError(
            f"monotone=False: {type(model).__name__} has weights of features only, not "
            "of negated features. Use monotone=True."
        )
    if not monotone and rank == "contribution" and dual.length_weights.monotone:
        raise ValueError(
            "monotone=False: the kernel has no negated features, so they contribute "
            "nothing to the score. Use monotone=True or rank='weight'."
        )
    if dual.is_linear:
        dual, longest = _largest_coefficients(dual, n_rules, sign), 1
    groups = encode_groups(feature_groups, dual.n_features, dual.feature_names)
    length_weights, exponent = None, 0
    if rank == "contribution":
        longest = min(longest, dual.n_features)
        length_weights, exponent = dual.length_weights.scaled(longest)
    result = search_conjunctions(
        dual.samples, dual.coefficients, dual.n_features, max_literals=longest,
        n_rules=n_rules, monotone=monotone, sign=sign, feature_groups=groups,
        length_weights=length_weights, time_limit=time_limit, n_jobs=n_jobs,
    )  # fmt: skip
    rules = [dual.rule(literals, weight) for literals, weight in result.found]
    bound = _times_power_of_two(result.bound, exponent)
    return RuleList(rules, bound, result.is_optimal, dual.feature_names)


def _times_power_of_two(bound, exponent):
    """Undo the scaling of a bound; above float64 it is the largest float."""
    with np.errstate(over="ignore", under="ignore"):
        bound = np.ldexp(bound, exponent)
    return float(min(bound, np.finfo(float).max))


def _largest_coefficients(dual, n_rules, sign):
    """Keep the samples that can matter when every sample is a single feature."""
    factor = {"positive": 1, "negative": -1}.get(sign, np.sign(dual.coefficients))
    order = np.argsort(-factor * dual.coefficients, kind="stable")[:n_rules]
    largest = np.sort(order)
    return replace(
        dual, samples=dual.samples[largest], coefficients=dual.coefficients[largest]
    )
