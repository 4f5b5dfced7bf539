"""Exported rules predict as the model does, in Python and SQLite and from JSON."""

import json
import sqlite3
import sys
from html import escape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.kernels import plain_perceptron
from oracles.rules import table
from sklearn.svm import SVC

from sklboolean import (
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    RuleClassifier,
)
from sklboolean._core.formula import Columns, WeightedSum
from sklboolean._core.python_code import python_code
from sklboolean._core.sql_code import sql_code
from sklboolean.rules import (
    DNF,
    Rule,
    RuleEnsemble,
    RuleList,
    extract_dnf,
    top_conjunctions,
)

N_FEATURES = 5
# Words of SQL and Python, quotes, comments and brackets; then anything.
ODD = [
    '"', "'", '""', "a\"b'c", "x--y", "a;DROP TABLE t", "/*", "select", "[0]", "\\",
    "line\nbreak", "{x}", "%s", "?", ":n", "ümlaut", "and not", " ", "rowid",
]  # fmt: skip
text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    min_size=1, max_size=8,
)  # fmt: skip
name = st.sampled_from(ODD) | text
# SQLite does not tell the case of column names.
names = st.lists(
    name, min_size=N_FEATURES, max_size=N_FEATURES, unique_by=lambda n: n.lower()
)
labels = st.lists(
    st.sampled_from(ODD) | text, min_size=3, max_size=3, unique=True
) | st.lists(st.integers(-(2**60), 2**60), min_size=3, max_size=3, unique=True)
conjunction = st.dictionaries(
    st.integers(0, N_FEATURES - 1), st.booleans(), max_size=3
).map(lambda values: tuple(sorted(values.items())))
threshold = st.none() | st.sampled_from([0.0, 0.1, 1e-7])
# Sums of a few eighths are exact, whatever their order.
weight = st.integers(-24, 24).map(lambda k: k / 8)


def samples(binarize, seed):
    """Random values, some of them at the threshold itself."""
    rng = np.random.default_rng(seed)
    if binarize is None:
        return rng.integers(0, 2, (30, N_FEATURES))
    X = binarize + rng.choice([-1.0, 0.0, 1e-9, 1.0], (30, N_FEATURES))
    return np.where(rng.random(X.shape) < 0.3, 0.0, X)


def in_python(model, X, columns):
    """Evaluate the exported code on each sample, by number and by name."""
    code = compile(model.to_python(), "rules", "eval")
    by_number = [eval(code, {"x": row}) for row in X.tolist()]
    code = compile(model.to_python(columns), "rules", "eval")
    rows = [dict(zip(columns, row, strict=True)) for row in X.tolist()]
    by_name = [eval(code, {"x": row}) for row in rows]
    assert by_number == by_name
    return by_number


def in_sqlite(sql, X, columns):
    """Evaluate the exported expression on a table of SQLite."""
    with sqlite3.connect(":memory:") as connection:
        quoted = [f"{quote(column)} NUMERIC" for column in columns]
        connection.execute(f"CREATE TABLE samples ({', '.join(quoted)})")
        places = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO samples VALUES ({places})", X.tolist())
        rows = connection.execute(f"SELECT {sql} FROM samples AS f").fetchall()
    connection.close()
    return [row[0] for row in rows]


def quote(column):
    return '"' + column.replace('"', '""') + '"'


def from_json(model, X):
    """Predict by the dictionary of a model, after JSON."""
    data = json.loads(json.dumps(model.to_dict(), allow_nan=False))
    assert data["type"] == type(model).__name__
    bits = X > data["binarize"] if data["binarize"] is not None else X > 0
    satisfied = [
        np.all([bits[:, j] == value for j, value in term], axis=0, keepdims=term == [])
        for term in data["terms"]
    ]
    satisfied = np.array([np.broadcast_to(marks, len(X)) for marks in satisfied])
    if data["form"] == "rules":
        outcomes = [*data["labels"], data["default"]]
        always = np.ones((1, len(X)), dtype=bool)
        first = np.vstack([satisfied.reshape(-1, len(X)), always]).argmax(axis=0)
        return [outcomes[k] for k in first]
    scores = np.array(data["weights"]) @ satisfied.reshape(-1, len(X))
    scores += np.array(data["intercepts"])[:, None]
    if data["classes"] is None:
        return scores[0].tolist()
    codes = scores.argmax(axis=0) if len(scores) > 1 else (scores[0] > 0) * 1
    return [data["classes"][k] for k in codes]


