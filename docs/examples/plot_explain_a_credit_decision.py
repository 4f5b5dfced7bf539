"""
Explain a credit decision
=========================

A loan is refused. Which columns decided, what would have to change, which points were
lost, and is there a simpler rule that does as well? The applicants are made up.
"""

# %%
# Applicants
# ----------
# A loan is paid back unless payments were late before, or the loan is large for the
# income; long-time workers with a home of their own pay, too. One label in twelve is
# wrong. The applicant with the lowest score is refused.

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from sklboolean import (
    BooleanEncoder,
    ConjunctionLogisticRegression,
    OptimalRuleSet,
    ScorecardClassifier,
)
from sklboolean.inspection import ShapleyDisplay, counterfactuals, shapley_values

rng = np.random.default_rng(0)
n_samples = 800
X = pd.DataFrame(
    {
        "income": rng.integers(15, 90, n_samples),
        "loan": rng.integers(2, 40, n_samples),
        "late payments": rng.integers(0, 5, n_samples),
        "years in job": rng.integers(0, 20, n_samples),
        "age": rng.integers(20, 70, n_samples),
        "housing": rng.choice(["rents", "owns", "with family"], n_samples),
    }
)
is_safe = (X["late payments"] <= 1) & ((X["income"] > 40) | (X["loan"] <= 15))
is_safe |= (X["housing"] == "owns") & (X["years in job"] > 10)
is_wrong = rng.random(n_samples) < 1 / 12
y = np.where(is_safe ^ is_wrong, "paid", "default")

model = make_pipeline(
    BooleanEncoder(n_bins=5), ConjunctionLogisticRegression(C=1.0, random_state=0)
).fit(X, y)
applicant = X.iloc[[np.argmin(model.decision_function(X))]]
print(applicant.to_string(index=False))

# %%
# Which columns decided
# ---------------------
# The exact Shapley value of each column, against all applicants. Conditions of one
# column, and conjunctions of several, are accounted for.

shapley = shapley_values(model, applicant, background=X)
display = ShapleyDisplay(shapley, kind="waterfall").plot()

# %%
# What would have to change
# -------------------------
# Nobody grows younger, and late payments stay on record. A new home is four times as
# hard as another loan. The answers are proved to be the cheapest.

found = counterfactuals(
    model,
    applicant,
    "paid",
    immutable=["late payments", "age"],
    directions={"years in job": "up", "income": "up"},
    costs={"housing": 4.0},
    n=3,
)
print(found.to_text())
print("costs:", found.costs.round(2), "proved:", bool(found.is_proved[0]))

# %%
# Points for the form
# -------------------
# A scorecard that a clerk can add up, and the reasons for the letter.

card = make_pipeline(
    BooleanEncoder(n_bins=5), ScorecardClassifier(max_conditions=5)
).fit(X, y)
print(card[-1].to_text())
reasons = card[-1].reasons(card[0].transform(applicant))[0]
print("\n".join(reasons))

# %%
# Is there a simpler rule?
# ------------------------
# A literal costs as much as five applicants. ``gap_`` is 0: no set of rules of up to
# two literals costs less.

rules = make_pipeline(
    BooleanEncoder(n_bins=5), OptimalRuleSet(max_literals=2, literal_cost=5.0)
).fit(X, y)
print(rules[-1].to_text())
print("cost:", rules[-1].cost_[0], "gap:", rules[-1].gap_[0])
for name, one in (("model", model), ("card", card), ("rules", rules)):
    print(f"{name}: {one.score(X, y):.3f} correct")
