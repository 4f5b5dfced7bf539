"""A fitted model as signed samples: support vectors, coefficients, kernel weights.

f(x) = intercept + sum_i c_i K(v_i, x), where K weighs conjunctions by length. So the
weight of conjunction T in f is a_|T| times the sum of c_i over the support vectors v_i
that satisfy T.
"""

# Each kind of model is turned into support vectors, their coefficients and the weight
# a_l of conjunctions of l literals, by Newton's expansion of its kernel in the count of
# common features: K(x, z) = sum over conjunctions T of a_|T| [x and z satisfy T]. For
# kernel models of scikit-learn scores of this form are compared with the model's own,
# so that a model that was misread is an error.

import copy
from dataclasses import dataclass, replace
from functools import partial
from math import fsum

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.conjunction_search import satisfied_by
from sklboolean._core.data_errors import check_n_features
from sklboolean._core.feature_names import split_pipeline
from sklboolean._core.validation import as_boolean, check_array_strict
from sklboolean.kernels import BooleanSVC, KernelPerceptron, LinearKernel, RBFKernel
from sklboolean.kernels._count_table import LengthWeights
from sklboolean.kernels._kernels import polynomial_weights
from sklboolean.kernels._soft_margin import BitKernel
from sklboolean.rules._rules import Rule, names_of

SUPPORT_VECTOR_MACHINES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM)
# The scores of so many support vectors are compared with those of the model.
MAX_COMPARED = 64
TOLERANCE = 1e-9
KERNEL_HINT = (
    "Use a kernel whose weights are known and not negative: 'linear', 'rbf', 'poly' "
    "with coef0 >= 0, or ConjunctionKernel."
)


@dataclass(frozen=True)
class DualRepresentation:
    """A model as a sum over signed samples.

    Attributes
    ----------
    samples : ndarray of uint64 words, or csr_array
        The support vectors, Boolean.
    n_features : int
    coefficients : ndarray of shape (n_support,), float64
    length_weights : LengthWeights
        The kernel's weight of conjunctions of each length.
    intercept : float
        The weight of the empty conjunction is this plus the weight of length 0 times
        the sum of all coefficients.
    feature_names : list of str or None
    is_linear : bool
        The model weighs features, not samples: sample j is feature j alone.
    """

    samples: np.ndarray | sparse.csr_array
    n_features: int
    coefficients: np.ndarray
    length_weights: LengthWeights
    intercept: float
    feature_names: list | None = None
    is_linear: bool = False

    def weight(self, literals):
        """Sum up the coefficients of the samples that satisfy a conjunction."""
        return fsum(self.coefficients[satisfied_by(self.samples, literals)])

    def contribution(self, literals, weight):
        """Compute the part of a conjunction with this weight in the score."""
        if self.length_weights.monotone and not all(value for _, value in literals):
            return 0.0
        return self.length_weights.times(len(literals), weight)

    def rule(self, literals, weight, label=None):
        """Make a `Rule` of a conjunction and its weight."""
        contribution = self.contribution(literals, weight)
        names = names_of(literals, self.feature_names)
        return Rule(literals, weight, contribution, label=label, names=names)


def last_step(model, X=None):
    """Return the last step of a pipeline, what it receives of X, and feature names."""
    transformers, model, names = split_pipeline(model)
    if transformers is not None and X is not None:
        X = transformers.transform(X)
    return model, X, names


def dual_representation(model, X=None, names=None, *, kernel=None, target=None):
    """Read a fitted model as signed samples.

    Parameters
    ----------
    model : fitted estimator
        No pipeline: see `last_step`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The training samples.
    names : list of str or None, default=None
        Feature names.
    kernel : kernel object, default=None
        The kernel of a precomputed matrix, or the object that describes a callable.
    target : class label, default=None

    Returns
    -------
    dual : DualRepresentation

    Raises
    ------
    ValueError
        When the model is not a weighting of conjunctions by length, or when X, target
        or kernel is needed to know which.
    """
    check_is_fitted(model)
    # Scores of arrays are compared below; a model with names would warn.
    model = copy.copy(model)
    vars(model).pop("feature_names_in_", None)
    if isinstance(model, KernelPerceptron):
        dual = _from_perceptron(model, target)
    elif isinstance(model, BooleanSVC):
        dual = _from_boolean_svc(model, target)
    elif isinstance(model, SUPPORT_VECTOR_MACHINES):
        dual = _from_support_vectors(model, X, kernel, target)
    elif isinstance(model, KernelRidge):
        dual = _from_kernel_ridge(model, X, kernel, target)
    elif hasattr(model, "coef_"):
        dual = _from_linear(model, target)
    else:
        raise ValueError(
            f"{type(model).__name__} has neither support vectors nor a weight for each "
            "feature. Give a KernelPerceptron, an SVC, NuSVC, SVR, NuSVR, OneClassSVM "
            "or KernelRidge, or a linear model, or a pipeline that ends in one."
        )
    negative = 1 + np.flatnonzero(dual.length_weights.mantissas[1:] < 0)
    if len(negative):
        raise ValueError(
            f"The kernel gives conjunctions of {negative[0]} literals a negative "
            "weight, so a large sum over the support vectors does not mean a large "
            f"part in the score. {KERNEL_HINT}"
        )
    return replace(dual, feature_names=names)


