"""
The potential of the majority game
==================================

Boost by majority plans k rounds, finds a hypothesis in each, and lets all k vote. A
sample is lost if fewer than half of them are correct about it. Its *potential* is the
probability of a loss, if each remaining hypothesis is correct with probability
1/2 + gamma. Its *weight* is the amount by which the next vote changes its potential.
Both depend only on the number of remaining rounds and on the number of hypotheses that
were correct so far.
"""

# %%
# Potentials and weights
# ----------------------
# In early rounds all samples have similar weights. Towards the end only samples near
# the boundary have weight: the others are already won or lost.

import matplotlib.pyplot as plt
import numpy as np

from sklboolean import BooleanStump, BoostByMajority
from sklboolean.boosting import BoostingSchedule
from sklboolean.datasets import flip_labels
from sklboolean.inspection import PotentialDisplay
from sklboolean.theory import majority_potentials, majority_weights

k, gamma = 51, 0.1
figure, (upper, lower) = plt.subplots(
    2, 1, figsize=(5.5, 6.5), sharex=True, layout="constrained"
)
looks = zip(
    [5, 20, 35, 50], ["#2E8BC0", "#0072B2", "#D55E00", "#000000"], "os^D", strict=True
)
for i, color, marker in looks:
    n_right = np.arange(i + 1)
    look = {"color": color, "marker": marker, "markersize": 4}
    potentials = majority_potentials(k, i, gamma)
    upper.plot(n_right - i / 2, potentials, label=f"after {i} rounds", **look)
    weights = majority_weights(k, i, gamma)
    lower.plot(n_right - i / 2, weights, **look)
upper.set(ylabel="Potential", xlim=(-12, 12))
lower.set(ylabel="Weight", xlabel="Correct hypotheses minus half of the rounds played")
upper.legend()

# %%
# The average potential of a booster
# ----------------------------------
# The average over all samples is the expected training error. It does not rise in a
# round whose hypothesis is correct on at least 1/2 + gamma of the weight. Here gamma is
# 0.06. After twenty rounds many hypotheses have a smaller edge, and exactly in these
# rounds the curve rises. A tenth of the labels is wrong, and nearly all samples that
# are lost in the end are mislabelled.

rng = np.random.RandomState(0)
X = rng.randint(0, 2, size=(1000, 25))
truth = (X[:, :9].sum(axis=1) >= 5).astype(int)
y = flip_labels(truth, 0.1, random_state=0)
booster = BoostByMajority(
    BooleanStump(), schedule=BoostingSchedule(gamma=0.06), random_state=0
).fit(X, y)
PotentialDisplay.from_estimator(booster)
rises = np.diff(booster.potentials_) > 0
short = booster.estimator_edges_[: len(rises)] < 0.06
print(f"The edge is below 0.06 in {short.sum()} rounds")
print(f"The potential rises in {rises.sum()}, {(rises & short).sum()} of them the same")
lost = booster.predict(X) != y
print(f"{lost.mean():.3f} of the samples are lost")
print(f"{(y != truth)[lost].mean():.2f} of the lost samples have a wrong label")

plt.show()
