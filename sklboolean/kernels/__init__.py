"""Boolean kernels: how many formulas two rows satisfy together."""

from sklboolean.kernels._functions import (
    BOOLEAN_KERNELS,
    cnf_kernel,
    conjunction_kernel,
    disjunction_kernel,
    dnf_kernel,
    tanimoto_kernel,
)
from sklboolean.kernels._kernel_perceptron import KernelPerceptron
from sklboolean.kernels._kernels import (
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    TanimotoKernel,
)

__all__ = [
    "BOOLEAN_KERNELS",
    "CNFKernel",
    "ConjunctionKernel",
    "DNFKernel",
    "DisjunctionKernel",
    "KernelPerceptron",
    "TanimotoKernel",
    "cnf_kernel",
    "conjunction_kernel",
    "disjunction_kernel",
    "dnf_kernel",
    "tanimoto_kernel",
]