def _class_index(model, target):
    """Find the index of the target class and the number of classes."""
    classes = getattr(model, "classes_", None)
    if classes is None or isinstance(model, OneClassSVM):
        if target is not None:
            raise ValueError(
                f"target={target!r}, but {type(model).__name__} has no classes. Leave "
                "target out."
            )
        return 1, 2
    is_label = target is not None and np.ndim(target) == 0
    where = np.flatnonzero(classes == target) if is_label else []
    if target is not None and len(where) != 1:
        raise ValueError(f"target must be one of {classes.tolist()}; got {target!r}.")
    if target is None and len(classes) > 2:
        raise ValueError(
            f"The model has {len(classes)} classes, and rules describe one of them: "
            f"give target, one of {classes.tolist()}."
        )
    return (1 if target is None else int(where[0])), len(classes)


def of_class(model, target, coefficients, intercepts):
    """Choose the coefficients of one class among one-against-the-rest scores."""
    index, n_classes = _class_index(model, target)
    if n_classes == 2 and len(coefficients) == 1:
        # One score, for the second class; that of the first class is its negative.
        sign = 1.0 if index else -1.0
        return sign * coefficients[0], sign * float(intercepts[0])
    if not hasattr(model, "classes_"):
        raise ValueError("The model has several outputs. Fit one model for each.")
    return coefficients[index], float(intercepts[index])


def _from_perceptron(model, target):
    if model.average == "voted":
        raise ValueError(
            "average='voted' predicts by a vote of many hypotheses, which is not a "
            "sum over conjunctions. Fit with average='mean'."
        )
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        raise ValueError(
            "KernelPerceptron(kernel='precomputed') keeps no samples. Fit it with the "
            "kernel object on the samples."
        )
    n = model.n_features_in_
    weights = _weights_of_object(model.kernel_, n)
    samples = model.support_words_
    samples = model.support_rows_ if samples is None else samples
    coefficients, intercept = of_class(
        model, target, model.dual_coef_, model.intercept_
    )
    return DualRepresentation(samples, n, coefficients, weights, intercept)


def _from_boolean_svc(model, target):
    n, kernel = model.n_features_in_, model.kernel_
    samples = model.support_words_
    samples = model.support_rows_ if samples is None else samples
    dual, intercepts, pairs = model.dual_coef_, model.intercept_, model._state.pairs
    if pairs is not None:  # add up the scores of a class against each other class
        signs = _signs_of_pairs(pairs, np.arange(len(model.classes_))[:, None])
        dual, intercepts = signs @ dual, signs @ intercepts
    coefficients, intercept = of_class(model, target, dual, intercepts)
    kernel, coefficients = _without_norms(kernel, n, samples, coefficients)
    weights = _weights_of_object(kernel, n)
    return DualRepresentation(samples, n, coefficients, weights, intercept)


def _without_norms(kernel, n_features, samples, coefficients):
    """Move the norms of a normalised kernel into the coefficients.

    The score is also divided by the norm of the sample; here by the mean norm.
    """
    if not getattr(kernel, "normalize", False):
        return kernel, coefficients
    norms = BitKernel(kernel, n_features, samples).norms()
    kernel = clone(kernel).set_params(normalize=False)
    mean = norms.mean() if len(norms) else 1.0
    return kernel, coefficients / (norms * mean)


