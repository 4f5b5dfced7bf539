"""Doubtful labels, by models that were not trained on them."""

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import StratifiedKFold, check_cv, cross_val_predict
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from sklboolean._core.labels import encode_classes, margins_of_labels, plain_labels
from sklboolean._core.meta import draw_seed, set_seed
from sklboolean._core.parameters import check_integer
from sklboolean._core.validation import check_labelled, check_stored, readable_errors
from sklboolean.linear_model import AveragedPerceptron


def label_quality(X, y, estimator=None, *, cv=5, random_state=None) -> np.ndarray:
    """Rank labels by how much models that were not trained on them agree.

    A classifier learns all folds but one and scores the samples of that one. Where it
    is for another label than the given one, the label may be wrong.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features, as the classifier takes them.
    y : array-like of shape (n_samples,)
        Labels, some of which may be wrong. Each label occurs at least twice.
    estimator : classifier or None, default=None
        Clones of it are fitted. It has ``decision_function`` or ``predict_proba``.
        None: `AveragedPerceptron`, which takes milliseconds. Where labels depend on
        conjunctions, ``BooleanSVC()`` ranks better and takes longer.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn; each sample is in one of them. An int is the number
        of stratified folds; a label that occurs less often reduces it.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the classifier.

    Returns
    -------
    quality : ndarray of shape (n_samples,), dtype float64
        Score of the given label minus the best score of another one, halved: in the
        unit of ``decision_function``, or as a difference of probabilities, not halved,
        where the classifier has none. Below 0 the classifier predicts another label.
        Sort by it: the smallest are most likely wrong.

    Raises
    ------
    TypeError
        If `estimator` is not a classifier.
    ValueError
        For bad data, a label that occurs once, folds that do not test each sample
        once, and an estimator without one score for each class.

    See Also
    --------
    sklboolean.BoostByMajority : Its ``label_quality_`` comes with a fit, which takes
        longer; it ranks better where labels depend on conjunctions.

    References
    ----------
    C. Northcutt, L. Jiang, I. Chuang. Confident Learning: Estimating Uncertainty in
    Dataset Labels. Journal of Artificial Intelligence Research 70, 2021, section 3.

    Examples
    --------
    >>> from sklboolean.datasets import load_votes
    >>> from sklboolean.inspection import label_quality
    >>> X, y = load_votes(return_X_y=True)
    >>> given = y.copy()
    >>> given[7] = y[y != y[7]][0]
    >>> quality = label_quality(X, given, random_state=0)
    >>> bool(quality[7] < 0)
    True
    """
    base = AveragedPerceptron() if estimator is None else estimator
    method = scoring_method(base)
    X = check_stored(X, "X")
    X = X.tocsr() if sparse.issparse(X) else X
    check_labelled(y)
    y = column_or_1d(plain_labels(y))
    check_consistent_length(X, y)
    classes, codes = encode_classes(y)
    # One seed for the folds and the classifier, drawn before any work.
    seed = draw_seed(check_random_state(random_state))
    folds = disjoint_folds(cv, X, y, classes, codes, seed)
    model = clone(base)
    set_seed(model, seed)
    with readable_errors("X"):
        scores = cross_val_predict(model, X, y, cv=folds, method=method)
    scores = np.asarray(scores, dtype=np.float64)
    if method == "predict_proba":
        # Doubled, because margins are halved: they are differences of probabilities.
        scores = 2 * scores - 1
        scores = scores[:, 1] if len(classes) == 2 else scores
    if scores.shape not in ((len(y),), (len(y), len(classes))):
        raise ValueError(
            "estimator must score each class; the scores of "
            f"{type(base).__name__} have shape {scores.shape} for {len(classes)} "
            "classes. For an SVC set decision_function_shape='ovr'."
        )
    return margins_of_labels(scores, codes)


def scoring_method(model):
    """Check a classifier; return the name of the method that scores its classes."""
    if isinstance(model, type) or not hasattr(model, "fit") or not is_classifier(model):
        raise TypeError(
            "estimator must be a classifier, such as LogisticRegression(); got "
            f"{model!r}."
        )
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            return name
    raise ValueError(
        "estimator must have decision_function or predict_proba; "
        f"{type(model).__name__} has neither. Wrap it in CalibratedClassifierCV."
    )


def disjoint_folds(cv, X, y, classes, codes, seed):
    """Split samples into folds of which each sample is tested in one.

    Parameters
    ----------
    cv, X, y
        As for `label_quality`.
    classes, codes : ndarrays
        The labels, and the class of each sample.
    seed : int
        Seed of stratified folds.

    Returns
    -------
    folds : list of (train, test)
        Sample numbers.
    """
    if not hasattr(cv, "split") and not hasattr(cv, "__iter__"):
        counts = np.bincount(codes)
        # Stratified folds need each label as often as there are folds.
        n_folds = min(check_integer(cv, "cv", 2), counts.min())
        if n_folds < 2:
            raise ValueError(
                f"y holds the label {classes[counts.argmin()]!r} once, so that a model "
                "that was not trained on it cannot predict it. Leave out this sample."
            )
        cv = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    samples, n_tests = np.arange(len(y)), np.zeros(len(y), dtype=int)
    splits = check_cv(cv, y, classifier=True).split(X, y)
    folds = [(train, samples[test]) for train, test in splits]
    for _train, test in folds:
        np.add.at(n_tests, test, 1)
    if (n_tests != 1).any():
        sample = (n_tests != 1).argmax()
        raise ValueError(
            "cv must test each sample in one fold, so that it has one score; sample "
            f"{sample} is tested in {n_tests[sample]} folds. Use StratifiedKFold or "
            "another splitter whose test sets do not overlap and cover all samples."
        )
    return folds
