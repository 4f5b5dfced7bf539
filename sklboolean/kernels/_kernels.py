"""Boolean kernels: objects that own formula, exact table and length weights.

A kernel is one class. `KERNELS` finds it by name; the kernel functions and
`BOOLEAN_KERNELS` are made from it. Objects pickle, clone and take part in grid search
(``kernel__max_literals``).

A formula is a `CountTable` if the kernel is a function of one count. Conjunctions are,
and so is every kernel with literals of both signs, through `same`. Monotone
disjunctions, DNFs and CNFs also depend on the number of true features of both samples,
a = |x| and b = |z|: their formula is a `PairFormula`. Their counts are formed in int64
where they fit, otherwise in Python integers, and rounded once.
"""

import inspect
from contextlib import suppress
from fractions import Fraction
from math import comb, exp2, expm1, floor, frexp, log

import numpy as np

from sklboolean._core._popcount import CountMap
from sklboolean._core.bits import BitColumns
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.kernels._count_table import (
    CountTable,
    LengthWeights,
    conjunction_table,
    difference_weights,
    integer_table,
    power_weights,
    real_table,
)
from sklboolean.kernels._evaluators import (
    PairFormula,
    evaluator_of_bits,
    lay_out_rows,
    normalized_matrix,
)

LARGEST_FOR_LIBSVM = 2.0**127


# A new kernel is one class: its parameters, `_formula(n_features, max_ones)` and a line
# in KERNELS. `formula` is what everything reads: perceptron, support vector machine,
# process, `nearest`, extraction of rules.
class BooleanKernel(VersionedEstimator):
    """Base class of the kernel objects.

    A subclass has its own parameters besides ``binarize`` and ``n_jobs``. Its method
    ``_formula`` checks them and builds the closed form; ``_weights`` is needed only if
    the weights of conjunctions by length are not the differences of the table.
    """

    def __call__(self, X, Y=None, *, dtype=None, out=None):
        """Compute the kernel between the samples of ``X`` and of ``Y``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Samples of Boolean features: bool, integer or float; dense, CSR or CSC.
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
            None compares ``X`` with itself.
        dtype : {"float64", "float32"} or None, default=None
            Type of the values. "float32" is the value of "float64", rounded again, in
            half the memory. None: the type of ``out``, otherwise "float64".
        out : ndarray of shape (n_samples_X, n_samples_Y), default=None
            C-contiguous array that receives the values and is returned. Calls that
            reuse an array are faster. After an error its values are undefined. None: a
            new array.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y), dtype float64 or float32
            Correctly rounded in float64; with ``normalize``, to within 2**-49 of the
            value.

        Raises
        ------
        ValueError
            If a value is 2**127 or more, and for invalid parameters and data.
        """
        K = self._matrix(X, Y, dtype, out)
        # Support vector machines of libsvm keep kernel values as float32.
        if not self._is_normalized and K.max(initial=0) >= LARGEST_FOR_LIBSVM:
            raise ValueError(
                f"A value of {self!r} on these samples is 2**127 or more. Kernel "
                "models, such as SVC, cannot work with it. Use normalize=True, a "
                "smaller max_literals or shorter formulas. The kernel functions, such "
                "as conjunction_kernel, compute values up to 2**1023."
            )
        return K

    def _matrix(self, X, Y, dtype, out):
        """Compute the kernel, however large its values."""
        rows, others, max_ones = lay_out_rows(X, Y, self.binarize)
        columns = BitColumns.from_rows(others)
        formula = self.formula(rows.n_features, max_ones)
        out = _make_room((len(rows), len(columns)), dtype, out)
        return evaluate(self, formula, rows, columns, out, symmetric=Y is None)

    @property
    def _is_normalized(self):
        """Whether the kernel is divided by the root of both diagonals."""
        normalize = getattr(self, "normalize", False)
        return check_choice(normalize, "normalize", (True, False))

    def formula(self, n_features, max_ones):
        """Build the closed form for given sizes, without normalisation.

        Parameters
        ----------
        n_features : int
            Number of features.
        max_ones : int
            Largest number of true features in a sample.

        Returns
        -------
        formula : CountTable or PairFormula
            Values by count, or a function of the count and of both sizes.
        """
        return self._formula(n_features, max_ones)

    def length_weights(self, n_features) -> LengthWeights:
        """Compute the weight that the kernel gives to conjunctions of each length.

        Parameters
        ----------
        n_features : int
            Number of features.

        Returns
        -------
        weights : LengthWeights
            Weights of conjunctions of 0 to ``n_features`` literals; ``to_float()``
            makes them an array. If ``monotone``, they are for conjunctions of true
            features, otherwise for conjunctions of literals of both signs.

        Raises
        ------
        ValueError
            For kernels that are not a weighting of conjunctions by their length:
            monotone disjunctions, DNFs and CNFs, Tanimoto, and normalised kernels.
        """
        n_features = check_integer(n_features, "n_features", 1)
        formula = self.formula(n_features, n_features)
        if self._is_normalized or not isinstance(formula, CountTable):
            raise ValueError(
                f"{self!r} is not a weighting of conjunctions by their length. "
                "Use ConjunctionKernel, or monotone=False."
            )
        return self._weights(n_features, formula)

    def _weights(self, n_features, table):
        return table.length_weights(monotone=table.count == "common")


