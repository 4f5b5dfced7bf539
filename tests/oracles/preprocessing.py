"""Conjunctions of literals by definition: listed, tried on each row, and counted."""

from datetime import UTC, datetime
from fractions import Fraction
from itertools import combinations

import numpy as np


def literals(n_features, negations):
    """(feature, negated), in the order of the columns when there are no groups."""
    signs = (False, True) if negations else (False,)
    return [(feature, negated) for feature in range(n_features) for negated in signs]


def holds(conjunction, row):
    return all(bool(row[feature]) != negated for feature, negated in conjunction)


def support(conjunction, X):
    return sum(holds(conjunction, row) for row in X)


def all_conjunctions(n_features, shortest, longest, *, negations=False, groups=None):
    """Every conjunction, by length and then in the order of its literals.

    ``groups`` holds a label for each feature; features of one label stand together,
    where the first of them stands, and never meet.
    """
    groups = list(range(n_features)) if groups is None else list(groups)
    ordered = sorted(
        literals(n_features, negations), key=lambda one: groups.index(groups[one[0]])
    )
    return [
        conjunction
        for length in range(shortest, longest + 1)
        for conjunction in combinations(ordered, length)
        if len({groups[feature] for feature, _ in conjunction}) == length
    ]


def frequent(conjunctions, X, min_count):
    """Those that hold in enough rows."""
    return [c for c in conjunctions if support(c, X) >= min_count]


def table(conjunctions, X):
    return [[int(holds(c, row)) for c in conjunctions] for row in X]


def text(conjunction, names):
    words = (("not " if negated else "") + names[f] for f, negated in conjunction)
    return " and ".join(words)


def signs(conjunction, n_features):
    row = [0] * n_features
    for feature, negated in conjunction:
        row[feature] = -1 if negated else 1
    return row


# Encoded columns


def condition_holds(name, value):
    """Whether the condition that a feature name states holds for one value.

    ``name`` is without its column; None and NaN are missing values.
    """
    is_missing = value is None or value != value
    relation, _, stated = name.strip().partition(" ")
    if name.strip() == "is missing":
        return is_missing
    if is_missing:
        return False
    if relation == "<=":
        return value <= float(stated)
    if relation == ">":
        return value > float(stated)
    return value == stated if relation == "=" else bool(value)


def date_condition(name, when):
    """Test a condition on the column "when" by what Python says of the date in UTC."""
    if name == "when is missing":
        return when is None
    if when is None:
        return False
    if when.tzinfo is not None:
        when = when.astimezone(UTC).replace(tzinfo=None)
    condition = name.removeprefix("when ")
    if condition.startswith("<= "):
        return when <= datetime.fromisoformat(condition[3:])
    if condition.startswith("> "):
        return when > datetime.fromisoformat(condition[2:])
    part, level = condition.split(" = ")
    found = {"month": when.month, "hour": when.hour, "weekday": f"{when:%A}"}
    return str(found[part]) == level


def best_cuts(values, n_bins):
    """The numbers of values below each threshold: closest to each quantile."""
    values = sorted(values)
    cuts = [i for i in range(1, len(values)) if values[i - 1] < values[i]]
    if len(cuts) < n_bins:
        return cuts
    shares = [len(values) * i / n_bins for i in range(1, n_bins)]
    return sorted({min(cuts, key=lambda cut: abs(cut - share)) for share in shares})


def auto_cuts(values, y):
    """The numbers of values below each threshold of ``n_bins="auto"`` with labels.

    Eight quantiles, both sides of values that a sixteenth of the samples have, and
    strict cuts; quantiles within half a bin of a strict cut are left out. A list for
    each choice among strict cuts that save the same.
    """
    order = np.argsort(values, kind="stable")
    values, y = np.asarray(values)[order], np.asarray(y)[order]
    n_samples, spikes, near = len(values), set(), len(values) / 16
    for value in set(values.tolist()):
        if 16 * np.sum(values == value) >= n_samples:
            spikes |= {int(np.sum(values < value)), int(np.sum(values <= value))}
    quantiles, choices = best_cuts(values, 8), []
    for strict in strict_cuts(values, y):
        cuts = {c for c in quantiles if all(abs(c - s) > near for s in strict)}
        choices.append(sorted((cuts | spikes | strict) - {0, n_samples}))
    return choices


def strict_cuts(values, y, n_leaves=6, least=5):
    """Split the leaf whose best cut saves most bits, while each saves its price.

    Of cuts that save the same bits any may be taken, so this is a list of sets.
    """
    price = 6 + len(set(y.tolist()))
    choices, started = [], [[(0, len(y))]]
    while started:
        leaves = started.pop()
        options = [
            (entropy(y[a:b]) - entropy(y[a:c]) - entropy(y[c:b]), c, (a, b))
            for a, b in leaves
            for c in range(a + least, b - least + 1)
            if values[c - 1] < values[c]
        ]
        most = max((saved for saved, _, _ in options), default=0)
        if len(leaves) == n_leaves or most < price:
            choices.append({start for start, _ in leaves if start})
            continue
        for saved, c, (a, b) in options:
            if saved > most - 1e-9:
                others = [leaf for leaf in leaves if leaf != (a, b)]
                started.append([*others, (a, c), (c, b)])
    return choices


def entropy(labels):
    """The bits that describe labels whose shares are known."""
    counts = np.unique(labels, return_counts=True)[1]
    return float(counts @ np.log2(counts.sum() / counts))


def monotone_cuts(values, y, n_bins):
    """The thresholds of best leave-one-out likelihood whose shares rise or fall."""
    levels, best = np.unique(values), (-np.inf, [])
    for n_cuts in range(1, n_bins):
        for cuts in combinations(range(1, len(levels)), n_cuts):
            place = np.searchsorted(levels[list(cuts)], values, side="right")
            bins = [y[place == k] for k in range(n_cuts + 1)]
            steps = np.diff([labels.mean() for labels in bins])
            is_monotone = (steps > 0).all() or (steps < 0).all()
            if is_monotone and min(map(len, bins)) >= 5:
                total = sum(leave_one_out(labels, y.mean()) for labels in bins)
                best = max(best, (total, list(cuts)), key=lambda pair: pair[0])
    return best


def leave_one_out(labels, share):
    """The log-likelihood of each label by the others and one of the given share."""
    shares = (labels.sum() - labels + share) / len(labels)
    return np.log(np.where(labels, shares, 1 - shares)).sum()


def fewest_decimals(low, high):
    """The fewest decimals of a number in [low, high), negative for powers of ten."""
    low = Fraction(low)
    decimals = -20
    while True:
        step = Fraction(10) ** -decimals
        if float(-(-low // step) * step) < high:
            return decimals
        decimals += 1
