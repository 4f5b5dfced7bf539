"""Weights as squares: Hinton diagrams."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import grid_of_axes

LARGEST_SIDE = 0.9  # of a square, so that neighbours do not touch


def check_image_shape(image_shape, n_features):
    """Return (height, width); a single row of squares when None."""
    if image_shape is None:
        return 1, n_features
    shape = np.asarray(image_shape)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise ValueError(f"image_shape must be (height, width); got {image_shape!r}.")
    height, width = shape.tolist()
    if height * width != n_features:
        raise ValueError(
            f"image_shape=({height}, {width}) has {height * width} pixels; there are "
            f"{n_features} features."
        )
    return height, width


class WeightsDisplay:
    """Hinton diagrams: each weight a square, white above zero, black below.

    The side of a square grows with the square root of the size of its weight: areas
    compare.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        Weights, a row for each diagram.
    image_shape : tuple of (height, width) or None, default=None
        How the features lie. None: in one row.
    titles : list of str or None, default=None
        One for each diagram.
    feature_names : list of str or None, default=None
        Written below the features when they lie in one row.

    Attributes
    ----------
    axes_ : ndarray of shape (n_samples, n_columns) of matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
        After ``plot``.

    See Also
    --------
    CompletionDisplay : Erased inputs and what a model fills in.

    Examples
    --------
    >>> from sklboolean.inspection import WeightsDisplay
    >>> WeightsDisplay([[2.0, -1.0, 0.0, 0.5]], image_shape=(2, 2)).components.shape
    (1, 4)
    """

    def __init__(
        self, components, *, image_shape=None, titles=None, feature_names=None
    ):
        self.components = np.atleast_2d(np.asarray(components, dtype=float))
        self.image_shape = image_shape
        self.titles = titles
        self.feature_names = feature_names

    @classmethod
    def from_estimator(cls, estimator, *, image_shape=None, n_columns=5):
        """Draw the weights of a fitted model.

        Parameters
        ----------
        estimator : CombinationMachine or any model with ``components_``
            Fitted. A ``hidden_bias_`` is written above each diagram, and
            ``feature_names_in_`` below features in one row.
        image_shape : tuple of (height, width) or None, default=None
            How the features lie. None: in one row.
        n_columns : int, default=5
            Diagrams side by side.

        Returns
        -------
        display : WeightsDisplay
            Drawn.

        Raises
        ------
        ValueError
            If ``image_shape`` does not hold the features.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "components_"):
            name = type(estimator).__name__
            raise ValueError(f"{name} has no components_ that could be drawn.")
        titles = None
        if hasattr(estimator, "hidden_bias_"):
            titles = [f"bias {bias:z.1f}" for bias in estimator.hidden_bias_]
        names = getattr(estimator, "feature_names_in_", None)
        display = cls(
            estimator.components_, image_shape=image_shape, titles=titles,
            feature_names=names,
        )  # fmt: skip
        return display.plot(n_columns=n_columns)

    def plot(self, n_columns=5):
        """Draw the diagrams in a new figure.

        Parameters
        ----------
        n_columns : int, default=5
            Diagrams side by side.

        Returns
        -------
        self : WeightsDisplay
            With ``axes_`` and ``figure_``.

        Raises
        ------
        ValueError
            If ``image_shape`` does not hold the features.
        """
        n_components, n_features = self.components.shape
        height, width = check_image_shape(self.image_shape, n_features)
        check_scalar(n_columns, "n_columns", Integral, min_val=1)
        n_columns = min(n_columns, n_components) if height > 1 else 1
        n_samples = -(-n_components // n_columns)
        self.figure_, self.axes_ = grid_of_axes(n_samples, n_columns, 1.6)
        named = height == 1 and self.feature_names is not None
        if height == 1:
            longest = max(map(len, self.feature_names)) if named else 0
            inches = 0.45 * n_samples + 0.3 + 0.06 * longest
            self.figure_.set_size_inches(0.16 * width + 1, inches)
        largest = np.abs(self.components).max() or 1.0
        for k, ax in enumerate(self.axes_.ravel()):
            if k >= n_components:
                ax.set_axis_off()
                continue
            _draw_squares(ax, self.components[k].reshape(height, width) / largest)
            if self.titles is not None:
                ax.set_title(self.titles[k], fontsize=8)
        if named:
            self.axes_[-1, 0].set_xticks(
                range(width), self.feature_names, rotation=90, fontsize=7
            )
        return self


def _draw_squares(ax, weights):
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    height, width = weights.shape
    sides = LARGEST_SIDE * np.sqrt(np.abs(weights))
    for sign, color in ((1, "white"), (-1, "black")):
        squares = [
            Rectangle((x - sides[y, x] / 2, y - sides[y, x] / 2), *[sides[y, x]] * 2)
            for y, x in np.argwhere(sign * weights > 0)
        ]
        ax.add_collection(PatchCollection(squares, facecolor=color, edgecolor="none"))
    ax.set(xlim=(-0.6, width - 0.4), ylim=(height - 0.4, -0.6), aspect="equal")
    ax.set_facecolor("0.6")
