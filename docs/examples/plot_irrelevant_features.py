"""
Many irrelevant features
========================

The label depends on three of the columns. The others are noise, and their number grows
from run to run. Winnow updates its weights by multiplication. Its mistake bound grows
with the logarithm of the number of columns, while the perceptron's bound grows with the
number itself.
"""

# %%
# The same rule with more and more columns
# ----------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from sklboolean import AveragedPerceptron, Winnow
from sklboolean.datasets import make_disjunction

classifiers = {
    "Winnow": Winnow(random_state=0),
    "AveragedPerceptron": AveragedPerceptron(random_state=0),
    "LogisticRegression": LogisticRegression(max_iter=1000),
}
n_columns = [10, 30, 100, 300, 1000, 3000]
accuracy = {name: [] for name in classifiers}
for n in n_columns:
    X, y, relevant = make_disjunction(
        1400, n, n_relevant=3, density=0.2, random_state=0
    )
    for name, classifier in classifiers.items():
        classifier.fit(X[:400], y[:400])
        accuracy[name].append(classifier.score(X[400:], y[400:]))

# %%
# Accuracy on 1000 new samples, after 400
# ---------------------------------------

figure, ax = plt.subplots(layout="constrained")
looks = zip(["#0072B2", "#D55E00", "#009E73"], ["-", "--", "-."], "osD", strict=True)
for (name, values), (color, line, marker) in zip(accuracy.items(), looks, strict=True):
    ax.plot(n_columns, values, line, color=color, marker=marker, label=name)
ax.set(xscale="log", xlabel="Columns, three of them relevant", ylabel="Accuracy")
ax.legend()

# %%
# Weights of Winnow with 3000 columns
# -----------------------------------
# The largest weights are those of the relevant columns.

weights = np.ravel(classifiers["Winnow"].coef_)
largest = np.argsort(-np.abs(weights))[:6]
for column in largest:
    kind = "relevant" if column in relevant else ""
    print(f"column {column:4d}  weight {weights[column]:8.2f}  {kind}")

plt.show()
