"""Sparse output of BooleanEncoder: runs of consecutive columns as a CSR matrix."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklboolean.preprocessing._runs import runs_to_csr

from sklboolean import BooleanEncoder

RNG = np.random.default_rng(0)
STARTS = np.array([0, 3, 5])
FIRST = np.array([0, 2, 1, 20, 22], dtype=np.int32)
LENGTH = np.array([12, 0, 1, 1, 9], dtype=np.int32)


@pytest.mark.parametrize("n_samples", [0, 1, 40])
def test_runs_are_written_one_after_the_other(n_samples):
    codes = np.stack([RNG.integers(0, 3, n_samples), RNG.integers(0, 2, n_samples)])
    codes = codes.astype(np.int32)
    indptr, indices = runs_to_csr(codes, STARTS, FIRST, LENGTH, 31, np.empty)
    assert len(indptr) == n_samples + 1
    for i in range(n_samples):
        expected = []
        for start, code in zip(STARTS, codes[:, i], strict=False):
            first, length = FIRST[start + code], LENGTH[start + code]
            expected += range(first, first + length)
        assert indices[indptr[i] : indptr[i + 1]].tolist() == expected


@pytest.mark.parametrize(
    "damage",
    [
        {"codes": np.array([[0, 3], [0, 0]], dtype=np.int32)},
        {"codes": np.array([[0, -1], [0, 0]], dtype=np.int32)},
        {"starts": np.array([0, 3])},
        {"starts": np.array([0, 3, 6])},
        {"first": FIRST - 1},
        {"length": -LENGTH},
        {"length": LENGTH[:4]},
        {"n_out": 30},
    ],
    ids=str,
)
def test_runs_that_do_not_fit_are_refused(damage):
    given = {
        "codes": np.zeros((2, 2), dtype=np.int32), "starts": STARTS, "first": FIRST,
        "length": LENGTH, "n_out": 31, "allocate": np.empty,
    }  # fmt: skip
    runs_to_csr(**given)
    with pytest.raises(ValueError, match="damaged"):
        runs_to_csr(**(given | damage))


@pytest.mark.parametrize("complement", [True, False])
@pytest.mark.parametrize("n_bins", [2, 9, 60])
def test_sparse_output_is_the_dense_one(n_bins, complement):
    frame = pd.DataFrame({"number": RNG.normal(size=300)})
    frame["gaps"] = frame["number"].where(RNG.random(300) < 0.7)
    frame["flag"] = RNG.random(300) < 0.5
    frame["color"] = pd.Series(RNG.choice(["red", "blue"], 300)).where(
        RNG.random(300) < 0.9
    )
    encoder = BooleanEncoder(n_bins=n_bins, complement=complement)
    dense = encoder.fit_transform(frame).to_numpy()
    # Values at thresholds, and a level that was not there.
    other = frame.assign(color="green")
    edge = encoder.thresholds_[0]
    other.loc[: len(edge) - 1, "number"] = edge
    with pytest.warns(UserWarning, match="green"):
        expected = encoder.transform(other).to_numpy()
    encoder.set_params(sparse_output=True)
    for X, bits in ((frame, dense), (other, expected)):
        found = encoder.transform(X)
        assert sparse.issparse(found)
        assert found.has_canonical_format
        assert found.dtype == bool
        np.testing.assert_array_equal(found.toarray(), bits)


def test_more_entries_than_32_bits_number_are_refused():
    codes = np.zeros((1, 2**16), dtype=np.int32)
    first, length = np.array([[0], [2**15]], dtype=np.int32)
    with pytest.raises(ValueError, match=r"2147483648 entries.*fewer samples"):
        runs_to_csr(codes, np.array([0, 1]), first, length, 2**15, np.empty)
