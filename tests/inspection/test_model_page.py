"""The page of a model: the numbers of predict_proba, in Python and in a browser."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from browser import CHROMIUM, open_page
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanStump,
    BoostByMajority,
    ConjunctionClassifier,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    FilteringBoostByMajority,
    OptimalRuleSet,
    QueryByCommittee,
    RuleClassifier,
    ScorecardClassifier,
    Winnow,
)
from sklboolean.boosting import FilteringSchedule
from sklboolean.inspection import counterfactuals, explain, model_page, shapley_values

HOSTILE = '</script><script>document.title = 0</script>"><img src=x onerror=h()>'


def patients(n_samples=120):
    """A frame of numbers, levels, gaps and hostile names, and labels."""
    X, progression = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "bmi": X["bmi"].mask(rng.random(len(X)) < 0.2),
            "blood <pressure>": X["bp"],
            HOSTILE: X["sex"].map({1: "A & B", 2: HOSTILE}),
            "elderly": X["age"] > 50,
            "s5": X["s5"],
            "stage": pd.cut(X["s6"], 3, labels=["I", HOSTILE, "III"]),
        }
    )
    frame["stage"] = frame["stage"].mask(rng.random(len(X)) < 0.1)
    y = np.where(progression > 140, "fast", HOSTILE)
    return frame[:n_samples], y[:n_samples]


def data_of(page):
    """Read the data of a page."""
    [text] = re.findall(r'<script type="[a-z/]*" id="data">(.*?)</script>', page)
    return json.loads(text)


MODELS = [
    RuleClassifier(max_literals=2, penalty=1.0, literal_cost=0.0, random_state=0),
    ConjunctionLogisticRegression(C=1.0),
    AveragedPerceptron(random_state=0),
    BoostByMajority(random_state=0),
    ScorecardClassifier(max_literals=2),
]


GAMES = [
    BoostByMajority(n_estimators=9, multi_class=kind, random_state=0)
    for kind in ("joint", "ovo", "ovr")
]


def by_hand(data, values):
    """Compute the probabilities of a sample from the data of the page."""

    def holds(feature):
        value = values[feature["column"]]
        if feature["relation"] == "in":
            return value in feature["value"]
        if feature["relation"] == "missing" or value is None:
            return value is None and feature["relation"] == "missing"
        tests = {"<=": value <= feature["value"], ">": value > feature["value"]}
        return tests.get(feature["relation"], value == feature["value"])

    bits = [holds(feature) for feature in data["features"]]
    held = [all(bits[j] == wanted for j, wanted in term) for term in data["terms"]]
    if data["link"] == "first":
        n_deciding = len(data["labels"])
        return data["probabilities"][[*held[:n_deciding], True].index(True)]
    scores = list(data["intercepts"])
    for row in data["rows"]:
        scores[row["output"]] += row["weight"] * held[row["term"]]
    if data["link"] == "value":
        return scores
    if data["games"]:
        margins, scores = scores, [0.0] * len(data["classes"])
        for (first, second, n), margin in zip(data["games"], margins, strict=True):
            won = margin * np.sqrt(n / (1 + n * margin**2)) / (len(scores) - 1)
            scores[first] -= won
            scores[second] += won
    scores = [0.0, *scores] if len(scores) == 1 else scores
    powers = np.exp(data["slope"] * (np.array(scores) - max(scores)))
    return powers / powers.sum()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_data_of_the_page_give_the_probabilities(model):
    X, y = patients()
    pipeline = make_pipeline(BooleanEncoder(n_bins=4), model).fit(X, y)
    data = data_of(model_page(pipeline, X, y))
    found = [by_hand(data, values) for values in data["samples"]]
    np.testing.assert_allclose(found, pipeline.predict_proba(X), atol=1e-9)
    assert data["n_samples"] == len(data["samples"]) == len(data["y"]) == len(X)


def test_the_columns_before_a_column_transformer():
    X, y = patients()
    names = list(X.columns)
    X["nurse"] = (X["s5"] > 4.5).astype(int)
    parts = [("b", BooleanEncoder(n_bins=4), names[3:]),
             ("a", BooleanEncoder(n_bins=4), names[:2])]  # fmt: skip
    encoder = ColumnTransformer([("bit", "passthrough", ["nurse"]), *parts])
    for model in MODELS[:3]:
        pipeline = make_pipeline(encoder, model).fit(X, y)
        data = data_of(model_page(pipeline, X[::-1], y[::-1]))
        found = [by_hand(data, values) for values in data["samples"]]
        np.testing.assert_allclose(found, pipeline.predict_proba(X)[::-1], atol=1e-9)
        assert {column["name"] for column in data["columns"]} <= set(X.columns)


@pytest.mark.parametrize(
    "model",
    [RuleClassifier(random_state=0), AveragedPerceptron(random_state=0), BooleanStump(),
     ConjunctionLogisticRegression(C=1.0), ScorecardClassifier(3),
     Winnow(random_state=0), *GAMES,
     FilteringBoostByMajority(schedule=FilteringSchedule(gamma=0.2), random_state=0),
     QueryByCommittee(
        n_members=3, random_state=0, final_estimator=AveragedPerceptron(random_state=0)
     )],
    ids=lambda model: str(model)[:60],
)  # fmt: skip
def test_several_classes_and_arrays(model):
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(BooleanEncoder(n_bins=3), model).fit(X, y)
    data = data_of(model_page(pipeline, X, y))
    found = [by_hand(data, values) for values in data["samples"]]
    np.testing.assert_allclose(found, pipeline.predict_proba(X), atol=1e-9)


def test_features_of_a_model_without_encoder_and_a_regressor():
    X = np.random.default_rng(0).integers(0, 2, (80, 5))
    model = ConjunctionRegressor(C=10.0).fit(X, X[:, 0] * 2 + X[:, 1])
    data = data_of(model_page(model, X, X[:, 0], feature_names=list("abcde")))
    assert {column["name"] for column in data["columns"]} >= {"a", "b"}
    found = [by_hand(data, values)[0] for values in data["samples"]]
    np.testing.assert_allclose(found, model.predict(X), atol=1e-9)


@pytest.mark.parametrize("target", ["conjunction", "disjunction"])
def test_the_formula_of_a_concept(target):
    X = np.random.default_rng(0).integers(0, 2, (80, 4))
    both = np.c_[X[:, 0] == 1, X[:, 2] == 0]
    y = both.all(axis=1) if target == "conjunction" else both.any(axis=1)
    model = ConjunctionClassifier(target=target).fit(X, y)
    data = data_of(model_page(model, X, y))
    found = [by_hand(data, values) for values in data["samples"]]
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)
    rules = {"x0 and not x2"} if target == "conjunction" else {"x0", "not x2"}
    assert {row["text"] for row in data["rows"]} == rules
    for one, accepted in zip(explain(model, X), y, strict=True):
        held = {text.removeprefix("True if ") for text, _ in one.parts}
        assert held <= rules if accepted else held == {"False if no rule holds"}


def test_coverage_and_precision_are_counts():
    X, y = patients()
    pipeline = make_pipeline(BooleanEncoder(n_bins=4), MODELS[0]).fit(X, y)
    bits = pipeline[0].transform(X).to_numpy()
    for rule, row in zip(
        pipeline[-1].rules_, data_of(model_page(pipeline, X, y))["rows"], strict=True
    ):
        covered = np.all([bits[:, j] == value for j, value in rule.literals], axis=0)
        assert row["coverage"] == covered.sum()
        assert row["precision"] == pytest.approx(np.mean(y[covered] == rule.label))


@pytest.mark.parametrize(
    "last",
    [
        RuleClassifier("labels", literal_cost=1, random_state=0),
        ConjunctionLogisticRegression(C=0.1),
        ScorecardClassifier(3),
    ],
    ids=repr,
)
def test_calls_of_the_page_leave_out_a_row(last):
    X, y = patients()
    model = make_pipeline(BooleanEncoder(n_bins=4), last).fit(X, y)
    rows = data_of(model_page(model, X, y))["rows"]
    n_rules = len(model[-1].rules_)
    assert rows
    for row in rows[:3]:
        edited = eval(row["edit"], {"model": model, "X": X, "y": y})
        texts = [rule.to_text() for rule in edited.rules_]
        assert row["text"] not in texts
        if not isinstance(last, ConjunctionLogisticRegression):
            assert len(texts) == n_rules - 1
    data = data_of(model_page(model[-1], model[0].transform(X), y))
    assert data["rows"][0]["edit"].endswith(", X, y)")
    for wrapped in (searched(model), make_pipeline(model[0], searched(model[-1]))):
        [row, *_] = data_of(model_page(wrapped.fit(X, y), X, y))["rows"]
        edited = eval(row["edit"], {"model": wrapped, "X": X, "y": y})
        assert row["text"] not in [rule.to_text() for rule in edited.rules_]


def searched(model):
    """Search over a single setting."""
    [name, *_] = [name for name in model.get_params() if name.endswith("binarize")]
    return GridSearchCV(model, {name: [0.0]}, cv=2)


def test_rules_of_the_page_are_those_of_the_text():
    X, y = patients(300)
    last = RuleClassifier("labels", penalty=1, literal_cost=1, random_state=0)
    model = make_pipeline(BooleanEncoder(n_bins=4), last).fit(X, y)
    data = data_of(model_page(model, X, y))
    lines = last.to_text().splitlines()
    texts = [f"{row['label']} if {row['text']}" for row in data["rows"]]
    assert [
        line[-len(text) :] for line, text in zip(lines, texts, strict=False)
    ] == texts
    assert len(lines) == len(texts) + 1
    # Each sample finds its grade, and the probability, below the rule that decides it.
    bits, names = model[0].transform(X), list(model[0].get_feature_names_out())
    n_graded = 0
    for bit_row, rule, shares in zip(
        bits.to_numpy(), last.apply(bits), last.predict_proba(bits), strict=True
    ):
        held = [
            (text, value)
            for text, value in data["grades"][rule]
            if all(
                bit_row[names.index(name)] for name in filter(None, text.split(" and "))
            )
        ]
        n_graded += len(held) > 0
        assert not held or held[0][1] == pytest.approx(shares.max())
    assert n_graded > 30


def test_a_list_of_samples_is_numbered():
    X, y = [[0, 1], [1, 0], [1, 1], [0, 0]] * 5, [0, 0, 1, 0] * 5
    model = RuleClassifier(random_state=0).fit(X, y)
    assert model_page(model, X, y) == model_page(model, np.array(X), y)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_array])
def test_a_damaged_sparse_matrix_is_refused(form):
    X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5), [0, 0, 1, 0] * 5
    model = BooleanStump().fit(X, y)
    damaged = form(X)
    column = damaged.indices if form is sparse.csr_array else damaged.coords[1]
    column[0] = 10**6
    for read in (
        lambda: model_page(model, damaged, y),
        lambda: explain(model, damaged),
    ):
        with pytest.raises(ValueError, match="do not fit its shape"):
            read()


def test_a_file_a_title_and_few_samples(tmp_path):
    X, y = patients()
    search = GridSearchCV(
        make_pipeline(BooleanEncoder(), LogisticRegression(C=0.1)),
        {"booleanencoder__n_bins": [3]},
    ).fit(X, y)
    file = tmp_path / "page.html"
    page = model_page(search, X, y, file, title=HOSTILE, max_samples=7)
    assert file.read_text(encoding="utf-8") == page
    assert len(data_of(page)["samples"]) == 7
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVC(), "This SVC is not a list of rules"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "do not add up"),
    ],
)
def test_models_that_are_refused(model, message):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        model_page(model.fit(X, y), X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"costs": {"bmi": lambda old, new: 1.0}}, "costs.* must be an instance of"),
        ({"costs": {"bmi": 0.0}}, "costs"),
        ({"immutable": ["weight"]}, "immutable names 'weight'"),
        ({"directions": {HOSTILE: "up"}}, "directions"),
    ],
)
def test_bad_changes_are_named(changes, message):
    X, y = patients()
    pipeline = make_pipeline(BooleanEncoder(n_bins=2), BooleanStump()).fit(X, y)
    with pytest.raises((TypeError, ValueError), match=message):
        model_page(pipeline, X, y, **changes)


# In a browser

CHANGES = {
    "costs": {"s5": 3.0, "bmi": 0.5}, "immutable": ["elderly"],
    "directions": {"blood <pressure>": "down", "stage": "up"},
}  # fmt: skip
DRIVE = """
<script>
const results = [], shapley = [], cards = [], changes = [], turned = [], kept = [];
const SAMPLES = @SAMPLES@;
const set = (node, value, event) => {
  node.value = value; node.dispatchEvent(new Event(event, {bubbles: true})); };
