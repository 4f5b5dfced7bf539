"""Erased inputs, and what a density model fills in."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean.inspection._figure import grid_of_axes, import_pyplot
from sklboolean.inspection._weights import check_image_shape


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
