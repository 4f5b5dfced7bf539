"""The features with the largest weight in a fitted model, and their display."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.feature_names import split_pipeline
from sklboolean._core.parameters import check_integer
from sklboolean.inspection._figure import Display, draw_bars
from sklboolean.inspection._formulas import check_names
from sklboolean.rules import top_conjunctions
from sklboolean.rules._dual_representation import of_class


def top_features(model, n_features=10, *, feature_names=None, target=None) -> list:
    """Find the features with the largest weight in a fitted model.

    Parameters
    ----------
    model : fitted estimator
        One with ``coef_`` or ``feature_importances_``, or a kernel model that
        `top_conjunctions` can read. A pipeline stands for its last step, and its
        transformers name the features; a search such as ``GridSearchCV`` stands for its
        best estimator.
    n_features : int, default=10
        Maximum number of features, at least 1.
    feature_names : sequence of str or None, default=None
        A name for each feature of the last step. None: those that the pipeline or the
        model has, else x0, x1, ...
    target : class label, default=None
        The class whose score is explained. None: the second of two classes. Needed for
        models with weights for each of several classes.

    Returns
    -------
    features : list of (str, float)
        Names and weights, largest absolute value first, none of weight 0; among equals
        the first features. A weight of ``coef_`` is positive when the feature raises
        the score of the class; importances are not negative. Weights of a kernel model
        are those of conjunctions of one feature; its ``feature_importances_`` count
        longer ones, too.

    Raises
    ------
    ValueError
        For a model without weights of features, a wrong number of names, and a missing
        or unknown ``target``.

    See Also
    --------
    TopFeaturesDisplay : The same as a bar chart.
    explain : Explanations of single predictions.
    sklboolean.rules.top_conjunctions : Conjunctions of several features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import BooleanEncoder, BooleanStump
    >>> from sklboolean.inspection import top_features
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> top_features(make_pipeline(BooleanEncoder(), BooleanStump()).fit(X, y))
    [('worst radius <= 16.83', 1.0)]
    """
    check_is_fitted(model)
    check_integer(n_features, "n_features", 1)
    _, last, names = split_pipeline(model)
    if not hasattr(last, "dual_coef_") and hasattr(last, "feature_importances_"):
        weights = np.asarray(last.feature_importances_)
    elif isinstance(getattr(last, "coef_", None), np.ndarray):
        coef = np.atleast_2d(last.coef_)
        weights, _ = of_class(last, target, coef, np.zeros(len(coef)))
    else:
        # A kernel model: the weights of its conjunctions of one feature.
        rules = top_conjunctions(last, n_features, max_literals=1, target=target)
        weights = np.zeros(last.n_features_in_)
        for rule in rules:
            weights[rule.literals[0][0]] = rule.weight
    names = names if feature_names is None else feature_names
    names = check_names(names, len(weights))
    order = np.argsort(-np.abs(weights), kind="stable")[:n_features]
    return [(names[j], float(weights[j])) for j in order if weights[j]]


class TopFeaturesDisplay(Display):
    """Bar chart of the features with the largest weight in a fitted model.

    Parameters
    ----------
    features : list of (str, float)
        Names and weights, from `top_features`.
    weight_name : str, default="weight"
        Label of the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After ``plot``.
    bars_ : matplotlib BarContainer
        After ``plot``; the first feature is on top.

    See Also
    --------
    top_features : The same as a list.
    RuleDisplay : Rules as bars.

    Examples
    --------
    >>> from sklboolean.inspection import TopFeaturesDisplay
    >>> TopFeaturesDisplay([("age <= 30", 2.0), ("color = red", -1.0)]).weight_name
    'weight'
    """

    def __init__(self, features, *, weight_name="weight"):
        self.features = list(features)
        self.weight_name = weight_name

    @classmethod
    def from_estimator(
        cls, model, n_features=10, *, feature_names=None, target=None, ax=None
    ) -> "TopFeaturesDisplay":
        """Find the features and draw them.

        Parameters
        ----------
        model : fitted estimator
            As for `top_features`.
        n_features : int, default=10
            Maximum number of features, at least 1.
        feature_names, target : object, default=None
            As for `top_features`.
        ax : matplotlib Axes or None, default=None
            Axes to draw into. None: a new figure.

        Returns
        -------
        display : TopFeaturesDisplay
        """
        features = top_features(
            model, n_features, feature_names=feature_names, target=target
        )
        last = split_pipeline(model)[1]
        has_coef = hasattr(last, "coef_") or hasattr(last, "dual_coef_")
        # Importances have no sign.
        is_signed = has_coef and not hasattr(last, "conjunctions_")
        name = "weight" if is_signed else "importance"
        return cls(features, weight_name=name).plot(ax=ax)

    def _draw(self, is_new_figure):
        self.bars_ = draw_bars(self.ax_, self.features, self.weight_name, is_new_figure)
