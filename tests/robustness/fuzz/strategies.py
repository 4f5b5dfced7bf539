"""Hostile input: tables, labels, weights and scalars, sound ones among them.

A draw decides the kind of trouble and a seed; the entries come from the seed, which is
many times quicker than to draw each of them. Tables of one width in six are sound, so
that what comes after the first check is tried too.
"""

import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

__all__ = ["labels", "scalars", "tables", "weights", "wild_arrays"]

NUMBERS = [
    "?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "f", "d", "g",
]  # fmt: skip
ODD_DTYPES = ["F", "D", "O", "U5", "S5", "M8[D]", "m8[s]", "V3", "i4,f8"]
POISONS = [
    np.nan, np.inf, -np.inf, -1, -0.0, 0.5, 2, 255, 1e300, -1e300, 5e-324, 2.0**31,
    2.0**53, 2.0**63,
]  # fmt: skip
OBJECTS = [
    None, pd.NA, pd.NaT, "yes", "1", b"1", 2**63, -(2**63) - 1, 10**400, 1j, [], [1],
    Fraction(1, 2), Decimal("1"), Decimal("nan"), object(), datetime.date(2020, 1, 1),
    float("nan"), True, {}, np.float16(1),
]  # fmt: skip
SEEDS = st.integers(0, 9999)


def bits(seed, shape):
    """Zeros and ones at random."""
    return np.random.default_rng(seed).integers(0, 2, shape)


# -- dense tables -------------------------------------------------------------------


def contiguous(X):
    """As it is."""
    return X


def fortran(X):
    """Column by column."""
    return np.asfortranarray(X)


def reversed_rows(X):
    """With negative strides."""
    return X[::-1, ::-1] if X.ndim > 1 else X[::-1]


def every_other(X):
    """With gaps between the entries."""
    wide = np.repeat(X, 2, axis=-1)
    return wide[..., ::2]


def repeated_row(X):
    """All rows in one place: a stride of 0."""
    return np.broadcast_to(X[:1], X.shape) if X.size else X


def read_only(X):
    """Not to be written to."""
    X = X.copy()
    X.flags.writeable = False
    return X


def swapped(X):
    """In the byte order of other machines."""
    return X.astype(X.dtype.newbyteorder())


def unaligned(X):
    """At an odd address."""
    room = np.zeros(X.nbytes + 1, dtype=np.uint8)
    moved = room[1:].view(X.dtype).reshape(X.shape) if X.size else X
    moved[...] = X
    return moved


LAYOUTS = [
    contiguous, fortran, reversed_rows, every_other, repeated_row, read_only, swapped,
    unaligned,
]  # fmt: skip


@st.composite
def dense_tables(draw, shape):
    """Numbers of one type in one layout, perhaps with an entry that is none."""
    X = bits(draw(SEEDS), shape)
    dtype = draw(st.sampled_from(NUMBERS))
    X = X.astype(dtype)
    if draw(st.booleans()) and X.size:
        place = draw(st.integers(0, X.size - 1))
        with np.errstate(all="ignore"):
            poison = np.float64(draw(st.sampled_from(POISONS)))
            X.flat[place] = poison.astype(X.dtype) if X.dtype.kind in "iu" else poison
    return draw(st.sampled_from(LAYOUTS))(X)


@st.composite
def object_tables(draw, shape):
    """Python objects, one of them odd; or a list of lists of them, perhaps ragged."""
    X = bits(draw(SEEDS), shape).astype(object)
    for _ in range(draw(st.integers(0, 2))):
        if X.size:
            place = draw(st.integers(0, X.size - 1))
            X[np.unravel_index(place, X.shape)] = draw(st.sampled_from(OBJECTS))
    form = draw(st.sampled_from(["array", "list", "ragged", "tuple"]))
    if form == "array":
        return X
    rows = X.tolist()
    if form == "ragged" and rows and isinstance(rows[0], list):
        rows[0] = rows[0][:-1]
    return tuple(rows) if form == "tuple" else rows


@st.composite
def other_dtypes(draw, shape):
    """Arrays whose type is no number, or of no table's shape."""
    dtype = draw(st.sampled_from(ODD_DTYPES))
    seed = draw(SEEDS)
    if dtype in ("V3", "i4,f8"):
        return np.zeros(shape, dtype=dtype)
    X = bits(seed, shape)
    return X.astype("q").astype(dtype)


