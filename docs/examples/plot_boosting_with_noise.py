"""
Boosting with noisy labels
==========================

AdaBoost increases the weight of a sample with every round that misclassifies it. A
mislabelled sample stays misclassified, so its weight grows until it dominates. Boost by
majority plans its rounds and gives up on samples that the remaining rounds can no
longer win, so their weight falls again.

The data are those of Long and Servedio, made to defeat boosting by convex losses. Some
training labels are flipped; the test labels are correct.
"""

# %%
# Error against label noise
# -------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier

from sklboolean import BoostByMajority
from sklboolean.datasets import flip_labels, make_long_servedio

boosters = {
    "BoostByMajority": BoostByMajority(random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=100, random_state=0),
    "gradient boosting": GradientBoostingClassifier(random_state=0),
}
noises = [0, 0.1, 0.2]
error = {name: np.zeros((3, len(noises))) for name in boosters}
for seed in range(3):
    X, y = make_long_servedio(400, random_state=seed)
    X_test, y_test = make_long_servedio(2000, random_state=100 + seed)
    for place, noise in enumerate(noises):
        noisy = flip_labels(y, noise, random_state=seed)
        for name, booster in boosters.items():
            booster.fit(X, noisy)
            error[name][seed, place] = 1 - booster.score(X_test, y_test)

# %%
# Result
# ------
# Means of three data sets, with bands of one standard error.

figure, ax = plt.subplots(layout="constrained")
looks = zip(["#0072B2", "#D55E00", "#009E73"], ["-", "--", "-."], "osD", strict=True)
for (name, runs), (color, line, marker) in zip(error.items(), looks, strict=True):
    mean, deviation = runs.mean(axis=0), runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    ax.plot(noises, mean, line, color=color, marker=marker, label=name)
    ax.fill_between(noises, mean - deviation, mean + deviation, color=color, alpha=0.2)
ax.set(xlabel="Label noise", xticks=noises)
ax.set(ylabel="Test error", ylim=(-0.01, None))
figure.legend(loc="outside upper center", ncols=3)

plt.show()
