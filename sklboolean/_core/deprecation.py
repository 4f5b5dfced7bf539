"""Parameters and attributes of version 0.2: they warn, and still work.

A class lists its old parameters in `old_parameters`. The constructor, ``set_params``
and stored models then take them: one rule translates each into parameters of today.
"""

import functools
import inspect
import warnings

from sklboolean._core.parameters import is_same

NEXT = "It will be an error in version 0.4."


class Gone:
    """The rule of a parameter without a successor.

    Parameters
    ----------
    kept : object
        The only value that is still taken: what the estimator always does now.
    instead : str
        What to do in place of other values, as a sentence.
    """

    def __init__(self, kept, instead):
        self.kept = kept
        self.instead = instead

    def __call__(self, name, value, params):
        if not is_same(value, self.kept):
            raise ValueError(
                f"{name}={value!r} is not supported since version 0.3, which always "
                f"uses {self.kept!r}. {self.instead}"
            )


def old_parameters(**rules):
    """Let an estimator's class take parameters of version 0.2.

    Parameters
    ----------
    **rules : str, Gone or callable
        By old name: the new name; a `Gone`; or a function
        ``rule(name, value, params)`` that sets the entries of ``params``, a dict of all
        parameters of today, to what the old value means.

    Returns
    -------
    decorator : callable
        For the class.
    """

    def decorate(cls):
        init, set_params, set_state = cls.__init__, cls.set_params, cls.__setstate__
        parameters = inspect.signature(init).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.name != "self"}

        @functools.wraps(init)
        def init_translated(self, *args, **given):
            if not rules.keys().isdisjoint(given):
                # What is given by position counts as set, so that rules see it.
                given = dict(zip(defaults, args, strict=False)) | given
                args, given = (), _translate(rules, given, defaults)
            init(self, *args, **given)

        @functools.wraps(set_params)
        def set_params_translated(self, **given):
            if not rules.keys().isdisjoint(given):
                given = _translate(rules, given, self.get_params(deep=False))
            return set_params(self, **given)

        @functools.wraps(set_state)
        def set_state_translated(self, state):
            if isinstance(state, dict) and not rules.keys().isdisjoint(state):
                state = _translate(rules, state, defaults, stored=True)
            set_state(self, state)

        cls.__init__, cls.set_params = init_translated, set_params_translated
        cls.__setstate__ = set_state_translated
        return cls

    return decorate


def _translate(rules, given, current, *, stored=False):
    """Replace the old parameters among ``given``; of stored models in silence."""
    params = current | {name: given[name] for name in given if name not in rules}
    for name in [name for name in given if name in rules]:
        rule = rules[name]
        if isinstance(rule, str):
            params[rule], text = given[name], f"Use {rule!r} instead."
        elif stored and isinstance(rule, Gone):
            continue  # it served the fit
        else:
            rule(name, given[name], params)
            text = getattr(rule, "instead", None) or rule.__doc__
        if not stored:
            warnings.warn(
                f"The parameter {name!r} is deprecated. {text} {NEXT}",
                FutureWarning,
                stacklevel=4,
            )
    return {
        name: value
        for name, value in params.items()
        if name in given or name not in current or value is not current[name]
    }


def old_attribute(name, new):
    """Make a property that reads an attribute by its name in version 0.2."""

    def read(self):
        value = getattr(self, new)
        warnings.warn(
            f"The attribute {name!r} is deprecated. Use {new!r} instead. {NEXT}",
            FutureWarning,
            stacklevel=2,
        )
        return value

    return property(read, doc=f"Deprecated: use ``{new}``.")


def old_keywords(**new_names):
    """Let a function take keyword arguments by their names in version 0.2.

    Parameters
    ----------
    **new_names : str
        By old name.

    Returns
    -------
    decorator : callable
        For the function.
    """

    def decorate(function):
        @functools.wraps(function)
        def translated(*args, **given):
            for name in new_names.keys() & given.keys():
                new = new_names[name]
                warnings.warn(
                    f"The argument {name!r} is deprecated. Use {new!r} instead. {NEXT}",
                    FutureWarning,
                    stacklevel=2,
                )
                given[new] = given.pop(name)
            return function(*args, **given)

        return translated

    return decorate


def renamed(state, **new_names):
    """Copy the state of a stored model, with new names of its attributes."""
    return {new_names.get(name, name): value for name, value in state.items()}


def jobs_of_context(name, value, params):
    """Use joblib.parallel_config(n_jobs=...) instead; no result depends on it."""