@st.composite
def odd_shapes(draw, shape):
    """No rows, no columns, too few axes or too many, another width."""
    n, m = shape
    choices = [
        (0, m), (n, 0), (0, 0), (m,), (n,), (0,), (), (n, m, 1), (2, n, m), (1, m),
        (n, 1), (1, 1), (n, m + 1), (n, max(0, m - 1)), (n, 2 * m + 60), (n + 1, m),
    ]  # fmt: skip
    return bits(draw(SEEDS), draw(st.sampled_from(choices))).astype(
        draw(st.sampled_from(["?", "B", "d", "O"]))
    )


# -- sparse tables ------------------------------------------------------------------

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


def stored(X, index=np.int32, kind=sparse.csr_array):
    """The parts of a table of zeros and ones, its zeros left out."""
    S = kind(X)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    return S


@st.composite
def sparse_tables(draw, shape):
    """Any format, any number; as scipy makes them."""
    X = draw(dense_tables(shape).filter(lambda X: X.dtype.char not in "eg"))
    X = np.array(X, dtype=X.dtype.newbyteorder("="))
    form = draw(st.sampled_from(FORMATS))
    return getattr(sparse, form + draw(st.sampled_from(["_array", "_matrix"])))(X)


@st.composite
def odd_entries(draw, shape):
    """CSR and CSC with unsorted, doubled, explicit zero and superfluous entries."""
    kind = draw(
        st.sampled_from([sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
    )
    index = draw(st.sampled_from([np.int32, np.int64]))
    dtype = draw(st.sampled_from(["?", "B", "b", "i", "q", "f", "d"]))
    S = stored(bits(draw(SEEDS), shape), index, kind)
    data, indices, indptr = S.data.astype(dtype), S.indices, S.indptr
    trouble = draw(st.sampled_from(["unsorted", "doubled", "zeros", "slack", "frozen"]))
    if trouble == "unsorted":
        indices = indices.copy()
        for a, b in pairwise(indptr):
            indices[a:b] = indices[a:b][::-1]
    elif trouble == "doubled":  # sums to 1, or 2, or by bytes to nothing
        value = draw(st.sampled_from([0.5, 1.0, 128.0, -1.0]))
        indices, indptr = np.repeat(indices, 2), indptr * 2
        data = np.full(len(indices), value).astype(np.int64 if value < 0 else "f8")
        data = data.astype(np.float64 if value == 0.5 else dtype)
    elif trouble == "zeros":
        data[::2] = 0
    elif trouble == "slack":  # more is stored than indptr tells of
        made = kind((data, indices, indptr), shape=shape)
        made.data = np.append(data, np.array([7, 7], dtype=dtype))
        made.indices = np.append(indices, np.array([0, 0], dtype=index))
        return made
    made = kind((data, indices, indptr), shape=shape)
    if trouble == "frozen":
        for part in (made.data, made.indices, made.indptr):
            part.flags.writeable = False
    return made


@st.composite
def broken_sparse(draw, shape):
    """Index arrays that point outside the table, set behind scipy's back."""
    form = draw(st.sampled_from(["csr", "csc", "coo", "bsr"]))
    kind = getattr(sparse, form + draw(st.sampled_from(["_array", "_matrix"])))
    X = bits(draw(SEEDS), shape).astype(draw(st.sampled_from(["?", "d", "B"])))
    X[:1] = 1
    S = kind(X)
    if S.nnz == 0:
        return S
    beyond = draw(st.sampled_from([-1, -5, 10**6, 2**31 - 1, -(2**31)]))
    if form == "coo":
        S.col[draw(st.integers(0, S.nnz - 1))] = beyond
        return S
    trouble = draw(
        st.sampled_from(["index", "indptr", "first", "last", "short", "wide"])
    )
    if trouble == "index":
        S.indices[draw(st.integers(0, len(S.indices) - 1))] = beyond
    elif trouble == "wide":
        S.indices = S.indices.astype(np.int64)
        S.indices[0] = 2**32 + 1
    elif trouble == "indptr":
        S.indptr[len(S.indptr) // 2] = beyond
    elif trouble == "first":
        S.indptr[0] = draw(st.sampled_from([-3, 1]))
    elif trouble == "last":
        S.indptr[-1] += draw(st.sampled_from([1, 10**6]))
    else:
        S.data = S.data[:-1]
    return S


@st.composite
def huge_sparse(draw, shape):
    """Next to nothing stored in a table of 2**31 columns or rows and more."""
    side = draw(st.sampled_from([2**31, 2**31 + 5, 2**40]))
    form = draw(st.sampled_from([sparse.csr_array, sparse.coo_array]))
    places = np.array([[0, 0, 0], [1, side - 1, 2]], dtype=np.int64)
    return form(sparse.coo_array((np.ones(3), places), shape=(shape[0], side)))


# -- frames, and what is no table ---------------------------------------------------


@st.composite
def frames(draw, shape):
    """Data frames: plain, mixed, categorical, nullable, with odd names."""
    X = bits(draw(SEEDS), shape)
    if draw(st.integers(0, 4)) == 0:
        return pl.DataFrame(X.astype(draw(st.sampled_from(["?", "d", "i8"]))))
    frame = pd.DataFrame(X.astype(draw(st.sampled_from(["?", "d", "i8"]))))
    frame.columns = [f"x{i}" for i in range(X.shape[1])]
    column = "x0"
    trouble = draw(
        st.sampled_from(
            ["no", "mixed", "category", "Int8", "boolean", "NA", "text", "date",
             "twice", "numbers", "sparse", "string"]
        )
    )  # fmt: skip
    if not X.size:
        return frame
    if trouble == "mixed":
        frame[column] = frame[column].astype(object)
    elif trouble in ("category", "string"):
        frame[column] = frame[column].astype(trouble)
    elif trouble in ("Int8", "boolean"):
        frame = frame.astype(bool).astype(trouble)
    elif trouble == "NA":
        frame = frame.astype(bool).astype("boolean")
        frame.iloc[0, 0] = pd.NA
    elif trouble == "text":
        frame[column] = "yes"
    elif trouble == "date":
        frame[column] = pd.Timestamp("2020-01-01")
    elif trouble == "twice":
        frame.columns = ["x0"] * X.shape[1]
    elif trouble == "numbers":
        frame.columns = [i if i % 2 else str(i) for i in range(X.shape[1])]
    elif trouble == "sparse":
        frame = frame.astype(pd.SparseDtype(bool, False))
    return frame


NO_TABLES = [
    None, 0, 1.5, "text", b"bytes", object(), {}, {"a": [1]}, set(), [], [[]], [[], []],
    (), range(3), np.array(None), float("nan"), slice(3), type,
]  # fmt: skip


def tables(n_samples, n_features):
    """Strategy of what may be handed over as a table; most have the shape asked for."""
    shape = n_samples, n_features
    return st.one_of(
        dense_tables(shape),
        sparse_tables(shape),
        odd_entries(shape),
        broken_sparse(shape),
        object_tables(shape),
        frames(shape),
        odd_shapes(shape),
        other_dtypes(shape),
        huge_sparse(shape),
        st.sampled_from(NO_TABLES),
    )


# -- labels and weights -------------------------------------------------------------

MIXED = [None, "a", 1, 0, 1.5, np.nan, True, (1, 2), pd.NA, 2**70, b"a", object()]


@st.composite
def labels(draw, n_samples):
    """Strategy of what may be handed over as labels, or targets."""
    y = bits(draw(SEEDS), n_samples)
    trouble = draw(st.sampled_from(sorted(LABELS)))
    if trouble == "mixed":
        y = y.astype(object)
        y[draw(st.integers(0, n_samples - 1))] = draw(st.sampled_from(MIXED))
        return y
    if trouble == "none":
        return draw(st.sampled_from(NO_TABLES))
    return LABELS[trouble](y)


def with_entry(y, value):
    """Labels as float64, one of them odd."""
    y = y.astype(np.float64)
    y[0] = value
    return y


LABELS = {
    "ints": lambda y: y,
    "bools": lambda y: y == 1,
    "unsigned": lambda y: y.astype("Q") + np.uint64(2**63),
    "signs": lambda y: 2.0 * y - 1,
    "halves": lambda y: y / 2,
    "reals": lambda y: y + np.arange(len(y)) / 7,
    "half precision": lambda y: y.astype("e"),
    "long double": lambda y: y.astype("g"),
    "strings": lambda y: np.array(["no", "yes"])[y],
    "bytes": lambda y: np.array([b"no", b"yes"])[y],
    "strings and None": lambda y: np.array([None, "yes"], dtype=object)[y],
    "objects": lambda y: np.array(["no", "a longer yes"], dtype=object)[y],
    "series": lambda y: pd.Series(y == 1, dtype="boolean"),
    "category": lambda y: pd.Series(np.array(["no", "yes"])[y], dtype="category"),
    "series with NA": lambda y: pd.Series([pd.NA, *y[1:].tolist()], dtype="Int8"),
    "dates": lambda y: y.astype("M8[D]"),
    "complex": lambda y: y + 1j,
    "one class": lambda y: np.ones_like(y),
    "many classes": lambda y: np.arange(len(y)),
    "many words": lambda y: np.array([f"label {i}" for i in range(len(y))]),
    "far apart": lambda y: np.where(y == 1, 2**62, -(2**62)),
    "NaN": lambda y: with_entry(y, np.nan),
    "infinity": lambda y: with_entry(y, np.inf),
    "huge": lambda y: with_entry(y, 1e300),
    "column": lambda y: y[:, None],
    "two columns": lambda y: np.stack([y, 1 - y], axis=1),
    "row": lambda y: y[None],
    "list of lists": lambda y: [[int(label)] for label in y],
    "ragged": lambda y: [[0]] * (len(y) - 1) + [[0, 1]],
    "sparse": lambda y: sparse.csr_array(y[:, None]),
    "short": lambda y: y[:-1],
    "long": lambda y: np.append(y, 0),
    "empty": lambda y: y[:0],
    "structured": lambda y: np.zeros(len(y), dtype="i4,f8"),
    "reversed": lambda y: y[::-1],
    "swapped": lambda y: y.astype(">i4"),
    "list": lambda y: y.tolist(),
    "big ints": lambda y: [int(label) + 2**70 for label in y],
    "mixed": None,
    "none": None,
}


@st.composite
def weights(draw, n_samples):
    """Strategy of what may be handed over as weights of rows."""
    w = 1.0 + bits(draw(SEEDS), n_samples)
    value = draw(st.sampled_from([0, -1, np.nan, np.inf, 1e308, 5e-324, 1e-30, 2**60]))
    kind = draw(
        st.sampled_from(
            ["sound", "entry", "all", "short", "table", "object", "dtype", "other",
             "number"]
        )
    )  # fmt: skip
    if kind == "entry":
        w[draw(st.integers(0, n_samples - 1))] = value
    elif kind == "all":
        w[:] = value
    elif kind == "short":
        w = w[:-1]
    elif kind == "table":
        w = w[:, None]
    elif kind == "object":
        w = w.astype(object)
        w[0] = draw(st.sampled_from(OBJECTS))
    elif kind == "dtype":
        return w.astype(draw(st.sampled_from(["?", "B", "e", "g", "F", "U5", "M8[D]"])))
    elif kind == "other":
        return draw(st.sampled_from(NO_TABLES))
    elif kind == "number":
        return draw(st.sampled_from([2, 0.5, value]))
    return w


# -- scalars ------------------------------------------------------------------------

SCALARS = [
    None, True, False, 0, 1, 2, 3, -1, 7, 100, 2**40, 2**63, 2**64, 10**400, 0.0, -0.0,
    0.5, 1.0, 2.0, -0.5, 1e-300, 1e300, 5e-324, np.nan, np.inf, -np.inf, "auto", "text",
    "", b"x", 1j, Fraction(1, 3), Decimal("0.25"), np.float16(0.5), np.float32(0.1),
    np.int8(3), np.uint64(2), np.bool_(True), np.float64("nan"), np.longdouble(0.5), [],
    [1], (1, 2), {}, np.array(1), np.array([0.5]), np.zeros((2, 2)), object(), pd.NA,
]  # fmt: skip
scalars = st.sampled_from(SCALARS)


@st.composite
def wild_arrays(draw, like):
    """Strategy of arrays in the place of a sound one: its shape, or nearly so."""
    sound = np.asarray(like)
    trouble = draw(
        st.sampled_from(
            ["poison", "object", "dtype", "shape", "other", "scalar", "layout"]
        )
    )
    if trouble == "other":
        return draw(st.sampled_from(NO_TABLES))
    if trouble == "scalar":
        return draw(scalars)
    if trouble == "poison" and sound.dtype.kind in "biuf" and sound.size:
        sound = sound.astype(np.float64)
        place = draw(st.integers(0, sound.size - 1))
        sound.flat[place] = draw(st.sampled_from(POISONS))
    elif trouble == "object" and sound.size:
        sound = sound.astype(object)
        place = draw(st.integers(0, sound.size - 1))
        sound[np.unravel_index(place, sound.shape)] = draw(st.sampled_from(OBJECTS))
    elif trouble == "dtype" and sound.dtype.kind in "biuf":
        sound = sound.astype(draw(st.sampled_from([*NUMBERS, "F", "O", "U9"])))
    elif trouble == "shape":
        sound = draw(
            st.sampled_from(
                [sound[:0], sound[:1], sound[..., :0], sound[..., :-1], sound[None],
                 sound[..., None], sound.ravel(), np.concatenate([sound, sound])]
            )
        )  # fmt: skip
    elif trouble == "layout" and sound.ndim:
        sound = draw(st.sampled_from(LAYOUTS))(sound)
    return sound
