"""What each hypothesis of an ensemble voted, in words and as a part of the score."""

import numpy as np

from sklboolean._core.formula import formula_of
from sklboolean.inspection._formulas import as_bits


def stump_votes(formula, bits, columns, names):
    """Collect the votes of stumps on each sample; each condition is one part.

    A condition with the weight w adds w / 2 where it holds and -w / 2 elsewhere; the
    rest of its weight is a constant.

    Parameters
    ----------
    formula : WeightedSum
        Of votes.
    bits : ndarray of shape (n_samples, n_features), bool
    columns : ndarray of shape (n_samples,), int
        Number of the class whose score is explained.
    names : FeatureNames

    Returns
    -------
    parts : list of n_samples lists of (str, float)
        They add up to the score of the class.
    """
    halves = formula.weights / (2 * formula.divisors[:, None])
    constants = formula.intercepts / formula.divisors + halves.sum(axis=1)
    sides = [condition_and_opposite(term, names) for term in formula.terms]
    satisfied = formula.satisfied(bits)
    parts = []
    for number, (holds, column) in enumerate(zip(satisfied, columns, strict=True)):
        sums = {}
        for output, factor, game in speaking_outputs(
            formula, column, bits[number : number + 1]
        ):
            values = np.where(holds, halves[output], -halves[output])
            votes = [
                (sides[k][not holds[k]], values[k]) for k in np.flatnonzero(values)
            ]
            for text, value in [*votes, ("always", constants[output])]:
                text = f"{text} ({game})" if game else text
                sums[text] = sums.get(text, 0.0) + factor * value
        # Votes for and against one condition cancel out, except for rounding.
        parts.append([pair for pair in sums.items() if abs(pair[1]) > 1e-12])
    return parts


def speaking_outputs(formula, column, sample):
    """List the sums that are parts of the score of a class.

    Returns
    -------
    outputs : list of (int, float, str)
        Number of the sum, its factor, and the two classes of its game if it is one.
    """
    if formula.games is None:
        is_single = len(formula.weights) == 1
        return [(0, 1.0 if column else -1.0, "")] if is_single else [(column, 1.0, "")]
    factors = formula.game_factors(formula.sums(sample))[0]
    return [
        (output, factors[output] * (1 if column == game[1] else -1), name)
        for output, (game, name) in enumerate(
            zip(formula.games, formula.output_names(), strict=True)
        )
        if column in game
    ]


def condition_and_opposite(term, names):
    """Write a conjunction, and its negation."""
    text = " and ".join(names.words(term))
    if len(term) == 1:
        [(feature, value)] = term
        return text, names.words([(feature, not value)])[0]
    return text, f"not ({text})"


def member_votes(votes, samples, classes, columns, names):
    """Collect the votes of any hypotheses on each sample; equal texts are one part.

    Parameters
    ----------
    votes : iterable of (hypothesis or str, str, ndarray)
        Each hypothesis, the game that it plays, and what its vote adds to the scores,
        of shape (n_samples, n_classes).
    samples : ndarray or sparse array of shape (n_samples, n_features)
    classes : list of n_classes labels
    columns : ndarray of shape (n_samples,), int
        Number of the class whose score is explained.
    names : FeatureNames

    Returns
    -------
    parts : list of n_samples lists of (str, float)
        They add up to the score of the class. Hypotheses without a part in it are left
        out.
    """
    sums, numbers = [{} for _ in columns], np.arange(len(columns))
    for number, (hypothesis, game, shares) in enumerate(votes):
        if isinstance(hypothesis, str):
            texts = [hypothesis] * len(numbers)
        elif hasattr(hypothesis, "side_classes_"):
            texts = side_texts(hypothesis, samples, names)
        else:
            start = f"{type(hypothesis).__name__} {number}: "
            texts = [start + voted_class(row, classes) for row in shares]
        for i, value in enumerate(shares[numbers, columns].tolist()):
            if value:
                text = f"{texts[i]} ({game})" if game else texts[i]
                sums[i][text] = sums[i].get(text, 0.0) + value
    return [[pair for pair in one.items() if abs(pair[1]) > 1e-12] for one in sums]


def voted_class(shares, classes):
    """Write the class that a hypothesis voted for."""
    if shares.max() > 0:
        return str(classes[shares.argmax()])
    return f"not {classes[shares.argmin()]}"


def side_texts(stump, samples, names):
    """Write the side of a stump on which each sample is."""
    rules = formula_of(stump)
    if not rules.terms:
        return ["always"] * samples.shape[0]
    satisfied = rules.satisfied(as_bits(samples, rules.columns.binarize))[:, 0]
    text, opposite = condition_and_opposite(rules.terms[0], names)
    return [text if holds else opposite for holds in satisfied]


def prediction_parts(predictions):
    """List what each regressor of a median predicts, the closest to it first.

    Parameters
    ----------
    predictions : iterable of (regressor, ndarray of shape (n_samples,))

    Returns
    -------
    parts : list of n_samples lists of (str, float)
    """
    models, columns = zip(*predictions, strict=True)
    names = [f"{type(model).__name__} {k}" for k, model in enumerate(models)]
    table = np.stack(columns, axis=1)
    far = np.abs(table - np.median(table, axis=1)[:, None])
    return [
        [(names[k], float(row[k])) for k in order]
        for row, order in zip(table, np.argsort(far, kind="stable"), strict=True)
    ]
