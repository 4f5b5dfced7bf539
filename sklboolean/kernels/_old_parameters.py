"""Parameters of version 0.2 of the kernel models, and what they mean today."""

from sklearn.base import clone

from sklboolean._core.deprecation import Gone
from sklboolean._core.parameters import is_auto
from sklboolean.kernels._kernels import ConjunctionKernel


class _Intercept(Gone):
    def __call__(self, name, value, params):
        # A kernel that counts the empty conjunction has an intercept already.
        kernel = params["kernel"]
        counts_empty = isinstance(kernel, ConjunctionKernel) and not kernel.normalize
        if not value and counts_empty and kernel.min_literals == 0:
            params["kernel"] = clone(kernel).set_params(min_literals=1)
            return
        super().__call__(name, value, params)


def _order_in_n_orders(name, value, params):
    """Use n_orders=0 for the order of the samples instead of shuffle=False."""
    if not value:
        params["n_orders"] = 0


class _Normalize(Gone):
    def __call__(self, name, value, params):
        kernel, max_literals = params["kernel"], params["max_literals"]
        is_named = isinstance(kernel, str) and kernel == "conjunction"
        has_no_norms = max_literals is None or params["average"] == "voted"
        if value or not is_named or has_no_norms:
            return
        if is_auto(max_literals, "max_literals"):
            if params["early_stopping"]:  # the length would be chosen
                super().__call__(name, value, params)
            max_literals = 3
        params["kernel"] = ConjunctionKernel(
            min_literals=1, max_literals=max_literals, monotone=params["monotone"],
            normalize=False,
        )  # fmt: skip


def _tie_is_positive(name, value, params):
    """A score of 0 predicts the second class."""
    if value != "positive":
        raise ValueError(
            f"tie={value!r} is not supported since version 0.3: a score of 0 predicts "
            "the second class. Swap the two classes, as by y = ~y, for the other rule."
        )


class _RelativeMargin(Gone):
    def __call__(self, name, value, params):
        if params["margin"] != 0:
            super().__call__(name, value, params)


def _decay_in_kernel(name, value, params):
    """Use kernel=ConjunctionKernel(min_literals=1, decay=...) instead."""
    is_named = isinstance(params["kernel"], str) and params["kernel"] == "conjunction"
    if is_named and not is_auto(value, "decay"):
        params["kernel"] = ConjunctionKernel(
            min_literals=1, max_literals=params["max_literals"],
            monotone=params["monotone"], decay=value,
        )  # fmt: skip


OF_KERNEL_PERCEPTRON = {
    "warm_start": Gone(False, "Call partial_fit, once for each pass."),
    "normalize": _Normalize(
        True,
        "Use kernel=ConjunctionKernel(min_literals=1, max_literals=3, "
        "normalize=False).",
    ),
    "shuffle": _order_in_n_orders,
    "tie": _tie_is_positive,
    "margin_type": _RelativeMargin(
        "relative", "For other margins, give a kernel whose K(x, x) is constant."
    ),
    "fit_intercept": _Intercept(
        True, "Subtract 1 from a kernel function: kernel=lambda A, B: K(A, B) - 1."
    ),
}
OF_SVC = {
    "decay": _decay_in_kernel,
    "max_iter": Gone(10_000, "Raise tol, or lower C, for fits that take too long."),
}
SIZES = "Give fewer samples, or use BooleanSVC for many."
OF_PROCESSES = {
    "n_evidence": Gone(500, SIZES),
    "max_exact": Gone(2000, SIZES),
    "n_components": Gone(1000, SIZES),
}
