"""Registration of the converters with skl2onnx."""

from sklboolean.boosting import (
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
    BooleanStump,
    BoostByMajority,
    ConjunctionStump,
    FilteringBoostByMajority,
)
from sklboolean.concepts import ConjunctionClassifier
from sklboolean.ensemble._pool import ClassifierPool, RegressorPool
from sklboolean.inspection._distillation import LogOddsClassifier
from sklboolean.linear_model import AveragedPerceptron, ConsistentHalfspace, Winnow
from sklboolean.onnx import _converters as converters
from sklboolean.preprocessing import BooleanEncoder, ConjunctionFeatures
from sklboolean.rules import (
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    OptimalRuleSet,
    RuleClassifier,
    ScorecardClassifier,
)

CLASSIFIERS = (
    AveragedPerceptron, BooleanGradientBoostingClassifier, BooleanStump,
    BoostByMajority, ClassifierPool, ConjunctionClassifier,
    ConjunctionLogisticRegression, ConjunctionStump, ConsistentHalfspace,
    FilteringBoostByMajority, LogOddsClassifier, OptimalRuleSet, RuleClassifier,
    ScorecardClassifier, Winnow,
)  # fmt: skip
REGRESSORS = (
    BooleanGradientBoostingRegressor, ConjunctionRegressor, RegressorPool,
)  # fmt: skip
CLASSIFIER_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [False, True],
    "output_class_labels": [False, True],
    "raw_scores": [False, True],
}


def register_converters():
    """Register the converters of this package with skl2onnx.

    ``import sklboolean.onnx`` does it where skl2onnx is installed; then
    ``skl2onnx.to_onnx`` converts our estimators and pipelines of them.

    Raises
    ------
    ImportError
        When skl2onnx is not installed.

    Notes
    -----
    There are converters for `AveragedPerceptron`, `Winnow` and `ConsistentHalfspace`,
    `RuleClassifier`, `OptimalRuleSet`, `ScorecardClassifier` and
    `ConjunctionClassifier`,
    `ConjunctionLogisticRegression` and `ConjunctionRegressor`,
    `BooleanGradientBoostingClassifier` and `BooleanGradientBoostingRegressor`,
    `BooleanStump` and `ConjunctionStump`, `BoostByMajority` and
    `FilteringBoostByMajority` of these stumps, `BooleanEncoder`, and
    `ConjunctionFeatures`. An ensemble of formulas is converted by its ``pipeline_``,
    and what `inspection.distill` fits as any pipeline.

    The graph computes with float64 inside. Its outputs are those that skl2onnx gives
    any classifier: the labels, and the probabilities as float32, or as float64 for an
    input of float64. Labels are text or integers; bools become 0 and 1.

    A graph raises no errors and gives no warnings. Where `BooleanEncoder` would, for
    example for a number that is missing but never was in training, no condition holds.
    A missing category is the empty text.

    Examples
    --------
    >>> from sklboolean.onnx import register_converters
    >>> register_converters()  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError(
            "The converters need skl2onnx. Install it with `pip install skl2onnx`, or "
            "`pip install sklboolean[onnx]`."
        ) from error

    def register(estimator, shapes, convert, **options):
        name = f"Sklboolean{estimator.__name__}"
        update_registered_converter(estimator, name, shapes, convert, **options)

    for classifier in CLASSIFIERS:
        functions = converters.classifier_shapes, converters.convert_classifier
        register(classifier, *functions, options=CLASSIFIER_OPTIONS)
    for regressor in REGRESSORS:
        register(regressor, converters.regressor_shapes, converters.convert_regressor)
    register(BooleanEncoder, converters.transformer_shapes, converters.convert_encoder)
    register(
        ConjunctionFeatures, converters.transformer_shapes, converters.convert_features
    )
