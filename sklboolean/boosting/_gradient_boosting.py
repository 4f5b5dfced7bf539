"""Base class of the boosted trees: Newton boosting over packed bits."""

from dataclasses import replace
from itertools import combinations, islice

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.bits import as_words, count_features, pack_dense
from sklboolean._core.damage import require_shape
from sklboolean._core.directions import directions_of
from sklboolean._core.exports import ExportMixin
from sklboolean._core.feature_names import parse_name
from sklboolean._core.formula import Columns, WeightedSum, class_labels
from sklboolean._core.held_out import stratified_split
from sklboolean._core.parallel import each_slice
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.progress import CallbackSupportMixin
from sklboolean._core.validation import validate_boolean
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.boosting._bit_blocks import BitBlocks
from sklboolean.boosting._tree_growth import GrowthParams, TreeGrower, Trees
from sklboolean.boosting._tree_losses import LogisticLoss

# Samples whose slopes are computed at a time, by each thread.
PIECE = 2**13
# Fewer derivatives or losses are computed before a second thread has started.
MANY = 2**15
# A loss that falls by less, as a share of the first one, has not fallen.
TOLERANCE = 1e-4
# Features times sets of ``interaction_cst``, as bytes while they are packed.
MOST_MEMBERSHIPS = 10**8


def interaction_groups(interaction_cst, n_features, names=None):
    """Turn sets of columns that may interact into bits of each feature.

    Parameters
    ----------
    interaction_cst : {"pairwise", "no_interactions"}, iterable of sets, or None
        Sets of numbers of features, or of names of columns or features. What no set
        holds is one more set.
    n_features : int
    names : sequence of str or None
        Feature names. All features of a column have its groups.

    Returns
    -------
    groups : ndarray of shape (n_features, n_words), uint64
        Bit k of a feature is set if group k holds it.
    """
    if interaction_cst is None:
        return np.ones((n_features, 1), dtype=np.uint64)
    numbers = range(n_features)
    names = numbers if names is None else list(map(str, names))
    columns = [n if n in numbers else parse_name(n).column for n in names]
    distinct = list(dict.fromkeys(columns))
    most = MOST_MEMBERSHIPS // n_features
    sets = list(islice(sets_of_columns(interaction_cst, distinct), most + 1))
    if len(sets) > most:
        raise ValueError(
            f"interaction_cst makes more than {most} sets for {n_features} features, "
            "which is too many. List fewer sets of more columns."
        )
    features_of = {}
    for keys in zip(numbers, columns, names, strict=True):
        for key in set(keys):
            features_of.setdefault(key, []).append(keys[0])
    # The last set holds what no other one does.
    is_member = np.zeros((n_features, len(sets) + 1), dtype=np.uint8)
    for k, group in enumerate(sets):
        for key in group:
            if key not in features_of:
                raise ValueError(
                    f"interaction_cst names {key!r}, which is no column of X, or one "
                    "that the encoder left out. Use names of columns or features, or "
                    "numbers of features."
                )
            is_member[features_of[key], k] = 1
    is_member[:, -1] = ~is_member.any(axis=1)
    return pack_dense(is_member)


def sets_of_columns(interaction_cst, columns):
    """Iterate over the sets of columns that may interact."""
    if isinstance(interaction_cst, str):
        sizes = {"no_interactions": 1, "pairwise": min(2, len(columns))}
        check_choice(interaction_cst, "interaction_cst", tuple(sizes))
        return combinations(columns, sizes[interaction_cst])
    try:
        groups = list(interaction_cst)
        # A text would be the set of its letters.
        if any(isinstance(group, str) for group in groups):
            raise TypeError
        return list(map(frozenset, groups))
    except TypeError:
        raise ValueError(
            "interaction_cst must be 'pairwise', 'no_interactions', or list sets of "
            f"columns; got {interaction_cst!r}."
        ) from None


