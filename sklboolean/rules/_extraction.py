"""A DNF extracted from a fitted model: rules that predict what the model predicts."""

# Rule lists are searched for both classes, all penalties and all costs of a literal.
# The list with the fewest errors becomes a DNF. Where it predicts too few samples as
# the model does, the largest conjunctions of the model itself are added up instead.

from dataclasses import replace
from itertools import product
from operator import itemgetter

import numpy as np
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sklboolean._core.bits import as_words
from sklboolean._core.conjunction_search import encode_groups, search_conjunctions
from sklboolean._core.data_errors import check_n_features, column_names
from sklboolean._core.deprecation import old_keywords
from sklboolean._core.formulas import python_value
from sklboolean._core.labels import encode_classes, plain_labels
from sklboolean._core.parameters import check_real
from sklboolean._core.validation import KEPT_DTYPES, as_boolean, check_array_strict
from sklboolean.rules._dual_representation import dual_representation, last_step
from sklboolean.rules._gain_search import (
    WIDTH,
    GainParams,
    GainSearch,
    any_satisfied,
)
from sklboolean.rules._rule_samples import RuleSamples
from sklboolean.rules._rule_set import DNF, RuleEnsemble, partial_scores, with_precision

# Maximum number of rules in an ensemble.
MAX_RULES = 400


@old_keywords(literal_price="literal_cost")
def extract_dnf(
    model, X, y=None, *, max_rules=20, max_literals=4, monotone=False,
    penalty=(1.0, 3.0, 5.0), literal_cost=(1.0, 4.0), width=WIDTH, feature_groups=None,
    min_fidelity=0.9, target=None, kernel=None, time_limit=None,
    n_jobs=None,
):  # fmt: skip
    """Extract a DNF, an OR of ANDs, from a fitted model.

    Rules are chosen one by one. Each is the conjunction that gains most: 1 for each
    sample of the class that no rule before it covers, minus ``penalty`` for each other
    such sample and ``literal_cost`` for each literal. This is done for both classes;
    the result is the DNF with the fewest errors, where a literal counts as one error.

    Parameters
    ----------
    model : fitted estimator
        See `top_conjunctions`. A pipeline that begins with `BooleanEncoder` gives rules
        with the column names of the data.
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
        Number of correctly covered samples that outweigh one wrongly covered sample,
        above 0: 3 rejects rules of precision below 3/4. The best of several values is
        chosen. Raise it for more precise rules.
    literal_cost : float or sequence of float, default=(1.0, 4.0)
        Number of samples that a literal must gain, at least 0. The best of several
        values is chosen. Raise it for shorter lists.
    width : int or None, default=512
        Number of conjunctions of each length that a search extends. None: an exact
        search, which may take long with many features: see ``time_limit``.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a rule.
        For one-hot columns: the attribute. None: the levels of one column of
        `BooleanEncoder`, found by their names, share a label.
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
        conjunctions. Its attribute ``is_dnf`` is true for a DNF. Both have ``rules``,
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
    'top-middle=x and middle-middle=x and bottom-middle=x'
    """
    params = GainParams.check(
        max_rules=max_rules, max_literals=max_literals, monotone=monotone,
        penalty=penalty, literal_cost=literal_cost, width=width,
        time_limit=time_limit, n_jobs=n_jobs,
    )  # fmt: skip
    check_real(min_fidelity, "min_fidelity", 0)
    model, X, names = last_step(model, X)
    dual = dual_representation(model, X, names, kernel=kernel, target=target)
    checked = _check_X(X, dual.n_features)
    if dual.feature_names is None and hasattr(X, "columns"):
        dual = replace(dual, feature_names=list(map(str, column_names(X))))
    groups = encode_groups(feature_groups, dual.n_features, dual.feature_names)
    params = replace(params, feature_groups=groups)
    samples, binarize = _binarized(checked, getattr(model, "binarize", 0.0))
    labels, positive = _labels_to_explain(model, X, checked, y, target, kernel)
    dnf = _best_dnf(dual, samples, positive, labels, binarize, params)
    if dnf.fidelity >= min_fidelity:
        return dnf
    rules, intercept, fidelity = _ensemble_rules(dual, samples, positive, params)
    if fidelity <= dnf.fidelity:
        return dnf
    columns = dnf.n_features, dual.feature_names, binarize
    return RuleEnsemble(rules, intercept, labels[1], labels[0], fidelity, *columns)


def _check_X(X, n_features):
    X = check_array_strict(X, accept_sparse=["csr", "csc"], dtype=KEPT_DTYPES, name="X")
    check_n_features(X.shape[1], n_features, "the model has")
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
    y = column_or_1d(plain_labels(y))
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


def _best_dnf(dual, samples, positive, labels, binarize, params):
    """Search rule lists for both classes and make the best one a DNF.

    It has the fewest errors, where a literal counts as one.
    """
    words, weights = as_words(samples), np.ones(len(positive))
    searches = {}
    for penalty, sign in product(params.penalties, (1, -1)):
        is_label = positive == (sign == 1)
        goal = RuleSamples(words, is_label, weights, dual.n_features, 2)
        searches[penalty, sign] = GainSearch(goal, (1, 0), penalty, params)
    candidates = []
    for price, ((_, sign), search) in product(params.literal_costs, searches.items()):
        conjunctions = [literals for literals, _ in search.rule_list(price)]
        is_wrong = any_satisfied(samples, conjunctions) != search.codes
        n_errors = int(np.count_nonzero(is_wrong))
        n_literals = sum(map(len, conjunctions))
        candidates.append((n_errors + n_literals, n_errors, sign, conjunctions))
    _, n_errors, sign, conjunctions = min(candidates, key=itemgetter(0))
    default, label = labels[::sign]
    rules = [
        with_precision(
            dual.rule(literals, sign * dual.weight(literals), label),
            samples,
            positive == (sign == 1),
        )
        for literals in conjunctions
    ]
    columns = dual.n_features, dual.feature_names, binarize
    fidelity = 1 - n_errors / len(positive)
    return DNF(tuple(rules), label, default, fidelity, *columns)


def _ensemble_rules(dual, samples, positive, params):
    """Find the rules of an ensemble, its intercept and its fidelity.

    It takes the conjunctions with the largest contribution, as many
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
