"""From a learner's kernel parameters to a scorer and rows laid out for it."""

import numpy as np
from scipy import sparse

from sklboolean._core.bits import BitRows, as_csr
from sklboolean.kernels._blocks import PairFormula, SparseLayout
from sklboolean.kernels._evaluators import (
    CallableScorer,
    CountScorer,
    FormulaScorer,
    GramRows,
    GramScorer,
    TableRows,
)
from sklboolean.kernels._kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
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
    kernel = {
        "conjunction": lambda: ConjunctionKernel(
            min_literals=learner.min_literals,
            max_literals=learner.max_literals,
            monotone=learner.monotone,
            decay=learner.decay,
        ),
        "linear": LinearKernel,
        "rbf": lambda: RBFKernel(gamma=learner.gamma),
        "poly": lambda: PolynomialKernel(
            degree=learner.degree, gamma=learner.gamma, coef0=learner.coef0
        ),
    }[learner.kernel]()
    return kernel.formula(n_features, max_ones)


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
    if not (sparse.issparse(support) or sparse.issparse(queries)):
        rows = BitRows.from_words(support, n_features)
        if queries is support:
            return rows, rows
        return rows, BitRows.from_words(queries, n_features)
    layout = SparseLayout(as_csr(support, n_features))
    rows = layout.rows(support)
    return rows, rows if queries is support else layout.rows(queries)


def most_ones(table):
    """Return the largest number of true features in a row of a Boolean table."""
    if sparse.issparse(table):
        return int(np.diff(table.indptr).max(initial=0))
    return int(BitRows.from_words(table, 0).ones.max(initial=0))
