"""The combination machine beside other models: what Freund's section 4.4 measures.

    python benchmarks/papers/combination_machine.py [--quick]

Y. Freund (1993). Data Filtering and Distribution Modeling Algorithms for Machine
Learning. PhD thesis, University of California, Santa Cruz.

`bench_density.py` has the first two tables of that section for pictures of our own, and
`bench_density_real.py --data DIR` the third, on digits of 16 x 16 bits. Here is what
they leave out:

* All three measures of the thesis as differences from the true model, its own beside
  them: the methods of the thesis, on the pictures of `bench_density.py`.
* Projection pursuit alone by the size of the weights. It takes inputs for real numbers,
  and the thesis explains its likelihood by that.
* The third table for scikit-learn's digits, which need no download: 8 x 8 bits.
* The measure of reconstruction as printed and as it must be, by enumeration.
"""

import argparse
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

sys.path.insert(0, str(Path(__file__).parents[1]))

from _timing import print_header, print_table
from bench_density import ROWS, bars, edges, patches, true_machine

from sklboolean import (
    BernoulliMixture,
    CombinationMachine,
    SampledCombinationMachine,
)

SHAPES = {"bars": bars, "edges": edges, "patches": patches}
# Test rows: log-loss, wrong bits, bits of code; by what weights are divided by.
THESIS = {
    1: {
        "true model": (0.396, 0.071, 0.283),
        "gradient ascent, {steps}": (0.425, 0.100, 0.338),
        "projection pursuit": (0.993, 0.114, 0.480),
        "projection pursuit, ascent, 100": (0.430, 0.089, 0.334),
        "projection pursuit, ascent, {steps}": (0.405, 0.082, 0.287),
    },
    7: {
        "true model": (0.941, 0.36, 0.87),
        "gradient ascent, {steps}": (0.944, 0.37, 0.87),
        "projection pursuit": (0.966, 0.39, 0.92),
        "projection pursuit, ascent, {steps}": (0.943, 0.37, 0.87),
    },
}
PARAMETERS = {name: parameters for name, parameters, _ in ROWS}
# Wrong bits and code of train and test rows, 45 units, 16 x 16 bits.
THESIS_DIGITS = {
    "product": (0.29, 0.30, 0.78, 0.80),
    "mixture": (0.19, 0.26, 0.55, 0.70),
    "projection pursuit": (0.19, 0.20, 0.60, 0.64),
}


# -- tables 1 and 2: pictures from a machine ------------------------------------------


def picture_data(draw, divisor, n_samples):
    """Return the true machine, and rows to learn from and to test."""
    truth = true_machine(6 / divisor * draw(np.random.RandomState(0)))
    return truth, *(truth.sample(n_samples, random_state=seed) for seed in (1, 2))


def fitted(title, train, n_steps):
    """Fit a method of the thesis by its name in `bench_density.py`."""
    parameters = PARAMETERS[title]
    parameters = {"max_iter": n_steps if "solver" in parameters else 500, **parameters}
    machine = CombinationMachine(10, random_state=0).set_params(**parameters)
    return machine.fit(train)


def measures(machine, rows):
    """Return log-loss, wrong bits and bits of code, all for an input."""
    return np.array(
        [
            machine.scaled_log_loss(rows),
            machine.completion_error(rows),
            machine.reconstruction_error(rows),
        ]
    )


def difference_rows(divisor, n_samples, n_steps, shapes):
    """Yield cells: shape, method, differences from the true model and the thesis'."""
    thesis = THESIS[divisor]
    titles = [title for title in thesis if title != "true model"]
    for shape in shapes:
        truth, train, test = picture_data(SHAPES[shape], divisor, n_samples)
        level, on_train = measures(truth, test), {}
        for title in titles:
            machine = fitted(title, train, n_steps)
            ours = measures(machine, test) - level
            theirs = np.subtract(thesis[title], thesis["true model"])
            on_train[title] = machine.scaled_log_loss(train)
            yield (
                shape, title.format(steps=n_steps),
                *(f"{value:+.3f}" for value in ours),
                *(f"{value:+.3f}" for value in theirs),
            )  # fmt: skip
        start = on_train["projection pursuit"]
        end = on_train["projection pursuit, ascent, {steps}"]
        assert end <= start, "ascent ended below the likelihood that it started from"


def weights_rows(shape, divisors, n_samples):
    """Yield cells: largest weight, true loss, gaps of two methods and their shares."""
    for divisor in divisors:
        truth, train, test = picture_data(SHAPES[shape], divisor, n_samples)
        level = truth.scaled_log_loss(test)
        gaps = [
            fitted(title, train, 0).scaled_log_loss(test) - level
            for title in ("projection pursuit", "L-BFGS")
        ]
        shares = [f"{100 * gap / (1 - level):.1f}" for gap in gaps]
        yield (
            f"{6 / divisor:.2f}", f"{level:.4f}", *(f"{gap:+.4f}" for gap in gaps),
            *shares,
        )  # fmt: skip


