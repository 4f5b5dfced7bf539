"""
==================
Completing a table
==================

Cells of a table are missing. ``DensityImputer`` fits a density to the incomplete table
and gives each missing cell its most probable value given the known cells of the same
sample. Each category gets exactly one value.
"""

# %%
# The mushrooms of the Audubon guide: 22 categories. A third of the cells is erased.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklboolean import ChowLiuTree, DensityImputer
from sklboolean.datasets import load_mushroom

mushroom = load_mushroom()
labels = np.array(mushroom.feature_groups)
names = np.array([str(name).split("=")[-1] for name in mushroom.feature_names])
columns = {
    group: names[labels == group][mushroom.data[:, labels == group].argmax(axis=1)]
    for group in dict.fromkeys(mushroom.feature_groups)
}
table = pd.DataFrame(columns).sample(1500, random_state=0).reset_index(drop=True)
erased = np.random.default_rng(0).random(table.shape) < 0.33
gaps = table.mask(erased)
gaps.iloc[:4, :6]

# %%
# By default held-out samples choose the density: here a mixture of trees and of hidden
# classes. One tree of attributes is another choice, and faster.
models = {
    "mixture": DensityImputer(random_state=0),
    "tree": DensityImputer(ChowLiuTree()),
}
filled = {name: model.fit_transform(gaps) for name, model in models.items()}
filled["most frequent"] = gaps.fillna(gaps.mode().iloc[0])
wrong = {
    name: ((result != table) & erased).sum() / erased.sum(axis=0)
    for name, result in filled.items()
}
for name, result in filled.items():
    total = (result != table).to_numpy()[erased].mean()
    print(f"{name}: {total:.1%} of the erased cells are wrong")
filled["mixture"].iloc[:4, :6]

# %%
# Which attributes can be told from the others?
order = wrong["mixture"].sort_values().index
plt.figure(figsize=(5.5, 5.5))
for name, marker in (("most frequent", "x"), ("tree", "+"), ("mixture", "o")):
    plt.plot(wrong[name][order], np.arange(len(order)), marker, label=name)
plt.yticks(np.arange(len(order)), order, fontsize=9)
plt.xlabel("share of wrong cells")
plt.legend()
plt.tight_layout()
plt.show()
