"""
A thousand irrelevant features
==============================

The label depends on three of the columns. The others are noise, and there are more of
them from run to run. Winnow multiplies its weights where others add: the mistakes that
it can make grow with the logarithm of the number of columns, so that a thousand useless
ones cost it less. The perceptron's bound grows with the number itself.
"""

# %%
# Learn the same rule among more and more columns
# -----------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from sklboolean import AveragedPerceptron, Winnow
from sklboolean.datasets import make_disjunction

learners = {
    "Winnow": Winnow(random_state=0),
    "AveragedPerceptron": AveragedPerceptron(random_state=0),
    "LogisticRegression": LogisticRegression(max_iter=1000),
}
n_columns = [10, 30, 100, 300, 1000, 3000]
accuracy = {name: [] for name in learners}
for n in n_columns:
    X, y, relevant = make_disjunction(
        1400, n, n_relevant=3, density=0.2, random_state=0
    )
    for name, learner in learners.items():
        learner.fit(X[:400], y[:400])
        accuracy[name].append(learner.score(X[400:], y[400:]))

# %%
# Accuracy on 1000 new rows, after 400
# ------------------------------------

figure, ax = plt.subplots(layout="constrained")
looks = zip(["#0072B2", "#D55E00", "#009E73"], ["-", "--", "-."], "osD", strict=True)
for (name, values), (color, line, marker) in zip(accuracy.items(), looks, strict=True):
    ax.plot(n_columns, values, line, color=color, marker=marker, label=name)
ax.set(xscale="log", xlabel="Columns, three of them relevant", ylabel="Accuracy")
ax.legend()

# %%
# What Winnow has learned of the last table
# -----------------------------------------
# Its largest weights are those of the relevant columns.

weights = np.ravel(learners["Winnow"].coef_)
heaviest = np.argsort(-np.abs(weights))[:6]
for column in heaviest:
    kind = "relevant" if column in relevant else ""
    print(f"column {column:4d}  weight {weights[column]:8.2f}  {kind}")

plt.show()
