"""Models written in Python, SQL and C predict what the fitted estimators predict."""

import ctypes
import json
import shutil
import subprocess
from functools import cache

import numpy as np
import pandas as pd
import pytest
from databases import DATABASES, in_databases, query
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.naive_bayes import BernoulliNB

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor,
    BooleanStump,
    BoostByMajority,
    ConjunctionClassifier,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    ConjunctionStump,
    ConsistentHalfspace,
    FilteringBoostByMajority,
    OnlineBoostByMajority,
    RuleClassifier,
    Winnow,
)
from sklboolean.boosting import FilteringSchedule

BINARY = [
    AveragedPerceptron(random_state=0),
    Winnow(random_state=0),
    ConsistentHalfspace(),
    BooleanStump(),
    ConjunctionStump(),
    BoostByMajority(n_estimators=9, random_state=0),
    BoostByMajority(ConjunctionStump(), n_estimators=5, random_state=0),
    FilteringBoostByMajority(schedule=FilteringSchedule(gamma=0.1), random_state=0),
    RuleClassifier(random_state=0),
    ConjunctionLogisticRegression(C=1.0),
    ConjunctionClassifier(),
    ConjunctionClassifier(target="disjunction"),
    BooleanGradientBoostingClassifier(max_iter=5, random_state=0),
]
SEVERAL = [
    AveragedPerceptron(random_state=0),
    AveragedPerceptron(multi_class="joint", random_state=0),
    Winnow(random_state=0),
    BooleanStump(),
    ConjunctionStump(),
    *(
        BoostByMajority(n_estimators=7, multi_class=way, random_state=0)
        for way in ("ovo", "ovr", "joint")
    ),
    RuleClassifier(random_state=0),
    ConjunctionLogisticRegression(C=1.0),
    BooleanGradientBoostingClassifier(max_iter=3, random_state=0),
]
NAMES = ['a"b', "c'd", "select", "x; DROP TABLE t", "ü", "line\nbreak", "%s", "/*"]
LABELS = {2: ["it's", '"no"\\'], 3: ["b\n*/", "ä", "zz??/"]}
CASES = [(model, 2) for model in BINARY] + [(model, 3) for model in SEVERAL]
CASES.append((ConjunctionRegressor(C=0.1), 0))
CASES.append((BooleanGradientBoostingRegressor(max_iter=5, random_state=0), 0))


def data(n_classes, seed, n_samples=120):
    """Draw bits whose sums tie often, and labels that follow some of them."""
    rng = np.random.default_rng(seed)
    bits = rng.random((n_samples, len(NAMES))) < 0.4
    X = pd.DataFrame(bits.astype(np.uint8), columns=NAMES)
    codes = bits[:, 0] & bits[:, 1] | bits[:, 2]
    if not n_classes:
        return X, codes + bits[:, 3] / 2
    if n_classes == 3:
        codes = codes.astype(int) + bits[:, 4]
    labels = np.sort(LABELS[n_classes])[codes.astype(int)]
    return X, labels


@cache
def fitted(number):
    """Fit a model; return it, new samples, and what it predicts for them."""
    model, n_classes = CASES[number]
    model = clone(model).fit(*data(n_classes, 0))
    X = data(n_classes, 1)[0]
    outputs = {"label": model.predict(X).tolist()}
    if hasattr(model, "predict_proba"):
        outputs["proba"] = model.predict_proba(X)
    if isinstance(model, BooleanGradientBoostingRegressor):
        # Its formula adds up equal conjunctions of several trees first.
        outputs["label"] = model.predict(X)
    if is_regressor(model):
        outputs["score"] = model.predict(X)[:, None]
    elif hasattr(model, "decision_function") and not isinstance(
        model, ConjunctionClassifier
    ):
        outputs["score"] = model.decision_function(X).reshape(len(X), -1)
    return model, X, outputs


def assert_equal(found, expected):
    if isinstance(expected, list):
        assert found == expected
    else:
        np.testing.assert_allclose(np.array(found, dtype=float), expected, atol=1e-12)


