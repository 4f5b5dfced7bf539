"""Draw the figure of the README: mean ranks of classifiers against seconds of a fit.

python docs/images/ranks.py

The figures are those of bench_tables.py in benchmarks/results.json.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

import sklboolean

ROOT = Path(__file__).parents[2]
OURS = "#1f6fb2"
PEERS = "#666666"
BELOW = {"forest, leaves of 5", "LogisticRegressionCV", "HistGradientBoosting"}

results = json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))
table = next(
    table
    for result in results
    for table in result["tables"]
    if table["title"].startswith("Ranks with 0 %")
)
column = {name: i for i, name in enumerate(table["columns"])}
plt.rcParams["font.size"] = 11
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
figure.patch.set_facecolor("white")
for row in table["rows"]:
    rank = row[column["rank by log-loss"]]
    if not rank:
        continue  # a classifier without probabilities
    mean, error = map(float, rank.split(" +- "))
    seconds, name = float(row[column["fit s"]]), row[0]
    color = OURS if hasattr(sklboolean, name) else PEERS
    ax.errorbar(seconds, mean, error, marker="o", color=color, capsize=2)
    ax.annotate(
        name, (seconds, mean), (5, -11 if name in BELOW else 4),
        textcoords="offset points", color=color, fontsize=8,
    )  # fmt: skip
ax.set(xscale="log", xlabel="CPU seconds of a fit", ylabel="mean rank by log-loss")
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).with_suffix(".png"), dpi=150)
