"""Queries of a machine with binary inputs: odds, completions, hidden units."""

import numpy as np
from sklearn.neural_network import BernoulliRBM
from sklearn.utils.validation import check_is_fitted

from sklboolean.density._base import BinaryDensityMixin, apply_in_blocks
from sklboolean.density._conditionals import (
    check_missing,
    complete_at_random,
    complete_by_means,
    hidden_means,
    known_log_odds,
    log_sums_of_known,
    reconstruction_error,
)
from sklboolean.density._machine import MachineMixin
from sklboolean.density._partition_function import (
    input_means,
    log_partition,
    log_sums_over_inputs,
)


class BinaryMachineMixin(MachineMixin, BinaryDensityMixin):
    """Methods of a machine with binary inputs.

    A fitted machine has ``log_partition_``. All else is computed exactly from the
    parameters, for samples with few enough missing bits.
    """

    def _set_state(self, state, n_iter=0):
        super()._set_state(state, n_iter)
        self.tree_, self.couplings_ = state.params.parents, state.params.couplings

    def _log_partition(self, params):
        return log_partition(params)

    def _log_density(self, signs):
        check_missing(self._state.params, signs, self._exact_limit)
        log_sums = log_sums_of_known(self._state.params, signs)
        return log_sums - self.log_partition_

    def _log_odds(self, signs):
        if signs.all():
            return known_log_odds(self._state.params, signs)
        return super()._log_odds(signs)

    def _hidden_means(self, signs):
        check_missing(self._state.params, signs, self._exact_limit)
        complete = signs.all(axis=1)
        if complete.all():
            return super()._hidden_means(signs)
        means = np.empty((len(signs), self.n_components_))
        means[complete] = super()._hidden_means(signs[complete])
        means[~complete] = apply_in_blocks(
            lambda part: hidden_means(self._state.params, part), signs[~complete]
        )
        return means

    def _complete_by_means(self, signs, rng=None):
        check_missing(self._state.params, signs, self._exact_limit)
        return complete_by_means(self._state.params, signs)

    def _complete_at_random(self, signs, rng):
        check_missing(self._state.params, signs, self._exact_limit)
        return complete_at_random(self._state.params, signs, rng)

    def _input_means(self, states):
        fields = log_sums_over_inputs(self._state.params, states)[1]
        return input_means(self._state.params, fields)[0]

    def reconstruction_error(self, X) -> float:
        """Compute the cost of samples given their most probable hidden states.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without missing bits.

        Returns
        -------
        error : float
            Mean of -log2 p(x | h) per bit (Freund, section 4.4), where h is the most
            probable state given x. It falls with more units, as the cost of h is not
            counted.
        """
        check_is_fitted(self)
        signs = self._read(X, allow_missing=False)
        return reconstruction_error(self._state.params, signs)

    def to_bernoulli_rbm(self) -> BernoulliRBM:
        """Convert to a ``BernoulliRBM`` with the same distribution of bits 0 and 1.

        With x = 2 v - 1, w.x + theta = (2 w).v + (theta - sum w) and
        b.x = (2 b).v - sum b.

        Returns
        -------
        rbm : BernoulliRBM
            Fitted.

        Raises
        ------
        ValueError
            For a machine with a tree or with a limit of active units.
        """
        check_is_fitted(self)
        params = self._state.params
        for name, value, setting in (
            ("tree", params.parents, "base='independent'"),
            ("feature_groups", params.attributes, "feature_groups=None"),
            ("limit of active units", params.max_active, "an int as n_components"),
        ):
            if value is not None:
                raise ValueError(
                    f"A BernoulliRBM has no {name}: its inputs are independent given "
                    "the hidden units, and these given the inputs. Fit with "
                    f"{setting} to convert."
                )
        components = params.components
        rbm = BernoulliRBM(len(components), n_iter=0, random_state=0)
        rbm.fit(np.zeros((1, components.shape[1])))
        rbm.components_ = 2 * components
        rbm.intercept_hidden_ = params.hidden_bias - components.sum(axis=1)
        rbm.intercept_visible_ = 2 * params.visible_bias
        if hasattr(self, "feature_names_in_"):
            rbm.feature_names_in_ = self.feature_names_in_
        return rbm