def evaluate(kernel, formula, rows, columns, out, *, symmetric=False):
    """Write a kernel between laid-out samples into ``out``, and return it.

    Parameters
    ----------
    kernel : BooleanKernel
    formula : CountTable or PairFormula
        The formula of the kernel, for these sizes.
    rows : BitRows
    columns : BitColumns
    out : ndarray of shape (n_rows, n_columns), float64 or float32
    symmetric : bool
        Whether rows and columns are the same samples.
    """
    options = {"symmetric": symmetric, "out": out}
    if kernel._is_normalized:
        return normalized_matrix(
            formula, rows, columns, n_jobs=kernel.n_jobs, **options
        )
    evaluator = evaluator_of_bits(formula, rows.n_features, kernel.n_jobs)
    return evaluator.matrix(rows, columns, **options)


def _make_room(shape, dtype, out):
    """Check ``dtype`` and ``out``, and return an array for the values."""
    checked = None
    if dtype is not None:
        with suppress(Exception):  # whatever NumPy raises for objects that are no dtype
            checked = np.dtype(dtype)
        if checked not in (np.float64, np.float32):
            raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")
    if out is None:
        return np.empty(shape, np.float64 if checked is None else checked)
    problem = None
    if not isinstance(out, np.ndarray):
        problem = f"got {type(out).__name__}"
    elif out.shape != shape:
        problem = f"got shape {out.shape}"
    elif out.dtype not in ((np.float64, np.float32) if checked is None else (checked,)):
        problem = f"got dtype {out.dtype}"
    elif not (out.flags.c_contiguous and out.flags.writeable and out.flags.aligned):
        problem = "got one that is not C-contiguous, aligned and writeable"
    if problem:
        kind = "float64 or float32" if checked is None else checked
        raise ValueError(
            f"out must be a C-contiguous array of shape {shape} and dtype {kind}; "
            f"{problem}."
        )
    return out


