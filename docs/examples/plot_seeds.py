"""
How much is chance?
===================

``random_state`` makes a fit repeatable. It also hides how much of a score is chance: of
the order of the samples, and of the split into training and test samples. Before a
difference between two models is believed, look at both.
"""

# %%
# Twelve seeds, twelve splits
# ---------------------------
# Each model is fitted twelve times on one split, with another seed each time, and
# twelve times with one seed, on another split each time.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    RuleClassifier,
    Winnow,
)

X, y = load_breast_cancer(return_X_y=True)


def accuracy(model, seed, split):
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, random_state=split, stratify=y
    )
    encoder = BooleanEncoder(n_bins=3).fit(train, y_train)
    model = clone(model).set_params(random_state=seed)
    model.fit(encoder.transform(train), y_train)
    return model.score(encoder.transform(test), y_test)


models = [AveragedPerceptron(), Winnow(), RuleClassifier(monotone=True, max_rules=5)]
seeds = {type(m).__name__: [accuracy(m, k, 0) for k in range(12)] for m in models}
splits = {type(m).__name__: [accuracy(m, 0, k) for k in range(12)] for m in models}

# %%
# Splits matter more than seeds
# -----------------------------
# The standard deviation over splits is what a difference on one split must exceed. A
# comparison on the same splits, model against model, is sharper than one on different
# ones: see the gallery page on the comparison of models.

figure, ax = plt.subplots(layout="constrained")
rng = np.random.default_rng(0)
for values, shift, marker, name in (
    (seeds, -0.15, "o", "12 seeds, one split"),
    (splits, 0.15, "x", "one seed, 12 splits"),
):
    places = np.arange(len(models))[:, None] + shift + rng.uniform(-0.06, 0.06, (3, 12))
    ax.plot(np.ravel([*values.values()]), places.ravel(), marker, ms=4, label=name)
    for model, found in values.items():
        print(f"{model}, {name}: {np.mean(found):.3f}, deviation {np.std(found):.3f}")
ax.set_yticks(range(len(models)), seeds)
ax.invert_yaxis()
ax.set_xlabel("Accuracy on held-out samples")
figure.legend(loc="outside upper center", ncols=2)

plt.show()
