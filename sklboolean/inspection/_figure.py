"""What the displays share: axes, colours for all eyes, rows of any table."""

import numpy as np
from scipy import sparse

# Okabe and Ito's colours, dark ones first; lines differ in style too, for grey print.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def import_pyplot():
    """Return matplotlib.pyplot, or say how to get it."""
    # Imported when something is drawn: the package works without matplotlib.
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Displays draw with matplotlib: pip install "sklboolean[plot]".'
        ) from error
    return plt


def open_axes(ax=None):
    """Return the given axes or those of a new figure."""
    return import_pyplot().subplots()[1] if ax is None else ax


def grid_of_axes(n_rows, n_columns, size):
    """Return a new figure and its bare axes, shape (n_rows, n_columns).

    Parameters
    ----------
    size : float
        Inches of a side of each.
    """
    figure, axes = import_pyplot().subplots(
        n_rows, n_columns, figsize=(size * n_columns, size * n_rows), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for ax in axes.ravel():
        ax.set(xticks=[], yticks=[])
    return figure, axes


def take_rows(X, rows):
    """Return some rows of a data frame, an array, a sparse matrix or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return (X.tocsr() if sparse.issparse(X) else np.asarray(X))[rows]
