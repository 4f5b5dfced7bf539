"""
One model in five places
========================

A pipeline from a data frame to rules leaves Python as SQL, as Python source, as JSON
and, where ``skl2onnx`` is installed, as ONNX. All give the same answers. Then a small
web service answers requests.
"""

# %%
# The model
# ---------
# Does the diabetes of a patient progress fast? Ten measurements become conditions, and
# conditions become rules.

import importlib.util
import json
import os
import sqlite3
import tempfile
import warnings
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline

from sklboolean import BooleanEncoder, RuleClassifier

patients, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
label = np.where(progression > 140, "fast", "slow")
encoder = BooleanEncoder(n_bins=5)
rules = RuleClassifier(max_rules=3, monotone=True, random_state=0)
model = make_pipeline(encoder, rules).fit(patients, label)
expected = model.predict(patients)
print(rules.to_text())

answers = {"pipeline": lambda frame: model.predict(frame)}

# %%
# SQL
# ---
# The table is scored where it is. The same text runs in DuckDB and PostgreSQL.

expression = rules.to_sql(encoder=encoder)
query = f"SELECT {expression} FROM patients AS f ORDER BY number"
print(expression)
database = sqlite3.connect(":memory:")


def by_sql(frame):
    numbered = frame.assign(number=np.arange(len(frame)))
    numbered.to_sql("patients", database, index=False, if_exists="replace")
    return [label for (label,) in database.execute(query)]


answers["SQL in sqlite3"] = by_sql

# %%
# Python source
# -------------
# An expression of a sample ``x``, which needs no package. Its conditions are columns of
# the encoder.

source = rules.to_python(encoder.get_feature_names_out())
print(source)
compiled = compile(source, "rules", "eval")


def by_source(frame):
    return [
        eval(compiled, {"x": x}) for x in encoder.transform(frame).to_dict("records")
    ]


answers["Python source"] = by_source

# %%
# JSON
# ----
# Lists, numbers and texts, for a program of your own: here a few lines of Python, by
# which the first satisfied term decides.

text = json.dumps(rules.to_dict())
print(text[:200], "...")
data = json.loads(text)


def by_terms(frame):
    labels, outcomes = [], [*data["labels"], data["default"]]
    for sample in encoder.transform(frame).to_numpy():
        satisfied = [all(sample[j] == v for j, v in term) for term in data["terms"]]
        labels.append(outcomes[[*satisfied, True].index(True)])
    return labels


answers["JSON"] = by_terms

# %%
# ONNX
# ----
# One graph holds the encoder and the rules. Each column is an input.

if importlib.util.find_spec("skl2onnx") and importlib.util.find_spec("onnxruntime"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what these packages call
        import onnxruntime
        from skl2onnx import to_onnx

        import sklboolean.onnx  # noqa: F401  registers the converters

        graph = to_onnx(model, patients, options={"zipmap": False})
    session = onnxruntime.InferenceSession(graph.SerializeToString())

    def by_onnx(frame):
        return session.run(None, {name: frame[[name]].to_numpy() for name in frame})[0]

    answers["ONNX"] = by_onnx

# %%
# A web service
# -------------
# skops loads no type that was not allowed. In a file of its own, ``service.py``, this
# is served by ``uvicorn service:app``.

if importlib.util.find_spec("fastapi") and importlib.util.find_spec("skops"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import skops.io
        from fastapi import FastAPI
        from fastapi.testclient import TestClient

        path = os.path.join(tempfile.mkdtemp(), "model.skops")
        skops.io.dump(model, path)
        types = skops.io.get_untrusted_types(file=path)  # read them before you trust
        loaded = skops.io.load(path, trusted=types)
        app = FastAPI()

        @app.post("/predict")
        def predict(samples: list[dict[str, float]]):
            frame = pd.DataFrame(samples)[list(loaded.feature_names_in_)]
            return {"labels": loaded.predict(frame).tolist()}

        client = TestClient(app)

    def by_request(frame):
        samples = frame.to_dict("records")
        return client.post("/predict", json=samples).json()["labels"]

    answers["web service"] = by_request

# %%
# The same answers, sooner or later
# ---------------------------------
# Milliseconds for one patient and for all 442: the least of twenty calls.


def milliseconds(answer, frame):
    times = []
    for _ in range(20):
        start = perf_counter()
        answer(frame)
        times.append(1000 * (perf_counter() - start))
    return min(times)


one, table = [], []
for answer in answers.values():
    assert np.array_equal(answer(patients), expected)
    one.append(milliseconds(answer, patients[:1]))
    table.append(milliseconds(answer, patients))
print(f"{len(answers)} ways, the same {len(expected)} answers")
database.close()

figure, ax = plt.subplots(layout="constrained")
places = np.arange(len(answers))
ax.plot(one, places, "o", label="one patient")
ax.plot(table, places, "s", label="442 patients")
ax.set_yticks(places, answers)
ax.invert_yaxis()
ax.set_xscale("log")
ax.set_xlabel("Milliseconds")
ax.grid(axis="x", alpha=0.3)
ax.legend()

plt.show()
