"""Growing a tree over packed bits, the leaf of the largest gain first."""

# The steps, for slopes g and curvatures h of the loss in each sample:
#
# 1. Round g and h to integers. All sums are exact then, in any order.
# 2. Split the leaf whose best split lowers the loss most. The gain of a leaf is
#    G**2 / (H + l2), for G and H the sums over its samples.
# 3. Add up the smaller child. The larger one is the parent less the smaller one.
# 4. Stop at ``max_leaf_nodes`` leaves, or where no split gains.
# 5. A leaf's value is -G / (H + l2).
#
# Invariant: the samples of a leaf are the slice ``first`` to ``end`` of ``members``, in
# ascending order.
#
# Chen, Guestrin. "XGBoost: A Scalable Tree Boosting System". KDD 2016, section 2.2.

from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from sklboolean._core.parallel import each_slice
from sklboolean.boosting._trees import LeafSums, add_leaf_values, check_trees

# Slopes and curvatures are rounded to whole numbers of so many binary digits at most.
DIGITS = 30
SMALLEST_EXPONENT = -1074  # of a float64
# Leaves of fewer samples are summed before a second thread has started.
MANY = 2**16


@dataclass(frozen=True)
class GrowthParams:
    """Parameters of the growth, checked."""

    max_leaf_nodes: int
    min_samples_leaf: int
    l2: float
    max_features: float = 1.0
    least_curvature: float = 1e-3
    n_jobs: int | None = None


