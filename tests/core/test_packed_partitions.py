"""Fits to partitions that are sent as bits are those of all samples in one place."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from parallel_cases import Delayed
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.tree import DecisionTreeClassifier

from sklboolean import (
    BooleanStump,
    BooleanSVC,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    KernelPerceptron,
    RuleClassifier,
)
from sklboolean.io import BitTable

RNG = np.random.default_rng(0)
X = 3 * RNG.random((120, 5))
Y = np.where((X[:, 0] > 1.5) & (X[:, 3] > 1.5), "yes", "no")
NUMBERS = X[:, 0] + RNG.normal(size=120)
WEIGHTS = RNG.integers(0, 3, 120) / 2
WEIGHTS[20] = 0
NAMES = [f"c{j}" for j in range(5)]
MODELS = [
    ConjunctionLogisticRegression(
        [0.1, 1], max_literals=2, binarize=1.5, random_state=0
    ),
    ConjunctionRegressor([0.1, 1], max_literals=2, binarize=1.5, random_state=0),
    RuleClassifier(binarize=1.5, max_literals=2, random_state=0),
    BoostByMajority(BooleanStump(binarize=1.5), n_estimators=9, random_state=0),
    BooleanSVC(binarize=1.5, class_weight="balanced"),
    KernelPerceptron(average="voted", binarize=1.5, random_state=0),
    KernelPerceptron(binarize=1.5, class_weight="balanced", random_state=0),
]
RULES = RuleClassifier("labels", max_literals=1, random_state=0)
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)


@every_model
@pytest.mark.parametrize("is_weighted", [False, True])
def test_any_division_gives_the_model_of_one_place(model, is_weighted):
    y = NUMBERS if is_regressor(model) else Y
    arrays = [X, y, WEIGHTS] if is_weighted else [X, y]
    expected = pickle.dumps(clone(model).fit(*arrays))
    for cuts in ([], [0, 20, 20, 21, 90]):  # empty parts, and one without weight
        parts = zip(*(np.split(array, cuts) for array in arrays), strict=True)
        assert pickle.dumps(clone(model).fit_partitions(list(parts))) == expected


def test_forms_of_partitions_are_alike(tmp_path):
    dask_array, frames = map(pytest.importorskip, ("dask.array", "dask.dataframe"))
    bits = (X > 1.5).astype(np.uint8)
    expected = clone(RULES).fit(bits, Y)
    one, other = (bits[:70], Y[:70]), (bits[70:], Y[70:])
    table = BitTable.write(tmp_path / "bits", [one])
    for parts in (
        [(table, table.y), lambda: other],
        [Delayed(one), (sparse.csr_array(other[0]), other[1].tolist())],
        [(*one, np.ones(70)), other],
        tuple(dask_array.from_array(a, chunks=(40, *a.shape[1:])) for a in (bits, Y)),
    ):
        found = clone(RULES).fit_partitions(parts)
        assert pickle.dumps(found) == pickle.dumps(expected)
    frame = pd.DataFrame(bits, columns=NAMES).assign(y=Y)
    divided = frames.from_pandas(frame, npartitions=3)
    found = clone(RULES).fit_partitions((divided[NAMES], divided["y"]))
    assert found.rules_ == clone(RULES).fit(frame[NAMES], Y).rules_
    parts = dask_array.from_array(bits, chunks=(120, 4)), divided["y"]
    with pytest.raises(ValueError, match=r"several chunks.*rechunk"):
        RULES.fit_partitions(parts)
    with pytest.raises(ValueError, match="have 3, 1 partitions"):
        RULES.fit_partitions((divided[NAMES], dask_array.from_array(Y)))


def test_partitions_that_are_refused_change_nothing():
    bits = (X > 1.5).astype(np.uint8)
    frame = pd.DataFrame(bits, columns=NAMES)
    model = clone(RULES).fit(bits, Y)
    before = dict(vars(model))
    for second, message in [
        ((frame, Y), "Partition 1: X has the column names, unlike"),
        ((bits[:, 1:], Y), "Partition 1: X has 4 features"),
        ((bits, Y == "yes"), "Partition 1: y holds bool, but .*one type"),
        ((bits, Y, -WEIGHTS), "Partition 1: .*sample_weight"),
        ((np.where(bits, np.nan, 0), Y), "Partition 1: Input X contains NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit_partitions([(bits, Y), second])
    with pytest.raises(ValueError, match="All partitions are empty"):
        model.fit_partitions([(bits[:0], Y[:0])])
    assert vars(model) == before
    with pytest.raises(ValueError, match="no rows of a kernel matrix"):
        KernelPerceptron("precomputed").fit_partitions([(bits @ bits.T, Y)])
    with pytest.raises(ValueError, match="only stumps learn from"):
        BoostByMajority(DecisionTreeClassifier()).fit_partitions([(bits, Y)])


@pytest.mark.parametrize("n_parts", [8, 64])
def test_bytes_are_those_of_the_cost_model_of_the_guide(n_parts, monkeypatch):
    bits, returned = RNG.integers(0, 2, (1600, 100), dtype=np.uint8), []
    y = (bits[:, 0] & bits[:, 1]).astype(np.int64)
    pack = RuleClassifier._pack_partition

    def counted(worker, number, *source):
        result = pack(worker, number, *source)
        returned.append(len(pickle.dumps(result)))
        return result

    monkeypatch.setattr(RuleClassifier, "_pack_partition", counted)
    loaders = [
        lambda part=part: (bits[part::n_parts], y[part::n_parts])
        for part in range(n_parts)
    ]
    with parallel_config("threading", n_jobs=2):
        clone(RULES).fit_partitions(loaders)
    of_sample = 8 * 2 + 8  # two words and a label
    assert len(returned) == n_parts
    assert sum(returned) - len(y) * of_sample < 600 * n_parts


def test_sums_are_refused_and_bits_need_no_word():
    parts = [((X > 1.5).astype(np.uint8), Y)]
    with pytest.raises(ValueError, match=r"by_sums=True is not .* Leave it out"):
        clone(RULES).fit_partitions(parts, by_sums=True)
    with pytest.warns(FutureWarning, match="'by_sums' is deprecated. Leave it out"):
        found = clone(RULES).fit_partitions(parts, by_sums=False)
    assert found.rules_ == clone(RULES).fit_partitions(parts).rules_