class ConjunctionKernel(BooleanKernel):
    """Count the conjunctions that are true in both samples.

    ``K(x, z) = sum over l of decay**l * C(s, l)`` for
    ``min_literals <= l <= max_literals``, where s counts the features of equal value
    in x and z if ``monotone=False``, and the features true in both otherwise. The
    default suits one-hot data and bags of words: conjunctions of up to three true
    features, normalised.

    Parameters
    ----------
    min_literals : int, default=0
        Minimum number of literals of a conjunction. 0 includes the empty conjunction,
        which is true everywhere.
    max_literals : int or None, default=3
        Maximum number of literals. Try 1 to 4. None: no limit; ``2**s`` with
        ``normalize=False``. A kernel model then memorises its training samples.
    monotone : bool, default=True
        True counts only conjunctions without negated features. Set it to False for
        switches, sensors and game boards; one-hot columns need no negations.
    decay : float, default=1.0
        A conjunction of l literals counts ``decay**l``. Values below 1 favour short
        conjunctions.
    normalize : bool, default=True
        Divide by ``sqrt(K(x, x) K(z, z))``; 0 for a sample that satisfies nothing. For
        a monotone kernel this changes decisions: a sample with many ones no longer
        counts for more than a sample with few. False gives counts. They grow fast with
        the number of features, and support vector machines cannot work with large
        ones.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    conjunction_kernel : The same kernel as a function.

    References
    ----------
    Khardon, Roth, Servedio. "Efficiency versus Convergence of Boolean Kernels for
    On-Line Learning Algorithms". NIPS 2001, section 2.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklboolean.kernels import ConjunctionKernel
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> SVC(kernel=ConjunctionKernel(max_literals=2)).fit(X, y).predict(X)
    array([0, 1, 1, 0])
    >>> kernel = ConjunctionKernel(max_literals=2, decay=0.5, normalize=False)
    >>> kernel.length_weights(4).to_float()
    array([1.  , 0.5 , 0.25, 0.  , 0.  ])
    """

    def __init__(
        self, *, min_literals=0, max_literals=3, monotone=True, decay=1.0,
        normalize=True, binarize=0.0, n_jobs=None,
    ):  # fmt: skip
        self.min_literals = min_literals
        self.max_literals = max_literals
        self.monotone = monotone
        self.decay = decay
        self.normalize = normalize
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        shortest = check_integer(self.min_literals, "min_literals", 0)
        longest = self.max_literals
        if longest is not None:
            longest = check_integer(longest, "max_literals", 0)
            if longest < shortest:
                raise ValueError(
                    f"max_literals={longest} is below min_literals={shortest}: "
                    "no conjunction is left."
                )
        check_real(self.decay, "decay", 0, strict=True)
        check_choice(self.monotone, "monotone", (True, False))
        count, largest = ("common", max_ones) if self.monotone else ("same", n_features)
        return conjunction_table(count, largest, shortest, longest, self.decay)

    def _weights(self, n_features, table):
        lengths = self.min_literals, self.max_literals
        return power_weights(self.decay, n_features, bool(self.monotone), *lengths)


class DisjunctionKernel(BooleanKernel):
    """Count the disjunctions of ``n_literals`` variables that are true in both samples.

    Parameters
    ----------
    n_literals : int, default=2
        Exact number of distinct variables in a disjunction.
    monotone : bool, default=True
        True counts only disjunctions without negated features.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    disjunction_kernel : The same kernel as a function.

    References
    ----------
    Polato, Lauriola, Aiolli. "A novel Boolean kernels family for categorical data".
    Entropy 20(6), 2018. A disjunction holds unless all its variables fail, so the
    formulas that hold in both samples are counted by inclusion and exclusion over those
    that fail.

    Examples
    --------
    >>> from sklboolean.kernels import DisjunctionKernel
    >>> DisjunctionKernel(n_literals=1)([[1, 0, 1]], [[1, 1, 0]])
    array([[1.]])
    """

    def __init__(self, *, n_literals=2, monotone=True, binarize=0.0, n_jobs=None):
        self.n_literals = n_literals
        self.monotone = monotone
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        check_choice(self.monotone, "monotone", (True, False))
        n, d = n_features, check_integer(self.n_literals, "n_literals", 1)
        if self.monotone:
            return PairFormula(_true_disjunctions(n, d))
        constant = _always_shared(n, d)
        newton = None
        if d <= 3:
            newton = [constant, 0, 0, 0]
            newton[d] += 1
        return integer_table(
            "same", (constant + comb(s, d) for s in range(n + 1)), newton
        )


