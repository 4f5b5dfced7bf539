"""Kernel objects: a kernel function with its parameters, for `SVC(kernel=...)`.

They pickle, clone and take part in grid search (``kernel__max_literals``).
"""

from sklearn.base import BaseEstimator

from sklboolean._core.validation import check_integer
from sklboolean.kernels._count_table import CountTable
from sklboolean.kernels._formulas import (
    cnf_formula,
    conjunction_formula,
    disjunction_formula,
    dnf_formula,
    tanimoto_formula,
)
from sklboolean.kernels._functions import (
    cnf_kernel,
    conjunction_kernel,
    disjunction_kernel,
    dnf_kernel,
    tanimoto_kernel,
)


class _FormulaKernel(BaseEstimator):
    """What the kernel objects share: calling the function, asking for the formula."""

    def __call__(self, X, Y=None):
        """Return the kernel between the rows of ``X`` and of ``Y``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows_X, n_features)
            Rows of Boolean features.
        Y : {array-like, sparse matrix} of shape (n_rows_Y, n_features), default=None
            None compares ``X`` with itself.

        Returns
        -------
        K : ndarray of shape (n_rows_X, n_rows_Y), dtype float64
        """
        return type(self)._function(X, Y, **self.get_params())

    def formula(self, n_features, max_ones):
        """Return the closed form for rows of ``n_features``, ``max_ones`` of them true.

        Parameters
        ----------
        n_features : int
            Number of features.
        max_ones : int
            Largest number of true features in a row.

        Returns
        -------
        formula : CountTable or PairFormula
        """
        parameters = self.get_params()
        for name in ("binarize", "n_jobs", "normalize", "log2"):
            parameters.pop(name, None)
        return type(self)._builder(n_features, max_ones, **parameters)

    def newton_coefficients(self, n_features):
        """Return the weight of conjunctions by length.

        Parameters
        ----------
        n_features : int
            Number of features.

        Returns
        -------
        weights : ndarray of shape (n_features + 1,), dtype float64
            Entry l is the weight of every conjunction of l literals: of features
            that are true when the kernel is monotone, of literals of both signs
            otherwise.

        Raises
        ------
        ValueError
            For kernels that are not a weighting of conjunctions by length (monotone
            disjunctions, DNFs and CNFs, Tanimoto, and normalised or logarithmic
            kernels), and where a weight exceeds float64.
        """
        n_features = check_integer(n_features, "n_features", 1)
        formula = self.formula(n_features, n_features)
        altered = getattr(self, "normalize", False) or getattr(self, "log2", False)
        if altered or not isinstance(formula, CountTable):
            raise ValueError(
                f"{self!r} is not a weighting of conjunctions by their length. "
                "Use ConjunctionKernel, or monotone=False."
            )
        return formula.newton_coefficients()


class ConjunctionKernel(_FormulaKernel):
    """Conjunctions true in both rows; see `conjunction_kernel`.

    Parameters
    ----------
    min_literals : int, default=0
        Shortest conjunctions counted; 0 includes the empty one, true everywhere.
    max_literals : int or None, default=None
        Longest conjunctions counted. None: all.
    monotone : bool, default=False
        Only conjunctions without negated features.
    decay : float, default=1.0
        A conjunction of l literals counts ``decay**l``.
    normalize : bool, default=False
        Divide by ``sqrt(K(x, x) K(z, z))``.
    log2 : bool, default=False
        Return the logarithm to base 2 instead of the kernel.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    conjunction_kernel : The function, with references.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklboolean.kernels import ConjunctionKernel
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> SVC(kernel=ConjunctionKernel(max_literals=2)).fit(X, y).predict(X)
    array([0, 1, 1, 0])
    >>> ConjunctionKernel(max_literals=2, decay=0.5).newton_coefficients(4)
    array([1.  , 0.5 , 0.25, 0.  , 0.  ])
    """

    _function = staticmethod(conjunction_kernel)
    _builder = staticmethod(conjunction_formula)

    def __init__(
        self, *, min_literals=0, max_literals=None, monotone=False, decay=1.0,
        normalize=False, log2=False, binarize=0.0, n_jobs=None,
    ):  # fmt: skip
        self.min_literals = min_literals
        self.max_literals = max_literals
        self.monotone = monotone
        self.decay = decay
        self.normalize = normalize
        self.log2 = log2
        self.binarize = binarize
        self.n_jobs = n_jobs


