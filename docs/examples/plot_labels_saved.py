"""
How many labels does a committee save?
======================================

Labels are expensive; unlabelled samples are not. A committee of hypotheses that are
consistent with all labels so far queries only samples on which its members disagree.
There, each answer refutes many hypotheses. For halfspaces, Freund, Seung, Shamir and
Tishby proved that the error falls exponentially with the number of queries. With random
labels it falls like one over their number.
"""

# %%
# Halfspaces of ten features
# --------------------------
# The committee is drawn from all halfspaces that fit the labels so far
# (`HalfspaceVersionSpace`). Four concepts, each with a pool of its own.

import matplotlib.pyplot as plt
import numpy as np

from sklboolean import QueryByCommittee
from sklboolean.active_learning import HalfspaceVersionSpace
from sklboolean.inspection import QueryCurveDisplay

curves = {"queried": [], "random": []}
figure, unseen = plt.subplots()
for seed in range(4):
    rng = np.random.RandomState(seed)
    X = 2 * rng.randint(0, 2, size=(1500, 10)) - 1
    y = (X @ rng.standard_normal(10) > 0).astype(int)
    committee = QueryByCommittee(
        HalfspaceVersionSpace(), max_queries=45, epsilon=None, random_state=seed
    )
    committee.fit(X[:1000], y[:1000])
    display = QueryCurveDisplay.from_estimator(
        committee, X[:1000], y[:1000], X[1000:], y[1000:],
        n_points=10, n_random=3, random_state=seed, ax=unseen,
    )  # fmt: skip
    curves["queried"].append(1 - display.scores["queried"])
    curves["random"].append(1 - display.scores["random"].mean(axis=0))
plt.close(figure)

# %%
# Error on new samples
# --------------------
# Means of the four concepts, with bands of one standard error. On a logarithmic scale
# an exponential decrease is a straight line.

display = QueryCurveDisplay.from_predictions(
    display.n_labels, curves, score_name="Error on 500 samples"
)
_, ax = plt.subplots(layout="constrained")
display.plot(ax=ax)
ticks = [0.02, 0.05, 0.1, 0.2, 0.5]
ax.set_yscale("log")
ax.set_yticks(ticks, ticks)
ax.minorticks_off()
for name, runs in curves.items():
    late = np.mean([run[-1] for run in runs])
    print(f"{name}: {late:.3f} wrong after {display.n_labels[-1]} labels")

plt.show()
