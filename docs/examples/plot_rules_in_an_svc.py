"""
What rules are inside this SVC?
===============================

A support vector machine with a radial basis kernel is a black box on numbers. On
Boolean columns it is not: its score is a sum of weights over all conjunctions of
features, and every weight follows from the support vectors in closed form.
``top_conjunctions`` finds the heaviest ones by an exact search, and ``extract_dnf``
makes a formula of a few of them: this or that or that.

Here the machine learns when X has won at tic-tac-toe, from boards as one-hot columns.
No one tells it about lines.
"""

# %%
# Learn
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
machine = SVC(gamma=0.1, C=10).fit(X_train, y_train)
print(f"{len(machine.support_)} support vectors")
print(f"{machine.score(X_test, y_test):.3f} of the boards held out are right")

# %%
# The heaviest conjunctions of its score
# --------------------------------------
# A conjunction's weight is what it adds to the score wherever it holds. The first eight
# of all conjunctions of up to three squares are the eight lines; then comes a gap.

heaviest = top_conjunctions(machine, 12, max_literals=3, sign="positive")
_, ax = plt.subplots(figsize=(5.5, 5.5), layout="constrained")
display = RuleDisplay.from_rules(heaviest, feature_names=list(X), ax=ax)
in_two_lines = ["\nand ".join(text.rsplit(" and ", 1)) for text in display.texts]
ax.set_yticks(range(12), in_two_lines, fontsize=9)

# %%
# A formula for the labels
# ------------------------
# With the labels given, ``extract_dnf`` looks for rules that are right, not for what
# the machine says, and the formula is right where the machine is not. It may use
# negated columns too. The first two rules hold on more boards than a line does: all
# lines meet a diagonal, so that o has none where no o stands on it, and X has won.

formula = extract_dnf(machine, X_train, y_train)
print(formula.to_text())
right = np.mean(formula.predict(X_test) == y_test)
print(f"{right:.3f} of the boards held out are right")

plt.show()
