"""DependenceDisplay: the pairs of columns that tell most about each other."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.feature_names import parse_name
from sklboolean._core.parameters import check_integer
from sklboolean.inspection._figure import draw_bars
from sklboolean.inspection._formulas import check_names


class DependenceDisplay:
    """Bar chart of the pairs of columns that tell most about each other.

    Parameters
    ----------
    pairs : list of (str, str, float)
        The names of two columns, and their mutual information in nats.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After ``plot``.
    figure_ : matplotlib Figure
        After ``plot``.
    bars_ : matplotlib BarContainer
        After ``plot``; the first pair is on top.

    See Also
    --------
    sklboolean.ChowLiuTree.mutual_information : The mutual information of all pairs.

    Examples
    --------
    >>> from sklboolean.inspection import DependenceDisplay
    >>> DependenceDisplay([("odor", "habitat", 0.5)]).pairs
    [('odor', 'habitat', 0.5)]
    """

    def __init__(self, pairs):
        self.pairs = list(pairs)

    @classmethod
    def from_estimator(cls, density, n_pairs=10, *, feature_names=None, ax=None):
        """Find the strongest pairs of a fitted density and draw them.

        Parameters
        ----------
        density : ChowLiuTree, BernoulliMixture, CombinationMachine, DensityMixture
            A fitted density of Boolean features.
        n_pairs : int, default=10
            Maximum number of pairs, at least 1.
        feature_names : sequence of str or None, default=None
            A name for each feature. None: the names that the density knows, or x0, x1,
            ... Features such as ``age <= 30`` and ``city = Rome`` stand for the columns
            age and city: of each two columns the two features count that tell most
            about each other, unless `feature_groups` made one attribute of a column.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : DependenceDisplay
            The drawn display.

        Raises
        ------
        ValueError
            For a wrong number of names.
        """
        check_is_fitted(density)
        check_integer(n_pairs, "n_pairs", 1)
        names = feature_names
        if names is None:
            names = getattr(density, "feature_names_in_", None)
        names = check_names(names, density.n_features_in_)
        columns = [parse_name(name).column for name in names]
        distinct = list(dict.fromkeys(columns))
        places = np.array([distinct.index(column) for column in columns])
        largest = np.zeros((len(distinct),) * 2)
        information = density.mutual_information()
        np.maximum.at(largest, (places[:, None], places), information)
        first, second = np.triu_indices(len(distinct), 1)
        order = np.argsort(-largest[first, second], kind="stable")[:n_pairs]
        pairs = [
            (distinct[i], distinct[j], float(largest[i, j]))
            for i, j in zip(first[order], second[order], strict=True)
        ]
        return cls(pairs).plot(ax=ax)

    def plot(self, ax=None) -> "DependenceDisplay":
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        self : DependenceDisplay
            The display, with ``ax_``, ``figure_`` and ``bars_``.
        """
        bars = [(f"{first}, {second}", value) for first, second, value in self.pairs]
        label = "mutual information (nats)"
        self.ax_, self.figure_, self.bars_ = draw_bars(bars, label, ax)
        return self
