"""Sizes and VC dimensions of classes of Boolean functions."""

from sklboolean.theory._numbers import as_integer, log2_floor

_MAX_BITS = 10**9  # 125 MB for one number

# Sums of at most this many binomials are computed exactly, within a second.
MOST_TERMS = 10**5


def n_conjunctions(n_features, *, min_literals=0, max_literals=None, monotone=False):
    """Count the conjunctions of literals of distinct features.

    All of them are different functions, so there are as many formulas as functions:
    ``3**n_features`` of all lengths, or ``2**n_features`` if monotone. The empty
    conjunction, which is always true, counts if `min_literals` is 0. Conjunctions with
    both literals of some feature do not count; they are one more function, never true.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    min_literals : int, default=0
        Smallest number of literals, at least 0.
    max_literals : int or None, default=None
        Largest number of literals, at least `min_literals`. None: `n_features`.
    monotone : bool, default=False
        True: the literals are the features. False: also their negations.

    Returns
    -------
    size : int
        Number of formulas and of functions, exact.

    Raises
    ------
    ValueError
        If an argument is not an integer or is out of range, or the number has about
        10**9 bits or more.

    References
    ----------
    .. [1] R. Khardon, D. Roth, R. Servedio (2001). Efficiency versus Convergence of
       Boolean Kernels for On-Line Learning Algorithms. NIPS 14, section 2.

    Examples
    --------
    >>> from sklboolean.theory import n_conjunctions
    >>> n_conjunctions(4)
    81
    >>> n_conjunctions(100, min_literals=1, max_literals=3)
    1313600
    >>> n_conjunctions(4, monotone=True)
    16
    """
    n = as_integer(n_features, "n_features", at_least=1)
    first = as_integer(min_literals, "min_literals", at_least=0)
    signs = 1 if monotone else 2
    if max_literals is None:
        if n * signs >= _MAX_BITS:
            raise ValueError(
                f"n_features must be below {_MAX_BITS // signs} without max_literals, "
                f"as the number would have too many bits; got {n}. Set max_literals."
            )
        return (1 + signs) ** n - _count_up_to(first - 1, n, signs)
    last = as_integer(max_literals, "max_literals", at_least=first)
    return _count_up_to(last, n, signs) - _count_up_to(first - 1, n, signs)


def n_disjunctions(n_features, *, min_literals=0, max_literals=None, monotone=False):
    """Count the disjunctions of literals of distinct features.

    They are the negations of the conjunctions of negated literals, so there are as many
    of them. The empty disjunction is always false. Disjunctions with both literals of
    some feature do not count; they are one more function, always true.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    min_literals : int, default=0
        Smallest number of literals, at least 0.
    max_literals : int or None, default=None
        Largest number of literals, at least `min_literals`. None: `n_features`.
    monotone : bool, default=False
        True: the literals are the features. False: also their negations.

    Returns
    -------
    size : int
        Number of formulas and of functions, exact.

    Raises
    ------
    ValueError
        If an argument is not an integer or is out of range, or the number has about
        10**9 bits or more.

    See Also
    --------
    n_conjunctions : The same number.

    References
    ----------
    .. [1] N. Littlestone (1988). Learning Quickly When Irrelevant Attributes Abound: A
       New Linear-threshold Algorithm. Machine Learning 2, 285-318, section 5.

    Examples
    --------
    >>> from sklboolean.theory import n_disjunctions
    >>> n_disjunctions(100, min_literals=1, max_literals=3, monotone=True)
    166750
    """
    lengths = {"min_literals": min_literals, "max_literals": max_literals}
    return n_conjunctions(n_features, monotone=monotone, **lengths)