for (const sample of SAMPLES) {
  sample.forEach((value, j) => {
    const node = byId("value-" + j), gap = byId("missing-" + j);
    const kind = model.columns[j].kind;
    if (value === null) { if (!gap.checked) gap.click(); return; }
    if (gap && gap.checked) gap.click();
    if (kind === "category") set(node, value, "change");
    else if (kind === "number") set(node, value, "input");
    else if (node.checked !== (value === 1)) node.click();
  });
  results.push([...document.querySelectorAll("[data-probability]")].map(
    (node) => Number(node.dataset.probability)));
  const added = model.columns.map(() => 0);
  for (const node of document.querySelectorAll("[data-column]"))
    added[node.dataset.column] = Number(node.dataset.value);
  const base = document.querySelector("[data-base]");
  shapley.push([Number(byId("output").value), Number(base.dataset.base), added]);
  cards.push([byId("card-box").hidden ? null : Number(byId("card").dataset.total),
    document.querySelectorAll("#scale [aria-current]").length]);
  if (shapley.length <= 25) {
    byId("change").click();
    const change = document.querySelector("[data-change]");
    const changed = change ? JSON.parse(change.dataset.change) : [];
    changes.push([changed, change ? Number(change.dataset.cost) : null]);
    if (change) {
      byId("change-result").querySelector("button").click();
      const values = controls.map((control) => control.get());
      turned.push([change.dataset.label, predicted(evaluate(values))]);
      fill(sample);
      const freedom = byId("freedom-" + changed[0]), before = freedom.value;
      set(freedom, "none", "change");
      byId("change").click();
      const other = document.querySelector("[data-change]");
      kept.push(!other || !JSON.parse(other.dataset.change).includes(changed[0]));
      set(freedom, before, "change");
    }
  }
}
const covered = [];
for (const row of model.rows.slice(0, 5)) {
  document.querySelector(`[data-row="${row.number}"]`).click();
  covered.push([...document.querySelectorAll("[data-sample]")].map(
    (node) => Number(node.dataset.sample)));
}
const sorted = {};
for (const key of ["coverage", "precision"]) {
  document.querySelector(`[data-key=${key}]`).click();
  sorted[key] = [...document.querySelectorAll("[data-row]")].map(
    (node) => model.rows[Number(node.dataset.row) - 1][key]);
}
const named = (node) => node.getAttribute("aria-label") || node.textContent.trim() ||
  [...(node.labels || [])].some((label) => label.textContent.trim());
