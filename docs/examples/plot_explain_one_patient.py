"""
Explain one patient
===================

What each column adds to the score of a patient, which change would turn the prediction,
and how many columns must change at least. All three are exact.
"""

# %%
# From the mean to the patient
# ----------------------------
# Recurrence of breast cancer within years, from nine columns. The patient with the
# largest probability is compared with all others.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, ConjunctionLogisticRegression
from sklboolean.datasets import load_recurrence
from sklboolean.inspection import (
    ShapleyDisplay,
    counterfactuals,
    robustness,
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

n_changes = robustness(model, X)
is_right = model.predict(X) == y
n_wrong = np.arange(4)
certified = [np.mean(is_right & (n_changes > n)) for n in n_wrong]
figure, ax = plt.subplots(layout="constrained")
ax.bar(n_wrong, certified)
ax.set(xlabel="Columns that may be wrong", ylabel="Certified accuracy", xticks=n_wrong)
print([f"{share:.2f}" for share in certified])
