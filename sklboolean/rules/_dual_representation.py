"""A fitted model as signed rows: the support, its coefficients, the kernel's weights.

f(x) = intercept + sum_i c_i K(v_i, x), and K weighs conjunctions by length, so the
weight of conjunction T in f is a_|T| times the sum of c_i over the rows v_i that
satisfy T.
"""

import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.validation import as_boolean, check_array_strict
from sklboolean.kernels import ConjunctionKernel
from sklboolean.kernels._kernel_perceptron import KernelPerceptron
from sklboolean.rules._gamma import recover_gamma, scale_gamma
from sklboolean.rules._newton import (
    KERNEL_OBJECTS,
    LengthWeights,
    exact_weights,
    named_weights,
    object_weights,
)

MACHINES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM)
# Scores of so many rows are compared with those that the model gives.
MOST_COMPARED = 64
TOLERANCE = 1e-9


@dataclass(frozen=True)
class SignedRows:
    """What a model is made of.

    Attributes
    ----------
    table : ndarray of uint64 words, or csr_array
        The support rows, Boolean.
    n_features : int
    coefficients : ndarray of shape (n_support,), float64
    weights : LengthWeights
    intercept : float
        The empty conjunction's weight is this plus ``weights`` at 0 times the sum of
        all coefficients.
    feature_names : list of str or None
    is_single : bool
        The model weighs features, not rows: row j of the table is feature j alone.
    """

    table: np.ndarray | sparse.csr_array
    n_features: int
    coefficients: np.ndarray
    weights: LengthWeights
    intercept: float
    feature_names: list | None = None
    is_single: bool = False


def read_model(model, X=None, *, kernel=None, target=None):
    """Take a fitted model apart.

    Parameters
    ----------
    model : fitted estimator
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The training rows.
    kernel : kernel object, default=None
        What the kernel matrix was made with, or what a callable does.
    target : class label, default=None

    Returns
    -------
    rows : SignedRows

    Raises
    ------
    ValueError
        When the model is not a weighting of conjunctions by length, or more is needed
        to know which.
    """
    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    # It is asked about bare rows, and would warn that they have no names.
    model = copy.copy(model)
    vars(model).pop("feature_names_in_", None)
    if isinstance(model, KernelPerceptron):
        rows = _read_perceptron(model, target)
    elif isinstance(model, MACHINES):
        rows = _read_machine(model, X, kernel, target)
    elif isinstance(model, KernelRidge):
        rows = _read_ridge(model, X, kernel, target)
    elif hasattr(model, "coef_"):
        rows = _read_linear(model, target)
    else:
        raise ValueError(
            f"{type(model).__name__} has neither support rows nor a weight for each "
            "feature. Give a KernelPerceptron, an SVC, NuSVC, SVR, NuSVR, OneClassSVM "
            "or KernelRidge, or a linear model. Of a pipeline give the last step, "
            "pipeline[-1]; X is then what the steps before make of the rows, "
            "pipeline[:-1].transform(X)."
        )
    return replace(rows, feature_names=None if names is None else list(map(str, names)))


def _class_number(model, target):
    """Return the number of the target class and the number of classes."""
    classes = getattr(model, "classes_", None)
    if classes is None or isinstance(model, OneClassSVM):
        if target is not None:
            raise ValueError("target names a class; this model has none. Leave it out.")
        return 1, 2
    is_label = target is not None and np.ndim(target) == 0
    where = np.flatnonzero(classes == target) if is_label else []
    if target is not None and len(where) != 1:
        raise ValueError(f"target must be one of {classes.tolist()}; got {target!r}.")
    if target is None and len(classes) > 2:
        raise ValueError(
            f"The model has {len(classes)} classes, and rules are for one of them: "
            f"give target, one of {classes.tolist()}."
        )
    return (1 if target is None else int(where[0])), len(classes)


def _of_class(model, target, coefficients, intercepts):
    """Choose the class's row of one-against-the-rest scores."""
    number, n_classes = _class_number(model, target)
    if n_classes == 2 and len(coefficients) == 1:
        # One score, for the second class: the first one's is its negative.
        sign = 1.0 if number else -1.0
        return sign * coefficients[0], sign * float(intercepts[0])
    return coefficients[number], float(intercepts[number])


