"""Names of features: conditions, groups, and intervals that mean what literals mean."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sklboolean import (
    BooleanEncoder,
    ConjunctionFeatures,
    ConjunctionLogisticRegression,
    RuleClassifier,
)
from sklboolean._core.directions import directions_of_features
from sklboolean._core.feature_names import (
    FeatureNames,
    exclusive_groups,
    parse_name,
    split_pipeline,
)
from sklboolean._core.formulas import conjunction_text


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("age <= 44.5", ("age", "<=", "44.5")),
        ("worst radius>-1e-05", ("worst radius", ">", "-1e-05")),
        ("a <= 3 > 4", ("a <= 3", ">", "4")),
        ("color = red", ("color", "=", "red")),
        ("color=light red", ("color", "=", "light red")),
        ("color = a=b", ("color", "=", "a=b")),
        ("age >= 3", ("age >= 3", "", "")),
        ("color is rare", ("color", "is", "rare")),
        ("income is missing", ("income", "is", "missing")),
        ("smoker", ("smoker", "", "")),
        ("= 3", ("= 3", "", "")),
        ("<= 3", ("<= 3", "", "")),
        ("line\nbreak <= 3", ("line\nbreak", "<=", "3")),
        (7, ("7", "", "")),
    ],
)
def test_names_are_parsed(name, condition):
    assert parse_name(name) == condition


def test_levels_of_a_column_exclude_each_other_and_bounds_do_not():
    names = [
        "color = red", "age <= 16", "age > 16", "age is missing", "color is rare",
        "smoker", "color is missing",
    ]  # fmt: skip
    assert exclusive_groups(names) == ["color", 1, 2, 3, "color", 5, "color"]


THRESHOLDS = ("16", "20.5", "44.5", "1e2")
NAMES = [
    *(f"age {sign} {number}" for sign in ("<=", ">") for number in THRESHOLDS),
    "color = red", "smoker",
]  # fmt: skip


def bit(name, sample):
    """Whether one feature is true in a sample, of which None is a missing value."""
    if name == "smoker":
        return sample["smoker"]
    if name == "color = red":
        return sample["color"] == "red"
    if name == "age is missing":
        return sample["age"] is None
    _, sign, number = name.split()
    if sample["age"] is None:
        return False
    return (sample["age"] <= float(number)) == (sign == "<=")


def satisfies(word, sample):
    """Whether a sample satisfies what a word says to a reader."""
    if word.startswith("not "):
        return not satisfies(word[4:], sample)
    parts = word.split()
    if len(parts) == 5:
        low, age = float(parts[0]), sample["age"]
        return age is not None and low < age <= float(parts[4])
    return bit(word, sample)


@given(
    st.booleans(),
    st.dictionaries(st.integers(0, len(NAMES)), st.booleans(), max_size=6),
    st.randoms(),
)
def test_words_mean_what_the_literals_mean(may_be_missing, chosen, random):
    names = [*NAMES, "age is missing"] if may_be_missing else NAMES
    literals = [(j, value) for j, value in chosen.items() if j < len(names)]
    random.shuffle(literals)
    words = FeatureNames(names).words(literals)
    ages = [10, 16, 18, 20.5, 30, 44.5, 60, 100, 101, *[None] * may_be_missing]
    for age in ages:
        for color in ("red", "blue"):
            for smoker in (False, True):
                sample = {"age": age, "color": color, "smoker": smoker}
                expected = all(bit(names[j], sample) == value for j, value in literals)
                assert all(satisfies(word, sample) for word in words) == expected
                # What is read back from the text means the same.
                read = FeatureNames(names).literals(" and ".join(words) or "True")
                assert all(bit(names[j], sample) == v for j, v in read) == expected
    n_bounds = sum(word.count("age") for word in words if not word.startswith("not"))
    if not may_be_missing and (8, True) not in literals:
        assert n_bounds <= 2  # merged


def test_unknown_conditions_are_refused_with_the_nearest():
    names = FeatureNames(["age <= 16", "color = red", "x and y"])
    assert names.literals("not x and y and age > 16") == ((0, False), (2, False))
    with pytest.raises(ValueError, match=r"'color = rot'\. .* 'color = red'"):
        names.literals("age <= 16 and color = rot")
    with pytest.raises(ValueError, match=r"no condition ''\. Use the names"):
        names.literals("")


def test_thresholds_become_an_interval():
    names = ["age <= 16", "age <= 20", "age <= 44.5", "color = red", "age is missing"]
    literals = [(0, False), (2, True), (3, True), (1, False)]
    assert conjunction_text(literals, names) == "20 < age <= 44.5 and color = red"
    assert FeatureNames(names).words([(4, False), (0, False)]) == ["age > 16"]
    assert FeatureNames(names).literals("age > 16") == ((0, False), (4, False))
    assert FeatureNames(names).words([(0, False)]) == ["not age <= 16"]
    assert FeatureNames(names[:4]).words([(0, False)]) == ["age > 16"]
    assert FeatureNames(names).words([(0, True), (2, False)]) == [
        "age <= 16", "age > 44.5"
    ]  # fmt: skip


def test_names_are_read_through_a_pipeline():
    frame = pd.DataFrame({"color": ["red", "blue", "red", "blue"] * 2})
    y = [1, 0] * 4
    encode, model = OneHotEncoder(), LogisticRegression()
    pipeline = make_pipeline(encode, model).fit(frame, y)
    names = ["color_blue", "color_red"]
    transformers, last, found = split_pipeline(pipeline)
    assert (last, found) == (model, names)
    np.testing.assert_array_equal(
        transformers.transform(frame).toarray()[0], [0.0, 1.0]
    )
    search = GridSearchCV(pipeline, {"logisticregression__C": [1.0]}, cv=2)
    assert split_pipeline(search.fit(frame, y))[2] == names
    bits = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
    alone = LogisticRegression().fit(bits, [0, 1])
    assert split_pipeline(alone) == (None, alone, ["a", "b"])
    assert split_pipeline(make_pipeline(alone))[2] == ["a", "b"]
    assert split_pipeline(alone.fit(bits.to_numpy(), [0, 1]))[2] is None


@pytest.mark.parametrize(
    "model",
    [
        RuleClassifier(random_state=0),
        ConjunctionLogisticRegression(C=10.0),
        ConjunctionFeatures(monotone=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_conjunctions_hold_one_level_of_a_column(model):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"color": rng.choice(list("rgbw"), 300), "shape": rng.choice(list("xyz"), 300)}
    )
    y = (frame["color"] + frame["shape"]).isin(["rx", "gy"])
    pipeline = make_pipeline(BooleanEncoder(), model).fit(frame, y)
    assert pipeline[-1].feature_names_in_[0] == "color = b"
    if hasattr(model, "monotone") and hasattr(pipeline[-1], "literals_"):
        literals = pipeline[-1].literals_.toarray() != 0
        of_rules = [np.flatnonzero(row) for row in literals]
    else:
        of_rules = [[j for j, _ in rule.literals] for rule in pipeline[-1].rules_]
    assert max(map(len, of_rules)) > 1
    groups = pipeline[0].feature_groups_
    for features in of_rules:
        assert len(set(groups[features])) == len(features)


def test_directions_of_a_column_are_those_of_its_thresholds():
    """By the definition: a feature says that its column is large, or small."""
    rng = np.random.default_rng(0)
    levels = ["S", "M", "L"]
    days = pd.to_timedelta(rng.integers(0, 9, 90), "D")
    frame = pd.DataFrame({
        "age": np.where(rng.random(90) < 0.1, np.nan, rng.integers(20, 60, 90)),
        "on": pd.to_datetime("2024-01-01") + days,
        "size": pd.Categorical(rng.choice(levels, 90), levels, ordered=True),
        "ill": rng.random(90) < 0.5,
        "color": rng.choice(["r", "b"], 90),
    })  # fmt: skip
    encoder = BooleanEncoder(n_bins=3).fit(frame)
    names = encoder.get_feature_names_out()
    given = {"age": 1, "on": -1, "size": -1, "ill": 1, "color": 0}
    found = directions_of_features(given, len(names), names)
    assert {1, -1, 0} == set(found.tolist())
    for name, column, place, sign in zip(
        names, encoder.feature_groups_, encoder.order_, found, strict=True
    ):
        side = (1 if " > " in name else -1) if place >= 0 else name == "ill"
        assert sign == given[column] * side, name
    # A name that begins as another one, and names without blanks.
    names = ["a > b <= 3", "a > b > 3", "a<=2", "a>2", "a is missing"]
    assert directions_of_features({"a": 1}, 5, names).tolist() == [0, 0, -1, 1, 0]


@pytest.mark.parametrize(
    ("directions", "names", "message"),
    [
        ({"color": 1}, ["color = r", "age > 3"], "'color', .* levels without an order"),
        ({"ag": -1}, ["color = r", "age > 3"], "'ag', which is no column of X"),
        ({"age": 2}, ["color = r", "age > 3"], "direction of 'age' is 2"),
        ({"age": True}, ["color = r", "age > 3"], "direction of 'age' is True"),
        ([0, "up"], None, "direction of feature 1 is 'up'"),
        ([0, 1, 0], None, "monotonic_cst has 3 entries, and X has 2 features"),
        ({"age": 1}, None, "X has no column names. Fit to a data frame"),
    ],
)
def test_wrong_directions_are_named(directions, names, message):
    with pytest.raises(ValueError, match=message):
        directions_of_features(directions, 2, names)
