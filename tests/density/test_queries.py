"""Queries in words against Python's own and, or, not, and against enumeration."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.density import every_row
from sklearn.base import clone

from sklboolean import (
    BernoulliMixture,
    BooleanEncoder,
    ChowLiuTree,
    CombinationMachine,
    DensityMixture,
    SampledCombinationMachine,
)
from sklboolean.density._queries import MAX_TERMS, disjoint_terms, parse_query

NAMES = ["a", "b", "c", "d", "e"]
ROWS = every_row(5)
MODELS = {
    "tree": ChowLiuTree(),
    "products": BernoulliMixture(2, random_state=0),
    "machine": CombinationMachine(2, base="chow_liu", max_iter=20, random_state=0),
    "mixture": DensityMixture(ChowLiuTree(), n_components=2, random_state=0),
    "sampled": SampledCombinationMachine(2, max_iter=5, random_state=0),
}


def samples(n_samples=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_samples, 5))
    X[:, 1] = np.where(rng.random(n_samples) < 0.8, X[:, 0], X[:, 1])
    X[:, 3] = X[:, 2] | X[:, 1]
    return pd.DataFrame(X, columns=NAMES)


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def model(request):
    return clone(request.param).fit(samples())


def holds(text, rows=ROWS):
    """Evaluate a query as a Python expression in each row."""
    values = [dict(zip(NAMES, map(bool, row), strict=True)) for row in rows]
    return np.array([eval(text, {}, row) for row in values])


def bracketed(parts):
    return st.builds("({} {} {})".format, parts, st.sampled_from(["and", "or"]), parts)


# Without the outer parentheses: precedence is that of Python.
formulas = st.recursive(
    st.sampled_from(NAMES),
    lambda parts: st.one_of(
        st.builds("not {}".format, parts),
        bracketed(parts),
        st.builds("{} and {}".format, parts, parts),
        st.builds("{} or {}".format, parts, parts),
    ),
    max_leaves=8,
)


@given(formulas, formulas)
def test_terms_are_disjoint_and_decide_the_event_as_python_does(event, condition):
    terms, truths = disjoint_terms(
        parse_query(event, NAMES, "event"), parse_query(condition, NAMES, "given")
    )
    covers = np.array(
        [[all(row[k] == v for k, v in term.items()) for row in ROWS] for term in terms]
    ).reshape(len(terms), len(ROWS))
    np.testing.assert_array_equal(covers.sum(axis=0), holds(condition))
    for cover, truth in zip(covers, truths, strict=True):
        assert (holds(event)[cover] == truth).all()


@settings(max_examples=15)
@given(event=formulas, condition=formulas)
def test_probability_is_that_of_the_table(model, event, condition):
    shares = np.exp(model.score_samples(pd.DataFrame(ROWS, columns=NAMES)))
    table, fits = shares[holds(event) & holds(condition)], shares[holds(condition)]
    if not len(fits):
        with pytest.raises(ValueError, match="has probability 0"):
            model.query(event, condition)
        return
    expected = table.sum() / fits.sum()
    assert model.query(event, condition) == pytest.approx(expected, abs=1e-9)
    assert 0 <= model.query(event, condition) <= 1
    best = model.most_probable(condition)
    assert shares[(best == ROWS).all(axis=1)][0] == pytest.approx(fits.max())


def test_samples_satisfy_the_condition_and_follow_the_table(model):
    condition = "a and not b or c and e"
    drawn = model.sample(4000, random_state=0, given=condition)
    assert holds(condition, drawn).all()
    shares = np.exp(model.score_samples(pd.DataFrame(ROWS, columns=NAMES)))
    shares = np.where(holds(condition), shares, 0) / shares[holds(condition)].sum()
    numbers = drawn @ 2 ** np.arange(5)
    counts = (numbers[:, None] == ROWS @ 2 ** np.arange(5)).mean(axis=0)
    np.testing.assert_allclose(counts, shares, atol=0.035)


def test_expected_counts_are_those_of_the_table(model):
    rows, columns = ["a", "not a", "b or c"], ["d", "not d and e"]
    counts = model.expected_counts(rows, columns, n_samples=50, given="b or not c")
    table = np.exp(model.score_samples(pd.DataFrame(ROWS, columns=NAMES)))
    known = holds("b or not c")
    for row in rows:
        for column in columns:
            both = table[holds(row) & holds(column) & known].sum()
            expected = 50 * both / table[known].sum()
            assert counts.loc[row, column] == pytest.approx(expected, rel=1e-6)
    with pytest.raises(ValueError, match="n_samples"):
        model.expected_counts(["a"], ["b"], n_samples=0)


def test_information_gain_of_a_data_frame_has_its_columns():
    tree = ChowLiuTree().fit(samples())
    nothing = samples(2) * np.nan
    gains = tree.information_gain(nothing, ["b"])
    assert list(gains.columns) == NAMES
    assert gains.index.equals(nothing.index)
    of_array = ChowLiuTree().fit(samples().to_numpy())
    of_array = of_array.information_gain(nothing.to_numpy(), [1])
    np.testing.assert_array_equal(gains.to_numpy(), of_array)
    assert gains.iloc[0].idxmax() == "a"  # b is a noisy copy of a


def test_batches_are_single_queries():
    tree = ChowLiuTree().fit(samples())
    singles = [tree.query("a", "b"), tree.query("c or d", "b")]
    np.testing.assert_array_equal(tree.query(["a", "c or d"], "b"), singles)
    both = tree.query(np.array(["a", "a"]), given=["b", "not b"])
    np.testing.assert_array_equal(both, [singles[0], tree.query("a", "not b")])
    assert tree.query([]).shape == (0,)
    np.testing.assert_array_equal(tree.query(pd.Series(["a"])), [tree.query("a")])
    with pytest.raises(ValueError, match="one for each of 2 events; got 3"):
        tree.query(["a", "b"], given=["a", "b", "c"])


def test_standard_error_is_that_of_the_answers_of_parts():
    X = samples(90)
    parts = [(X[k::3], None, np.arange(30) % 2 + 1) for k in range(3)]
    tree = ChowLiuTree().fit(X)
    events, known = ["a", "b or c"], ["d", "not d"]
    answers = [
        ChowLiuTree().fit(part, sample_weight=weights).query(events, known)
        for part, _, weights in parts
    ]
    found = tree.standard_error([lambda p=part: p for part in parts], events, known)
    expected = np.sqrt(np.var(answers, axis=0, ddof=1) / 3)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    single = tree.standard_error(parts, "a", "d")
    assert single == pytest.approx(expected[0], rel=1e-12)
    with pytest.raises(ValueError, match="at least two parts; got one"):
        tree.standard_error(parts[:1], "a")
    with pytest.raises(ValueError, match="Partition 1"):
        tree.standard_error([parts[0], (X[["a"]], None)], "b")


def test_columns_without_names_have_numbers():
    tree = ChowLiuTree().fit(2 * samples().to_numpy() - 1)
    assert tree.query("x0 and not x4") == pytest.approx(
        ChowLiuTree().fit(samples()).query("a and not e")
    )
    assert set(tree.most_probable("x0")) <= {-1.0, 1.0}


# Names

PEOPLE = pd.DataFrame(
    {
        "age": [20, 30, 40, 50] * 15,
        "city": ["Rome", "O'Brien", "New York", "Rome", 'a "b"', "x and (y)"] * 10,
        "is it": [True, False, False] * 20,
    }
)


@pytest.fixture(scope="module")
def people():
    encoder = BooleanEncoder(complement=False)
    bits = encoder.fit_transform(PEOPLE)
    groups = [name.split(" = ")[0] if "=" in name else name for name in bits]
    groups = [n if n.startswith("city") else str(k) for k, n in enumerate(groups)]
    return BernoulliMixture(3, feature_groups=groups, random_state=0).fit(bits)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("city = Rome", {"city = Rome": 1}),
        ("city=Rome", {"city = Rome": 1}),
        ("'city = Rome'", {"city = Rome": 1}),
        ("city == 'Rome'", {"city = Rome": 1}),
        ("city != Rome", {"city = Rome": 0}),
        ("not not city  =  New  York", {"city = New York": 1}),
        ("city = O'Brien", {"city = O'Brien": 1}),
        ("city = 'O\\'Brien'", {"city = O'Brien": 1}),
        ("city = 'a \"b\"'", {'city = a "b"': 1}),
        ('city = "x and (y)"', {"city = x and (y)": 1}),
        ("age <= 30", {"age <= 30": 1}),
        ("age > 30.0", {"age <= 30": 0}),
        ("is it", {"is it": 1}),
        ("is it = true", {"is it": 1}),
        ('"is it" != 0', {"is it": 1}),
        ("is it = False", {"is it": 0}),
    ],
)
def test_names_are_found_however_they_are_written(people, text, columns):
    names = people.feature_names_in_.tolist()
    ((column, value),) = columns.items()
    literal = parse_query(text, names, "event")
    assert (names[literal.column], literal.value) == (column, bool(value))


@pytest.mark.parametrize("complement", [False, True])
def test_missing_values_satisfy_neither_of_two_bounds(complement):
    X = pd.DataFrame(
        {
            "age": [10, 20, 30, np.nan, 50, np.nan],
            "city": ["Rome", "Oslo", None, "Rome", "Oslo", None],
            "ill": [True, False, None, None, False, True],
        }
    )
    encoder = BooleanEncoder(thresholds={"age": [20]}, complement=complement)
    bits = encoder.fit_transform(X)
    below, above, unknown = X.age <= 20, X.age > 20, X.age.isna()
    events = {
        "age <= 20": below, "not age <= 20": above | unknown, "age is missing": unknown,
        "age > 20": above, "not age > 20": below | unknown,
        "city = Rome": X.city == "Rome", "city != Rome": X.city != "Rome",
        "city in (Rome, Oslo)": X.city.notna(),
        "ill": X.ill.eq(True), "not ill": ~X.ill.eq(True),
        "ill = false": X.ill.eq(False), "ill != false": ~X.ill.eq(False),
    }  # fmt: skip
    for text, expected in events.items():
        terms, truths = disjoint_terms(parse_query(text, list(bits), "event"))
        values = [term for term, truth in zip(terms, truths, strict=True) if truth]
        satisfied = [
            any(all(row[k] == v for k, v in term.items()) for term in values)
            for row in bits.to_numpy()
        ]
        assert satisfied == expected.tolist(), text


@pytest.mark.parametrize("other", ["1234", "9007199254740992", "01234.0"])
def test_codes_are_not_numbers_and_large_integers_are_exact(other):
    names = ["code = 01234", "code = 9007199254740993", "code = 20"]
    tree = ChowLiuTree().fit(pd.DataFrame(np.eye(3), columns=names))
    assert tree.query("code = 20.0", given="code = 2e1") == 1
    assert tree.query("code = 01234 and code = 9007199254740993.0") < 0.5
    with pytest.raises(ValueError, match=f"whether 'code = {other}'"):
        tree.query(f"code = {other}")


def test_lists_of_levels(people):
    parts = [people.query(f"city = '{level}'") for level in ("Rome", "New York")]
    for brackets in ("()", "[]", "{}"):
        text = "city in {}Rome, 'New York'{}".format(*brackets)
        assert people.query(text) == pytest.approx(sum(parts))
        assert people.query(text.replace("in", "not in", 1)) == pytest.approx(
            1 - sum(parts)
        )
    assert people.query("city = Rome", given="city = 'New York'") == 0
    assert people.query("city = Rome", given="city in (Rome)") == 1
    levels = ", ".join(f"'{level}'" for level in ("Rome", "O\\'Brien", "New York"))
    quoted = f"{levels}, 'a \"b\"', 'x and (y)'"
    assert people.query(f"city in ({quoted})") == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("city = Rom", "whether 'city = Rom'. Columns .* are 'city = Rome'"),
        ("age <= 41", r"'age <= 41'. Columns .* are 'age <= 40', 'age <= 30'"),
        ("age < 30", r"'age < 30'. Columns that can be asked for instead are 'age <="),
        ("cty = Rome", "'cty', which is not a column of X: near names are .*'city"),
        ("city", "'city' without a value. The columns on it are 'city = "),
        ("is it = maybe", "whether 'is it = maybe'"),
        ("", "the end' at character 1, where a condition"),
        ("is it and", "'the end' at character 10"),
        ("(is it", "where '\\)' is expected"),
        ("is it)", "has '\\)' at character 6, where and, or, or the end"),
        ("is it not city", "has 'city' at character 11, where 'in' is expected"),
        ("is it not", "has 'the end' at character 10, where 'in' is expected"),
        ("city in Rome", "where a list such as \\(a, b\\)"),
        ("city in (Rome]", "has ']' .* ',' or '\\)'"),
        ("city in ()", "where a condition"),
        (
            "city = x and (y)",
            "whether 'city = x'.* 'city = x and .y.'.* Put quotes around a name",
        ),
        ("city = 'Rome", 'whether "city = \'Rome"'),
        ("not", "where a condition"),
        ("(" * 51 + "is it" + ")" * 51, "nests more than 50"),
        ("(" * 100_000, "nests more than 50"),
        (True, "event must be a text such as .* got True"),
        (None, "event must be a text such as .* got None"),
        (np.array("is it"), "event must be a text such as"),
        (["is it", 3], "event must be a text such as .* got 3"),
    ],
)
def test_what_is_not_a_condition_is_refused(people, text, message):
    with pytest.raises(ValueError, match=message):
        people.query(text)


def test_a_condition_that_fits_two_columns_is_refused():
    X = pd.DataFrame([[0, 1], [1, 0]], columns=["a=b", "a = b"])
    tree = ChowLiuTree().fit(X)
    assert tree.query("a=b", given="'a = b'") < 0.5
    with pytest.raises(ValueError, match="fits the columns 'a=b' and 'a = b'"):
        tree.query("a  = b")


def test_too_many_terms_are_refused_before_they_are_summed():
    X = np.random.default_rng(0).integers(0, 2, (20, 40))
    tree = ChowLiuTree().fit(X)
    pairs = [f"(x{2 * k} or x{2 * k + 1})" for k in range(20)]
    few = " and ".join(pairs[:6])
    assert 0 < tree.query(few) < 1
    with pytest.raises(ValueError, match=f"more than {MAX_TERMS} terms"):
        tree.query(" and ".join(pairs))
    assert 0 < tree.query(" or ".join(f"x{k}" for k in range(40))) < 1
