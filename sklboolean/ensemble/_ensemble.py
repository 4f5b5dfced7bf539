"""Base class of the ensembles: one encoding, members, and their weights."""

# The steps of a fit:
#
# 1. Encode the data once, by thresholds that some models do not see: models of columns
#    and trees take all of them, others the coarse ones.
# 2. Draw folds. Fit each member on them, which gives its outputs for held-out samples,
#    and then on all samples. Seeds are drawn before tasks are sent.
# 3. Choose the weights of the members by the held-out loss.
#
# What is fitted is a pipeline of the encoder and a `Pool`, which is a formula if all
# members are.

from collections.abc import Collection
from warnings import catch_warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sklboolean._core.bits import PackedBits, unpack_words
from sklboolean._core.directions import directions_of_features
from sklboolean._core.feature_names import NamedCsr
from sklboolean._core.formulas import feature_names_of
from sklboolean._core.held_out import disjoint_test_sets
from sklboolean._core.meta import draw_seed, fit_clone
from sklboolean._core.packed_partitions import PartitionsMixin, labelled
from sklboolean._core.parallel import in_jobs
from sklboolean._core.progress import CallbackSupportMixin
from sklboolean._core.validation import (
    as_boolean,
    take_samples,
    validate_data_or_bits,
    validate_data_strict,
)
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import check_sample_weight
from sklboolean.boosting import (
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
)
from sklboolean.kernels import (
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
)
from sklboolean.preprocessing._boolean_encoder import unfitted_encoder
from sklboolean.preprocessing._frames import read_columns
from sklboolean.rules import ConjunctionLogisticRegression

# Models whose cost does not grow with bins, and their bins.
FINE_MODELS = (
    BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor,
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
)
# Quantiles that they see of up to MOST_FOR_FEW_BINS samples, and of more.
FEW_FINE_BINS, FINE_BINS, MOST_FOR_FEW_BINS = 32, 128, 2000
# Boosted trees, by their number of leaves and learning rate. They differ, so that one
# of them suits. Of more classes a round has a tree for each: rounds must be fewer.
TREE_SHAPES = 2 * ((5, 0.1), (20, 0.05))
TREE_SHAPES_OF_CLASSES, TREE_SHAPES_OF_MANY = 4 * ((20, 0.1),), 3 * ((31, 0.2),)
MANY_CLASSES = 6
# Samples of numbers or two classes, and of more. Of more a quarter is held out once.
MOST_FOR_FOLDS, MOST_OF_CLASSES = 1000, 500
PIECE = 2**14  # packed samples that are unpacked at a time
MOST_FOR_TRIPLES = 128  # features; the number of triples grows with their cube


def check_pairs(estimators, method):
    """Check a list of names and models."""
    pairs = list(estimators) if isinstance(estimators, Collection) else []
    if not pairs or not all(
        isinstance(pair, tuple)
        and len(pair) == 2
        and hasattr(pair[1], method)
        and not isinstance(pair[1], type)
        for pair in pairs
    ):
        raise ValueError(
            "estimators must be a list of one or more (name, model) pairs, the models "
            f"with {method}; got {estimators!r}."
        )
    return pairs


def draw_folds(strata, rng):
    """Split the samples into five folds, or hold out a quarter of many.

    The strata are the class numbers; those of numbers are 0.
    """
    most = MOST_OF_CLASSES if strata.max() > 1 else MOST_FOR_FOLDS
    tests = disjoint_test_sets(strata, 5 if len(strata) <= most else None, rng)
    if not tests:
        raise ValueError(
            "y has one sample, or one sample of each class. An ensemble needs two "
            "with weight, of which one is held out to weigh the models."
        )
    everything = np.arange(len(strata))
    return [(np.setdiff1d(everything, test), test) for test in tests]


def take(X, samples):
    """Select samples of a sparse matrix; columns keep their names."""
    selected = X[samples]
    if isinstance(X, NamedCsr):
        selected.feature_names = X.feature_names
    return selected


def without(X, is_left_out):
    """Set some columns of a sparse Boolean matrix to 0; their names stay."""
    coarse = X.copy()
    coarse.data = np.where(is_left_out[coarse.indices], 0, coarse.data).astype(X.dtype)
    coarse.eliminate_zeros()
    if isinstance(X, NamedCsr):
        coarse.feature_names = X.feature_names
    return coarse


def tree_models(kind, n_classes=2):
    """List models of boosted trees, which also hold out different samples."""
    shapes = TREE_SHAPES if n_classes == 2 else TREE_SHAPES_OF_CLASSES
    if n_classes >= MANY_CLASSES:
        shapes = TREE_SHAPES_OF_MANY
    return [
        ("trees", kind(learning_rate=rate, max_leaf_nodes=n_leaves, min_samples_leaf=2))
        for n_leaves, rate in shapes
    ]