# -- table 3: digits ------------------------------------------------------------------


def digit_models(n_units, seed):
    """Return the three models of the third table, and one with visible biases."""
    biased = SampledCombinationMachine(
        n_units, init="projection_pursuit", max_iter=0, random_state=seed
    )
    return {
        "product": BernoulliMixture(1),
        "mixture": BernoulliMixture(n_units, random_state=seed),
        "projection pursuit": clone(biased).set_params(base="uniform"),
        "projection pursuit, visible biases": biased,
    }


def digits_rows(n_units, n_samples, n_seeds):
    """Yield cells of each model: means of wrong bits and code, and the thesis'."""
    digits = (load_digits().data > 7).astype(np.uint8)
    found = {name: [] for name in digit_models(n_units, 0)}
    for seed in range(n_seeds):
        order = np.random.default_rng(seed).permutation(len(digits))
        parts = digits[order[:n_samples]], digits[order[n_samples : 2 * n_samples]]
        for name, model in digit_models(n_units, seed).items():
            model.fit(parts[0])
            wrong = [model.completion_error(rows) for rows in parts]
            codes = [model.reconstruction_error(rows) for rows in parts]
            found[name].append([*wrong, *codes])
    for name, values in found.items():
        values, thesis = np.array(values), THESIS_DIGITS.get(name, [None] * 4)
        cells = zip(values.mean(axis=0), values.std(axis=0), strict=True)
        yield (
            name, *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in cells),
            *(f"{value:.2f}" if value else "" for value in thesis),
        )  # fmt: skip


# -- the measure of reconstruction ----------------------------------------------------


def code_row(n_inputs, n_units, seed):
    """Return cells: mean bits of code for an input given the hidden state, 3 ways.

    By definition, from the joint distribution of all inputs and states; and with the
    probability of a bit as section 4.2.3 has it and as section 4.4 prints it.
    """
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n_units, n_inputs))
    biases = rng.normal(size=n_units)
    X = np.array(list(product([-1, 1], repeat=n_inputs)))
    H = np.array(list(product([0, 1], repeat=n_units)))
    joint = np.exp(H @ (weights @ X.T + biases[:, None]))  # by state and input
    joint /= joint.sum()
    given = joint / joint.sum(axis=1, keepdims=True)
    exact = -(joint * np.log2(given)).sum() / n_inputs
    bits = []
    for factor in (2, 1):
        probabilities = expit(factor * (H @ weights))[:, None]
        logs = np.log2(np.where(X == 1, probabilities, 1 - probabilities)).sum(axis=2)
        bits.append(-(joint * logs).sum() / n_inputs)
    assert abs(bits[0] - exact) < 1e-12, "section 4.2.3: not the entropy"
    assert bits[1] > exact, "section 4.4: no code is shorter than the entropy"
    return n_inputs, n_units, *(f"{value:.4f}" for value in (exact, *bits))


# -- what is printed ------------------------------------------------------------------


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and meaningless")
    quick = parser.parse_args(arguments).quick
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_header("The combination machine")
    columns = "inputs,units,definition,logistic(2 sum),logistic(sum)".split(",")
    rows = [code_row(4, 2, 0), code_row(8, 4, 0)]
    print_table("Bits of code for an input", columns, rows)
    n_samples, shapes = (300, ["edges"]) if quick else (4000, list(SHAPES))
    columns = ["pictures", "method", "loss", "bit", "code"]
    columns += ["thesis: loss", "bit", "code"]
    for divisor, steps in ((1, 1000), (7, 400)):
        steps = 20 if quick else steps
        rows = list(difference_rows(divisor, n_samples, steps, shapes))
        weights = "6" if divisor == 1 else f"6 / {divisor}"
        title = f"Differences from the true model on test rows, weights of {weights}"
        print_table(title, columns, rows)
    columns = ["weights", "true loss", "projection pursuit", "L-BFGS"]
    columns += ["in % of what can be learned", "L-BFGS"]
    for shape in ["edges"] if quick else ["bars", "edges"]:
        rows = list(
            weights_rows(shape, (1, 7) if quick else (1, 2, 4, 7, 14), n_samples)
        )
        print_table(f"Gaps by the size of the weights, {shape}", columns, rows)
    columns = ["model", "bit train", "test", "code train", "test"]
    columns += ["thesis: bit train", "test", "code train", "test"]
    shape = (5, 100, 1) if quick else (45, 500, 5)
    n_units, n_samples, n_seeds = shape
    title = (
        f"Digits of 8 x 8 bits, {n_units} units, 2 x {n_samples} rows, {n_seeds} seeds"
    )
    print_table(title, columns, list(digits_rows(*shape)))


if __name__ == "__main__":
    sys.exit(main())
