"""
The size of a saved model
=========================

A fitted model can be saved by joblib and by skops. The sizes say what a model keeps:
rules are short, a linear model has a weight for each feature, and a kernel model keeps
samples.
"""

# %%
# Five models of one table
# ------------------------
# The mushrooms of the Audubon guide, 117 features.

import os
import tempfile
from zipfile import ZIP_DEFLATED

import joblib
import matplotlib.pyplot as plt
import numpy as np
import skops.io

from sklboolean import (
    AveragedPerceptron,
    BoostByMajority,
    ConjunctionLogisticRegression,
    KernelPerceptron,
    RuleClassifier,
)
from sklboolean.boosting import BoostingSchedule
from sklboolean.datasets import load_mushroom

mushroom = load_mushroom(as_frame=True)
X, y = mushroom.data, mushroom.target_names[mushroom.target]
models = [
    RuleClassifier(random_state=0).fit(X, y),
    ConjunctionLogisticRegression(random_state=0).fit(X, y),
    AveragedPerceptron(random_state=0).fit(X, y),
    BoostByMajority(schedule=BoostingSchedule(gamma=0.1), random_state=0).fit(X, y),
    KernelPerceptron(random_state=0).fit(X, y),
]

# %%
# Two formats
# -----------
# Each is compressed where it can be. The model is loaded again and must predict the
# same. joblib's files are pickles, which can run any code; those of skops can not.

folder = tempfile.mkdtemp()
sizes = {"joblib": [], "skops": []}
for model in models:
    path = os.path.join(folder, "model.joblib")
    joblib.dump(model, path, compress=3)
    assert (joblib.load(path).predict(X) == model.predict(X)).all()
    sizes["joblib"].append(os.path.getsize(path))
    path = os.path.join(folder, "model.skops")
    skops.io.dump(model, path, compression=ZIP_DEFLATED)
    types = skops.io.get_untrusted_types(file=path)
    assert (skops.io.load(path, trusted=types).predict(X) == model.predict(X)).all()
    sizes["skops"].append(os.path.getsize(path))

# %%
# Kilobytes
# ---------

figure, ax = plt.subplots(layout="constrained")
names = [type(model).__name__ for model in models]
for (kind, found), marker in zip(sizes.items(), "os", strict=True):
    ax.plot(np.divide(found, 1000), np.arange(len(names)), marker, label=kind)
    print(kind, *(f"{size / 1000:.1f}" for size in found))
ax.set_yticks(range(len(names)), names)
ax.invert_yaxis()
ax.set_xscale("log")
ax.set_xlabel("Size of the file in kB")
ax.grid(axis="x", alpha=0.3)
figure.legend(loc="outside upper center", ncols=3)

plt.show()
