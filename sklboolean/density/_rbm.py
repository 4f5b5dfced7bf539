"""A machine is a restricted Boltzmann machine: the same model in other units.

With x = 2 v - 1, w.x + theta = (2 w).v + (theta - sum w) and b.x = (2 b).v - sum b.
"""

import numpy as np
from sklearn.neural_network import BernoulliRBM
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.validation import check_integer
from sklboolean.density._hidden_states import Weights
from sklboolean.density._machine_answers import about_bits
from sklboolean.density._parameters import check_affordable


def rbm_of(weights, max_active):
    """Return a fitted BernoulliRBM with the distribution of a machine without tree."""
    components = weights.components
    if weights.parents is not None:
        raise ValueError(
            "A BernoulliRBM has no tree: its inputs are independent given the hidden "
            "units. Fit with base='independent' to convert."
        )
    if max_active is not None and max_active < len(components):
        raise ValueError(
            "A BernoulliRBM has no max_active: its hidden units are independent given "
            "the inputs. Fit with max_active=None to convert."
        )
    rbm = BernoulliRBM(len(components), n_iter=0, random_state=0)
    rbm.fit(np.zeros((1, components.shape[1])))
    rbm.components_ = 2 * components
    rbm.intercept_hidden_ = weights.hidden_bias - components.sum(axis=1)
    rbm.intercept_visible_ = 2 * weights.visible_bias
    return rbm


def weights_of_rbm(rbm):
    """Return the weights of the machine with the distribution of a BernoulliRBM."""
    components = np.asarray(rbm.components_, dtype=np.float64) / 2
    return Weights(
        components,
        np.asarray(rbm.intercept_hidden_, dtype=np.float64) + components.sum(axis=1),
        np.asarray(rbm.intercept_visible_, dtype=np.float64) / 2,
    )


class BernoulliRBMMixin:
    """To and from scikit-learn's machine."""

    @available_if(about_bits)
    def to_bernoulli_rbm(self):
        """Return scikit-learn's machine with the same distribution of bits 0 and 1.

        Returns
        -------
        rbm : BernoulliRBM
            Fitted.

        Raises
        ------
        ValueError
            For a machine with a tree or with `max_active`.
        """
        check_is_fitted(self)
        rbm = rbm_of(self._weights(), self.max_active)
        if hasattr(self, "feature_names_in_"):
            rbm.feature_names_in_ = self.feature_names_in_
        return rbm

    @classmethod
    def from_bernoulli_rbm(cls, rbm, *, exact_limit=20):
        """Return a machine with the distribution of a BernoulliRBM, asked exactly.

        Parameters
        ----------
        rbm : BernoulliRBM
            Fitted.
        exact_limit : int, default=20
            Sums over more than 2 ** exact_limit states are refused.

        Returns
        -------
        machine : CombinationMachine
            Fitted; ``warm_start=True`` lets ``fit`` go on from it.
        """
        check_is_fitted(rbm)
        check_integer(exact_limit, "exact_limit", 1, 30)
        weights = weights_of_rbm(rbm)
        m, n = weights.components.shape
        check_affordable(n, m, None, exact_limit)
        machine = cls(m, exact_limit=exact_limit)
        machine.n_features_in_, machine.codes_ = n, np.array([0.0, 1.0])
        if hasattr(rbm, "feature_names_in_"):
            machine.feature_names_in_ = rbm.feature_names_in_
        return machine._publish(weights, [])
