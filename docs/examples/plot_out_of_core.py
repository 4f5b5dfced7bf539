"""
Learning from a stream larger than memory
=========================================

Online classifiers use each sample once and do not store it. ``partial_fit`` takes a
stream in chunks, and memory does not grow with the number of samples. Here a generator
yields texts, and ``HashingVectorizer`` encodes them as sparse Boolean features without
a vocabulary. Each chunk is predicted before it is used for training, so every
prediction is on new samples.
"""

# %%
# A stream of texts
# -----------------
# A message is positive if it contains two or more of thirty words that the classifier
# does not know.

import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from sklboolean import AveragedPerceptron, Winnow


def messages(n_chunks, n_samples=500):
    """Yield chunks of texts and labels."""
    rng = np.random.RandomState(0)
    words = np.array([f"word{i}" for i in range(5000)])
    frequencies = 1 / np.arange(10, 5010)
    frequencies /= frequencies.sum()
    signals = words[50:80]
    for _ in range(n_chunks):
        drawn = words[rng.choice(5000, size=(n_samples, 30), p=frequencies)]
        labels = np.isin(drawn, signals).sum(axis=1) >= 2
        yield [" ".join(text) for text in drawn], labels


# %%
# Predict, then train
# -------------------

vectorizer = HashingVectorizer(
    n_features=2**18, binary=True, alternate_sign=False, norm=None
)
classifiers = {"AveragedPerceptron": AveragedPerceptron(), "Winnow": Winnow()}
errors, memory = {name: [] for name in classifiers}, []
tracemalloc.start()
for texts, labels in messages(60):
    X = vectorizer.transform(texts)
    for name, classifier in classifiers.items():
        if hasattr(classifier, "classes_"):
            errors[name].append(np.mean(classifier.predict(X) != labels))
        classifier.partial_fit(X, labels, classes=[False, True])
    memory.append(tracemalloc.get_traced_memory()[0] / 2**20)
tracemalloc.stop()

# %%
# The error falls, memory stays constant
# --------------------------------------

figure, (upper, lower) = plt.subplots(
    2, 1, figsize=(5.5, 6.5), sharex=True, layout="constrained"
)
looks = zip(["#0072B2", "#D55E00"], ["-", "--"], strict=True)
for (name, values), (color, line) in zip(errors.items(), looks, strict=True):
    seen = 500 * np.arange(1, 60)
    upper.plot(seen, values, line, color=color, label=name)
upper.set(ylabel="Error on the next 500 samples", ylim=(0, None))
upper.legend()
lower.plot(500 * np.arange(1, 61), memory, color="#0072B2")
lower.set(xlabel="Samples seen", ylabel="Memory of Python objects in MiB", ylim=(0, 50))

plt.show()
