"""
Where does this model fail?
===========================

One number, such as the mean log-loss, hides groups in which a model errs much more than
elsewhere. ``model_errors`` compares all groups of up to three conditions, and says
whether the worst of them is worse than chance would make it.
"""

# %%
# A model that misses something
# -----------------------------
# Parcels arrive late if they are heavy, and more often with one carrier. But heavy
# parcels of the carrier North are late for another reason: its trucks cannot lift them.
# A linear model of the columns cannot express this.

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklboolean import BooleanEncoder, ConjunctionLogisticRegression
from sklboolean.inspection import SubgroupsDisplay, find_subgroups, model_errors

rng = np.random.default_rng(0)
n_samples = 6000
parcels = pd.DataFrame(
    {
        "carrier": rng.choice(["North", "South", "West"], n_samples),
        "weight (kg)": rng.gamma(2.0, 5.0, n_samples).round(1),
        "distance (km)": rng.integers(5, 900, n_samples),
        "weekday": rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri"], n_samples),
        "insured": rng.random(n_samples) < 0.3,
    }
)
is_stuck = (parcels["carrier"] == "North") & (parcels["weight (kg)"] > 20)
score = -2.5 + 0.04 * parcels["weight (kg)"] + 0.6 * (parcels["carrier"] == "West")
late = rng.random(n_samples) < np.where(is_stuck, 0.8, 1 / (1 + np.exp(-score)))

train, test = slice(0, 3000), slice(3000, None)
model = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(), ["carrier", "weekday"]),
        (StandardScaler(), ["weight (kg)", "distance (km)", "insured"]),
    ),
    LogisticRegression(),
).fit(parcels[train], late[train])
print(f"log-loss: {log_loss(late[test], model.predict_proba(parcels[test])):.3f}")

# %%
# The worst group
# ---------------
# The samples are those that the model was not trained on. Half of them are searched.
# The others measure the difference again, because the mean of a group that was chosen
# as the worst of all is too high. The list ends with the first group that chance would
# often make as bad.

found = model_errors(model, parcels[test], late[test], side="higher", random_state=0)
print(found)

# %%
# A point is the difference on held-out samples, its line the 95 % interval.

display = SubgroupsDisplay(found, target_name="log-loss").plot()

# %%
# The same as a data frame, for a report, and as SQL, to count the group in a database.

print(found.to_frame().round(3).T)
print(found.to_sql())

# %%
# Is it mended?
# -------------
# A model of conjunctions can express the group. The loss of a correct model still
# depends on how uncertain the labels are: late is harder to predict than on time. So
# ask for the residuals, label less probability. Their mean is 0 in every group if the
# probabilities are correct.

better = make_pipeline(
    BooleanEncoder(), ConjunctionLogisticRegression(random_state=0)
).fit(parcels[train], late[train])
print(f"log-loss: {log_loss(late[test], better.predict_proba(parcels[test])):.3f}")
for name, fitted in (("linear", model), ("conjunctions", better)):
    residuals = late[test] - fitted.predict_proba(parcels[test])[:, 1]
    groups = find_subgroups(parcels[test], residuals, n_groups=1, random_state=0)
    print(f"{name}: {groups}")
