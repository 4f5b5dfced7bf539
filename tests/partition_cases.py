"""Small partitions for the tests of whatever learns from them."""

import numpy as np
from hypothesis import strategies as st

__all__ = ["joined", "partitioned", "parts_of"]


@st.composite
def partitioned(draw):
    """Draw some partitions of a few rows, labelled at random."""
    n_features = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        n_samples = draw(st.integers(1, 8))
        X = rng.integers(0, 2, (n_samples, n_features))
        parts.append((X, rng.integers(0, 2, n_samples)))
    return parts


def parts_of(n_parts, *arrays):
    """Deal samples out to partitions in turn."""
    return [tuple(array[k::n_parts] for array in arrays) for k in range(n_parts)]


def joined(parts):
    """Join the arrays of partitions, in their order."""
    return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
