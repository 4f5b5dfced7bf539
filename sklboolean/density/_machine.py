"""Base of all machines: checks, starts, resumed training, hidden units."""

# `MachineState` is all that a prediction needs. Machines that learn by exact sums
# derive from `ExactTrainingMixin`, those with binary inputs from `BinaryMachineMixin`.

from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.data_errors import check_n_features
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.validation import check_array_strict
from sklboolean.density._initialization import (
    given_start,
    pursuit_starts,
    random_starts,
)
from sklboolean.density._maximum_likelihood import make_table
from sklboolean.density._pcd import PCDState
from sklboolean.density._rbm_params import RBMParams, hidden_posteriors

ALPHAS = (1e-2, 1e-3, 1e-4)  # among which alpha="auto" chooses
PRIOR = 2.0  # alpha times the number of samples, by default: weights of variance 1 / 2


@dataclass(frozen=True)
class MachineState:
    """The state of a fitted machine; chains only where it learned from them."""

    params: RBMParams
    chains: PCDState | None = None
    log_partition: float | None = None  # None: not known yet


class MachineMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Base of all machines.

    Each has ``_log_partition`` of parameters; ``_fit_inputs(samples, weights,
    centre)``, which fits the distribution of the inputs without hidden units; and
    ``_input_means(states)``, the means of the inputs given hidden units.
    """

    _log_base = None  # of the base measure: 0 for binary inputs
    _exact_limit = 20  # sums over more than 2 ** 20 states take too long

    @property
    def _n_features_out(self):
        return self.n_components_

    def _pursues(self):
        """Test whether projection pursuit finds the units, and counts them."""
        return isinstance(self.init, str) and self.init == "projection_pursuit"

    def _check_shared_params(self):
        """Check the parameters of all machines and collect those of training."""
        if isinstance(self.init, str):
            check_choice(self.init, "init", ("random", "projection_pursuit"))
        n_components, _ = self._hidden_units()
        if n_components != "auto":
            check_integer(n_components, "n_components", 1)
        elif not isinstance(self.init, str):
            raise ValueError(
                "init is an array with a number of hidden units: set n_components to "
                "that number; got 'auto'."
            )
        return {"alpha": self._check_alpha(), "visible_bias": self._has_visible_bias()}

    def _hidden_units(self):
        """Return the number of hidden units, and of those that can be active."""
        return self.n_components, None

    def _has_visible_bias(self):
        return self.base != "uniform"

    def _check_alpha(self):
        if self.alpha is None:
            return min(ALPHAS)
        return check_real(self.alpha, "alpha", 0.0)

    def _set_alpha(self, options, total):
        """Set the default penalty of so many samples."""
        if self.alpha is not None:
            return options
        # At most that of two samples: weights may be shares, of sum 1.
        return replace(options, alpha=max(min(ALPHAS), PRIOR / max(PRIOR, total)))

    def _reporting(self, options, progress):
        """Let training report its iterations."""

        def report(text, params, log_z=None, chains=None):
            state = MachineState(params, chains, log_z)
            return progress.step(
                lambda: text, lambda machine: machine._set_state(state)
            )

        return replace(options, report=report)

    def _starts(self, samples, weights, centre, options, rng, m, n_init):
        """Choose the parameters from which training of m units starts: an iterable."""
        if options.start is not None:
            return [options.start]
        inputs = self._fit_inputs(samples, weights, centre)
        if not isinstance(self.init, str):
            return [given_start(inputs, self.init, m)]
        if self._pursues():
            table = make_table(samples, weights, self._log_base)
            return pursuit_starts(
                inputs, table, weights.sum(), m, n_init, self._exact_limit, rng
            )
        return random_starts(inputs, m, n_init, rng)

    def _set_state(self, state, n_iter=0):
        """Set all fitted attributes."""
        self._state = state
        params = state.params
        self.components_ = params.components
        self.hidden_bias_ = params.hidden_bias
        self.visible_bias_ = params.visible_bias
        self.n_components_ = len(params.components)
        self.n_iter_ = n_iter

    def _fields(self):
        params = self._state.params
        names = "components", "hidden_bias", "visible_bias", "couplings", "max_active"
        fields = {name: getattr(params, name) for name in names}
        sums = {"tree": params.parents, "log_partition": self.log_partition_}
        return super()._fields() | fields | sums

    def transform(self, X) -> np.ndarray:
        """Compute the probability of each hidden unit given the sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is summed out; real inputs must be known.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components), dtype float64
            Probability that the unit is active.
        """
        check_is_fitted(self)
        allow_missing = get_tags(self).input_tags.allow_nan
        return self._hidden_means(self._read(X, allow_missing=allow_missing))

    def _hidden_means(self, samples):
        params = self._state.params
        return hidden_posteriors(params.activations(samples), params.max_active)[1]

    def inverse_transform(self, X) -> np.ndarray:
        """Compute the means of the inputs given hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            States of the hidden units, from 0 to 1.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features), dtype float64
            Written as the training data.
        """
        check_is_fitted(self)
        X = check_array_strict(X, dtype=np.float64)
        check_n_features(X.shape[1], self.n_components_, "the number of units is")
        outside = np.argwhere((X < 0) | (X > 1))
        if len(outside):
            sample, unit = outside[0]
            raise ValueError(
                f"X holds {X[sample, unit]:g} in column {unit}; states of hidden units "
                "are 0 or 1, and probabilities, as from transform, lie between."
            )
        return self._write(self._input_means(X))
