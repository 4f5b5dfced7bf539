"""
Extracting rules from an SVC
============================

A support vector machine with a radial basis kernel is a black box on real numbers. On
Boolean features it is not. Its score is a sum of weights over all conjunctions of
features, and every weight follows from the support vectors in closed form.
``top_conjunctions`` finds those with the largest weights by an exact search, and
``extract_dnf`` combines a few of them to a formula, an "or" of conjunctions.

Here the model is trained on final tic-tac-toe boards, one-hot encoded, to predict
whether x has won. It has no information about lines.
"""

# %%
# Train
# -----

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from sklboolean.datasets import make_tic_tac_toe
from sklboolean.inspection import RuleDisplay
from sklboolean.rules import extract_dnf, top_conjunctions

X, y = make_tic_tac_toe(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = SVC(gamma=0.1, C=10).fit(X_train, y_train)
print(f"{len(model.support_)} support vectors")
print(f"Accuracy on held-out boards: {model.score(X_test, y_test):.3f}")

# %%
# The conjunctions with the largest weights
# -----------------------------------------
# The weight of a conjunction is added to the score of each sample that satisfies it. Of
# all conjunctions of up to three squares, the eight lines have the largest weights.
# Then there is a gap.

largest = top_conjunctions(model, 12, max_literals=3, sign="positive")
_, ax = plt.subplots(figsize=(5.5, 5.5), layout="constrained")
display = RuleDisplay.from_rules(largest, feature_names=list(X), ax=ax)
in_two_lines = ["\nand ".join(text.rsplit(" and ", 1)) for text in display.texts]
ax.set_yticks(range(12), in_two_lines, fontsize=9)

# %%
# A formula for the labels
# ------------------------
# With labels, ``extract_dnf`` fits the rules to them instead of to the model, and the
# formula is correct where the model is not. It may also use negated columns. The first
# two rules hold on more boards than a line does: every line crosses each diagonal; if a
# diagonal has no o, then o has no line and x has won.

formula = extract_dnf(model, X_train, y_train)
print(formula.to_text())
accuracy = np.mean(formula.predict(X_test) == y_test)
print(f"Accuracy on held-out boards: {accuracy:.3f}")

plt.show()
