"""
Text: which words decide?
=========================

A bag of words is Boolean: a word occurs in a text, or it does not. The averaged
perceptron learns such data in milliseconds, and its weights can be read.
"""

# %%
# The texts
# ---------
# The paragraphs of scikit-learn's own documentation strings. A paragraph comes from one
# of three modules; names of classes and of parameters are taken out.

import inspect
import re

import matplotlib.pyplot as plt
from sklearn import cluster, ensemble, linear_model
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from sklboolean import AveragedPerceptron
from sklboolean.inspection import TopFeaturesDisplay

texts, labels = [], []
for module in (cluster, ensemble, linear_model):
    paragraphs = {
        re.sub(r"\b\w*[A-Z_]\w*\b", " ", paragraph)
        for name in module.__all__
        for paragraph in re.split(r"\n\s*\n", inspect.getdoc(getattr(module, name)))
        if len(paragraph) > 150
    }
    texts += sorted(paragraphs)
    labels += [module.__name__.removeprefix("sklearn.")] * len(paragraphs)
print(f"{len(texts)} paragraphs")

# %%
# Accuracy
# --------

words = CountVectorizer(binary=True, min_df=3)
for model in (AveragedPerceptron(random_state=0), LogisticRegression()):
    accuracy = cross_val_score(make_pipeline(words, model), texts, labels).mean()
    print(f"{type(model).__name__}: {accuracy:.2f}")

# %%
# The words with the largest weights
# ----------------------------------
# The pipeline knows the words, and the figure finds them.

pipeline = make_pipeline(words, AveragedPerceptron(random_state=0)).fit(texts, labels)
display = TopFeaturesDisplay.from_estimator(pipeline, 12, target="cluster")
display.ax_.set_title("cluster")

# %%
# What is taken for what
# ----------------------

predicted = cross_val_predict(pipeline, texts, labels)
figure, ax = plt.subplots(layout="constrained")
ConfusionMatrixDisplay.from_predictions(labels, predicted, ax=ax, cmap="Blues")
