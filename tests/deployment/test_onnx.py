"""ONNX graphs predict what the fitted estimators predict."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanEnsembleClassifier,
    BooleanEnsembleRegressor,
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
    BooleanStump,
    BoostByMajority,
    ConjunctionClassifier,
    ConjunctionFeatures,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    ConjunctionStump,
    ConsistentHalfspace,
    FilteringBoostByMajority,
    KernelPerceptron,
    RuleClassifier,
    Winnow,
)
from sklboolean.boosting import BoostingSchedule
from sklboolean.inspection import distill

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pd = pytest.importorskip("pandas")
pytest.importorskip("sklboolean.onnx")

CLASSIFIERS = [
    AveragedPerceptron(random_state=0),
    BooleanGradientBoostingClassifier(max_iter=5, random_state=0),
    AveragedPerceptron(multi_class="joint", random_state=0),
    BooleanStump(),
    BoostByMajority(
        BooleanStump(),
        n_estimators=15,
        schedule=BoostingSchedule(gamma=0.2),
        random_state=0,
    ),
    BoostByMajority(
        ConjunctionStump(),
        n_estimators=9,
        schedule=BoostingSchedule(gamma=0.2),
        random_state=0,
    ),
    BoostByMajority(
        n_estimators=9,
        multi_class="joint",
        schedule=BoostingSchedule(gamma=0.2),
        random_state=0,
    ),
    ConjunctionLogisticRegression(C=1.0),
    ConjunctionStump(),
    ConsistentHalfspace(),
    FilteringBoostByMajority(random_state=0),
    RuleClassifier(random_state=0),
    RuleClassifier(penalty=0.5, monotone=True, random_state=0),
    Winnow(random_state=0),
    Winnow(variant="positive", random_state=0),
    Winnow(variant="complement", binarize=0.5, random_state=0),
]


def run(model, X, opset=None, **options):
    """Convert a model and compute its outputs with onnxruntime."""
    options = {"zipmap": False, **options}
    options = {id(model): options} if hasattr(model, "classes_") else None
    graph = skl2onnx.to_onnx(model, X, options=options, target_opset=opset)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    if isinstance(X, np.ndarray):
        return session.run(None, {"X": X})
    columns = {name: X[name].to_numpy() for name in X}
    return session.run(
        None,
        {
            name: (c if c.dtype.kind in "biuf" else c.astype(object)).reshape(-1, 1)
            for name, c in columns.items()
        },
    )


def assert_same(model, X, outputs, tolerance):
    labels, probabilities = outputs
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(
        probabilities, model.predict_proba(X), rtol=0, atol=tolerance
    )


def of_classes(models):
    """Pair models with two classes, and with four those that take more than two."""
    return [
        pytest.param(model, n_classes, id=f"{model!r}-{n_classes}")
        for model in models
        for n_classes in (2, 4)
        if n_classes == 2 or model.__sklearn_tags__().classifier_tags.multi_class
    ]


def make_samples(n_classes, n_samples=400):
    """Draw random samples whose class depends on pairs of features, with noise."""
    rng = np.random.default_rng(n_classes)
    X = rng.random((n_samples, 10)) < 0.45
    codes = (X[:, 0] & X[:, 1]) + 2 * (X[:, 2] & ~X[:, 3])
    return X, np.where(rng.random(n_samples) < 0.1, 0, np.minimum(codes, n_classes - 1))


@pytest.mark.filterwarnings("ignore:No halfspace")
@pytest.mark.parametrize(("model", "n_classes"), of_classes(CLASSIFIERS))
def test_classifiers(model, n_classes):
    X, y = make_samples(n_classes)
    labels = np.array(["one", "two", "three", "four"])
    model = clone(model)
    bits = np.random.default_rng(9).random((200, 10)) < 0.45
    # The type of the labels changes the end of a graph, that of the bits its beginning,
    # which is the same for all sums and all rules.
    types_of_bits = ["float64"]
    if isinstance(model, AveragedPerceptron | RuleClassifier):
        types_of_bits += ["float32", "int64", "bool"]
    for target, dtypes in ((y, types_of_bits), (labels[y], ["float32"])):
        model.fit(X, target)
        for dtype in dtypes:
            tolerance = 1e-12 if dtype == "float64" else 1e-6
            new = bits.astype(dtype)
            assert_same(model, new, run(model, new), tolerance)


@pytest.mark.parametrize("target", ["conjunction", "disjunction"])
def test_concepts(target):
    X, _ = make_samples(2)
    together = np.logical_and if target == "conjunction" else np.logical_or
    model = ConjunctionClassifier(target=target).fit(X, together(X[:, 0], ~X[:, 3]))
    assert_same(model, X, run(model, X), 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linear_models_of_real_numbers(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).astype(dtype)
    for classes in ([0, 1], [0, 1, 2]):
        y = np.digitize(X[:, 0] + X[:, 1], classes[:-1])
        for model in (AveragedPerceptron(random_state=0), Winnow(random_state=0)):
            model.fit(X, y)
            assert_same(model, X, run(model, X), 1e-6)


def test_thresholds_are_compared_with_float64():
    X = np.array([[0.1], [0.3], [0.30000001], [0.5]] * 9)
    y = [0, 0, 1, 1] * 9
    model = RuleClassifier(binarize=0.3, random_state=0).fit(X, y)
    for dtype in ("float32", "float64"):
        new = X.astype(dtype)
        assert_same(model, new, run(model, new), 1e-6)


def test_labels_are_bools():
    X, y = make_samples(2)
    model = RuleClassifier(random_state=0).fit(X, y.astype(bool))
    labels, _ = run(model, X.astype(np.float32))
    np.testing.assert_array_equal(labels, model.predict(X))


def test_labels_of_other_types_are_an_error():
    X, y = make_samples(2)
    model = RuleClassifier(random_state=0).fit(X, y + 0.0)
    with pytest.raises(NotImplementedError, match="labels of text or integers"):
        run(model, X)


def test_a_classifier_without_rules():
    X, y = make_samples(2)
    model = BooleanStump().fit(X, np.ones(len(y)).astype(int))
    labels, probabilities = run(model, X)
    assert (labels == 1).all()
    assert (probabilities == 1).all()
    y = np.random.default_rng(0).random(len(y)) < 0.3
    with pytest.warns(UserWarning, match="No rule"):
        model = RuleClassifier(penalty=100.0, random_state=0).fit(X, y)
    assert_same(model, X, run(model, X), 1e-6)


def test_zipmap_gives_dictionaries_of_probabilities():
    X, y = make_samples(3)
    model = AveragedPerceptron(random_state=0).fit(X, y)
    graph = skl2onnx.to_onnx(model, X.astype(np.float32))
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    _, maps = session.run(None, {"X": X.astype(np.float32)})
    found = [[each[k] for k in range(3)] for each in maps]
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-6)


def test_a_regressor():
    X, _ = make_samples(2)
    y = X[:, 0] * 3.0 + (X[:, 1] & X[:, 2]) - X[:, 3]
    model = ConjunctionRegressor(C=1.0).fit(X, y)
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-12)):
        new = X.astype(dtype)
        (values,) = run(model, new)
        assert values.shape == (len(X), 1)
        np.testing.assert_allclose(values[:, 0], model.predict(X), atol=tolerance)


@pytest.mark.parametrize("monotone", [True, False])
def test_conjunction_features(monotone):
    X, y = make_samples(2)
    X = X.astype(np.float64)
    features = ConjunctionFeatures(max_literals=3, monotone=monotone)
    features.set_output(transform="default")
    (found,) = run(features.fit(X), X)
    np.testing.assert_array_equal(found, features.transform(X).toarray())
    model = make_pipeline(clone(features), LogisticRegression()).fit(X, y)
    assert_same(model, X, run(model, X), 1e-12)


def make_frame(n_samples=500):
    """Draw a data frame of numbers, categories, codes, bools and missing values."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_samples).astype(float),
            "income": rng.lognormal(8, 1, n_samples),
            "color": rng.choice(["red", "green", "blue"], n_samples),
            "code": rng.integers(0, 6, n_samples),
            "member": rng.random(n_samples) < 0.5,
            "town": rng.choice(list("abcdefg"), n_samples, p=[0.5, 0.3] + [0.04] * 5),
        }
    )
    frame.loc[rng.random(n_samples) < 0.1, "income"] = np.nan
    frame["town"] = frame["town"].astype(object)
    frame.loc[rng.random(n_samples) < 0.1, "town"] = None
    is_good = (frame.age < 40) & (frame.color == "red") | (frame.income > 5000)
    return frame, np.where(is_good, "good", "bad")


