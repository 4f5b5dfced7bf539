"""
Completing half-erased digits
=============================

A density model knows how likely every picture is, and so it knows what belongs in a
hole of one: the missing pixels given those that are left. ``CombinationMachine`` sums
over all its hidden states, so that what it fills in is exact. The learner has seen 1500
digits of 8 x 8 bits without their labels; the lower halves of others are erased.

The mean of the missing pixels is grey where the rest of the picture leaves them open. A
draw shows one of the possible pictures at a time.
"""

# %%
# Learn the digits
# ----------------
# With ``base="chow_liu"`` the pixels hang together in a tree as well as by hidden
# units. Weights are held by ``alpha``, for 1500 rows are few.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sklboolean import BernoulliMixture, ChowLiuTree, CombinationMachine
from sklboolean.inspection import CompletionDisplay

digits = load_digits()
X = (digits.data > 7).astype(float)
train, test, labels = X[:1500], X[1500:], digits.target[1500:]
machine = CombinationMachine(
    14, base="chow_liu", alpha=3e-3, max_iter=300, random_state=0
)
machine.fit(train)

# %%
# Erase the lower half of five digits
# -----------------------------------

shown = np.array([np.flatnonzero(labels == digit)[1] for digit in (0, 3, 4, 7, 9)])
original = test[shown]
erased = original.copy()
erased[:, 32:] = np.nan

display = CompletionDisplay.from_estimator(
    machine, erased, image_shape=(8, 8), X_original=original
)
display.figure_.suptitle("Means of the missing pixels")

# %%
# Pictures that could be
# ----------------------
# Independent draws of the lower half, each picture with three endings.

few = np.repeat(erased[[2, 3]], 3, axis=0)
display = CompletionDisplay.from_estimator(
    machine, few, image_shape=(8, 8), method="sample", random_state=0
)
display.figure_.set_size_inches(5.5, 2.2)
display.figure_.suptitle("Draws of the missing pixels")

# %%
# How well, compared with other densities
# ---------------------------------------
# Nats for a picture: each is what a picture costs to write down, so that less below
# zero is better. Wrong pixels are those of the lower half whose more probable value is
# not theirs.

models = {
    "Chow-Liu tree": ChowLiuTree().fit(train),
    "mixture of 50 products": BernoulliMixture(50, random_state=0).fit(train),
    "combination machine": machine,
}
half = test.copy()
half[:, 32:] = np.nan
for name, model in models.items():
    filled = model.impute(half, method="mean") > 0.5
    wrong = (filled != test)[:, 32:].mean()
    print(f"{name:<24}{model.score(test):6.2f} nats, {wrong:.1%} of pixels wrong")

plt.show()
