"""Learning goes on with the parameters on which what was learned depends, or not."""

from sklboolean._core.validation import is_same

__all__ = ["check_goes_on", "refuse_changes", "remember_parameters"]


def remember_parameters(learner, names):
    """Note with which parameters a learner learned, for `check_goes_on`."""
    learner._learned_with = _parameters_of(learner, names)


def check_goes_on(learner, names, **known):
    """Refuse to go on from what was learned with other parameters.

    Parameters
    ----------
    learner : object
        Fitted. One that remembers nothing, from an older file, has changed nothing.
    names : iterable of str
        Parameters on which what was learned depends, all their own parameters included.
    **known
        What can be read from the state itself, which comes before what is remembered.

    Raises
    ------
    ValueError
        With the parameter, what it was and is, and the way out.
    """
    known = vars(learner).get("_learned_with", {}) | known
    refuse_changes(known, _parameters_of(learner, names))


def refuse_changes(known, wanted):
    """Compare parameters by name; those that are not known have not changed."""
    for name, value in wanted.items():
        if name in known and not is_same(known[name], value):
            raise ValueError(
                f"What was learned cannot go on with {name}={value!r}: it was learned "
                f"with {name}={known[name]!r}. Set it back, or fit again without "
                "warm_start."
            )


def _parameters_of(learner, names):
    """Return parameters, flat: of one that has its own the class and all of these.

    An object may be changed after it was remembered: what is remembered is not it.
    """
    parameters = {}
    for name in names:
        value = getattr(learner, name)
        parameters[name] = _class_or_value(value)
        if parameters[name] is not value:
            for inner, found in value.get_params().items():
                parameters[f"{name}__{inner}"] = _class_or_value(found)
    return parameters


def _class_or_value(value):
    if not hasattr(value, "get_params") or isinstance(value, type):
        return value
    return f"{type(value).__module__}.{type(value).__qualname__}"