def for_onnx(frame):
    """Write missing text as ONNX has it."""
    return frame.assign(town=frame["town"].where(frame["town"].notna(), ""))


ENCODERS = [
    BooleanEncoder(),
    BooleanEncoder(complement=False, n_bins=3, kinds={"code": "category"}),
    BooleanEncoder(
        min_frequency=30, handle_unknown="infrequent_if_exist",
        kinds={"code": "category"},
    ),
    BooleanEncoder(missing="propagate", kinds={"code": "category"}),
    BooleanEncoder(sparse_output=True),
    BooleanEncoder(special={"age": [18, 40, -1]}),
]  # fmt: skip


@pytest.mark.parametrize("encoder", ENCODERS, ids=repr)
def test_encoder(encoder):
    frame, _ = make_frame()
    encoder = clone(encoder).fit(frame)
    expected = encoder.transform(frame)
    expected = expected.toarray() if encoder.sparse_output else expected.to_numpy()
    for opset in (None, 15):
        (found,) = run(encoder, for_onnx(frame), opset)
        np.testing.assert_array_equal(found, expected.astype(np.float64))


@pytest.mark.filterwarnings(
    "ignore:Column .* (not among its levels|never missing) in fit:UserWarning"
)
@pytest.mark.parametrize("handle_unknown", ["ignore", "infrequent_if_exist"])
def test_encoder_and_levels_that_are_new(handle_unknown):
    frame, _ = make_frame()
    encoder = BooleanEncoder(
        min_frequency=30, handle_unknown=handle_unknown, kinds={"code": "category"}
    ).fit(frame)
    new = frame.assign(town="elsewhere", code=77)
    (found,) = run(encoder, new)
    np.testing.assert_array_equal(found, encoder.transform(new).to_numpy())


