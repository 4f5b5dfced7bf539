"""
Explain one patient
===================

What each column adds to the score of a patient, which change would turn the prediction,
how many columns must change at least, and the shortest rules. All four are exact.
"""

# %%
# From the mean to the patient
# ----------------------------
# Recurrence of breast cancer within years, from nine columns. The patient with the
# largest probability is compared with all others.

import numpy as np
from sklearn.pipeline import make_pipeline

from sklboolean import (
    BooleanEncoder,
    ConjunctionLogisticRegression,
    OptimalRuleSet,
)
from sklboolean.datasets import load_recurrence
from sklboolean.inspection import (
    RobustnessDisplay,
    ShapleyDisplay,
    counterfactuals,
    shapley_values,
)

X, y = load_recurrence(return_X_y=True, as_frame=True)
model = make_pipeline(
    BooleanEncoder(n_bins=5), ConjunctionLogisticRegression(random_state=0)
).fit(X, y)
shapley = shapley_values(model, X)
patient = int(np.argmax(shapley.scores()))
display = ShapleyDisplay(shapley, kind="waterfall", sample=patient).plot()

# %%
# All patients
# ------------
# A point for each patient and column. A column matters where its points lie far from 0.

display = ShapleyDisplay(shapley, kind="beeswarm").plot()

# %%
# What would have to change
# -------------------------
# The cheapest changes that turn the prediction. Age cannot change.

found = counterfactuals(model, X.iloc[[patient]], n=3, immutable=["age (years)"])
print(found.to_text())
print("proved:", bool(found.is_proved[0]))

# %%
# How robust the predictions are
# ------------------------------
# The share of patients that are predicted correctly, whatever so many columns hold.

display = RobustnessDisplay.from_estimator(model, X, y)
print(display.certified_accuracy.round(2))

# %%
# The shortest rules, with a proof
# --------------------------------
# A literal costs as much as two patients. No set of rules costs less than this one.

rules = make_pipeline(
    BooleanEncoder(n_bins=5), OptimalRuleSet(max_literals=2, literal_cost=2.0)
).fit(X, y)
print(rules[-1].to_text())
print("cost:", rules[-1].cost_[0], "gap:", rules[-1].gap_[0])
