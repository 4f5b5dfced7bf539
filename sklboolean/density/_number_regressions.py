"""Regressions of the numbers of a data frame on its other columns, filled in."""

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# Of standardized columns. The best one by leave-one-out errors is taken.
PENALTIES = np.logspace(0, 4, 9)


class NumberRegressions:
    """A ridge regression of each number on all other columns of a data frame.

    Of numbers the values count, of other columns the probabilities of their features.
    Samples without a value of a number do not count for its regression.

    Parameters
    ----------
    columns : list of (ndarray, str)
        As those of `FrameBits`.
    numbers : list of int
        The columns that are numbers.
    values : ndarray of shape (n_samples, n_columns), float64
        The known numbers, and estimates of the others. Other columns are not read.
    means : ndarray of shape (n_samples, n_features), float64
        Probabilities of the features; 0 and 1 for those of known values.
    is_known : ndarray of shape (n_samples, n_columns), bool
    """

    def __init__(self, columns, numbers, values, means, is_known):
        self.numbers = list(numbers)
        others = [
            places for j, (places, _) in enumerate(columns) if j not in self.numbers
        ]
        self.places = np.concatenate([np.empty(0, dtype=np.int64), *others])
        # Squares of large values would overflow.
        largest = np.abs(values[:, self.numbers]).max(axis=0, initial=0.0)
        self.scales = np.where(largest > 0, largest, 1.0)
        self.models, self.ranges = {}, {}
        for j in self.numbers:
            rows = np.flatnonzero(is_known[:, j])
            features, target = self._split(j, values[rows], means[rows])
            if len(rows) > 1 and features.shape[1]:
                model = make_pipeline(StandardScaler(), RidgeCV(alphas=PENALTIES))
                self.models[j] = model.fit(features, target)
                self.ranges[j] = target.min(), target.max()

    def _split(self, j, values, means):
        """Separate a number from the columns that predict it."""
        position = self.numbers.index(j)
        # Later values may be far outside those of training.
        values = np.clip(values[:, self.numbers], -self.scales, self.scales)
        scaled = values / self.scales
        features = np.delete(scaled, position, axis=1), means[:, self.places]
        return np.hstack(features), scaled[:, position]

    def predict(self, j, values, means):
        """Predict a number, within its values; None where there is no regression."""
        if j not in self.models:
            return None
        features, _ = self._split(j, values, means)
        predicted = np.clip(self.models[j].predict(features), *self.ranges[j])
        return predicted * self.scales[self.numbers.index(j)]
