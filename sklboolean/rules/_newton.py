"""The weight that a kernel gives to conjunctions of each length.

For Boolean rows a kernel g(s) of one count is the sum of a_l C(s, l) over l, with
a_l the l-th difference of g at 0 (Newton): it weighs every conjunction of l literals
by a_l. The count is of features true in both rows (conjunctions of true features) or
of features of equal value (literals of both signs).
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp2, expm1, floor, frexp, log

import numpy as np

from sklboolean.kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)
from sklboolean.kernels._count_table import split_integer

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


@dataclass(frozen=True)
class LengthWeights:
    """Weights of conjunctions by length.

    Attributes
    ----------
    mantissas : ndarray of shape (n_features + 1,), float64
    exponents : ndarray of shape (n_features + 1,), int64
        Every conjunction of l literals weighs ``mantissas[l] * 2**exponents[l]``.
    monotone : bool
        Whether only conjunctions of true features have this weight, others none.
    """

    mantissas: np.ndarray
    exponents: np.ndarray
    monotone: bool

    @property
    def longest(self):
        """The length of the longest conjunctions with a weight."""
        return int(np.flatnonzero(self.mantissas).max(initial=0))

    def scaled(self, max_literals):
        """Return the weights up to a length over a power of two, the largest near 1.

        The power of two comes second. What underflows counts as 0.
        """
        mantissas = self.mantissas[: max_literals + 1].copy()
        mantissas[0] = 0.0
        used = mantissas != 0
        top = int(self.exponents[: max_literals + 1][used].max(initial=-(2**40)))
        shifts = np.maximum(self.exponents[: max_literals + 1] - top, -2000)
        return np.ldexp(mantissas, np.where(used, shifts, 0)), top

    def times(self, length, value):
        """Return the weight of a length times a value.

        Raises
        ------
        ValueError
            When it exceeds float64.
        """
        if length >= len(self.mantissas) or not value:
            return 0.0
        mantissa, exponent = frexp(value)
        exponent += int(self.exponents[length])
        with np.errstate(over="ignore", under="ignore"):
            product = np.ldexp(mantissa * self.mantissas[length], max(exponent, -2000))
        if not np.isfinite(product):
            raise ValueError(
                f"The weight of a conjunction of {length} literals exceeds float64; "
                "rank by 'weight', or lower max_literals or the kernel's parameters."
            )
        return float(product)


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
    if not hasattr(kernel, "newton_coefficients"):
        raise ValueError(
            f"What the kernel {kernel!r} gives to conjunctions is unknown. {REMEDY}"
        )
    plain = not (getattr(kernel, "normalize", False) or getattr(kernel, "log2", False))
    if isinstance(kernel, ConjunctionKernel) and plain:
        return geometric_weights(
            (0.5, 1), frexp(float(kernel.decay)), n_features, bool(kernel.monotone),
            kernel.min_literals, kernel.max_literals,
        )  # fmt: skip
    mantissas, exponents = np.frexp(kernel.newton_coefficients(n_features))
    if mantissas[1:].min() < 0:
        raise ValueError(f"{kernel!r} has negative weights. {REMEDY}")
    # Of the kernels that are functions of one count the others are not monotone.
    return LengthWeights(mantissas, exponents.astype(np.int64), monotone=False)
