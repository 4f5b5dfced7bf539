"""Shapley values of Gaussian processes, and of ensembles whose models have them."""

from dataclasses import replace

import numpy as np
from sklearn.pipeline import make_pipeline

from sklboolean._core.formula import Columns, WeightedSum, class_labels

TOLERANCE = 1e-6  # between the sum of the values and the score


def without_terms(process):
    """Make a formula of the features and the outputs of a Gaussian process."""
    classes = class_labels(process) if hasattr(process, "classes_") else None
    n_outputs = 1 if classes is None or len(classes) == 2 else len(classes)
    weights = np.zeros((n_outputs, 0))
    columns = Columns.of(process, process.binarize)
    return WeightedSum(columns, (), weights, weights.sum(axis=1), classes, False)


def process_values(columns, samples, others, shares):
    """Compute the values of a Gaussian process, by column of the user.

    Parameters
    ----------
    columns : UserColumns
    samples, others : {data frame, array-like, sparse matrix}
        Features of the samples to explain, and of the background.
    shares : ndarray of shape (n_others,) or None

    Returns
    -------
    values : ndarray of shape (n_outputs, n_columns, n_samples)
    base_values : ndarray of shape (n_outputs,)
    """
    process = columns.model
    groups = process.kernel_.feature_groups
    pairs = set(zip(groups.tolist(), columns.owners.tolist(), strict=True))
    own, owners = map(list, zip(*sorted(pairs), strict=True))
    if len(set(own)) < len(pairs) or len(set(owners)) < len(pairs):
        raise ValueError(
            "The columns to explain are not columns_, those of the Gaussian process. "
            "Give the same feature_groups to both."
        )
    found = process.column_values(samples, others, shares)
    values = np.zeros((found.shape[2], len(columns.names), len(found)))
    values[:, owners] = found[:, own].transpose(2, 1, 0)
    has_classes = hasattr(process, "classes_")
    scores = process.decision_function if has_classes else process.predict
    base = np.average(scores(others), axis=0, weights=shares)
    return values, np.atleast_1d(base)


def ensemble_values(ensemble, samples, explain):
    """Add up the values of the models of an ensemble, by their weights.

    Parameters
    ----------
    ensemble : BooleanEnsembleClassifier
    samples : {data frame, array-like, sparse matrix}
        Those to explain.
    explain : callable
        Computes the `ShapleyValues` of a model.

    Returns
    -------
    shapley : ShapleyValues
        Of ``decision_function``.
    """
    parts, factors, classes = [], [], class_labels(ensemble)
    for weight, model in zip(ensemble.weights_, ensemble.estimators_, strict=True):
        encoder = ensemble.encoder_
        try:
            parts.append(
                explain(model if encoder is None else make_pipeline(encoder, model))
            )
        except ValueError as error:
            raise ValueError(f"{type(model).__name__} in the ensemble: {error}") from (
                error
            )
        factors.append(weight * getattr(model, "calibration_slope_", 1.0))

    def total(name):
        values = [getattr(part, name) for part in parts]
        if values[0] is None:
            return None
        values = sum(f * np.asarray(v) for f, v in zip(factors, values, strict=True))
        # The same number added to all scores of a sample changes nothing.
        return (
            values - values.mean(axis=-1, keepdims=True) if len(classes) > 2 else values
        )

    names = [f"log-odds of {classes[1]}"]
    if len(classes) > 2:
        names = [f"score of {label}" for label in classes]
    sums = {name: total(name) for name in ("values", "base_values", "interactions")}
    shapley = replace(parts[0], output_names=names, **sums)
    scores = ensemble.decision_function(samples)
    if not np.allclose(shapley.scores(), scores, rtol=TOLERANCE, atol=TOLERANCE):
        raise ValueError(
            "The Shapley values of the models do not add up to the score of the "
            "ensemble. Each model must have log-odds or logits as scores, between "
            "-20 and 20."
        )
    return shapley