@pytest.mark.filterwarnings("ignore:Column .* not among its levels in fit")
@pytest.mark.parametrize("missing", ["indicator", "propagate"])
def test_encoder_of_ordered_levels(missing):
    grades = ["low", "top", None, "mid", "low", "top"]
    frame = pd.DataFrame({"grade": grades, "n": range(6)})
    ordered = pd.CategoricalDtype(["low", "mid", "top"], ordered=True)
    encoder = BooleanEncoder(missing=missing).fit(frame.astype({"grade": ordered}))
    new = frame.assign(grade=["low", "top", None, "mid", "other", "low"])
    (found,) = run(encoder, new.assign(grade=new["grade"].fillna("")))
    np.testing.assert_array_equal(found, encoder.transform(new).to_numpy())


def test_encoder_of_integers_that_floats_merge():
    X = 2**60 + np.arange(9)[:, None]
    with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
        run(BooleanEncoder().fit(X), X)


@pytest.mark.parametrize("is_ordered", [True, False])
def test_the_empty_text_is_a_level_or_a_gap_but_not_both(is_ordered):
    levels = pd.CategoricalDtype(["a", "", "b"], ordered=is_ordered)
    known = pd.DataFrame({"x": ["a", "", "b", ""] * 5, "n": range(20)})
    gaps = known.assign(x=known["x"].where(known["n"] > 5))
    encoder = BooleanEncoder().fit(known.astype({"x": levels}))
    (found,) = run(encoder, known)
    np.testing.assert_array_equal(found, encoder.transform(known).to_numpy())
    for missing in ("indicator", "propagate"):
        encoder = BooleanEncoder(missing=missing).fit(gaps.astype({"x": levels}))
        with pytest.raises(ValueError, match="'x' has the empty text as a level"):
            run(encoder, known)


