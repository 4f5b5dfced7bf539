"""Edit each array of a fitted model, and ask the model; a crash would end this process.

``python tampered.py N_EDITS NAME ...`` makes about N_EDITS of the possible edits of
each model and prints their number. An answer is a value or a ValueError; another error
or a compiled loop that leaves its arrays ends the process.
"""

import copy
import pickle
import sys
import warnings

import numpy as np
from _instances import METHODS, data, fitted, target_for
from scipy import sparse

DEEPEST = 6


def numbers_of(array):
    """Give edited copies of an array, by the name of the edit."""
    yield "short", array[:-1] if array.ndim else array
    yield "empty", array[:0] if array.ndim else array
    if array.ndim:
        yield "long", np.concatenate([array, array[-1:], array[-1:]])
    if array.ndim > 1:
        yield "narrow", np.ascontiguousarray(array[:, :-1])
        yield "wide", np.concatenate([array, array[:, -1:]], axis=1)
    if array.dtype.kind in "iuf":
        yield (
            "other dtype",
            array.astype(np.float32 if array.dtype.kind == "f" else "i2"),
        )
    if array.dtype.kind in "iu":
        for value in (2**31 - 1, -1, 10**5, np.iinfo(array.dtype).max):
            if np.iinfo(array.dtype).min <= value <= np.iinfo(array.dtype).max:
                yield f"all {value}", np.full_like(array, value)
                if array.size:
                    one = array.copy()
                    one.flat[array.size // 2] = value
                    yield f"one {value}", one
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, 1e300):
            yield f"all {value}", np.full_like(array, value)


def places(obj, depth=0, seen=None):
    """Find what holds arrays: (set, get, path) of each array under an object."""
    seen = set() if seen is None else seen
    if depth > DEEPEST or id(obj) in seen:
        return
    seen.add(id(obj))
    if isinstance(obj, dict):
        children = [(f"[{k!r}]", k, v, "item") for k, v in obj.items()]
    elif isinstance(obj, list):
        children = [(f"[{k}]", k, v, "item") for k, v in enumerate(obj)]
    else:
        names = [*getattr(obj, "__dict__", ()), *getattr(type(obj), "__slots__", ())]
        children = [
            (f".{k}", k, getattr(obj, k), "attribute") for k in names if hasattr(obj, k)
        ]
    for label, key, value, how in children:
        whole_number = isinstance(value, int | np.integer) and not isinstance(
            value, bool
        )
        if isinstance(value, np.ndarray) or (whole_number and how == "attribute"):
            yield obj, key, how, label
        elif sparse.issparse(value) or isinstance(value, dict | list):
            for *place, rest in places(value, depth + 1, seen):
                yield *place, label + rest
        elif type(value).__module__.startswith("sklboolean"):
            for *place, rest in places(value, depth + 1, seen):
                yield *place, label + rest


def put(obj, key, how, value):
    """Set an item, or an attribute, of a frozen dataclass too."""
    if how == "item":
        obj[key] = value
    else:
        object.__setattr__(obj, key, value)


def edits_of(value):
    """Give edited copies of an array or of a number."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biuf":
            yield from numbers_of(value)
    else:
        for other in (value + 1, max(value - 1, 0), 10 * value + 100):
            yield f"= {other}", other


EXPORTS = ("to_text", "to_dict", "to_python", "to_sql", "to_c")


def ask(model, X, y):
    """Call what a user calls; a ValueError is an answer, too."""
    arguments = {"sample": (3,), "partial_fit": (X, y)} | dict.fromkeys(EXPORTS, ())
    for name in (*METHODS, "apply", "explain", "inverse_transform", *arguments):
        try:
            if hasattr(model, name):
                getattr(model, name)(*arguments.get(name, (X,)))
        except ValueError:
            pass


def edit(name, most):
    """Make the edits of one model, a spread of about ``most`` of them."""
    model = fitted(name)
    X, y = data(20, seed=1)
    y = target_for(model, X, y)
    stored = pickle.dumps(model)
    cases = []
    for index, (obj, key, how, _) in enumerate(places(model)):
        value = obj[key] if how == "item" else getattr(obj, key)
        cases += [(index, label) for label, _ in edits_of(value)]
    step = max(1, len(cases) // most)
    for index, label in cases[::step]:
        edited = pickle.loads(stored)
        found = list(places(edited))
        if index >= len(found):
            continue
        obj, key, how, path = found[index]
        value = obj[key] if how == "item" else getattr(obj, key)
        other = dict(edits_of(value)).get(label)
        if other is None:
            continue
        # The last line tells who crashed.
        print(name, path, label, file=sys.stderr, flush=True)
        put(obj, key, how, copy.deepcopy(other))
        ask(edited, X, y)
    print(name, len(cases[::step]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for each in sys.argv[2:]:
        edit(each, int(sys.argv[1]))
