"""Draw the figure of the README: mean ranks of classifiers against seconds of a fit.

python docs/images/ranks.py

The figures are those of bench_tables.py in benchmarks/results.json.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

import sklboolean

ROOT = Path(__file__).parents[2]
OURS, PEERS = "#1f6fb2", "#666666"
SIZES = (1000, 5000)
SHORT = {
    "BooleanEnsemble": "Ensemble", "BooleanGaussian": "Gaussian", "Classifier": "",
    "LogisticRegression": "LogReg",
}  # fmt: skip
# Labels that would hide others above their points.
BELOW = {
    "LogisticRegressionCV", "XGBoost", "Winnow", "LightGBM, early stopping",
    "LightGBM, tuned", "BooleanGaussianProcessClassifier",
}  # fmt: skip


def draw(ax, table):
    """Draw a point for each learner that has probabilities."""
    column = {name: i for i, name in enumerate(table["columns"])}
    for row in table["rows"]:
        rank = row[column["rank by log-loss"]]
        if not rank:
            continue
        mean, error = map(float, rank.split(" +- "))
        seconds, name = float(row[column["fit s"]]), row[0]
        color = OURS if hasattr(sklboolean, name) else PEERS
        ax.errorbar(seconds, mean, error, marker="o", color=color, capsize=2)
        place = (5, -11 if name in BELOW else 4)
        for long, short in SHORT.items():
            name = name.replace(long, short)
        ax.annotate(name, (seconds, mean), place, textcoords="offset points",
                    color=color, fontsize=8)  # fmt: skip


results = json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))
tables = {}
for table in (table for result in results for table in result["tables"]):
    tables.setdefault(table["title"], table)  # a later one is EBM's, of few tables
plt.rcParams["font.size"] = 11
figure, axes = plt.subplots(
    1, len(SIZES), figsize=(5.2 * len(SIZES), 4.6), layout="constrained"
)
figure.patch.set_facecolor("white")
for ax, size in zip(axes, SIZES, strict=True):
    draw(ax, tables[f"Ranks with 0 % wrong labels, training samples: {size}"])
    ax.set(xscale="log", xlabel="CPU seconds of a fit", title=f"{size} samples")
    ax.margins(x=0.15)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set(ylabel="mean rank by log-loss")
figure.savefig(Path(__file__).with_suffix(".png"), dpi=150)
