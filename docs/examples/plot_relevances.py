"""
Which columns matter?
=====================

A Gaussian process over conjunctions learns a relevance for each column of the data, by
the evidence, without held-out samples. The data are the votes of members of the US
Congress in 1984 on 16 questions; their party is predicted.
"""

# %%
# Relevances
# ----------
# The prior of a relevance is about 1. Larger values are columns that decide; columns
# that add nothing go towards 0. The answers to one question are one column.

import matplotlib.pyplot as plt

from sklboolean import BooleanGaussianProcessClassifier
from sklboolean.datasets import load_votes
from sklboolean.inspection import ShapleyDisplay, TopFeaturesDisplay, shapley_values

X, party = load_votes(return_X_y=True, as_frame=True)
process = BooleanGaussianProcessClassifier(random_state=0).fit(X, party)
relevances = zip(process.columns_, process.relevances_, strict=True)
largest_first = sorted(relevances, key=lambda pair: -pair[1])
display = TopFeaturesDisplay(largest_first, weight_name="relevance").plot()

# %%
# What the columns add to predictions
# -----------------------------------
# A relevance belongs to the model. The contribution to the score of one member is the
# Shapley value, which is exact: the values of a member add up to the score. Each point
# is a member, explained against others.

questions = process.columns_[process.kernel_.feature_groups]
shapley = shapley_values(process, X[:40], X[40:100], feature_groups=questions)
display = ShapleyDisplay(shapley, kind="beeswarm").plot()
plt.show()