def assert_exports_predict(model, X, columns):
    expected = model.predict(X).tolist()
    assert in_python(model, X, columns) == expected
    assert in_sqlite(model.to_sql(columns), X, columns) == expected
    assert from_json(model, X) == expected


@given(
    st.lists(conjunction, max_size=4), names, labels, threshold,
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_exports_of_a_dnf(formula, columns, labels, binarize, seed):
    rules = tuple(Rule(literals, 1.0, 1.0) for literals in formula)
    dnf = DNF(rules, *labels[:2], 1.0, N_FEATURES, columns, binarize)
    assert_exports_predict(dnf, samples(binarize, seed), columns)


@given(
    st.lists(st.tuples(conjunction, weight), max_size=4), weight, names, labels,
    threshold, st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_exports_of_an_ensemble(terms, intercept, columns, labels, binarize, seed):
    rules = tuple(Rule(literals, w, w) for literals, w in terms)
    ensemble = RuleEnsemble(
        rules, intercept, *labels[:2], 1.0, N_FEATURES, columns, binarize
    )
    assert_exports_predict(ensemble, samples(binarize, seed), columns)


@pytest.mark.parametrize("intercept", [-1.0, -0.75, -0.5, 0.0, 0.25])
def test_an_ensemble_predicts_its_label_where_the_sum_is_positive(intercept):
    rules = Rule(((0, True),), 1.0, 0.5), Rule(((1, True),), 1.0, 0.5)
    X = [[0, 0], [0, 1], [1, 1]]
    sums = [intercept, intercept + 0.5, intercept + 1.0]
    labels = RuleEnsemble(rules, intercept, "yes", "no", 1.0, 2).predict(X)
    assert labels.tolist() == ["yes" if total > 0 else "no" for total in sums]


@given(
    st.lists(
        st.tuples(weight, st.lists(st.tuples(conjunction, weight), max_size=3)),
        min_size=2, max_size=4,
    ),
    names, labels, st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_label_of_the_largest_sum(sums, columns, labels, seed):
    X = samples(None, seed)
    labels = [*labels, "the fourth"][: len(sums)]
    scores = np.array(
        [
            [
                intercept + sum(w for c, w in terms if all(row[j] == v for j, v in c))
                for intercept, terms in sums
            ]
            for row in X
        ]
    )
    expected = [labels[k] for k in scores.argmax(axis=1)]
    intercepts = np.array([intercept for intercept, _ in sums])
    pairs = [(k, *pair) for k, (_, terms) in enumerate(sums) for pair in terms]
    weights = np.zeros((len(sums), len(pairs)))
    for place, (output, _, w) in enumerate(pairs):
        weights[output, place] = w
    terms = [term for _, term, _ in pairs]
    if len(sums) == 2:  # one sum, the difference, decides between two labels
        weights, intercepts = weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]
    formula = WeightedSum(Columns(N_FEATURES), terms, weights, intercepts, labels)
    code = python_code(formula)
    assert [eval(code, {"x": row}) for row in X.tolist()] == expected
    assert in_sqlite(sql_code(formula, columns), X, columns) == expected


@settings(max_examples=20)
@given(names, labels, st.integers(2, 3), threshold, st.integers(0, 2**16))
@pytest.mark.filterwarnings("ignore:No rule gained")
def test_exports_of_a_classifier(columns, labels, n_classes, binarize, seed):
    rng = np.random.default_rng(seed)
    X = samples(binarize, seed)
    bits = X > (0.5 if binarize is None else binarize)
    codes = (bits[:, 0] & bits[:, 1]) + (n_classes - 2) * (bits[:, 2] & ~bits[:, 3])
    y = np.array(labels[:n_classes])[np.minimum(codes, n_classes - 1)]
    y[:n_classes] = labels[:n_classes]
    frame = pd.DataFrame(X, columns=columns)
    model = RuleClassifier(binarize=binarize, random_state=0, max_rules=3)
    model.fit(frame, y)
    new = pd.DataFrame(samples(binarize, rng.integers(2**32)), columns=columns)
    expected = model.predict(new).tolist()
    assert in_python(model, new.to_numpy(), columns) == expected
    assert in_sqlite(model.to_sql(), new.to_numpy(), columns) == expected
    assert from_json(model, new.to_numpy()) == expected


def test_labels_of_every_kind():
    X, y = table(60, 5)
    columns = list("abcde")
    for labels in ([False, True], [1.0, 2.0], ["no", "yes"], [-3, 7]):
        target = np.array(labels)[y.astype(int)]
        model = RuleClassifier(random_state=0).fit(X, target)
        assert from_json(model, X) == model.predict(X).tolist()
        assert in_python(model, X, columns) == model.predict(X).tolist()
        # SQL has no bool that all systems read: it is 1 or 0.
        sql = model.to_sql(columns)
        assert in_sqlite(sql, X, columns) == model.predict(X).tolist()


def test_null_satisfies_no_literal():
    rule = Rule(((0, False),), 1.0, 1.0)
    dnf = DNF((rule,), "yes", "no", 1.0, 1)
    X = np.array([[None], [0], [1]], dtype=object)
    assert in_sqlite(dnf.to_sql(), X, ["x0"]) == ["no", "yes", "no"]


def test_names_go_with_the_rules():
    X, y = table(90, 4)
    frame = pd.DataFrame(X.astype(bool), columns=list("abcd"))
    model = plain_perceptron(random_state=0).fit(frame, y)
    rules = top_conjunctions(model, 5)
    dnf = extract_dnf(model, frame, y, min_fidelity=0)
    classifier = RuleClassifier(random_state=0).fit(frame, y)
    for rule in [*rules, *dnf.rules, *dnf.simplify().rules, *classifier.rules_]:
        assert rule.to_text() == rule.to_text(list("abcd"))
        assert rule.to_sql() == rule.to_sql(list("abcd"))
        assert rule.to_text() in repr(rule)
    unnamed = extract_dnf(plain_perceptron(random_state=0).fit(X, y), frame, y)
    assert unnamed.rules[0].names is not None
    plain = Rule(((1, True),), 2.0, 1.0, label="yes")
    assert repr(plain) == "Rule(x1, label='yes', weight=2, contribution=1)"
    assert plain == Rule(((1, True),), 2.0, 1.0, label="yes", names=("b",))
    assert plain.to_sql() == 'CAST(f."x1" AS INTEGER) = 1'
    assert plain.to_python(list("abcd"), binarize=0.5) == "x['b'] > 0.5"


def test_list_of_rules_is_written():
    X, y = table(90, 4)
    frame = pd.DataFrame(X.astype(bool), columns=list("abcd"))
    rules = top_conjunctions(plain_perceptron(random_state=0).fit(frame, y), 4)
    lines = rules.to_text().splitlines()
    for line, rule in zip(lines, rules, strict=True):
        assert line.split("  ")[-1] == rule.to_text(list("abcd"))
        assert float(line.split()[0]) == pytest.approx(rule.weight, rel=1e-3)
    assert RuleList().to_text() == ""


def test_frames_have_a_row_for_each_rule(monkeypatch):
    X, y = table(90, 4)
    model = RuleClassifier(random_state=0).fit(X, y)
    frame = model.to_frame()
    assert frame["rule"].tolist() == [rule.to_text() for rule in model.rules_]
    assert frame["coverage"].tolist() == [rule.coverage for rule in model.rules_]
    assert frame["n_literals"].tolist() == [r.n_literals for r in model.rules_]
    svc = SVC(gamma=0.1).fit(X, y)
    dnf = extract_dnf(svc, X, y, min_fidelity=0)
    assert len(dnf.to_frame()) == len(dnf.rules)
    rules = top_conjunctions(SVC(gamma=0.1).fit(X, y), 3)
    assert rules.to_frame()["weight"].tolist() == [rule.weight for rule in rules]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        model.to_frame()


def test_notebooks_show_the_rules():
    X, y = table(90, 4)
    frame = pd.DataFrame(X, columns=["<a>", "b", "c", "d"])
    model = RuleClassifier(random_state=0)
    assert "text/html" in model._repr_mimebundle_()
    model.fit(frame, y)
    bundle = model._repr_mimebundle_()
    assert model.to_text() in bundle["text/plain"]
    for rule in model.rules_:
        shown = f"{rule.label} if {rule.to_text()}"
        for html in (bundle["text/html"], model._repr_html_()):
            assert escape(shown) in html
    rules = top_conjunctions(SVC(gamma=0.1).fit(X, y), 3)
    assert rules._repr_html_().count("<tr>") == 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "a"], "features 0 and 1 are both called 'a'"),
        (["a"], "1 names, but the rule uses feature 1"),
        (["", "b"], "'' cannot be the name of a column"),
        (["a\0", "b"], "cannot be the name of a column"),
    ],
)
def test_names_that_cannot_be_written(columns, message):
    literals = ((0, True), (1, False))
    rule = Rule(literals, 1.0, 1.0)
    dnf = DNF((rule,), 1, 0, 1.0, 2)
    ensemble = RuleEnsemble((rule,), 0.0, 1, 0, 1.0, 2)
    for one in (rule, dnf, ensemble):
        with pytest.raises(ValueError, match=message):
            one.to_sql(columns)
        if "column" not in message:
            with pytest.raises(ValueError, match=message):
                one.to_python(columns)