def n_k_dnf(n_features, max_literals, *, monotone=False) -> int:
    """Count the k-DNF formulas: disjunctions of short conjunctions.

    A formula is a set of different conjunctions of 1 to `max_literals` literals, no
    feature twice in one; the empty set is always false. Different formulas can be the
    same function, as ``x1`` and ``x1 or (x1 and x2)``. So there are at most as many
    functions; no closed form is known. As a class size, the number of formulas makes
    every bound valid but larger than necessary.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    max_literals : int
        Largest number of literals in a conjunction, at least 1.
    monotone : bool, default=False
        True: the literals are the features. False: also their negations.

    Returns
    -------
    size : int
        Number of formulas, exact:
        ``2 ** n_conjunctions(n_features, min_literals=1, max_literals=max_literals)``.

    Raises
    ------
    ValueError
        If an argument is not an integer or is out of range, or the number has more than
        10**9 bits. Its logarithm to base 2 is the exponent above.

    References
    ----------
    .. [1] L. G. Valiant (1984). A Theory of the Learnable. Communications of the ACM
       27(11), 1134-1142.

    Examples
    --------
    >>> from sklboolean.theory import halving_mistake_bound, n_k_dnf
    >>> n_k_dnf(2, 2)
    256
    >>> halving_mistake_bound(n_k_dnf(20, 3))
    9920
    """
    last = as_integer(max_literals, "max_literals", at_least=1)
    n_terms = n_conjunctions(
        n_features, min_literals=1, max_literals=last, monotone=monotone
    )
    if n_terms >= _MAX_BITS:
        raise ValueError(
            f"n_features={n_features} and max_literals={last} give a number with more "
            "than 10**9 bits. Lower one of them, or use its logarithm to base 2: "
            "n_conjunctions(n_features, "
            f"min_literals=1, max_literals={last}, monotone={bool(monotone)})."
        )
    return 1 << n_terms


def n_k_cnf(n_features, max_literals, *, monotone=False) -> int:
    """Count the k-CNF formulas: conjunctions of short disjunctions.

    A formula is a set of different disjunctions of 1 to `max_literals` literals, no
    feature twice in one; the empty set is always true. Its negation is a k-DNF, so the
    notes on :func:`n_k_dnf` apply.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.
    max_literals : int
        Largest number of literals in a disjunction, at least 1.
    monotone : bool, default=False
        True: the literals are the features. False: also their negations.

    Returns
    -------
    size : int
        Number of formulas, exact.

    Raises
    ------
    ValueError
        If an argument is not an integer or is out of range, or the number has more than
        10**9 bits.

    References
    ----------
    .. [1] L. G. Valiant (1984). A Theory of the Learnable. Communications of the ACM
       27(11), 1134-1142.

    Examples
    --------
    >>> from sklboolean.theory import n_k_cnf
    >>> n_k_cnf(3, 1)
    64
    """
    return n_k_dnf(n_features, max_literals, monotone=monotone)


def n_halfspaces_bound(n_features) -> int:
    """Bound the number of halfspaces over Boolean features.

    Halfspaces that label all of ``{0, 1}**n`` alike count once. There are at most
    ``2 * sum(comb(2**n - 1, i) for i in range(n + 1))`` different ones, which is at
    most ``2**(n * n)`` from n = 2 on. The exact numbers are 4, 14, 104, 1882, 94572 and
    so on; no closed form is known.

    Parameters
    ----------
    n_features : int
        Number of features n, from 1 to 1000.

    Returns
    -------
    size : int
        Upper bound on the number of functions, computed exactly.

    Raises
    ------
    ValueError
        If `n_features` is not an integer or is out of range.

    References
    ----------
    .. [1] T. M. Cover (1965). Geometrical and Statistical Properties of Systems of
       Linear Inequalities with Applications in Pattern Recognition. IEEE Transactions
       on Electronic Computers EC-14(3), 326-334, Theorem 1.

    Examples
    --------
    >>> from sklboolean.theory import n_halfspaces_bound
    >>> [n_halfspaces_bound(n) for n in (1, 2, 3, 4)]
    [4, 14, 128, 3882]
    """
    n = as_integer(n_features, "n_features", at_least=1, at_most=1000)
    return 2 * _count_up_to(n, 2**n - 1, 1)


