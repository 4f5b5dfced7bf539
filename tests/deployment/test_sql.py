"""A table in a database is scored as the data frame is."""

from functools import cache

import numpy as np
import pytest
from databases import DATABASES, in_databases, query
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BooleanStump,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    RuleClassifier,
    ScorecardClassifier,
    Winnow,
)
from sklboolean._core.formula import linear_formula
from sklboolean._core.sql_code import sql_code
from sklboolean.rules import Rule

pd = pytest.importorskip("pandas")
every_database = pytest.mark.parametrize("database", DATABASES)
pytestmark = pytest.mark.filterwarnings(
    "ignore:Column .* of X holds .*:UserWarning",
    "ignore:Column .* (not among its levels|never missing|same value):UserWarning",
    "ignore:No (rule|conjunction):UserWarning",
)
TOWNS = ["Aix", "L'Aquila", "ny", "NY", 'say "B"', "back\\slash", "\N{GRINNING FACE}"]


def make_table(seed, n_samples=300):
    """Draw a frame of all kinds, with gaps; names and levels need quotes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_samples),
            'the "net" income': rng.lognormal(8, 1, n_samples).round(2),
            "town": rng.choice(TOWNS, n_samples).astype(object),
            "code": rng.integers(0, 6, n_samples),
            "member": rng.random(n_samples) < 0.5,
            "smokes": pd.Categorical(rng.random(n_samples) < 0.3),
            "size": pd.Categorical(
                rng.choice(["small", "it's mid", "large"], n_samples),
                ["small", "it's mid", "large"],
                ordered=True,
            ),
            "short": rng.normal(size=n_samples).astype(np.float32),
            "count": pd.array(rng.integers(0, 30, n_samples), dtype="Int64"),
            "r`": rng.integers(0, 3, n_samples) / 2,
        }
    )
    gaps = rng.random((3, n_samples)) < 0.1
    for name, is_gap in zip(["town", 'the "net" income', "count"], gaps, strict=True):
        table.loc[is_gap, name] = None
    is_good = (table.age < 40) & (table.town == "L'Aquila") | (table.code == 3)
    is_good |= table.smokes.astype(bool) & (table["size"] > "small")
    return table, np.where(is_good, "good", "not good")


KINDS = {"code": "category", "smokes": "category", "r`": "category"}
ENCODERS = [
    BooleanEncoder(n_bins=4),
    BooleanEncoder(complement=False, kinds=KINDS),
    BooleanEncoder(min_frequency=60, kinds=KINDS),
    BooleanEncoder(min_frequency=60, handle_unknown="infrequent_if_exist", kinds=KINDS),
    BooleanEncoder(min_frequency=299, handle_unknown="infrequent_if_exist"),
]


@every_database
@pytest.mark.parametrize("encoder", ENCODERS, ids=repr)
def test_features_in_sql(encoder, database):
    table, _ = make_table(0)
    encoder = clone(encoder).fit(table)
    new = table.copy()
    new.loc[:20, "town"], new.loc[10:30, "code"] = "elsewhere", 77
    found = query(database, new, encoder.to_sql())
    np.testing.assert_array_equal(found, encoder.transform(new).to_numpy())


def classes(y, table):
    """Make three classes of two."""
    return np.where(table["age"] > 70, "old", y)


MODELS = [
    RuleClassifier(random_state=0),
    ConjunctionLogisticRegression(C=1.0, random_state=0),
    ConjunctionRegressor(C=0.02, random_state=0),
    AveragedPerceptron(random_state=0),
    Winnow(random_state=0),
    BoostByMajority(n_estimators=9, random_state=0),
    BoostByMajority(n_estimators=9, multi_class="ovo", random_state=0),
    ScorecardClassifier(),
]


def assert_labels(found, model, bits):
    """Compare labels; sums of another order may decide a tie in another way."""
    expected, codes = model.predict(bits), {c: k for k, c in enumerate(model.classes_)}
    for row in np.flatnonzero(np.array(found) != expected):
        scores = model.decision_function(bits.iloc[[row]]).ravel()
        scores = np.array([-scores[0], scores[0]]) if len(scores) == 1 else scores
        pair = scores[[codes[found[row]], codes[expected[row]]]]
        assert abs(pair[0] - pair[1]) < 1e-12


def assert_scored(database, new, encoder, model, bits, **options):
    """Compare all that SQL says of a table with the model."""
    options = {"encoder": encoder, **options}
    if isinstance(model, ConjunctionRegressor):
        found = query(database, new, model.to_sql(**options))
        np.testing.assert_allclose(np.ravel(found), model.predict(bits), atol=1e-12)
        return
    found = query(database, new, model.to_sql(output="proba", **options))
    np.testing.assert_allclose(found, model.predict_proba(bits), rtol=0, atol=1e-12)
    found = query(database, new, model.to_sql(**options))
    assert_labels([label for (label,) in found], model, bits)
    assert len(set(found)) > 1


@cache
def fitted(number, n_classes):
    """Fit an encoder and a model."""
    table, y = make_table(1)
    encoder = clone(ENCODERS[3]).set_params(n_bins=4)
    y = y if n_classes == 2 else classes(y, table)
    if isinstance(MODELS[number], ConjunctionRegressor):
        y = table["age"] + (y == "good")
    return encoder, clone(MODELS[number]).fit(encoder.fit_transform(table), y)


BY_CLASSES = [(number, n) for number in range(len(MODELS)) for n in (2, 3)]
# Rules, one sum, sums of several classes, games, values.
FORMS = [(0, 3), (1, 2), (3, 3), (6, 3), (2, 2)]


@pytest.mark.parametrize(("case", "database"), in_databases(BY_CLASSES, FORMS))
def test_a_model_behind_an_encoder(case, database):
    encoder, model = fitted(*case)
    new = make_table(2)[0].iloc[:80]
    new.loc[:9, "town"], new.loc[5:15, "code"] = "elsewhere", 77
    assert_scored(database, new, encoder, model, encoder.transform(new))
    # One row, and one that misses all it can, are scored as a batch.
    gaps = new.iloc[[7]].assign(town=None, count=pd.array([None], dtype="Int64"))
    for one in (new.iloc[[20]], gaps):
        assert_scored_alone(database, one, encoder, model)


def assert_scored_alone(database, one, encoder, model):
    [(found,)] = query(database, one, model.to_sql(encoder=encoder))
    expected = model.predict(encoder.transform(one))[0]
    if isinstance(model, ConjunctionRegressor):
        assert found == pytest.approx(expected, abs=1e-12)
    else:
        assert found == expected


@pytest.mark.slow
@every_database
@pytest.mark.parametrize("seed", range(20))
def test_random_frames_and_models(seed, database):
    table, y = make_table(10 + seed)
    rng = np.random.default_rng(seed)
    table = table[rng.permutation(table.columns)[: rng.integers(3, 11)]]
    y = rng.permutation(y) if seed % 5 == 0 else y
    kinds = {name: kind for name, kind in KINDS.items() if name in table}
    encoder = clone(ENCODERS[seed % 4]).set_params(
        kinds=kinds, n_bins=int(seed % 7 + 2)
    )
    bits = encoder.fit_transform(table)
    new = make_table(100 + seed)[0][table.columns]
    for model in MODELS:
        target = y
        if isinstance(model, ConjunctionRegressor):
            target = rng.normal(size=len(y))
        elif seed % 2:
            target = rng.permutation([*"abc"] * 100) if seed % 5 else y
        model = clone(model).fit(bits, target)
        expected = encoder.transform(new)
        if isinstance(model, ConjunctionRegressor):
            assert_scored(database, new, encoder, model, expected)
            continue
        found = query(database, new, model.to_sql(output="all", encoder=encoder))
        assert_labels([row[0] for row in found], model, expected)
        n_classes = len(model.classes_)
        proba = np.array([row[-n_classes:] for row in found], dtype=float)
        np.testing.assert_allclose(
            proba, model.predict_proba(expected), rtol=0, atol=1e-12
        )


@cache
def fitted_behind_a_transformer():
    """Samples, new ones, a transformer, and models with and without a threshold."""
    table, y = make_table(3)
    table["bit"] = (table["age"] % 2).astype(bool)
    new = make_table(4)[0].assign(bit=lambda frame: frame["age"] % 3 == 0)
    encoder = ColumnTransformer(
        [
            ("levels", BooleanEncoder(min_frequency=20), ["town", "size"]),
            ("numbers", BooleanEncoder(n_bins=3), slice("age", 'the "net" income')),
            ("dropped", "drop", ["code"]),
            ("nothing", BooleanEncoder(), []),
            ("bits", "passthrough", ["bit", "member"]),
        ]
    )
    bits = encoder.fit_transform(table, y)
    fits = [clone(model).fit(bits, y) for model in MODELS[:2]]
    strict = [clone(m).set_params(binarize=None).fit(bits, y) for m in MODELS[:2]]
    return table, y, new, encoder, list(zip(fits, strict, strict=True))


@every_database
def test_a_column_transformer(database):
    table, y, new, encoder, models = fitted_behind_a_transformer()
    expected = encoder.transform(new)
    # Of these databases only PostgreSQL needs to know that the bits are Boolean.
    dialect = "postgresql" if database == "postgresql" else None
    for model, strict in models:
        assert_scored(database, new, encoder, model, expected, dialect=dialect)
        assert_scored(database, new, encoder, strict, expected)
        used = strict.to_sql(encoder=make_pipeline(encoder))
        assert used == strict.to_sql(encoder=encoder)
    scaled = ColumnTransformer([("all", "passthrough", ["age", "bit"])])
    linear = LogisticRegression().fit(scaled.fit_transform(table), y)
    code = sql_code(linear_formula(linear, tie=0), output="score", encoder=scaled)
    found = query(database, new.assign(bit=new["bit"].astype(int)), code)
    expected = linear.decision_function(scaled.transform(new).astype(float))
    np.testing.assert_allclose(np.ravel(found), expected, atol=1e-12)


@every_database
def test_only_conditions_that_are_used_are_written(database):
    rng = np.random.default_rng(0)
    codes = np.array([f"{code:05}" for code in rng.permutation(3000)])
    table = pd.DataFrame({"postcode": np.repeat(codes, 2), "n": rng.random(6000)})
    kinds = {"postcode": "category"}
    encoder = BooleanEncoder(kinds=kinds, n_bins=3, sparse_output=True).fit(table)
    rules = [((int(j), True),) for j in rng.permutation(3000)[:2]]
    for literals in rules:
        code = Rule(literals, 1.0, 1.0).to_sql(encoder=encoder)
        assert len(code) < 40
        found = query(database, table, f"CASE WHEN {code} THEN 1 ELSE 0 END")
        expected = table["postcode"] == encoder.categories_[0][literals[0][0]]
        assert np.ravel(found).tolist() == expected.tolist()


@every_database
def test_a_column_that_the_table_lacks_is_an_error(database):
    table, y = make_table(5)
    encoder = BooleanEncoder(n_bins=3)
    model = RuleClassifier(random_state=0).fit(encoder.fit_transform(table), y)
    code = model.to_sql(encoder=encoder)
    with pytest.raises(Exception, match="town"):
        query(database, table.rename(columns={"town": "city"}), code)
    names = ["city" if name == "town" else name for name in table]
    renamed = table.set_axis(names, axis=1)
    code = model.to_sql(names, encoder=encoder)
    found = query(database, renamed, code)
    assert np.ravel(found).tolist() == model.predict(encoder.transform(table)).tolist()
    plain = BooleanStump().fit(table[["member"]], table["member"])
    with pytest.raises(Exception, match="member"):
        query(database, table[["age"]], plain.to_sql())


@every_database
def test_probabilities_of_large_scores_are_no_error(database):
    X = pd.DataFrame({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10})
    y = X["a"].to_numpy()
    model = LogisticRegression().fit(X, y)
    for weight in (1.0, 900.0, 1e6):
        model.coef_ = np.array([[weight, -weight]])
        code = sql_code(linear_formula(model, tie=0), output="proba")
        found = np.array(query(database, X, code), dtype=float)
        np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


@every_database
@pytest.mark.parametrize("dialect", [None, "own"])
def test_long_names_of_columns(database, dialect):
    dialect = dialect and database
    long = "\N{CYRILLIC SMALL LETTER ZHE}" * 40  # 80 bytes
    X = pd.DataFrame({long: [0.0, 1, 2, 3] * 9, "b": [0, 0, 1] * 12})
    encoder = BooleanEncoder(n_bins=4).fit(X)
    expected = encoder.transform(X).to_numpy()
    found = query(database, X, encoder.to_sql(dialect=dialect))
    np.testing.assert_array_equal(found, expected)
    twins = X.assign(**{f"{long}2": X[long]})
    encoder.fit(twins)
    with pytest.raises(ValueError, match="PostgreSQL cuts them after 63 bytes"):
        encoder.to_sql()
    if database == "postgresql":
        with pytest.raises(ValueError, match="PostgreSQL cuts them after 63 bytes"):
            encoder.to_sql(dialect=dialect)
    else:
        found = query(database, twins, encoder.to_sql(dialect=database))
        np.testing.assert_array_equal(found, encoder.transform(twins))
    short = twins.set_axis(["q1", "b", "q2"], axis=1)
    found = query(database, short, encoder.to_sql(["q1", "b", "q2"], dialect=dialect))
    np.testing.assert_array_equal(found, encoder.transform(twins))


def test_other_names_of_the_columns():
    encoder = BooleanEncoder(n_bins=2).fit([[1.0, 0], [2.0, 1], [3.0, 1]])
    assert encoder.to_sql().splitlines() == [
        'CASE WHEN f."x0" <= 1.0e0 THEN 1 ELSE 0 END AS f0,',
        'CASE WHEN f."x0" > 1.0e0 AND f."x0" - f."x0" = 0 THEN 1 ELSE 0 END AS f1,',
        'CASE WHEN CAST(f."x1" AS DOUBLE PRECISION) > 0.5e0 AND '
        'CAST(f."x1" AS DOUBLE PRECISION) - CAST(f."x1" AS DOUBLE PRECISION) = 0 '
        "THEN 1 ELSE 0 END AS f2",
    ]
    assert '"b" AS DOUBLE PRECISION' in encoder.to_sql(["a", "b"])
    with pytest.raises(ValueError, match="1 names of columns are given"):
        encoder.to_sql(["a"])


def test_what_sql_cannot_hold_is_an_error():
    encoder = BooleanEncoder(missing="propagate").fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="propagate"):
        encoder.to_sql()
    with pytest.raises(ValueError, match=r"Column 0: .* code 0"):
        BooleanEncoder().fit([["a\0"], ["b"]]).to_sql()


def test_an_encoder_that_is_not_that_of_the_model():
    table, y = make_table(0)
    encoder = BooleanEncoder(n_bins=3)
    model = BooleanStump().fit(encoder.fit_transform(table), y)
    with pytest.raises(ValueError, match="does not read the bits of encoder"):
        model.to_sql(encoder=BooleanEncoder().fit(table.drop(columns="age")))
    bits = encoder.transform(table).to_numpy()
    with pytest.raises(ValueError, match="does not read the bits of encoder"):
        BooleanStump().fit(bits[:, 1:], y).to_sql(encoder=encoder)
    with pytest.raises(ValueError, match="must be a fitted BooleanEncoder"):
        model.to_sql(encoder=make_pipeline(encoder, clone(encoder)))
    propagating = BooleanEncoder(missing="propagate").fit(table)
    with pytest.raises(ValueError, match="propagate"):
        model.to_sql(encoder=propagating)
    model = BooleanStump(binarize=1.5).fit(bits * 2.0, y)
    with pytest.raises(ValueError, match="its binarize makes all bits equal"):
        model.to_sql(encoder=encoder)
    with pytest.raises(ValueError, match="dialect must be one of"):
        model.to_sql(dialect="oracle")


def test_columns_that_differ_in_case_only_are_no_sql_of_a_model():
    X = np.random.default_rng(0).integers(0, 2, (90, 3)).astype(bool)
    model = RuleClassifier().fit(X, X[:, 0])
    assert 'f."A"' in model.to_sql(["A", "b", "B"])  # b and B are not used
    with pytest.raises(ValueError, match=r"'A' and 'a' are the same .*in case only"):
        model.to_sql(["A", "a", "b"])
    linear = AveragedPerceptron(random_state=0).fit(X, X[:, 0] | X[:, 1])
    with pytest.raises(ValueError, match=r"'A' and 'a' are the same .*in case only"):
        linear.to_sql(["A", "a", "b"])
    assert 'f."a"' in linear.to_sql(["A", "a", "b"], dialect="postgresql")


@every_database
def test_labels_that_differ_in_case_only_are_numbered(database):
    X = pd.DataFrame({"a": [0, 1] * 20})
    model = RuleClassifier(random_state=0).fit(X, np.where(X["a"], "NY", "ny"))
    code = model.to_sql(output="proba")
    assert code.count('"proba_0"') == code.count('"proba_1"') == 1
    found = np.array(query(database, X, code), dtype=float)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


LEVELS = {"kinds": {"a": "category"}, "min_frequency": 3}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"complement": False},
        LEVELS,
        {**LEVELS, "handle_unknown": "infrequent_if_exist"},
        {**LEVELS, "handle_unknown": "infrequent_if_exist", "max_categories": 1},
    ],
    ids=repr,
)
@pytest.mark.parametrize("has_gaps", [True, False])
def test_nan_is_a_missing_value_in_databases_that_have_it(options, has_gaps, tmp_path):
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    gaps = rng.random((300, 3)) < 0.3
    numbers = rng.normal(size=(300, 3)).round(2)
    numbers[:, 2] = numbers[:, 2] > 0
    X = pl.DataFrame(np.where(gaps, np.nan, numbers), schema=["a", "b", "bit"])
    X = X.with_columns(pl.col("b").cast(pl.Float32))
    encoder = BooleanEncoder(n_bins=4, **options)
    encoder.fit(X if has_gaps else pl.DataFrame(numbers, schema=X.columns))
    X.write_parquet(tmp_path / "nan.parquet")
    found = duckdb.sql(f"SELECT {encoder.to_sql()} FROM '{tmp_path}/nan.parquet' AS f")
    found = np.column_stack([*found.fetchnumpy().values()])
    if not has_gaps:
        encoder.set_params(missing="propagate")  # then gaps are NaN, and no error
        np.testing.assert_array_equal(found, np.nan_to_num(encoder.transform(X)))
    else:
        np.testing.assert_array_equal(found, encoder.transform(X))


@pytest.mark.parametrize("dialect", ["bigquery", "mysql", "spark"])
def test_other_databases_read_the_same(dialect):
    """A parser reads the text, and writes it for DuckDB, which computes the same."""
    sqlglot = pytest.importorskip("sqlglot")

    def run(columns):
        query_text = f"SELECT {columns} FROM t AS f"
        options = {"unsupported_level": sqlglot.ErrorLevel.RAISE}
        [text] = sqlglot.transpile(query_text, dialect, "duckdb", **options)
        # MySQL compares the bytes of a text, which DuckDB has no cast for.
        text = text.replace("AS BLOB", "AS TEXT")
        return query("duckdb", table, text[len("SELECT ") : -len(" FROM t AS f")])

    table, y = make_table(6)
    table["town"] = table["town"].where(table["age"] > 20, "two\nlines\r\\n")
    encoder = BooleanEncoder(kinds=KINDS, n_bins=4)
    bits = encoder.fit_transform(table)
    np.testing.assert_array_equal(run(encoder.to_sql(dialect=dialect)), bits)
    for number in (0, 3, 6):
        model = clone(MODELS[number]).fit(bits, y)
        found = run(model.to_sql(output="all", encoder=encoder, dialect=dialect))
        assert [row[0] for row in found] == model.predict(bits).tolist()
        proba = np.array([row[-2:] for row in found], dtype=float)
        np.testing.assert_allclose(proba, model.predict_proba(bits), atol=1e-12)
