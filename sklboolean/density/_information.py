"""Mutual information of columns under a density."""

# All is computed from marginals of the density, which are exact: no samples are drawn.
# `information_gain` needs the joint distribution of one missing bit and the chosen
# bits, 2^(k + 1) numbers for each sample and each missing bit. `mutual_information`
# needs the probability of each value, and the mean of all other columns given it.

import numpy as np
from scipy.special import rel_entr
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.data_errors import column_names
from sklboolean.density._attribute_forest import Attributes
from sklboolean.preprocessing._frames import frame_like, is_frame

BLOCK_SIZE = 4096  # samples at a time: bounds the memory for intermediate results
MAX_COLUMNS = 20  # of a joint distribution: 2 ** 20 probabilities for each sample


def apply_in_blocks(function, samples):
    """Apply a function to blocks of samples and concatenate the results."""
    results = []
    for start in range(0, len(samples), BLOCK_SIZE):
        results.append(function(samples[start : start + BLOCK_SIZE]))
    return np.concatenate(results)


class InformationMixin:
    """Mutual information of columns, exact under a binary density.

    Besides the methods of ``BinaryDensityMixin`` a fitted model has
    ``_log_marginals(signs)``, ``_joint_probabilities(signs, columns)`` and
    ``_complete_by_means(signs)``.
    """

    def information_gain(self, X, columns):
        """Compute the information that each unknown bit would give about chosen bits.

        The mutual information of the bit and the chosen bits, given the known bits of
        the sample: the expected fall of the entropy of the chosen bits when the bit
        becomes known. Ask for the bit with the largest gain.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit. The values in the chosen columns are ignored.
        columns : sequence of int or str
            Up to 19 columns, by number or name.

        Returns
        -------
        gains : ndarray or data frame of shape (n_samples, n_features), dtype float64
            In nats, at least 0; 0 for known bits and in the chosen columns. A data
            frame with the columns of X, if X is one of pandas or polars.

        References
        ----------
        Lindley. "On a Measure of the Information Provided by an Experiment". Annals of
        Mathematical Statistics 27, 1956, section 2.

        Examples
        --------
        >>> import numpy as np
        >>> from sklboolean import ChowLiuTree
        >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 10
        >>> asked = [[np.nan, np.nan, np.nan]]
        >>> ChowLiuTree().fit(X).information_gain(asked, [0]).round(1)
        array([[0. , 0.6, 0. ]])
        """
        check_is_fitted(self)
        columns = self._column_numbers(columns, MAX_COLUMNS - 1)
        signs = self._read(X, ignored=columns)
        gains = np.zeros(signs.shape)
        for column in sorted(set(range(signs.shape[1])) - set(columns)):
            unknown = np.flatnonzero(signs[:, column] == 0)
            if not len(unknown):
                continue
            joint = self._joint_probabilities(signs[unknown], [column, *columns])
            joint = joint.reshape(len(unknown), 2, -1)
            product = joint.sum(1, keepdims=True) * joint.sum(2, keepdims=True)
            # Rounding may leave a small negative sum.
            gains[unknown, column] = rel_entr(joint, product).sum(axis=(1, 2)).clip(0)
        return frame_like(X, gains, tuple(column_names(X))) if is_frame(X) else gains

    def mutual_information(self) -> np.ndarray:
        """Compute the mutual information of any two columns.

        It is that under the model, from the exact probabilities of all pairs of values.
        It shows which columns depend on each other, not why.

        Returns
        -------
        information : ndarray of shape (n_features, n_features), dtype float64
            In nats. Symmetric, at least 0, and 0 on the diagonal. With
            `feature_groups` it is that of attributes: the columns of one have the same
            values, and 0 with each other.

        See Also
        --------
        sklboolean.inspection.DependenceDisplay : The strongest pairs as bars.

        Examples
        --------
        >>> from sklboolean import ChowLiuTree
        >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 10
        >>> ChowLiuTree().fit(X).mutual_information().round(1)
        array([[0. , 0.6, 0. ],
               [0.6, 0. , 0. ],
               [0. , 0. , 0. ]])
        """
        check_is_fitted(self)
        attributes = self._attributes or Attributes(np.arange(self.n_features_in_))
        values = self._all_missing(attributes.sizes.sum())
        for number, here in enumerate(attributes.slices):
            of_attribute = attributes.columns_of(number)
            values[here, of_attribute] = attributes.value_signs(number)
        logs = self._log_marginals(values)
        values = self._attributes.complete(values) if self._attributes else values
        means = (apply_in_blocks(self._complete_by_means, values) + 1) / 2
        alone = ~attributes.grouped[attributes.of_column]
        conditionals = np.empty((len(values),) * 2)  # each value, given that of the row
        conditionals[:, attributes.true_values] = means
        conditionals[:, attributes.true_values[alone] - 1] = 1 - means[:, alone]
        joint = np.exp(logs)[:, None] * conditionals
        joint = (joint + joint.T) / 2  # rounding
        information = attributes.mutual_information(joint)
        return information[np.ix_(attributes.of_column, attributes.of_column)]