@dataclass(frozen=True)
class Trees:
    """Trees as arrays of nodes; children come after their parents.

    Attributes
    ----------
    features : ndarray of shape (n_nodes,), int32
        The feature that decides; -1 in a leaf.
    children : ndarray of shape (n_nodes, 2), int32
        The nodes where the feature is false, and where it is true; 0 of a leaf.
    values : ndarray of shape (n_nodes,), float64
        What a leaf adds to the score; 0 of other nodes.
    gains : ndarray of shape (n_nodes,), float64
        By how much the split lowers twice the loss; 0 of a leaf.
    roots : ndarray of shape (n_trees,), int32
    """

    features: np.ndarray
    children: np.ndarray
    values: np.ndarray
    gains: np.ndarray
    roots: np.ndarray

    @classmethod
    def joined(cls, trees):
        """Join several trees into one set of arrays."""
        starts = np.cumsum([0] + [len(tree.features) for tree in trees])[:-1]
        moved = [
            np.where(tree.features[:, None] >= 0, tree.children + start, 0)
            for tree, start in zip(trees, starts, strict=True)
        ]
        return cls(
            np.concatenate([tree.features for tree in trees]),
            np.concatenate(moved).astype(np.int32),
            np.concatenate([tree.values for tree in trees]),
            np.concatenate([tree.gains for tree in trees]),
            np.concatenate(
                [tree.roots + start for tree, start in zip(trees, starts, strict=True)]
            ).astype(np.int32),
        )

    def add_scores(self, words, scores, n_jobs=None):
        """Add the values of the leaves that samples reach, tree k to column k % K."""

        def add(first, last):
            add_leaf_values(
                words[first:last], self.features, self.children, self.values,
                self.roots, scores[first:last],
            )  # fmt: skip

        each_slice(add, len(words), n_jobs, small=len(words) < MANY // 4, step=2**14)

    def conjunctions(self, n_features):
        """List the conjunction of each leaf with its value, by tree.

        Returns
        -------
        leaves : list of n_trees lists of (literals, value)
            Literals are pairs of a feature and its value, in the order of the features.
        """
        arrays = self.features, self.children, self.values, self.roots
        check_trees(*arrays, n_features)
        features, children, values, roots = (array.tolist() for array in arrays)
        leaves = []
        for root in roots:
            leaves_of_tree, open_nodes = [], [(root, ())]
            while open_nodes:
                node, literals = open_nodes.pop()
                if features[node] < 0:
                    leaves_of_tree.append((tuple(sorted(literals)), values[node]))
                    continue
                for value, child in enumerate(children[node]):
                    literal = features[node], bool(value)
                    open_nodes.append((child, (*literals, literal)))
            leaves.append(leaves_of_tree)
        return leaves


@dataclass
class Leaf:
    """A leaf that may be split.

    Attributes
    ----------
    node : int
    first, end : int
        Its samples among ``members``.
    slot : int
        Where its sums are.
    total : tuple of int
        The sums over its samples.
    low, high : float
        Bounds of its value.
    """

    node: int
    first: int
    end: int
    slot: int
    total: tuple
    low: float = -np.inf
    high: float = np.inf
    split: tuple = field(default=(0.0, -1, (0, 0)))


class TreeGrower:
    """Grow one tree after the other over the same samples.

    Parameters
    ----------
    blocks : BitBlocks
    params : GrowthParams
    directions : ndarray of shape (n_features,), int8
        1 where the score must not fall when the feature becomes true, -1 where it must
        not rise, else 0.
    rng : RandomState
        Draws the features that may split a leaf.
    """

    def __init__(self, blocks, params, directions, rng):
        self.params, self.directions, self.rng = params, directions, rng
        n_samples, n_features = len(blocks.codes), len(blocks.inverted)
        shape = params.max_leaf_nodes, int(blocks.starts[-1]), 2
        self.slots = np.empty(shape, dtype=np.int64)
        by_feature = np.empty((n_features, 2), dtype=np.int64)
        others = np.empty(n_samples, dtype=np.int32)
        self.sums = LeafSums(blocks, self.slots, by_feature, others)

    def grow(self, slopes, curvatures, members, bound=np.inf, refit=None):
        """Grow a tree.

        Parameters
        ----------
        slopes, curvatures : ndarrays of shape (n_samples,), float64
            Of the loss by the score; those of other samples are 0.
        members : ndarray of shape (n_members,), int32
            The samples of the tree, which are put into the order of the leaves.
        bound : float
            The largest absolute value of a leaf.
        refit : callable or None
            ``refit(first, end)`` computes the value of a leaf from its samples. None:
            it is that of step 5.

        Returns
        -------
        tree : Trees
        leaves : list of Leaf
        """
        params, self.refit = self.params, refit
        total = self._begin(slopes, curvatures, members)
        nodes, open_leaves, leaves, splits = 1, [], [], {}
        root = Leaf(0, 0, len(members), 0, total, -bound, bound)
        self._add(root)
        self._offer(root, open_leaves)
        n_leaves = 1
        while open_leaves and n_leaves < params.max_leaf_nodes:
            *_, leaf = heappop(open_leaves)
            gain, feature, _ = leaf.split
            if feature < 0:
                leaves.append(leaf)
                continue
            children = self._children(leaf, nodes, n_leaves)
            splits[leaf.node] = feature, nodes, gain
            nodes, n_leaves = nodes + 2, n_leaves + 1
            is_last = n_leaves == params.max_leaf_nodes
            self._sum_children(leaf, *children, is_last)
            for child in children:
                self._offer(child, open_leaves, is_last)
        leaves += [leaf for *_, leaf in open_leaves]
        return self._tree(nodes, splits, leaves), leaves

    def _begin(self, slopes, curvatures, members):
        """Round slopes and curvatures to integers, and add up all of them."""
        params, n_digits = self.params, len(members).bit_length()
        # Sums of curvatures leave room for the number of samples below them.
        digits = min(DIGITS, 61 - 2 * n_digits)
        derivatives = np.empty((len(slopes), 2), dtype=np.int32)
        units = []
        for column, numbers, n_kept in ((0, slopes, DIGITS), (1, curvatures, digits)):
            largest = float(np.abs(numbers).max(initial=0.0))
            exponent = int(np.frexp(largest)[1]) if largest else n_kept
            unit = np.ldexp(1.0, max(exponent - n_kept, SMALLEST_EXPONENT))
            np.rint(numbers / unit, out=derivatives[:, column], casting="unsafe")
            units.append(float(unit))
        self.sums.begin(
            members, derivatives, units, n_digits, params.l2, params.min_samples_leaf,
            params.least_curvature,
        )  # fmt: skip
        slope, curvature = derivatives[members].sum(axis=0, dtype=np.int64).tolist()
        return slope, (curvature << n_digits) + len(members)

    def _add(self, leaf):
        """Add up the samples of a leaf, on several threads where they are many."""
        n_samples, slot = leaf.end - leaf.first, self.slots[leaf.slot]
        if n_samples < MANY or self.params.n_jobs == 1:
            self.sums.add(leaf.first, leaf.end, slot)
            return
        parts = []

        def add(first, last):
            part = np.empty_like(slot)
            self.sums.add(leaf.first + first, leaf.first + last, part)
            parts.append(part)

        each_slice(add, n_samples, self.params.n_jobs)
        np.sum(parts, axis=0, out=slot)

    def _offer(self, leaf, open_leaves, is_last=False):
        """Find the best split of a leaf, and note the leaf by its gain."""
        if not is_last and leaf.end - leaf.first >= 2 * self.params.min_samples_leaf:
            leaf.split = self.sums.best_split(
                leaf.slot, leaf.total, leaf.low, leaf.high, self._draw_features(),
                self.directions,
            )  # fmt: skip
        heappush(open_leaves, (-leaf.split[0], leaf.node, leaf))

    def _draw_features(self):
        """Mark the features that may split a leaf."""
        n_features = len(self.directions)
        n_drawn = max(1, round(self.params.max_features * n_features))
        is_allowed = np.zeros(n_features, dtype=np.uint8)
        is_allowed[self.rng.permutation(n_features)[:n_drawn]] = True
        return is_allowed

    def _children(self, leaf, node, slot):
        """Part the samples of a leaf by its best split."""
        _, feature, where_true = leaf.split
        n_true = self.sums.part(feature, leaf.first, leaf.end)
        middle, low, high = leaf.first + n_true, leaf.low, leaf.high
        where_false = tuple(a - b for a, b in zip(leaf.total, where_true, strict=True))
        negative = Leaf(node, middle, leaf.end, leaf.slot, where_false, low, high)
        positive = Leaf(node + 1, leaf.first, middle, leaf.slot, where_true, low, high)
        direction = self.directions[feature]
        if direction:
            # Everything below keeps to its side of the middle of both values.
            border = (self._value(positive) + self._value(negative)) / 2
            upper, lower = (positive, negative)[:: int(direction)]
            upper.low, lower.high = border, border
        smaller = min(negative, positive, key=lambda child: child.end - child.first)
        smaller.slot = slot
        return negative, positive

    def _value(self, leaf):
        """Compute the value of a leaf within its bounds."""
        if self.refit is None:
            return self.sums.value(leaf.total, leaf.low, leaf.high)
        return min(max(self.refit(leaf.first, leaf.end), leaf.low), leaf.high)

    def _sum_children(self, leaf, negative, positive, is_last):
        """Add up the smaller child; the larger one is what it leaves of the parent."""
        least = 2 * self.params.min_samples_leaf
        if is_last or max(child.end - child.first for child in (negative, positive)) < (
            least
        ):
            return
        smaller, larger = negative, positive
        if smaller.slot == leaf.slot:
            smaller, larger = larger, smaller
        self._add(smaller)
        self.sums.subtract(larger.slot, smaller.slot)

    def _tree(self, n_nodes, splits, leaves):
        features = np.full(n_nodes, -1, dtype=np.int32)
        children = np.zeros((n_nodes, 2), dtype=np.int32)
        values, gains = np.zeros((2, n_nodes))
        for node, (feature, first_child, gain) in splits.items():
            features[node], children[node] = feature, (first_child, first_child + 1)
            gains[node] = gain
        for leaf in leaves:
            values[leaf.node] = self._value(leaf)
        return Trees(features, children, values, gains, np.zeros(1, dtype=np.int32))
