"""Displays of images: Hinton diagrams of weights, and completed inputs."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import grid_of_axes, import_pyplot

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


class CompletionDisplay:
    """Pictures with erased pixels, completed, and as they were.

    Parameters
    ----------
    erased : ndarray of shape (n_samples, n_features)
        Pixels; NaN where erased (drawn in blue).
    completed : ndarray of shape (n_samples, n_features)
        The same rows without NaN.
    image_shape : tuple of (height, width)
        How the features lie.
    original : ndarray of shape (n_samples, n_features) or None, default=None
        The rows as they were, when they are known.

    Attributes
    ----------
    axes_ : ndarray of shape (2 or 3, n_samples) of matplotlib Axes
        After ``plot``: erased, completed, original.
    figure_ : matplotlib Figure
        After ``plot``.

    See Also
    --------
    WeightsDisplay : The weights of the model.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.inspection import CompletionDisplay
    >>> display = CompletionDisplay(
    ...     np.array([[1, 0, np.nan, np.nan]]), np.array([[1, 0, 1, 0]]), (2, 2)
    ... )
    >>> display.image_shape
    (2, 2)
    """

    def __init__(self, erased, completed, image_shape, *, original=None):
        self.erased = erased
        self.completed = completed
        self.image_shape = image_shape
        self.original = original

    @classmethod
    def from_estimator(
        cls, estimator, X, *, image_shape, method="mean", X_original=None,
        random_state=None,
    ):  # fmt: skip
        """Complete erased rows with a fitted model and draw them.

        Parameters
        ----------
        estimator : CombinationMachine, BernoulliMixture or ChowLiuTree
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Rows with NaN where pixels are erased.
        image_shape : tuple of (height, width)
            How the features lie.
        method : {"mean", "map", "sample"}, default="mean"
            How ``impute`` fills them in.
        X_original : array-like of shape (n_samples, n_features), default=None
            The rows before, for comparison.
        random_state : int, RandomState instance or None, default=None
            For "sample".

        Returns
        -------
        display : CompletionDisplay
            Drawn.

        Raises
        ------
        ValueError
            If ``image_shape`` does not hold the features.
        """
        check_is_fitted(estimator)
        erased = np.asarray(X, dtype=float)
        completed = estimator.impute(erased, method=method, random_state=random_state)
        display = cls(erased, np.asarray(completed), image_shape, original=X_original)
        return display.plot()

    def plot(self):
        """Draw the rows in a new figure, side by side.

        Returns
        -------
        self : CompletionDisplay
            With ``axes_`` and ``figure_``.

        Raises
        ------
        ValueError
            If ``image_shape`` does not hold the features, or if there are other rows
            in ``completed`` or ``original``.
        """
        erased = np.asarray(self.erased, dtype=float)
        shape = check_image_shape(self.image_shape, erased.shape[1])
        strips = {"erased": erased, "completed": np.asarray(self.completed, float)}
        if self.original is not None:
            strips["original"] = np.asarray(self.original, dtype=float)
        for name, strip in strips.items():
            if strip.shape != erased.shape:
                raise ValueError(
                    f"The {name} rows have shape {strip.shape}; the erased ones have "
                    f"{erased.shape}."
                )
        low = min(np.nanmin(strip) for strip in strips.values())
        high = max(np.nanmax(strip) for strip in strips.values())
        colors = import_pyplot().get_cmap("gray_r").with_extremes(bad="#56B4E9")
        self.figure_, self.axes_ = grid_of_axes(len(strips), len(erased), 1.0)
        for axes, (name, strip) in zip(self.axes_, strips.items(), strict=True):
            axes[0].set_ylabel(name)
            for ax, row in zip(axes, strip, strict=True):
                ax.imshow(row.reshape(shape), cmap=colors, vmin=low, vmax=high)
        return self
