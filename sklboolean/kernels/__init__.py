"""Boolean kernels: how many formulas two samples satisfy together."""

from sklboolean.kernels._boolean_svc import BooleanSVC
from sklboolean.kernels._gaussian_process_classifier import (
    BooleanGaussianProcessClassifier,
)
from sklboolean.kernels._gaussian_process_regressor import (
    BooleanGaussianProcessRegressor,
)
from sklboolean.kernels._kernel_perceptron import KernelPerceptron
from sklboolean.kernels._kernels import (
    BOOLEAN_KERNELS,
    CNFKernel,
    ConjunctionKernel,
    DisjunctionKernel,
    DNFKernel,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    TanimotoKernel,
    cnf_kernel,
    conjunction_kernel,
    disjunction_kernel,
    dnf_kernel,
    tanimoto_kernel,
)
from sklboolean.kernels._nearest import nearest
from sklboolean.kernels._relevance_kernel import RelevanceKernel

__all__ = ["BOOLEAN_KERNELS", "BooleanGaussianProcessClassifier"]
__all__ += ["BooleanGaussianProcessRegressor", "BooleanSVC", "CNFKernel"]
__all__ += ["ConjunctionKernel", "DNFKernel", "DisjunctionKernel", "KernelPerceptron"]
__all__ += ["LinearKernel", "PolynomialKernel", "RBFKernel", "RelevanceKernel"]
__all__ += ["TanimotoKernel", "cnf_kernel", "conjunction_kernel", "disjunction_kernel"]
__all__ += ["dnf_kernel", "nearest", "tanimoto_kernel"]
