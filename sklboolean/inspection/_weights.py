"""Displays of images: Hinton diagrams of weights, and completed inputs."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import grid_of_axes, import_pyplot

LARGEST_SIDE = 0.9  # side of a square, so that neighbours do not touch


def check_image_shape(image_shape, n_features):
    """Check image_shape and return (height, width); (1, n_features) for None."""
    if image_shape is None:
        return 1, n_features
    shape = np.asarray(image_shape)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise ValueError(
            f"image_shape must be (height, width), two integers; got {image_shape!r}."
        )
    height, width = shape.tolist()
    if height * width != n_features:
        raise ValueError(
            f"image_shape must have {n_features} pixels, one for each feature; got "
            f"({height}, {width}) with {height * width} pixels."
        )
    return height, width


class WeightsDisplay:
    """Draw weights as Hinton diagrams: white squares above zero, black ones below.

    The area of a square is proportional to the absolute value of the weight.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        Weights, one diagram for each component.
    image_shape : tuple of (height, width) or None, default=None
        Layout of the features as an image. None: all in one row.
    titles : list of str or None, default=None
        A title for each diagram. None: no titles.
    feature_names : list of str or None, default=None
        Written below the features if they are drawn in one row. None: no names.

    Attributes
    ----------
    axes_ : ndarray of shape (n_grid_rows, n_columns) of matplotlib Axes
        The axes. Set by ``plot``.
    figure_ : matplotlib Figure
        The figure. Set by ``plot``.

    See Also
    --------
    CompletionDisplay : Incomplete samples, and the values that a model fills in.

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
            Fitted model. A ``hidden_bias_`` is written above each diagram, and
            ``feature_names_in_`` below features in one row.
        image_shape : tuple of (height, width) or None, default=None
            Layout of the features as an image. None: all in one row.
        n_columns : int, default=5
            Number of diagrams side by side, at least 1.

        Returns
        -------
        display : WeightsDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "components_"):
            raise ValueError(
                "estimator must have components_ to draw, such as a "
                f"CombinationMachine; got a {type(estimator).__name__}."
            )
        titles = None
        if hasattr(estimator, "hidden_bias_"):
            titles = [f"bias {bias:z.1f}" for bias in estimator.hidden_bias_]
        names = getattr(estimator, "feature_names_in_", None)
        texts = {"titles": titles, "feature_names": names}
        display = cls(estimator.components_, image_shape=image_shape, **texts)
        return display.plot(n_columns=n_columns)

    def plot(self, n_columns=5) -> "WeightsDisplay":
        """Draw the diagrams in a new figure.

        Parameters
        ----------
        n_columns : int, default=5
            Number of diagrams side by side, at least 1.

        Returns
        -------
        self : WeightsDisplay
            The display, with ``axes_`` and ``figure_``.
        """
        n_components, n_features = self.components.shape
        height, width = check_image_shape(self.image_shape, n_features)
        check_scalar(n_columns, "n_columns", Integral, min_val=1)
        n_columns = min(n_columns, n_components) if height > 1 else 1
        n_grid_rows = -(-n_components // n_columns)
        self.figure_, self.axes_ = grid_of_axes(n_grid_rows, n_columns, 1.6)
        named = height == 1 and self.feature_names is not None
        # Features in one row: a flat figure, with space for the names below.
        if height == 1:
            longest = max(map(len, self.feature_names)) if named else 0
            inches = 0.55 * n_grid_rows + 0.3 + 0.08 * longest
            self.figure_.set_size_inches(0.22 * width + 1, inches)
        # One scale for all diagrams: the largest weight fills its square.
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
                range(width), self.feature_names, rotation=90, fontsize=9
            )
        return self


def _draw_squares(ax, weights):
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    height, width = weights.shape
    # The area is proportional to the weight, so the side to its root.
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
    """Draw images with erased pixels, their completions, and the originals.

    Parameters
    ----------
    erased : ndarray of shape (n_samples, n_features)
        Images with NaN where pixels are erased; these are drawn in blue.
    completed : ndarray of shape (n_samples, n_features)
        The same images without NaN.
    image_shape : tuple of (height, width)
        Layout of the features as an image.
    original : ndarray of shape (n_samples, n_features) or None, default=None
        The complete images. None: not drawn.

    Attributes
    ----------
    axes_ : ndarray of shape (2 or 3, n_samples) of matplotlib Axes
        The axes of erased, completed and original images. Set by ``plot``.
    figure_ : matplotlib Figure
        The figure. Set by ``plot``.

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
    ) -> "CompletionDisplay":  # fmt: skip
        """Complete images with a fitted model and draw them.

        Parameters
        ----------
        estimator : CombinationMachine, BernoulliMixture or ChowLiuTree
            Fitted density model.
        X : array-like of shape (n_samples, n_features)
            Images with NaN where pixels are erased.
        image_shape : tuple of (height, width)
            Layout of the features as an image.
        method : {"mean", "map", "sample"}, default="mean"
            Method of ``impute``: conditional mean, most probable completion, or a
            random draw.
        X_original : array-like of shape (n_samples, n_features), default=None
            The complete images, for comparison. None: not drawn.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws of "sample". An int makes the result reproducible.

        Returns
        -------
        display : CompletionDisplay
        """
        check_is_fitted(estimator)
        erased = np.asarray(X, dtype=float)
        completed = estimator.impute(erased, method=method, random_state=random_state)
        display = cls(erased, np.asarray(completed), image_shape, original=X_original)
        return display.plot()

    def plot(self) -> "CompletionDisplay":
        """Draw the images in a new figure, side by side.

        Returns
        -------
        self : CompletionDisplay
            The display, with ``axes_`` and ``figure_``.
        """
        erased = np.asarray(self.erased, dtype=float)
        shape = check_image_shape(self.image_shape, erased.shape[1])
        strips = {"erased": erased, "completed": np.asarray(self.completed, float)}
        if self.original is not None:
            strips["original"] = np.asarray(self.original, dtype=float)
        for name, strip in strips.items():
            if strip.shape != erased.shape:
                raise ValueError(
                    f"{name} must have the shape of erased, {erased.shape}; got "
                    f"{strip.shape}."
                )
        low = min(np.nanmin(strip) for strip in strips.values())
        high = max(np.nanmax(strip) for strip in strips.values())
        # Erased pixels are NaN, which is drawn in blue.
        colors = import_pyplot().get_cmap("gray_r").with_extremes(bad="#56B4E9")
        self.figure_, self.axes_ = grid_of_axes(len(strips), len(erased), 1.0)
        for axes, (name, strip) in zip(self.axes_, strips.items(), strict=True):
            axes[0].set_ylabel(name)
            for ax, image in zip(axes, strip, strict=True):
                ax.imshow(image.reshape(shape), cmap=colors, vmin=low, vmax=high)
        return self
