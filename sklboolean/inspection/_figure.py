"""Parts of displays: curves, rows of bars or points, and grids of pictures."""

import numpy as np

from sklboolean._core.exports import import_optional

# Okabe and Ito's colours, the light ones darkened: each has a contrast of at least 3 on
# white. Line styles differ too, for grey print.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#C2699B", "#B27A00", "#2E8BC0", "#000000")
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


class Display:
    """Base of the displays with one pair of axes; they differ in what they read.

    A class defines ``_draw``, which draws what ``__init__`` was given into ``ax_``.
    """

    def plot(self, ax=None):
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        self : object
            The display, with ``ax_``, ``figure_`` and its other drawn attributes.
        """
        self.ax_ = import_pyplot().subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(is_new_figure=ax is None)
        return self


def import_pyplot():
    """Import matplotlib.pyplot, or raise an error that says how to install it."""
    # Imported here, because the package works without matplotlib.
    return import_optional("matplotlib.pyplot", "Plotting", '"sklboolean[plot]"')


def draw_curves(ax, curves, x_name, y_name, levels=None):
    """Draw curves with a legend; several runs become their mean and standard error.

    Parameters
    ----------
    ax : matplotlib Axes
    curves : dict of str to (x, y)
        By name the positions, of shape (n_points,), and the values, of shape
        (n_points,) or (n_runs, n_points).
    x_name, y_name : str
        Labels of the axes.
    levels : dict of str to float, or None
        Values that are drawn as grey horizontal lines, by name.

    Returns
    -------
    lines : dict of str to Line2D
        Lines of the curves and the levels.
    """
    lines = {}
    for number, (name, (x, y)) in enumerate(curves.items()):
        runs = np.atleast_2d(y)
        color, mean = COLORS[number % len(COLORS)], runs.mean(axis=0)
        style = LINE_STYLES[number % len(LINE_STYLES)]
        (lines[name],) = ax.plot(x, mean, color=color, linestyle=style, label=name)
        if len(runs) > 1:
            # The band is one standard error of the mean on both sides.
            error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
            ax.fill_between(x, mean - error, mean + error, color=color, alpha=0.2)
    # The first curve is solid, so levels begin with the second style.
    for number, (name, level) in enumerate((levels or {}).items(), start=1):
        style = LINE_STYLES[number % len(LINE_STYLES)]
        lines[name] = ax.axhline(level, color="0.5", linestyle=style, label=name)
    ax.set(xlabel=x_name, ylabel=y_name)
    ax.legend()
    return lines


def draw_bars(ax, texts_and_values, label, is_new_figure):
    """Draw horizontal bars, the first on top, negative ones in another colour.

    ``texts_and_values`` is a list of (str, float), and ``label`` that of the axis. A
    new figure becomes as large as the bars need.
    """
    texts = [text for text, _ in texts_and_values]
    values = np.array([value for _, value in texts_and_values], dtype=float)
    colors = np.where(values < 0, COLORS[1], COLORS[0])
    bars = ax.barh(np.arange(len(texts)), values, color=colors)
    label_rows(ax, texts, label, is_new_figure)
    return bars


def label_rows(ax, texts, label, is_new_figure, row_height=0.35):
    """Write texts beside rows 0, 1, ... from top to bottom, and fit a new figure."""
    ax.set_yticks(range(len(texts)), texts)
    ax.invert_yaxis()
    ax.set_xlabel(label)
    if is_new_figure:
        longest = max(map(len, "\n".join(texts).splitlines()), default=0)
        ax.figure.set_size_inches(4.5 + 0.075 * longest, row_height * len(texts) + 1)
        ax.figure.set_layout_engine("constrained")


def grid_of_axes(n_grid_rows, n_columns, size):
    """Create a figure and its axes without ticks, of shape (n_grid_rows, n_columns).

    ``size`` is the length of a side of each axes in inches.
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
