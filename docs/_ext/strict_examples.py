"""Examples of the gallery run as the tests do: a warning is an error."""

import warnings

_filters = []


def make_warnings_errors(gallery_conf, script, when):
    """Be called by sphinx-gallery before and after each script."""
    if script is None:  # a folder is entered
        return
    if when == "before":
        _filters.append(warnings.filters[:])
        warnings.simplefilter("error")
    else:
        warnings.filters[:] = _filters.pop()
