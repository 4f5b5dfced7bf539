"""What a fitted combination machine can be asked."""

import warnings
from functools import wraps

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.validation import check_array_strict
from sklboolean.density import (
    _conditionals as conditionals,
)
from sklboolean.density import (
    _hidden_states as hidden_states,
)
from sklboolean.density import (
    _log_space as log_space,
)
from sklboolean.density import (
    _real_conditionals as real_conditionals,
)
from sklboolean.density import (
    _real_inputs as real_inputs,
)
from sklboolean.density._annealing import estimate_log_partition, sample_by_chains
from sklboolean.density._conditionals import known_log_odds, reconstruction_error
from sklboolean.density._hidden_states import Weights
from sklboolean.density._likelihood import hidden_posteriors
from sklboolean.density._model import BinaryDensityMixin
from sklboolean.density._most_probable import most_probable
from sklboolean.density._parameters import check_missing, is_affordable
from sklboolean.density._real_tables import Reals
from sklboolean.density._tables import read_signs

MARGIN = 0.2  # nats, by which estimates differ by chance


def about_bits(machine):
    """Return true, or raise an error for a machine with real inputs."""
    fitted = vars(machine).get("_kind")
    if fitted is Reals or (fitted is None and machine.visible == "real"):
        raise AttributeError("This is about bits; with visible='real' there are none.")
    return True


class MachineAnswersMixin(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BinaryDensityMixin
):
    """Likelihood, completion, hidden units and samples from fitted weights."""

    predict_proba_bits = available_if(about_bits)(BinaryDensityMixin.predict_proba_bits)
    completion_error = available_if(about_bits)(BinaryDensityMixin.completion_error)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.visible != "real"
        return tags

    @property
    def _n_features_out(self):
        return len(self.components_)

    def _weights(self):
        inputs = self.visible_bias_, self.tree_, self.couplings_
        return Weights(self.components_, self.hidden_bias_, *inputs)

    @property
    def _conditionals(self):
        return real_conditionals if self._kind is Reals else conditionals

    def _is_exact(self):
        n, m = self.n_features_in_, self.n_components_
        limits = self.max_active, self.exact_limit, self.tree_ is not None
        return self._chains is None or is_affordable(n, m, *limits)

    def _find_log_partition(self):
        """Sum over all states, or estimate the sum from both ends."""
        weights = self._weights()
        if self._is_exact():
            sums = real_inputs if self._kind is Reals else hidden_states
            bounds = (sums.log_partition(weights, self.max_active, self.n_jobs),) * 2
        else:
            # Chains that have not mixed make the reverse estimate too small.
            chains = self._chains
            bounds = estimate_log_partition(weights, chains.states, chains.seed)[:2]
        self.log_partition_bounds_ = bounds
        self.log_partition_ = max(bounds)

    def _likelihood_is_asked(self):
        """Make sure that there is a log Z, and say so if it is an estimate."""
        check_is_fitted(self)
        if not hasattr(self, "log_partition_"):
            self._find_log_partition()
        if not self._is_exact():
            forward, reverse = self.log_partition_bounds_
            advice = ""
            if forward > reverse + MARGIN:
                advice = (
                    " The first should not be larger: the chains have not mixed. Fit "
                    "with a smaller learning_rate or a larger alpha."
                )
            warnings.warn(
                "The log-likelihood is an estimate: annealed importance sampling puts "
                f"the log of the sum over all states at {forward:.2f} forward and "
                f"{reverse:.2f} backward. The larger is used, for the lower "
                f"likelihood.{advice}",
                UserWarning,
                stacklevel=3,
            )

    def score_samples(self, X):
        self._likelihood_is_asked()
        return super().score_samples(X)

    @available_if(about_bits)
    @wraps(BinaryDensityMixin.scaled_log_loss)  # its docstring
    def scaled_log_loss(self, X):
        self._likelihood_is_asked()
        return super().scaled_log_loss(X)

    def _log_density(self, signs):
        self._check_missing(signs)
        if not hasattr(self, "log_partition_"):
            self._find_log_partition()
        limits = self.max_active, self.n_jobs
        known = self._conditionals.log_sums_of_known(self._weights(), signs, *limits)
        return known - self.log_partition_

    def _log_odds(self, signs):
        if signs.all():
            return known_log_odds(self._weights(), signs, self.max_active)
        return super()._log_odds(signs)

    def _check_missing(self, signs):
        if self._kind is not Reals:
            check_missing(signs, self.n_components_, self.max_active, self.exact_limit)

    def _complete_by_means(self, signs):
        self._check_missing(signs)
        limits = self.max_active, self.n_jobs
        return self._conditionals.complete_by_means(self._weights(), signs, *limits)

    def _complete_at_random(self, signs, rng):
        if not (signs.any() or self._is_exact()):
            return sample_by_chains(
                self._weights(), self._chains.states, len(signs), rng
            )
        self._check_missing(signs)
        complete = self._conditionals.complete_at_random
        return complete(self._weights(), signs, rng, self.max_active)

    def _most_probable(self, signs):
        self._check_missing(signs)
        return most_probable(self._weights(), signs, self.max_active)

    def transform(self, X):
        """Return the probability of each hidden unit given the row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without missing bits.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components), dtype float64
            That the unit is active.
        """
        check_is_fitted(self)
        rows = self._kind.read(self, X, allow_missing=False)
        activations = rows @ self.components_.T + self.hidden_bias_
        return hidden_posteriors(activations, self.max_active)[1]

    def inverse_transform(self, X):
        """Return the means of the inputs given hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            States of the hidden units, from 0 to 1.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features), dtype float64
            In the codes of the rows that were learned, ``codes_``.
        """
        check_is_fitted(self)
        X = check_array_strict(X, dtype=np.float64)
        if X.shape[1] != self.n_components_:
            width = f"{X.shape[1]} columns for {self.n_components_} hidden units"
            raise ValueError(f"X has {width}; it must have one for each.")
        outside = np.argwhere((X < 0) | (X > 1))
        if len(outside):
            row, unit = outside[0]
            raise ValueError(
                f"X holds {X[row, unit]:g} in column {unit}; states of hidden units "
                "are 0 or 1, and probabilities, as from transform, lie between."
            )
        if self._kind is Reals:
            return log_space.fields(self._weights(), X)
        fields = log_space.log_sums(self._weights(), X)[1]
        return self._kind.write(self, log_space.means(self._weights(), fields)[0])

    @available_if(about_bits)
    def reconstruction_error(self, X):
        """Return what it costs to tell rows from their likeliest hidden states.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows without missing bits.

        Returns
        -------
        error : float
            Mean of -log2 p(x | h) for a bit (Freund, section 4.4), where h is the
            likeliest state given x. It falls with more units: h comes for free.
        """
        check_is_fitted(self)
        signs = read_signs(self, X, allow_missing=False)
        return reconstruction_error(self._weights(), signs, self.max_active)
