"""Draw the figure of the README: the rule that it prints, and the patients.

python docs/images/recurrence.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, RuleClassifier
from sklboolean.datasets import load_recurrence

patients = load_recurrence(as_frame=True)
X, y = patients.data, patients.target_names[patients.target]
model = make_pipeline(
    BooleanEncoder(), RuleClassifier(max_literals=2, monotone=True, random_state=0)
)
is_covered = model.fit(X, y).predict(X) == "recurrence"

groups = ["0 to 2", "3 to 5", "6 to 8", "9 or more"]
nodes = np.digitize(X["affected lymph nodes"], [2.5, 5.5, 8.5])
malignancy = X["malignancy (1 to 3)"].to_numpy()
plt.rcParams["font.size"] = 12
figure, ax = plt.subplots(figsize=(5.2, 4.0), layout="constrained")
shares = np.full((3, 4), np.nan)
for i in range(3):
    for j in range(4):
        here = (malignancy == i + 1) & (nodes == j)
        if here.any():
            shares[i, j] = np.mean(y[here] == "recurrence")
            ax.text(
                j, i, f"{100 * shares[i, j]:.0f} %\nof {here.sum()}",
                ha="center", va="center",
                color="white" if shares[i, j] > 0.4 else "black",
            )  # fmt: skip
        assert is_covered[here].all() or not is_covered[here].any()
        if here.any() and is_covered[here].all():
            ax.add_patch(
                Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#d95f02",
                    linewidth=4, zorder=3,
                )
            )  # fmt: skip
ax.imshow(shares, cmap="Blues", vmin=0, vmax=0.8, origin="lower", aspect="auto")
ax.set_xticks(range(4), groups)
ax.set_yticks(range(3), ["1", "2", "3"])
ax.set_xlabel("affected lymph nodes")
ax.set_ylabel("malignancy (1 to 3)")
ax.set_title("Patients with a recurrence; framed: the rule", fontsize=12)
figure.savefig(Path(__file__).with_name("recurrence.png"), dpi=200)
