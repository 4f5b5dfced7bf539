"""The error of a damaged model: a fitted attribute was edited, or a file is broken."""

import numpy as np


def require(holds, what):
    """Raise the error of a damaged model unless the condition holds."""
    if not holds:
        raise ValueError(
            f"The model is damaged: {what}. Was a fitted attribute edited? Fit the "
            "estimator again, or load it again from a good file."
        )


def require_shape(array, shape, name):
    """Require the shape of a fitted array."""
    require(
        array.shape == shape, f"{name} has the shape {array.shape} instead of {shape}"
    )


def require_words(array, shape, name):
    """Require the shape of a fitted array, and that it holds words of 64 bits."""
    require_shape(array, shape, name)
    require(array.dtype == np.uint64, f"{name} has the dtype {array.dtype}")


def require_below(numbers, size, name):
    """Require 0 <= numbers < size of integers."""
    require(
        numbers.dtype.kind in "biu"
        and numbers.min(initial=0) >= 0
        and numbers.max(initial=-1) < size,
        f"{name} has numbers outside 0 to {size - 1}",
    )


def labels_of(classes, codes):
    """Look up the label of each class number."""
    require_below(codes, len(classes), "the classes of classes_")
    return classes[codes]
