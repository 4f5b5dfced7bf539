"""Models of other packages, written as their users write them."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split

__all__ = ["StoppedLightGBM"]


class StoppedLightGBM(BaseEstimator):
    """LightGBM with up to 1000 rounds, stopped by a tenth of the samples.

    ``numbers`` makes it a regressor.
    """

    def __init__(self, random_state=None, *, numbers=False):
        self.random_state, self.numbers = random_state, numbers

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.numbers else "classifier"
        return tags

    def fit(self, X, y):
        from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping

        kind = LGBMRegressor if self.numbers else LGBMClassifier
        few = self.numbers or np.unique(y, return_counts=True)[1].min() < 2
        X, X_held, y, y_held = train_test_split(
            X, y, test_size=0.1, stratify=None if few else y,
            random_state=self.random_state,
        )  # fmt: skip
        known = self.numbers | np.isin(y_held, y)
        self.model_ = kind(
            n_estimators=1000, n_jobs=1, verbose=-1, random_state=self.random_state
        ).fit(
            X, y, eval_set=[(X_held[known], y_held[known])],
            callbacks=[early_stopping(20, verbose=False)],
        )  # fmt: skip
        self.classes_ = getattr(self.model_, "classes_", None)
        self.booster_ = self.model_.booster_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)
