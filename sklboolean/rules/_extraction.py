"""A DNF extracted from a fitted model.

Conjunctions with large weights in the model are candidates. A greedy cover chooses
rules among them, each for the samples that it adds. Sets of samples are packed bits.
"""

from dataclasses import dataclass, replace
from itertools import product
from time import monotonic

import numpy as np
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sklboolean._core._popcount import count_ones
from sklboolean._core.bits import pack_dense
from sklboolean._core.conjunction_search import (
    MAX_LISTED,
    encode_groups,
    satisfied_by,
    search_conjunctions,
)
from sklboolean._core.formulas import python_value
from sklboolean._core.validation import (
    KEPT_DTYPES,
    as_boolean,
    check_array_strict,
    check_choice,
    check_integer,
    check_real,
    encode_classes,
)
from sklboolean.rules._dual_representation import dual_representation
from sklboolean.rules._rule_set import (
    DNF,
    RuleEnsemble,
    any_satisfied,
    by_columns,
    partial_scores,
    with_precision,
)

# Maximum number of rules in an ensemble.
MAX_RULES = 400


def extract_dnf(
    model, X, y=None, *, max_rules=20, max_literals=4, monotone=False,
    penalty=(1.0, 3.0, 5.0), min_gain=0.01, n_candidates=100, width=512,
    feature_groups=None, min_fidelity=0.9, target=None, kernel=None, time_limit=None,
    n_jobs=None,
):  # fmt: skip
    """Extract a DNF, an OR of ANDs, from a fitted model.

    The conjunctions with the largest weight in the model are candidates. Rules are
    chosen among them one by one, each for the samples that it adds. Support vectors
    that a rule covers are left out before the next search. This is done for both
    classes; the result is the DNF with the fewest errors, where a literal counts as one
    error.

    Parameters
    ----------
    model : fitted estimator
        See `top_conjunctions`. For linear models the rules are single features.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The samples to cover, best the training samples. They must be the training
        samples for models with a callable or precomputed kernel or ``gamma="scale"``.
    y : array-like of shape (n_samples,), default=None
        Labels to explain. None: the labels that the model predicts.
    max_rules : int, default=20
        Maximum number of rules.
    max_literals : int, default=4
        Maximum number of literals in a rule. It may exceed that of the kernel.
    monotone : bool, default=False
        Whether rules consist of true features only. False: negated features too. True
        suits one-hot columns.
    penalty : float or sequence of float, default=(1.0, 3.0, 5.0)
        Number of correctly covered samples that outweigh one wrongly covered sample: 3
        rejects rules of precision below 3/4. With several values all are tried, and the
        best result is kept. Raise it for more precise rules.
    min_gain : float, default=0.01
        Minimum gain of a rule as a fraction of the samples of its class: correctly
        covered samples that it adds, minus ``penalty`` times wrongly covered ones.
        Raise it for fewer rules.
    n_candidates : int, default=100
        Number of conjunctions from each search.
    width : int or None, default=512
        Number of conjunctions of each length that a search extends. None: an exact
        search, which may take long with many features: see ``time_limit``.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a rule.
        For one-hot columns: the attribute.
    min_fidelity : float, default=0.9
        Minimum fraction of the samples that a DNF must predict as the labels to be
        explained. Below it the result is a `RuleEnsemble`.
    target : class label, default=None
        See `top_conjunctions`. With more than two classes, the label of this class is
        True.
    kernel : kernel object, default=None
        The kernel of a precomputed matrix.
    time_limit : float or None, default=None
        Seconds after which no further rule is searched for.
    n_jobs : int or None, default=None
        Number of parallel jobs of an exact search (``width=None``). The result does not
        depend on it, except under ``time_limit``.

    Returns
    -------
    dnf : DNF or RuleEnsemble
        `RuleEnsemble` if no DNF reaches ``min_fidelity``: the model as a sum of its
        conjunctions. Its attribute ``is_dnf`` tells which. Both have ``rules``,
        ``fidelity``, ``predict``, ``to_text`` and ``to_python``.

    Raises
    ------
    ValueError
        For invalid parameters and models as in `top_conjunctions`, for labels that are
        not classes of the model, and for regressors without y.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> from sklboolean.rules import extract_dnf
    >>> data = make_tic_tac_toe()
    >>> model = SVC(gamma=0.1, C=10).fit(data.data, data.target)
    >>> dnf = extract_dnf(model, data.data, monotone=True)
    >>> len(dnf.rules)
    8
    >>> dnf.rules[2].to_text(data.feature_names)
    'top-left=x and top-middle=x and top-right=x'
    """
    params = CoverParams.check(
        max_rules=max_rules, max_literals=max_literals, monotone=monotone,
        penalty=penalty, min_gain=min_gain, n_candidates=n_candidates, width=width,
        feature_groups=feature_groups, time_limit=time_limit, n_jobs=n_jobs,
    )  # fmt: skip
    check_real(min_fidelity, "min_fidelity", 0)
    dual = dual_representation(model, X, kernel=kernel, target=target)
    encode_groups(feature_groups, dual.n_features)
    checked = _check_X(X, dual.n_features)
    if dual.feature_names is None and hasattr(X, "columns"):
        dual = replace(dual, feature_names=list(map(str, X.columns)))
    names = dual.feature_names
    samples, binarize = _binarized(checked, getattr(model, "binarize", 0.0))
    labels, positive = _labels_to_explain(model, X, checked, y, target, kernel)

    pool, found = CandidatePool(samples), []
    for penalty, sign in product(params.penalties, (1, -1)):
        wanted = positive if sign == 1 else ~positive
        chosen = find_cover(dual, sign, pool, wanted, ~wanted, penalty, params)
        n_errors = int(np.count_nonzero(any_satisfied(samples, chosen) != wanted))
        default, label = labels[::sign]
        rules = []
        for literals in chosen:
            rule = dual.rule(literals, sign * dual.weight(literals), label)
            rules.append(with_precision(rule, samples, wanted))
        fidelity = 1 - n_errors / len(wanted)
        dnf = DNF(
            tuple(rules), label, default, fidelity, dual.n_features, names, binarize
        )
        found.append((n_errors + sum(map(len, chosen)), dnf))
    dnf = min(found, key=lambda pair: pair[0])[1]
    if dnf.fidelity >= min_fidelity:
        return dnf
    rules, intercept, fidelity = _ensemble_rules(dual, samples, positive, params)
    if fidelity <= dnf.fidelity:
        return dnf
    return RuleEnsemble(
        rules, intercept, labels[1], labels[0], fidelity, dnf.n_features, names,
        binarize,
    )  # fmt: skip


