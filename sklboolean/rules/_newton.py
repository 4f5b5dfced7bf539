"""The weight that a kernel gives to conjunctions of each length.

For Boolean rows a kernel g(s) of one count is the sum of a_l C(s, l) over l, with
a_l the l-th difference of g at 0 (Newton): it weighs every conjunction of l literals
by a_l. The count is of features true in both rows (conjunctions of true features) or
of features of equal value (literals of both signs).
"""

from fractions import Fraction
from itertools import pairwise
from math import exp2, expm1, floor, frexp, log

import numpy as np

from sklboolean.kernels import (
    CNFKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)
from sklboolean.kernels._count_table import LengthWeights, split_integer

KERNEL_OBJECTS = {
    "disjunction": DisjunctionKernel,
    "dnf": DNFKernel,
    "cnf": CNFKernel,
    "tanimoto": TanimotoKernel,
}
REMEDY = (
    "Use a kernel whose weights are known and not negative: 'linear', 'rbf', 'poly' "
    "with coef0 >= 0, or ConjunctionKernel."
)


def geometric_weights(first, ratio, n_features, monotone, shortest=0, longest=None):
    """Weigh length l by first * ratio**l between two lengths, else by 0.

    ``first`` and ``ratio`` are (mantissa, exponent), so that nothing under- or
    overflows.
    """
    longest = n_features if longest is None else min(longest, n_features)
    mantissas = np.zeros(n_features + 1)
    exponents = np.zeros(n_features + 1, dtype=np.int64)
    mantissa, exponent = first
    for length in range(longest + 1):
        if length >= shortest:
            mantissas[length], exponents[length] = mantissa, exponent
        mantissa, shift = frexp(mantissa * ratio[0])
        exponent += shift + ratio[1]
    return LengthWeights(mantissas, exponents, monotone)


def exact_weights(values, n_features, monotone):
    """Take the differences at 0 of exact values g(0), g(1), ...; later ones are 0."""
    mantissas = np.zeros(n_features + 1)
    exponents = np.zeros(n_features + 1, dtype=np.int64)
    differences = list(values)
    for length in range(len(differences)):
        top, bottom = Fraction(differences[0]).as_integer_ratio()
        if length and top < 0:
            raise ValueError(
                "The kernel gives conjunctions of "
                f"{length} literals a negative weight, so a large sum over the rows "
                f"does not mean a large part in the score. {REMEDY}"
            )
        if bottom & (bottom - 1) == 0:
            mantissas[length], exponents[length] = split_integer(
                top, 1 - bottom.bit_length()
            )
        else:
            # 128 bits of the quotient, rounded once.
            shift = 128 + bottom.bit_length()
            mantissas[length], exponents[length] = split_integer(
                (top << shift) // bottom, -shift
            )
        differences = [b - a for a, b in pairwise(differences)]
    return LengthWeights(mantissas, exponents, monotone)


def named_weights(kernel, n_features, *, gamma, degree, coef0, plus_minus=False):
    """Return the weights of a kernel of scikit-learn on Boolean rows.

    Parameters
    ----------
    kernel : str
    n_features : int
    gamma, degree, coef0 : numbers
    plus_minus : bool
        The rows hold -1 and +1 rather than 0 and 1: then x.z = 2 same - n_features.
    """
    n = n_features
    if kernel in ("rbf", "laplacian"):
        # Both distances count differing features: on -1 and +1 times 4, or times 2.
        if plus_minus:
            gamma *= 4 if kernel == "rbf" else 2
        power = -gamma * n / log(2)
        first = frexp(exp2(power - floor(power)))
        # expm1 overflows above gamma = 709; no kernel of use is near.
        ratio = frexp(expm1(gamma)) if gamma < 700 else (1.0, round(gamma / log(2)))
        return geometric_weights(
            (first[0], first[1] + floor(power)), ratio, n, monotone=False
        )
    if kernel == "linear":
        kernel, gamma, degree, coef0 = "poly", 1, 1, 0
    if kernel not in ("poly", "polynomial"):
        raise ValueError(
            f"kernel={kernel!r} gives some conjunctions a negative weight, or none "
            f"that is known. {REMEDY}"
        )
    if degree != int(degree):
        raise ValueError(f"degree={degree} must be a whole number. {REMEDY}")
    gamma, coef0 = Fraction(gamma), Fraction(coef0)
    step, start = (2, -n) if plus_minus else (1, 0)
    values = [
        (gamma * (step * s + start) + coef0) ** int(degree)
        for s in range(min(int(degree), n) + 1)
    ]
    return exact_weights(values, n, monotone=not plus_minus)


def object_weights(kernel, n_features):
    """Return the weights of one of our kernel objects.

    Raises
    ------
    ValueError
        For kernels that are not a weighting of conjunctions by length, and for
        callables that do not say what they are.
    """
    if not hasattr(kernel, "length_weights"):
        raise ValueError(
            f"What the kernel {kernel!r} gives to conjunctions is unknown. {REMEDY}"
        )
    weights = kernel.length_weights(n_features)
    if weights.mantissas[1:].min() < 0:
        raise ValueError(f"{kernel!r} has negative weights. {REMEDY}")
    return weights