class BoostingRounds:
    """The scores of all samples, and the trees that made them.

    Parameters
    ----------
    targets, weights : ndarrays of shape (n_samples,)
        Those of the samples that are held out come last.
    test_words : ndarray of shape (n_held_out, n_words), uint64
    loss : object of _tree_losses
    grower : TreeGrower
    n_jobs : int or None
    """

    def __init__(self, targets, weights, test_words, loss, grower, n_jobs):
        self.targets, self.weights, self.test_words = targets, weights, test_words
        self.loss, self.grower, self.n_jobs = loss, grower, n_jobs
        self.trees, self.losses = [], []
        n_train = len(targets) - len(test_words)
        self.members = np.empty(n_train, dtype=np.int32)
        self.baseline = loss.start(targets[:n_train], weights[:n_train])
        # Columns are contiguous: a tree reads one.
        self.scores = np.repeat(self.baseline[:, None], len(targets), axis=1).T
        self.slopes, self.curvatures = (np.zeros_like(self.scores) for _ in range(2))
        self.is_test = slice(n_train, None)
        self.test_scores = self.scores[self.is_test].copy(order="F")
        self.test_losses = np.empty(len(test_words))
        self.test_weight = weights[self.is_test].sum()

    def differentiate(self):
        """Compute the slopes and curvatures of the loss in each sample to train on.

        Those held out keep the ones of the first scores, which set a scale.
        """
        samples = slice(len(self.members) if self.trees else None)
        targets, weights = self.targets[samples], self.weights[samples]
        scores, slopes = self.scores[samples], self.slopes[samples]
        curvatures = self.curvatures[samples]
        if isinstance(self.loss, LogisticLoss):
            arrays = scores[:, 0], weights, slopes[:, 0], curvatures[:, 0]
            self.grower.tree.differentiate(targets, *arrays)
            return

        def differentiate(first, last):
            piece = slice(first, last)
            both = self.loss.derivatives(targets[piece], scores[piece])
            for derivatives, out in zip(both, (slopes, curvatures), strict=True):
                np.multiply(derivatives, weights[piece, None], out=out[piece])

        is_small = scores.size < MANY
        each_slice(differentiate, len(scores), self.n_jobs, small=is_small, step=PIECE)

    def add_tree(self, k, learning_rate):
        """Grow a tree for one output, and add its values to the scores."""
        loss, members = self.loss, self.members

        def refit(first, end):
            index = members[first:end]
            residuals = self.targets[index] - self.scores[index, k]
            return loss.leaf_value(residuals, self.weights[index])

        tree = self.grower.grow(
            self.slopes[:, k], self.curvatures[:, k], members, self.scores[:, k],
            learning_rate, loss.bound, refit if loss.refits else None,
        )  # fmt: skip
        self.trees.append(tree)
        if len(self.test_words):
            nodes = tree.features, tree.children, tree.values
            self.grower.tree.add_values(*nodes, self.test_words, self.test_scores[:, k])

    def measure(self):
        """Note the mean held-out loss after a round."""
        targets, scores = self.targets[self.is_test], self.test_scores
        if not len(targets):
            return
        if isinstance(self.loss, LogisticLoss):
            self.grower.tree.measure(targets, scores[:, 0], self.test_losses)
        else:

            def measure(first, last):
                piece = slice(first, last)
                losses = self.loss.values(targets[piece], scores[piece])
                self.test_losses[piece] = losses

            is_small = scores.size < MANY
            each_slice(measure, len(targets), self.n_jobs, small=is_small, step=PIECE)
        self.test_losses *= self.weights[self.is_test]
        self.losses.append(float(self.test_losses.sum() / self.test_weight))

    def last(self):
        """Describe the last round."""
        return f"held-out loss {self.losses[-1]:.4f}" if self.losses else "a tree"


