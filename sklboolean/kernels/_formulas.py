"""The kernels' closed forms, for a given number of features.

A builder takes the number of features and the largest row size and returns a
`CountTable` where the kernel is a function of one count. Conjunctions are; so is
every kernel with literals of both signs, through `same`. Monotone disjunctions, DNFs
and CNFs depend on the row sizes too: a = |x|, b = |z| and common = |x & z|. Their
counts are formed in int64 where they fit and in Python integers otherwise, and
rounded once.

Conjunctions: Khardon, Roth, Servedio, "Efficiency versus Convergence of Boolean
Kernels for On-Line Learning Algorithms" (NIPS 2001), section 2. The others after
Polato, Lauriola, Aiolli, "A novel Boolean kernels family for categorical data"
(Entropy 20(6), 2018): a disjunction holds unless all its variables fail, so formulas
that hold in both rows are counted by inclusion and exclusion over those that fail.
"""

from math import comb

import numpy as np

from sklboolean._core.validation import check_choice, check_integer, check_real
from sklboolean.kernels._count_table import conjunction_table, integer_table


class PairFormula:
    """A kernel that depends on common, |x| and |z|.

    Parameters
    ----------
    values : callable
        ``values(common, a, b)`` returns the kernel for an int32 matrix of counts, a
        column of row sizes and a row of column sizes (numbers or Python integers).
    """

    def __init__(self, values):
        self.values = values


def _choose_all(max_count, length, total):
    """Tabulate C(m, length); Python integers when sums may pass 2**62."""
    dtype = np.int64 if total < 2**60 else object
    return np.array([comb(m, length) for m in range(max_count + 1)], dtype=dtype)


def _choose(counts, length):
    """C(m, length) of an array of non-negative integers, exactly."""
    largest = int(counts.max(initial=0))
    if length > largest:
        return counts * 0
    if largest**length >= 2**62:
        counts = counts.astype(object)
    result = counts * 0 + 1
    for step in range(length):
        # A product of consecutive integers: each division is exact. Below `length`
        # a factor is 0, and the later negative ones change nothing.
        result = result * (counts - step) // (step + 1)
    return result


def conjunction_formula(
    n_features,
    max_ones,
    *,
    min_literals=0,
    max_literals=None,
    monotone=False,
    decay=1.0,
):
    """Weigh by decay**length the conjunctions true in both rows."""
    min_literals = check_integer(min_literals, "min_literals", 0)
    if max_literals is not None:
        max_literals = check_integer(max_literals, "max_literals", 0)
        if max_literals < min_literals:
            raise ValueError(
                f"max_literals={max_literals} is below min_literals={min_literals}: "
                "no conjunction is left."
            )
    check_real(decay, "decay", 0, strict=True)
    check_choice(monotone, "monotone", (True, False))
    count, largest = ("common", max_ones) if monotone else ("same", n_features)
    table = conjunction_table(count, largest, min_literals, max_literals, decay)
    table.remedy = "max_literals, normalize=True or log2=True"
    return table


def disjunction_formula(n_features, max_ones, *, n_literals=2, monotone=True):
    """Count the disjunctions of ``n_literals`` distinct variables true in both rows."""
    check_choice(monotone, "monotone", (True, False))
    n, d = n_features, check_integer(n_literals, "n_literals", 1)
    if monotone:
        return PairFormula(_true_disjunctions(n, d))
    constant = _always_shared(n, d)
    newton = None
    if d <= 3:
        newton = [constant, 0, 0, 0]
        newton[d] += 1
    return integer_table("same", (constant + comb(s, d) for s in range(n + 1)), newton)


def _always_shared(n, d):
    # Of the 2**d C(n, d) disjunctions each row fails C(n, d), and both fail
    # C(same, d): the number true in both is this constant plus C(same, d).
    # A d beyond n, however large, leaves none.
    return (2**d - 2) * comb(n, d) if d <= n else 0


def _true_disjunctions(n, d):
    failing = _choose_all(n, d, 4 * comb(n, d))

    def values(common, a, b):
        both_fail = failing[n - a - b + common]
        return failing[n] - failing[n - a] - failing[n - b] + both_fail

    return values


def dnf_formula(n_features, max_ones, *, n_terms=2, n_literals=2, monotone=True):
    """Count sets of ``n_terms`` conjunctions with one true in x and one true in z.

    Each conjunction has ``n_literals`` distinct variables; a DNF holds when one of
    its terms does.
    """
    check_choice(monotone, "monotone", (True, False))
    n, d = n_features, check_integer(n_terms, "n_terms", 1)
    c = check_integer(n_literals, "n_literals", 1)
    if not monotone:
        # Every row satisfies C(n, c) of the 2**c C(n, c) conjunctions.
        true = comb(n, c)
        everything = 2**c * true if true else 0
        outside = comb(everything, d) - 2 * comb(everything - true, d)
        return integer_table(
            "same",
            (
                outside + comb(everything - 2 * true + comb(s, c), d)
                for s in range(n + 1)
            ),
        )
    everything = comb(n, c)
    true = _choose_all(n, c, 4 * comb(everything, d))

    def values(common, a, b):
        return (
            comb(everything, d)
            - _choose(everything - true[a], d)
            - _choose(everything - true[b], d)
            + _choose(everything - true[a] - true[b] + true[common], d)
        )

    return PairFormula(values)


def cnf_formula(n_features, max_ones, *, n_clauses=2, n_literals=2, monotone=True):
    """Count sets of ``n_clauses`` disjunctions that are all true in both rows."""
    check_choice(monotone, "monotone", (True, False))
    n, c = n_features, check_integer(n_clauses, "n_clauses", 1)
    d = check_integer(n_literals, "n_literals", 1)
    if not monotone:
        constant = _always_shared(n, d)
        return integer_table(
            "same", (comb(constant + comb(s, d), c) for s in range(n + 1))
        )
    clauses = _true_disjunctions(n, d)
    return PairFormula(lambda common, a, b: _choose(clauses(common, a, b), c))


def tanimoto_formula(n_features, max_ones):
    """|x & z| / |x | z|; 1 for two empty rows."""

    def values(common, a, b):
        union = a + b - common
        ones = np.ones(common.shape)
        return np.divide(common, union, out=ones, where=union > 0, dtype=np.float64)

    return PairFormula(values)
