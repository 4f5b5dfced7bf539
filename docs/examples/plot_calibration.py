"""
Are the probabilities right?
============================

A probability of 0.8 should be right in 80 of 100 cases. Every classifier of this
package has ``predict_proba``. Here three of them predict whether the diabetes of a
patient progresses fast.
"""

# %%
# Log-loss and Brier score
# ------------------------
# Both are small where probabilities are right. Each patient is predicted by models that
# were trained on others.

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    ConjunctionLogisticRegression,
    KernelPerceptron,
)

X, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
y = (progression > progression.median()).to_numpy()
models = {
    "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression()),
    **{
        type(model).__name__: make_pipeline(BooleanEncoder(), model)
        for model in (
            AveragedPerceptron(random_state=0),
            KernelPerceptron(random_state=0),
            ConjunctionLogisticRegression(random_state=0),
        )
    },
}
labels, probabilities = [], {name: [] for name in models}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
for train, test in folds.split(X, y):
    labels += y[test].tolist()
    for name, model in models.items():
        model.fit(X.iloc[train], y[train])
        probabilities[name] += model.predict_proba(X.iloc[test])[:, 1].tolist()
for name, found in probabilities.items():
    loss, brier = log_loss(labels, found), brier_score_loss(labels, found)
    print(f"{name:30} log-loss {loss:.3f}, Brier score {brier:.3f}")

# %%
# Reliability
# -----------
# Of the patients with about the same probability, what share is fast? A curve below the
# diagonal has probabilities that are too large. Each point stands for a fifth of the
# predictions.

figure, ax = plt.subplots(layout="constrained")
for name, found in probabilities.items():
    CalibrationDisplay.from_predictions(
        labels, found, n_bins=5, strategy="quantile", name=name, ax=ax
    )
ax.set(xlabel="Predicted probability", ylabel="Share of fast progression")
ax.legend(fontsize=8)