def numbers(value):
    return list(value.values()) if isinstance(value, dict) else [value]


every_model = pytest.mark.parametrize(
    "number", range(len(CASES)), ids=[f"{model!r}-{n}" for model, n in CASES]
)
pytestmark = pytest.mark.filterwarnings("ignore:No (conjunction|disjunction|halfspace)")


@every_model
def test_python(number):
    model, X, outputs = fitted(number)
    for output, expected in outputs.items():
        by_number = compile(model.to_python(output=output), "model", "eval")
        by_name = compile(model.to_python(NAMES, output=output), "model", "eval")
        found = [eval(by_number, {"x": row}) for row in X.to_numpy().tolist()]
        assert found == [eval(by_name, {"x": row}) for row in X.to_dict("records")]
        found = found if output == "label" else [numbers(value) for value in found]
        assert_equal(found, expected)
    if {"proba", "score"} <= set(outputs):
        whole = eval(model.to_python(output="all"), {"x": X.to_numpy().tolist()[0]})
        assert whole["label"] == outputs["label"][0]
        np.testing.assert_allclose(numbers(whole["proba"]), outputs["proba"][0])


# Rules, stumps, one sum, sums of several classes, games, conditions, values.
FORMS = [
    next(number for number, (model, n) in enumerate(CASES) if (repr(model), n) == form)
    for form in (
        ("RuleClassifier(random_state=0)", 3),
        ("BooleanStump()", 2),
        ("ConjunctionLogisticRegression(C=1.0)", 2),
        ("AveragedPerceptron(random_state=0)", 3),
        (repr(BoostByMajority(n_estimators=7, multi_class="ovo", random_state=0)), 3),
        ("ConjunctionClassifier()", 2),
        ("ConjunctionRegressor(C=0.1)", 0),
    )
]


@pytest.mark.parametrize(("number", "database"), in_databases(range(len(CASES)), FORMS))
def test_sql(number, database):
    model, X, outputs = fitted(number)
    for output, expected in outputs.items():
        found = query(database, X, model.to_sql(output=output))
        found = [row[0] for row in found] if output == "label" else found
        assert_equal(found, expected)
    if {"proba", "score"} <= set(outputs):
        rows = query(database, X, model.to_sql(output="all"))
        assert [row[0] for row in rows] == outputs["label"]
        numbers = np.hstack([outputs["score"], outputs["proba"]])
        assert_equal([row[1:] for row in rows], numbers)
        assert 'AS "proba_' in model.to_sql(output="all")