def takes_long(model, n_classes):
    """Rank a model by the time of its fit, from 0 to 2."""
    if isinstance(model, ConjunctionLogisticRegression):
        return 2 * (n_classes > 2)
    is_process = isinstance(model, FINE_MODELS[:2])
    return 2 if is_process else int(isinstance(model, FINE_MODELS))


def fit_member(model, X, targets, weights, folds, seed, outputs):
    """Train a model, and predict held-out samples by models that did not see them.

    ``outputs`` says what a pool adds up: ``of_samples(model, X)``, or
    ``of_scores(model, scores)`` of scores that the model has for held-out samples.

    Returns
    -------
    model : estimator
        Trained on all samples.
    held_out : ndarray of shape (n_held_out, ...), float64
        Of the test samples of the folds, one fold after the other. No model is trained
        again where the fitted one has such scores: a Gaussian process scores each
        sample without it, and a conjunction model scored them to choose C.
    """
    fitted = fit_clone(model, X, targets, seed, weights)
    tested = np.concatenate([test for _, test in folds])
    for name in ("leave_one_out_", "held_out_scores_"):
        scores = getattr(fitted, name, None)
        if scores is not None and np.isfinite(scores[tested]).all():
            return fitted, outputs.of_scores(fitted, scores[tested])
    tables = []
    for train, test in folds:
        of_fold = None if weights is None else weights[train]
        member = fit_clone(model, take(X, train), targets[train], seed, of_fold)
        tables.append(outputs.of_samples(member, take(X, test)))
    return fitted, np.concatenate(tables)


def as_sparse(X):
    """Make samples a sparse matrix of bool, with their names; above 0 is true."""
    if isinstance(X, PackedBits):
        pieces = [X.words[first : first + PIECE] for first in range(0, len(X), PIECE)]
        pieces = [sparse.csr_array(unpack_words(w, X.n_features) > 0) for w in pieces]
        bits = sparse.vstack(pieces, format="csr")
    elif sparse.issparse(X):
        bits = as_boolean(X)
    else:
        bits = sparse.csr_array(X > 0)
    bits = NamedCsr(bits)
    bits.feature_names = getattr(X, "feature_names", None)
    return bits


