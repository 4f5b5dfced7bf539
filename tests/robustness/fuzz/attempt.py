"""One call with hostile input, and what may come of it."""

import builtins
import inspect
import signal
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import sklearn.exceptions
from numpydoc.docscrape import FunctionDoc
from scipy import sparse
from sklearn.base import BaseEstimator

__all__ = ["TALLY", "attempt", "content", "documented_errors", "unchanged"]

TALLY = Counter()
PATIENCE = 120  # seconds; a call takes milliseconds, on a busy machine many more

# What a user should never read: words about internals, not about the argument.
CLUMSY = [
    "not supported between instances",
    "unsupported operand",
    "is not subscriptable",
    "object has no attribute",
    "could not be broadcast",
    "could not broadcast",
    "is out of bounds",
    "zero-size array",
    "argmax of an empty",
    "Buffer dtype mismatch",
    "Buffer has wrong number",
    "ufunc '",
    "unhashable type",
    "len() of unsized object",
    "indices must be integers",
    "matmul: Input operand",
    "math domain error",
    "cannot convert float",
    "cannot unpack",
    "not enough values to unpack",
    "too many values to unpack",
]


def documented_errors(function):
    """The errors that a function may raise: those of its docstring, and common ones."""
    names = [entry.type for entry in FunctionDoc(function)["Raises"]]
    named = [
        getattr(builtins, name, None) or getattr(sklearn.exceptions, name, None)
        for name in names
    ]
    # Memory may be asked for that no machine has: n_samples=2**40.
    return (ValueError, TypeError, MemoryError, *filter(None, named))


# -- what is compared ---------------------------------------------------------------


def content(thing):
    """Return what an argument holds, byte by byte, for comparison."""
    if isinstance(thing, np.ndarray) and thing.dtype.kind != "O":
        head = str(thing.dtype), thing.shape, thing.strides, thing.flags.writeable
        return *head, thing.tobytes()
    if sparse.issparse(thing):
        if thing.format == "dok":
            return str(sorted(thing.items()))
        names = "data", "indices", "indptr", "rows", "offsets"
        parts = [getattr(thing, name, None) for name in names]
        parts += list(thing.coords) if thing.format == "coo" else []
        return thing.shape, thing.format, *map(content, parts)
    if isinstance(thing, pd.DataFrame | pd.Series):
        names = [str(thing.columns.tolist())] if thing.ndim == 2 else []
        return names, str(thing.dtypes), content(thing.to_numpy(dtype=object))
    if isinstance(thing, pl.DataFrame):
        return thing.columns, str(thing.dtypes), str(thing.rows())
    if isinstance(thing, np.ndarray):
        entries = [(type(x).__name__, repr(x)) for x in thing.ravel().tolist()]
        return thing.shape, thing.strides, entries
    return repr(thing)


@contextmanager
def unchanged(*arguments):
    """Assert that arguments are not changed."""
    before = [content(argument) for argument in arguments]
    yield
    after = [content(argument) for argument in arguments]
    assert after == before, "an argument was changed"


def state(estimator):
    """The state of an estimator: values by identity, arrays byte by byte."""
    return {
        name: (value, content(value) if isinstance(value, np.ndarray) else None)
        for name, value in vars(estimator).items()
    }


def same_state(before, after):
    """Whether the state of an estimator is unchanged."""
    return list(before) == list(after) and all(
        before[name][0] is after[name][0] and before[name][1] == after[name][1]
        for name in before
    )


def numbers_in(answer):
    """Yield the arrays and numbers of an answer, however they are wrapped."""
    if sparse.issparse(answer):
        yield answer.data
    elif isinstance(answer, np.ndarray | float | np.floating):
        yield np.asarray(answer)
    elif isinstance(answer, pd.DataFrame | pd.Series):
        yield answer.to_numpy()
    elif isinstance(answer, tuple | list):
        for part in answer:
            yield from numbers_in(part)
    elif isinstance(answer, dict):
        yield from numbers_in(list(answer.values()))


def check_answer(answer, may_be_infinite):
    """Assert that a result holds no NaN, and no infinity unless it may."""
    for numbers in numbers_in(answer):
        if numbers.dtype.kind in "fc":
            assert not np.isnan(numbers).any(), "the answer holds NaN"
            finite = may_be_infinite or np.isfinite(numbers).all()
            assert finite, "the answer holds infinity"


# -- the call -----------------------------------------------------------------------


def on_alarm(_signal, _frame):
    raise AssertionError(f"no answer after {PATIENCE} seconds")


@contextmanager
def alarm():
    """Fail what does not end."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attempt(function, arguments, *, owner=None, infinite=False):
    """Call a function or method with input that may be hostile.

    It must answer with numbers, or raise an error that its docstring names in words
    about the input. The arguments, and after an error the owner of a method, must be as
    they were.

    Returns
    -------
    succeeded : bool
    answer : object or None
    """
    errors = documented_errors(inspect.unwrap(function))
    before = None if owner is None else state(owner)
    TALLY["inputs"] += 1
    try:
        with alarm(), unchanged(*arguments.values()):
            answer = function(**arguments)
    except errors as error:
        if isinstance(error, Warning):
            raise
        TALLY["refused"] += 1
        TALLY[type(error).__name__] += 1
        words = str(error)
        assert words, "an error without words"
        assert not any(clumsy in words for clumsy in CLUMSY), words
        # What an oracle answered is kept, whatever comes after.
        asked = callable(arguments.get("oracle")) and getattr(owner, "n_queries_", 0)
        if owner is not None and not asked:
            assert same_state(before, state(owner)), "the error left another state"
        return False, None
    TALLY["answered"] += 1
    if not isinstance(answer, BaseEstimator):
        check_answer(answer, infinite)
    return True, answer