def _count_up_to(last, n, signs):
    """Sum comb(n, i) * signs**i over i from 0 to last."""
    if min(last, n) > MOST_TERMS:
        raise ValueError(
            f"Sums of more than {MOST_TERMS} binomials are not computed. Lower "
            "max_literals or n_features."
        )
    total, term = 0, 1
    for i in range(min(last, n) + 1):
        total += term
        # comb(n, i + 1) from comb(n, i); the division is exact.
        term = term * (n - i) * signs // (i + 1)
    return total


def vc_dimension_bound(class_size) -> int:
    """Bound the VC dimension of a finite class.

    A set of d samples has ``2**d`` labellings, each by a different function.

    Parameters
    ----------
    class_size : int
        Number of functions, at least 1. An upper limit gives a valid bound.

    Returns
    -------
    bound : int
        ``lg(class_size)`` rounded down, exact for ints of any size.

    Raises
    ------
    ValueError
        If `class_size` is not an integer or is below 1.

    References
    ----------
    .. [1] A. Blumer, A. Ehrenfeucht, D. Haussler, M. K. Warmuth (1989). Learnability
       and the Vapnik-Chervonenkis Dimension. Journal of the ACM 36(4), 929-965.

    Examples
    --------
    >>> from sklboolean.theory import n_conjunctions, vc_dimension_bound
    >>> vc_dimension_bound(n_conjunctions(10))
    15
    """
    return log2_floor(as_integer(class_size, "class_size", at_least=1))


def vc_dimension_conjunctions(n_features) -> int:
    """Compute the VC dimension of the conjunctions of literals.

    It is the number of features, with or without negated features. From 2 features on,
    it stays the same if a conjunction that is never true is added to the class.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    dimension : int
        Size of the largest set of samples in ``{0, 1}**n_features`` such that every
        subset is accepted by some conjunction.

    Raises
    ------
    ValueError
        If `n_features` is not an integer or is below 1.

    References
    ----------
    .. [1] T. Natschläger, M. Schmitt (1996). Exact VC-dimension of Boolean Monomials.
       Information Processing Letters 59(1), 19-20.

    Examples
    --------
    >>> from sklboolean.theory import vc_dimension_conjunctions
    >>> vc_dimension_conjunctions(10)
    10
    """
    return as_integer(n_features, "n_features", at_least=1)


def vc_dimension_disjunctions(n_features) -> int:
    """Compute the VC dimension of the disjunctions of literals.

    Disjunctions are the negations of conjunctions of negated literals, so they have the
    same VC dimension.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    dimension : int
        The number of features.

    Raises
    ------
    ValueError
        If `n_features` is not an integer or is below 1.

    See Also
    --------
    vc_dimension_conjunctions : The same number, with the reference.

    Examples
    --------
    >>> from sklboolean.theory import vc_dimension_disjunctions
    >>> vc_dimension_disjunctions(10)
    10
    """
    return vc_dimension_conjunctions(n_features)


def vc_dimension_halfspaces(n_features) -> int:
    """Compute the VC dimension of the halfspaces ``w.x >= threshold``.

    It is 1 more than the number of features, for Boolean samples as for real ones: the
    zero sample and the samples with a single 1 can be labelled in every way.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    dimension : int
        ``n_features + 1``.

    Raises
    ------
    ValueError
        If `n_features` is not an integer or is below 1.

    References
    ----------
    .. [1] A. Blumer, A. Ehrenfeucht, D. Haussler, M. K. Warmuth (1989). Learnability
       and the Vapnik-Chervonenkis Dimension. Journal of the ACM 36(4), 929-965.

    Examples
    --------
    >>> from sklboolean.theory import vc_dimension_halfspaces
    >>> vc_dimension_halfspaces(10)
    11
    """
    return as_integer(n_features, "n_features", at_least=1) + 1
