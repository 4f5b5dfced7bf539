"""VC dimensions: the largest sets of Boolean rows that a class can label at will."""

from sklboolean.theory._numbers import as_integer, log2_floor


def vc_dimension_bound(class_size):
    """Bound the VC dimension of a finite class.

    A set of d rows has ``2**d`` labellings, each by another function.

    Parameters
    ----------
    class_size : int
        Number of functions, at least 1; more will do.

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


def vc_dimension_conjunctions(n_features):
    """Return the VC dimension of the conjunctions of literals.

    It is the number of features, whether negated features are allowed or not. A
    conjunction that is never true, added to the class, does not change it from 2
    features on.

    Parameters
    ----------
    n_features : int
        Number of features, at least 1.

    Returns
    -------
    dimension : int
        Size of the largest set of rows of ``{0, 1}**n_features`` of which every subset
        is what some conjunction accepts.

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


def vc_dimension_disjunctions(n_features):
    """Return the VC dimension of the disjunctions of literals.

    They are the negations of conjunctions of negated literals, so it is the same.

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
    vc_dimension_conjunctions : With the reference.

    Examples
    --------
    >>> from sklboolean.theory import vc_dimension_disjunctions
    >>> vc_dimension_disjunctions(10)
    10
    """
    return vc_dimension_conjunctions(n_features)


def vc_dimension_halfspaces(n_features):
    """Return the VC dimension of the halfspaces ``w.x >= threshold``.

    It is 1 more than the number of features, for Boolean rows as for real ones: the
    zero row and the rows with a single 1 can be labelled at will.

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
