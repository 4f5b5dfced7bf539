"""Least changes: equal to trying every change, on every kind of model."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from formula_models import (
    FormulaModel,
    random_formula,
    random_frame,
    random_terms,
    transformer_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanGaussianProcessClassifier,
    BooleanStump,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    KernelPerceptron,
    RuleClassifier,
)
from sklboolean._core.formula import Columns, FirstRule, WeightedSum
from sklboolean.inspection import (
    _formula_changes,
    _least_changes,
    _ordered_changes,
    counterfactuals,
    robustness,
)
from sklboolean.inspection._legal_states import sums_for
from sklboolean.inspection._ordered_changes import cheapest_changes
from sklboolean.rules import extract_dnf

FLAT = {"a": 0.5, "b": 2.25, "c": 1.75}  # costs of levels


def interval_of(value, thresholds):
    """Number the interval of a value; None for a missing value."""
    return None if pd.isna(value) else int(np.sum(value > thresholds))


def legal_values(encoder, column, old):
    """Values in other intervals, or other levels, each with the share it passes."""
    thresholds, kind = encoder.thresholds_[column], encoder.kinds_[column]
    if kind == "category":
        return [(level, 0.0) for level in encoder.categories_[column] if level != old]
    if kind == "boolean":
        return [(value, 0.0) for value in (0.0, 1.0) if value != old]
    place, found = interval_of(old, thresholds), []
    numbers = encoder._formula()[column].representatives
    assert len(numbers) == len(thresholds) + 1
    for k, value in enumerate(numbers.tolist()):
        assert interval_of(value, thresholds) == k
        share = 0 if place is None else abs(k - place) / max(1, len(thresholds))
        if k != place:
            found.append((value, share))
    return found


def every_change(encoder, row, costs, immutable, directions, max_changes=None):
    """Yield changed rows, with the columns that were changed and the cost."""
    options = []
    for j, (name, old) in enumerate(row.items()):
        legal, cost = legal_values(encoder, j, old), costs.get(name, 1.0)
        direction = directions.get(name)
        choices = [(old, 0.0)]
        for value, share in legal:
            is_refused = name in immutable or (
                direction and (pd.isna(old) or (value > old) != (direction == "up"))
            )
            if callable(cost):
                own = cost(old, value)
            else:
                own = cost * (1 + share / len(row))
            if not is_refused:
                choices.append((value, own))
        options.append(choices)
    for choice in product(*options):
        changed = np.array([cost > 0 for _, cost in choice])
        if max_changes is not None and changed.sum() > max_changes:
            continue
        yield [value for value, _ in choice], changed, sum(cost for _, cost in choice)


def check_by_trying(
    encoder, model, frame, X, is_wanted, options, target=None, known=None
):
    """Compare with the cheapest of all changes; return the answers.

    The encoder ``known`` has the legal values; None: the one of the pipeline. Without
    an encoder the model takes the columns as they are.
    """
    pipeline = model if encoder is None else make_pipeline(encoder, model)
    own = None if encoder else known
    known = known or encoder
    found = counterfactuals(pipeline, X, target, n=2, encoder=own, **options)
    assert found.is_proved.all()
    predictions = pipeline.predict(X)
    for sample in range(len(X)):
        row = dict(zip(X.columns, X.to_numpy(object)[sample], strict=True))
        rows, changed, costs = zip(*every_change(known, row, **options), strict=True)
        rows = pd.DataFrame(list(rows), columns=X.columns).astype(frame.dtypes)
        labels = pipeline.predict(rows)
        wanted = np.array([is_wanted(label, predictions[sample]) for label in labels])
        changed, costs = np.array(changed), np.where(wanted, costs, np.inf)
        answers = np.flatnonzero(found.samples == sample)
        for answer in answers:
            assert found.costs[answer] == pytest.approx(costs.min(), abs=1e-8)
            is_superset = (changed >= found.changed[answer]).all(axis=1)
            assert np.isfinite(costs[is_superset]).any()
            costs[is_superset] = np.inf
        if len(answers) < 2:
            assert costs.min(initial=np.inf) == np.inf
        for answer in answers:
            assert is_wanted(found.predictions[answer], predictions[sample])
            new, old = found.values.iloc[answer], X.iloc[sample]
            kept = ~found.changed[answer]
            pd.testing.assert_series_equal(
                new[kept].astype(object), old[kept].astype(object), check_names=False
            )
    return found


@pytest.mark.filterwarnings("ignore:Column .* has the same value")
@given(st.integers(0, 2**32 - 1))
def test_changes_are_the_cheapest_of_all(seed):
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 12)
    try:
        encoder = BooleanEncoder(n_bins=3).fit(frame)
    except ValueError:  # all columns are constant
        return
    model = FormulaModel(random_formula(rng, len(encoder.get_feature_names_out())))
    options = {"costs": {}, "immutable": [], "directions": {}}
    for name, kind in zip(frame.columns, encoder.kinds_, strict=True):
        if rng.random() < 0.5:
            options["costs"][name] = float(rng.uniform(0.5, 4))
        if kind == "category" and rng.random() < 0.5:
            options["costs"][name] = lambda old, new: FLAT[new] + 0.1 * (old == "a")
        if rng.random() < 0.15:
            options["immutable"].append(name)
        if kind != "category" and rng.random() < 0.2:
            options["directions"][name] = str(rng.choice(["up", "down"]))
    if rng.random() < 0.3:
        options["max_changes"] = int(rng.integers(1, 4))
    # By the formula, and as if it were any other model.
    for most_cells in (_formula_changes.MOST_CELLS, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_formula_changes, "MOST_CELLS", most_cells)
            patch.setattr(_ordered_changes, "FIRST_SETS", 20)
            patch.setattr(_ordered_changes, "MOST_AT_ONCE", 60)
            check_by_trying(
                encoder, model, frame, frame[:2], lambda new, old: new != old, options
            )


@given(st.integers(0, 2**32 - 1))
def test_sets_of_changes_come_in_the_order_of_their_costs(seed):
    rng = np.random.default_rng(seed)
    costs = [rng.integers(1, 5, rng.integers(0, 4)) / 2 for _ in range(4)]
    costs = [np.where(rng.random(len(c)) < 0.2, np.inf, c) for c in costs]

    def total_of(choice):
        return sum(c[k - 1] for c, k in zip(costs, choice, strict=True) if k)

    expected = sorted(
        total
        for choice in product(*[range(len(c) + 1) for c in costs])
        if np.isfinite(total := total_of(choice))
    )
    totals, choices = cheapest_changes(costs, 1000)
    assert totals.tolist() == expected
    assert len(np.unique(choices, axis=0)) == len(expected)
    for total, choice in zip(totals, choices, strict=True):
        assert total_of(choice) == total
    n_sets = int(rng.integers(1, len(expected) + 2))
    some, some_choices = cheapest_changes(costs, n_sets)
    assert some.tolist() == expected[:n_sets]
    np.testing.assert_array_equal(some_choices, choices[:n_sets])


@pytest.mark.filterwarnings("ignore:Column .* has the same value")
@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_changes_of_the_columns_before_a_column_transformer(seed):
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 12)
    try:
        encoder = transformer_of(rng, frame).fit(frame)
    except ValueError:  # all columns are constant
        return
    known = BooleanEncoder(n_bins=3, kinds={"bit": "boolean"}).fit(frame)
    model = FormulaModel(random_formula(rng, len(encoder.get_feature_names_out())))
    options = {"costs": {"bit": 1.25}, "immutable": [], "directions": {}}
    options["directions"] = {"bit": "up"} if seed % 3 == 0 else {}
    found = check_by_trying(
        encoder, model, frame, frame[:2], lambda a, b: a != b, options, known=known
    )
    # The columns are found by their names, and others do not matter.
    shuffled = frame[:2][rng.permutation(frame.columns)].assign(other="x")
    pipeline = make_pipeline(encoder, model)
    again = counterfactuals(pipeline, shuffled, n=2, **options)
    assert again.column_names == list(frame.columns)
    pd.testing.assert_frame_equal(again.values, found.values)
    np.testing.assert_array_equal(again.costs, found.costs)


def test_a_column_of_two_encoders_is_refused():
    frame = pd.DataFrame({"a": [1.0, 2, 3] * 9, "b": [0, 1, 1] * 9})
    parts = [("a", BooleanEncoder(), ["a"]), ("both", BooleanEncoder(), ["a", "b"])]
    pipeline = make_pipeline(ColumnTransformer(parts), BooleanStump())
    pipeline.fit(frame, frame["b"])
    with pytest.raises(ValueError, match="gives each column to one encoder"):
        counterfactuals(pipeline, frame)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_search_of_many_terms_is_exact(seed):
    rng = np.random.default_rng(seed)
    terms = random_terms(rng, 8, 40)
    n_outputs = int(rng.choice([1, 3]))
    formula = WeightedSum(
        Columns(8), terms, rng.normal(size=(n_outputs, 40)),
        rng.normal(size=n_outputs), [0, 1, 2][: max(2, n_outputs)],
        has_probabilities=False,
    )  # fmt: skip
    model, cost = FormulaModel(formula), rng.uniform(0.5, 3, 8)
    bits = np.array(list(product([0, 1], repeat=8)))
    predictions = model.predict(bits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_least_changes, "MOST_OPENED", 2)
        costs = {f"x{j}": c for j, c in enumerate(cost)}
        found = counterfactuals(model, bits[:1], costs=costs)
        n_changes = robustness(model, bits[:1])
        assert robustness(model, bits[:1], time_limit=0.0) <= n_changes
    is_other = predictions != predictions[0]
    least = np.where(is_other, bits @ cost, np.inf).min()
    assert found.costs.min(initial=np.inf) == pytest.approx(least)
    assert n_changes == np.where(is_other, bits.sum(axis=1), np.inf).min()


def test_changes_that_violate_the_same_term():
    terms = [((0, True),), ((1, True),), ((0, False), (1, False))]
    weights, intercepts = np.array([[1.0, 1.0, 0.8]]), np.array([-1.9])
    formula = WeightedSum(
        Columns(2), terms, weights, intercepts, [0, 1], has_probabilities=False
    )
    found = counterfactuals(FormulaModel(formula), [[0, 0]])
    assert found.changed.tolist() == [[True, True]]


@given(st.integers(0, 2**32 - 1))
def test_sums_say_what_is_predicted(seed):
    rng = np.random.default_rng(seed)
    formula = random_formula(rng, 5)
    bits = np.array(list(product([False, True], repeat=5)))
    predictions = formula.predict(bits)
    for target in formula.classes:
        weights, intercepts, slack = sums_for(formula, target)
        sums = formula.satisfied(bits) @ weights.T + intercepts
        is_sure = (np.abs(sums) > slack).all(axis=1)
        says = (sums > 0).all(axis=1)
        np.testing.assert_array_equal(says[is_sure], (predictions == target)[is_sure])
        if isinstance(formula, FirstRule):
            assert is_sure.all()


WINE = load_wine(return_X_y=True, as_frame=True)
WINE = WINE[0].iloc[:, [0, 6, 9, 12]], WINE[1].map({0: "a", 1: "b", 2: "c"})
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
TWO = WINE[0][WINE[1] != "c"], WINE[1][WINE[1] != "c"]


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (ConjunctionLogisticRegression(C=1.0, random_state=0), TWO),
        (ConjunctionLogisticRegression(C=1.0, random_state=0), WINE),
        (AveragedPerceptron(random_state=0), WINE),
        (BoostByMajority(n_estimators=7, random_state=0), TWO),
        (BoostByMajority(n_estimators=7, multi_class="ovr", random_state=0), WINE),
        (RuleClassifier(random_state=0), WINE),
        (BooleanStump(), TWO),
    ],
)
def test_changes_of_our_models(model, data):
    X, y = data
    encoder = BooleanEncoder(n_bins=4)
    model.fit(encoder.fit_transform(X, y), y)
    options = {"costs": {"proline": 1.5}, "immutable": [], "directions": {}}
    samples = X.iloc[[0, 40, 80, -1]]
    found = check_by_trying(
        encoder, model, X, samples, lambda new, old: new != old, options
    )
    assert len(found.samples) >= 4
    pipeline = make_pipeline(encoder, model)
    n_changes = robustness(pipeline, samples)
    expected = []
    for row in samples.to_dict("records"):
        options = {"costs": {}, "immutable": [], "directions": {}}
        rows, changed, _ = zip(*every_change(encoder, row, **options), strict=True)
        labels = pipeline.predict(pd.DataFrame(list(rows), columns=X.columns))
        sizes = np.sum(changed, axis=1)
        expected.append(min(sizes[labels != labels[0]], default=np.inf))
    assert n_changes.tolist() == expected


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (HistGradientBoostingClassifier(max_iter=9, min_samples_leaf=5), TWO),
        (BooleanGaussianProcessClassifier(random_state=0), WINE),
        (BoostByMajority(n_estimators=7, multi_class="ovo", random_state=0), WINE),
        (BoostByMajority(TREE, n_estimators=3, random_state=0), TWO),
    ],
)
def test_changes_of_any_model(model, data):
    X, y = data
    encoder = BooleanEncoder(n_bins=3)
    model.fit(encoder.fit_transform(X), y)
    options = {"costs": {"proline": 1.5}, "immutable": [], "directions": {}}
    samples = X.iloc[[0, 80]]
    found = check_by_trying(
        encoder, model, X, samples, lambda new, old: new != old, options
    )
    pipeline = make_pipeline(encoder, model)
    least = found.changed.sum(axis=1)[found.samples.searchsorted([0, 1])]
    assert (robustness(pipeline, samples) <= least).all()


def test_an_encoder_tells_the_legal_values_of_other_columns():
    X, y = WINE
    known = BooleanEncoder(n_bins=4).fit(X)
    options = {"costs": {}, "immutable": ["alcohol"], "directions": {"proline": "up"}}
    scaled = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0))
    for model in (DecisionTreeClassifier(random_state=0), scaled):
        found = check_by_trying(
            None, model.fit(X, y), X, X.iloc[[0, 80, 150]],
            lambda new, _: new == "b", options, "b", known,
        )  # fmt: skip
        assert found.column_names == list(X.columns)
        # An array of the same numbers.
        bare = BooleanEncoder(n_bins=4).fit(X.to_numpy())
        model.fit(X.to_numpy(), y)
        again = counterfactuals(model, X.to_numpy()[[0, 80]], "b", encoder=bare)
        assert (again.predictions == "b").all()
    tree, target = DecisionTreeRegressor(random_state=0), X["proline"]
    found = check_by_trying(
        None, tree.fit(X, target), X, X.iloc[[0, 80]],
        lambda new, _: new >= 700, options, (700, np.inf), known,
    )  # fmt: skip
    assert len(found.samples) >= 2


def test_models_whose_legal_values_are_unknown():
    X, y = WINE
    tree, encoder = DecisionTreeClassifier().fit(X, y), BooleanEncoder().fit(X)
    with pytest.raises(ValueError, match=r"DecisionTreeClassifier .* Give encoder"):
        counterfactuals(tree, X.head(1))
    with pytest.raises(ValueError, match="give encoder, for example BooleanEncoder"):
        counterfactuals(tree, X.head(1), encoder=StandardScaler().fit(X))
    with pytest.raises(ValueError, match="max_changes == 0"):
        counterfactuals(tree, X.head(1), encoder=encoder, max_changes=0)
    columns = ColumnTransformer([("all", BooleanEncoder(), list(X)[::-1])]).fit(X)
    assert counterfactuals(tree, X.head(1), encoder=columns).is_proved.all()
    turned = columns.fit(X[list(X)[::-1]])
    with pytest.raises(ValueError, match="Fit it on the columns of the model"):
        counterfactuals(tree, X.head(1), encoder=turned)
    two = LinearRegression().fit(X, np.column_stack([X["proline"], X["alcohol"]]))
    with pytest.raises(ValueError, match="predicts several outputs"):
        counterfactuals(two, X.head(1), (0, 1), encoder=encoder)
    tree.classes_ = np.array(["a", "b", "x"])  # predictions that are no classes
    tree.predict = lambda X: np.full(len(X), "c")
    with pytest.raises(ValueError, match=r"predicts \['c'\], which are not among"):
        counterfactuals(tree, X.head(1), encoder=encoder)


def test_target_of_several_classes():
    X, y = WINE
    encoder = BooleanEncoder(n_bins=4)
    model = AveragedPerceptron(random_state=0).fit(encoder.fit_transform(X, y), y)
    options = {"costs": {}, "immutable": ["proline"], "directions": {"alcohol": "up"}}
    check_by_trying(
        encoder, model, X, X.iloc[[0, 70, 150]], lambda new, _: new == "b", options, "b"
    )


def test_target_of_a_regressor():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X, y = X.iloc[:150, :4], y.iloc[:150]
    encoder = BooleanEncoder(n_bins=3)
    model = ConjunctionRegressor(C=1.0, random_state=0)
    model.fit(encoder.fit_transform(X, y), y)
    low, high = np.quantile(model.predict(encoder.transform(X)), [0.6, 0.7])
    options = {"costs": {}, "immutable": [], "directions": {}}
    for target in ((low, high), (-np.inf, low), (1e9, np.inf)):
        found = check_by_trying(
            encoder, model, X, X.iloc[:3],
            lambda new, _, target=target: target[0] <= new <= target[1],
            options, target,
        )  # fmt: skip
        assert bool(len(found.samples)) == (target[0] < 1e9)
    pipeline = make_pipeline(encoder, model)
    with pytest.raises(ValueError, match=r"target must be \(low, high\)"):
        counterfactuals(pipeline, X.head(1))
    for infinite in (np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"target must be \(low, high\)"):
            counterfactuals(pipeline, X.head(1), (infinite, infinite))
    with pytest.raises(ValueError, match=r"target must be \(low, high\)"):
        counterfactuals(pipeline, X.head(1), ("a", "b"))
    with pytest.raises(ValueError, match="robustness needs a classifier"):
        robustness(pipeline, X.head(1))


def bits_and_labels(n_features=8):
    X = np.random.default_rng(0).integers(0, 2, (80, n_features))
    return X, (X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3]).astype(int)


def test_plain_features_turn_one_by_one():
    X, y = bits_and_labels()
    model = ConjunctionLogisticRegression(C=10.0, random_state=0).fit(X, y)
    dnf = extract_dnf(KernelPerceptron(max_literals=2, random_state=0).fit(X, y), X)
    for reader in (model, dnf):
        sizes = np.array(list(product([0, 1], repeat=8)))
        for sample in X[:5]:
            other = reader.predict(sizes) != reader.predict([sample])[0]
            least = (sizes != sample).sum(axis=1)[other].min()
            found = counterfactuals(reader, [sample.tolist()])
            assert found.costs.tolist() == [least]
            assert robustness(reader, sample[None]).tolist() == [least]
            assert (found.values != sample).sum() == least
            assert found.values.dtype.kind in "if"


def test_units_of_the_data_are_kept():
    frame = pd.DataFrame(
        {
            "age": [20, 30, 40, 50] * 6,
            "job": pd.Categorical(["a", "b", "c", "b"] * 6),
            "is ill": [True, False, False, True] * 6,
            "income": [1.5, np.nan, 2.5, 3.5] * 6,
        },
        index=[f"row {k}" for k in range(24)],
    )
    y = (frame["age"] > 35) ^ frame["is ill"]
    model = make_pipeline(
        BooleanEncoder(n_bins=4), ConjunctionLogisticRegression(C=10.0, random_state=0)
    ).fit(frame, y)
    before = frame.copy()
    found = counterfactuals(model, frame, n=2)
    pd.testing.assert_frame_equal(frame, before)
    assert found.values.dtypes.tolist() == frame.dtypes.tolist()
    lines = found.to_frame()
    assert lines.columns.tolist()[:5] == ["sample", "number", "column", "old", "new"]
    assert len(lines) == found.changed.sum()
    first = lines.iloc[0]
    assert first["new"] == found.values.iloc[0][first["column"]]
    assert first["old"] == frame.iloc[0][first["column"]]
    text = str(found).split("\n")
    assert len(text) == len(found.samples)
    assert text[0].startswith(f"sample 0: {found.predictions[0]} with ")
    assert f"{first['column']} {first['new']}" in text[0]
    series = counterfactuals(model, frame.iloc[1])
    assert series.samples.tolist() == [0]
    bits = model[0].transform(frame).to_numpy()
    array = counterfactuals(AveragedPerceptron(random_state=0).fit(bits, y), bits[:2])
    assert array.values.dtype == bool


def test_time_limit_is_told():
    rng = np.random.default_rng(0)
    terms = [
        tuple((int(j), bool(rng.integers(2))) for j in rng.choice(60, 4, replace=False))
        for _ in range(300)
    ]
    weights = rng.normal(size=(1, 300))
    formula = WeightedSum(
        Columns(60), terms, weights, np.array([-8.0]), [0, 1], has_probabilities=False
    )
    model, X = FormulaModel(formula), rng.integers(0, 2, (2, 60))
    found = counterfactuals(model, X, 1, time_limit=0.0)
    assert not found.is_proved.any()
    proved = robustness(model, X, time_limit=1.0)
    assert ((proved >= 1) & np.isfinite(proved)).all()


def test_bounds_say_how_far_the_order_has_come(monkeypatch):
    monkeypatch.setattr(_formula_changes, "MOST_CELLS", -1)
    # All of 12 features must change.
    formula = WeightedSum(
        Columns(12), [tuple((j, True) for j in range(12))], np.ones((1, 1)),
        np.array([-0.5]), [0, 1], has_probabilities=False,
    )  # fmt: skip
    model, X = FormulaModel(formula), np.zeros((1, 12))
    assert counterfactuals(model, X).costs == [12]
    found = counterfactuals(model, X, max_changes=3)
    assert found.is_proved.all()
    assert len(found.samples) == 0
    assert robustness(model, X, time_limit=0.0) == [3]  # 256 sets have at most 3
    found = counterfactuals(model, X, time_limit=0.0)
    assert found.bounds == [3]
    assert found.to_text() == "sample 0: none was found in the time; it costs 3 or more"
    monkeypatch.setattr(_ordered_changes, "MOST_CHOICES", 12 * 256)
    assert counterfactuals(model, X, time_limit=None).bounds == [3]


def test_wanted_prediction_needs_no_change():
    X, y = bits_and_labels()
    model = ConjunctionLogisticRegression(C=10.0, random_state=0).fit(X, y)
    found = counterfactuals(model, X[:10], target=1, n=3)
    is_one = model.predict(X[:10]) == 1
    assert (found.costs[np.isin(found.samples, np.flatnonzero(is_one))] == 0).all()
    assert "no change" in found.to_text()
    constant = FormulaModel(FirstRule(Columns(8), [], [], 0, [0, 1], np.eye(2)[:1]))
    assert robustness(constant, X[:2]).tolist() == [np.inf, np.inf]
    found = counterfactuals(constant, X[:2])
    assert found.is_proved.all()
    assert len(found.values) == len(found.samples) == 0
    assert found.to_text().splitlines() == [
        f"sample {k}: no allowed change turns the prediction" for k in range(2)
    ]
    assert repr(found) == found.to_text()
    assert len(found.to_frame()) == 0


def test_errors_name_the_argument():
    X, y = WINE
    model = make_pipeline(BooleanEncoder(n_bins=3), AveragedPerceptron(random_state=0))
    model.fit(X, y)
    none = counterfactuals(model, X[:1], immutable=list(X))
    assert [*none.to_frame()] == [*counterfactuals(model, X[:1]).to_frame()]
    for argument, value in {
        "immutable": "proline", "costs": 3, "directions": ["proline"]
    }.items():  # fmt: skip
        with pytest.raises(ValueError, match=f"{argument} must be a "):
            counterfactuals(model, X, **{argument: value})
    with pytest.raises(NotFittedError):
        counterfactuals(AveragedPerceptron(), X)
    with pytest.raises(ValueError, match="model must be a classifier"):
        counterfactuals(model[0], X)
    with pytest.raises(ValueError, match="immutable names 'size'"):
        counterfactuals(model, X, immutable=["size"])
    with pytest.raises(ValueError, match="costs names 'size'"):
        counterfactuals(model, X, costs={"size": 1})
    with pytest.raises(ValueError, match=r"costs\['proline'\]"):
        counterfactuals(model, X, costs={"proline": 0})
    with pytest.raises(ValueError, match=r"costs\['proline'\] of the old value"):
        counterfactuals(model, X, costs={"proline": lambda old, new: -1})
    with pytest.raises(ValueError, match=r"directions\['proline'\]"):
        counterfactuals(model, X, directions={"proline": "left"})
    with pytest.raises(ValueError, match="target must be one of"):
        counterfactuals(model, X, "d")
    with pytest.raises(ValueError, match="time_limit must be at least"):
        counterfactuals(model, X, time_limit=-1.0)
    with pytest.raises(ValueError, match="n == 0"):
        counterfactuals(model, X, n=0)
    scaled = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0))
    with pytest.raises(ValueError, match="before a BooleanEncoder"):
        counterfactuals(scaled.fit(X, y), X)
    X, y = bits_and_labels()
    huge = RuleClassifier(binarize=1e300, random_state=0).fit(X * 1e301, y)
    with pytest.raises(ValueError, match="Scale X to smaller numbers"):
        counterfactuals(huge, np.zeros((1, 8)))


def test_rules_that_are_no_sum():
    labels = ["a", "b"] * 40
    rules = [((k, True),) for k in range(80)]
    formula = FirstRule(Columns(80), rules, labels, "a", ["a", "b"], np.ones((81, 2)))
    assert sums_for(formula, "b") is None
    found = counterfactuals(FormulaModel(formula), np.eye(80)[:1])
    assert found.changed.sum() == 2  # not the first rule, but one for b
    assert found.predictions == ["b"]


def test_costs_of_any_size():
    terms = [((j, True),) for j in range(3)]
    weights, intercepts = np.array([[2.0, 0.6, 0.6]]), np.array([-1.0])
    formula = WeightedSum(
        Columns(3), terms, weights, intercepts, [0, 1], has_probabilities=False
    )
    model, X = FormulaModel(formula), [[0, 0, 0]]
    found = counterfactuals(model, X, costs={"x0": 1e-10, "x1": 1e-12, "x2": 1e-12})
    assert found.costs == pytest.approx([2e-12], abs=0)
    assert found.changed.tolist() == [[False, True, True]]
    for cost in (1e308, lambda old, new: 1e308):
        with pytest.raises(ValueError, match=r"costs\['x1'\] .* below 1e"):
            counterfactuals(model, X, costs={"x1": cost})


def test_ordered_levels_change_as_little_as_possible():
    levels = ["S", "M", "L", "XL"]
    sizes = pd.Categorical(levels * 10, categories=levels, ordered=True)
    X, y = pd.DataFrame({"size": sizes, "kind": list("ab") * 20}), sizes.codes >= 2
    model = make_pipeline(BooleanEncoder(), AveragedPerceptron(random_state=0))
    found = counterfactuals(model.fit(X, y), X[:4])
    assert found.values["size"].tolist() == ["L", "L", "M", "M"]
    assert found.values["size"].dtype == X["size"].dtype
    assert found.costs == pytest.approx([1 + k / 6 for k in (2, 1, 1, 2)])
    up = counterfactuals(model, X[:4], directions={"size": "up"})
    assert up.samples[up.changed[:, 0]].tolist() == [0, 1]


def test_text_and_type_of_new_values():
    X = pd.DataFrame(
        {
            "income": 1_234_500 + np.arange(40),
            "ill": pd.array([True, False, None, True] * 10, dtype="boolean"),
            "smokes": np.array([True, True, False, None, False] * 8, dtype=object),
        }
    )
    model = make_pipeline(
        BooleanEncoder(n_bins=4), ConjunctionLogisticRegression(C=10.0, random_state=0)
    )
    found = counterfactuals(model.fit(X, X["income"] > 1_234_520), X[:1])
    income = found.values["income"].item()
    assert found.to_text() == f"sample 0: True with income {income} instead of 1234500"
    for name in ("ill", "smokes"):
        model.fit(X, [str(value) == "True" for value in X[name]])
        others = [n for n in X if n != name]
        found = counterfactuals(model, X[:4], immutable=others)
        assert found.values.dtypes.tolist() == X.dtypes.tolist()
        assert f"sample 0: False with {name} False instead of True" in found.to_text()


def test_lists_of_numbers_and_text():
    X = [[k, "ab"[k % 2]] for k in range(40)]
    model = make_pipeline(BooleanEncoder(n_bins=4), AveragedPerceptron(random_state=0))
    found = counterfactuals(model.fit(X, np.arange(40) > 20), X[:2])
    assert found.values[:, 1].tolist() == ["a", "b"]
    assert model.predict(found.values.tolist()).all()
