"""DNFs of models: their predictions, their text, and how they are simplified."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.kernels import counting_kernel, plain_perceptron
from oracles.rules import satisfies, table
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, OneClassSVM

from sklboolean.datasets import make_dnf, make_monks, make_tic_tac_toe
from sklboolean.rules import DNF, Rule, RuleEnsemble, extract_dnf, top_conjunctions
from sklboolean.rules._rule_set import _as_masks, implies

LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]

literal = st.tuples(st.integers(0, 4), st.booleans())
conjunction = st.dictionaries(st.integers(0, 4), st.booleans(), max_size=4).map(
    lambda values: tuple(sorted(values.items()))
)
conjunctions = st.lists(conjunction, max_size=5)
CUBE = np.array(list(product([0, 1], repeat=5)))


def truth(formula, rows=CUBE):
    return [any(satisfies(row, literals) for literals in formula) for row in rows]


def dnf_of(formula, **options):
    rules = tuple(Rule(literals, 1.0, 1.0) for literals in formula)
    return DNF(rules, "yes", "no", 1.0, 5, **options)


# Formulas


@given(conjunctions)
def test_predictions_text_and_code_are_the_formula(formula):
    dnf = dnf_of(formula)
    expected = ["yes" if holds else "no" for holds in truth(formula)]
    assert dnf.predict(CUBE).tolist() == expected
    assert dnf.predict(sparse.csr_array(CUBE)).tolist() == expected
    assert [eval(dnf.to_python(), {"x": row.tolist()}) for row in CUBE] == expected
    names = list("abcde")
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in CUBE]
    assert [eval(dnf.to_python(names), {"x": row}) for row in rows] == expected
    # The text is Python too, between "if" and "else".
    body = dnf.to_text(names).partition(" if\n")[2].rpartition("\nelse")[0]
    values = [eval(f"({body})", {}, row) for row in rows] if formula else [False] * 32
    assert list(map(bool, values)) == truth(formula)


@given(conjunction, conjunctions)
def test_implication_is_that_of_all_rows(literals, formula):
    where = [row for row in CUBE if satisfies(row, literals)]
    masks = [_as_masks(one) for one in formula]
    answer, n_steps = implies(_as_masks(literals), masks, 10**6)
    assert answer is all(truth(formula, where))
    assert implies(_as_masks(literals), masks, n_steps) == (answer, n_steps)
    if n_steps:
        assert implies(_as_masks(literals), masks, n_steps - 1)[0] is None


@given(conjunctions)
def test_simplified_formula_is_equivalent_and_nothing_is_left_to_drop(formula):
    simpler = dnf_of(formula).simplify()
    short = [rule.literals for rule in simpler.rules]
    assert truth(short) == truth(formula)
    for place, literals in enumerate(short):
        others = short[:place] + short[place + 1 :]
        assert truth(others) != truth(formula)
        for one in literals:
            shorter = tuple(other for other in literals if other != one)
            assert truth([*others, shorter]) != truth(formula)


@given(conjunctions, st.integers(0, 2**32 - 1))
def test_formula_simplified_on_rows_is_no_worse_on_them(formula, seed):
    rng = np.random.default_rng(seed)
    X = CUBE[rng.integers(0, 32, 12)]
    y = np.where(rng.random(12) < 0.5, "yes", "no")
    dnf = dnf_of(formula)
    same = dnf.simplify(X)
    assert same.predict(X).tolist() == dnf.predict(X).tolist()
    better = dnf.simplify(X, y)
    assert (better.predict(X) == y).mean() >= (dnf.predict(X) == y).mean()
    assert better.fidelity == (better.predict(X) == y).mean()
    for rule in better.rules:
        holds = np.array([satisfies(row, rule.literals) for row in X])
        assert rule.coverage == holds.sum()
        assert rule.precision * max(1, rule.coverage) == pytest.approx(
            (holds & (y == "yes")).sum()
        )


def test_simplify_resolves_and_absorbs():
    both = [((0, True), (1, True)), ((0, True), (1, False)), ((0, True), (2, True))]
    simpler = dnf_of(both).simplify()
    assert [rule.literals for rule in simpler.rules] == [((0, True),)]
    assert simpler.rules[0].weight is None
    with pytest.raises(ValueError, match="y was given without X"):
        dnf_of(both).simplify(y=[1])


def random_formula(n_rules, n_features, n_literals, seed=0):
    rng = np.random.default_rng(seed)
    return [
        tuple(
            (int(j), bool(rng.integers(2)))
            for j in sorted(rng.choice(n_features, n_literals, replace=False))
        )
        for _ in range(n_rules)
    ]


def test_many_rules_work_everywhere():
    formula = random_formula(1000, 24, 4)
    rules = tuple(Rule(literals, 1.0, 1.0) for literals in formula)
    dnf = DNF(rules, "yes", "no", 1.0, 24)
    X = np.random.default_rng(1).integers(0, 2, (100, 24))
    expected = np.array(truth(formula, X))
    assert (dnf.predict(X) == np.where(expected, "yes", "no")).all()
    assert (dnf.predict(sparse.csr_array(X)) == dnf.predict(X)).all()
    code = compile(dnf.to_python(), "dnf", "eval")
    assert [eval(code, {"x": row}) for row in X.tolist()] == dnf.predict(X).tolist()
    assert len(dnf.to_text().splitlines()) == 1002
    assert dnf._repr_html_().count("<tr>") == 1002
    on_samples = dnf.simplify(X)
    assert len(on_samples.rules) < 100
    assert (on_samples.predict(X) == dnf.predict(X)).all()
    simpler = dnf.simplify(max_steps=10**8)
    assert 0 < len(simpler.rules) <= 1000
    assert (simpler.predict(X) == dnf.predict(X)).all()
    votes = RuleEnsemble(rules, -1.5, "yes", "no", 1.0, 24)
    code = compile(votes.to_python(), "votes", "eval")
    assert [eval(code, {"x": row}) for row in X.tolist()] == votes.predict(X).tolist()


def test_simplify_of_many_rules_over_few_features_is_quick():
    formula = random_formula(60, 14, 5)
    dnf = DNF(tuple(Rule(one, 1.0, 1.0) for one in formula), 1, 0, 1.0, 14)
    simpler = dnf.simplify()
    cube = np.array(list(product([0, 1], repeat=14)))
    assert (simpler.predict(cube) == dnf.predict(cube)).all()


def test_simplify_stops_at_its_limit_and_says_so():
    formula = random_formula(60, 14, 5)
    dnf = DNF(tuple(Rule(one, 1.0, 1.0) for one in formula), 1, 0, 1.0, 14)
    with pytest.warns(UserWarning, match=r"max_steps=5000 was too small for \d+ tests"):
        partly = dnf.simplify(max_steps=5000)
    cube = np.array(list(product([0, 1], repeat=14)))
    assert (partly.predict(cube) == dnf.predict(cube)).all()
    assert len(dnf.simplify().rules) <= len(partly.rules)
    with pytest.raises(ValueError, match="max_steps == 0"):
        dnf.simplify(max_steps=0)


def test_a_contradiction_implies_everything_and_is_dropped():
    dnf = DNF((Rule(((0, True), (0, False)), 1.0, 1.0),), 1, 0, 1.0, 2)
    assert dnf.simplify().rules == ()
    assert implies((1, 1), [], 10) == (True, 0)


def test_plus_and_minus_one_are_compared_in_code():
    dnf = dnf_of([((0, True), (1, False))], binarize=0.0)
    assert eval(dnf.to_python(), {"x": [1, -1, 1, 1, 1]}) == "yes"
    assert eval(dnf.to_python(), {"x": [1, 1, 1, 1, 1]}) == "no"
    assert dnf.predict([[1, -1, 1, 1, 1]]) == ["yes"]
    with pytest.raises(ValueError, match="Column 1 of X holds -1"):
        dnf_of([]).predict([[1, -1, 1, 1, 1]])
    with pytest.raises(ValueError, match="X has 2 features, but the rules"):
        dnf.predict([[1, 1]])


def test_html_escapes_names():
    dnf = dnf_of([((0, True),), ((1, False),)], feature_names=["<a>", "b&", *"cde"])
    html = dnf._repr_html_()
    assert "&lt;a&gt;" in html
    assert "or not b&amp;" in html
    assert dnf_of([]).to_text() == "always no"
    assert "else no" in dnf_of([])._repr_html_()


# From models


@pytest.mark.parametrize(
    ("model", "is_sparse"),
    [
        (plain_perceptron(random_state=0), False),
        (SVC(gamma=0.1, C=10), True),
        (SVC(kernel="poly"), False),
    ],
    ids=repr,
)
def test_tic_tac_toe_is_the_eight_lines(model, is_sparse):
    data = make_tic_tac_toe()
    X = sparse.csr_array(data.data, dtype=float) if is_sparse else data.data
    model.fit(X, data.target)
    dnf = extract_dnf(model, X, data.target, monotone=True)
    names = data.feature_names
    squares = [name.partition("=")[0] for name in names[::3]]
    expected = {" and ".join(f"{squares[int(j)]}=x" for j in line) for line in LINES}
    assert {rule.to_text(names) for rule in dnf.rules} == expected
    assert dnf.fidelity == 1
    assert (dnf.predict(X) == data.target).all()
    weights = {r.literals: r for r in top_conjunctions(model, 8, max_literals=3, X=X)}
    for rule in dnf.rules:
        if rule.literals in weights:
            assert rule.weight == weights[rule.literals].weight
        assert rule.precision == 1


@pytest.mark.parametrize("seed", range(3))
def test_noisy_planted_terms_are_found(seed):
    X, y, terms = make_dnf(
        2000, 60, n_terms=5, n_literals=3, noise=0.04, correlation=0.5,
        positive_fraction=0.5, random_state=seed,
    )  # fmt: skip
    model = plain_perceptron(random_state=0).fit(X, y)
    dnf = extract_dnf(model, X, y)
    assert {rule.literals for rule in dnf.rules} == set(terms)
    assert model.score(X, y) > 0.99, "the model fitted the noise, the rules did not"


def test_monks_2_has_no_short_dnf():
    data = make_monks(2)
    model = plain_perceptron(max_literals=2, random_state=0)
    model.fit(data.data, data.target)
    vote = extract_dnf(model, data.data, feature_groups=data.feature_groups)
    assert isinstance(vote, RuleEnsemble)
    assert not vote.is_dnf
    assert vote.fidelity == 1
    predicted = vote.predict(data.data)
    assert (predicted == model.predict(data.data)).all()
    code = compile(vote.to_python(), "vote", "eval")
    rows = np.asarray(data.data).tolist()
    assert [eval(code, {"x": row}) for row in rows] == predicted.tolist()
    assert len(vote.to_text(data.feature_names).splitlines()) == len(vote.rules) + 2
    assert "fidelity 1.000" in vote._repr_html_()
    dnf = extract_dnf(model, data.data, min_fidelity=0)
    assert dnf.is_dnf
    assert dnf.fidelity == (dnf.predict(data.data) == predicted).mean()


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel=counting_kernel(max_literals=2, monotone=True)),
        LogisticRegression(),
        OneClassSVM(gamma=0.1),
        SVC(kernel="precomputed"),
    ],
    ids=repr,
)
def test_many_models(model):
    X, y = table(80, 6)
    kernel, seen = None, X
    if getattr(model, "kernel", None) == "precomputed":
        kernel = counting_kernel(max_literals=2, monotone=True)
        seen = kernel(X, X)
    model.fit(seen, y)
    result = extract_dnf(model, X, kernel=kernel, min_fidelity=0)
    predicted = result.predict(X)
    assert result.fidelity == pytest.approx((predicted == model.predict(seen)).mean())
    assert result.rules
    assert result.fidelity > 0.6
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result


def test_regressors_need_labels():
    X, y = table(80, 6)
    model = KernelRidge(kernel="rbf", gamma=0.1).fit(X, y)
    with pytest.raises(ValueError, match="KernelRidge predicts no classes: give y"):
        extract_dnf(model, X)
    dnf = extract_dnf(model, X, model.predict(X) > 0.5, min_fidelity=0)
    assert dnf.predict(X).dtype == bool


def test_one_class_of_several():
    X, y = table(90, 6)
    y = np.array(["c", "a", "b"])[y + (X[:, 4] > 0)]
    model = plain_perceptron(random_state=0).fit(X, y)
    dnf = extract_dnf(model, X, target="a", min_fidelity=0)
    assert {dnf.label, dnf.default} == {False, True}
    assert dnf.fidelity == (dnf.predict(X) == (model.predict(X) == "a")).mean()
    with pytest.raises(ValueError, match="give target"):
        extract_dnf(model, X)


def test_target_of_two_classes_turns_nothing_round():
    X, y = table(90, 6)
    model = SVC(gamma=0.1).fit(X, y)
    one, other = (extract_dnf(model, X, target=k, min_fidelity=0) for k in (0, 1))
    assert (one.predict(X) == other.predict(X)).all()


def test_names_and_signs_of_the_rows():
    X, y = table(90, 4)
    frame = pd.DataFrame(X.astype(bool), columns=list("abcd"))
    model = plain_perceptron(random_state=0).fit(frame, y)
    dnf = extract_dnf(model, frame)
    assert dnf.feature_names == list("abcd")
    assert dnf.binarize is None
    signs = 2 * X - 1
    model = SVC(gamma=0.1).fit(signs, y)
    dnf = extract_dnf(model, signs, min_fidelity=0)
    assert dnf.binarize == 0
    assert [eval(dnf.to_python(), {"x": row}) for row in signs.tolist()] == list(
        dnf.predict(signs)
    )


def test_limits_hold():
    X, y = table(90, 6)
    model = plain_perceptron(random_state=0).fit(X, y)
    groups = list("aabbcc")
    dnf = extract_dnf(
        model, X, max_rules=2, max_literals=2, feature_groups=groups, min_fidelity=0,
        width=None, time_limit=20.0,
    )  # fmt: skip
    assert len(dnf.rules) <= 2
    for rule in dnf.rules:
        assert len({j // 2 for j, _ in rule.literals}) == len(rule.literals) <= 2
    positive = extract_dnf(model, X, monotone=True, min_fidelity=0)
    assert all(value for rule in positive.rules for _, value in rule.literals)
    hurried = extract_dnf(model, X, time_limit=1e-6, min_fidelity=0)
    assert len(hurried.rules) <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": 0}, "penalty must be greater than 0"),
        ({"penalty": ()}, "penalty is empty"),
        ({"literal_cost": ()}, "literal_cost is empty"),
        ({"literal_cost": -1}, "literal_cost must be at least 0"),
        ({"max_rules": 0}, "max_rules"),
        ({"monotone": None}, "monotone must be one of"),
        ({"width": 0}, "width"),
        ({"time_limit": 0}, "time_limit must be greater"),
        ({"feature_groups": [1]}, "one label for each of 4 features"),
        ({"min_fidelity": -1}, "min_fidelity"),
        ({"y": [0, 1]}, "inconsistent numbers of samples"),
        ({"y": np.full(40, 7)}, "7, which is not among the classes"),
    ],
)
def test_bad_parameters(options, message):
    X, y = table()
    model = SVC(gamma=0.1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        extract_dnf(model, X, **options)
    with pytest.raises(ValueError, match="X has 2 features, but the model has 4"):
        extract_dnf(model, X[:, :2])
