"""A formula in the place of any fitted model: one that predicts nearly the same."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklboolean._core.base import LogOddsMixin
from sklboolean._core.exports import ExportMixin
from sklboolean._core.formula import WeightedSum, class_labels, formula_of, mixed
from sklboolean._core.meta import draw_seed, set_seed
from sklboolean._core.validation import check_labelled, take_samples
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.ensemble._pool import FrozenMixin
from sklboolean.preprocessing import BooleanEncoder
from sklboolean.rules import ConjunctionRegressor

# Probabilities below it have no log-odds.
LEAST_PROBABILITY = 1e-6


class LogOddsClassifier(
    FrozenMixin, LogOddsMixin, ClassifierMixin, ExportMixin, VersionedEstimator
):
    """A classifier whose log-odds fitted regressors predict; `distill` makes it.

    Parameters
    ----------
    regressors : list of fitted regressors
        One for two classes, otherwise one for the score of each class.
    classes : ndarray of shape (n_classes,)

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    """

    def __init__(self, regressors, classes):
        self.regressors = regressors
        self.classes = classes

    @property
    def classes_(self):
        """The class labels."""
        return self.classes

    @property
    def n_features_in_(self):
        """The number of features."""
        return self.regressors[0].n_features_in_

    @property
    def feature_names_in_(self):
        """The names of the features, if they were fitted with names."""
        return self.regressors[0].feature_names_in_

    def _scores(self, X):
        return np.column_stack([model.predict(X) for model in self.regressors])

    def _formula(self):
        formulas = [formula_of(model) for model in self.regressors]
        if not all(isinstance(formula, WeightedSum) for formula in formulas):
            return None
        n_outputs = len(formulas)
        mixes = list(np.eye(n_outputs)[:, :, None])  # each is one of the outputs
        return mixed(formulas, mixes, class_labels(self), np.zeros(n_outputs))


@dataclass(frozen=True)
class Distillation:
    """A model that stands for another one, and what is lost.

    Parameters
    ----------
    model : Pipeline or estimator
        The fitted stand-in. Its last step has ``to_sql``, ``to_text`` and the other
        exports; `explain`, `counterfactuals` and `model_page` take the whole.
    losses : dict of str to (float, float)
        On the held-out samples, of the model that was distilled and of the stand-in:
        "log-loss" and "accuracy", or "R2" of a regressor, if labels were given.
    r2 : float
        R2 of the stand-in's log-odds, or predictions, for those of the model.
    agreement : float or None
        Share of the held-out samples with the same predicted label.
    n_held_out : int
        Number of these samples.

    Examples
    --------
    >>> from sklboolean.inspection import Distillation
    >>> print(Distillation(None, {"accuracy": (0.9, 0.88)}, 0.95, 0.97, 100))
    on 100 samples that the stand-in did not see:
    R2 of the log-odds 0.950
    same label for 97.0%
    accuracy 0.9000, of the stand-in 0.8800
    """

    model: object
    losses: dict
    r2: float
    agreement: float | None
    n_held_out: int

    def __str__(self):
        lines = [f"on {self.n_held_out} samples that the stand-in did not see:"]
        what = "predictions" if self.agreement is None else "log-odds"
        lines.append(f"R2 of the {what} {self.r2:.3f}")
        if self.agreement is not None:
            lines.append(f"same label for {self.agreement:.1%}")
        for name, (before, after) in self.losses.items():
            lines.append(f"{name} {before:.4f}, of the stand-in {after:.4f}")
        return "\n".join(lines)


def distill(
    model, X, y=None, *, into=None, test_size=0.25, random_state=None
) -> Distillation:
    """Fit a model that can be read and exported to the outputs of any other one.

    Use it where a model is no formula: an ensemble with a Gaussian process, or a model
    of another package. The stand-in learns the log-odds of a classifier, or the
    predictions of a regressor, on all samples but a part that measures what is lost.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``, or regressor
        It may come from any package.
    X : {data frame, array-like, sparse matrix} of shape (n_samples, n_features)
        Samples as the model takes them. They need no labels, so more of them than
        there were in training are welcome.
    y : array-like of shape (n_samples,), default=None
        Their labels or targets, for the losses of both models. The losses are fair if
        the model was not trained on these samples.
    into : regressor, pipeline that ends with one, or None, default=None
        Regressor to fit. If its ``fit`` has ``sample_weight``, samples count by the
        standard deviation of the label, so that log-odds far from 0 matter less. None:
        ``ConjunctionRegressor()``, behind a `BooleanEncoder` unless X is sparse.
    test_size : float, default=0.25
        Share of the samples that measures what is lost.
    random_state : int, RandomState instance or None, default=None
        Draws these samples, and is the seed of ``into`` where that has none.

    Returns
    -------
    distillation : Distillation
        ``print`` says what is lost; ``distillation.model`` is the stand-in.

    Raises
    ------
    ValueError
        If ``into`` is no regressor, the model has no probabilities, or the lengths of
        X and y differ.

    See Also
    --------
    sklboolean.rules.extract_dnf : Rules with the labels of a model of two classes.

    References
    ----------
    G. Hinton, O. Vinyals, J. Dean. "Distilling the Knowledge in a Neural Network".
    arXiv:1503.02531, 2015, section 2.1 (matching logits).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklboolean.inspection import distill
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X = X.iloc[:, :8]
    >>> forest = RandomForestClassifier(random_state=0).fit(X[:400], y[:400])
    >>> distillation = distill(forest, X[400:], y[400:], random_state=0)
    >>> distillation.agreement > 0.9
    True
    >>> distillation.model[-1].to_sql()[:4]
    'CASE'
    """
    check_is_fitted(model)
    if into is None:
        into = ConjunctionRegressor()
        into = into if hasattr(X, "tocsr") else make_pipeline(BooleanEncoder(), into)
    if not hasattr(into, "fit") or is_classifier(into):
        raise ValueError(
            "into must be a regressor, or a pipeline that ends with one: it learns "
            f"log-odds, which are numbers; got {into!r}."
        )
    into = clone(into)
    set_seed(into, draw_seed(check_random_state(random_state)), keeps_given=True)
    check_labelled(y)
    targets, weights = _outputs(model, X)
    if y is not None and len(y) != len(targets):
        raise ValueError(
            f"X has {len(targets)} samples and y has {len(y)}: give a label for each."
        )
    train, test = train_test_split(
        np.arange(len(targets)), test_size=test_size, random_state=random_state
    )
    train, test = np.sort(train), np.sort(test)
    of_train = None if weights is None else weights[train]
    stand_in = _fit(into, take_samples(X, train), targets[train], of_train, model)
    X_test = take_samples(X, test)
    stand_in_outputs, _ = _outputs(stand_in, X_test)
    labels = None if y is None else np.asarray(y)[test]
    agreement = None
    if is_classifier(model):
        same = np.asarray(model.predict(X_test)) == stand_in.predict(X_test)
        agreement = float(np.mean(same))
    return Distillation(
        stand_in, {} if y is None else _losses(model, stand_in, X_test, labels),
        float(r2_score(targets[test], stand_in_outputs)), agreement, len(test),
    )  # fmt: skip


def _outputs(model, X):
    """Compute log-odds with the weights of samples, or predictions."""
    if not is_classifier(model):
        return np.asarray(model.predict(X), dtype=np.float64)[:, None], None
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{type(model).__name__} has no predict_proba. Calibrate it first, for "
            "example with CalibratedClassifierCV."
        )
    probabilities = np.maximum(model.predict_proba(X), LEAST_PROBABILITY)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    logs = np.log(probabilities)
    # Certain samples count, too: none has the weight 0.
    weights = np.sqrt((probabilities * (1 - probabilities)).sum(axis=1))
    if logs.shape[1] == 2:
        return logs[:, [1]] - logs[:, [0]], weights
    return logs - logs.mean(axis=1, keepdims=True), weights


def _fit(into, X, targets, weights, model):
    """Fit a regressor for each output, behind the transformers of a pipeline."""
    steps, last, bits = [], into, X
    if isinstance(into, Pipeline):
        steps, last = clone(into[:-1]).steps, into[-1]
        with warnings.catch_warnings():
            # The split may have made a column constant.
            warnings.filterwarnings("ignore", ".* the same value in all samples")
            bits = Pipeline(steps).fit_transform(X, targets[:, 0])
    regressors = []
    for target in targets.T:
        regressor = clone(last)
        takes_weights = weights is not None and has_fit_parameter(last, "sample_weight")
        options = {"sample_weight": weights} if takes_weights else {}
        regressors.append(regressor.fit(bits, target, **options))
    student = regressors[0]
    if is_classifier(model):
        student = LogOddsClassifier(regressors, np.asarray(model.classes_))
    return Pipeline([*steps, ("stand_in", student)]) if steps else student


def _losses(model, stand_in, X, y):
    """Compute the losses of both models on labelled samples."""
    models = model, stand_in
    if not is_classifier(model):
        return {"R2": tuple(float(r2_score(y, fitted.predict(X))) for fitted in models)}
    classes = model.classes_
    return {
        "log-loss": tuple(
            float(log_loss(y, fitted.predict_proba(X), labels=classes))
            for fitted in models
        ),
        "accuracy": tuple(
            float(accuracy_score(y, fitted.predict(X))) for fitted in models
        ),
    }
