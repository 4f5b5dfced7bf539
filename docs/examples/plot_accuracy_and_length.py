"""
Accuracy against the length of a model
======================================

How many conditions does a person have to read, and what accuracy do they get for that?
Three estimators of this package write their models as conjunctions: a list of rules, a
DNF extracted from a support vector machine, and a sum of weighted conjunctions. They
are compared with decision trees of several sizes. A condition is a literal of a rule or
of a conjunction; a tree has as many as there are steps on the paths to its leaves.
"""

# %%
# Data
# ----
# Tables of scikit-learn with numbers only. Each column becomes up to seven Boolean
# ones, "x <= a quantile of the training samples".

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import ConjunctionLogisticRegression, RuleClassifier
from sklboolean.rules import extract_dnf


def boolean_split(load, seed):
    data = load()
    y = data.target
    if load is load_diabetes:
        y = y > np.median(y)
    elif load is load_wine:
        y = y == 1
    train, test, y_train, y_test = train_test_split(
        data.data, y, test_size=0.3, random_state=seed, stratify=y
    )
    quantiles = np.quantile(train, np.arange(1, 8) / 8, axis=0)
    bounds = [(j, q) for j in range(train.shape[1]) for q in np.unique(quantiles[:, j])]
    train, test = (
        np.stack([part[:, j] <= q for j, q in bounds], axis=1) for part in (train, test)
    )
    return train, test, y_train, y_test


tables = {
    "breast cancer": load_breast_cancer,
    "diabetes, above the median": load_diabetes,
    "wine, second class": load_wine,
}

# %%
# Models of several lengths
# -------------------------
# Each estimator has one parameter that makes its model shorter: the number of leaves,
# the number of rules, or ``C``.


def n_conditions(rules):
    return sum(rule.n_literals for rule in rules)


def tree_conditions(tree):
    """Sum the depths of the leaves."""
    depths, total, nodes = {0: 0}, 0, tree.tree_
    for node in range(nodes.node_count):
        left, right = nodes.children_left[node], nodes.children_right[node]
        if left < 0:
            total += depths[node]
        else:
            depths[left] = depths[right] = depths[node] + 1
    return total


def lengths_and_accuracies(X, X_test, y, y_test, seed):
    """Yield the name, the length and the accuracy of each model."""
    for leaves in (2, 4, 8, 16, 32):
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed)
        tree.fit(X, y)
        yield "DecisionTree", leaves, tree_conditions(tree), tree.score(X_test, y_test)
    for n_rules in (1, 3, 20):
        rules = RuleClassifier(max_rules=n_rules, random_state=seed)
        score = rules.fit(X, y).score(X_test, y_test)
        yield "RuleClassifier", n_rules, n_conditions(rules.rules_), score
    svc = SVC().fit(X, y)
    for n_rules in (1, 2, 4):
        dnf = extract_dnf(svc, X, max_rules=n_rules, width=64, min_fidelity=0)
        score = (dnf.predict(X_test) == y_test).mean()
        yield "extract_dnf(SVC())", n_rules, n_conditions(dnf.rules), score
    for C in (0.05, 0.1, 0.3, 1.0):
        model = ConjunctionLogisticRegression(C=C, tol=0.01).fit(X, y)
        score = model.score(X_test, y_test)
        yield (
            "ConjunctionLogisticRegression", C, n_conditions(model.rules_), score
        )  # fmt: skip


# %%
# Results
# -------
# A point is the mean over two splits. Up and to the left is better. The default of
# ``RuleClassifier`` is its last point: it stops adding rules where they do not pay.

figure, axes = plt.subplots(3, 1, figsize=(5.5, 9), layout="constrained")
for ax, (name, load) in zip(axes, tables.items(), strict=True):
    results = {}
    for seed in range(2):
        split = boolean_split(load, seed)
        for kind, size, length, score in lengths_and_accuracies(*split, seed):
            results.setdefault(kind, {}).setdefault(size, []).append((length, score))
    for (kind, points), marker in zip(results.items(), "s^Do", strict=True):
        means = np.array([np.mean(values, axis=0) for values in points.values()])
        means = means[means[:, 0] >= 1]  # shorter models are constants
        ax.plot(*means.T, marker=marker, label=kind)
    ax.set(title=name, xscale="log", ylabel="accuracy", xlim=(0.9, 500))
    ax.set_xticks([1, 3, 10, 30, 100, 300], ["1", "3", "10", "30", "100", "300"])
    ax.minorticks_off()
axes[-1].set_xlabel("conditions to read")
axes[0].legend(fontsize="small", loc="lower right")
plt.show()

# %%
# Where a short list does, ``RuleClassifier`` finds one that a person can check. The sum
# of weighted conjunctions is longer, and more accurate where many weak conditions add
# up.