def test_levels_that_floats_merge_with_others():
    frame = pd.DataFrame({"id": [2**53 - 1, 2**53, 1] * 3})
    encoder = BooleanEncoder(kinds={"id": "category"}).fit(frame)
    with pytest.raises(NotImplementedError, match=r"'id' has levels .*neighbours"):
        run(encoder, frame)
    (found,) = run(encoder.fit(frame - 1), frame - 1)
    np.testing.assert_array_equal(found, encoder.transform(frame - 1).to_numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_encoder_of_an_array(dtype):
    X = np.random.default_rng(0).normal(size=(200, 4)).round(1).astype(dtype)
    X[::7, 1] = np.nan
    encoder = BooleanEncoder().fit(X)
    (found,) = run(encoder, X)
    np.testing.assert_array_equal(found, encoder.transform(X))


@pytest.mark.parametrize(
    "model",
    [
        RuleClassifier(random_state=0),
        ConjunctionLogisticRegression(C=1.0),
        AveragedPerceptron(random_state=0),
        BoostByMajority(
            n_estimators=9, schedule=BoostingSchedule(gamma=0.2), random_state=0
        ),
        LogisticRegression(),
    ],
    ids=repr,
)
def test_pipelines_from_a_data_frame(model):
    frame, y = make_frame()
    pipeline = make_pipeline(BooleanEncoder(), clone(model)).fit(frame, y)
    labels, probabilities = run(pipeline, for_onnx(frame))
    np.testing.assert_array_equal(labels, pipeline.predict(frame))
    np.testing.assert_allclose(
        probabilities, pipeline.predict_proba(frame), rtol=0, atol=1e-6
    )


# One of each class: the others differ in their formula.
WITH_SCORES = {
    type(model): model
    for model in reversed(CLASSIFIERS)
    if hasattr(model, "decision_function")
}.values()


@pytest.mark.filterwarnings("ignore:No halfspace")
@pytest.mark.parametrize(("model", "n_classes"), of_classes(WITH_SCORES))
def test_scores_instead_of_probabilities(model, n_classes):
    X, y = make_samples(n_classes)
    X = X.astype(np.float64)
    model = clone(model)
    model.fit(X, y)
    _, found = run(model, X, raw_scores=True)
    scores = model.decision_function(X)
    if n_classes == 2:
        scores = np.stack([-scores, scores], axis=1)
    np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
    if isinstance(model, AveragedPerceptron | RuleClassifier):  # a sum, and rules
        calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
        assert_same(calibrated, X, run(calibrated, X), 1e-6)


@pytest.mark.filterwarnings("ignore:No halfspace")
def test_one_class_against_the_rest():
    X, y = make_samples(4)
    X = X.astype(np.float64)
    model = OneVsRestClassifier(ConsistentHalfspace()).fit(X, y)
    labels, scores = run(model, X, raw_scores=True)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-6)


def test_scores_that_count_literals_are_refused():
    X, _ = make_samples(2)
    model = ConjunctionClassifier().fit(X, X[:, 0] & X[:, 3])
    with pytest.raises(NotImplementedError, match="count literals"):
        run(model, X, raw_scores=True)


def test_columns_of_the_wrong_type_are_an_error():
    frame, _ = make_frame()
    encoder = BooleanEncoder().fit(frame)
    with pytest.raises(NotImplementedError, match="'age' held numbers"):
        run(encoder, for_onnx(frame).assign(age="x"))
    with pytest.raises(NotImplementedError, match="'color' holds text"):
        run(encoder, for_onnx(frame).assign(color=1.0))


def test_other_models_are_refused_by_skl2onnx():
    X, y = make_samples(2)
    model = KernelPerceptron(random_state=0).fit(X, y)
    with pytest.raises(Exception, match="KernelPerceptron"):
        run(model, X)


def test_dates_are_refused_in_words():
    X = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=90)})
    encoder = BooleanEncoder(n_bins=3).fit(X)
    with pytest.raises(NotImplementedError, match="'when' of X holds dates without"):
        skl2onnx.to_onnx(encoder, np.zeros((1, 1)))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_ensembles_of_formulas_and_stand_ins(n_classes):
    X, y = make_samples(n_classes)
    X = X.astype(np.float64)
    members = [
        ("linear", LogisticRegression()),
        ("trees", BooleanGradientBoostingClassifier(max_iter=5)),
    ]
    ensemble = BooleanEnsembleClassifier(members, random_state=0).fit(X, y)
    stand_in = distill(ensemble, X, into=ConjunctionRegressor(C=1.0)).model
    for model in (ensemble.pipeline_, stand_in):
        graph = skl2onnx.to_onnx(model, X, options={"zipmap": False})
        session = onnxruntime.InferenceSession(
            graph.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        assert_same(model, X, session.run(None, {"X": X}), 1e-9)


def test_ensembles_of_regressors():
    X, y = make_samples(4)
    X = X.astype(np.float64)
    trees = BooleanGradientBoostingRegressor(max_iter=5, random_state=0)
    members = [("trees", trees), ("conjunctions", ConjunctionRegressor(C=1.0))]
    ensemble = BooleanEnsembleRegressor(members, random_state=0).fit(X, y)
    for model in (trees.fit(X, y), ensemble.pipeline_):
        [found] = run(model, X)
        np.testing.assert_allclose(found.ravel(), model.predict(X), rtol=1e-9)
