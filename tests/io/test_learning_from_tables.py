"""Estimators on bit tables against the same samples in memory."""

import pickle

import numpy as np
import pandas as pd
import pytest
from _instances import CASES
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score

from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanEncoder,
    BooleanSVC,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    KernelPerceptron,
    RuleClassifier,
)
from sklboolean._core import conjunction_table
from sklboolean.boosting import BoostingSchedule
from sklboolean.io import BitTable
from sklboolean.kernels import conjunction_kernel

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (60, 66)).astype(bool)
LABELS = np.where(BITS[:, 3] & BITS[:, 5] | BITS[:, 64], "yes", "no")
NUMBERS = BITS[:, :9].sum(axis=1) + RNG.normal(size=60)
WEIGHTS = RNG.integers(0, 3, 60).astype(np.float64)
# Models of numbers, of missing values, or of other estimators.
NUMERIC = (
    "boolean_encoder", "consistent_halfspace", "filtering", "online_boost",
    "density_imputer", "gaussian_combination",
    "query_by_committee", "boost_by_majority_regressor", "boost_by_majority_trees",
)  # fmt: skip
QUICK = {name: case for name, case in CASES.items() if case.quick is not None}
QUICK.pop("conjunction_features_frequent")  # takes long


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def labelled(folder):
    return BitTable.write(
        folder / "labelled", [(BITS[:20], LABELS[:20]), (BITS[20:], LABELS[20:])]
    )


@pytest.fixture(scope="module")
def numbered(folder):
    return BitTable.write(folder / "numbered", [(BITS, NUMBERS)])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [n for n in QUICK if not n.startswith(NUMERIC)])
def test_the_model_of_a_table_is_that_of_memory(name, labelled, numbered):
    expected, found = QUICK[name].model(), QUICK[name].model()
    table, y = (numbered, NUMBERS) if is_regressor(found) else (labelled, LABELS)
    expected.fit(BITS, y)
    found.fit(table)
    if not name.startswith("boolean_ensemble"):  # which needs no encoder for a table
        assert pickle.dumps(found) == pickle.dumps(expected)
    methods = "predict", "predict_proba", "decision_function", "score_samples"
    for method in ("transform", *methods):
        if hasattr(found, method):
            of_table, of_array = (
                getattr(found, method)(table),
                getattr(expected, method)(BITS),
            )
            if hasattr(of_table, "toarray"):
                of_table, of_array = of_table.toarray(), of_array.toarray()
            np.testing.assert_array_equal(of_table, of_array)
    if is_classifier(found) or is_regressor(found):
        assert found.score(table) == expected.score(BITS, y)


@pytest.mark.parametrize("name", [n for n in QUICK if n.startswith(NUMERIC)])
def test_models_of_numbers_say_what_to_pass(name, labelled):
    model = QUICK[name].model()
    y = NUMBERS if is_regressor(model) else LABELS
    with pytest.raises(ValueError, match=r"BitTable.*table\.batches\(\)"):
        model.fit(labelled, y)


