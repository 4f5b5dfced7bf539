"""Attributes with several values, forests of them, and mixtures of such forests.

A column is an attribute with the values false and true. Columns of one group are the
values of one attribute: exactly one of them is true. Sums over all values of attributes
that form a forest are exact: messages are passed along its edges.
"""

# An attribute is a column (values false and true) or a group of columns (one value for
# each). The values of all attributes are numbered one after the other: arrays "by
# value" have n_values = sum of the sizes as one axis, and `Attributes.slices` finds the
# values of an attribute in it.
#
# Steps of a sum over all samples that agree with what is known:
# 1. `allowed`: which values agree with the known bits, (n_samples, n_values), bool.
# 2. `upward`: from the leaves to the roots, each attribute sends its parent the log of
#    the sum over its own values, for each value of the parent.
# 3. `downward`: from the roots to the leaves, the probability of each value, and of
#    pairs along the edges. `draw` goes the same way with random numbers.
#
# Invariant: an attribute always has a value that is allowed, so no sum is empty.

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp, xlogy

from sklboolean._core.conjunction_search import encode_groups
from sklboolean.density._spanning_tree import maximum_spanning_tree, parents_first

CELLS_AT_A_TIME = 2**17  # values of a block of samples, times components
MAX_EXPONENT = 300.0  # of exp: products of two factors and their quotients are finite


