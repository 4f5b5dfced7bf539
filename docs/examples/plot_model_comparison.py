"""
Which model for this table?
===========================

Eight models at their defaults, on two tables. Differences smaller than the bars mean
little.
"""

# %%
# The models
# ----------
# ``BooleanEncoder`` comes before ours, scaling before the linear model.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BoostByMajority,
    ConjunctionLogisticRegression,
    KernelPerceptron,
    RuleClassifier,
)

peers = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    DecisionTreeClassifier(max_leaf_nodes=15, random_state=0),
    RandomForestClassifier(random_state=0),
]
ours = [
    make_pipeline(BooleanEncoder(), model)
    for model in (
        AveragedPerceptron(random_state=0),
        KernelPerceptron(random_state=0),
        ConjunctionLogisticRegression(random_state=0),
        RuleClassifier(monotone=True, random_state=0),
        BoostByMajority(random_state=0),
    )
]


def name_of(model):
    return type(model[-1] if hasattr(model, "steps") else model).__name__


# %%
# Accuracy
# --------

X, y = load_diabetes(return_X_y=True)
tables = {
    "breast cancer": load_breast_cancer(return_X_y=True),
    "diabetes": (X, y > np.median(y)),
}
cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0)
figure, axes = plt.subplots(2, 1, figsize=(5.5, 6.5), sharey=True, layout="constrained")
for ax, (title, (X, y)) in zip(axes, tables.items(), strict=True):
    for place, model in enumerate([*peers, *ours]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fold may hold out all of a rare value
            found = cross_validate(model, X, y, cv=cv)
        accuracy, seconds = found["test_score"], found["fit_time"].mean()
        error = accuracy.std(ddof=1) / np.sqrt(len(accuracy))
        color = "C0" if place < len(peers) else "C1"
        ax.errorbar(accuracy.mean(), place, xerr=2 * error, fmt="o", color=color)
        print(f"{title}: {name_of(model):30} {accuracy.mean():.3f}")
    ax.set(title=title, xlabel="Accuracy, with two standard errors")
    ax.set_yticks(range(len(peers + ours)), [name_of(m) for m in peers + ours])
    ax.grid(axis="x", alpha=0.3)
axes[0].invert_yaxis()