class DNFKernel(BooleanKernel):
    """Count the DNFs of ``n_terms`` conjunctions that are true in both samples.

    A DNF is true if one of its conjunctions is.

    Parameters
    ----------
    n_terms : int, default=2
        Exact number of distinct conjunctions in a DNF.
    n_literals : int, default=2
        Exact number of distinct variables in each conjunction.
    monotone : bool, default=True
        True counts only conjunctions without negated features.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    dnf_kernel : The same kernel as a function.

    References
    ----------
    Polato, Lauriola, Aiolli. "A novel Boolean kernels family for categorical data".
    Entropy 20(6), 2018.

    Examples
    --------
    >>> from sklboolean.kernels import DNFKernel
    >>> DNFKernel()([[1, 1, 0]], [[0, 1, 1]])
    array([[1.]])
    """

    def __init__(
        self, *, n_terms=2, n_literals=2, monotone=True, binarize=0.0, n_jobs=None
    ):
        self.n_terms = n_terms
        self.n_literals = n_literals
        self.monotone = monotone
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        check_choice(self.monotone, "monotone", (True, False))
        n, d = n_features, check_integer(self.n_terms, "n_terms", 1)
        c = check_integer(self.n_literals, "n_literals", 1)
        true = comb(n, c)
        if not self.monotone:
            # Every sample satisfies C(n, c) of the 2**c C(n, c) conjunctions.
            everything = 2**c * true if true else 0
            outside = comb(everything, d) - 2 * comb(everything - true, d)
            neither = (everything - 2 * true + comb(s, c) for s in range(n + 1))
            return integer_table("same", (outside + comb(m, d) for m in neither))
        everything = true
        true = _choose_all(n, c, 4 * comb(everything, d))

        def values(common, a, b):
            return (
                comb(everything, d)
                - _choose(everything - true[a], d)
                - _choose(everything - true[b], d)
                + _choose(everything - true[a] - true[b] + true[common], d)
            )

        return PairFormula(values)


class CNFKernel(BooleanKernel):
    """Count the CNFs of ``n_clauses`` disjunctions that are true in both samples.

    A CNF is true if all its disjunctions are.

    Parameters
    ----------
    n_clauses : int, default=2
        Exact number of distinct disjunctions in a CNF.
    n_literals : int, default=2
        Exact number of distinct variables in each disjunction.
    monotone : bool, default=True
        True counts only disjunctions without negated features.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    cnf_kernel : The same kernel as a function.

    References
    ----------
    Polato, Lauriola, Aiolli. "A novel Boolean kernels family for categorical data".
    Entropy 20(6), 2018.

    Examples
    --------
    >>> from sklboolean.kernels import CNFKernel
    >>> CNFKernel()([[1, 1, 0]], [[0, 1, 1]])
    array([[3.]])
    """

    def __init__(
        self, *, n_clauses=2, n_literals=2, monotone=True, binarize=0.0, n_jobs=None
    ):
        self.n_clauses = n_clauses
        self.n_literals = n_literals
        self.monotone = monotone
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        check_choice(self.monotone, "monotone", (True, False))
        n, c = n_features, check_integer(self.n_clauses, "n_clauses", 1)
        d = check_integer(self.n_literals, "n_literals", 1)
        if self.monotone:
            clauses = _true_disjunctions(n, d)
            return PairFormula(lambda common, a, b: _choose(clauses(common, a, b), c))
        constant = _always_shared(n, d)
        clauses = (constant + comb(s, d) for s in range(n + 1))
        return integer_table("same", (comb(m, c) for m in clauses))


