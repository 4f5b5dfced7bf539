"""
Watching a fit
==============

A long fit can be watched: scikit-learn's callbacks get the model after each step. Here
a monitor scores each round of a booster while it fits, on the training samples and on
others. It needs scikit-learn 1.9.
"""

# %%
# A callback with two scores
# --------------------------
# ``ScoringMonitor`` calls a function after each round. The function may use any
# samples, so the score of held-out samples can be watched too. A tenth of the labels is
# wrong.

import matplotlib.pyplot as plt
from sklearn.callback import ScoringMonitor
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sklboolean import BooleanEncoder, BoostByMajority
from sklboolean.boosting import BoostingSchedule
from sklboolean.datasets import flip_labels
from sklboolean.inspection import BoostingCurveDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
encoder = BooleanEncoder(n_bins=5).fit(X, y)
X, X_new = encoder.transform(X), encoder.transform(X_new)
y = flip_labels(y.to_numpy(), 0.1, random_state=0)


def scores(booster, X, y):
    return {
        "training, a tenth of the labels is wrong": booster.score(X, y),
        "held-out": booster.score(X_new, y_new),
    }


monitor = ScoringMonitor(scoring=scores)
booster = BoostByMajority(
    schedule=BoostingSchedule(gamma=0.1), n_estimators=61, random_state=0, verbose=1
)
booster.set_callbacks(monitor).fit(X, y)

# %%
# The score of each round
# -----------------------
# The lines above come from ``verbose=1``. The monitor has the scores of all rounds. The
# score of the training samples, with their wrong labels, still rises when the held-out
# samples gain no more: fewer rounds do as well.

rounds = [each for each in monitor.get_logs().data if each["task_name"] == "round"]
curves = {name: [each[name] for each in rounds] for name in scores(booster, X, y)}
BoostingCurveDisplay(curves).plot()

plt.show()
