"""The conjunctions inside a fitted model: the weight of one, and the heaviest."""

from dataclasses import dataclass, replace
from math import fsum
from numbers import Integral

import numpy as np

from sklboolean._core.conjunction_search import satisfied_rows, search_conjunctions
from sklboolean._core.validation import check_choice, check_integer
from sklboolean.rules._dual_representation import read_model
from sklboolean.rules._formulas import check_names

# Longer conjunctions than a person reads, for kernels that have all lengths.
READABLE_LENGTH = 6


@dataclass(frozen=True)
class Rule:
    """A conjunction and what it weighs in a model.

    Parameters
    ----------
    literals : tuple of (int, bool)
        Feature numbers, ascending, each with the value that it must have.
    weight : float or None
        Sum of the model's coefficients over the support rows that satisfy all
        literals: S.
    contribution : float or None
        The conjunction's part in the score of every row that satisfies it:
        a * S, with a the kernel's weight of conjunctions of this length. 0.0 where it
        is below float64, and for conjunctions that the kernel does not know.
    coverage : int or None, default=None
        Rows that satisfy it, where rows were counted.
    precision : float or None, default=None
        Share of these that are what the rule says.
    label : class label, default=None
        What the rule says, in a `DNF` or a rule list.

    Attributes
    ----------
    n_literals : int
        Length of the conjunction.

    Examples
    --------
    >>> from sklboolean.rules import Rule
    >>> rule = Rule(((0, True), (2, False)), weight=3.0, contribution=1.5)
    >>> rule.to_text()
    'x0 and not x2'
    >>> rule.to_text(["red", "green", "blue"])
    'red and not blue'
    """

    literals: tuple
    weight: float | None
    contribution: float | None
    coverage: int | None = None
    precision: float | None = None
    label: object = None

    @property
    def n_literals(self):
        """Length of the conjunction."""
        return len(self.literals)

    def to_text(self, feature_names=None):
        """Return the conjunction as text.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            A name for each feature. None: x0, x1, ...

        Returns
        -------
        text : str

        Raises
        ------
        ValueError
            When a feature has no name.
        """
        last = max((feature for feature, _ in self.literals), default=-1)
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(last + 1)]
        check_names(feature_names, last)
        words = [
            f"{feature_names[j]}" if value else f"not {feature_names[j]}"
            for j, value in self.literals
        ]
        return " and ".join(words) or "True"


class FoundRules(list):
    """A list of `Rule`, heaviest first, with what is known about the others.

    Attributes
    ----------
    bound : float
        No other rule ranks higher than this.
    is_optimal : bool
        Whether the search came to its end: False after ``time_limit``.
    feature_names : list of str or None
    """

    def __init__(self, rules=(), bound=0.0, is_optimal=True, feature_names=None):
        super().__init__(rules)
        self.bound = bound
        self.is_optimal = is_optimal
        self.feature_names = feature_names


