"""
The potential of the majority game
==================================

Boost by majority is a game of k rounds. In each, the weightor puts weights on examples,
and the chooser marks at least 1/2 + gamma of the weight as right. An example is lost if
it is not marked in most rounds. The *potential* of an example is the probability that
it will be lost if all rounds to come are coins that show "right" with probability
1/2 + gamma; its *weight* is what one more mark would change. Both depend only on the
rounds left and the marks so far.
"""

# %%
# Potentials and weights
# ----------------------
# Early all examples count alike. Towards the end only those on the brink do: the others
# are saved or lost already.

import matplotlib.pyplot as plt
import numpy as np

from sklboolean import BooleanStump, BoostByMajority
from sklboolean.datasets import flip_labels
from sklboolean.inspection import PotentialDisplay
from sklboolean.theory import majority_potentials, majority_weights

k, gamma = 51, 0.1
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
looks = zip(
    [5, 20, 35, 50], ["#56B4E9", "#0072B2", "#D55E00", "#000000"], "os^D", strict=True
)
for i, color, marker in looks:
    marks = np.arange(i + 1)
    look = {"color": color, "marker": marker, "markersize": 4}
    potentials = majority_potentials(k, i, gamma)
    left.plot(marks - i / 2, potentials, label=f"after {i} rounds", **look)
    weights = majority_weights(k, i, gamma)
    right.plot(marks - i / 2, weights, **look)
for ax, name in [(left, "Potential"), (right, "Weight")]:
    ax.set(xlabel="Marks beyond half of the rounds played", ylabel=name, xlim=(-12, 12))
left.legend()

# %%
# The average potential of a booster
# ----------------------------------
# It is the training error that is to be expected, and never rises while the hypotheses
# keep the edge that was planned; here it rises where they have less. Every tenth label
# is wrong, and the rows that are given up in the end are those.

rng = np.random.RandomState(0)
X = rng.randint(0, 2, size=(1000, 25))
truth = (X[:, :9].sum(axis=1) >= 5).astype(int)
y = flip_labels(truth, 0.1, random_state=0)
booster = BoostByMajority(BooleanStump(), gamma=0.06, random_state=0).fit(X, y)
PotentialDisplay.from_estimator(booster)
lost = booster.predict(X) != y
print(f"{lost.mean():.3f} of the rows are lost")
print(f"{(y != truth)[lost].mean():.2f} of the rows lost have a wrong label")

plt.show()
