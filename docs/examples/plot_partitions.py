"""
Samples in several places
=========================

The samples of a large table may lie on several machines. ``fit_partitions`` trains on
each part where it is, and averages the models after each pass. Is the result as good as
one model of all samples?
"""

# %%
# Three ways
# ----------
# The digits as black and white pixels, cut into 1 to 16 parts. One model sees all
# samples, one learns by averages of the parts, and one has to do with the first part
# alone.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit

from sklboolean import AveragedPerceptron

digits = load_digits()
X, y = (digits.data > 7).astype(np.uint8), digits.target
n_parts = np.array([1, 2, 4, 8, 16])
split = StratifiedShuffleSplit(10, test_size=0.4, random_state=0)
accuracy = {"all samples": [], "averaged parts": [], "one part alone": []}
for train, test in split.split(X, y):
    found = {name: [] for name in accuracy}
    whole = AveragedPerceptron(random_state=0).fit(X[train], y[train])
    for n in n_parts:
        parts = [(X[train][i::n], y[train][i::n]) for i in range(n)]
        models = {
            "all samples": whole,
            "averaged parts": AveragedPerceptron().fit_partitions(
                parts, classes=np.arange(10)
            ),
            "one part alone": AveragedPerceptron(random_state=0).fit(*parts[0]),
        }
        for name, model in models.items():
            found[name].append(model.score(X[test], y[test]))
    for name, values in found.items():
        accuracy[name].append(values)

# %%
# What averages lose
# ------------------
# With few samples in a part, its model is poor, and so is the first average of such
# models. Here 16 parts have 67 digits each. The bands are one standard error of ten
# splits.

for name, values in accuracy.items():
    mean = np.mean(values, axis=0)
    print(f"{name}: {mean[2]:.3f} with 4 parts, {mean[4]:.3f} with 16")
figure, ax = plt.subplots(layout="constrained")
for (name, values), line in zip(accuracy.items(), ["-", "--", ":"], strict=True):
    mean, error = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(10)
    ax.plot(n_parts, mean, line, marker="o", label=name)
    ax.fill_between(n_parts, mean - error, mean + error, alpha=0.2)
ax.set_xscale("log", base=2)
ax.set_xticks(n_parts, n_parts)
ax.set(xlabel="Parts", ylabel="Accuracy on held-out digits")
ax.legend()

plt.show()