@dataclass(frozen=True)
class Attributes:
    """The attributes of a data set and their values.

    Attributes
    ----------
    of_column : ndarray of shape (n_features,), dtype int64
        Number of the attribute of each column.
    """

    of_column: np.ndarray

    def __getstate__(self):
        return {"of_column": self.of_column}

    @classmethod
    def from_labels(cls, feature_groups, n_features):
        """Number the attributes; a label that occurs once is a column of its own."""
        return cls(encode_groups(feature_groups, n_features).astype(np.int64))

    @cached_property
    def n_columns(self):
        """Number of columns of each attribute."""
        return np.bincount(self.of_column)

    @cached_property
    def grouped(self):
        """Whether the attribute is a group of several columns."""
        return self.n_columns > 1

    @cached_property
    def columns(self):
        """Columns, attribute by attribute."""
        return np.argsort(self.of_column, kind="stable")

    @cached_property
    def first_columns(self):
        """Place of the first column of each attribute in ``columns``."""
        return np.cumsum(self.n_columns) - self.n_columns

    @cached_property
    def sizes(self):
        """Number of values of each attribute: 2, or one for each column of a group."""
        return np.where(self.grouped, self.n_columns, 2)

    @cached_property
    def first_values(self):
        """Number of the first value of each attribute among all values."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def slices(self):
        """Slice of the values of each attribute among all values."""
        ends = np.cumsum(self.sizes).tolist()
        sizes = self.sizes.tolist()
        return [slice(end - k, end) for end, k in zip(ends, sizes, strict=True)]

    @cached_property
    def true_values(self):
        """Value at which each column is true, among all values."""
        starts = self.first_values
        values = np.empty(len(self.of_column), dtype=np.int64)
        number = self.of_column[self.columns]
        rank = np.arange(len(number)) - self.first_columns[number]
        values[self.columns] = starts[number] + np.where(self.grouped[number], rank, 1)
        return values

    def value_signs(self, attribute):
        """Return the signs of the columns of an attribute, a row for each value."""
        if self.grouped[attribute]:
            return 2 * np.eye(self.n_columns[attribute]) - 1
        return np.array([[-1.0], [1.0]])

    def columns_of(self, attribute):
        """List the columns of an attribute."""
        first = self.first_columns[attribute]
        return self.columns[first : first + self.n_columns[attribute]]

    def _per_attribute(self, of_columns):
        """Sum up small numbers over the columns of each attribute."""
        ordered = of_columns.T[self.columns]  # loops over samples are the long ones
        dtype = np.int32 if of_columns.dtype.kind == "b" else None
        return np.add.reduceat(ordered, self.first_columns, axis=0, dtype=dtype).T

    def complete(self, signs):
        """Complete groups with a known true bit, or with one bit that is not false."""
        true = self._per_attribute(signs > 0)
        false = self._per_attribute(signs < 0)
        decided = self.grouped & (true == 1)
        implied = self.grouped & (true == 0) & (false == self.n_columns - 1)
        # At most one of both holds.
        values = np.subtract(implied, decided, dtype=signs.dtype)[:, self.of_column]
        return np.where(signs == 0, values, signs)

    def impossible(self, signs):
        """Find groups with two true bits, or with none among known bits only.

        Returns
        -------
        impossible : ndarray of shape (n_samples, n_attributes), dtype bool
        """
        true = self._per_attribute(signs > 0)
        false = self._per_attribute(signs < 0)
        return self.grouped & ((true > 1) | (false == self.n_columns))

    def allowed(self, signs):
        """Find the values that agree with the known bits.

        Parameters
        ----------
        signs : ndarray of shape (n_samples, n_features)
            0 where a bit is missing.

        Returns
        -------
        allowed : ndarray of shape (n_samples, n_values), dtype bool
        """
        allowed = np.ones((len(signs), self.sizes.sum()), dtype=bool)
        true = self._per_attribute(signs > 0)[:, self.of_column]
        alone = ~self.grouped[self.of_column]
        allowed[:, self.true_values[alone] - 1] = signs[:, alone] <= 0
        allowed[:, self.true_values] = (signs >= 0) & (alone | (true == (signs > 0)))
        return allowed

    def spread(self, fields):
        """Compute the exponent of each value from a field for the sign of each column.

        Parameters
        ----------
        fields : ndarray of shape (n_states, n_features)

        Returns
        -------
        exponents : ndarray of shape (n_states, n_values), dtype float64
        """
        all_false = -self._per_attribute(fields)
        exponents = np.repeat(all_false, self.sizes, axis=1)
        exponents[:, self.true_values] += 2 * fields
        return exponents

    def to_signs(self, values):
        """Convert the number of the value of each attribute to signs of columns.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_attributes), dtype int64
            Each counted from 0.
        """
        chosen = (values + self.first_values)[:, self.of_column]
        return np.where(chosen == self.true_values, 1, -1).astype(np.int8)

    def mutual_information(self, counts, alpha=0.0):
        """Compute the mutual information of all pairs of attributes.

        Parameters
        ----------
        counts : ndarray of shape (n_values, n_values)
            Counts of each pair of values. Symmetric.
        alpha : float
            Weight of the uniform distribution that is added to each pair.

        Returns
        -------
        information : ndarray of shape (n_attributes, n_attributes), dtype float64
            In nats. Symmetric, not negative, 0 on the diagonal.
        """
        starts, sizes = self.first_values, self.sizes
        per_value = np.repeat(sizes, sizes)

        def total(array, axis):
            return np.add.reduceat(array, starts, axis=axis)

        def expand(array, axis):
            return np.repeat(array, sizes, axis=axis)

        joint = counts + alpha / np.outer(per_value, per_value)
        joint /= expand(expand(total(total(counts, 0), 1) + alpha, 0), 1)
        first, second = expand(total(joint, 1), 1), expand(total(joint, 0), 0)
        terms = xlogy(joint, joint) - xlogy(joint, first * second)
        information = total(total(terms, 0), 1)
        information = (information + information.T) / 2
        np.fill_diagonal(information, 0.0)
        return np.maximum(information, 0.0)

    def parents_of(self, gains):
        """Find a tree of attributes and give each column a parent column.

        Parameters
        ----------
        gains : ndarray of shape (n_features, n_features)
            From an edge between two columns. Symmetric.

        Returns
        -------
        parents : ndarray of shape (n_features,), dtype int64
            The column of the parent attribute with the largest gain; -1 at the root.
        """
        n = len(self.of_column)
        ordered = gains[np.ix_(self.columns, self.columns)]
        best = np.maximum.reduceat(ordered, self.first_columns, axis=1)
        totals = np.add.reduceat(best, self.first_columns, axis=0)
        of_attributes = maximum_spanning_tree(totals + totals.T)
        above = of_attributes[self.of_column]
        among = np.where(self.of_column == above[:, None], gains, -np.inf)
        return np.where(above < 0, -1, among.argmax(axis=1) if n else 0)


@dataclass(frozen=True)
class AttributeForest:
    """Attributes that depend on each other along the edges of a forest.

    Attributes
    ----------
    attributes : Attributes
    parents : ndarray of shape (n_attributes,), dtype int64
        -1 for a root.
    tables : list of ndarrays
        For each attribute the exponents of its values (second axis) with each value of
        its parent; of shape (1, n_values) and 0 for a root. Finite.
    """

    attributes: Attributes
    parents: np.ndarray
    tables: list

    @cached_property
    def order(self):
        """Attributes, parents before their children."""
        return parents_first(self.parents).tolist()

    def upward(self, exponents):
        """Sum over the values of all attributes, from the leaves to the roots.

        Parameters
        ----------
        exponents : ndarray of shape (n_cases, n_values), dtype float64
            Exponents of each value, besides the tables; -inf excludes a value, but not
            all values of an attribute.

        Returns
        -------
        log_sums : ndarray of shape (n_cases,)
        below : ndarray of shape (n_values, n_cases)
            Exponents with the messages of the children.
        messages : list of ndarrays of shape (n_values of the parent, n_cases)
        """
        below = np.array(exponents.T, order="C")  # loops over cases are the long ones
        messages, slices = [None] * len(self.parents), self.attributes.slices
        log_sums = np.zeros(len(exponents))
        for attribute in self.order[::-1]:
            logs, parent = below[slices[attribute]], self.parents[attribute]
            message = _message(self.tables[attribute], logs)
            if parent < 0:
                log_sums += message[0]
                continue
            messages[attribute] = message
            below[slices[parent]] += message
        return log_sums, below, messages

    def downward(self, below, messages, weights=None):
        """Compute the probability of each value, from the roots to the leaves.

        Parameters
        ----------
        below, messages
            From ``upward``.
        weights : ndarray of shape (n_cases,) or None
            Weights of the cases, to sum up pairs.

        Returns
        -------
        marginals : ndarray of shape (n_values, n_cases)
        pairs : list of ndarrays, or None without weights
            Like ``tables``: the weighted sum over cases of the probability of each
            value together with each value of the parent.
        """
        marginals, slices = np.empty_like(below), self.attributes.slices
        pairs = None if weights is None else [None] * len(self.parents)
        for attribute in self.order:
            here, parent = slices[attribute], self.parents[attribute]
            logs = below[here]
            top = logs.max(axis=0)
            shares = np.exp(logs - top)
            if parent < 0:
                marginals[here] = shares / shares.sum(axis=0)
                if weights is not None:
                    pairs[attribute] = (marginals[here] @ weights)[None]
                continue
            table, message = self.tables[attribute], messages[attribute]
            if np.abs(table).max() > MAX_EXPONENT:  # products may be beyond doubles
                conditionals = np.exp(table[:, :, None] + logs - message[:, None])
                joint = marginals[slices[parent], None] * conditionals
                marginals[here] = joint.sum(axis=0)
                if weights is not None:
                    pairs[attribute] = joint @ weights
                continue
            ratios = marginals[slices[parent]] * np.exp(top - message)
            joint = np.exp(table)
            # P(value, parent's value) = marginal of the parent * table * own exponent,
            # divided by the message, which is the sum over the values.
            own_shares = (joint.T @ ratios) * shares
            total = own_shares.sum(axis=0)
            marginals[here] = own_shares / total
            if weights is not None:
                pairs[attribute] = ((ratios * (weights / total)) @ shares.T) * joint
        return marginals, pairs

    def draw(self, below, rng):
        """Draw the values of all attributes, from the roots to the leaves.

        Parameters
        ----------
        below
            From ``upward``.
        rng : RandomState

        Returns
        -------
        values : ndarray of shape (n_cases, n_attributes), dtype int64
        """
        values = np.zeros((len(self.parents), below.shape[1]), dtype=np.int64)
        uniform = rng.uniform(size=values.shape)
        for attribute in self.order:
            parent, table = self.parents[attribute], self.tables[attribute].T
            scores = below[self.attributes.slices[attribute]]
            scores = scores + (table[:, :1] if parent < 0 else table[:, values[parent]])
            reached = np.cumsum(np.exp(scores - scores.max(axis=0)), axis=0)
            # A value of probability zero is never drawn: its step of the sum is zero.
            goal = uniform[attribute] * reached[-1]
            values[attribute] = (reached <= goal).sum(axis=0)
        return values.T


def _message(table, own):
    """Compute ``_log_matmul``; where one value is possible its exponents are added."""
    values = own.argmax(axis=0)
    message = table[:, values] + own[values, np.arange(own.shape[1])]
    several = np.flatnonzero(np.count_nonzero(own > -np.inf, axis=0) > 1)
    if len(several):
        message[:, several] = _log_matmul(table, own[:, several])
    return message


def _log_matmul(table, exponents):
    """Compute log(exp(table) @ exp(exponents)) without overflow."""
    top, peak = exponents.max(axis=0), table.max()
    sums = np.exp(table - peak) @ np.exp(exponents - top)
    if sums.all():
        return np.log(sums) + (top + peak)
    return logsumexp(table[:, :, None] + exponents, axis=1)  # beyond doubles


@dataclass(frozen=True)
class ForestMixture:
    """A mixture of forests with the same edges and tables.

    Attributes
    ----------
    forest : AttributeForest
    log_weights : ndarray of shape (n_components,), dtype float64
        They need not be normalised.
    exponents : ndarray of shape (n_components, n_values), dtype float64
        Exponents of each value in each component.
    """

    forest: AttributeForest
    log_weights: np.ndarray
    exponents: np.ndarray

    @property
    def parents(self):
        """Parents of the attributes; -1 for a root."""
        return self.forest.parents

    def tables(self):
        """List the log-probabilities of each attribute, in a forest by itself."""
        slices = self.forest.attributes.slices
        pairs = zip(self.forest.tables, slices, strict=True)
        return [table + self.exponents[:, here] for table, here in pairs]

    def _blocks(self, signs):
        """Yield slices of samples with the sums over each component."""
        n_components, n_values = self.exponents.shape
        step = max(1, CELLS_AT_A_TIME // self.exponents.size)
        for start in range(0, len(signs), step):
            here = slice(start, start + step)
            allowed = self.forest.attributes.allowed(signs[here])
            cases = np.where(allowed[:, None], self.exponents, -np.inf)
            sums, *messages = self.forest.upward(cases.reshape(-1, n_values))
            yield here, sums.reshape(-1, n_components) + self.log_weights, messages

    def log_sums(self, signs):
        """Compute the log of the sum over all completions of each sample."""
        log_sums = np.empty(len(signs))
        for here, joint, _ in self._blocks(signs):
            log_sums[here] = logsumexp(joint, axis=1)
        return log_sums

    def component_shares(self, signs):
        """Compute the probability of each component given the known bits."""
        shares = np.empty((len(signs), len(self.log_weights)))
        for here, joint, _ in self._blocks(signs):
            shares[here] = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        return shares

    def means(self, signs):
        """Compute the mean sign of each bit given the known bits of its sample."""
        means = np.empty(signs.shape)
        for here, joint, messages in self._blocks(signs):
            shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
            marginals, _ = self.forest.downward(*messages)
            true = marginals[self.forest.attributes.true_values]
            means[here] = 2 * (true.reshape(-1, *shares.shape) * shares).sum(2).T - 1
        return np.clip(means, -1.0, 1.0)  # rounding

    def draw(self, signs, rng):
        """Draw the missing bits of each sample given its known bits."""
        drawn = np.empty(signs.shape, dtype=np.int8)
        # Samples with the same known bits, perhaps none at all, share their sums.
        distinct, number = np.unique(signs, axis=0, return_inverse=True)
        number = number.ravel()
        for here, joint, (below, _) in self._blocks(distinct):
            samples = np.flatnonzero((number >= here.start) & (number < here.stop))
            row = number[samples] - here.start
            reached = np.cumsum(np.exp(joint - joint.max(axis=1, keepdims=True)), 1)
            goal = rng.uniform(size=len(samples)) * reached[row, -1]
            chosen = (reached[row] <= goal[:, None]).sum(axis=1)
            values = self.forest.draw(below[:, row * joint.shape[1] + chosen], rng)
            drawn[samples] = self.forest.attributes.to_signs(values)
        return drawn

    def moments(self):
        """Compute the sum over all components and samples, and expectations.

        Returns
        -------
        log_sum : float
        shares : ndarray of shape (n_components,)
            Probability of each component.
        means : ndarray of shape (n_components, n_values)
            Probability of each value, times the share of its component.
        pairs : list of ndarrays
            As of ``AttributeForest.downward``.
        """
        shares = np.empty(len(self.log_weights))
        means = np.empty(self.exponents.T.shape).T
        blocks, tops, pairs = [], [], []
        step = max(1, CELLS_AT_A_TIME // self.exponents.shape[1])
        for start in range(0, len(shares), step):
            here = slice(start, start + step)
            sums, *messages = self.forest.upward(self.exponents[here])
            joint = self.log_weights[here] + sums
            top = logsumexp(joint)
            shares[here] = np.exp(joint - top)
            marginals, more = self.forest.downward(*messages, shares[here])
            means[here] = (marginals * shares[here]).T
            blocks.append(here)
            tops.append(top)
            pairs.append(more)
        log_sum = logsumexp(tops)
        factors = np.exp(np.array(tops) - log_sum)
        for here, factor in zip(blocks, factors, strict=True):
            shares[here] *= factor
            means[here] *= factor
        pairs = [sum(map(np.multiply, factors, of)) for of in zip(*pairs, strict=True)]
        return float(log_sum), shares, means, pairs
