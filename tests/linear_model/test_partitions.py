"""Iterative parameter mixing against its definition, the theorem, and plain `fit`."""

from fractions import Fraction

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import linear_model as oracles
from parallel_cases import Delayed
from partition_cases import partitioned
from scipy import sparse
from sklearn.base import clone

from sklboolean import AveragedPerceptron, Winnow
from sklboolean._core.partitions import TableSchema
from sklboolean.datasets import make_disjunction, make_threshold
from sklboolean.linear_model._state import LinearState, mixing_weights

# Mixed weights can meet a round margin exactly, where float64 may not: none is round.
MARGINS = st.sampled_from([0.3137, 1.7183])


def fitted_attributes(model):
    return [*model.coef_[0], model.intercept_[0]], [
        *model.raw_coef_[0], model.raw_intercept_[0]
    ]  # fmt: skip


@given(partitioned(), MARGINS, st.booleans(), st.integers(1, 4))
def test_mixed_perceptron_is_the_one_of_the_definition(parts, margin, constant, n):
    model = AveragedPerceptron(margin=margin, fit_intercept=constant, max_iter=n)
    model.fit_partitions(parts, classes=[0, 1])
    player = oracles.Perceptron(
        parts[0][0].shape[1], margin=margin, learn_threshold=constant
    )
    mean, threshold, _ = oracles.play_partitions(
        player, parts, n, ["w"], oracles.arithmetic_mean
    )
    averaged, last = fitted_attributes(model)
    expected = [*map(float, mean), -float(threshold)]
    np.testing.assert_allclose(averaged, expected, rtol=1e-11, atol=1e-11)
    expected = [*map(float, player.w), -float(player.threshold)]
    np.testing.assert_allclose(last, expected, rtol=1e-11, atol=1e-11)
    assert model.t_ == n * sum(len(y) for _, y in parts)


@given(partitioned(), MARGINS, st.integers(1, 4))
def test_mixed_winnow_is_the_one_of_the_definition(parts, margin, n):
    model = Winnow(margin=margin, threshold=None, max_iter=n, promotion=1.5)
    model.fit_partitions(parts, classes=[0, 1])
    player = oracles.BalancedWinnow(
        parts[0][0].shape[1], promotion=Fraction(3, 2), margin=margin
    )
    mean, _, _ = oracles.play_partitions(
        player, parts, n, ["plus", "minus"], oracles.geometric_mean
    )
    np.testing.assert_allclose(model.coef_[0], list(map(float, mean)), atol=1e-10)
    last = [float(p - m) for p, m in zip(player.plus, player.minus, strict=True)]
    np.testing.assert_allclose(model.raw_coef_[0], last, atol=1e-10)


@given(partitioned(), st.integers(1, 3))
def test_winnow_with_one_weight_takes_the_geometric_mean(parts, n):
    model = Winnow(variant="positive", margin=0.3, promotion=1.5, max_iter=n)
    model.fit_partitions(parts, classes=[0, 1])
    n_features = parts[0][0].shape[1]
    player = oracles.Winnow(
        n_features, promotion=Fraction(3, 2), demotion=None, threshold=n_features,
        margin=0.3,
    )  # fmt: skip
    oracles.play_partitions(player, parts, n, ["w"], oracles.geometric_mean)
    np.testing.assert_allclose(model.raw_coef_[0], list(map(float, player.w)))


def test_complements_are_negated_features():
    """Winnow over complements is positive Winnow over twice the features."""
    rng = np.random.default_rng(0)
    parts = [
        (rng.integers(0, 2, (30, 5)), rng.integers(0, 2, 30)) for _ in range(3)
    ]  # fmt: skip
    doubled = [(np.hstack([X, 1 - X]), y) for X, y in parts]
    settings_ = {"promotion": 1.3, "margin": 0.3, "max_iter": 3}
    model = Winnow(variant="complement", **settings_).fit_partitions(parts)
    twin = Winnow(variant="positive", **settings_).fit_partitions(doubled)
    for (X, _), (Z, _) in zip(parts, doubled, strict=True):
        np.testing.assert_allclose(
            model.decision_function(X), twin.decision_function(Z), rtol=1e-9
        )


