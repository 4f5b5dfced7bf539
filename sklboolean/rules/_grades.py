"""Grades: parts of what each rule decides, with probabilities of their own.

Rules are chosen for their labels. Two samples with the same label need not be as likely
to have it, so a small tree of each rule's samples tells them apart.
"""

# The samples that a rule decides go down a small tree. Its leaves are written as a list
# of rules, the true side of each split first, so that a leaf needs only the features
# that are true on its way. The leaves' frequencies are drawn towards those of the rule.

import numpy as np
from sklearn.isotonic import isotonic_regression
from sklearn.tree import DecisionTreeClassifier

from sklboolean.rules._gain_search import first_satisfied

# Gain in log-likelihood that a grade must bring, weight that it must have, and most
# features that it adds to its rule (measured on half of 14 mixed tables).
GRADE_PRICE, GRADE_WEIGHT, GRADE_LITERALS = 4.0, 5.0, 3
# The frequencies of the whole rule count as so many samples of each of its grades.
PRIOR_WEIGHT = 10.0
# Where no rule is found for a class that is rarer than this, one grade is always made.
RARE_SHARE = 0.1
# Grades are found with so many samples, and counted on all.
MAX_TREE_SAMPLES = 4000


def grade(rules, default, counts, samples, directions):
    """Split what each rule decides into grades.

    Parameters
    ----------
    rules : list of (literals, class number)
    default : int
        Class number of samples that satisfy no rule.
    counts : ndarray of shape (n_rules + 1, n_classes), float64
        Weight of the samples of each class that each rule decides.
    samples : RuleSamples
    directions : ndarray of shape (n_features,), int8
        1 where the second class must not become less likely when the feature becomes
        true, -1 where it must not become more likely, else 0. The rules keep to them.

    Returns
    -------
    grades : list of (literals, class number)
        As a list of rules they predict the same labels. Each extends a rule.
    decisions : Decisions
        What each grade decides.
    probabilities : ndarray of shape (n_grades + 1, n_classes), float64
    """
    drawn = samples.draw(MAX_TREE_SAMPLES, np.random.RandomState(0))
    first = first_satisfied(drawn.words, [literals for literals, _ in rules])
    sums, described = counts.sum(axis=0), rules[0][1] if rules else 1
    is_allowed = directions * (1 if described else -1) >= 0
    must_split = not rules and sums.min() < RARE_SHARE * sums.sum()
    grades, owners = [], []
    for k, (literals, label) in enumerate([*rules, ((), default)]):
        here = drawn.take(first == k)
        options = here.bits(), here.codes, here.weights, is_allowed, must_split
        for features in split(*options):
            added = [(int(feature), True) for feature in features]
            grades.append((tuple(sorted([*literals, *added])), label))
            owners.append(k)
    labels = np.array([label for _, label in grades])
    grades.pop()  # what is left of the default
    decisions = samples.decisions([literals for literals, _ in grades])
    shares = smoothed(decisions.counts, counts[owners], labels)
    if directions.any():
        # A sample that moves in a direction may satisfy an earlier grade, and no grade
        # ceases to hold. So probabilities may only fall along the list.
        mass = np.maximum(decisions.counts.sum(axis=1), 1e-9)
        of_described = isotonic_regression(
            shares[:, described], sample_weight=mass, increasing=False
        )
        shares[:, described], shares[:, 1 - described] = of_described, 1 - of_described
    return grades, decisions, shares


def split(bits, codes, weights, is_allowed, must_split=False):
    """Find the features that must be true in each grade of a rule.

    A tree is written as a list: the side where a feature is true comes first, so that
    the other side needs no condition. The last grade has none.
    """
    total, ones = weights.sum(), bits.sum(axis=0)
    fewest = np.minimum(ones, len(bits) - ones)
    is_usual = fewest * weights.max(initial=0.0) >= GRADE_WEIGHT
    columns = np.flatnonzero(is_usual & is_allowed)
    if not len(columns):
        return [()]
    options = {"criterion": "log_loss", "random_state": 0}
    limits = {
        "max_depth": GRADE_LITERALS,
        "min_weight_fraction_leaf": min(GRADE_WEIGHT / total, 0.5),
        "min_impurity_decrease": GRADE_PRICE / (np.log(2) * total),
    }
    model = DecisionTreeClassifier(**options, **limits)
    tree = model.fit(bits[:, columns], codes, weights).tree_
    if must_split and tree.node_count == 1:
        model.set_params(max_depth=1, min_impurity_decrease=0.0)
        tree = model.fit(bits[:, columns], codes, weights).tree_

    def leaves(node, features):
        if tree.children_left[node] < 0:
            return [features]
        added = (*features, columns[tree.feature[node]])
        return [
            *leaves(tree.children_right[node], added),
            *leaves(tree.children_left[node], features),
        ]

    return leaves(0, ())


def smoothed(counts, counts_of_rule, labels):
    """Estimate the probabilities of grades.

    Parameters
    ----------
    counts, counts_of_rule : ndarray of shape (n_grades, n_classes), float64
        Weight of the samples of each class, in the grade and in its whole rule.
    labels : ndarray of shape (n_grades,)
        Class number that the rule predicts. If it is the most probable one in the whole
        rule, then in each grade: other classes do not count for more there.

    Returns
    -------
    probabilities : ndarray of shape (n_grades, n_classes), float64
    """
    of_label = np.take_along_axis(counts, labels[:, None], axis=1)
    frequencies_of_rule = frequencies(counts_of_rule)
    is_likely = frequencies_of_rule.argmax(axis=1) == labels
    capped = np.where(is_likely[:, None], np.minimum(counts, of_label), counts)
    total = counts.sum(axis=1, keepdims=True)
    share = total / (total + PRIOR_WEIGHT)
    return share * frequencies(capped) + (1 - share) * frequencies_of_rule


def frequencies(counts):
    """Divide counts by their sum, with one more of each class (Laplace smoothing)."""
    counts = counts + 1.0
    return counts / counts.sum(axis=1, keepdims=True)
