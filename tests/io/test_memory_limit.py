"""Fits to tables of bits keep to the limit of memory of the table."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import is_regressor

from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BoostByMajority,
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    KernelPerceptron,
    RuleClassifier,
    Winnow,
)
from sklboolean._core import memory
from sklboolean._core.memory import MemoryCost, as_bytes, check_free, free_bytes
from sklboolean.boosting import ConjunctionStump
from sklboolean.io import BitTable, predict_to_parquet

RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (400, 70)).astype(bool)
LABELS = np.where(BITS[:, 3] & BITS[:, 5] | BITS[:, 64], "yes", "no")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "bits"
    BitTable.write(path, [(BITS, LABELS)])
    return path


def test_limits_are_bytes_or_texts(path):
    for limit, expected in {
        "2 GB": 2 * 10**9, "1.5GiB": 3 * 2**29, "500 mb": 5 * 10**8, 2**21: 2**21,
        "2097152 B": 2**21,
    }.items():  # fmt: skip
        assert as_bytes(limit) == expected
    for wrong in ("2 gigs", "GB", "-2 GB", 100, "1 KB", "nan GB"):
        with pytest.raises(ValueError, match="memory_limit"):
            BitTable(path, memory_limit=wrong)
    with pytest.raises(TypeError, match="memory_limit"):
        BitTable(path, memory_limit=2.5)
    table = BitTable(path, memory_limit="1 GB")
    assert table[:50].memory_limit == table.memory_limit == 10**9
    assert pickle.loads(pickle.dumps(table)).memory_limit == 10**9


def test_what_is_free_is_known_before_it_is_asked_for(tmp_path, monkeypatch):
    if os.path.exists("/proc/meminfo"):
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        assert 0 < free_bytes() <= pages
    # A container of 3 MB, of which 2 MB are used, 1 MB of it by files that were read,
    # beside one without a limit.
    numbers = "anon 1000000\ninactive_file 1000000\ntotal_inactive_file 1000000"
    for name, text in (
        ("a", "3000000"), ("b", "2000000"), ("c", "max"), ("memory.stat", numbers)
    ):  # fmt: skip
        (tmp_path / name).write_text(text + "\n")
    limits = (
        (tmp_path, "c", "b", "inactive_file"),
        (tmp_path / "absent", "a", "b", "inactive_file"),
        (tmp_path, "a", "b", "total_inactive_file"),
    )
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", limits)
    assert free_bytes() == 2 * 10**6
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**30)
    check_free(2**30, "All", "Take less.")
    with pytest.raises(ValueError, match=r"^All .* 2 GiB .* 1 GiB are free. Take less"):
        check_free(2**31, "All", "Take less.")


@pytest.mark.parametrize(
    "model",
    [
        AveragedPerceptron(),
        Winnow(),
        RuleClassifier(),
        ConjunctionLogisticRegression(C=1.0),
        ConjunctionRegressor(C=1.0),
        BoostByMajority(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_that_may_take_more_does_not_begin(model, path, monkeypatch):
    name, table = type(model).__name__, BitTable(path)
    cost = model._memory
    of_each = cost.of_each(table, None)
    # Two words; labels of at most three characters of four bytes, twice.
    assert of_each == cost.of_sample + 16 * cost.of_packed + 24
    need = cost.fixed + 400 * of_each
    if not is_regressor(model):
        table.memory_limit = int(np.ceil(need))
        assert model.fit(table).score(table) > 0.7
    table.memory_limit = int(need) - 1
    monkeypatch.setattr(BitTable, "_read_labels", None)  # nothing is read
    before = dict(vars(model))
    message = f"{name} takes up to .* bytes to fit 400 samples of 70 features"
    with pytest.raises(ValueError, match=rf"{message}.*partial_fit.*memory_limit"):
        model.fit(table)
    assert vars(model) == before
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="takes up to"):
            model.partial_fit(table)


def test_parts_and_arrays_are_not_refused(path):
    table = BitTable(path)
    model = AveragedPerceptron(random_state=0)
    cost = model._memory
    table.memory_limit = int(cost.fixed + 100 * cost.of_each(table, None)) + 1
    expected = AveragedPerceptron(random_state=0).fit(BITS[:100], LABELS[:100])
    assert pickle.dumps(model.fit(table[:100])) == pickle.dumps(expected)
    with pytest.raises(ValueError, match="takes up to"):
        model.fit(table[:101])
    model.fit(BITS, LABELS)


def test_more_classes_take_more(path):
    table, cost = BitTable(path), AveragedPerceptron()._memory
    codes = np.arange(400) % 5
    assert cost.of_each(table, codes) - cost.of_each(table, codes % 2) == (
        3 * cost.of_output
    )
    texts = np.array(list("01234"))[codes]
    for same in (texts.tolist(), texts.astype(object)):
        assert cost.of_each(table, same) == cost.of_each(table, texts)


@pytest.mark.parametrize(
    "model",
    [
        KernelPerceptron(),
        BernoulliMixture(2),
        ConjunctionLogisticRegression(),
        BoostByMajority(ConjunctionStump()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_without_known_bound_needs_a_table_without_limit(model, path):
    table = BitTable(path, memory_limit="1 TB")
    with pytest.raises(ValueError, match=r"no bound of its memory is known.*table\["):
        model.fit(table)


def test_conjunctions_stop_where_memory_does(tmp_path):
    model = ConjunctionLogisticRegression(C=1.0)
    labels = BITS[:, 3] & BITS[:, 5] | BITS[:, 64] & BITS[:, 65]
    table = BitTable.write(tmp_path / "bits", [(BITS, labels)])
    whole = model.fit(table).conjunctions_
    cost = model._memory
    need = cost.fixed + 400 * cost.of_each(table, None)
    n_most = 1  # an eighth of a byte of each sample; single features are in the cost
    assert sum(len(one) > 1 for one in whole) > n_most
    table.memory_limit = int(need + 400 * n_most / 8) + 1
    model.fit(table)
    assert sum(len(one) > 1 for one in model.conjunctions_) == n_most
    assert not model.is_optimal_
    assert model.optimality_gap_ > 0


def test_predictions_keep_to_the_limit_of_the_table(path, tmp_path, monkeypatch):
    from sklboolean.io import _prediction

    limits = []
    found = _prediction._samples_within

    def noted(limit, *rest):
        limits.append(limit)
        return found(limit, *rest)

    monkeypatch.setattr(_prediction, "_samples_within", noted)
    table = BitTable(path, memory_limit="64 MiB")
    model = AveragedPerceptron().fit(table)
    predict_to_parquet(model, table, tmp_path / "a.parquet")
    predict_to_parquet(model, table, tmp_path / "a.parquet", memory_limit="32 MiB")
    predict_to_parquet(model, BitTable(path), tmp_path / "a.parquet")
    assert limits == [2**26, 2**25]


def peak_of_a_fit(path, model):
    """Return the bytes that a fit added to its process, a fresh one, at most."""
    code = """
