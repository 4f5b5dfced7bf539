"""Densities of real Boolean tables: likelihoods, completions, and seconds.

    python benchmarks/bench_density_real.py --data DIR [--quick] [--only TABLE]

* Test log-likelihood in nats for a row, and the share of wrong bits when each is
  predicted from all others (on 2000 test rows at most), of all density models.
* Beside them scikit-learn's BernoulliRBM, once with the default parameters and once
  with the best of three settings, by the exact likelihood of the validation rows; its
  exact likelihood is that of ``CombinationMachine.from_bernoulli_rbm``. The seconds are
  those of the best setting alone.
* Time to a given likelihood: seconds until a CombinationMachine of as many units, from
  one start, has the exact training likelihood that this BernoulliRBM ends with.
* Digits of 16 x 16 bits, 500 to learn and 500 to test, 45 hidden units: the measures of
  Freund's section 4.4, beside the thesis' numbers for its own digits.

Without ``--data`` only scikit-learn's digits are there, binarised at half the range.
Seconds are CPU time of ``fit`` (the annealing that estimates a likelihood included).
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from _timing import print_header, print_table, timed
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import BernoulliRBM

from sklboolean import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    SampledCombinationMachine,
)

N_UNITS = 16  # of BernoulliRBM, and of the machine that it is timed against
RBM_ROWS = 2_000_000  # in all passes together, and 300 passes at most
RBM_SETTINGS = [(0.1, 100), (0.03, 10), (0.01, 10)]  # learning rate, batch
FILES = {
    "nltcs": "debd_nltcs", "plants": "debd_plants", "mushrooms": "nade_mushrooms",
    "adult": "nade_adult",
}  # fmt: skip
# Bit error and reconstruction of test rows in the thesis, 45 units, other digits.
THESIS = {
    "product": (0.30, 0.78), "mixture, 45": (0.26, 0.70),
    "projection pursuit": (0.20, 0.64),
}  # fmt: skip


def load_tables(folder):
    """Return (train, validation, test) by name."""
    digits = (load_digits().data > 7).astype(np.uint8)
    digits = digits[np.random.default_rng(0).permutation(len(digits))]
    tables = {"digits": (digits[:1000], digits[1000:1297], digits[1297:])}
    if not folder:
        print("\nNo --data: only scikit-learn's digits.")
        return tables
    for name, file in FILES.items():
        with np.load(Path(folder) / f"{file}.npz", allow_pickle=False) as arrays:
            n = int(arrays["n_features"])
            parts = [arrays[f"X_{part}_packed"] for part in ("train", "valid", "test")]
        tables[name] = [np.unpackbits(part, axis=1, count=n) for part in parts]
    return tables


def models_for(name, n_samples):
    """Return the models to compare on a table."""
    # Small tables are learned by heart where nothing holds the weights.
    alpha = 3e-3 if n_samples < 2000 else 3e-4
    machine = CombinationMachine(alpha=alpha, random_state=0)
    tree = clone(machine).set_params(base="chow_liu")
    chains = SampledCombinationMachine(
        100, base="chow_liu", alpha=alpha, random_state=0
    )
    if n_samples < 3000:  # peaked rows part the chains: short steps, many of them
        chains.set_params(learning_rate=0.04, alpha=1e-3, max_iter=400)
    else:
        rate = 0.2 if n_samples < 10_000 else 0.05
        chains.set_params(learning_rate=rate, max_iter=700_000 // n_samples)
    return {
        "Chow-Liu tree": ChowLiuTree(),
        "mixture, 100": BernoulliMixture(100, random_state=0),
        "machine, 10": machine,
        "machine, 16": clone(machine).set_params(n_components=16),
        "machine on a tree, 10": tree,
        **(
            {
                "machine on a tree, 18": clone(tree).set_params(
                    n_components=18, max_iter=800
                )
            }
            if name == "plants"
            else {}
        ),
        "machine by chains, 100": chains,
    }


def rbm_row(rbm, train):
    """Fit a BernoulliRBM; return it as a machine, and the seconds."""
    _, seconds = timed(lambda: rbm.fit(train))
    return CombinationMachine.from_bernoulli_rbm(rbm), seconds


def tuned_rbm(train, validation, n_iter):
    """Return the best BernoulliRBM of several settings: title, seconds, machine."""
    runs = []
    for rate, size in RBM_SETTINGS:
        rbm = BernoulliRBM(
            N_UNITS, learning_rate=rate, batch_size=size, n_iter=n_iter, random_state=0
        )
        machine, seconds = rbm_row(rbm, train)
        title = f"BernoulliRBM, {N_UNITS}, rate {rate}, batch {size}, {n_iter} passes"
        runs.append((machine.score(validation), title, seconds, machine))
    return max(runs, key=lambda run: run[0])[1:]


def cells_of(model, test, completed):
    """Return likelihood and completion error as cells."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The log-likelihood is an estimate")
        score = model.score(test)
    shown = f"{score:.2f}"
    low, high = sorted(getattr(model, "log_partition_bounds_", (0.0, 0.0)))
    if high > low:
        # The score takes the larger sum over all states.
        shown = f"{score + high - low:.2f} to {score:.2f}"
    return [shown, f"{model.completion_error(completed):.4f}"]


