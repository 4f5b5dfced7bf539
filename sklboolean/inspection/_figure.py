"""Shared by the displays: axes, colours, and samples of any kind of data."""

import numpy as np
from scipy import sparse

# Okabe and Ito's colours, the light ones darkened: each has a contrast of at least 3 on
# white. Line styles differ too, for grey print.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#C2699B", "#B27A00", "#2E8BC0", "#000000")
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def import_pyplot():
    """Import matplotlib.pyplot, or raise an error that says how to install it."""
    # Imported here, because the package works without matplotlib.
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Plotting needs matplotlib: pip install "sklboolean[plot]".'
        ) from error
    return plt


def open_axes(ax=None):
    """Use the given axes, or create a new figure."""
    return import_pyplot().subplots()[1] if ax is None else ax


def draw_curves(curves, x_name, y_name, ax=None):
    """Draw curves with a legend; several runs become their mean and standard error.

    Parameters
    ----------
    curves : dict of str to (x, y)
        By name the places, of shape (n_points,), and the values, of shape (n_points,)
        or (n_runs, n_points).
    x_name, y_name : str
        Labels of the axes.
    ax : matplotlib Axes or None
        Axes to draw into. None: a new figure.

    Returns
    -------
    ax, figure, lines : matplotlib Axes, Figure and dict of str to Line2D
    """
    ax, lines = open_axes(ax), {}
    for place, (name, (x, y)) in enumerate(curves.items()):
        runs = np.atleast_2d(y)
        color, mean = COLORS[place % len(COLORS)], runs.mean(axis=0)
        style = LINE_STYLES[place % len(LINE_STYLES)]
        (lines[name],) = ax.plot(x, mean, color=color, linestyle=style, label=name)
        if len(runs) > 1:
            error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
            ax.fill_between(x, mean - error, mean + error, color=color, alpha=0.2)
    ax.set(xlabel=x_name, ylabel=y_name)
    ax.legend()
    return ax, ax.figure, lines


def draw_bars(texts_and_values, label, ax=None):
    """Draw horizontal bars, the first on top, negative ones in another colour.

    Parameters
    ----------
    texts_and_values : list of (str, float)
    label : str
        Label of the axis.
    ax : matplotlib Axes or None
        Axes to draw into. None: a new figure, as high as the bars need.

    Returns
    -------
    ax, figure, bars : matplotlib Axes, Figure and BarContainer
    """
    is_new = ax is None
    ax = open_axes(ax)
    texts = [text for text, _ in texts_and_values]
    values = np.array([value for _, value in texts_and_values], dtype=float)
    if is_new:
        longest = max(map(len, texts), default=0)
        ax.figure.set_size_inches(4.5 + 0.075 * longest, 0.35 * len(texts) + 1)
        ax.figure.set_layout_engine("constrained")
    places = np.arange(len(texts))
    bars = ax.barh(places, values, color=np.where(values < 0, COLORS[1], COLORS[0]))
    ax.set_yticks(places, texts)
    ax.invert_yaxis()
    ax.set_xlabel(label)
    return ax, ax.figure, bars


def grid_of_axes(n_grid_rows, n_columns, size):
    """Create a figure and its axes without ticks, of shape (n_grid_rows, n_columns).

    Parameters
    ----------
    n_grid_rows, n_columns : int
        Shape of the grid.
    size : float
        Length of a side of each axes in inches.
    """
    figure, axes = import_pyplot().subplots(
        n_grid_rows,
        n_columns,
        figsize=(size * n_columns, size * n_grid_rows),
        squeeze=False,
        layout="constrained",
    )
    for ax in axes.ravel():
        ax.set(xticks=[], yticks=[])
    return figure, axes


def take_samples(X, samples):
    """Select samples of a data frame, an array, a sparse matrix or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[samples]
    return (X.tocsr() if sparse.issparse(X) else np.asarray(X))[samples]