class BooleanEnsemble(PartitionsMixin, CallbackSupportMixin, VersionedEstimator):
    """Encoding and training of the members of an ensemble.

    A subclass defines ``_member_method``, the method that members have.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _directed(self, pairs):
        """Give the directions to models with names."""
        if self.monotonic_cst is None:
            return pairs
        for name, model in pairs:
            if "monotonic_cst" not in model.get_params():
                raise ValueError(
                    f"estimators: {name!r}, a {type(model).__name__}, cannot keep to "
                    "monotonic_cst. Leave it out: boosted trees and conjunction models "
                    "can."
                )
        params = {"monotonic_cst": self._directions()}
        return [(name, clone(model).set_params(**params)) for name, model in pairs]

    def _directions(self):
        """Check the directions; those of columns without features are left out."""
        directions, encoder = self.monotonic_cst, self.encoder_
        if encoder is None:
            return directions
        columns, names = feature_names_of(encoder), encoder.get_feature_names_out()
        if not isinstance(directions, dict):
            by_column = directions_of_features(directions, len(columns))
            directions = dict(zip(columns, by_column.tolist(), strict=True))
        directions = {str(name): value for name, value in directions.items()}
        left_out = {*columns} - {*encoder.feature_groups_}
        kept = {c: value for c, value in directions.items() if c not in left_out}
        classes = getattr(self, "classes_", None)
        directions_of_features(kept, len(names), names, classes)
        return kept

    def _fit_members(
        self, named, X, fine, targets, weights, folds, rng, outputs, progress
    ):
        """Fit all members; list names and models, and outputs for held-out samples.

        ``weights`` are None where the user gave none.
        """
        self.n_samples_fit_ = fine.shape[0]
        self.feature_counts_ = np.bincount(
            fine.indices[fine.data != 0], minlength=fine.shape[1]
        )
        tasks = [
            (
                model, fine if isinstance(model, FINE_MODELS) else X, targets, weights,
                folds, draw_seed(rng), outputs,
            )
            for _, model in named
        ]  # fmt: skip
        progress.count("model", len(tasks))
        n_classes = len(getattr(self, "classes_", ()))
        # The longest come first, so that no job waits. Larger trees are listed last.
        ranks = [takes_long(model, n_classes) for _, model in named]
        order = sorted(range(len(ranks)), key=lambda k: (ranks[k], k), reverse=True)
        pool = {}
        fitted = in_jobs(fit_member, [tasks[k] for k in order], self.n_jobs)
        for k, member in zip(order, fitted, strict=True):
            pool[k] = named[k][0], *member
            if progress.step(lambda k=k: named[k][0]):
                break  # a callback stops the fit, and the models so far are the pool
        names, models, held_out = zip(*(pool[k] for k in sorted(pool)), strict=True)
        return names, list(models), np.array(held_out)

    @property
    def pipeline_(self):
        """The encoder and the weighted sum of the models, a fitted ``Pipeline``.

        Explanations read it. Where all models are formulas, its last step has
        ``to_text``, ``to_c`` and the other exports.
        """
        check_is_fitted(self)
        steps = [self._pool] if self.encoder_ is None else [self.encoder_, self._pool]
        return make_pipeline(*steps)

    def _no_answers(self, name, X):
        sample = self._sample_like(X)
        features = sample
        if self.encoder_ is not None:  # columns of any type, which only it reads
            names = self.encoder_.get_feature_names_out()
            features = NamedCsr((1, len(names)), dtype=bool)
            features.feature_names = names
        return labelled(getattr(self._pool, name)(features), sample)[:0]

    def _encode_training_data(self, X, y, sample_weight):
        """Check the data, and encode all but sparse samples and packed bits.

        Thresholds and levels are those of the samples with weight.

        Returns
        -------
        bits : sparse matrix of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        is_coarse : ndarray of shape (n_features,), dtype bool
            The features that all models learn from.
        """
        options = {"accept_sparse": "csr", "y_numeric": is_regressor(self)}
        if sparse.issparse(X) or isinstance(X, PackedBits):
            self.encoder_ = None
            X, y = validate_data_or_bits(self, X, y, **options)
            return as_sparse(X), y, np.ones(X.shape[1], dtype=bool)
        encoder = unfitted_encoder(self.encoder)
        self.encoder_ = encoder.set_params(sparse_output=True)
        data = self._samples_with_weight(X, y, sample_weight)
        models = (
            []
            if self.estimators is None
            else check_pairs(self.estimators, self._member_method)
        )
        has_fine = not models or any(isinstance(m, FINE_MODELS) for _, m in models)
        if has_fine and (encoder.n_bins, encoder.strategy) == ("auto", "quantile"):
            n_labels = np.asarray(data[1]).size  # also of what only becomes an array
            n_bins = FEW_FINE_BINS if n_labels <= MOST_FOR_FEW_BINS else FINE_BINS
            is_coarse = encoder._fit_finely(*data, n_bins)
        else:
            encoder.fit(*data)
            is_coarse = np.ones(len(encoder.order_), dtype=bool)
        with catch_warnings(action="ignore"):  # of levels that are left out
            bits = encoder.transform(X)
        _, y = validate_data_strict(self, bits, y, **options)
        del self.feature_names_in_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.encoder_, name):
                setattr(self, name, getattr(self.encoder_, name))
        return bits, y, is_coarse

    def _samples_with_weight(self, X, y, sample_weight):
        """Leave out samples of weight 0, which set no thresholds and levels."""
        labels = np.asarray(y)
        # Labels that are no list of values are refused with the features.
        if sample_weight is None or not labels.ndim:
            return X, y, None
        weights = check_sample_weight(sample_weight, len(labels))
        read_columns(self.encoder_, X, reset=True)
        check_consistent_length(X, labels)
        shown = np.flatnonzero(weights)
        return take_samples(X, shown), take_samples(y, shown), weights[shown]

    def to_sql(self, feature_names=None, *, output="label", dialect=None) -> str:
        """Write the ensemble in SQL, for a query ``SELECT ... FROM table AS f``.

        Parameters
        ----------
        feature_names : sequence of str or None, default=None
            The columns of the table in the database. None: those of the data frame.
        output : {"label", "proba", "score", "all"}, default="label"
            As for the other models: an expression of the prediction, or columns of
            probabilities and scores.
        dialect : str or None, default=None
            Name of the database, where its quotes or types differ.

        Returns
        -------
        sql : str

        Raises
        ------
        ValueError
            Where a model of the ensemble is no formula, such as a Gaussian process: let
            `inspection.distill` fit a formula to the ensemble.
        """
        check_is_fitted(self)
        if self._pool._formula() is None:
            kinds = [type(model).__name__ for model in self.estimators_]
            raise ValueError(
                f"This ensemble of {', '.join(kinds)} is no formula. Fit one to it: "
                "sklboolean.inspection.distill(model, X).model[-1].to_sql(encoder=...)."
            )
        options = {"output": output, "dialect": dialect}
        return self._pool.to_sql(feature_names, encoder=self.encoder_, **options)

    def _encode(self, X):
        check_is_fitted(self)
        if self.encoder_ is None or sparse.issparse(X):
            X = validate_data_or_bits(self, X, reset=False, accept_sparse="csr")
        if self.encoder_ is None:
            return as_sparse(X)
        return self.encoder_.transform(X.toarray() if sparse.issparse(X) else X)