def compiled(code, folder):
    """Compile functions in C without any warning, and load them."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("There is no C compiler.")
    source, library = folder / "model.c", folder / "model.so"
    source.write_text(code, encoding="utf-8")
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(
        [compiler, *options, "-shared", "-fPIC", "-o", library, source, "-lm"],
        check=True,
    )
    return ctypes.CDLL(str(library))


def pointer(array):
    assert array.flags.c_contiguous
    return array.ctypes.data_as(ctypes.c_void_p)


@every_model
def test_c(number, tmp_path):
    model, X, outputs = fitted(number)
    # Two models in one program: the prefix keeps their names apart.
    code = compiled(f"{model.to_c()}\n{model.to_c('other_')}", tmp_path)
    bits = np.ascontiguousarray(X.to_numpy(np.uint8))
    rows = [pointer(row) for row in bits]
    if is_classifier(model):
        labels = (ctypes.c_char_p * len(model.classes_)).in_dll(code, "labels")
        found = [labels[code.predict(row)].decode() for row in rows]
        assert found == outputs["label"]
    for output, function in (("proba", "proba"), ("score", "scores")):
        if output not in outputs:
            continue
        found = np.zeros(outputs[output].shape)
        for row, line in zip(rows, found, strict=True):
            getattr(code, function)(row, pointer(line))
        assert_equal(found, outputs[output])
        if output == "score" and found.shape[1] == 1:
            code.score.restype = ctypes.c_double
            assert [code.score(row) for row in rows] == found[:, 0].tolist()


@pytest.mark.filterwarnings(
    "ignore:Column .* (in fit|ha(s|ve) the same value in all samples)"
)
@pytest.mark.parametrize("unknown", ["ignore", "infrequent_if_exist"])
@pytest.mark.parametrize("complement", [True, False])
def test_c_of_an_encoder(unknown, complement, tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=150).round(1)
    size[::11] = np.nan
    color = rng.choice(["red", "blue", "it's", '"?"\\', "rare 1", "rare 2"], size=150,
                       p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05]).astype(object)  # fmt: skip
    color[::13] = None
    frame = pd.DataFrame(
        {
            "size": size,
            "color": color,
            "on": rng.random(150) < 0.5,
            "n": rng.integers(9),
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "top"], size=150),
                ["low", "mid", "top", "unused"],
                ordered=True,
            ),
        }
    )
    encoder = BooleanEncoder(
        n_bins=4, min_frequency=15, handle_unknown=unknown, complement=complement
    )
    new = frame.iloc[:100]
    expected = encoder.fit(frame).transform(new).to_numpy(dtype=np.uint8)
    code = compiled(encoder.to_c("my_"), tmp_path)
    levels = (ctypes.c_char_p * color_levels(encoder)).in_dll(code, "my_levels_1")
    places = {level.decode(): k for k, level in enumerate(levels)}
    assert len(places) == 6
    rows = new.astype(object).to_numpy()
    rows[:, 1] = [places.get(level, np.nan) for level in rows[:, 1]]
    rows[:, 4] = frame["grade"].cat.codes[:100]
    found = np.zeros(expected.shape, dtype=np.uint8)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    for row, line in zip(rows, found, strict=True):
        code.my_encode(pointer(row), pointer(line))
    np.testing.assert_array_equal(found, expected)
    other = np.array([0.0, -1.0, 0.0, 0.0, -1.0])
    line = np.zeros(expected.shape[1], dtype=np.uint8)
    code.my_encode(pointer(other), pointer(line))
    names = encoder.get_feature_names_out()
    is_color = [name.startswith("color") for name in names]
    of_grade = np.char.startswith(names.astype(str), "grade")
    assert of_grade.any()
    assert not line[of_grade].any()
    holding = names[is_color][line[is_color] > 0].tolist()
    assert holding == (["color is rare"] if unknown == "infrequent_if_exist" else [])


@pytest.mark.parametrize("text", ["a\0b", "a\ud800"])
def test_texts_that_c_cannot_hold(text):
    X = pd.DataFrame({"x": [text, "a"] * 9}, dtype=object)
    model = RuleClassifier(random_state=0).fit(X == "a", X["x"])
    with pytest.raises(ValueError, match="cannot be written in C"):
        model.to_c()
    if "\0" in text:  # halves of surrogates are escaped in the names of features
        with pytest.raises(ValueError, match="cannot be written in C"):
            BooleanEncoder().fit(X).to_c()


def color_levels(encoder):
    return len(encoder.categories_[1]) + 2  # and the rare ones


def read_dictionary(model, bits):
    """Predict by the dictionary of a model, after JSON: labels and probabilities."""
    data = json.loads(json.dumps(model.to_dict(), allow_nan=False))
    assert data["type"] == type(model).__name__
    classes = data["classes"]
    satisfied = np.ones((len(bits), len(data["terms"])), dtype=bool)
    for k, term in enumerate(data["terms"]):
        for feature, value in term:
            satisfied[:, k] &= bits[:, feature] == value
    if data["form"] == "rules":
        first = [next(iter(np.flatnonzero(row)), len(row)) for row in satisfied]
        labels = [*data["labels"], data["default"]]
        probabilities = data["probabilities"]
        return [labels[k] for k in first], [probabilities[k] for k in first]
    scores = satisfied @ np.transpose(data["weights"]) + data["intercepts"]
    scores /= 1 if data["divisors"] is None else data["divisors"]
    if data["games"] is not None:
        scores = scores_of_games(scores, data)
    if classes is None:
        return scores[:, 0], None
    scores = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
    codes = scores.argmax(axis=1)
    if len(classes) == 2:
        codes[scores[:, 0] == scores[:, 1]] = data["tie"]
    powers = np.exp(data["slope"] * (scores - scores.max(axis=1, keepdims=True)))
    if scores.shape[1] == 2:  # the sigmoid of one score, not of the difference of two
        powers = 1 / (1 + np.exp(-data["slope"] * scores))
    return [classes[code] for code in codes], powers / powers.sum(axis=1, keepdims=True)


def scores_of_games(margins, data):
    """Add up the shares of the margins of games in the scores of the classes."""
    scores = np.zeros((len(margins), len(data["classes"])))
    for (first, second), n_votes, column in zip(
        data["games"], data["divisors"], margins.T, strict=True
    ):
        z = column * np.sqrt(n_votes)
        shares = z / np.sqrt(1 + z**2) / (len(data["classes"]) - 1)
        scores[:, second] += shares
        scores[:, first] -= shares
    return scores


@every_model
def test_a_program_can_read_the_dictionary(number):
    model, X, _ = fitted(number)
    labels, probabilities = read_dictionary(model, X.to_numpy() > 0)
    if model.to_dict()["classes"] is None:
        np.testing.assert_allclose(labels, model.predict(X), rtol=1e-12)
        return
    assert labels == model.predict(X).tolist()
    if model.to_dict().get("has_probabilities", True):
        np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-12)


@every_model
def test_text_and_frame(number):
    model, _, _ = fitted(number)
    assert model.to_text().splitlines()
    assert "rule" in model.to_frame()


@pytest.mark.parametrize("database", DATABASES)
def test_null_is_no_literal_and_no_weight(database):
    X, y = data(2, 0)
    for model in (RuleClassifier(random_state=0), AveragedPerceptron(random_state=0)):
        model.fit(X, y)
        zeros, gaps = X.iloc[[0]] * 0, X.iloc[[0]].astype("Int64").where(X > 1)
        [(found,)] = query(database, gaps, model.to_sql())
        if isinstance(model, AveragedPerceptron):
            assert found == model.predict(zeros)[0]
        else:
            assert found == model.default_


def test_boosters_of_other_classifiers_are_refused():
    X, y = data(2, 0)
    for model in (
        BoostByMajority(BernoulliNB(), n_estimators=3, random_state=0),
        OnlineBoostByMajority(n_estimators=3, random_state=0),
    ):
        model.fit(X, y)
        if hasattr(model, "to_sql"):
            with pytest.raises(ValueError, match="not made of conjunctions"):
                model.to_sql()


def test_dates_in_c(tmp_path):
    rng = np.random.default_rng(0)
    seconds = rng.integers(-(10**9), 2 * 10**9, 400)
    seconds[::7], seconds[::9] = 951_868_799, 0  # the end of a leap day
    when = pd.Series(seconds.astype("M8[s]"))
    when[::11] = pd.NaT
    wait = pd.Series(rng.integers(-(10**6), 10**7, 400).astype("m8[s]"))
    X = pd.DataFrame({"when": when, "end": when + wait, "since": when, "wait": wait})
    encoder = BooleanEncoder(
        n_bins=6, reference={"end": "when", "since": "1999-12-31"}
    ).fit(X)  # fmt: skip
    code = encoder.to_c()
    assert "row[0]: seconds since 1970." in code
    assert "row[3]: days." in code
    library = compiled(f"{code}\n{encoder.to_c('other_')}", tmp_path)
    rows = X.assign(wait=wait / pd.Timedelta(1, "D"))
    for name in ("when", "end", "since"):
        rows[name] = (X[name] - pd.Timestamp(0)) / pd.Timedelta(1, "s")
    expected = encoder.transform(X).to_numpy(dtype=np.uint8)
    found = np.zeros(expected.shape, dtype=np.uint8)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    for row, line in zip(rows, found, strict=True):
        library.encode(pointer(row), pointer(line))
    np.testing.assert_array_equal(found, expected)
