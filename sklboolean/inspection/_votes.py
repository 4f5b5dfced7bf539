"""What each hypothesis of an ensemble voted, in words and as a part of the score."""

import numpy as np

from sklboolean._core.feature_names import conjunction_words
from sklboolean.inspection._sums import as_bits, stump_terms, terms_that_hold


def vote_parts(votes, X, classes, columns, names):
    """Collect the votes on each sample; stumps with the same condition are one part.

    Parameters
    ----------
    votes : iterable of (hypothesis, str, ndarray of shape (n_samples, n_classes))
        Each hypothesis, the game that it plays, and what its vote adds to the scores.
    X : ndarray or sparse array of shape (n_samples, n_features)
        Checked samples.
    classes : list of n_classes labels
    columns : ndarray of shape (n_samples,), int
        Number of the class whose score is explained.
    names : list of str
        Feature names.

    Returns
    -------
    parts : list of n_samples lists of (str, float)
        They add up to the score of the class. Hypotheses without a part in it are left
        out.
    """
    sums, samples = [{} for _ in columns], np.arange(len(columns))
    for number, (hypothesis, game, shares) in enumerate(votes):
        if hasattr(hypothesis, "side_classes_"):
            texts = side_texts(hypothesis, X, names)
        elif isinstance(hypothesis, str):
            texts = [hypothesis] * len(samples)
        else:
            start = f"{type(hypothesis).__name__} {number}: "
            texts = [start + _vote(row, classes) for row in shares]
        for i, value in enumerate(shares[samples, columns].tolist()):
            if value:
                text = f"{texts[i]} ({game})" if game else texts[i]
                sums[i][text] = sums[i].get(text, 0.0) + value
    # Votes for and against one condition cancel out, except for rounding.
    return [
        [(text, value) for text, value in own.items() if abs(value) > 1e-12]
        for own in sums
    ]


def committee_votes(members, predictions, classes):
    """Yield the vote of each member as `vote_parts` takes it.

    Parameters
    ----------
    members : list of classifiers
        Not used where there is a posterior: a version space has no list of members.
    predictions : CommitteePredictions
    classes : list of n_classes labels
    """
    if predictions.votes is None:
        members = [f"posterior of {label}" for label in classes]
    for member, shares in zip(members, predictions.consensus_parts(), strict=True):
        # With two classes the score is the difference of their probabilities.
        yield member, "", shares - shares[:, ::-1] if len(classes) == 2 else shares


def _vote(shares, classes):
    """Write the class that a hypothesis voted for."""
    if shares.max() > 0:
        return str(classes[shares.argmax()])
    return f"not {classes[shares.argmin()]}"


def side_texts(stump, X, names):
    """Write the side of a stump on which each sample is."""
    terms = stump_terms(stump)
    if not terms:
        return ["always"] * X.shape[0]
    held = terms_that_hold(terms, as_bits(X, stump.binarize))[:, 0]
    text = " and ".join(conjunction_words(terms[0], names))
    other = f"not ({text})"
    if len(terms[0]) == 1:
        [(feature, value)] = terms[0]
        [other] = conjunction_words([(feature, not value)], names)
    return [text if here else other for here in held]


def prediction_parts(names, table):
    """List what each regressor of a median predicts, the closest to it first.

    Parameters
    ----------
    names : list of n_regressors str
    table : ndarray of shape (n_samples, n_regressors)
        Predictions.

    Returns
    -------
    parts : list of n_samples lists of (str, float)
    """
    far = np.abs(table - np.median(table, axis=1)[:, None])
    return [
        [(names[k], float(row[k])) for k in order]
        for row, order in zip(table, np.argsort(far, kind="stable"), strict=True)
    ]