@pytest.mark.parametrize("label", ["a\0b", float("nan"), float("inf"), None, (1, 2)])
def test_labels_that_cannot_be_written(label):
    dnf = DNF((Rule(((0, True),), 1.0, 1.0),), label, 0, 1.0, 1)
    with pytest.raises(ValueError, match=r"[Tt]he label .*(NUL|code 0|finite number)"):
        dnf.to_sql()
    if label != "a\0b":
        with pytest.raises(ValueError, match="neither text nor a finite number"):
            dnf.to_dict()


def conjunction_models(columns, labels, binarize, seed):
    """Fitted models of two classes, of three, and of real targets, with new samples."""
    X, new = samples(binarize, seed), samples(binarize, seed + 1)
    bits = X > (0.5 if binarize is None else binarize)
    codes = (bits[:, 0] & bits[:, 1]) + (bits[:, 2] & ~bits[:, 3])
    frame, new = (pd.DataFrame(part, columns=columns) for part in (X, new))
    for n_classes in (2, 3):
        y = np.array(labels[:n_classes])[np.minimum(codes, n_classes - 1)]
        y[:n_classes] = labels[:n_classes]
        model = ConjunctionLogisticRegression(C=1.0, max_literals=2, binarize=binarize)
        yield model.fit(frame, y), new
    model = ConjunctionRegressor(C=1.0, max_literals=2, binarize=binarize)
    yield model.fit(frame, codes + 0.1 * bits[:, 3]), new


@settings(max_examples=8)
@given(names, labels, threshold, st.integers(0, 2**16))
def test_exports_of_conjunction_models(columns, labels, binarize, seed):
    for model, new in conjunction_models(columns, labels, binarize, seed):
        expected = model.predict(new)
        code = in_python(model, new.to_numpy(), columns)
        sql = in_sqlite(model.to_sql(), new.to_numpy(), columns)
        if hasattr(model, "classes_"):
            assert code == sql == expected.tolist()
        else:
            np.testing.assert_allclose(code, expected, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(sql, expected, rtol=1e-12, atol=1e-12)
        written = from_json(model, new.to_numpy())
        if hasattr(model, "classes_"):
            assert written == expected.tolist()
        else:
            np.testing.assert_allclose(written, expected, rtol=1e-12, atol=1e-12)
        assert len(model.to_frame()) == len(model.rules_)
        for rule in model.rules_:
            assert rule.names == tuple(columns[j] for j, _ in rule.literals)
            assert escape(rule.to_text()) in model._repr_html_()
