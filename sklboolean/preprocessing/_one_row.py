"""One sample, read value by value: as fast as a service needs it."""

import numpy as np

from sklboolean._core.feature_names import NamedCsr
from sklboolean.preprocessing._encoded_columns import PLAIN_VALUES

# Scalars that become Python's without a change.
SCALARS = {
    np.float16, np.float32, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
    np.uint32, np.uint64, np.str_,
}  # fmt: skip


def row_of(X):
    """List the values of a data frame or table of one row."""
    if hasattr(X, "iloc"):
        return X.to_numpy(dtype=object)[0].tolist()
    if hasattr(X, "row"):
        return list(X.row(0))
    return [column[0].as_py() for column in X.columns]


def encode_values(values, state, offsets, warned, *, propagates):
    """Mark the conditions that hold in one sample.

    Parameters
    ----------
    values : sequence of n_features_in values
    state : sequence of FittedColumn
    offsets : sequence of int
        Number of the first condition of each column, and of all conditions.
    warned : set of (column, str)
        What the user was warned of, and need not be told again.
    propagates : bool
        Whether the conditions on a missing value are NaN.

    Returns
    -------
    bits : ndarray of shape (n_features_out,) or None
        Of dtype bool; float32 where missing values propagate. None where a value needs
        a closer look.
    """
    bits, gaps = bytearray(offsets[-1]), []
    for number, (fitted, value) in enumerate(zip(state, values, strict=True)):
        offset = offsets[number]
        if type(value) not in PLAIN_VALUES:
            if type(value) in SCALARS:
                value = value.item()
            elif type(value).__name__ == "NAType":  # of pandas
                value = None
            else:
                return None
        if propagates and (value is None or value != value):
            gaps.append(slice(offset, offsets[number + 1]))
            continue
        run = fitted.run_of(value)
        if run is None:
            if (fitted.name, fitted.news(value)) not in warned:
                return None
            if propagates and fitted.kind == "ordered":
                gaps.append(slice(offset, offsets[number + 1]))
        else:
            first, end = run
            bits[offset + first : offset + end] = b"\1" * (end - first)
    features = np.frombuffer(bits, dtype=bool)
    if propagates:
        features = features.astype(np.float32)
        for gap in gaps:
            features[gap] = np.nan
    return features


def sparse_row(bits, names):
    """Make a sparse array of the features of one sample."""
    indices = np.flatnonzero(bits).astype(np.int32)
    indptr = np.array([0, len(indices)], dtype=np.int32)
    data = np.ones(len(indices), dtype=bool)
    features = NamedCsr((data, indices, indptr), (1, len(bits)))
    features.feature_names = np.array(names, dtype=object)
    return features