def _from_linear(model, target):
    coefficients = np.atleast_2d(_dense(model.coef_)).astype(np.float64)
    n = coefficients.shape[1]
    intercepts = np.broadcast_to(model.intercept_, len(coefficients))
    coefficients, intercept = of_class(model, target, coefficients, intercepts)
    weights = LinearKernel().length_weights(max(n, 1))
    identity = sparse.csr_array(sparse.eye_array(n, dtype=bool, format="csr"))
    return DualRepresentation(
        identity, n, coefficients, weights, intercept, is_linear=True
    )


def _from_kernel_ridge(model, X, kernel, target):
    _class_index(model, target)
    dual = np.asarray(model.dual_coef_, dtype=np.float64)
    if dual.ndim > 1 and dual.shape[1] > 1:
        raise ValueError("The model has several outputs. Fit one model for each.")
    training = X if model.kernel == "precomputed" else model.X_fit_
    return _from_kernel(
        model, X, training, dual.reshape(-1), 0.0, kernel, model.predict
    )


def _from_support_vectors(model, X, kernel, target):
    index, n_classes = _class_index(model, target)
    dual = _dense(model.dual_coef_)
    score = model.predict if isinstance(model, SVR | NuSVR) else model.decision_function
    if n_classes > 2:
        coefficients, intercept, score = _against_others(model, dual, index)
    else:
        coefficients, intercept = dual[0], float(np.ravel(model.intercept_)[0])
    support = _support_vectors(model, X)
    if n_classes > 2 or index == 1:
        return _from_kernel(model, X, support, coefficients, intercept, kernel, score)
    # One score, for the second class; that of the first class is its negative.
    return _from_kernel(
        model, X, support, -coefficients, -intercept, kernel, lambda Z: -score(Z)
    )


def _against_others(model, dual, index):
    """Sum up the scores of one class against each other class.

    For the pair of classes i < j, the coefficients of the support vectors of class i
    are in row j - 1 of ``dual``, those of class j in row i.
    """
    n_classes = len(model.classes_)
    owner = np.repeat(np.arange(n_classes), model.n_support_)
    first, second = np.triu_indices(n_classes, 1)
    # SVC's scores of pairs are positive for the first class.
    sign = -_signs_of_pairs(np.column_stack([first, second]), index)
    coefficients = np.zeros(dual.shape[1])
    for i, j, s in zip(first, second, sign, strict=True):
        coefficients += s * np.where(owner == i, dual[j - 1], 0.0)
        coefficients += s * np.where(owner == j, dual[i], 0.0)
    pairwise_model = copy.copy(model).set_params(
        decision_function_shape="ovo", break_ties=False
    )
    return (
        coefficients,
        float(model.intercept_ @ sign),
        lambda Z: pairwise_model.decision_function(Z) @ sign,
    )


def _signs_of_pairs(pairs, index):
    """Give 1 for pairs in which a class is the second, -1 for the first, else 0."""
    first, second = np.transpose(pairs)
    return np.where(second == index, 1.0, 0.0) - np.where(first == index, 1.0, 0.0)


def _support_vectors(model, X):
    """Take the support vectors from the model, or from the training samples."""
    if model.kernel != "precomputed" and not callable(model.kernel):
        return model.support_vectors_
    if X is None:
        raise ValueError(
            f"{type(model).__name__} keeps no support vectors when its kernel is "
            "precomputed or a callable: give X, the training samples (and for a "
            "precomputed kernel also kernel, the object that made the matrix)."
        )
    X = check_array_strict(X, accept_sparse=True)
    if X.shape[0] <= model.support_.max(initial=-1):
        raise ValueError(
            f"X has {X.shape[0]} samples, but sample {model.support_.max()} is a "
            "support vector: X must hold the samples that the model was fitted on, in "
            "their order."
        )
    return (X.tocsr() if sparse.issparse(X) else X)[model.support_]


def _from_kernel(model, X, support, coefficients, intercept, kernel, score):
    """Find the kernel's weights, and check that they give the scores of the model."""
    is_matrix = isinstance(model.kernel, str) and model.kernel == "precomputed"
    if is_matrix and (kernel is None or X is None):
        raise ValueError(
            "kernel='precomputed': give X, the training samples, and kernel, the "
            "kernel object that made the matrix."
        )
    support = _dense(support).astype(np.float64)
    n = support.shape[1]
    if is_matrix or callable(model.kernel):
        kernel = model.kernel if kernel is None else kernel
        samples = as_boolean(support, getattr(kernel, "binarize", 0.0), "X")
        plain, signed = _without_norms(kernel, n, samples, coefficients)
        weights = _weights_of_object(plain, n)
    else:
        (samples, plus_minus), signed = _as_boolean_support(support), coefficients
        params = {
            "gamma": _gamma_of(model, X, n),
            "degree": model.degree,
            "coef0": model.coef0,
        }
        weights = _weights_of_name(model.kernel, n, plus_minus, **params)
        kernel = partial(
            pairwise_kernels, metric=model.kernel, filter_params=True, **params
        )
    training = X if is_matrix else None
    _check_scores(model, score, support, coefficients, intercept, kernel, training)
    return DualRepresentation(samples, n, signed, weights, intercept)


