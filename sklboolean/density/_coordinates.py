"""Coordinates in which a machine is learned: one vector, centred and symmetric.

In (h - 1/2) . (W (x - mean) + t) + c.x a hidden unit may be turned around, with W and t
negated, and c stays: a hidden unit that is mostly active and one that is mostly silent
are learned alike. The centre does the same for inputs that are mostly true or false.
Both are linear maps of the weights, and the machine is the same.
"""

from typing import NamedTuple

import numpy as np

from sklboolean.density._hidden_states import Weights


class Coordinates(NamedTuple):
    """Maps between the weights of a machine and the vector that is learned.

    The vector holds the components, the hidden biases, the visible biases if they are
    learned, and the couplings if there is a tree.
    """

    n_components: int
    centre: np.ndarray  # (n,)
    visible_bias: bool
    parents: np.ndarray | None

    @property
    def _shift(self):
        # Without visible biases nothing could take up what a symmetric unit needs.
        return 0.5 if self.visible_bias else 0.0

    def _parts(self, vector):
        m, n = self.n_components, len(self.centre)
        ends = np.cumsum([m * n, m, n * self.visible_bias])
        components, hidden, visible, couplings = np.split(vector, ends)
        return components.reshape(m, n), hidden, visible, couplings

    def weights_of(self, vector):
        """Return the weights of the machine."""
        components, hidden, visible, couplings = self._parts(vector)
        if self.visible_bias:
            visible = visible - self._shift * components.sum(axis=0)
        else:
            visible = np.zeros_like(self.centre)
        return Weights(
            components,
            hidden - components @ self.centre,
            visible,
            self.parents,
            None if self.parents is None else couplings,
        )

    def vector_of(self, weights):
        """Return the vector of a machine: the inverse of ``weights_of``."""
        components = weights.components
        parts = [components.ravel(), weights.hidden_bias + components @ self.centre]
        if self.visible_bias:
            parts.append(weights.visible_bias + self._shift * components.sum(axis=0))
        if self.parents is not None:
            parts.append(weights.couplings)
        return np.concatenate(parts)

    def gradient_of(self, gradient):
        """Return the gradient by the vector, from that by the weights."""
        by_components = gradient.products - np.outer(gradient.hidden, self.centre)
        by_components -= self._shift * gradient.visible
        parts = [by_components.ravel(), gradient.hidden]
        if self.visible_bias:
            parts.append(gradient.visible)
        if self.parents is not None:
            parts.append(gradient.edges)
        return np.concatenate(parts)

    def penalised(self, vector):
        """Return the vector with 0 for the hidden biases, which bear no penalty."""
        vector = vector.copy()
        self._parts(vector)[1][:] = 0.0
        return vector