@dataclass(frozen=True)
class CoverParams:
    """Checked parameters of `find_cover`; for their meaning see `extract_dnf`.

    Attributes
    ----------
    penalties : tuple of float
    deadline : float or None
        On the clock of ``time.monotonic``.
    """

    max_rules: int
    max_literals: int
    monotone: bool
    penalties: tuple
    min_gain: float
    n_candidates: int
    width: int | None
    feature_groups: object
    deadline: float | None
    n_jobs: int | None

    @classmethod
    def check(
        cls, *, max_rules, max_literals, monotone, penalty, min_gain, n_candidates,
        width, feature_groups, time_limit, n_jobs,
    ):  # fmt: skip
        """Check all parameters but the shape of ``feature_groups``."""
        check_choice(monotone, "monotone", (False, True))
        if time_limit is not None:
            time_limit = float(check_real(time_limit, "time_limit", 0, strict=True))
        penalties = tuple(
            float(check_real(value, "penalty", 1)) for value in np.ravel(penalty)
        )
        if not penalties:
            raise ValueError("penalty is empty: give a number, or several.")
        return cls(
            check_integer(max_rules, "max_rules", 1),
            check_integer(max_literals, "max_literals", 1),
            bool(monotone),
            penalties,
            float(check_real(min_gain, "min_gain", 0)),
            check_integer(n_candidates, "n_candidates", 1, MAX_LISTED),
            None if width is None else check_integer(width, "width", 1, 2**62),
            feature_groups,
            None if time_limit is None else monotonic() + time_limit,
            n_jobs,
        )

    def time_left(self):
        """Compute the seconds until the deadline, at least a millisecond."""
        return None if self.deadline is None else max(1e-3, self.deadline - monotonic())


class CandidatePool:
    """Conjunctions and the samples that satisfy them; of one cover only the shortest.

    Parameters
    ----------
    X : ndarray of uint64 words, or csr_array
        Boolean samples.
    """

    def __init__(self, X):
        self.X = by_columns(X)
        self.literal_covers = {}
        self.clear()

    def clear(self):
        """Remove the conjunctions; the covers of single literals are kept."""
        self.index, self.literals, self.covers, self.lengths = {}, [], [], []

    def add(self, literals):
        """Add a conjunction, unless one of the same cover is as short."""
        cover = _pack(np.ones(self.X.shape[0], dtype=bool))
        for literal in literals:
            if literal not in self.literal_covers:
                self.literal_covers[literal] = _pack(satisfied_by(self.X, [literal]))
            cover &= self.literal_covers[literal]
        # Of two of one length the one with fewer negations.
        length = len(literals), sum(not value for _, value in literals)
        k = self.index.setdefault(cover.tobytes(), len(self.literals))
        if k == len(self.literals):
            self.literals.append(literals)
            self.covers.append(cover)
            self.lengths.append(length)
        elif length < self.lengths[k]:
            self.literals[k], self.lengths[k] = literals, length

    def best(self, positive, negative, penalty):
        """Find the gain and the index of the conjunction with the largest gain.

        Ties go to the shorter one, then to that with fewer negations, then to the
        first.
        """
        if not self.covers:
            return 0.0, None
        covers = np.array(self.covers)
        counts = np.empty(2 * len(covers), dtype=np.int32)
        count_ones(np.concatenate([covers & positive, covers & negative]), counts)
        n_right, n_wrong = counts.reshape(2, -1).astype(np.int64)
        gains = n_right - penalty * n_wrong
        k = int(np.lexsort((*np.transpose(self.lengths)[::-1], -gains))[0])
        return float(gains[k]), k


