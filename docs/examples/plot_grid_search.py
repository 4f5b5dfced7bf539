"""
Pipeline and grid search
========================

The estimators work in scikit-learn's pipelines and parameter searches, and keep the
column names. Here a data frame with categories and numbers is encoded as Boolean
columns, conjunctions of these become features, and a linear model is trained on them. A
grid search chooses the maximal length and the minimal support of the conjunctions.
"""

# %%
# Categories and numbers
# ----------------------
# The label is "good" for young people in the north and for older tenants.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

from sklboolean import ConjunctionFeatures, Winnow

rng = np.random.RandomState(0)
table = pd.DataFrame(
    {
        "age": rng.randint(18, 80, 1500),
        "income": rng.lognormal(8, 0.5, 1500).round(),
        "region": rng.choice(["north", "south", "east", "west"], 1500),
        "home": rng.choice(["owned", "rented", "other"], 1500),
        "job": rng.choice(["office", "shop", "field", "none"], 1500),
    }
)
good = ((table.age < 33) & (table.region == "north")) | (
    (table.age >= 64) & (table.home == "rented")
)
noise = rng.random_sample(1500) < 0.05
labels = np.where(good ^ noise, "good", "bad")

# %%
# The pipeline
# ------------
# The encoder makes one column for each category and for each quartile of a number.

encode = make_column_transformer(
    (OneHotEncoder(sparse_output=False), ["region", "home", "job"]),
    (
        KBinsDiscretizer(
            4, encode="onehot-dense", quantile_method="averaged_inverted_cdf"
        ),
        ["age", "income"],
    ),
    verbose_feature_names_out=False,
).set_output(transform="pandas")
pipeline = Pipeline(
    [
        ("encode", encode),
        ("conjoin", ConjunctionFeatures()),
        ("learn", Winnow(random_state=0)),
    ]
)
lengths, supports = [1, 2, 3], [2, 10, 30, 100]
search = GridSearchCV(
    pipeline,
    {"conjoin__max_literals": lengths, "conjoin__min_support": supports},
    scoring="balanced_accuracy",
)
search.fit(table, labels)
print("best:", search.best_params_, f"{search.best_score_:.3f}")

# %%
# Scores of the grid
# ------------------
# The labels are determined by pairs. Triples do not help, least of all rare ones.

scores = search.cv_results_["mean_test_score"].reshape(len(lengths), len(supports))
figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
image = ax.imshow(scores, cmap="cividis", aspect="auto")
ax.set_xticks(range(len(supports)), supports)
ax.set_yticks(range(len(lengths)), lengths)
ax.set(xlabel="min_support, in samples", ylabel="max_literals")
middle = (scores.min() + scores.max()) / 2
for (row, column), score in np.ndenumerate(scores):
    color = "white" if score < middle else "black"
    ax.text(column, row, f"{score:.2f}", ha="center", va="center", color=color)
figure.colorbar(image, ax=ax, label="Balanced accuracy")

# %%
# Largest weights of the best model
# ---------------------------------

best = search.best_estimator_
names = best[:-1].get_feature_names_out()
weights = np.ravel(best[-1].coef_)
for column in np.argsort(-weights)[:4]:
    print(f"{weights[column]:8.2f}  {names[column]}")

plt.show()
