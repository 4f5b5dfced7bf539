"""
Mistakes of online classifiers and the number of features
=========================================================

The label is "at least 10 of these 100 features are true". The more irrelevant features
there are, the more mistakes a classifier makes until it finds the relevant ones. Each
classifier makes one pass over the same stream, and its mistakes are counted.

The perceptron adds misclassified samples to its weights, so every irrelevant feature
adds noise. Winnow multiplies weights, and those of irrelevant features go to zero.
"""

# %%
# One stream for each number of features
# --------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from sklboolean import AveragedPerceptron, Winnow
from sklboolean.inspection import MistakeCurveDisplay

classifiers = {
    "perceptron": AveragedPerceptron(average=None, margin=0),
    "averaged perceptron": AveragedPerceptron(margin=0),
    "Winnow": Winnow(variant="positive", average=None, margin=0),
}
n_features_list = [100, 200, 400, 800, 1600]
n_samples = 8000


def stream(n_features):
    """Generate samples labelled by "at least 10 of the first 100 features are true"."""
    rng = np.random.RandomState(0)
    X = rng.random_sample((n_samples, n_features)) < 0.1
    return X, X[:, :100].sum(axis=1) >= 10


# %%
# Mistakes against samples seen, with 1600 features
# -------------------------------------------------
# The grey line is the number of mistakes of always predicting the more frequent label.

X, y = stream(1600)
guessing = min(y.mean(), 1 - y.mean()) * n_samples
MistakeCurveDisplay.from_estimator(classifiers, X, y, bounds={"guessing": guessing})

# %%
# Mistakes against the number of features
# ---------------------------------------
# With ``growth=0.05``, larger blocks are predicted before they are used for training.
# This is faster, and counts a few more mistakes than above.

mistakes = {name: [] for name in classifiers}
figure, unseen = plt.subplots()
for n_features in n_features_list:
    curves = MistakeCurveDisplay.from_estimator(
        classifiers, *stream(n_features), growth=0.05, ax=unseen
    )
    for name, counts in curves.mistakes.items():
        mistakes[name].append(counts[-1])
plt.close(figure)

_, ax = plt.subplots(layout="constrained")
looks = zip(["#0072B2", "#D55E00", "#009E73"], ["-", "--", "-."], "osD", strict=True)
for (name, values), (color, line, marker) in zip(mistakes.items(), looks, strict=True):
    ax.plot(n_features_list, values, line, color=color, marker=marker, label=name)
ax.set(
    xlabel="Features, 100 of them relevant", ylabel=f"Mistakes in {n_samples} samples"
)
ax.set_xscale("log", base=2)
ax.set_xticks(n_features_list, n_features_list)
ax.legend()

plt.show()
