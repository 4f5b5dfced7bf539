"""From a learner's kernel parameters to a scorer and rows laid out for it."""

import numpy as np
from scipy import sparse

from sklboolean._core.bits import BitRows
from sklboolean._core.validation import check_integer, check_real
from sklboolean.kernels._count_table import integer_table, real_table
from sklboolean.kernels._evaluators import (
    CallableScorer,
    CountScorer,
    FormulaScorer,
    GramRows,
    GramScorer,
    TableRows,
)
from sklboolean.kernels._formulas import PairFormula, conjunction_formula
from sklboolean.kernels._functions import lay_out
from sklboolean.kernels._kernels import (
    CNFKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)

_OBJECTS = {
    "disjunction": DisjunctionKernel,
    "dnf": DNFKernel,
    "cnf": CNFKernel,
    "tanimoto": TanimotoKernel,
}
KERNEL_NAMES = ("conjunction", "linear", "rbf", "poly", *_OBJECTS, "precomputed")
# Of KernelPerceptron, for kernels given by name.
PARAMETERS_OF_KERNELS = {
    "conjunction": ("min_literals", "max_literals", "monotone", "decay"),
    "rbf": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
}


def choose_scorer(learner, n_features, max_ones, n_jobs=None):
    """Return the scorer for a learner's kernel.

    Parameters
    ----------
    learner : KernelPerceptron
        Its kernel parameters are read and checked.
    n_features : int
    max_ones : int
        Largest number of true features in a row.
    n_jobs : int or None
    """
    kernel = learner.kernel
    constant = 1 if learner.fit_intercept else 0
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return GramScorer(constant)
        if kernel in _OBJECTS:
            kernel = _OBJECTS[kernel]()
        elif kernel in KERNEL_NAMES:
            table = _named_table(learner, n_features, max_ones)
            return CountScorer(table, constant, n_jobs)
        else:
            raise ValueError(
                f"kernel must be a callable or one of {list(KERNEL_NAMES)}; "
                f"got {kernel!r}."
            )
    if not callable(kernel):
        raise ValueError(
            f"kernel must be a name, a kernel object or a callable; got {kernel!r}."
        )
    altered = getattr(kernel, "normalize", False) or getattr(kernel, "log2", False)
    if altered or not hasattr(kernel, "formula"):
        return CallableScorer(kernel, constant)
    formula = kernel.formula(n_features, max_ones)
    if isinstance(formula, PairFormula):
        return FormulaScorer(formula, constant, n_jobs)
    return CountScorer(formula, constant, n_jobs)


def _named_table(learner, n_features, max_ones):
    if learner.kernel == "conjunction":
        return conjunction_formula(
            n_features, max_ones, min_literals=learner.min_literals,
            max_literals=learner.max_literals, monotone=learner.monotone,
            decay=learner.decay,
        )  # fmt: skip
    if learner.kernel == "linear":
        return integer_table("common", range(max_ones + 1), newton=(0, 1, 0, 0))
    gamma = 1.0 / n_features if learner.gamma is None else learner.gamma
    check_real(gamma, "gamma", 0, strict=True)
    if learner.kernel == "rbf":
        # On Boolean rows the squared distance is the number of differing features.
        distance = n_features - np.arange(n_features + 1)
        return real_table("same", np.exp(-gamma * distance))
    check_integer(learner.degree, "degree", 1)
    check_real(learner.coef0, "coef0", 0)
    with np.errstate(over="ignore"):
        values = (gamma * np.arange(max_ones + 1) + learner.coef0) ** learner.degree
    return real_table("common", values)


def open_rows(scorer, n_features, support, queries):
    """Lay out two tables for a scorer.

    Parameters
    ----------
    scorer : scorer object
    n_features : int
    support : table of Boolean rows, or row numbers when the kernel is precomputed
    queries : table of Boolean rows, or a kernel matrix

    Returns
    -------
    support, queries : rows of the scorer
    """
    if isinstance(scorer, GramScorer):
        return (
            GramRows(queries, support),
            GramRows(queries, np.arange(len(queries))),
        )
    if isinstance(scorer, CallableScorer):
        return TableRows(support, n_features), TableRows(queries, n_features)
    queries, support = lay_out(queries, support, n_features)
    return support, queries


def most_ones(table):
    """Return the largest number of true features in a row of a Boolean table."""
    if sparse.issparse(table):
        return int(np.diff(table.indptr).max(initial=0))
    return int(BitRows.from_words(table, 0).ones.max(initial=0))