def _pack(mask):
    return pack_dense(mask[None, :])[0]


def find_cover(dual, sign, pool, positive, negative, penalty, params):
    """Choose conjunctions of a model greedily, each for the samples that it adds.

    A conjunction gains 1 for each positive sample that none before it covers, and loses
    ``penalty`` for each other such sample. Candidates are the conjunctions with the
    largest weight over the support vectors that are not covered yet. A new search
    starts when no candidate gains half as much as the best one after the last search.

    Parameters
    ----------
    dual : DualRepresentation
    sign : {1, -1}
        Whether the model gives positive samples high or low scores.
    pool : CandidatePool
        Over the samples of the masks; its conjunctions are removed.
    positive, negative : ndarray of shape (n_samples,), bool
        Samples that should be covered, and samples that should not.
    penalty : float
    params : CoverParams

    Returns
    -------
    chosen : list of tuples of (feature, value) pairs
    """
    pool.clear()
    min_gain = max(1.0, params.min_gain * np.count_nonzero(positive))
    positive, negative = _pack(positive), _pack(negative)
    coefficients = sign * dual.coefficients
    chosen, enough = [], np.inf
    while len(chosen) < params.max_rules:
        gain, k = pool.best(positive, negative, penalty)
        if gain < enough:
            result = search_conjunctions(
                dual.samples, coefficients, dual.n_features,
                max_literals=1 if dual.is_linear else params.max_literals,
                n_rules=params.n_candidates,
                monotone=dual.is_linear or params.monotone, sign="positive",
                feature_groups=params.feature_groups, time_limit=params.time_left(),
                width=params.width, n_jobs=params.n_jobs,
            )  # fmt: skip
            for literals, _ in result.found:
                pool.add(literals)
            gain, k = pool.best(positive, negative, penalty)
            enough = gain / 2
        if k is None or gain < min_gain:
            break
        literals, cover = pool.literals[k], pool.covers[k]
        chosen.append(literals)
        positive, negative = positive & ~cover, negative & ~cover
        is_covered = satisfied_by(dual.samples, literals)
        coefficients = np.where(is_covered, 0.0, coefficients)
        if params.deadline is not None and monotonic() >= params.deadline:
            break
    return chosen


def _check_X(X, n_features):
    X = check_array_strict(X, accept_sparse=["csr", "csc"], dtype=KEPT_DTYPES, name="X")
    if X.shape[1] != n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but the model has {n_features}."
        )
    return X


def _binarized(X, binarize):
    """Binarize samples; the threshold is None when they hold zeros and ones."""
    if binarize is None or binarize < 1:
        try:
            return as_boolean(X, None), None
        except ValueError:
            pass
    return as_boolean(X, binarize), binarize


def _labels_to_explain(model, X, checked, y, target, kernel):
    """Determine the two labels, and which samples have the second."""
    classes = getattr(model, "classes_", None)
    if isinstance(model, OneClassSVM):
        classes = np.array([-1, 1])
    if y is None:
        if classes is None:
            raise ValueError(
                f"{type(model).__name__} predicts no classes: give y, the labels of "
                "the samples in X, for example model.predict(X) > 0.5."
            )
        is_matrix = isinstance(getattr(model, "kernel", None), str) and (
            model.kernel == "precomputed"
        )
        y = model.predict(kernel(checked, checked) if is_matrix else X)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    classes, codes = encode_classes(y, classes)
    if len(classes) > 2 and target is None:
        raise ValueError(
            f"y has {len(classes)} classes, and a DNF separates two: give target, one "
            f"of {classes.tolist()}."
        )
    index = 1 if target is None else int(np.flatnonzero(classes == target)[0])
    if len(classes) > 2:
        return (False, True), codes == index
    labels = python_value(classes[1 - index]), python_value(classes[index])
    return labels, codes == index


def _ensemble_rules(dual, samples, positive, params):
    """Find the rules of an ensemble, its intercept and its fidelity.

    Of the conjunctions with the largest contribution it takes the first ones, as many
    as predict the labels best.
    """
    longest = min(max(1, dual.length_weights.longest), params.max_literals)
    longest = min(longest, dual.n_features)
    length_weights, _ = dual.length_weights.scaled(longest)
    result = search_conjunctions(
        dual.samples, dual.coefficients, dual.n_features, max_literals=longest,
        n_rules=MAX_RULES,
        monotone=dual.is_linear or dual.length_weights.monotone or params.monotone,
        feature_groups=params.feature_groups, length_weights=length_weights,
        time_limit=params.time_left(), width=params.width, n_jobs=params.n_jobs,
    )  # fmt: skip
    rules = [dual.rule(literals, weight) for literals, weight in result.found]
    empty = dual.length_weights.times(0, float(dual.coefficients.sum()))
    intercept = dual.intercept + empty
    n_right = [
        np.count_nonzero((scores > 0) == positive)
        for scores in partial_scores(samples, intercept, rules)
    ]
    n_rules = int(np.argmax(n_right))
    fidelity = int(n_right[n_rules]) / len(positive)
    return tuple(rules[:n_rules]), float(intercept), fidelity