def compare(name, train, validation, test, quick):
    """Print all models of a table; return a row of the table of times."""
    rows, completed = [], test[:2000]
    for title, model in models_for(name, len(train)).items():
        if quick and "max_iter" in model.get_params():
            model.set_params(max_iter=2)
        _, seconds = timed(lambda model=model: model.fit(train))
        rows.append([title, *cells_of(model, test, completed), f"{seconds:.1f}"])
    machine, seconds = rbm_row(BernoulliRBM(N_UNITS, random_state=0), train)
    title = f"BernoulliRBM, {N_UNITS}, default"
    rows.append([title, *cells_of(machine, test, completed), f"{seconds:.1f}"])
    n_iter = 2 if quick else min(300, RBM_ROWS // len(train))
    title, seconds, machine = tuned_rbm(train, validation, n_iter)
    rows.append([title, *cells_of(machine, test, completed), f"{seconds:.1f}"])
    n_samples, n = train.shape
    print_table(
        f"{name}: {n_samples} rows of {n} bits, {len(test)} to test",
        ["model", "nats", "wrong bits", "s"],
        rows,
    )
    return [name, *time_to(machine.score(train), train, seconds)]


def time_to(level, train, peer_seconds):
    """Return cells: the likelihood, the peer's seconds, ours, their ratio."""
    machine = CombinationMachine(N_UNITS, n_init=1, random_state=0).fit(train)
    reached = np.flatnonzero(machine.log_likelihoods_ >= level)
    if not len(reached):
        return f"{level:.2f}", f"{peer_seconds:.1f}", "not reached", ""
    machine.set_params(max_iter=int(reached[0]) + 1)
    _, seconds = timed(lambda: machine.fit(train))
    ratio = f"{peer_seconds / seconds:.1f}x"
    return f"{level:.2f}", f"{peer_seconds:.1f}", f"{seconds:.2f}", ratio


def digits_of_16_by_16(folder, quick):
    """Print the measures of the thesis for 45 hidden units."""
    with np.load(Path(folder) / "usps_binarized.npz", allow_pickle=False) as arrays:
        X = np.unpackbits(arrays["X_train_packed"], axis=1)
    X = X[np.random.default_rng(0).permutation(len(X))[:1000]]
    train, test = X[:500], X[500:]
    chains = SampledCombinationMachine(
        45, alpha=1e-2, max_iter=2 if quick else 200, random_state=0
    )
    pursuit = clone(chains).set_params(init="projection_pursuit")
    models = {
        "product": BernoulliMixture(1),
        "mixture, 45": BernoulliMixture(45, random_state=0),
        "projection pursuit": clone(pursuit).set_params(max_iter=0),
        "projection pursuit, chains": pursuit,
        "chains": chains,
        "chains on a tree": clone(chains).set_params(base="chow_liu"),
    }
    rows = []
    for title, model in models.items():
        _, seconds = timed(lambda model=model: model.fit(train))
        errors = [model.completion_error(rows) for rows in (train, test)]
        codes = [model.reconstruction_error(rows) for rows in (train, test)]
        thesis = (f"{value:.2f}" for value in THESIS.get(title, ()))
        cells = [f"{value:.3f}" for value in (*errors, *codes)]
        thesis = [*thesis] or ["", ""]
        nats, _ = cells_of(model, test, test[:1])
        rows.append([title, *cells, nats, f"{seconds:.1f}", *thesis])
    columns = (
        "model", "bit train", "test", "code train", "test", "nats", "s", "thesis bit",
        "code",
    )  # fmt: skip
    print_table("Digits of 16 x 16 bits, 500 and 500", columns, rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and meaningless")
    parser.add_argument("--only", help="one table")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with debd_*.npz, nade_*.npz and usps_binarized.npz (README.md)",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_header("Densities of real tables")
    times = []
    for name, parts in load_tables(options.data).items():
        if options.only in (None, name):
            parts = [part[:300] for part in parts] if options.quick else parts
            times.append(compare(name, *parts, options.quick))
    columns = "data", "nats of a training row", "BernoulliRBM s", "machine s", "ratio"
    if times:
        title = f"Time to the likelihood of BernoulliRBM, {N_UNITS} units"
        print_table(title, columns, times)
    if options.data and options.only in (None, "usps"):
        digits_of_16_by_16(options.data, options.quick)


if __name__ == "__main__":
    sys.exit(main())
