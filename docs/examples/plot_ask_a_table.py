"""
===========
Ask a table
===========

A density of a table answers questions in words: how probable is one condition, given
another? The display shows which columns tell most about each other. The data are 286
patients with breast cancer.
"""

# %%
# Fit
# ---
# The encoder turns numbers into thresholds and categories into levels. Exactly one
# level of a category is true. Missing values stay missing.
import matplotlib.pyplot as plt

from sklboolean import BooleanEncoder, DensityMixture
from sklboolean.datasets import load_recurrence
from sklboolean.inspection import DependenceDisplay

patients, recurred = load_recurrence(return_X_y=True, as_frame=True)
table = patients.rename(columns=lambda name: name.partition(" (")[0])
table["recurrence"] = recurred == 1
encoder = BooleanEncoder(n_bins=4, complement=False, missing="propagate")
X = encoder.set_output(transform="pandas").fit_transform(table)
groups = [name.partition(" = ")[0] for name in X]
model = DensityMixture(feature_groups=groups, random_state=0).fit(X)

# %%
# Ask
# ---
# The probability of a recurrence rises with the malignancy.
for condition in ("malignancy <= 1", "malignancy > 1", "malignancy > 2"):
    print(condition, round(model.query("recurrence", given=condition), 2))

# %%
# Which columns depend on each other
# ----------------------------------
# Mutual information of the model's own distribution, exact, for the strongest pairs.
DependenceDisplay.from_estimator(model)
plt.show()
