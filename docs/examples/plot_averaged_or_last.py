"""
Averaging a perceptron
======================

A perceptron changes its weights at every mistake, so its last hypothesis depends on the
last mistakes. The mean of all hypotheses is more stable when labels are noisy. It costs
nothing, because the same additions keep it up to date.
"""

# %%
# A vote of 15 features, with 10 % label noise
# --------------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from sklboolean import AveragedPerceptron
from sklboolean.datasets import flip_labels

rng = np.random.RandomState(0)
X = rng.randint(0, 2, size=(6000, 60))
y = (X[:, :15].sum(axis=1) >= 8).astype(int)
X_test, y_test = X[3000:], y[3000:]
noisy = flip_labels(y[:3000], 0.1, random_state=0)

classifiers = {
    "last hypothesis": AveragedPerceptron(average=None, margin=0),
    "mean hypothesis": AveragedPerceptron(margin=0),
}
error = {name: [] for name in classifiers}
edges = np.arange(25, 3001, 25)
for name, classifier in classifiers.items():
    for first, last in zip(edges - 25, edges, strict=True):
        classifier.partial_fit(X[first:last], noisy[first:last], classes=[0, 1])
        error[name].append(1 - classifier.score(X_test, y_test))

# %%
# Error on new samples without noise
# ----------------------------------

figure, ax = plt.subplots(layout="constrained")
looks = zip(["#D55E00", "#0072B2"], ["-", "--"], strict=True)
for (name, values), (color, line) in zip(error.items(), looks, strict=True):
    ax.plot(edges, values, line, color=color, label=name, linewidth=1.5)
ax.set(xlabel="Samples seen", ylabel="Error on 3000 samples", ylim=0)
ax.legend()
for name, values in error.items():
    late = np.array(values[-40:])
    print(f"{name}: {late.mean():.3f} +- {late.std():.3f} over the last 1000 samples")

plt.show()