const selector = "a, button, input, select, [role=region]";
const unnamed = [...document.querySelectorAll(selector)]
  .filter((node) => !named(node) && !node.getAttribute("aria-labelledby"))
  .map((node) => node.outerHTML);
const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
const output = make("pre", JSON.stringify({results, covered, sorted,
  shapley, cards, changes, turned, kept, unnamed,
  n_same_ids: ids.length - new Set(ids).size, proof: byId("proof").textContent,
  title: document.title, images: document.images.length,
  scripts: document.scripts.length}), document.body, {id: "output"});
</script>
"""


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.parametrize(
    "model",
    [
        # The page adds up every sum in the same way.
        pytest.param(model, marks=[pytest.mark.slow] * (model in MODELS[2:4]))
        for model in [*MODELS, GAMES[1]]
    ],
    ids=lambda one: str(one)[:60],
)
def test_clicks_and_typed_values_give_the_numbers_of_predict_proba(model, tmp_path):
    X, y = patients()
    if model is GAMES[1]:  # three classes
        y = np.where(X["elderly"], "elderly", y)
    pipeline = make_pipeline(BooleanEncoder(n_bins=4), model).fit(X, y)
    page = model_page(pipeline, X, y, title="Patients", **CHANGES)
    data = data_of(page)
    drive = DRIVE.replace("@SAMPLES@", json.dumps(data["samples"]))
    file = tmp_path / "page.html"
    file.write_text(page.replace("</body>", f"{drive}</body>"), encoding="utf-8")
    document = open_page(file.as_uri(), tmp_path / "profile")
    [text] = re.findall(r'<pre id="output">(.*?)</pre>', document, flags=re.DOTALL)
    seen = json.loads(text)
    np.testing.assert_allclose(seen["results"], pipeline.predict_proba(X), atol=1e-9)
    for row, listed in zip(data["rows"], seen["covered"], strict=False):
        assert len(listed) == min(100, row["coverage"])
    for key, values in seen["sorted"].items():
        assert values == sorted(values, reverse=True), key
    assert (seen["title"], seen["images"], seen["scripts"]) == ("Patients", 0, 3)
    assert (seen["unnamed"], seen["n_same_ids"]) == ([], 0)
    check_explanations(seen, data, pipeline, X)


def check_explanations(seen, data, pipeline, X):
    """Compare values by column and least changes of the page with those of Python."""
    shapley = shapley_values(pipeline, X)
    places = [shapley.feature_names.index(one["name"]) for one in data["columns"]]
    outputs, base, values = map(np.array, zip(*seen["shapley"], strict=True))
    expected = shapley.values.reshape(*shapley.values.shape[:2], -1)[:, places]
    expected = np.take_along_axis(expected, outputs[:, None, None], axis=2)[..., 0]
    np.testing.assert_allclose(base, np.ravel(shapley.base_values)[outputs], atol=1e-9)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert seen["proof"] == "".join(data["proof"])
    if isinstance(pipeline[-1], ScorecardClassifier):
        card = pipeline[-1]
        totals, n_marked = zip(*seen["cards"], strict=True)
        scores = np.add(totals, card.intercept_)
        np.testing.assert_allclose(scores, pipeline.decision_function(X))
        assert set(n_marked) == {1}
    if data["games"]:
        return
    found = counterfactuals(pipeline, X.head(25), **CHANGES)
    n_changes = found.changed.sum(axis=1)
    least = {
        sample: (cost, n)
        for sample, cost, n in zip(found.samples, found.costs, n_changes, strict=True)
    }
    for sample, (changed, cost) in enumerate(seen["changes"]):
        expected, n_changed = least.get(sample, (np.inf, 0))
        assert (len(changed) > 0) == (cost is not None)
        if n_changed in (1, 2):
            assert cost == pytest.approx(expected)
        elif cost is not None:  # of two columns, where three are cheaper
            assert cost > expected
    assert all(label == found for label, found in seen["turned"])
    assert all(seen["kept"])
    assert len(seen["kept"]) > 5


@pytest.mark.parametrize("model", [*MODELS, *GAMES], ids=lambda one: str(one)[:60])
def test_products_of_the_page_add_up_to_scores(model):
    X, y = patients()
    if model in GAMES:
        y = np.where(X["elderly"], "elderly", y)
    pipeline = make_pipeline(BooleanEncoder(n_bins=4), model).fit(X, y)
    data, sums = data_of(model_page(pipeline, X, y))["shapley"], 0.0
    for product in data["products"]:
        counts = dict(product["counts"])
        assert sum(counts.values()) == len(X)
        assert max(counts) < 2 ** len(product["columns"])
        sums += counts.get(0, 0) / len(X) * np.array(product["weights"])
    base = shapley_values(pipeline, X).base_values
    np.testing.assert_allclose(sums + data["intercepts"], np.ravel(base), atol=1e-9)


def test_the_page_says_what_is_proved():
    X, y = patients()
    for model, words in (
        (OptimalRuleSet(max_literals=1), "no set of rules costs less"),
        (ConjunctionLogisticRegression(C=1.0), "no sum of allowed conjunctions"),
        (ScorecardClassifier(), "no card"),
    ):
        pipeline = make_pipeline(BooleanEncoder(n_bins=2), model).fit(X, y)
        [sentence] = data_of(model_page(pipeline, X, y))["proof"]
        assert words in sentence