def _read_perceptron(model, target):
    if model.average == "voted":
        raise ValueError(
            "average='voted' decides by a vote of many hypotheses, not by one sum. "
            "Fit with average='mean'."
        )
    if isinstance(model.kernel, str) and model.kernel == "precomputed":
        raise ValueError(
            "KernelPerceptron(kernel='precomputed') keeps no rows. Fit it with the "
            "kernel object and the rows."
        )
    n, kernel = model.n_features_in_, model.kernel
    if isinstance(kernel, str) and kernel == "conjunction":
        kernel = ConjunctionKernel(
            min_literals=model.min_literals, max_literals=model.max_literals,
            monotone=model.monotone, decay=model.decay,
        )  # fmt: skip
    elif isinstance(kernel, str) and kernel in KERNEL_OBJECTS:
        kernel = KERNEL_OBJECTS[kernel]()
    if isinstance(kernel, str):
        gamma = 1.0 / n if model.gamma is None else model.gamma
        weights = named_weights(
            kernel, n, gamma=gamma, degree=model.degree, coef0=model.coef0
        )
    else:
        weights = object_weights(kernel, n)
    table = model.support_words_
    table = model.support_rows_ if table is None else table
    coefficients, intercept = _of_class(
        model, target, model.dual_coef_, model.intercept_
    )
    return SignedRows(table, n, coefficients, weights, intercept)


def _dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


def _read_linear(model, target):
    coefficients = np.atleast_2d(_dense(model.coef_)).astype(np.float64)
    n = coefficients.shape[1]
    intercepts = np.broadcast_to(model.intercept_, len(coefficients))
    if len(coefficients) > 1 and not hasattr(model, "classes_"):
        raise ValueError("The model has several outputs. Fit one model for each.")
    coefficients, intercept = _of_class(model, target, coefficients, intercepts)
    weights = exact_weights((0, 1), max(n, 1), monotone=True)
    identity = sparse.csr_array(sparse.eye_array(n, dtype=bool, format="csr"))
    return SignedRows(identity, n, coefficients, weights, intercept, is_single=True)


def _read_ridge(model, X, kernel, target):
    _class_number(model, target)
    dual = np.asarray(model.dual_coef_, dtype=np.float64)
    if dual.ndim > 1 and dual.shape[1] > 1:
        raise ValueError("The model has several outputs. Fit one model for each.")
    training = X if model.kernel == "precomputed" else model.X_fit_
    numbers = np.arange(len(dual))
    coefficients = dual.reshape(-1)
    return _read_kernel(
        model, training, training, numbers, coefficients, 0.0, kernel, model.predict
    )


def _read_machine(model, X, kernel, target):
    number, n_classes = _class_number(model, target)
    dual = _dense(model.dual_coef_)
    score = model.predict if isinstance(model, SVR | NuSVR) else model.decision_function
    if n_classes == 2:
        coefficients, intercept = dual[0], float(np.ravel(model.intercept_)[0])
        if number == 0:
            coefficients, intercept = -coefficients, -intercept
            return _read_kernel(
                model, X, _support(model, X), model.support_, coefficients, intercept,
                kernel, lambda rows: -score(rows),
            )  # fmt: skip
    else:
        coefficients, intercept, score = _against_others(model, dual, number)
    return _read_kernel(
        model, X, _support(model, X), model.support_, coefficients, intercept, kernel,
        score,
    )  # fmt: skip


def _against_others(model, dual, number):
    """Sum the scores of one class against each other one.

    Of the pair of classes i < j the coefficients stand in row j - 1 for support rows
    of class i, and in row i for those of class j.
    """
    n_classes = len(model.classes_)
    owner = np.repeat(np.arange(n_classes), model.n_support_)
    first, second = np.triu_indices(n_classes, 1)
    sign = np.where(first == number, 1.0, 0.0) - np.where(second == number, 1.0, 0.0)
    coefficients = np.zeros(dual.shape[1])
    for i, j, s in zip(first, second, sign, strict=True):
        coefficients += s * np.where(owner == i, dual[j - 1], 0.0)
        coefficients += s * np.where(owner == j, dual[i], 0.0)
    pairwise_model = copy.copy(model).set_params(
        decision_function_shape="ovo", break_ties=False
    )

    def score(rows):
        return pairwise_model.decision_function(rows) @ sign

    return coefficients, float(model.intercept_ @ sign), score


