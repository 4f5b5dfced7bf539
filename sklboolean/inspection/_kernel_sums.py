"""Kernel models over short conjunctions, written as weighted sums of all of them."""

from itertools import combinations, product
from math import comb, fsum

import numpy as np

from sklboolean._core.formula import Columns, WeightedSum, class_labels
from sklboolean.kernels import BooleanSVC, KernelPerceptron
from sklboolean.rules._dual_representation import dual_representation

# The score of a kernel model is sum_i c_i g(count(v_i, x)) + b. For g(s) = sum_l a_l
# C(s, l) the weight of a conjunction T on x is a_|T| times the sum of the c_i of
# support samples that satisfy T (Newton's formula); the empty conjunction joins the
# intercept.

MOST_TERMS = 10_000


def kernel_sum(model):
    """Write a `KernelPerceptron` or `BooleanSVC` as a sum of conjunctions.

    Returns
    -------
    formula : WeightedSum or None
        None for other models, for scores that are divided by norms, and for kernels
        that weigh more than 10,000 conjunctions or are not weightings of conjunctions
        by their length.
    """
    if not isinstance(model, KernelPerceptron | BooleanSVC):
        return None
    is_normalized = isinstance(model, KernelPerceptron) and model.is_normalized_
    if is_normalized or getattr(model.kernel_, "normalize", False):
        return None  # the sum is divided by the norm of the sample
    # One sum for two classes, one for each of more.
    targets = model.classes_.tolist() if len(model.classes_) > 2 else [None]
    try:
        duals = [dual_representation(model, target=target) for target in targets]
    except ValueError:
        return None
    terms = terms_of(duals[0].length_weights, model.n_features_in_)
    if terms is None:
        return None
    weights = [
        [dual.contribution(term, dual.weight(term)) for term in terms] for dual in duals
    ]
    constants = [
        dual.intercept + dual.length_weights.times(0, fsum(dual.coefficients))
        for dual in duals
    ]
    return WeightedSum(
        Columns.of(model, model.kernel_.binarize),
        terms,
        np.reshape(weights, (len(duals), -1)),
        np.array(constants),
        class_labels(model),
        has_probabilities=False,
    )


def terms_of(length_weights, n_features):
    """List the conjunctions that have a weight, without the empty one, or None."""
    # Each feature is true, or true or false where negations count.
    n_signs = 1 if length_weights.monotone else 2
    lengths = 1 + np.flatnonzero(length_weights.mantissas[1:])
    if sum(comb(n_features, k) * n_signs**k for k in lengths.tolist()) > MOST_TERMS:
        return None
    values = (True, False)[:n_signs]
    return [
        tuple(zip(features, signs, strict=True))
        for length in lengths.tolist()
        for features in combinations(range(n_features), length)
        for signs in product(values, repeat=length)
    ]