def conjunction_weight(model, literals, X=None, *, target=None, kernel=None):
    """Return the weight of one conjunction in a fitted model.

    A kernel machine over Boolean rows is a sum over conjunctions: its score is
    ``f(x) = b + sum of w[T] over the conjunctions T that x satisfies``, and this is
    w[T], exactly. `Rule` calls it ``contribution``.

    Parameters
    ----------
    model : fitted estimator
        `KernelPerceptron`, `SVC`, `NuSVC`, `SVR`, `NuSVR`, `OneClassSVM` or
        `KernelRidge` with a linear, polynomial or RBF kernel or one of ours that
        weighs conjunctions by length; or a linear model, which weighs features.
    literals : sequence
        Features that must be true, by number or name, or pairs (feature, value). The
        empty conjunction is true everywhere; b is not part of its weight.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The training rows: see `top_conjunctions`.
    target : class label, default=None
        The class whose score is asked about: see `top_conjunctions`.
    kernel : kernel object, default=None
        What a precomputed kernel matrix was made with: see `top_conjunctions`.

    Returns
    -------
    weight : float
        0.0 for conjunctions that the kernel does not know: too short or too long, or
        with negations when the kernel has none.

    Raises
    ------
    ValueError
        For a model that is no sum over conjunctions, for unknown features, and for a
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
    rows = read_model(model, X, kernel=kernel, target=target)
    literals = _read_literals(literals, rows)
    return as_rule(rows, literals, sum_of(rows, literals)).contribution


def _read_literals(literals, rows):
    names = rows.feature_names or []
    values = {}
    for literal in literals:
        is_pair = isinstance(literal, tuple | list | np.ndarray)
        if is_pair and len(literal) != 2:
            raise ValueError(f"A literal is a feature or a pair; got {literal!r}.")
        feature, value = literal if is_pair else (literal, True)
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"literals: the model has no feature {feature!r}.")
            feature = names.index(feature)
        is_number = isinstance(feature, Integral) and not isinstance(feature, bool)
        if not is_number or not 0 <= feature < rows.n_features:
            raise ValueError(
                f"literals: {feature!r} is not one of {rows.n_features} features."
            )
        if values.setdefault(int(feature), bool(value)) != bool(value):
            raise ValueError(
                f"literals: feature {feature} cannot be both true and false."
            )
    return tuple(sorted(values.items()))


def sum_of(rows, literals):
    """Add up the coefficients of the rows that satisfy a conjunction."""
    return fsum(rows.coefficients[satisfied_rows(rows.table, literals)])


def as_rule(rows, literals, weight):
    """Return a conjunction with its weight and contribution."""
    is_known = not rows.weights.monotone or all(value for _, value in literals)
    contribution = rows.weights.times(len(literals), weight) if is_known else 0.0
    return Rule(literals, weight, contribution)


def top_conjunctions(
    model, n_rules=20, *, max_literals=None, literals="positive", rank="weight",
    sign="both", feature_groups=None, X=None, target=None, kernel=None,
    time_limit=None, n_jobs=None,
):  # fmt: skip
    """Find the heaviest conjunctions in a fitted model, exactly.

    Conjunctions that the same support rows satisfy are one rule: the shortest of
    them, of those the one with the lowest features, true ones before negated ones.

    Parameters
    ----------
    model : fitted estimator
        `KernelPerceptron`, `SVC`, `NuSVC`, `SVR`, `NuSVR`, `OneClassSVM` or
        `KernelRidge` with a linear, polynomial or RBF kernel or one of ours that
        weighs conjunctions by length; or a linear model such as `AveragedPerceptron`
        and `Winnow`, whose conjunctions are single features.
    n_rules : int, default=20
        Number of rules.
    max_literals : int or None, default=None
        Longest conjunctions. None: as long as the kernel knows, but no more than 6.
    literals : {"positive", "both"}, default="positive"
        Only true features, or negated ones too.
    rank : {"weight", "contribution"}, default="weight"
        "weight": by the sum S of the coefficients of the rows that satisfy the
        conjunction, to read rules. "contribution": by its weight in the score, a * S,
        with a the kernel's weight of its length, to see what makes the score; a
        kernel that prefers short conjunctions then puts single features first.
    sign : {"positive", "negative", "both"}, default="both"
        Which sums count, by their format_large_int.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; no two features of one label meet in a rule. For
        one-hot columns: the attribute.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The training rows. scikit-learn's machines keep no support rows when the
        kernel is a callable or precomputed, and then need them.
    target : class label, default=None
        The class that rules speak for; None is the second of two. With several
        classes of a scikit-learn machine, one-against-one scores of the class are
        added up.
    kernel : kernel object, default=None
        What a precomputed kernel matrix was made with.
    time_limit : float or None, default=None
        Seconds after which the best so far are returned.
    n_jobs : int or None, default=None
        Branches of a long search that run at once. The answer does not depend on it,
        but for ``time_limit``.

    Returns
    -------
    rules : list of Rule
        Heaviest first, none of weight 0. It has the attributes ``bound``, which no
        other rule's weight (or contribution, by ``rank``) exceeds in format_large_int,
        ``is_optimal``, False when time was up, and ``feature_names``.

    Raises
    ------
    ValueError
        For bad parameters, and for a model that is no sum over conjunctions with
        weights by length that are not negative: a sigmoid kernel, rows that were
        scaled, an unknown callable.

    Notes
    -----
    Branch and bound: what grows from a conjunction sums up to no more than its
    positive coefficients, nor to less than its negative ones. Coefficients are taken
    to 2**-52 of their total, sums are then exact.

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
    check_choice(literals, "literals", ("positive", "both"))
    rows = read_model(model, X, kernel=kernel, target=target)
    if max_literals is None:
        longest = min(max(1, rows.weights.longest), READABLE_LENGTH)
    else:
        longest = check_integer(max_literals, "max_literals", 1)
    if literals == "both" and rows.is_single:
        raise ValueError(
            f"{type(model).__name__} weighs features only: use literals='positive'."
        )
    if literals == "both" and rank == "contribution" and rows.weights.monotone:
        raise ValueError(
            "The kernel knows no negated features, so they contribute nothing: use "
            "literals='positive' or rank='weight'."
        )
    if rows.is_single:
        rows, longest = _heaviest(rows, n_rules, sign), 1
    length_weights, exponent = None, 0
    if rank == "contribution":
        longest = min(longest, rows.n_features)
        length_weights, exponent = rows.weights.scaled(longest)
    result = search_conjunctions(
        rows.table, rows.coefficients, rows.n_features, max_literals=longest,
        n_rules=n_rules, literals=literals, sign=sign, feature_groups=feature_groups,
        length_weights=length_weights, time_limit=time_limit, n_jobs=n_jobs,
    )  # fmt: skip
    return FoundRules(
        [as_rule(rows, rule, weight) for rule, weight in result.found],
        _rescaled(result.bound, exponent),
        result.is_optimal,
        rows.feature_names,
    )


def _rescaled(bound, exponent):
    """Undo the scaling of the weights; what exceeds float64 is its largest number."""
    with np.errstate(over="ignore", under="ignore"):
        bound = np.ldexp(bound, exponent)
    return float(min(bound, np.finfo(float).max))


def _heaviest(rows, n_rules, sign):
    """Keep the rows that can matter when every row is a single feature."""
    value = {"positive": 1, "negative": -1}.get(sign, np.sign(rows.coefficients))
    order = np.argsort(-value * rows.coefficients, kind="stable")[:n_rules]
    kept = np.sort(order)
    return replace(rows, table=rows.table[kept], coefficients=rows.coefficients[kept])
