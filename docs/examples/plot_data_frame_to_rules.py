"""
From a data frame to rules
==========================

Numbers, categories and missing values become Boolean features with readable names. Here
the progression of diabetes within a year is predicted from ten measurements of 442
patients, some of which we erase.
"""

# %%
# The data
# --------
# ``sex`` is coded as 1 and 2, so it is a category. A tenth of all cells is erased.

from html import escape

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    DensityImputer,
    RuleClassifier,
)
from sklboolean.inspection import model_page, top_features

X, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X.rename(
    columns={
        "bp": "blood pressure",
        "s1": "cholesterol",
        "s2": "ldl",
        "s3": "hdl",
        "s4": "cholesterol / hdl",
        "s5": "log triglycerides",
        "s6": "glucose",
    }
)
X["sex"] = X["sex"].map({1: "A", 2: "B"})
label = np.where(progression > 140, "fast", "slow")
X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
X.head()

# %%
# Features with names
# -------------------

encoder = BooleanEncoder(n_bins=5)
encoder.fit_transform(X).filter(like="bmi").head()

# %%
# Rules
# -----
# Bounds of one column are written as an interval. Rules of true features only suit
# columns that may be missing, because a missing value satisfies no bound.

rules = make_pipeline(
    encoder, RuleClassifier(max_literals=3, monotone=True, random_state=0)
)
rules.fit(X, label)
print(rules[-1].to_text())

# %%
# Weights
# -------
# A linear model weighs every feature. For a column of numbers the weights add up to a
# step function of its value.

linear = make_pipeline(encoder, AveragedPerceptron(random_state=0)).fit(X, label)
weights = dict(top_features(linear, 1000, target="fast"))
figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
for ax, column in zip(axes, ["bmi", "log triglycerides", "hdl"], strict=True):
    values = np.linspace(X[column].min(), X[column].max(), 300)
    frame = X.iloc[np.zeros(300, dtype=int)].assign(**{column: values})
    bits = linear[0].transform(frame)
    own = [name for name in bits if name.startswith(f"{column} ")]
    score = bits[own].to_numpy() @ [weights.get(name, 0.0) for name in own]
    ax.plot(values, score)
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.set_xlabel(column)
axes[0].set_ylabel("weight for fast progression")

# %%
# Missing values
# --------------
# "Is missing" may be a feature, or the values are filled in first.

filled = make_pipeline(DensityImputer(random_state=0), BooleanEncoder(n_bins=5))
for name, before in [("a feature", BooleanEncoder(n_bins=5)), ("filled in", filled)]:
    model = make_pipeline(before, AveragedPerceptron(random_state=0))
    scores = cross_val_score(model, X, label)
    print(f"missing values as {name}: accuracy {scores.mean():.2f}")

# %%
# A page to try
# -------------
# ``model_page`` writes the model as one HTML file. Change a value, or choose a rule to
# see the patients that satisfy it.


class Embedded:
    """Show a page inside this page."""

    def __init__(self, page):
        self.page = page

    def _repr_html_(self):
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="The rules, to try" '
            'style="width: 100%; height: 48rem; border: 0"></iframe>'
        )


Embedded(model_page(rules, X, label, title="Progression of diabetes", max_samples=100))
