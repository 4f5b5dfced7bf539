"""What decides a sample: rules, weights and votes, and their bars."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanStump,
    BooleanSVC,
    BoostByMajority,
    BoostByMajorityRegressor,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    ConjunctionStump,
    DensityClassifier,
    FilteringBoostByMajority,
    KernelPerceptron,
    OnlineBoostByMajority,
    QueryByCommittee,
    RuleClassifier,
    Winnow,
)
from sklboolean.active_learning import HalfspaceVersionSpace
from sklboolean.boosting import BoostingSchedule, FilteringSchedule
from sklboolean.inspection import (
    ExplanationDisplay,
    TopFeaturesDisplay,
    explain,
    top_features,
)

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)
CANCER = CANCER[0].iloc[::3], CANCER[1].iloc[::3].map({0: "ill", 1: "well"})
WINE = load_wine(return_X_y=True, as_frame=True)
WEIGHTED = [
    AveragedPerceptron(random_state=0),
    Winnow(random_state=0),
    LogisticRegression(),
    ConjunctionLogisticRegression(C=1.0),
    KernelPerceptron(random_state=0),
    KernelPerceptron(max_literals=2, monotone=False, random_state=0),
    BooleanSVC(),
]
VOTING = [
    BoostByMajority(n_estimators=9, random_state=0),
    BoostByMajority(ConjunctionStump(), n_estimators=5, random_state=0),
    BoostByMajority(
        DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=5,
        random_state=0,
    ),
    BoostByMajority(n_estimators=5, multi_class="ovo", random_state=0),
    BoostByMajority(
        DecisionTreeClassifier(max_depth=2, random_state=0), n_estimators=3,
        multi_class="ovo", random_state=0,
    ),
    BoostByMajority(n_estimators=5, multi_class="ovr", random_state=0),
    FilteringBoostByMajority(schedule=FilteringSchedule(gamma=0.2), random_state=0),
    OnlineBoostByMajority(n_estimators=5, max_iter=2, random_state=0),
    OnlineBoostByMajority(
        BernoulliNB(), n_estimators=3, batch_size=20, max_iter=1, random_state=0
    ),
    QueryByCommittee(n_members=3, max_queries=20, random_state=0),
    QueryByCommittee(Perceptron(), n_members=3, max_queries=20, random_state=0),
    QueryByCommittee(
        n_members=3, max_queries=20, random_state=0,
        final_estimator=AveragedPerceptron(random_state=0),
    ),
]  # fmt: skip
RULES = [
    RuleClassifier(max_literals=2, random_state=0),
    BooleanStump(),
    ConjunctionStump(max_literals=2),
]


def fitted(model, data=CANCER):
    return make_pipeline(BooleanEncoder(n_bins=4), clone(model)).fit(*data)


def holds(text, row):
    """Whether the words of a condition are true of a sample, read by Python."""
    if text.startswith("not ("):
        return not holds(text[5:-1], row)
    columns = sorted(map(re.escape, row.index), key=len, reverse=True)
    text = re.sub("|".join(columns), lambda found: f"row[{found[0]!r}]", text)
    return eval(text, {"row": row})


ONE_OF_EACH_CLASS = {type(model): model for model in WEIGHTED + VOTING}.values()


@pytest.mark.parametrize(
    ("model", "data"),
    [(model, CANCER) for model in WEIGHTED + VOTING]
    + [(model, WINE) for model in ONE_OF_EACH_CLASS],
)
def test_parts_hold_and_add_up_to_the_score(model, data):
    X = data[0].iloc[::9]
    if getattr(model, "multi_class", "") == "auto" and len(data[1].unique()) > 2:
        model = clone(model).set_params(multi_class="joint")
    pipeline = fitted(model, data)
    scores, predicted = pipeline.decision_function(X), pipeline.predict(X)
    labels = pipeline.classes_.tolist()
    probabilities = None
    if hasattr(pipeline, "predict_proba"):
        probabilities = pipeline.predict_proba(X)
    # The probabilities of a committee are its score.
    is_committee = isinstance(model, QueryByCommittee)
    is_committee = is_committee and model.final_estimator in (None, "auto")
    is_calibrated = len(labels) == 2 and not is_committee
    for target in (None, labels[0]):
        for i, one in enumerate(explain(pipeline, X, target=target)):
            assert one.prediction == predicted[i]
            expected = target
            if target is None:
                expected = labels[1] if len(labels) == 2 else predicted[i]
            assert one.target == expected
            place = labels.index(expected)
            score = scores[i] if len(labels) == 2 else scores[i, place]
            score = score if len(labels) > 2 or place else -score
            if one.quantity == "log-odds":
                sides = np.log(probabilities[i])
                score = sides[place] - sides[1 - place]
            assert one.quantity == ("log-odds" if is_calibrated else "score")
            assert one.score == pytest.approx(score, rel=1e-12, abs=1e-14)
            if probabilities is not None:
                assert one.probability == probabilities[i, place]
            total = sum(value for _, value in one.parts) + one.intercept
            assert total == pytest.approx(one.score, abs=1e-9)
            sizes = [-abs(value) for _, value in one.parts]
            assert sizes == sorted(sizes)
            for text, value in one.parts if i % 20 == 0 else []:
                assert value
                text = re.sub(r" \(\w+ or \w+\)$", "", text)
                if ": " not in text and text != "always":
                    text = text.removeprefix("not ") if "not (" not in text else text
                    assert holds(text, X.iloc[i])


@pytest.mark.parametrize("model", RULES, ids=repr)
def test_the_first_rule_decides(model):
    X, _ = CANCER
    pipeline = fitted(model)
    probabilities = pipeline.predict_proba(X)
    classes = pipeline.classes_.tolist()
    seen = set()
    for i, one in enumerate(explain(pipeline, X)):
        assert (one.kind, one.target, one.intercept) == ("rules", None, 0.0)
        assert one.score == pytest.approx(
            probabilities[i, classes.index(one.prediction)], abs=1e-12
        )
        text, value = one.parts[0]
        label, condition = text.split(" if ")
        assert label == one.prediction
        assert value == pytest.approx(one.score)
        if condition != "no rule holds":
            assert all(holds(rest.split(" if ")[1], X.iloc[i]) for rest, _ in one.parts)
        seen.add(text)
    assert len(seen) > 1


@pytest.mark.parametrize(
    "model",
    [
        AveragedPerceptron(random_state=0),
        LogisticRegression(),
        ConjunctionLogisticRegression(C=1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("data", [CANCER, WINE], ids=["two", "three"])
def test_what_no_condition_has_is_the_intercept_of_the_model(model, data):
    pipeline = fitted(model, data)
    labels, intercepts = pipeline.classes_.tolist(), pipeline[-1].intercept_
    if len(labels) == 2:  # in log-odds
        intercepts = intercepts * getattr(pipeline[-1], "calibration_slope_", 1.0)
    for target in labels:
        place = labels.index(target)
        expected = intercepts[place] if len(labels) > 2 else intercepts[0]
        expected = expected if len(labels) > 2 or place else -expected
        for one in explain(pipeline, data[0].head(30), target=target):
            assert one.intercept == pytest.approx(expected, abs=1e-9)


def test_votes_are_counted_by_hypothesis():
    X, _ = CANCER
    pipeline = fitted(VOTING[0])
    booster = pipeline[-1]
    bits = pipeline[0].transform(X)
    voted = np.array([model.predict(bits) == "well" for model in booster.estimators_])
    for i, one in enumerate(explain(pipeline, X)):
        slope = booster.calibration_slope_
        votes = round(sum(abs(value) for _, value in one.parts) / slope * len(voted))
        assert votes <= len(voted)
        assert (len(voted) - votes) % 2 == 0  # a condition may have votes both ways
        margin = (voted[:, i].sum() - (~voted[:, i]).sum()) / len(voted)
        assert one.score == pytest.approx(slope * margin, abs=1e-12)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_votes_of_games_are_those_of_their_hypotheses(multi_class):
    X, _ = WINE
    model = BoostByMajority(n_estimators=5, multi_class=multi_class, random_state=0)
    pipeline = fitted(model, WINE)
    booster, bits = pipeline[-1], pipeline[0].transform(X)
    pairs = [(0, 1), (0, 2), (1, 2)]
    pairs = pairs if multi_class == "ovo" else [(None, k) for k in range(3)]
    expected = np.zeros((len(X), 3))
    for (first, second), game in zip(pairs, booster.estimators_, strict=True):
        voted = np.array([each.predict(bits) for each in game.estimators_])
        margin = np.mean(np.where(voted == game.classes_[1], 1, -1), axis=0)
        if first is None:
            expected[:, second] = margin
            continue
        z = np.sqrt(len(voted)) * margin
        expected[:, second] += z / np.sqrt(1 + z * z) / 2
        expected[:, first] -= z / np.sqrt(1 + z * z) / 2
    for target, scores in enumerate(expected.T):
        explained = explain(pipeline, X, target=target)
        for one, score in zip(explained, scores, strict=True):
            total = sum(value for _, value in one.parts)
            assert total == pytest.approx(score, abs=1e-9)


def test_members_of_a_committee_vote():
    X, _ = CANCER
    model = QueryByCommittee(Perceptron(), n_members=5, max_queries=20, random_state=0)
    pipeline = fitted(model)
    bits = pipeline[0].transform(X).to_numpy()
    voted = [member.predict(bits) for member in pipeline[-1].committee_]
    for i, one in enumerate(explain(pipeline, X)):
        texts = {f"Perceptron {number}: {own[i]}" for number, own in enumerate(voted)}
        assert {text for text, _ in one.parts} == texts
        assert {abs(value) for _, value in one.parts} == {0.2}


def test_a_version_space_has_a_posterior():
    X, _ = CANCER
    space = HalfspaceVersionSpace(label_noise=0.1, random_state=0)
    model = QueryByCommittee(space, max_queries=10, random_state=0)
    pipeline = fitted(model)
    probabilities = pipeline.predict_proba(X)
    for one, (ill, well) in zip(explain(pipeline, X), probabilities, strict=True):
        parts = dict(one.parts)
        assert parts.get("posterior of well", 0.0) == pytest.approx(well)
        assert parts.get("posterior of ill", 0.0) == pytest.approx(-ill)


def test_predictions_of_a_median():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = BoostByMajorityRegressor(
        n_estimators=5, schedule=BoostingSchedule(target_error=0.4), random_state=0
    )
    pipeline = fitted(model, (X, y))
    bits = pipeline[0].transform(X).to_numpy()
    predicted = [each.predict(bits) for each in pipeline[-1].estimators_]
    for i, one in enumerate(explain(pipeline, X)):
        values = [value for _, value in one.parts]
        assert (one.kind, one.target) == ("predictions", None)
        assert sorted(values) == sorted(each[i] for each in predicted)
        assert one.score == np.median(values)
        far = [abs(value - one.score) for value in values]
        assert far == sorted(far)
    lines = one.to_text(3).splitlines()
    assert lines[0] == f"The prediction is {one.score:.4g}."
    assert lines[-1] == f"The rest, {len(predicted) - 3} more, is left out."
    display = ExplanationDisplay.from_estimator(pipeline, X, sample=5)
    assert [bar.get_width() for bar in display.bars_] == [
        value for _, value in explain(pipeline, X)[5].parts
    ]


def test_regressors_and_searches():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    pipeline = fitted(ConjunctionRegressor(C=1e-3), (X, y))
    search = GridSearchCV(pipeline, {"booleanencoder__n_bins": [4]}, cv=2).fit(X, y)
    predicted = search.predict(X)
    for i, one in enumerate(explain(search, X)):
        assert one.target is None
        assert one.score == predicted[i]
        total = sum(value for _, value in one.parts) + one.intercept
        assert total == pytest.approx(one.score)
        assert one.to_text().startswith(f"The prediction is {one.score:.4g}.\n")


@pytest.mark.parametrize("model", [WEIGHTED[0], VOTING[0]], ids=repr)
def test_sentences_have_all_parts_of_the_score(model):
    X, _ = CANCER
    one = explain(fitted(model), X.head(1))[0]
    lines = one.to_text(3).splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("  ")]
    assert [float(value) for value in listed] == pytest.approx(
        sorted((value for _, value in one.parts[:3]), key=lambda value: value < 0),
        rel=1e-3,
    )
    [others] = [line for line in lines if " more, " in line]
    total = sum(map(float, listed)) + float(others.split()[-1].rstrip("."))
    assert total + one.intercept == pytest.approx(one.score, abs=1e-2)
    everything = one.to_text(100).splitlines()
    assert sum(line.startswith("  ") for line in everything) == len(one.parts)
    assert str(one) == one.to_text()
    assert "\n" not in repr(one)


def test_sentences_say_the_probability_of_the_explained_class():
    X, _ = CANCER
    pipeline = fitted(AveragedPerceptron(random_state=0))
    for one in explain(pipeline, X.head(40)):
        sentence = rf"The probability of {one.target} is (\S+) %\."
        [share] = re.findall(sentence, one.to_text())
        assert float(share) == pytest.approx(100 * one.probability, rel=5e-3)
    for one in explain(fitted(RULES[0]), X.head(40)):
        start = f"The prediction is {one.prediction}. The probability of "
        assert one.to_text().startswith(f"{start}{one.prediction} is ")


@pytest.mark.parametrize("model", [WEIGHTED[0], VOTING[0], RULES[0]], ids=repr)
def test_a_series_is_one_sample(model):
    X, _ = CANCER
    X = X.assign(color=np.where(X.iloc[:, 0] > 14, "red", "blue"))
    pipeline = fitted(model, (X, CANCER[1]))
    [one] = explain(pipeline, X.iloc[7])
    assert one == explain(pipeline, X.iloc[[7]])[0]


def test_frame_of_an_explanation():
    X, _ = CANCER
    one = explain(fitted(WEIGHTED[0]), X.head(1))[0]
    frame = one.to_frame()
    assert frame["part"].tolist() == [*(text for text, _ in one.parts), "always"]
    assert frame["value"].sum() == pytest.approx(one.score)
    rules = explain(fitted(RULES[0]), X.head(1))[0]
    assert rules.to_frame()["value"].tolist() == [value for _, value in rules.parts]


def test_bits_of_short_floats_are_those_of_the_model():
    # 0.1 as float32 is above 0.1, and the model sees it so.
    X = np.array([[0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [0.0, 0.0]] * 5, dtype=np.float32)
    y = X[:, 0] > 0
    model = RuleClassifier(binarize=0.1, random_state=0).fit(X, y)
    assert model.score(X, y) == 1
    assert [one.prediction for one in explain(model, X)] == y.tolist()


@pytest.mark.parametrize("model", [WEIGHTED[0], VOTING[0], RULES[0]], ids=repr)
def test_bars_are_the_parts(model):
    X, _ = CANCER
    pipeline = fitted(model)
    one = explain(pipeline, X)[5]
    display = ExplanationDisplay.from_estimator(pipeline, X, sample=5, max_parts=4)
    widths = [bar.get_width() for bar in display.bars_]
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    shown = one.parts[:4]
    assert [(t, w) for t, w in zip(texts, widths, strict=True)][: len(shown)] == shown
    if one.kind != "rules":
        assert sum(widths) == pytest.approx(one.score)


@pytest.mark.parametrize("model", [WEIGHTED[0], VOTING[0], RULES[0], WEIGHTED[4]])
def test_bars_are_the_top_features(model):
    pipeline = fitted(model)
    display = TopFeaturesDisplay.from_estimator(pipeline, 5)
    texts = [label.get_text() for label in display.ax_.get_yticklabels()]
    widths = [bar.get_width() for bar in display.bars_]
    assert list(zip(texts, widths, strict=True)) == top_features(pipeline, 5)
    signed = "coef_" in dir(pipeline[-1]) or "dual_coef_" in dir(pipeline[-1])
    assert display.ax_.get_xlabel() == ("weight" if signed else "importance")


def test_importances_of_a_conjunction_stump():
    pipeline = fitted(RULES[2])
    stump = pipeline[-1]
    expected = np.zeros(stump.n_features_in_)
    expected[[j for j, _ in stump.literals_]] = 1 / len(stump.literals_)
    np.testing.assert_array_equal(stump.feature_importances_, expected)


def test_input_that_is_refused():
    X, _ = CANCER
    with pytest.raises(NotFittedError):
        explain(RuleClassifier(), X)
    pipeline = fitted(WEIGHTED[0])
    with pytest.raises(ValueError, match="target must be one of"):
        explain(pipeline, X, target="maybe")
    with pytest.raises(ValueError, match="sample == 190, must be <= 189"):
        ExplanationDisplay.from_estimator(pipeline, X, sample=len(X))
    with pytest.raises(ValueError, match="not a sum of conjunctions"):
        explain(KMeans(2, n_init=1).fit(X), X)
    with pytest.raises(ValueError, match="not a sum of conjunctions"):
        explain(fitted(DensityClassifier()), X)
