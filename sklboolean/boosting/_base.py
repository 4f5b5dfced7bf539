"""Base class of the classifiers that predict by the majority of weak hypotheses."""

# Votes of stumps are counted by compiled code over packed bits, a block of samples at a
# time. Other hypotheses predict labels, one hypothesis after the other. Of several
# games columns 2 i and 2 i + 1 of the votes belong to the two sides of game i. A vote
# of stumps is a formula: the number of votes of each conjunction for each class.

from itertools import zip_longest

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import DecisionClassifierMixin, TableScoreMixin
from sklboolean._core.calibration import predicted_codes, probabilities
from sklboolean._core.damage import require, require_below
from sklboolean._core.exports import ExportMixin
from sklboolean._core.formula import Columns, Members, WeightedSum, class_labels
from sklboolean._core.meta import validation_options
from sklboolean._core.validation import (
    as_boolean,
    validate_data_or_bits,
    validate_data_strict,
    warn_of_lost_columns,
)
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.boosting._stump import BooleanStump, count_stump_votes
from sklboolean.boosting._votes import class_scores

BLOCK_VOTES = 2**22  # counted at a time


class BaseMajorityVote(
    ExportMixin, DecisionClassifierMixin, TableScoreMixin, ClassifierMixin,
    VersionedEstimator,
):  # fmt: skip
    """Predict by one vote for each fitted hypothesis in ``estimators_``.

    Subclasses set three private attributes with it. ``_games`` is None, or a list of
    games of two classes; ``estimators_`` are then boosters of these. ``_stumps`` is an
    array of all hypotheses, as `count_stump_votes` takes it, where all of them are
    stumps; else it is None. ``_columns`` has for each hypothesis the columns of a
    kernel matrix that it was trained on, None for all columns.
    """

    def _weak_estimator(self):
        return BooleanStump() if self.estimator is None else self.estimator

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._weak_estimator()).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.pairwise = inner.pairwise
        tags.input_tags.allow_nan = inner.allow_nan
        return tags

    @property
    def feature_importances_(self):
        """Mean importance of each feature over the hypotheses, whose votes are equal.

        An ndarray of shape (`n_features_in_`,), dtype float64. With stumps it is the
        share of the votes that test the feature, and with games of two classes the mean
        over the games. Only where all hypotheses have ``feature_importances_``.
        """
        if not hasattr(self, "estimators_"):
            raise AttributeError("feature_importances_ exists after fit only.")
        total = np.zeros(self.n_features_in_)
        for estimator, columns in zip(self.estimators_, self._columns, strict=True):
            total[slice(None) if columns is None else columns] += (
                estimator.feature_importances_
            )
        return total / max(1, len(self.estimators_))

    def decision_function(self, X) -> np.ndarray:
        """Compute the margin of the vote.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            From -1 to 1. Two classes: share of votes for the second class minus share
            for the first; a tie is given as the smallest float above 0. More classes:
            share of votes for each class minus share against it. In games of one class
            against one the mean of ``z / sqrt(1 + z**2)`` over its games, where z is
            this margin times the root of the number of votes.
        """
        return self._margins(self._check_X(X))

    def _margins(self, X):
        """Compute the margins of checked samples, a block at a time."""
        n_columns = 2 * len(self._games or [None])
        step = max(1, BLOCK_VOTES // n_columns)
        scores = [
            class_scores(self._count_votes(X[first : first + step]), self._games)
            for first in range(0, X.shape[0], step)
        ]
        return np.concatenate(scores)

    def _count_votes(self, X):
        """Count the votes for each class, or for both sides of each game."""
        n_columns = len(self.classes_) if self._games is None else 2 * len(self._games)
        if self._stumps is not None:
            bits = as_boolean(X, self._weak_estimator().binarize)
            return count_stump_votes(self._stumps, bits, n_columns)
        votes = np.zeros((X.shape[0], n_columns), dtype=np.int64)
        for counted in self._staged_votes(X):
            votes = counted
        return votes

    def _check_X(self, X):
        check_is_fitted(self)
        options = validation_options(self._weak_estimator())
        has_stumps = self._stumps is not None
        validate = validate_data_or_bits if has_stumps else validate_data_strict
        X = validate(self, X, reset=False, **options)
        if has_stumps and isinstance(X, np.ndarray):
            warn_of_lost_columns(self, X, None, self._weak_estimator().binarize)
        return X

    def _staged_votes(self, X):
        """Yield the vote counts after each hypothesis; the array is used again."""
        if self._games is not None:
            votes = np.zeros((X.shape[0], 2 * len(self._games)), dtype=np.int64)
            games = [game._staged_votes(X) for game in self.estimators_]
            for votes_by_game in zip_longest(*games):
                for i, votes_of_game in enumerate(votes_by_game):
                    if votes_of_game is not None:  # some games have fewer hypotheses
                        votes[:, 2 * i : 2 * i + 2] = votes_of_game
                yield votes
            return
        votes = np.zeros((X.shape[0], len(self.classes_)), dtype=np.int64)
        samples = np.arange(len(votes))
        for _, labels in self._predictions(X):
            codes = np.searchsorted(self.classes_, labels)
            require_below(codes, len(self.classes_), "the labels of a hypothesis")
            votes[samples, codes] += 1
            yield votes

    def _predictions(self, X):
        """Yield each hypothesis of a single game, and the labels that it predicts."""
        bits = None
        if self._stumps is not None:
            bits = as_boolean(X, self._weak_estimator().binarize)
        for estimator, columns in zip(self.estimators_, self._columns, strict=True):
            if bits is not None:
                labels = estimator.side_classes_[estimator._sides(bits)]
            else:
                labels = estimator.predict(X if columns is None else X[:, columns])
            yield estimator, labels

    def _vote_shares(self, X):
        """Yield what the vote of each hypothesis adds to the score of each class.

        Parameters
        ----------
        X : ndarray or sparse array of shape (n_samples, n_features)
            Checked samples.

        Yields
        ------
        hypothesis : classifier
        game : str
            Which classes it decides between; empty where it decides between all.
        shares : ndarray of shape (n_samples, n_classes), dtype float64
            They add up to ``decision_function``.
        """
        if self._games is None:
            size = 1 / max(1, len(self.estimators_))
            for estimator, labels in self._predictions(X):
                is_voted = labels[:, None] == self.classes_
                yield estimator, "", np.where(is_voted, size, -size)
            return
        for (first, second), booster in zip(self._games, self.estimators_, strict=True):
            n_votes, factor, game = len(booster.estimators_), 1.0, ""
            if first is not None:  # as in class_scores
                factor = np.sqrt(n_votes / (1 + n_votes * booster._margins(X) ** 2))
                factor = factor / (len(self.classes_) - 1)
                game = f"{self.classes_[first]} or {self.classes_[second]}"
            for estimator, _, votes in booster._vote_shares(X):
                shares = np.zeros((len(votes), len(self.classes_)))
                shares[:, second] = factor * votes[:, 1]
                if first is not None:
                    shares[:, first] = -shares[:, second]
                yield estimator, game, shares

    def _formula(self):
        if self._stumps is None:
            return Members("votes", lambda X: self._vote_shares(self._check_X(X)))
        boosters = [self] if self._games is None else self.estimators_
        outputs = [
            votes_of_stumps(booster.estimators_, booster.classes_)
            for booster in boosters
        ]
        terms = list(dict.fromkeys(term for votes, _ in outputs for term in votes))
        intercepts = np.concatenate([intercepts for _, intercepts in outputs])
        rows = [
            [votes.get(term, np.zeros(len(constant)))[k] for term in terms]
            for votes, constant in outputs
            for k in range(len(constant))
        ]
        counts = [max(1, len(booster.estimators_)) for booster in boosters]
        return WeightedSum(
            Columns.of(self, self._weak_estimator().binarize),
            terms,
            np.array(rows, dtype=np.float64).reshape(len(intercepts), len(terms)),
            intercepts,
            class_labels(self),
            slope=self.calibration_slope_,
            tie=1,
            divisors=np.resize(counts, len(intercepts)).astype(np.float64),
            games=self._pairs_of_games(),
        )

    def _pairs_of_games(self):
        """List the classes of each game of one class against one, if there are any."""
        if self._games is None or self._games[0].first is None:
            return None
        return [(int(game.first), int(game.second)) for game in self._games]

    def staged_decision_function(self, X):
        """Yield the margin of the vote after each hypothesis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Yields
        ------
        margins : ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            As from ``decision_function``.
        """
        X = self._check_X(X)
        for votes in self._staged_votes(X):
            yield class_scores(votes, self._games)

    def staged_predict(self, X):
        """Yield the predicted labels after each hypothesis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Yields
        ------
        labels : ndarray of shape (n_samples,)
            As from ``predict``.
        """
        for margins in self.staged_decision_function(X):
            yield self.classes_[predicted_codes(margins)]

    def staged_predict_proba(self, X):
        """Yield the class probabilities after each hypothesis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Yields
        ------
        probabilities : ndarray of shape (n_samples, n_classes), dtype float64
            As from ``predict_proba``, with the slope of the whole vote.
        """
        for margins in self.staged_decision_function(X):
            yield probabilities(margins, self.calibration_slope_)


def votes_of_stumps(stumps, classes):
    """Add up votes: each condition moves some from one side of its stump to the other.

    Parameters
    ----------
    stumps : list of BooleanStump
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    votes : dict from conjunction to ndarray of shape (n_outputs,), float64
        Whole numbers.
    intercepts : ndarray of shape (n_outputs,), float64
        One output for two classes, the second; else one for each.
    """
    codes = {label: code for code, label in enumerate(classes.tolist())}
    votes, constant = {}, np.zeros(len(codes))
    for stump in stumps:
        rules = stump._formula()
        is_known = codes.keys() >= {rules.default, *rules.labels}
        require(
            is_known and len(codes) == len(classes),
            "classes_ lacks or repeats a label",
        )
        constant[codes[rules.default]] += 1
        for term, label in zip(rules.terms, rules.labels, strict=True):
            moved = votes.setdefault(term, np.zeros(len(codes)))
            moved[codes[label]] += 1
            moved[codes[rules.default]] -= 1
    outputs = slice(1, None) if len(codes) == 2 else slice(None)
    # Votes for a class minus votes against it.
    votes = {term: 2 * moved[outputs] for term, moved in votes.items() if moved.any()}
    return votes, (2 * constant - len(stumps))[outputs]