class TanimotoKernel(BooleanKernel):
    """Divide the features true in both samples by the features true in either.

    Parameters
    ----------
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    tanimoto_kernel : The same kernel as a function.

    References
    ----------
    Ralaivola, Swamidass, Saigo, Baldi. "Graph kernels for chemical informatics".
    Neural Networks 18(8), 2005.

    Examples
    --------
    >>> from sklboolean.kernels import TanimotoKernel
    >>> TanimotoKernel()([[1, 1, 0]], [[1, 0, 0]])
    array([[0.5]])
    """

    def __init__(self, *, binarize=0.0, n_jobs=None):
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        def values(common, a, b):
            union = a + b - common
            ones = np.ones(common.shape)  # two empty samples
            return np.divide(common, union, out=ones, where=union > 0, dtype=np.float64)

        return PairFormula(values, CountMap("share", np.zeros(1)))


class LinearKernel(BooleanKernel):
    """Count the features that are true in both samples.

    Parameters
    ----------
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    sklearn.metrics.pairwise.linear_kernel : The same for real features.

    Examples
    --------
    >>> from sklboolean.kernels import LinearKernel
    >>> LinearKernel()([[1, 1, 0]], [[1, 0, 0]])
    array([[1.]])
    """

    def __init__(self, *, binarize=0.0, n_jobs=None):
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        return integer_table("common", range(max_ones + 1), newton=(0, 1, 0, 0))


class RBFKernel(BooleanKernel):
    """Compute ``exp(-gamma * d)``, where d features differ between the samples.

    It is scikit-learn's RBF kernel on zeros and ones, and a weighting of all
    conjunctions of literals of both signs: those of l literals have the weight
    ``exp(-gamma * n_features) * (exp(gamma) - 1)**l``.

    Parameters
    ----------
    gamma : float or None, default=None
        Inverse width, above 0. Larger values make the kernel more local. None:
        ``1 / n_features``.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    sklearn.metrics.pairwise.rbf_kernel : The same for real features.

    Examples
    --------
    >>> from sklboolean.kernels import RBFKernel
    >>> RBFKernel(gamma=0.5)([[1, 1, 0]], [[1, 0, 0]]).round(4)
    array([[0.6065]])
    """

    def __init__(self, *, gamma=None, binarize=0.0, n_jobs=None):
        self.gamma = gamma
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        # The squared distance of Boolean samples is the number of differing features.
        distance = n_features - np.arange(n_features + 1)
        return real_table("same", np.exp(-_checked_gamma(self, n_features) * distance))

    def _weights(self, n_features, table):
        gamma = _checked_gamma(self, n_features)
        power = -gamma * n_features / log(2)
        # exp(-gamma n) (exp(gamma) - 1)**l as mantissas and exponents: none of the
        # weights leaves the range, however many features there are.
        first, exponent = frexp(exp2(power - floor(power)))
        exponent += floor(power)
        # expm1 overflows above 709; there exp(gamma) - 1 is exp(gamma).
        ratio = frexp(expm1(gamma)) if gamma < 700 else (1.0, round(gamma / log(2)))
        mantissas = np.zeros(n_features + 1)
        exponents = np.zeros(n_features + 1, dtype=np.int64)
        for length in range(n_features + 1):
            mantissas[length], exponents[length] = first, exponent
            first, shift = frexp(first * ratio[0])
            exponent += shift + ratio[1]
        return LengthWeights(mantissas, exponents, monotone=False)


