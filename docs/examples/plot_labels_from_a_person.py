"""
Labels from a person
====================

Active learning with a person in the loop: ask for the labels of a few samples, learn
them, ask again. The person may not know an answer, and may correct an earlier one.
"""

# %%
# A pool without labels
# ---------------------
# Nobody has labelled these mushrooms as poisonous or not. Here a function plays the
# person: it leaves out every tenth answer.

import matplotlib.pyplot as plt
import numpy as np

from sklboolean import QueryByCommittee
from sklboolean.datasets import load_mushroom

X, y = load_mushroom(return_X_y=True)
shuffled = np.random.default_rng(0).permutation(len(y))
pool, rest = shuffled[:1000], shuffled[1000:]


def person(sample):
    """Say whether a mushroom is poisonous, or None."""
    return None if sample % 10 == 9 else y[pool][sample]


# %%
# Ask, teach, ask again
# ---------------------
# ``query`` chooses samples, ``teach`` learns their labels. None means "don't know": the
# sample is not queried again.

committee = QueryByCommittee(random_state=0)
n_labels, accuracy = [], []
for _ in range(12):
    asked = committee.query(X[pool], batch_size=4)
    labels = np.array([person(sample) for sample in asked], dtype=object)
    committee.teach(X[pool][asked], labels)
    n_labels.append(committee.n_queries_)
    accuracy.append(committee.score(X[rest], y[rest]))
print(f"{committee.n_queries_} labels, {len(committee.skipped_indices_)} not known")
print(f"Accuracy on the others: {accuracy[-1]:.3f}")

# %%
# Which samples are informative now?
# ----------------------------------
# ``return_utilities`` gives the score of each sample of the pool.

asked, utilities = committee.query(X[pool], batch_size=1, return_utilities=True)
print(
    f"Sample {asked[0]}: {utilities[asked[0]]:.2f}; mean: {np.nanmean(utilities):.2f}"
)

# %%
# A mistake is corrected
# ----------------------
# The record of what was asked tells which label to replace.

first, label = committee.query_indices_[0], committee.query_labels_[0]
other = np.setdiff1d(committee.classes_, label)
committee.correct(X[pool][[first]], other)  # by mistake
committee.correct(X[pool][[first]], [label])  # and back
print(f"Accuracy on the others: {committee.score(X[rest], y[rest]):.3f}")

# %%
# The accuracy while labels came in
# ---------------------------------

figure, ax = plt.subplots(layout="constrained")
ax.plot(n_labels, accuracy, marker="o")
ax.set(xlabel="Labels", ylabel="Accuracy on samples outside the pool")

plt.show()
