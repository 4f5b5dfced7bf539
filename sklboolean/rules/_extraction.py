"""Read a DNF out of a fitted model."""

from itertools import product
from time import monotonic

import numpy as np
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sklboolean._core.conjunction_search import (
    MOST_LISTED,
    check_groups,
    search_conjunctions,
)
from sklboolean._core.validation import (
    KEPT_DTYPES,
    as_boolean,
    check_array_strict,
    check_choice,
    check_integer,
    check_real,
    encode_classes,
)
from sklboolean.rules._conjunctions import Rule, as_rule, sum_of
from sklboolean.rules._cover import CoverPool, find_cover
from sklboolean.rules._dnf import DNF, any_holds, measure
from sklboolean.rules._dual_representation import read_model
from sklboolean.rules._ensemble import RuleEnsemble, scores_of_rules
from sklboolean.rules._formulas import plain

# Rules of an ensemble, at most.
MOST_RULES = 400


def extract_dnf(
    model, X, y=None, *, max_rules=20, max_literals=4, literals="both",
    penalty=(1.0, 3.0, 5.0), min_gain=0.01, n_candidates=100, width=512,
    feature_groups=None, min_fidelity=0.9, target=None, kernel=None, time_limit=None,
    n_jobs=None,
):  # fmt: skip
    """Read a DNF, an OR of ANDs, out of a fitted model.

    The heaviest conjunctions of the model are candidates; from them rules are chosen
    one by one, each for the rows that it adds. Rows that a rule covers leave the model
    before the next one is looked for. That is done for both classes, and the answer is
    the DNF with the fewest wrong rows, where a literal counts as one wrong row.

    Parameters
    ----------
    model : fitted estimator
        As for `top_conjunctions`. Of linear models the rules are single features.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows to cover: best those that the model was fitted on, and no others for
        machines with a callable or precomputed kernel.
    y : array-like of shape (n_samples,), default=None
        Labels to explain. None: what the model predicts.
    max_rules : int, default=20
        Most rules.
    max_literals : int, default=4
        Longest rules, also beyond what the kernel knows.
    literals : {"positive", "both"}, default="both"
        Only true features, or negated ones too.
    penalty : float or sequence of float, default=(1.0, 3.0, 5.0)
        How many right rows make up for a wrong one that a rule adds: with 3, rules of
        precision below 3/4 are not taken. Several are tried, and the best result kept.
    min_gain : float, default=0.01
        What a rule must gain, as a share of the rows of its class: right ones that it
        adds, less ``penalty`` times wrong ones.
    n_candidates : int, default=100
        Conjunctions from each search.
    width : int or None, default=512
        Conjunctions of each length that a search goes on from. None: an exact search,
        which may take long with many features: see ``time_limit``.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; no two features of one label meet in a rule. For
        one-hot columns: the attribute.
    min_fidelity : float, default=0.9
        With less than this share of the rows right, the model has no short DNF.
    target : class label, default=None
        See `top_conjunctions`. With several classes, labels are True for this class.
    kernel : kernel object, default=None
        What a precomputed kernel matrix was made with.
    time_limit : float or None, default=None
        Seconds after which no further rule is looked for.
    n_jobs : int or None, default=None
        Branches of an exact search, one with ``width=None``, that run at once. The
        answer does not depend on it, but for ``time_limit``.

    Returns
    -------
    dnf : DNF or RuleEnsemble
        `RuleEnsemble` where no DNF reaches ``min_fidelity``: the model as a sum of its
        conjunctions. ``is_dnf`` tells which; both have ``rules``, ``fidelity``,
        ``predict``, ``to_text`` and ``to_python``.

    Raises
    ------
    ValueError
        For bad parameters and models as in `top_conjunctions`, for labels that the
        model does not know, and for regressors without y.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklboolean.datasets import make_tic_tac_toe
    >>> from sklboolean.rules import extract_dnf
    >>> data = make_tic_tac_toe()
    >>> model = SVC(gamma=0.1, C=10).fit(data.data, data.target)
    >>> dnf = extract_dnf(model, data.data, literals="positive")
    >>> len(dnf.rules)
    8
    >>> dnf.rules[2].to_text(data.feature_names)
    'top-left=x and top-middle=x and top-right=x'
    """
    penalties, options = check_cover_options(
        max_rules=max_rules, max_literals=max_literals, literals=literals,
        penalty=penalty, min_gain=min_gain, n_candidates=n_candidates, width=width,
        time_limit=time_limit, n_jobs=n_jobs,
    )  # fmt: skip
    check_real(min_fidelity, "min_fidelity", 0)
    rows = read_model(model, X, kernel=kernel, target=target)
    check_groups(feature_groups, rows.n_features)
    options["feature_groups"] = feature_groups
    names, checked = rows.feature_names, _checked(X, rows)
    if names is None and hasattr(X, "columns"):
        names = list(map(str, X.columns))
    table, binarize = _as_table(checked, getattr(model, "binarize", 0.0))
    labels, positive = _explained(model, X, checked, y, target, kernel)

    pool, found = CoverPool(table), []
    for penalty, sign in product(penalties, (1, -1)):
        wanted = positive if sign == 1 else ~positive
        pool.clear()
        chosen = find_cover(
            rows, sign, pool, wanted, ~wanted, penalty=penalty, **options
        )
        n_wrong = int(np.count_nonzero(any_holds(table, chosen) != wanted))
        default, label = labels[::sign]
        rules = tuple(
            measure(labelled_rule(rows, sign, literals, label), table, wanted)
            for literals in chosen
        )
        dnf = DNF(
            rules, label, default, 1 - n_wrong / len(wanted), rows.n_features, names,
            binarize,
        )  # fmt: skip
        found.append((n_wrong + sum(map(len, chosen)), dnf))
    dnf = min(found, key=lambda pair: pair[0])[1]
    if dnf.fidelity >= min_fidelity:
        return dnf
    rules, intercept, fidelity = _linear_ensemble(rows, table, positive, options)
    if fidelity <= dnf.fidelity:
        return dnf
    return RuleEnsemble(
        rules, intercept, labels[1], labels[0], fidelity, dnf.n_features, names,
        binarize,
    )  # fmt: skip


