"""
Rare events
===========

One of the ten digits among the others, made rarer still. Accuracy says little here.
Precision and recall do, and class weights and thresholds move them.
"""

# %%
# A class of two percent
# ----------------------
# Of the images of the digit 8, only every fifth is kept. A pixel is true where it is
# dark.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import PrecisionRecallDisplay, precision_score, recall_score
from sklearn.model_selection import cross_val_predict

from sklboolean import AveragedPerceptron, KernelPerceptron

X, digit = load_digits(return_X_y=True)
kept = (digit != 8) | (np.arange(len(digit)) % 5 == 0)
X, y = X[kept] > 7, (digit[kept] == 8).astype(int)
print(f"{y.sum()} of {len(y)} images are an 8")

# %%
# Weights of classes
# ------------------
# A larger weight of the rare class finds more of it, at the price of false alarms.

for weight in (1, 5, 25):
    model = AveragedPerceptron(class_weight={0: 1, 1: weight}, random_state=0)
    predicted = cross_val_predict(model, X, y)
    precision, recall = precision_score(y, predicted), recall_score(y, predicted)
    print(f"weight {weight:2}: precision {precision:.2f}, recall {recall:.2f}")

# %%
# All thresholds at once
# ----------------------
# The kernel model counts conjunctions of pixels, and keeps its precision far longer.

figure, ax = plt.subplots(layout="constrained")
for model in (AveragedPerceptron(random_state=0), KernelPerceptron(random_state=0)):
    scores = cross_val_predict(model, X, y, method="decision_function")
    PrecisionRecallDisplay.from_predictions(y, scores, name=type(model).__name__, ax=ax)
ax.legend(loc="lower left")
