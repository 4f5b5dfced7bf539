"""
Hinton diagrams of hidden units
===============================

Each hidden unit of a ``CombinationMachine`` represents a pattern of inputs that occur
together. A Hinton diagram draws its weights as squares: white where an active unit
makes the pixel black, and black where it makes the pixel white. Areas are proportional
to the weights.
"""

# %%
# Bars
# ----
# Images of 6 x 6 bits: each row and each column of an image is black with probability
# 1/6, and then a tenth of the bits is flipped. A mixture would need a component for
# each combination of bars; twelve hidden units are enough. Projection pursuit finds
# them one by one, and maximum likelihood refines them.
#
# An active unit may represent a bar, or its absence (with a positive bias, it is mostly
# active). Both are the same density.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sklboolean import CombinationMachine
from sklboolean.datasets import load_votes
from sklboolean.inspection import WeightsDisplay

rng = np.random.default_rng(0)
side, n_samples = 6, 4000
across = rng.random((n_samples, side, 1)) < 1 / 6
down = rng.random((n_samples, 1, side)) < 1 / 6
noise = rng.random((n_samples, side, side)) < 0.1
bars = ((across | down) ^ noise).reshape(n_samples, -1)

machine = CombinationMachine(
    2 * side, init="projection_pursuit", alpha=1e-3, random_state=0
)
machine.fit(bars)
display = WeightsDisplay.from_estimator(machine, image_shape=(side, side), n_columns=3)
display.figure_.suptitle("Units learned from bars")

# %%
# Digits
# ------
# Units represent strokes, with negative weights around them. Digits share units.

X = load_digits().data > 7
machine = CombinationMachine(12, alpha=3e-3, max_iter=300, random_state=0).fit(X)
display = WeightsDisplay.from_estimator(machine, image_shape=(8, 8), n_columns=3)
display.figure_.suptitle("Units learned from digits")

# %%
# Tabular features
# ----------------
# Tabular features are drawn as one row with their names: here the "yes" votes of 1984.
# The model is trained without the parties. Still, all three units differ between them.
# The first unit differs most; its largest weight is on physicians' fees.

votes, party = load_votes(return_X_y=True, as_frame=True)
votes = votes.filter(like="=yes").rename(columns=lambda name: name.removesuffix("=yes"))
machine = CombinationMachine(3, alpha=1e-2, random_state=0).fit(votes)
display = WeightsDisplay.from_estimator(machine)
display.figure_.set_size_inches(5.5, 5.5)
display.axes_[-1, 0].tick_params(labelsize=10)
display.figure_.suptitle("Units learned from votes")
active = machine.transform(votes)
for code, name in enumerate(["democrats", "republicans"]):
    shares = active[party == code].mean(axis=0)
    print(f"active for {name}:", *(f"{share:.0%}" for share in shares))

plt.show()