def check_cover_options(
    *, max_rules, max_literals, literals, penalty, min_gain, n_candidates, width,
    time_limit, n_jobs,
):  # fmt: skip
    """Check the parameters of `find_cover`, all but those of the data.

    Returns
    -------
    penalties : list of float
    options : dict
    """
    check_choice(literals, "literals", ("positive", "both"))
    if time_limit is not None:
        time_limit = float(check_real(time_limit, "time_limit", 0, strict=True))
    penalties = [float(check_real(value, "penalty", 1)) for value in np.ravel(penalty)]
    if not penalties:
        raise ValueError("penalty is empty: give a number, or several.")
    return penalties, {
        "max_rules": check_integer(max_rules, "max_rules", 1),
        "max_literals": check_integer(max_literals, "max_literals", 1),
        "literals": literals,
        "min_gain": float(check_real(min_gain, "min_gain", 0)),
        "n_candidates": check_integer(n_candidates, "n_candidates", 1, MOST_LISTED),
        "width": None if width is None else check_integer(width, "width", 1, 2**62),
        "deadline": None if time_limit is None else monotonic() + time_limit,
        "n_jobs": n_jobs,
    }


def labelled_rule(rows, sign, literals, label):
    """Return a rule with its weight in the model."""
    rule = as_rule(rows, literals, sign * sum_of(rows, literals))
    return Rule(rule.literals, rule.weight, rule.contribution, label=label)


def _checked(X, rows):
    X = check_array_strict(X, accept_sparse=["csr", "csc"], dtype=KEPT_DTYPES, name="X")
    if X.shape[1] != rows.n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but the model has {rows.n_features}."
        )
    return X


def _as_table(X, binarize):
    """Return Boolean rows and their threshold; None when zeros and ones will do."""
    if binarize is None or binarize < 1:
        try:
            return as_boolean(X, None), None
        except ValueError:
            pass
    return as_boolean(X, binarize), binarize


def _explained(model, X, checked, y, target, kernel):
    """Return both labels, and which rows have the second."""
    classes = getattr(model, "classes_", None)
    if isinstance(model, OneClassSVM):
        classes = np.array([-1, 1])
    if y is None:
        if classes is None:
            raise ValueError(
                f"{type(model).__name__} predicts no classes: give y, the labels of "
                "the rows in X, for example model.predict(X) > 0.5."
            )
        is_matrix = isinstance(getattr(model, "kernel", None), str) and (
            model.kernel == "precomputed"
        )
        y = model.predict(kernel(checked, checked) if is_matrix else X)
    y = column_or_1d(y)
    check_consistent_length(X, y)
    classes, codes = encode_classes(y, classes)
    if len(classes) > 2 and target is None:
        raise ValueError(f"y has {len(classes)} classes; rules tell two apart.")
    number = 1 if target is None else int(np.flatnonzero(classes == target)[0])
    if len(classes) > 2:
        return (False, True), codes == number
    return (plain(classes[1 - number]), plain(classes[number])), codes == number


def _linear_ensemble(rows, table, positive, options):
    """Return rules, intercept and fidelity: the fewest rules of the most fidelity."""
    longest = min(max(1, rows.weights.longest), options["max_literals"])
    longest = min(longest, rows.n_features)
    length_weights, _ = rows.weights.scaled(longest)
    is_signed = rows.is_single or rows.weights.monotone
    deadline = options["deadline"]
    left = None if deadline is None else max(1e-3, deadline - monotonic())
    result = search_conjunctions(
        rows.table, rows.coefficients, rows.n_features, max_literals=longest,
        n_rules=MOST_RULES, literals="positive" if is_signed else options["literals"],
        feature_groups=options["feature_groups"], length_weights=length_weights,
        time_limit=left, width=options["width"], n_jobs=options["n_jobs"],
    )  # fmt: skip
    rules = [as_rule(rows, literals, weight) for literals, weight in result.found]
    empty = rows.weights.times(0, float(rows.coefficients.sum()))
    intercept = rows.intercept + empty
    right = [
        np.count_nonzero((scores > 0) == positive)
        for scores in scores_of_rules(table, intercept, rules)
    ]
    n_rules = int(np.argmax(right))
    return tuple(rules[:n_rules]), float(intercept), int(right[n_rules]) / len(positive)