class PolynomialKernel(BooleanKernel):
    """Compute ``(gamma * s + coef0)**degree``, where s features are true in both.

    It is scikit-learn's polynomial kernel on zeros and ones, and a weighting of
    conjunctions of at most ``degree`` true features.

    Parameters
    ----------
    degree : int, default=3
        Degree, at least 1: the longest conjunctions.
    gamma : float or None, default=None
        Factor of the count, above 0. None: ``1 / n_features``.
    coef0 : float, default=1.0
        Constant, at least 0. Larger values favour short conjunctions.
    binarize : float or None, default=0.0
        Values above this threshold are true. None accepts only 0 and 1.
    n_jobs : int or None, default=None
        Number of threads. None: 1.

    See Also
    --------
    sklearn.metrics.pairwise.polynomial_kernel : The same for real features.

    Examples
    --------
    >>> from sklboolean.kernels import PolynomialKernel
    >>> PolynomialKernel(degree=2, gamma=1.0)([[1, 1, 0]], [[1, 0, 0]])
    array([[4.]])
    """

    def __init__(self, *, degree=3, gamma=None, coef0=1.0, binarize=0.0, n_jobs=None):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.binarize = binarize
        self.n_jobs = n_jobs

    def _formula(self, n_features, max_ones):
        gamma = _checked_gamma(self, n_features)
        check_integer(self.degree, "degree", 1)
        check_real(self.coef0, "coef0", 0)
        with np.errstate(over="ignore"):
            values = (gamma * np.arange(max_ones + 1) + self.coef0) ** self.degree
        return real_table("common", values)

    def _weights(self, n_features, table):
        gamma = _checked_gamma(self, n_features)
        return polynomial_weights(self.degree, gamma, self.coef0, n_features)


def polynomial_weights(degree, gamma, coef0, n_features, *, plus_minus=False):
    """Compute the exact length weights of ``(gamma * x.z + coef0)**degree``.

    Parameters
    ----------
    degree : int
    gamma, coef0 : float
    n_features : int
    plus_minus : bool
        The samples hold -1 and +1 instead of 0 and 1: then x.z = 2 same - n_features,
        and the weights are for literals of both signs.

    Returns
    -------
    weights : LengthWeights
        Some are negative if ``coef0`` is.
    """
    gamma, coef0 = Fraction(float(gamma)), Fraction(float(coef0))
    unit = max(gamma.denominator, coef0.denominator)  # powers of two
    step, start = (2, -n_features) if plus_minus else (1, 0)
    numerators = [
        int((gamma * (step * s + start) + coef0) * unit) ** degree
        for s in range(min(degree, n_features) + 1)
    ]
    scale = degree * (unit.bit_length() - 1)
    return difference_weights(numerators, n_features, not plus_minus, scale)


def _checked_gamma(kernel, n_features):
    gamma = 1.0 / n_features if kernel.gamma is None else kernel.gamma
    return check_real(gamma, "gamma", 0, strict=True)


def _choose_all(max_count, length, total):
    """Tabulate C(m, length); Python integers if sums may pass 2**62."""
    dtype = np.int64 if total < 2**60 else object
    return np.array([comb(m, length) for m in range(max_count + 1)], dtype=dtype)


def _choose(counts, length):
    """Compute C(m, length) of an array of non-negative integers, exactly."""
    # int64 as long as no product of the loop can pass 2**62.
    largest = int(counts.max(initial=0))
    if length > largest:
        return counts * 0
    if largest**length >= 2**62:
        counts = counts.astype(object)
    result = counts * 0 + 1
    for step in range(length):
        # A product of consecutive integers, so each division is exact. Below `length`
        # a factor is 0, and the later negative ones change nothing.
        result = result * (counts - step) // (step + 1)
    return result


def _always_shared(n, d):
    # Of the 2**d C(n, d) disjunctions each sample fails C(n, d), and both fail
    # C(same, d): the number true in both is this constant plus C(same, d).
    # A d beyond n leaves none.
    return (2**d - 2) * comb(n, d) if d <= n else 0


def _true_disjunctions(n, d):
    # A disjunction is false where all its d features are: inclusion and exclusion over
    # the false features of both samples.
    failing = _choose_all(n, d, 4 * comb(n, d))

    def values(common, a, b):
        both_fail = failing[n - a - b + common]
        return failing[n] - failing[n - a] - failing[n - b] + both_fail

    return values


KERNELS = {
    "conjunction": ConjunctionKernel,
    "linear": LinearKernel,
    "rbf": RBFKernel,
    "poly": PolynomialKernel,
    "disjunction": DisjunctionKernel,
    "dnf": DNFKernel,
    "cnf": CNFKernel,
    "tanimoto": TanimotoKernel,
}


