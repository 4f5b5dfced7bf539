"""Partitions on the workers of a cluster: the same model, and few bytes sent."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_equal
from parallel_cases import plain
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    BoostByMajority,
    ConjunctionLogisticRegression,
    KernelPerceptron,
    RuleClassifier,
    Winnow,
)

dask = pytest.importorskip("dask")
pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

rng = np.random.RandomState(0)
X = rng.rand(3000, 40) < 0.4
Y = X[:, :4].sum(axis=1) > 1
PARTS = [(X[i::3].copy(), Y[i::3].copy()) for i in range(3)]

ESTIMATORS = [
    AveragedPerceptron(max_iter=3),
    Winnow(max_iter=3),
]
# These get the samples as bits.
BIT_MODELS = [
    ConjunctionLogisticRegression(C=0.1, max_literals=2),
    KernelPerceptron(max_iter=2, random_state=0),
    RuleClassifier("labels", max_literals=2, penalty=1.0, literal_cost=4.0),
    BoostByMajority(n_estimators=9, random_state=0),
]
ORDERED_X = np.concatenate([X for X, _ in PARTS])
ORDERED_Y = np.concatenate([y for _, y in PARTS])


def loader(part):
    def load():
        return part

    return load


FORMS = {
    "arrays": lambda part: part,
    "callables": loader,
    "delayed": dask.delayed,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_model_of_partitions_is_the_same(model, form, finished):
    alone = clone(model).fit_partitions(PARTS)
    with parallel_config("dask"):
        spread = clone(model).fit_partitions([FORMS[form](part) for part in PARTS])
    assert sum(key.startswith("batch_of") for key in finished) > 3
    assert_equal(plain(spread), plain(alone))
    assert_equal(spread.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize("form", ["arrays", "callables"])
def test_rows_are_not_sent_in_every_epoch(form, client, bytes_moved, tmp_path):
    if form == "callables":
        for number, part in enumerate(PARTS):
            np.savez(tmp_path / f"{number}.npz", X=part[0], y=part[1])
        paths = [str(tmp_path / f"{number}.npz") for number in range(3)]
        scatter, partitions = [], [reader(path) for path in paths]
    moved = []
    for n_epochs in (2, 10):
        if form == "arrays":
            partitions = [changed(part, n_epochs) for part in PARTS]
            scatter = [array for part in partitions for array in part]
        model = AveragedPerceptron(max_iter=n_epochs)
        with parallel_config("dask", scatter=scatter):
            model.fit_partitions(partitions, classes=[False, True])
        assert model.n_iter_ == n_epochs
        moved.append(bytes_moved())
    # Eight epochs more would send the table eight times, over two wires.
    assert moved[1] - moved[0] < 8 * X.nbytes


def changed(part, row):
    """Other content: the same, spread again while Dask drops it, may be lost."""
    X, y = (array.copy() for array in part)
    X[row] ^= True
    y[row] ^= True
    return X, y


def reader(path):
    def read():
        import numpy as np

        with np.load(path) as file:
            return file["X"], file["y"]

    return read


def test_bits_of_partitions_give_the_model_of_one_place(finished):
    for parts in (list(map(dask.delayed, PARTS)), list(map(loader, PARTS))):
        for model in BIT_MODELS:
            finished.clear()
            with parallel_config("dask"):
                spread = clone(model).fit(parts)
            tasks = [key for key in finished if key.startswith(("batch_of", "_call"))]
            assert len(tasks) == 3
            alone = clone(model).fit(ORDERED_X, ORDERED_Y)
            assert_equal(plain(spread), plain(alone))


@pytest.mark.parametrize(
    "model", [AveragedPerceptron(), BIT_MODELS[0]], ids=["averaged", "as bits"]
)
def test_partition_is_loaded_again_after_its_worker_was_killed(model, mortals, die):
    method = "fit_partitions" if model is not BIT_MODELS[0] else "fit"
    alone = getattr(clone(model), method)(list(map(loader, PARTS)))
    with parallel_config("dask"):
        spread = getattr(clone(model), method)(deadly(die))
    assert_equal(plain(spread), plain(alone))


def deadly(die):
    """Return partitions of which one kills the first worker to load it."""
    first, *others = [loader(part) for part in PARTS]

    def load():
        die()
        return first()

    return [load, *others]


def maker():
    # A function inside another one is sent as it is, not by the name of this module,
    # which workers cannot import.
    def mixed(number):
        """Make a partition of a data frame, where the task runs."""
        import numpy as np
        import pandas as pd

        rng = np.random.default_rng(number)
        columns = {f"n{j}": rng.normal(size=20_000).round(2) for j in range(5)}
        columns |= {f"k{j}": rng.choice(list("abcdef"), 20_000) for j in range(5)}
        frame = pd.DataFrame(columns)
        return frame.assign(y=(frame["n0"] > 0.5) & (frame["k0"] != "a"))

    return mixed


mixed = maker()
PIPELINE = make_pipeline(
    BooleanEncoder(), ConjunctionLogisticRegression(C=0.1, max_literals=1)
)


@pytest.mark.parametrize("is_kept", [False, True])
def test_frame_sends_little_more_than_its_bits(is_kept, client, bytes_moved):
    frame = dask.dataframe.from_map(mixed, range(4))
    if is_kept:  # workers keep the samples, which must not go to others
        frame = frame.persist()
        distributed.wait(frame)
        bytes_moved()
    columns = list(frame.columns[:-1])
    model = clone(PIPELINE).fit(frame[columns], frame["y"])
    moved, whole = bytes_moved(), pd.concat(map(mixed, range(4)))
    alone = clone(PIPELINE).fit(whole[columns], whole["y"])
    assert_equal(plain(model[-1]), plain(alone[-1]))
    # Two words and a byte for each sample; counts of the values of five columns.
    assert moved < 1.2 * 80_000 * (2 * 8 + 1) + 4 * 5 * 1200 * 16
    predicted = model.predict(frame[columns])
    bytes_moved()
    assert predicted.sum().compute() == alone.predict(whole[columns]).sum()
    # The model went to four tasks. No part went: the least form of one are its bits.
    assert bytes_moved() < 20_000 * (2 * 8 + 1)


def test_frame_is_read_again_after_its_worker_was_killed(mortals, die):
    make = maker()

    def read(number):
        if number == 2:
            die()
        return make(number)

    meta = mixed(0).head(0)
    frame = dask.dataframe.from_map(read, range(4), meta=meta)
    columns = list(frame.columns[:-1])
    model = clone(PIPELINE).fit(frame[columns], frame["y"])
    whole = pd.concat(map(mixed, range(4)))
    alone = clone(PIPELINE).fit(whole[columns], whole["y"])
    assert_equal(plain(model[-1]), plain(alone[-1]))