@pytest.mark.parametrize(
    "model",
    [
        AveragedPerceptron(random_state=0),
        BooleanSVC(),
        KernelPerceptron(random_state=0),
        RuleClassifier(max_rules=1, max_literals=1, penalty=1.0, literal_cost=1.0),
        ConjunctionLogisticRegression(C=1.0, max_literals=1),
        ConjunctionRegressor(C=1.0, max_literals=1),
        BoostByMajority(
            schedule=BoostingSchedule(gamma=0.2, target_error=0.2), random_state=0
        ),
        BernoulliMixture(2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_labels_and_weights_are_those_of_the_table_unless_given(model, tmp_path):
    y = NUMBERS if is_regressor(model) else LABELS
    other = NUMBERS[::-1] if is_regressor(model) else LABELS[::-1]
    table = BitTable.write(tmp_path / "t", [(BITS, y, WEIGHTS)])
    found = clone(model).fit(table)
    expected = clone(model).fit(BITS, y, sample_weight=WEIGHTS)
    assert pickle.dumps(found) == pickle.dumps(expected)
    if is_classifier(found) or is_regressor(found):
        assert found.score(table) == found.score(BITS, y, sample_weight=WEIGHTS)
    found = clone(model).fit(table, other, sample_weight=np.ones(60))
    expected = clone(model).fit(BITS, other)
    assert pickle.dumps(found) == pickle.dumps(expected)


def test_names_of_a_table_are_those_of_a_data_frame(tmp_path):
    frame = pd.DataFrame({"a": BITS[:, 0], "b": BITS[:, 1]})
    table = BitTable.write(tmp_path / "t", [(frame, BITS[:, 0])])
    model = AveragedPerceptron().fit(table)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert (model.predict(frame) == model.predict(table)).all()
    turned = BitTable.write(tmp_path / "turned", [(frame[["b", "a"]], BITS[:, 0])])
    with pytest.raises(ValueError, match="X has 'b' in the place of 'a'"):
        model.predict(turned)
    wide = BitTable.write(tmp_path / "wide", [(BITS, LABELS)])
    assert not hasattr(model.fit(wide), "feature_names_in_")
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(table)


def test_labels_of_tables_are_checked(labelled, tmp_path):
    plain = BitTable.write(tmp_path / "t", [BITS])
    for model in (AveragedPerceptron(), RuleClassifier(), BoostByMajority()):
        with pytest.raises(ValueError, match="requires y to be passed"):
            model.fit(plain)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.fit(labelled, LABELS[:-1])
    with pytest.raises(ValueError, match="missing values"):
        AveragedPerceptron().fit(labelled, [*LABELS[:-1], None])
    with pytest.raises(ValueError, match="binarize=1 would make all features false"):
        RuleClassifier(binarize=1.0).fit(labelled)
    with pytest.raises(ValueError, match="BitTable"):
        BooleanEncoder().fit(labelled)


def test_streams_kernels_and_cross_validation_take_tables(labelled):
    stream = AveragedPerceptron().partial_fit(labelled, classes=labelled.classes)
    expected = AveragedPerceptron().partial_fit(BITS, LABELS, classes=["no", "yes"])
    np.testing.assert_array_equal(stream.coef_, expected.coef_)
    np.testing.assert_array_equal(
        conjunction_kernel(labelled, labelled[:9]), conjunction_kernel(BITS, BITS[:9])
    )
    model = BooleanSVC()
    np.testing.assert_array_equal(
        cross_val_score(model, labelled, labelled.y, cv=3),
        cross_val_score(model, BITS, LABELS, cv=3),
    )
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(labelled, labelled.y)
    expected = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(BITS, LABELS)
    assert search.best_params_ == expected.best_params_
    again = pickle.loads(pickle.dumps(labelled))
    assert len(pickle.dumps(labelled)) < 500
    np.testing.assert_array_equal(again.words, labelled.words)


def test_a_stream_of_parts_of_a_table_reads_their_labels_only(tmp_path, monkeypatch):
    table = BitTable.write(tmp_path / "t", [(BITS, LABELS, WEIGHTS)])
    monkeypatch.setattr(BitTable, "y", property(lambda table: pytest.fail("all read")))
    stream = AveragedPerceptron()
    for first in range(0, 60, 25):
        part = table[first : first + 25]
        stream.partial_fit(part, classes=table.classes)
        assert (part.y == LABELS[first : first + 25]).all()
        assert (part.sample_weight == WEIGHTS[first : first + 25]).all()


@pytest.mark.parametrize("cost_of_blocks", [0, 1e9])
def test_samples_that_are_listed_in_pieces_give_the_same(cost_of_blocks, monkeypatch):
    monkeypatch.setattr(conjunction_table, "BINS", cost_of_blocks)
    model = ConjunctionLogisticRegression(C=1.0, max_literals=2)
    expected = pickle.dumps(model.fit(BITS, LABELS))
    monkeypatch.setattr(conjunction_table, "LISTED", 99)  # about three samples
    assert pickle.dumps(model.fit(BITS, LABELS)) == expected


def test_partitions_may_be_tables(labelled):
    model = AveragedPerceptron(random_state=0)
    expected = pickle.dumps(model.fit_partitions([(BITS[:20], LABELS[:20])]))
    parts = [(labelled[:20], labelled.y[:20])]
    assert pickle.dumps(model.fit_partitions(parts)) == expected