def _check_scores(model, score, support, coefficients, intercept, kernel, training):
    """Check that the kernel gives the model's scores of some support vectors.

    ``training``: the samples that a precomputed matrix is made with, else None.
    """
    if not len(support):
        return
    numbers = np.linspace(0, len(support) - 1, MAX_COMPARED).astype(int)
    compared = support[np.unique(numbers)]
    K = kernel(compared, support)
    scale = np.abs(K).max() * np.abs(coefficients).sum() + abs(intercept)
    scores = score(compared if training is None else kernel(compared, training))
    difference = np.abs(K @ coefficients + intercept - scores)
    if (difference > TOLERANCE * scale).any():
        raise ValueError(
            f"The scores of {type(model).__name__} on its support vectors are not "
            "those of its kernel: X, or kernel, is not what it was fitted with, or its "
            "parameters were changed afterwards. Give the data and the kernel that the "
            "model was fitted with, or fit it again."
        )


def _weights_of_object(kernel, n_features):
    """Compute the length weights of a kernel object of this package."""
    if not hasattr(kernel, "length_weights"):
        raise ValueError(
            f"The weights of conjunctions in the kernel {kernel!r} are unknown. "
            f"{KERNEL_HINT}"
        )
    return kernel.length_weights(n_features)


def _weights_of_name(kernel, n_features, plus_minus, *, gamma, degree, coef0):
    """Compute the length weights of a kernel of scikit-learn, given by its name.

    ``plus_minus``: the samples hold -1 and +1 instead of 0 and 1.
    """
    if kernel in ("rbf", "laplacian"):
        # Both distances count differing features: on -1 and +1 times 4, or times 2.
        factor = (4 if kernel == "rbf" else 2) if plus_minus else 1
        return RBFKernel(gamma=factor * gamma).length_weights(n_features)
    if kernel == "linear":
        degree, gamma, coef0 = 1, 1, 0
    elif kernel not in ("poly", "polynomial"):
        raise ValueError(
            f"kernel={kernel!r} gives some conjunctions a negative weight, or none "
            f"that is known. {KERNEL_HINT}"
        )
    if degree != int(degree):
        raise ValueError(f"degree={degree} must be an integer. {KERNEL_HINT}")
    return polynomial_weights(
        int(degree), gamma, coef0, n_features, plus_minus=plus_minus
    )


def _gamma_of(model, X, n_features):
    """Determine the number that ``gamma`` stands for."""
    gamma = getattr(model, "gamma", None)
    if model.kernel in ("linear", "sigmoid"):
        return 1.0
    if gamma is None or gamma == "auto":
        return 1.0 / n_features
    if gamma != "scale":
        return gamma
    if X is None:
        raise ValueError(
            f"{type(model).__name__}(gamma='scale') depends on the variance of the "
            "training samples, and the fitted model does not publish it. Give X, the "
            "samples that it was fitted on, or fit with gamma='auto' or a number."
        )
    X = check_array_strict(X, accept_sparse="csr", dtype=np.float64)
    check_n_features(X.shape[1], n_features, "the model was fitted on")
    if sparse.issparse(X):
        variance = (X.multiply(X)).mean() - X.mean() ** 2
    else:
        variance = X.var()
    return 1.0 / (n_features * variance) if variance else 1.0


def _as_boolean_support(support):
    """Convert support vectors to bits, and tell whether they hold -1 and +1."""
    plus_minus = bool((support == -1).any())
    good = (support == 1) | (support == (-1 if plus_minus else 0))
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise ValueError(
            f"Column {column} of the support vectors holds {support[row, column]:g}: "
            "the model was not fitted on zeros and ones (or -1 and +1), perhaps on "
            "scaled columns. Fit it on Boolean columns without scaling."
        )
    return as_boolean(support), plus_minus


def _dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
