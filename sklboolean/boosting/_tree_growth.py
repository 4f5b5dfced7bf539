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

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread

import numpy as np

from sklboolean._core.meta import draw_seed
from sklboolean._core.parallel import count_threads, each_slice
from sklboolean.boosting._trees import GrowingTree, add_leaf_values, check_trees

# Samples of each thread, at least.
MANY = 2**12


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

        each_slice(add, len(words), n_jobs, small=len(words) < 2**14, step=2**14)

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


class TreeGrower:
    """Grow one tree after the other over the same samples.

    Parameters
    ----------
    blocks : BitBlocks
    params : GrowthParams
    directions : ndarray of shape (n_features,), int8
        1 where the score must not fall when the feature becomes true, -1 where it must
        not rise, else 0.
    groups : ndarray of shape (n_features, n_words), uint64
        Bits of the groups that each feature is in. All features of a conjunction have
        a common group.
    rng : RandomState
        Draws the features that may split a leaf.
    """

    def __init__(self, blocks, params, directions, groups, rng):
        self.params, self.rng = params, rng
        n_most = max(1, len(blocks.codes) // MANY)
        self.n_threads = 1 if n_most == 1 else min(n_most, count_threads(params.n_jobs))
        self.tree = GrowingTree(blocks, params, directions, groups, self.n_threads)

    @contextmanager
    def helped(self):
        """Let other threads do pieces of what the tree does; it needs none of them."""
        begun = []
        try:
            with suppress(RuntimeError):  # none starts when Python ends
                for number in range(1, self.n_threads):
                    thread = Thread(target=self.tree.help, args=(number,))
                    thread.start()
                    begun.append(thread)
            yield
        finally:
            self.tree.end_help()
            for thread in begun:
                thread.join()

    def grow(
        self, slopes, curvatures, members, scores, rate=1.0, bound=np.inf, refit=None
    ):
        """Grow a tree, and add its values to the scores.

        Parameters
        ----------
        slopes, curvatures : ndarrays of shape (n_numbers,), float64
            Of the loss by the score, at first those of the samples. All are rounded to
            multiples of one unit.
        members : ndarray of shape (n_samples,), int32
            Becomes the samples in the order of the leaves.
        scores : ndarray of shape (n_numbers,), float64
        rate : float
            Factor of the values.
        bound : float
            The largest absolute value of a leaf.
        refit : callable or None
            ``refit(first, end)`` computes the value of a leaf from its samples. None:
            it is that of step 5.

        Returns
        -------
        tree : Trees
        """
        n_most = 2 * self.params.max_leaf_nodes - 1
        features = np.full(n_most, -1, dtype=np.int32)
        children = np.zeros((n_most, 2), dtype=np.int32)
        values, gains = np.zeros((2, n_most))
        n_leaves = self.tree.grow(
            members, slopes, curvatures, bound, draw_seed(self.rng), refit, scores,
            rate, features, children, values, gains,
        )  # fmt: skip
        used = slice(2 * n_leaves - 1)
        nodes = features[used], children[used], values[used], gains[used]
        return Trees(*nodes, np.zeros(1, dtype=np.int32))