class GradientBoosting(CallbackSupportMixin, ExportMixin, VersionedEstimator):
    """Boosting by Newton steps, and the sum of conjunctions that it makes.

    The ``fit`` of a subclass checks targets and weights, and calls `_boost`, the loop.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_params(self):
        check_real(self.learning_rate, "learning_rate", 0, strict=True)
        check_integer(self.max_iter, "max_iter", 1)
        check_real(self.max_features, "max_features", 0, 1, strict=True)
        if self.n_iter_no_change is not None:
            check_integer(self.n_iter_no_change, "n_iter_no_change", 1)
        fraction = self.validation_fraction
        check_real(fraction, "validation_fraction", 0, strict=True, below=1)
        return GrowthParams(
            check_integer(self.max_leaf_nodes, "max_leaf_nodes", 2),
            check_integer(self.min_samples_leaf, "min_samples_leaf", 1),
            float(check_real(self.l2_regularization, "l2_regularization", 0)),
            float(self.max_features),
            n_jobs=self.n_jobs,
        )

    def _boost(self, samples, targets, weights, strata, loss, params, progress):
        """Add trees until the held-out loss has not fallen for some of them.

        Parameters
        ----------
        samples : table of n_samples Boolean samples
        targets : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), float64
        strata : ndarray of shape (n_samples,), int
            Of each the same share is held out.
        loss : object of _tree_losses
        params : GrowthParams
        progress : Progress
        """
        words, rng = as_words(samples), check_random_state(self.random_state)
        used = words if weights.all() else words[weights > 0]
        self.n_samples_fit_ = len(used)
        self.feature_counts_ = count_features(used, self.n_features_in_)
        train, test = self._split(strata, weights, rng)
        order = np.concatenate([train, test])
        blocks = BitBlocks.of(words[train], self.n_features_in_)
        # No tree has more leaves than samples.
        params = replace(params, max_leaf_nodes=min(params.max_leaf_nodes, len(words)))
        groups = interaction_groups(
            self.interaction_cst,
            self.n_features_in_,
            getattr(self, "feature_names_in_", None),
        )
        grower = TreeGrower(blocks, params, directions_of(self), groups, rng)
        rounds = BoostingRounds(
            targets[order], weights[order], words[test], loss, grower, self.n_jobs
        )
        with grower.helped():
            for _ in range(self.max_iter):
                rounds.differentiate()
                for k in range(loss.n_outputs):
                    rounds.add_tree(k, self.learning_rate)
                rounds.measure()
                stops = progress.step(
                    rounds.last, lambda model: model._set_fitted_attributes(rounds)
                )
                if stops or self._is_done(rounds.losses):
                    break
        self._set_fitted_attributes(rounds)
        progress.finish()

    def _split(self, strata, weights, rng):
        """Draw the samples to train on, and those whose loss ends the training."""
        index = np.arange(len(strata))
        train_index, test_index = index[weights > 0], index[:0]
        if self.n_iter_no_change is not None and len(train_index) > 1:
            share = 1 - self.validation_fraction
            of_weight = stratified_split(strata[train_index], share, rng)
            train_index, test_index = (np.sort(train_index[i]) for i in of_weight)
        return train_index, test_index

    def _is_done(self, losses):
        """Test if the held-out loss hardly fell for ``n_iter_no_change`` rounds."""
        n_last = self.n_iter_no_change
        if n_last is None or len(losses) <= n_last:
            return False
        fallen = min(losses[:-n_last]) - min(losses[-n_last:])
        return fallen <= TOLERANCE * abs(losses[0])

    def _set_fitted_attributes(self, rounds):
        n_outputs, self.validation_loss_ = rounds.loss.n_outputs, None
        self.n_iter_ = len(rounds.trees) // n_outputs
        if rounds.losses:
            self.n_iter_ = int(np.argmin(rounds.losses)) + 1
            self.validation_loss_ = np.array(rounds.losses)
        self._trees = Trees.joined(rounds.trees[: self.n_iter_ * n_outputs])
        self._baseline = rounds.baseline
        is_split = self._trees.features >= 0
        gains = np.bincount(
            self._trees.features[is_split], self._trees.gains[is_split],
            minlength=self.n_features_in_,
        )  # fmt: skip
        self.feature_importances_ = gains / (gains.sum() or 1.0)

    def _scores(self, X):
        """Compute the scores, of shape (n_samples, n_outputs)."""
        check_is_fitted(self)
        words = as_words(validate_boolean(self, X, reset=False))
        scores = np.tile(self._first_scores(), (len(words), 1))
        self._trees.add_scores(words, scores, self.n_jobs)
        return scores

    def _first_scores(self):
        """Return the scores without trees, one for each output."""
        n_classes = len(self.classes_) if is_classifier(self) else 2
        n_outputs = n_classes if n_classes > 2 else 1
        require_shape(self._baseline, (n_outputs,), "the first scores")
        return self._baseline

    def _formula(self):
        """Describe the model: each leaf is a conjunction, and equal ones are merged."""
        if getattr(self, "loss", None) == "poisson":
            raise ValueError(
                "With loss='poisson' the sum of conjunctions is the logarithm of the "
                "prediction, which exports do not write. Use loss='squared_error' for "
                "the logarithm of y."
            )
        weights_of, intercepts = {}, self._first_scores().copy()
        n_outputs = len(intercepts)
        trees = self._trees.conjunctions(self.n_features_in_)
        for number, leaves in enumerate(trees):
            for literals, value in leaves:
                if not literals:
                    intercepts[number % n_outputs] += value
                    continue
                weights = weights_of.setdefault(literals, np.zeros(n_outputs))
                weights[number % n_outputs] += value
        weights = np.array(list(weights_of.values())).reshape(-1, n_outputs).T
        is_label = is_classifier(self)
        return WeightedSum(
            Columns.of(self, self.binarize),
            tuple(weights_of),
            np.ascontiguousarray(weights),
            intercepts,
            class_labels(self) if is_label else None,
            has_probabilities=is_label,
            parts=tuple(map(dict, trees)) if n_outputs == 1 else (),
        )
