"""A machine is a restricted Boltzmann machine: the same model in other units.

With x = 2 v - 1, w.x + theta = (2 w).v + (theta - sum w) and b.x = (2 b).v - sum b.
"""

import numpy as np
from sklearn.neural_network import BernoulliRBM

from sklboolean.density.hidden_states import Weights

__all__ = ["rbm_of", "weights_of_rbm"]


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
