"""Groups of samples in which a number differs, and how sure that is."""

import textwrap
from dataclasses import dataclass

import numpy as np

from sklboolean._core.bits import PackedBits, as_words
from sklboolean._core.data_errors import check_n_features
from sklboolean._core.exports import import_pandas
from sklboolean._core.formula import Columns, FirstRule
from sklboolean._core.formulas import conjunction_text
from sklboolean._core.sql_code import sql_code
from sklboolean._core.validation import check_boolean_array
from sklboolean.inspection._figure import COLORS, Display, label_rows
from sklboolean.preprocessing._frames import as_table
from sklboolean.rules._gain_search import first_satisfied


@dataclass(frozen=True)
class Subgroups:
    """Conjunctions of conditions in which the mean of a number differs.

    Each group consists of the samples that satisfy its conditions and belong to no
    group before it. Its numbers are those of these samples, beside all others that
    belong to no group before it.

    Parameters
    ----------
    conjunctions : list of tuple of (int, bool)
        Boolean features of each group, with the value that they must have.
    columns : dict of str to ndarray of shape (n_groups,)
        The numbers of each group; see `to_frame`.
    feature_names : list of str
        Names of the Boolean features.
    encoder : BooleanEncoder or None
        What made them of the columns of X. None: X holds bits.

    Attributes
    ----------
    texts : list of str
        The conditions of each group, such as ``"16 < age <= 44.5 and not ill"``.

    See Also
    --------
    find_subgroups : Find them.
    SubgroupsDisplay : Draw them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.inspection import Subgroups
    >>> columns = {"size": np.array([40]), "p_value": np.array([0.01])}
    >>> groups = Subgroups([((0, True), (1, False))], columns, ["old", "ill"], None)
    >>> groups.texts
    ['old and not ill']
    >>> groups.assign(np.array([[1, 0], [1, 1]])).tolist()
    [1, 0]
    """

    conjunctions: list
    columns: dict
    feature_names: list
    encoder: object

    @property
    def texts(self):
        """The conditions of each group as text."""
        return [conjunction_text(c, self.feature_names) for c in self.conjunctions]

    def _formula(self):
        columns = Columns(len(self.feature_names), self.feature_names)
        numbers = list(range(1, len(self.conjunctions) + 1))
        return FirstRule(columns, self.conjunctions, numbers, 0)

    def assign(self, X) -> np.ndarray:
        """Find the group of each sample.

        Parameters
        ----------
        X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
            Samples with the columns of those that were searched.

        Returns
        -------
        groups : ndarray of shape (n_samples,), int
            Numbers from 1, in the order of the groups. 0: none.

        Raises
        ------
        ValueError
            For invalid data, and another number of features.
        """
        if self.encoder is not None:
            X = self.encoder.transform(X)
        X = X if isinstance(X, PackedBits) else as_table(X)
        words, n_features = check_boolean_array(X, "X", None)
        n_known = len(self.feature_names)
        check_n_features(n_features, n_known, "the groups were found among")
        first = first_satisfied(as_words(words), self.conjunctions)
        return (first + 1) % (len(self) + 1)  # no group is 0

    def to_frame(self):
        """Make a data frame with a row for each group.

        Returns
        -------
        frame : pandas.DataFrame
            "conditions" as text, and "n_conditions". For the samples that were
            searched: "size", the "mean" of the target, "mean_of_others", the "score" by
            which the group was chosen, and "p_value". For the held-out samples:
            "held_out_size", the "difference" of the mean to that of the others, within
            strata, and "low" and "high", the 95 % interval of the difference; NaN where
            there are fewer than two samples on a side.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        lengths = [len(literals) for literals in self.conjunctions]
        texts = {"conditions": self.texts, "n_conditions": lengths}
        return import_pandas().DataFrame({**texts, **self.columns})

    def to_text(self) -> str:
        """Write a line for each group.

        Returns
        -------
        text : str
        """
        values = [column.tolist() for column in self.columns.values()]
        lines = []
        for number, text in enumerate(self.texts):
            group = dict(zip(self.columns, (v[number] for v in values), strict=True))
            lines.append(
                f"{number + 1}. {text}: {group['size']} samples, mean "
                f"{group['mean']:.4g} beside {group['mean_of_others']:.4g}, "
                f"p = {group['p_value']:.3g}"
            )
            if group["low"] == group["low"]:
                lines[-1] += (
                    f"; {group['held_out_size']} held out, difference "
                    f"{group['difference']:.3g} ({group['low']:.3g} to "
                    f"{group['high']:.3g})"
                )
        return "\n".join(lines) or "no group"

    def to_sql(self, feature_names=None, *, dialect=None) -> str:
        """Write the number of the group in SQL, for ``SELECT ... FROM table AS f``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            Names of the columns of the table in the database, for each column of X.
            None: those of X, or x0, x1, ...
        dialect : str or None, default=None
            "duckdb", "postgresql", "sqlite", "bigquery", "mysql" or "spark". None: what
            the first three have in common.

        Returns
        -------
        sql : str
            An expression: the number of the group from 1, or 0.

        Raises
        ------
        ValueError
            When a name or level cannot be quoted, or two names are the same for the
            database.
        """
        return sql_code(self._formula(), feature_names, "label", self.encoder, dialect)

    def __len__(self):
        return len(self.conjunctions)

    def __repr__(self):
        return self.to_text()


class SubgroupsDisplay(Display):
    """Draw the difference that each group makes on held-out samples.

    A point is the difference of the means, its line the 95 % interval. Without held-out
    samples it is the difference in the samples that were searched, which is too large
    on average, and has no line.

    Parameters
    ----------
    subgroups : Subgroups
        From `find_subgroups` or `model_errors`.
    target_name : str, default="target"
        Name of the numbers, for the label of the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.

    See Also
    --------
    find_subgroups : Find the groups.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean.inspection import SubgroupsDisplay, find_subgroups
    >>> X = np.random.default_rng(0).random((200, 5)) < 0.5
    >>> found = find_subgroups(X, X[:, 0] & X[:, 1], random_state=0)
    >>> SubgroupsDisplay(found, target_name="error").target_name
    'error'
    """

    def __init__(self, subgroups, *, target_name="target"):
        self.subgroups = subgroups
        self.target_name = target_name

    def _draw(self, is_new_figure):
        columns, ax = self.subgroups.columns, self.ax_
        held_out = columns["difference"]
        searched = columns["mean"] - columns["mean_of_others"]
        is_held_out = np.isfinite(held_out)
        points = np.where(is_held_out, held_out, searched)
        rows = np.arange(len(points))
        ax.hlines(rows, columns["low"], columns["high"], color=COLORS[0])
        for chosen, face in ((is_held_out, COLORS[0]), (~is_held_out, "none")):
            style = {"edgecolors": COLORS[0], "facecolors": face, "zorder": 2}
            ax.scatter(points[chosen], rows[chosen], **style)
        ax.axvline(0, color="0.5", linewidth=0.8)
        texts = [
            textwrap.fill(f"{text} (p = {p_value:.2g})", 36, break_long_words=False)
            for text, p_value in zip(
                self.subgroups.texts, columns["p_value"], strict=True
            )
        ]
        label = f"{self.target_name}: difference to the other samples"
        label_rows(ax, texts, label, is_new_figure, row_height=0.7)
        ax.set_ylim(max(1, len(points)) - 0.5, -0.5)
