"""
Completing half-erased digits
=============================

A density model assigns a probability to every image, and hence a conditional
distribution to missing pixels given the others. ``CombinationMachine`` sums over all
its hidden states, so this distribution is exact. The model is trained on 1500 digits of
8 x 8 bits without their labels. Then the lower halves of other digits are erased.

The conditional mean of a missing pixel is grey where the visible pixels do not
determine it. A draw shows one possible completion.
"""

# %%
# Train on digits
# ---------------
# With ``base="chow_liu"`` pixels depend on each other through a tree as well as through
# hidden units. The penalty ``alpha`` keeps weights small, because 1500 samples are few.

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
# Random completions
# ------------------
# Three independent draws of the lower half of each image.

few = np.repeat(erased[[2, 3]], 3, axis=0)
display = CompletionDisplay.from_estimator(
    machine, few, image_shape=(8, 8), method="sample", random_state=0
)
display.figure_.set_size_inches(5.5, 2.2)
display.figure_.suptitle("Draws of the missing pixels")

# %%
# Comparison with other densities
# -------------------------------
# The log-likelihood of an image in nats: higher is better. The error is the share of
# pixels of the lower half whose more probable value is wrong.

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
