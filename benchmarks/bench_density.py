"""The combination machine on made-up pictures: the tables of Freund's section 4.4.

    python benchmarks/bench_density.py [--quick]

Pictures of 8 x 8 bits are drawn from a machine with 10 hidden units, each active half
of the time; 4000 to learn from, 4000 to test. The weights of the thesis are in a figure
that cannot be read off; these are of the same kind and size, -6, 0 and 6:

* "bars": five rows and five columns of black. The units are nearly independent.
* "edges": two lines of black beside one of white, at five places in each direction.
  They overlap, often with contrary signs.
* "patches": squares of 4 x 4 bits anywhere, cut from one picture with a tenth of the
  bits turned around.

A second table has the weights divided by 7. The measures are those of section 4.4, with
single bits averaged over all 64 instead of five at random, and the sums corrected: log-
loss scaled so that the uniform model has 1; wrong bits when each is predicted from the
other 63; bits of code for an input when the likeliest hidden state is known. A gap is
the log-loss on test rows less that of the true model. Beside stand the thesis' numbers,
of its own weights: its gaps can be compared, not its levels.

"Projection pursuit" alone is that of the thesis, without any refit; gradient ascent
takes steps of 0.03 with momentum, from one start. Neither has visible biases, as in the
thesis. Other rows are those of ``CombinationMachine`` with its defaults, and as named.
Seconds are CPU time. A last table has the gaps of three starts on other drawings of the
edges, with other seeds.

The first tables show that the time of a gradient of log Z is proportional to the number
of hidden states times that of columns (``--only gradients`` prints nothing else), with
the pass over samples beside it.
"""

import argparse
from functools import partial
from itertools import product

import numpy as np
from _timing import print_header, print_table, timed
from scipy.optimize import minimize

from sklboolean import CombinationMachine
from sklboolean.density import GradientAscent
from sklboolean.density._maximum_likelihood import sum_posteriors
from sklboolean.density._partition_function import partition_moments
from sklboolean.density._rbm_params import RBMParams

SIDE, N_UNITS = 8, 10
PASSES = ((10_000, 100, 10), (5000, 126, 8), (10_000, 100, 16), (4000, 1000, 10))
ASCENT = {
    "solver": GradientAscent(0.03, tol=0.0), "base": "uniform", "n_init": 1,
    "alpha": 0.0,
}  # fmt: skip
NO_STEP = GradientAscent(1e-12, tol=0.0)
PURSUIT = {"init": "projection_pursuit"}
# Name, parameters, and the row of the thesis: log-losses of the train and test rows.
ROWS = (
    ("gradient ascent, {steps}", ASCENT, {1: (0.399, 0.425), 7: (0.937, 0.944)}),
    (
        "projection pursuit",
        # One step of no length: the start itself.
        {**ASCENT, **PURSUIT, "solver": NO_STEP, "max_iter": 1},
        {1: (0.893, 0.993), 7: (0.964, 0.966)},
    ),
    ("projection pursuit, refitted", {"solver": "projection_pursuit"}, {}),
    (
        "projection pursuit, ascent, 100",
        {**ASCENT, **PURSUIT, "max_iter": 100},
        {1: (0.411, 0.430)},
    ),
    (
        "projection pursuit, ascent, {steps}",
        {**ASCENT, **PURSUIT},
        {1: (0.377, 0.405), 7: (0.935, 0.943)},
    ),
    ("projection pursuit, L-BFGS", PURSUIT, {}),
    ("L-BFGS", {}, {}),
    ("L-BFGS, 16 starts", {"n_init": 16}, {}),
)
TRUE = {1: (0.401, 0.396), 7: (0.939, 0.941)}


def bars(rng):
    """Draw lines of black."""
    return lines([1.0], rng)


def edges(rng):
    """Draw double lines of black beside a line of white, or the reverse."""
    return lines([1.0, 1.0, -1.0], rng) * rng.choice([-1.0, 1.0], size=(N_UNITS, 1))


