"""
How many mistakes does a feature cost?
======================================

"At least 10 of these 100": the label counts a hundred relevant features, and the more
others there are beside them, the longer a learner takes to find out which. Each learner
goes once over the same stream; what is drawn is how often it was wrong on the way.

The perceptron adds the rows it was wrong about and is led astray by every feature.
Winnow multiplies weights, and those of useless features die out.
"""

# %%
# One stream for each number of features
# --------------------------------------

import matplotlib.pyplot as plt
import numpy as np

from sklboolean import AveragedPerceptron, Winnow
from sklboolean.inspection import MistakeCurveDisplay

learners = {
    "perceptron": AveragedPerceptron(average=None, margin=0),
    "averaged perceptron": AveragedPerceptron(margin=0),
    "Winnow": Winnow(variant="positive", average=None, margin=0),
}
n_features_list = [100, 200, 400, 800, 1600]
n_samples = 8000


def stream(n_features):
    """Return rows and labels, true where 10 of the first 100 features are."""
    rng = np.random.RandomState(0)
    X = rng.random_sample((n_samples, n_features)) < 0.1
    return X, X[:, :100].sum(axis=1) >= 10


# %%
# Mistakes as the stream goes on, with 1600 features
# --------------------------------------------------
# The grey line is where always guessing the more frequent label would end.

X, y = stream(1600)
guessing = min(y.mean(), 1 - y.mean()) * n_samples
MistakeCurveDisplay.from_estimator(learners, X, y, bounds={"guessing": guessing})

# %%
# Mistakes against the number of features
# ---------------------------------------
# With ``growth=0.05`` larger blocks are predicted before they are learned: that is
# quicker, and counts a few mistakes more than above.

mistakes = {name: [] for name in learners}
figure, unseen = plt.subplots()
for n_features in n_features_list:
    curves = MistakeCurveDisplay.from_estimator(
        learners, *stream(n_features), growth=0.05, ax=unseen
    )
    for name, counts in curves.mistakes.items():
        mistakes[name].append(counts[-1])
plt.close(figure)

_, ax = plt.subplots(layout="constrained")
looks = zip(["#0072B2", "#D55E00", "#009E73"], ["-", "--", "-."], "osD", strict=True)
for (name, values), (color, line, marker) in zip(mistakes.items(), looks, strict=True):
    ax.plot(n_features_list, values, line, color=color, marker=marker, label=name)
ax.set(xlabel="Features, 100 of them relevant", ylabel=f"Mistakes in {n_samples} rows")
ax.set_xscale("log", base=2)
ax.set_xticks(n_features_list, n_features_list)
ax.legend()

plt.show()
