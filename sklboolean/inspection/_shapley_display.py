"""Pictures of Shapley values: importance, one sample, all samples."""

import numpy as np
from scipy.stats import rankdata

from sklboolean._core.parameters import check_choice, check_integer
from sklboolean.inspection._figure import COLORS, Display, draw_bars, label_rows
from sklboolean.inspection._shapley_values import shapley_values

KINDS = ("importance", "waterfall", "beeswarm")
N_BINS = 80  # of a beeswarm: points of one bin lie beside each other
UNKNOWN = "0.6"  # grey
SCALE = COLORS[0], COLORS[3], COLORS[1]  # from low to high numbers


class ShapleyDisplay(Display):
    """Draw Shapley values: how much columns matter, or where a score comes from.

    Parameters
    ----------
    shapley : ShapleyValues
        From `shapley_values`.
    kind : {"importance", "waterfall", "beeswarm"}, default="importance"
        "importance": the mean absolute value of each column. "waterfall": from the mean
        score of the background to the score of one sample, column by column.
        "beeswarm": a point for each sample and column, coloured by the rank of the
        column's number; text and missing values are grey.
    sample : int, default=0
        Number of the sample of a waterfall.
    output : int, default=0
        Number of the output in ``shapley.output_names``.
    max_columns : int, default=12
        Maximum number of columns, at least 1; those with the largest values. In a
        waterfall one more bar sums up the others.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After ``plot``.

    See Also
    --------
    ExplanationDisplay : The conditions that hold, and their weights.

    Examples
    --------
    >>> from sklboolean import AveragedPerceptron
    >>> from sklboolean.inspection import ShapleyDisplay, shapley_values
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    >>> model = AveragedPerceptron(random_state=0).fit(X, y)
    >>> display = ShapleyDisplay(shapley_values(model, X), kind="waterfall")
    >>> display.kind
    'waterfall'
    """

    def __init__(
        self, shapley, *, kind="importance", sample=0, output=0, max_columns=12
    ):
        self.shapley = shapley
        self.kind = check_choice(kind, "kind", KINDS)
        self.sample = check_integer(sample, "sample", 0, len(shapley.values) - 1)
        n_outputs = len(shapley.output_names)
        self.output = check_integer(output, "output", 0, n_outputs - 1)
        self.max_columns = check_integer(max_columns, "max_columns", 1)

    @classmethod
    def from_estimator(
        cls, model, X, background=None, *, kind="importance", sample=0, output=0,
        max_columns=12, ax=None,
    ) -> "ShapleyDisplay":  # fmt: skip
        """Compute the values and draw them.

        Parameters
        ----------
        model : fitted estimator
            As for `shapley_values`.
        X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, as for `shapley_values`.
        background : {data frame, array-like, sparse matrix}, default=None
            As for `shapley_values`.
        kind : {"importance", "waterfall", "beeswarm"}, default="importance"
            As for the class.
        sample, output : int, default=0
            As for the class.
        max_columns : int, default=12
            As for the class.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : ShapleyDisplay
        """
        shapley = shapley_values(model, X, background)
        display = cls(
            shapley, kind=kind, sample=sample, output=output, max_columns=max_columns
        )
        return display.plot(ax=ax)

    def _draw(self, is_new_figure):
        values, base = np.asarray(self.shapley.values), self.shapley.base_values
        if values.ndim == 3:
            values, base = values[:, :, self.output], base[self.output]
        if self.kind == "importance":
            self._draw_importance(values, is_new_figure)
        elif self.kind == "waterfall":
            self._draw_waterfall(values[self.sample], base, is_new_figure)
        else:
            self._draw_beeswarm(values, is_new_figure)

    def _largest(self, sizes):
        """Choose the columns with the largest sizes that are not 0."""
        order = np.argsort(-sizes, kind="stable")[: self.max_columns]
        return order[sizes[order] > 0]

    def _label(self):
        return self.shapley.output_names[self.output]

    def _draw_importance(self, values, is_new_figure):
        means = np.abs(values).mean(axis=0)
        names = self.shapley.feature_names
        bars = [(names[j], means[j]) for j in self._largest(means)]
        label = f"mean absolute Shapley value, of the {self._label()}"
        draw_bars(self.ax_, bars, label, is_new_figure)

    def _draw_waterfall(self, values, base, is_new_figure):
        ax, columns = self.ax_, self._largest(np.abs(values))
        bars = [(self._text(j), values[j]) for j in columns]
        n_others = np.count_nonzero(values) - len(columns)
        if n_others:
            others = values.sum() - values[columns].sum()
            bars.append((f"{n_others} more", others))
        drawn = draw_bars(ax, bars, self._label(), is_new_figure)
        # Bars begin at the score and step back to the base value, the largest one
        # first.
        score = end = base + values.sum()
        for bar, (_, value) in zip(drawn, bars, strict=True):
            bar.set_x(end - value)
            right, middle = max(end, end - value), bar.get_y() + bar.get_height() / 2
            ax.annotate(short_text(value, "+.2g"), (right, middle), **BESIDE)
            if bar is not drawn[-1]:
                line = [middle, middle + 1]
                ax.plot([end - value] * 2, line, color="0.5", linewidth=0.8)
            end -= value
        ax.axvline(base, color="0.5", linestyle=":")
        ax.axvline(score, color="black", linestyle="--")
        ax.set_ylim(max(1, len(bars)) - 0.5, -0.5)
        # Bars were moved after they were drawn: fit the axis again.
        ax.relim()
        ax.margins(x=0.16)
        ax.autoscale_view(scaley=False)
        ax.set_title(f"{short_text(base)} on average, {short_text(score)} here")

    def _text(self, column):
        """Name a column with the value that the sample of a waterfall has in it."""
        name, data = self.shapley.feature_names[column], self.shapley.data
        if data is None:
            return name
        value = data[self.sample, column]
        return f"{name} = {short_text(value, '.4g') if is_number(value) else value}"

    def _draw_beeswarm(self, values, is_new_figure):
        ax, columns = self.ax_, self._largest(np.abs(values).mean(axis=0))
        # Samples whose values fall in one bin lie above each other.
        width = np.ptp(values) / N_BINS or 1.0
        for row, column in enumerate(columns):
            heights = row + swarm_offsets(values[:, column], width)
            colors = self._colors(column, len(values))
            ax.scatter(values[:, column], heights, s=9, linewidths=0, color=colors)
        ax.axvline(0, color="0.5", linewidth=0.8)
        names = [self.shapley.feature_names[j] for j in columns]
        label = f"Shapley value, of the {self._label()}"
        label_rows(ax, names, label, is_new_figure, row_height=0.5)
        ax.set_ylim(max(1, len(columns)) - 0.5, -0.5)
        ax.set_title(
            "blue: low number, orange: high number, grey: text or missing", fontsize=9
        )

    def _colors(self, column, n_samples):
        """Colour the samples by the rank of their number in a column."""
        from matplotlib.colors import LinearSegmentedColormap

        data = None if self.shapley.data is None else self.shapley.data[:, column]
        if data is None or not all(map(is_number, data)):
            return [UNKNOWN] * n_samples
        numbers = data.astype(np.float64)
        # Ranks, so that one extreme number does not take all colours.
        ranks = rankdata(numbers, method="dense", nan_policy="omit") - 1
        scale = LinearSegmentedColormap.from_list("ranks", SCALE)
        scale = scale.with_extremes(bad=UNKNOWN)
        return scale(ranks / np.nanmax(ranks, initial=1))


# Values stand right of their bars.
BESIDE = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "size": 8}


def is_number(value):
    """Test for a number, of Python or numpy."""
    return isinstance(value, int | float | np.number | np.bool_)


def short_text(value, form=".3g"):
    """Write a number in few digits, without a power of ten below a million million."""
    text = format(value, form)
    return text if "e+" not in text or abs(value) >= 1e12 else f"{value:{form[:-3]}.0f}"


def swarm_offsets(values, width):
    """Place points with nearly equal values beside each other, within 0.4 of 0.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    width : float
        Width of the bins whose points lie side by side.

    Returns
    -------
    offsets : ndarray of shape (n_samples,), float64
    """
    bins = np.floor((values - values.min()) / width).astype(np.int64)
    # Number the points of each bin: 0, 1, 2, ... in the order of the samples.
    order = np.argsort(bins, kind="stable")
    starts = np.searchsorted(bins[order], bins[order])
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.arange(len(values)) - starts
    # 0, -1, 1, -2, 2, ...: on both sides of the row in turn.
    sides = np.where(ranks % 2, -(ranks + 1) // 2, ranks // 2).astype(np.float64)
    return sides * 0.4 / max(4.0, np.abs(sides).max(initial=0.0))
