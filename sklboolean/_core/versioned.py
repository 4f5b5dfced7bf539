"""The base class of all estimators: stored ones know the version that wrote them."""

import re
import warnings
from importlib.metadata import version

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

VERSION = version("sklboolean")


class VersionedEstimator(BaseEstimator):
    """An estimator that warns when a later version of the package stored it."""

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
        super().__setstate__(state)


def _release(text):
    """Read the numbers of a release, such as (0, 4, 1)."""
    return [int(number) for number in re.findall(r"\d+", text)[:3]]