class DisjunctionKernel(_FormulaKernel):
    """Disjunctions true in both rows; see `disjunction_kernel`.

    Parameters
    ----------
    n_literals : int, default=2
        Number of distinct variables in a disjunction.
    monotone : bool, default=True
        Only disjunctions without negated features.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    disjunction_kernel : The function, with references.

    Examples
    --------
    >>> from sklboolean.kernels import DisjunctionKernel
    >>> DisjunctionKernel(n_literals=1)([[1, 0, 1]], [[1, 1, 0]])
    array([[1.]])
    """

    _function = staticmethod(disjunction_kernel)
    _builder = staticmethod(disjunction_formula)

    def __init__(self, *, n_literals=2, monotone=True, binarize=0.0, n_jobs=None):
        self.n_literals = n_literals
        self.monotone = monotone
        self.binarize = binarize
        self.n_jobs = n_jobs


class DNFKernel(_FormulaKernel):
    """DNFs true in both rows; see `dnf_kernel`.

    Parameters
    ----------
    n_terms : int, default=2
        Number of distinct conjunctions in a DNF.
    n_literals : int, default=2
        Number of distinct variables in each conjunction.
    monotone : bool, default=True
        Only conjunctions without negated features.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    dnf_kernel : The function, with references.

    Examples
    --------
    >>> from sklboolean.kernels import DNFKernel
    >>> DNFKernel()([[1, 1, 0]], [[0, 1, 1]])
    array([[1.]])
    """

    _function = staticmethod(dnf_kernel)
    _builder = staticmethod(dnf_formula)

    def __init__(
        self, *, n_terms=2, n_literals=2, monotone=True, binarize=0.0, n_jobs=None
    ):
        self.n_terms = n_terms
        self.n_literals = n_literals
        self.monotone = monotone
        self.binarize = binarize
        self.n_jobs = n_jobs


class CNFKernel(_FormulaKernel):
    """CNFs true in both rows; see `cnf_kernel`.

    Parameters
    ----------
    n_clauses : int, default=2
        Number of distinct disjunctions in a CNF.
    n_literals : int, default=2
        Number of distinct variables in each disjunction.
    monotone : bool, default=True
        Only disjunctions without negated features.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    cnf_kernel : The function, with references.

    Examples
    --------
    >>> from sklboolean.kernels import CNFKernel
    >>> CNFKernel()([[1, 1, 0]], [[0, 1, 1]])
    array([[3.]])
    """

    _function = staticmethod(cnf_kernel)
    _builder = staticmethod(cnf_formula)

    def __init__(
        self, *, n_clauses=2, n_literals=2, monotone=True, binarize=0.0, n_jobs=None
    ):
        self.n_clauses = n_clauses
        self.n_literals = n_literals
        self.monotone = monotone
        self.binarize = binarize
        self.n_jobs = n_jobs


class TanimotoKernel(_FormulaKernel):
    """Shared share of the features true in either row; see `tanimoto_kernel`.

    Parameters
    ----------
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    tanimoto_kernel : The function, with references.

    Examples
    --------
    >>> from sklboolean.kernels import TanimotoKernel
    >>> TanimotoKernel()([[1, 1, 0]], [[1, 0, 0]])
    array([[0.5]])
    """

    _function = staticmethod(tanimoto_kernel)
    _builder = staticmethod(tanimoto_formula)

    def __init__(self, *, binarize=0.0, n_jobs=None):
        self.binarize = binarize
        self.n_jobs = n_jobs