def lines(profile, rng):
    """Draw lines at five places across, and at five places down."""
    places = [rng.permutation(SIDE + 1 - len(profile))[:5] for _ in range(2)]
    units = np.zeros((N_UNITS, SIDE, SIDE))
    for k, unit in enumerate(units):
        at = places[k % 2][k // 2]
        across = unit if k % 2 else unit.T
        across[at : at + len(profile)] = np.array(profile)[:, None]
    return units.reshape(N_UNITS, -1)


def patches(rng):
    """Draw squares cut from one picture, with some bits turned around."""
    picture = rng.choice([-1.0, 1.0], size=(SIDE, SIDE))
    units = np.zeros((N_UNITS, SIDE, SIDE))
    for unit in units:
        row, column = rng.randint(SIDE - 3, size=2)
        here = slice(row, row + 4), slice(column, column + 4)
        unit[here] = picture[here]
        unit[rng.uniform(size=unit.shape) < 0.1] *= -1
    return units.reshape(N_UNITS, -1)


def true_machine(components):
    """Return the machine with units that are active half of the time."""
    nothing = np.zeros(components.shape[1])

    def imbalance(hidden_bias):
        weights = RBMParams(components, hidden_bias, nothing)
        log_z, moments = partition_moments(weights)
        return log_z - hidden_bias.sum() / 2, moments.hidden - 0.5

    start = -np.logaddexp(components, -components).sum(axis=1)
    hidden_bias = minimize(imbalance, start, jac=True, method="L-BFGS-B").x
    # Learning in one step of no length: the machine is what is given.
    machine = CombinationMachine(
        N_UNITS, init=(components, hidden_bias), solver=NO_STEP, max_iter=1,
        base="uniform",
    )  # fmt: skip
    return machine.fit(np.sign(np.arange(components.shape[1]) - 9.5)[None])


def cells_of(machine, train, test, true_loss):
    """Return the measures of a row, and its gap."""
    losses = [machine.scaled_log_loss(rows) for rows in (train, test)]
    measures = [
        *losses,
        *(machine.completion_error(rows) for rows in (train, test)),
        *(machine.reconstruction_error(rows) for rows in (train, test)),
    ]
    gap = losses[1] - true_loss
    return [*(f"{value:.4f}" for value in measures), f"{gap:+.4f}"], gap


def thesis_cells(found, divisor):
    """Return log-losses of the thesis and its gap."""
    if found is None:
        return ["", "", ""]
    gap = found[1] - TRUE[divisor][1]
    return [*(f"{value:.3f}" for value in found), f"{gap:+.3f}"]


def table(name, draw, divisor, n_samples, n_steps):
    """Print a table of the thesis for other weights; return a row of the summary."""
    components = 6 / divisor * draw(np.random.RandomState(0))
    truth = true_machine(components)
    train, test = (truth.sample(n_samples, random_state=seed) for seed in (1, 2))
    true_loss = truth.scaled_log_loss(test)
    cells, _ = cells_of(truth, train, test, true_loss)
    rows, gaps = [["true model", *cells, "", *thesis_cells(TRUE[divisor], divisor)]], {}
    for title, parameters, thesis in ROWS:
        title = title.format(steps=n_steps)
        parameters = {
            "max_iter": n_steps if "solver" in parameters else 500,
            **parameters,
        }
        machine = CombinationMachine(N_UNITS, random_state=0).set_params(**parameters)
        _, seconds = timed(lambda machine=machine: machine.fit(train))
        cells, gap = cells_of(machine, train, test, true_loss)
        rows.append(
            [
                title,
                *cells,
                f"{seconds:.1f}",
                *thesis_cells(thesis.get(divisor), divisor),
            ]
        )
        gaps[title] = gap, seconds
    columns = (
        "model", "loss train", "test", "bit train", "test", "code train", "test", "gap",
        "s", "thesis train", "test", "gap",
    )  # fmt: skip
    weights = "6" if divisor == 1 else f"6 / {divisor}"
    print_table(f"{name}, weights of {weights}, {n_samples} rows", columns, rows)
    best = min(gaps, key=gaps.get)
    gap, seconds = gaps[best]
    lbfgs = f"{gaps['L-BFGS'][0]:+.4f}"
    return [name, weights, lbfgs, best, f"{gap:+.4f}", f"{seconds:.1f}"]


def table_by_seed(n_samples, n_seeds):
    """Print gaps of the starts on other drawings of the edges, and other seeds."""
    starts = {"L-BFGS": {}, "L-BFGS, 16 starts": {"n_init": 16}}
    starts["projection pursuit, L-BFGS"] = PURSUIT
    gaps = {title: [] for title in starts}
    for drawing in range(n_seeds):
        truth = true_machine(6 * edges(np.random.RandomState(drawing)))
        train, test = (truth.sample(n_samples, random_state=seed) for seed in (1, 2))
        true_loss = truth.scaled_log_loss(test)
        for title, parameters in starts.items():
            for seed in range(n_seeds):
                machine = CombinationMachine(N_UNITS, random_state=seed)
                machine.set_params(**parameters).fit(train)
                gaps[title].append(machine.scaled_log_loss(test) - true_loss)
    rows = [
        [title, *(f"{f(found):+.4f}" for f in (np.min, np.median, np.max))]
        for title, found in gaps.items()
    ]
    print_table(
        f"Gaps on {n_seeds} drawings of edges, weights of 6, {n_seeds} seeds each",
        ("model", "least", "median", "greatest"),
        rows,
    )


def random_machine(m, n, tree, seed=0):
    """Return the parameters of a machine, on a random tree if so wanted."""
    rng = np.random.RandomState(seed)
    parents = couplings = None
    if tree:
        parents = np.array([-1, *(rng.randint(column) for column in range(1, n))])
        couplings = np.where(parents < 0, 0.0, rng.normal(scale=0.5, size=n))
    arrays = (rng.normal(scale=0.5, size=size) for size in ((m, n), m, n))
    return RBMParams(*arrays, parents=parents, couplings=couplings)


def fastest(functions, n_rounds):
    """Return the least CPU time of each function, in milliseconds, called in turn."""
    times = [[timed(each)[1] for each in functions] for _ in range(n_rounds)]
    return 1e3 * np.min(times, axis=0)


def gradient_tables(quick):
    """Print times of gradients of log Z by columns and units, and of passes."""
    rows, sizes = [], (20, 40) if quick else (200, 500, 1000, 2000)
    for m, tree in product((4,) if quick else (10, 12), (False, True)):
        machines = [random_machine(m, n, tree) for n in sizes]
        gradients = [partial(partition_moments, machine) for machine in machines]
        times = fastest(gradients, 2 if quick else 15)
        for n, time in zip(sizes, times, strict=True):
            ratio = time / n / times[0] * sizes[0]
            base = "tree" if tree else "independent"
            rows.append([m, base, n, f"{time:.2f}", f"{ratio:.2f}"])
    columns = ["m", "base", "n", "ms", "over linear"]
    print_table("A gradient of log Z", columns, rows)
    rows = []
    for m, n in ((8, 20),) if quick else ((16, 100), (20, 100), (26, 100)):
        gradient = partial(partition_moments, random_machine(m, n, False))
        (time,) = fastest([gradient], 2)
        rows.append([m, n, f"{time / 1e3:.3f}", f"{1e6 * time / 2**m:.1f}"])
    columns = ["m", "n", "CPU s of one thread", "ns a state"]
    print_table("A gradient of log Z with many units", columns, rows)
    rows = []
    for n_samples, n, m in ((50, 20, 4),) if quick else PASSES:
        machine, rng = random_machine(m, n, False), np.random.RandomState(0)
        bits = rng.randint(2, size=(n_samples, n))
        shares, signs = np.full(n_samples, 1 / n_samples), 2.0 * bits - 1
        passes = [
            partial(sum_posteriors, machine, X, shares)
            for X in (np.packbits(bits, axis=1), signs)
        ]
        times = fastest(passes, 5)
        ratio = f"{times[1] / times[0]:.1f}"
        rows.append([n_samples, n, m, *(f"{time:.2f}" for time in times), ratio])
    columns = ["samples", "n", "m", "bits, ms", "numpy, ms", "ratio"]
    print_table("A pass over the samples", columns, rows)


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small and meaningless")
    parser.add_argument("--only", choices=["gradients"], help="the first tables")
    options = parser.parse_args()
    quick = options.quick
    print_header("Densities of Boolean rows")
    gradient_tables(quick)
    if options.only:
        return
    shapes = {"bars": bars, "edges": edges, "patches": patches}
    if quick:
        shapes = {"edges": edges}
    summary = [
        table(name, draw, divisor, *((300, 20) if quick else (4000, steps)))
        for divisor, steps in ((1, 1000), (7, 400))
        for name, draw in shapes.items()
    ]
    table_by_seed(*((300, 1) if quick else (4000, 3)))
    columns = "weights", "size", "L-BFGS gap", "best", "gap", "s"
    print_table("Gaps to the true model", columns, summary)


if __name__ == "__main__":
    main()
