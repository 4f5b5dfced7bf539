"""Boolean kernels: how many formulas two rows satisfy together."""

from sklboolean.kernels.objects import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)
from sklboolean.kernels.pairwise import (
    BOOLEAN_KERNELS,
    cnf_kernel,
    conjunction_kernel,
    disjunction_kernel,
    dnf_kernel,
    tanimoto_kernel,
)

__all__ = [
    "BOOLEAN_KERNELS",
    "CNFKernel",
    "ConjunctionKernel",
    "DNFKernel",
    "DisjunctionKernel",
    "TanimotoKernel",
    "cnf_kernel",
    "conjunction_kernel",
    "disjunction_kernel",
    "dnf_kernel",
    "tanimoto_kernel",
]
