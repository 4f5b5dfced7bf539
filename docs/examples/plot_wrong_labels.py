"""
Which labels are wrong?
=======================

A booster that compares schedules holds out every sample once. ``label_quality_`` says
how far votes that were not trained on a sample are for its label. The samples with the
smallest values are worth a second look.
"""

# %%
# Labels of which a tenth is wrong
# --------------------------------
# The mushrooms of the bundled table; a tenth of the labels is flipped.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from sklboolean import BoostByMajority
from sklboolean.datasets import flip_labels, load_mushroom
from sklboolean.inspection import BoostingCurveDisplay, label_quality

X, y = load_mushroom(return_X_y=True)
chosen = np.random.default_rng(0).permutation(len(y))[:2000]
X, y = X[chosen], y[chosen]
given = flip_labels(y, 0.1, random_state=0)
is_wrong = given != y
booster = BoostByMajority(random_state=0).fit(X, given)
quality = booster.label_quality_
print(f"{is_wrong.sum()} of {len(y)} labels are wrong")
print(f"Area under the ROC curve: {roc_auc_score(is_wrong, -quality):.3f}")

# %%
# The same question without a booster
# -----------------------------------
# ``label_quality`` asks any classifier, each fold with a model of the others. Its
# default is the averaged perceptron, which takes milliseconds.

quick = label_quality(X, given, random_state=0)
print(f"Area under the ROC curve: {roc_auc_score(is_wrong, -quick):.3f}")

# %%
# Look at the samples in this order
# ---------------------------------
# The share of the wrong labels that has been found after so many samples.

order = np.argsort(quality)
found = np.cumsum(is_wrong[order]) / is_wrong.sum()
n_seen = np.arange(1, len(y) + 1)
figure, ax = plt.subplots(layout="constrained")
ax.plot(n_seen, found, label="smallest quality first")
ax.plot(n_seen, n_seen / len(y), "--", color="gray", label="random order")
ax.set(xlabel="Samples looked at", ylabel="Share of wrong labels found")
ax.legend()
print(f"After {2 * is_wrong.sum()} samples: {found[2 * is_wrong.sum() - 1]:.0%}")

# %%
# Correct them, and train again
# -----------------------------
# Suppose that a person looks at the 250 most suspicious samples.

corrected = given.copy()
corrected[order[:250]] = y[order[:250]]
again = BoostByMajority(random_state=0).fit(X, corrected)
print(f"Accuracy on the true labels: {booster.score(X, y):.3f}", end=" ")
print(f"before, {again.score(X, y):.3f} after the corrections")

# %%
# The vote, round by round
# ------------------------
# The vote follows the true labels, not the given ones.

display = BoostingCurveDisplay.from_estimator(
    booster, {"true labels": (X, y), "given labels": (X, given)}
)
display.figure_.set_layout_engine("constrained")

plt.show()