def cut(X, y, n_parts):
    return [(X[i::n_parts], y[i::n_parts]) for i in range(n_parts)]


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_mistake_bound_of_mixing(n_parts, monkeypatch):
    """Theorem 3 of McDonald, Hall, Mann, on rows separated by a known vector."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (400, 12))
    y = (X[:, :5].sum(axis=1) >= 3).astype(int)
    rows = np.hstack([X, np.ones((len(X), 1), dtype=int)])
    u = np.array([2] * 5 + [0] * 7 + [-5])
    gap = ((2 * y - 1) * (rows @ u)).min()
    assert gap == 1
    bound = (rows**2).sum(axis=1).max() * (u @ u) / gap**2
    mistakes, average = [], LinearState.average

    def record(state, states, updates, n_samples):
        mistakes.append(np.array(updates))
        return average(state, states, updates, n_samples)

    monkeypatch.setattr(LinearState, "average", record)
    model = AveragedPerceptron(margin=0, max_iter=100)
    model.fit_partitions(cut(X, y, n_parts))
    weighted = sum(mixing_weights(made) @ made for made in mistakes)
    assert 0 < weighted <= bound
    # So many epochs cannot all have mistakes: the last ones have none.
    assert not mistakes[-1].any()


LEARNERS = [
    AveragedPerceptron(max_iter=3),
    AveragedPerceptron(max_iter=3, average=None, margin=0.3, learning_rate=0.1),
    AveragedPerceptron(max_iter=3, learning_rate="inverse_sqrt"),
    AveragedPerceptron(max_iter=3, learning_rate="adagrad"),
    AveragedPerceptron(max_iter=3, multi_class="joint"),
    AveragedPerceptron(max_iter=3, learning_rate="aggressive", class_weight={1: 1.7}),
    Winnow(max_iter=3),
    Winnow(max_iter=3, average=None, multi_class="joint"),
    Winnow(max_iter=3, variant="positive", promotion=(1.1, 0)),
    Winnow(max_iter=3, variant="complement_conjunction"),
]


def assert_same_model(one, other):
    for name in ("coef_", "intercept_", "raw_coef_", "raw_intercept_", "classes_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in (
        "mistakes_per_epoch_",
        "n_updates_",
        "n_iter_",
        "t_",
        "calibration_slope_",
    ):
        assert getattr(one, name) == getattr(other, name), name


def make_rows(n_classes=3):
    X, y, _ = make_threshold(300, 30, n_relevant=9, random_state=1)
    return X, y if n_classes == 2 else y + X[:, 0]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_partition_is_fit_without_shuffling(learner, n_classes):
    X, y = make_rows(n_classes)
    expected = clone(learner).set_params(shuffle=False).fit(X, y)
    assert_same_model(clone(learner).fit_partitions([(X, y)]), expected)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_form_of_the_partitions_does_not_matter(learner):
    X, y = make_rows()
    parts = cut(X, y, 3)
    expected = clone(learner).fit_partitions(parts)
    loaders = [lambda part=part: part for part in parts]
    assert_same_model(clone(learner).fit_partitions(loaders), expected)
    csr = ((sparse.csr_array(X), y) for X, y in parts)
    other = clone(learner).fit_partitions(csr, classes=[2, 1, 0])
    np.testing.assert_allclose(other.coef_, expected.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("backend", "learner"), [("threading", LEARNERS[0]), ("loky", LEARNERS[6])]
)
def test_backend_and_n_jobs_do_not_matter(backend, learner):
    X, y = make_rows()
    parts = [Delayed(part) for part in cut(X, y, 3)]
    expected = clone(learner).fit_partitions(parts)
    with joblib.parallel_config(backend, n_jobs=2):
        assert_same_model(clone(learner).fit_partitions(parts), expected)


def test_partitions_may_lack_classes():
    X, y = make_rows()
    order = np.argsort(y, kind="stable")
    parts = [(X[order][i::3], y[order][i::3]) for i in range(3)]
    parts += [(X[y == k], y[y == k]) for k in range(3)]
    model = AveragedPerceptron().fit_partitions(parts)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    twin = AveragedPerceptron().fit_partitions(parts, classes=[0, 1, 2])
    assert_same_model(twin, model)


def test_what_no_partition_changes_stays():
    X, y = make_rows(2)
    X = np.hstack([X, np.zeros((len(X), 2), dtype=X.dtype)])
    model = Winnow(variant="positive").fit_partitions(cut(X, y, 3))
    np.testing.assert_array_equal(model.raw_coef_[0, -2:], 1.0)
    model = AveragedPerceptron(learning_rate="adagrad").fit_partitions(cut(X, y, 3))
    np.testing.assert_array_equal(model.raw_coef_[0, -2:], 0.0)


def test_learns_on_after_partitions():
    X, y, _ = make_disjunction(400, 50, n_relevant=3, random_state=0)
    model = Winnow().fit_partitions(cut(X, y, 4)).partial_fit(X, y)
    assert model.t_ == 11 * 400
    assert model.score(X, y) == 1.0


def test_names_come_from_the_partitions():
    X, y = make_rows(2)
    frame = pd.DataFrame(X).add_prefix("f")
    model = AveragedPerceptron().fit_partitions(cut_frame(frame, y))
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    model.fit_partitions(cut(X, y, 2))
    assert not hasattr(model, "feature_names_in_")


def cut_frame(frame, y):
    return [(frame.iloc[::2], y[::2]), (frame.iloc[1::2], y[1::2])]


X, Y = make_rows(2)
FRAME = pd.DataFrame(X).add_prefix("f")
NAN = np.where(X[1::2], np.nan, 0.0)
LABEL = np.where(Y[1::2], 7, 0)


@pytest.mark.parametrize("classes", [None, [0, 1]])
@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            (X[1::2, 1:], Y[1::2]),
            "Partition 1: X has 29 features, but the data",
        ),
        ((FRAME.iloc[1::2], Y[1::2]), "Partition 1: X has the column names"),
        ((NAN, Y[1::2]), "Partition 1: Input X contains NaN"),
        ((X[1::2], Y[2::2]), "Partition 1: Found input variables with inconsistent"),
        ((X[:0], Y[:1]), "Partition 1: Found array with 0 sample"),
        ((X[1::2], Y[1::2] / 3), "Partition 1: Unknown label type"),
        (lambda: X, r"Partition 1: A pair \(X, y\) must be loaded, or .* got ndarray"),
        (X[1::2], r"Partition 1 must be a pair \(X, y\), a triple"),
    ],
)
def test_errors_name_the_partition(second, message, classes):
    model = AveragedPerceptron().fit_partitions([(X[:9], Y[:9])])
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit_partitions([(X[::2], Y[::2]), second], classes)
    assert vars(model) == before


def test_the_first_column_that_differs_is_named():
    one, other = cut_frame(FRAME, Y)
    swapped = FRAME.columns[[0, 2, 1, *range(3, 30)]]
    for first, second, message in [
        (one, (other[0][swapped], other[1]), "1: Column 1 of X is 'f2', and 'f1' in"),
        (
            one,
            (other[0].to_numpy(), other[1]),
            "1: X has no column names, unlike the",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            AveragedPerceptron().fit_partitions([first, second])


@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_a_loader_that_fails_is_numbered(classes):
    def missing():
        raise FileNotFoundError("rows-1.parquet")

    with pytest.raises(FileNotFoundError, match="rows-1") as caught:
        AveragedPerceptron().fit_partitions([(X, Y), missing], classes)
    assert caught.value.__notes__ == ["This was partition 1."]


def test_labels_must_be_among_the_classes():
    parts = [(X[::2], Y[::2]), (X[1::2], LABEL)]
    with pytest.raises(ValueError, match="Partition 1: y holds the label 7"):
        AveragedPerceptron().fit_partitions(parts, [0, 1])
    model = AveragedPerceptron().fit_partitions(parts)
    np.testing.assert_array_equal(model.classes_, [0, 1, 7])
    with pytest.raises(ValueError, match="only one class"):
        AveragedPerceptron().fit_partitions([(X[Y == 1], Y[Y == 1])])
    with pytest.raises(ValueError, match="classes holds only one class, 1"):
        AveragedPerceptron().fit_partitions(parts, classes=[1])
    with pytest.raises(ValueError, match="partitions is empty"):
        AveragedPerceptron().fit_partitions([])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"early_stopping": True}, "use fit, or set max_iter"),
        ({"average": "longest"}, "average='mean' or None"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_what_needs_all_rows_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Winnow(**parameters).fit_partitions([(X, Y)])


def test_negative_values_are_refused_where_winnow_cannot_take_them():
    parts = [(X, Y), (-X.astype(float), Y)]
    with pytest.raises(ValueError, match="Partition 1: Negative values"):
        Winnow(variant="positive").fit_partitions(parts, [0, 1])


def test_schema_of_a_classifier():
    model = AveragedPerceptron().fit(FRAME, Y)
    schema = TableSchema.of(model)
    schema.check(TableSchema(30, FRAME.columns.to_numpy()))
    with pytest.raises(ValueError, match="no column names, unlike"):
        schema.check(TableSchema(30, None))
    with pytest.raises(ValueError, match="X has the column names, unlike"):
        TableSchema(30, None).check(schema)


@pytest.mark.parametrize("classes", [None, [0, 1, 2]])
def test_empty_partitions_are_skipped(classes):
    X, y = make_rows()
    full, empty = cut(X, y, 2), (X[:0], y[:0])
    parts = [empty, full[0], empty, full[1]]
    model = AveragedPerceptron(max_iter=3)
    expected = clone(model).fit_partitions(full, classes)
    assert_same_model(model.fit_partitions(parts, classes), expected)
    with pytest.raises(ValueError, match="All partitions are empty"):
        model.fit_partitions([empty, empty], classes)


@pytest.mark.parametrize(
    "model",
    [AveragedPerceptron(max_iter=3), Winnow(max_iter=3)],
    ids=lambda model: type(model).__name__,
)
def test_partitions_without_weight_are_skipped(model):
    X, y = make_rows()
    full = cut(X > 0, y, 2)
    without = *full[0], np.zeros(len(full[0][1]))
    expected = clone(model).fit_partitions(full)
    found = clone(model).fit_partitions([without, full[0], without, full[1]])
    new = (X > 0)[:50]
    np.testing.assert_array_equal(
        found.decision_function(new), expected.decision_function(new)
    )
    with pytest.raises(ValueError, match="empty or without weight"):
        model.fit_partitions([without, without])