def _as_function(kernel_class, name, example):
    """Make the function ``name(X, Y=None, *, ...)`` of a kernel class."""

    def function(X, Y=None, *, dtype=None, out=None, **parameters):
        K = kernel_class(**parameters)._matrix(X, Y, dtype, out)
        if K.dtype == np.float32 and K.max(initial=0) == np.inf:
            raise ValueError(
                f"A value of {name} on these samples exceeds float32 (about 2**128). "
                "Use dtype='float64', or normalize=True or shorter formulas."
            )
        return K

    summary, _, sections = (kernel_class.__doc__ or "").partition(
        "    Parameters\n    ----------\n"
    )
    parameters = sections.partition("    See Also\n")[0]
    of_kernel = inspect.signature(kernel_class).parameters.values()
    shared = inspect.signature(function).parameters
    options = shared["dtype"], shared["out"]
    function.__signature__ = inspect.Signature(
        [shared["X"], shared["Y"], *of_kernel, *options]
    )
    function.__name__ = function.__qualname__ = name
    texts = {"summary": summary, "parameters": parameters, "example": example}
    names = {"object": kernel_class.__name__, "name": name}
    function.__doc__ = FUNCTION_DOC.format(**texts, **names)
    return function


FUNCTION_DOC = """{summary}    Parameters
    ----------
    X : {{array-like, sparse matrix}} of shape (n_samples_X, n_features)
        Samples of Boolean features: bool, integer or float; dense, CSR or CSC.
    Y : {{array-like, sparse matrix}} of shape (n_samples_Y, n_features), default=None
        None compares ``X`` with itself.
{parameters}    dtype : {{"float64", "float32"}} or None, default=None
        Type of the values. "float32" is the value of "float64", rounded again, in half
        the memory. None: the type of ``out``, otherwise "float64".
    out : ndarray of shape (n_samples_X, n_samples_Y), default=None
        C-contiguous array that receives the values and is returned. Calls that reuse an
        array are faster. After an error its values are undefined. None: a new array.

    Returns
    -------
    K : ndarray of shape (n_samples_X, n_samples_Y), dtype float64 or float32
        Correctly rounded in float64; with ``normalize``, to within 2**-49 of the value.

    Raises
    ------
    ValueError
        If a value exceeds float64, or float32 where that is the type, and for invalid
        parameters.

    See Also
    --------
    {object} : The same kernel as an object, with references.

    Examples
    --------
    >>> from sklboolean.kernels import {name}
    >>> {name}({example}
    """

conjunction_kernel = _as_function(
    ConjunctionKernel,
    "conjunction_kernel",
    """[[1, 1, 0], [1, 0, 0]]).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    >>> conjunction_kernel([[1, 1, 0]], min_literals=1, normalize=False)
    array([[3.]])""",
)
disjunction_kernel = _as_function(
    DisjunctionKernel,
    "disjunction_kernel",
    """[[1, 0, 0], [0, 1, 0]])
    array([[2., 1.],
           [1., 2.]])""",
)
dnf_kernel = _as_function(
    DNFKernel,
    "dnf_kernel",
    """[[1, 1, 0], [0, 1, 1]])
    array([[2., 1.],
           [1., 2.]])""",
)
cnf_kernel = _as_function(
    CNFKernel,
    "cnf_kernel",
    """[[1, 1, 0], [0, 1, 1]])
    array([[3., 3.],
           [3., 3.]])""",
)
tanimoto_kernel = _as_function(
    TanimotoKernel,
    "tanimoto_kernel",
    """[[1, 1, 0], [1, 0, 0]])
    array([[1. , 0.5],
           [0.5, 1. ]])""",
)

BOOLEAN_KERNELS = {
    "conjunction": conjunction_kernel,
    "disjunction": disjunction_kernel,
    "dnf": dnf_kernel,
    "cnf": cnf_kernel,
    "tanimoto": tanimoto_kernel,
}