def _support(model, X):
    """Return the support rows as the model keeps them, or from the training rows."""
    if model.kernel != "precomputed" and not callable(model.kernel):
        return model.support_vectors_
    if X is None:
        raise ValueError(
            f"{type(model).__name__} keeps no support rows when its kernel is "
            "precomputed or a callable: give X, the training rows (and with a "
            "precomputed kernel also kernel, the object that made the matrix)."
        )
    X = check_array_strict(X, accept_sparse=True)
    if X.shape[0] <= model.support_.max(initial=-1):
        raise ValueError(
            f"X has {X.shape[0]} rows, but row {model.support_.max()} is a support "
            "row: X must be the rows that the model was fitted on, in their order."
        )
    return (X.tocsr() if sparse.issparse(X) else X)[model.support_]


def _read_kernel(
    model, X, support, numbers, coefficients, intercept, kernel, score
):  # fmt: skip
    """Find out the kernel's weights, and check that they make the model's scores."""
    precomputed = isinstance(model.kernel, str) and model.kernel == "precomputed"
    if precomputed and (kernel is None or X is None):
        raise ValueError(
            "kernel='precomputed': give X, the training rows, and kernel, the kernel "
            "object that made the matrix."
        )
    support = _dense(support) if sparse.issparse(support) else np.asarray(support)
    support = support.astype(np.float64)
    n = support.shape[1]
    compared = np.unique(np.linspace(0, len(support) - 1, MOST_COMPARED).astype(int))
    compared = compared if len(support) else compared[:0]
    if precomputed or callable(model.kernel):
        kernel = model.kernel if kernel is None else kernel
        weights = object_weights(kernel, n)
        table = as_boolean(support, getattr(kernel, "binarize", 0.0), "X")
        K = kernel(support[compared], support)
        queries = kernel(support[compared], X) if precomputed else support[compared]
        scores = score(queries) if len(compared) else np.zeros(0)
    else:
        table, plus_minus = _boolean_support(support)
        scores = score(support[compared]) if len(compared) else np.zeros(0)
        parameters = {
            "gamma": getattr(model, "gamma", None),
            "degree": model.degree,
            "coef0": model.coef0,
        }
        if model.kernel in ("linear", "sigmoid"):
            parameters["gamma"] = 1.0
        elif parameters["gamma"] is None or parameters["gamma"] == "auto":
            parameters["gamma"] = 1.0 / n
        elif parameters["gamma"] == "scale":
            parameters["gamma"] = (
                scale_gamma(X, n)
                if X is not None
                else recover_gamma(
                    model, support[compared], support, coefficients, scores - intercept
                )
            )
        weights = named_weights(model.kernel, n, **parameters, plus_minus=plus_minus)
        K = pairwise_kernels(
            support[compared], support, metric=model.kernel, filter_params=True,
            **parameters,
        )  # fmt: skip
    size = np.abs(K).max(initial=0.0) * np.abs(coefficients).sum() + abs(intercept)
    if (np.abs(K @ coefficients + intercept - scores) > TOLERANCE * size).any():
        raise ValueError(
            f"The scores of {type(model).__name__} on its support rows are not those "
            "of its kernel: X, or kernel, is not what it was fitted with, or its "
            "parameters were changed afterwards."
        )
    return SignedRows(table, n, coefficients, weights, intercept)


def _boolean_support(support):
    """Return the support rows as bits, and whether they hold -1 and +1."""
    plus_minus = bool((support == -1).any())
    good = (support == 1) | (support == (-1 if plus_minus else 0))
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise ValueError(
            f"Column {column} of the support rows holds {support[row, column]:g}: the "
            "model was not fitted on zeros and ones (or -1 and +1), perhaps on scaled "
            "columns. Fit it on Boolean columns without scaling."
        )
    return as_boolean(support), plus_minus
