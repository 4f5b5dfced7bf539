"""The base class of all estimators: stored ones load in other versions."""

import re
import warnings
from importlib.metadata import version
from inspect import signature

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

VERSION = version("sklboolean")


class VersionedEstimator(BaseEstimator):
    """An estimator that loads what other versions of the package stored.

    It warns if a later version stored it. Parameters that an earlier version did not
    have get their defaults, so a new parameter has a default that changes nothing.
    """

    def __getstate__(self):
        return {**super().__getstate__(), "_sklboolean_version": VERSION}

    def __setstate__(self, state):
        state = dict(state)
        written_by = state.pop("_sklboolean_version", VERSION)
        if _release(written_by) > _release(VERSION):
            warnings.warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"sklboolean {VERSION}",
                    original_sklearn_version=f"sklboolean {written_by}",
                ),
                stacklevel=2,
            )
        parameters = signature(type(self)).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        super().__setstate__(defaults | state)


def _release(text):
    """Read the numbers of a release, such as (0, 4, 1)."""
    return [int(number) for number in re.findall(r"\d+", text)[:3]]