import gc, json, sys, warnings
from sklboolean import *
from sklboolean.io import BitTable

def held(name):
    with open("/proc/self/status") as lines:
        return next(1024 * int(l.split()[1]) for l in lines if l.startswith(name))

warnings.simplefilter("ignore")
table = BitTable(sys.argv[1], verify=False, memory_limit="100 GB")
n_samples = len(table)
eval(sys.argv[2]).fit(table[:2000])  # what is imported is no memory of the fit
model = eval(sys.argv[2])
cost = model._memory
need = cost.of_all(table, None) + n_samples * cost.of_each(table, None)
table.memory_limit = int(need) + n_samples * 25  # up to 200 conjunctions
gc.collect()
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = held("VmRSS")
model.fit(table)
print(json.dumps([held("VmHWM") - before, table.memory_limit]))
"""
    command = [sys.executable, "-c", code, str(path), model]
    # Not in the folder of the source, which Python would import instead.
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=path.parent
    )
    return json.loads(done.stdout)


# Of large coefficients, of held-out samples, and of lists of ones.
OTHER_WAYS = {
    100: (
        "ConjunctionLogisticRegression(C=10.0, max_literals=2)",
        "AveragedPerceptron(early_stopping=True)",
        "RuleClassifier(penalty=2.0, literal_cost=4)",
    ),
    400: (),
    64: ("RuleClassifier(penalty=1.0, literal_cost=4)",),
}


@pytest.mark.slow
@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="Linux tells the peak"
)
@pytest.mark.parametrize(
    ("n_batches", "n_features", "n_classes"), [(16, 100, 2), (3, 400, 2), (2, 64, 4)]
)
def test_real_fits_stay_below_what_is_declared(
    n_batches, n_features, n_classes, tmp_path
):
    def batches():
        for number in range(n_batches):
            rng = np.random.default_rng(number)
            X = rng.integers(0, 2, (65_600, n_features), dtype=np.uint8).view(bool)
            y = (X[:, 3] & X[:, 60]).astype(int) + 2 * (X[:, 5] & X[:, 6])
            noise = rng.integers(0, n_classes, len(X))
            yield X, np.where(rng.random(len(X)) < 0.1, noise, y % n_classes)

    path = tmp_path / "bits"
    BitTable.write(path, batches())
    weighted = tmp_path / "weighted"
    if n_features == 100:
        rng = np.random.default_rng(0)
        BitTable.write(weighted, ((X, y, rng.random(len(X))) for X, y in batches()))
    numbers = tmp_path / "numbers"
    BitTable.write(numbers, ((X, y + 0.5) for X, y in batches()))
    exact = "work_limit=None, max_literals=2"
    for model in (
        "AveragedPerceptron(max_iter=2, random_state=0)",
        "Winnow(max_iter=2, random_state=0)",
        f"ConjunctionLogisticRegression(C=300 / n_samples, {exact})",
        "RuleClassifier(max_literals=2, penalty=1.0, literal_cost=1000.0)",
        "BoostByMajority(n_estimators=15, random_state=0)",
        *OTHER_WAYS[n_features],
        f"ConjunctionRegressor(C=300 / n_samples, {exact})",
    ):
        is_of_numbers = model.startswith("ConjunctionRegressor")
        source = numbers if is_of_numbers else path
        peak, limit = peak_of_a_fit(weighted if "penalty=2" in model else source, model)
        assert peak < limit, (model, peak / limit)


def test_pairs_of_classes_count_where_there_are_more_than_two(tmp_path):
    X, cost = np.zeros((60, 3)), MemoryCost(1000, 5, 2.0, 7, 100)
    for n_classes, n_pairs in ((2, 0), (3, 3), (20, 190)):
        y = np.arange(60) % n_classes
        table = BitTable.write(tmp_path / str(n_classes), [(X, y)])
        assert cost.of_all(table, None) == cost.of_all(table, y) == 1000 + 100 * n_pairs
    table.memory_limit = 200 * 10**6
    with pytest.raises(ValueError, match=r"RuleClassifier takes up to .*memory_limit"):
        RuleClassifier().fit(table)
