"""What a user waits: default fits and predictions on real tables, beside usual models.

    python benchmarks/bench_waiting.py [--quick] [--data DIR] [--keep DIR]
        [--growth [FILE]]

Every model has its default parameters and one thread. "fit" is one fit with everything
in it: checks, calibrated probabilities, the choice of parameters. "predict" is for all
test samples at once, "one sample" for a single one, as a service asks.

* Real tables: CPU seconds, and accuracy.
* Samples x features: CPU seconds of a fit, and the most memory that it adds, in MiB, in
  a process of its own. The data are made up, uint8, with a fifth of ones; with 5635
  columns they are words of texts, CSR. Labels are those of a hidden linear model, a
  tenth of them wrong. A fit of more than 30 seconds is ended; none to more samples and
  more numbers is begun after it, and none on AVX2 to the same data. Where the processor
  has AVX-512, ours are fitted to the first three on AVX2 as well, which more machines
  have.
* Several classes: seconds and memory of a fit, and how many times those of LightGBM the
  seconds are. Labels are the largest of hidden linear scores with noise.
* One sample: microseconds of a prediction by each estimator, trained on votes.
* ``--growth``: the same of 1000 to 1,000,000 samples of 30 features, for every
  estimator, and the exponent of the samples from size to size: 1 is a time in
  proportion to them. It takes half an hour, and draws a picture into FILE, where
  matplotlib is installed.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import warnings
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import process_time, thread_time

import numpy as np
from _timing import (
    forget_peak_memory,
    kept,
    milliseconds,
    peak_memory,
    print_header,
    print_table,
    timed,
)
from _workloads import (
    class_labels,
    linear_labels,
    load_part,
    random_rows,
    zipf_rows,
)
from sklboolean._core._cpu import cpu_path
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

import sklboolean as sb
from sklboolean.datasets import load_mushroom, load_votes, make_tic_tac_toe

N_SINGLE = 200  # predictions of one sample
SIZES = [
    (1_000, 100), (10_000, 100), (100_000, 100), (10_000, 1_000), (1_000_000, 30),
    (3_000, 5_635),
]  # fmt: skip
CLASSES = [
    (1_000, 240, 3), (5_000, 60, 10), (5_000, 99, 19), (15_000, 68, 18),
    (3_000, 60, 30), (5_000, 60, 100),
]  # fmt: skip
WIDE, N_WORDS = 5_000, 107  # from so many columns on they are words; words of a sample
OFTEN = 3  # so many of these sizes on AVX2, too
PATIENCE = 30  # seconds for a fit
GROWTH = [(10**k, 30) for k in range(3, 7)]
LEAST = 0.02  # seconds from which on an exponent says something


def models():
    """All models by name, ours first."""
    found = {
        "AveragedPerceptron": sb.AveragedPerceptron(random_state=0),
        "BooleanSVC": sb.BooleanSVC(),
        "KernelPerceptron": sb.KernelPerceptron(random_state=0),
        "Winnow": sb.Winnow(random_state=0),
        "RuleClassifier": sb.RuleClassifier(random_state=0),
        "BoostByMajority": sb.BoostByMajority(random_state=0),
        "ConjunctionLogisticRegression": sb.ConjunctionLogisticRegression(),
        "BooleanGaussianProcessClassifier": sb.BooleanGaussianProcessClassifier(),
        "BooleanEnsembleClassifier": sb.BooleanEnsembleClassifier(random_state=0),
        "LogisticRegression": LogisticRegression(),
        "SVC": SVC(),
        "HistGradientBoosting": HistGradientBoostingClassifier(random_state=0),
    }
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        found["LightGBM"] = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    else:
        print("\nPeer left out: LightGBM (not installed).")
    if find_spec("catboost"):
        from catboost import CatBoostClassifier

        found["CatBoost"] = CatBoostClassifier(
            thread_count=1, verbose=0, random_seed=0, allow_writing_files=False
        )
    else:
        print("\nPeer left out: CatBoost (not installed).")
    return found


def tables(folder, n_samples):
    """Training and test parts by name."""
    found = {
        "mushroom": load_mushroom(return_X_y=True),
        "tic-tac-toe": make_tic_tac_toe(return_X_y=True),
    }
    if folder:
        found["a9a"] = load_part(folder, "libsvm_a9a", "train")
    for name, (X, y) in found.items():
        chosen = np.random.default_rng(0).permutation(len(y))[:n_samples]
        y = np.unique(y, return_inverse=True)[1]
        parts = train_test_split(X[chosen], y[chosen], test_size=0.25, random_state=0)
        yield name, parts


def row(name, model, X, X_test, y, y_test):
    """Fit and predict; SVC and others get the floats that they would make."""
    if not type(model).__module__.startswith("sklboolean"):
        X, X_test = (part.astype(np.float64) for part in (X, X_test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # names of LightGBM's columns
        _, fit = timed(lambda: model.fit(X, y))
        labels, whole = timed(lambda: model.predict(X_test))
        first = X_test[:1]
        _, single = timed(lambda: [model.predict(first) for _ in range(N_SINGLE)])
    accuracy = f"{(labels == y_test).mean():.4f}"
    return (
        name, f"{fit:.3f}", milliseconds(whole), f"{1e6 * single / N_SINGLE:.0f}",
        accuracy,
    )  # fmt: skip


def estimators():
    """Every estimator of the package by name, as one sample and growth need it."""
    found = {
        name: getattr(sb, name)() for name in sb.__all__ if name != "show_versions"
    }
    found["HalvingClassifier"].set_params(max_literals=2)  # lists its hypotheses
    return found


def one_fit(name, n_samples, n_features, n_classes=2):
    """Fit a model to made-up data; print the CPU seconds and the MiB that it added."""
    if n_features < WIDE:
        X = random_rows(n_samples, n_features, 0.2, seed=0)
    else:
        X = zipf_rows(n_samples, n_features, N_WORDS, seed=0)
        if name in ("HistGradientBoosting", "CatBoost"):  # for these, dense
            X = X.toarray()
    y = linear_labels(X, 0.1, seed=1)
    if n_classes > 2:
        y = class_labels(X, n_classes, seed=1)
    found = models()
    model = found[name] if name in found else estimators()[name]
    warnings.simplefilter("ignore")
    model.fit(X[:50], np.arange(50) % 2)  # imports, and buffers of libraries
    limit = int(process_time()) + PATIENCE
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    forget_peak_memory()
    before = peak_memory()
    start = thread_time()  # of processes with a limit, Linux counts whole ticks
    model.fit(X, y)
    print(json.dumps([thread_time() - start, peak_memory() - before]))


def fit_alone(name, size, path):
    """Fit in a process of its own, by the loops of a CPU path.

    Returns
    -------
    seconds, MiB : list of float, or None after a fit without an end
    """
    command = [sys.executable, __file__, "--one", name, *map(str, size)]
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "SKLBOOLEAN_CPU": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None
    done.check_returncode()
    return json.loads(done.stdout.splitlines()[-1])


def as_cell(figures):
    """Write the seconds and the memory of a fit."""
    if figures is None:
        return f"> {PATIENCE} s"
    return f"{figures[0]:.2g} s, {figures[1]:.0f} MiB"


def sizes_in_turn(sizes, name, keep, path, late=()):
    """Fit to each size that is not beyond one without an end; return the figures.

    ``late`` are sizes that had no end on a faster path.
    """
    late, found = list(late), []
    for size in sizes:
        is_beyond = any(
            size[0] >= slow[0] and np.prod(size) >= np.prod(slow) for slow in late
        )
        found.append(
            None
            if is_beyond
            else kept(
                keep, f"{name} {size} {path}", partial(fit_alone, name, size, path)
            )
        )
        if found[-1] is None:
            late.append(size)
    return found


def exponents(sizes, figures):
    """Compute how the time grows from size to size, as a power of the samples."""
    found = [""] * (len(sizes) - 1)
    for k, (before, after) in enumerate(pairwise(figures)):
        if before is not None and before[0] >= LEAST:
            sign, seconds = ("> ", PATIENCE) if after is None else ("", after[0])
            grown = np.log(sizes[k + 1][0] / sizes[k][0])
            found[k] = f"{sign}{np.log(seconds / before[0]) / grown:.2f}"
    return found


def growth(sizes, names, keep, path, picture):
    """Print, and draw, how the time of each estimator grows with the samples."""
    found = {name: sizes_in_turn(sizes, name, keep, path) for name in names}
    rows = []
    for name, figures in found.items():
        rows.append([name, *map(as_cell, figures), *exponents(sizes, figures)])
    titles = [f"{n} x {m}" for n, m in sizes]
    grown = [f"to {n}" for n, _ in sizes[1:]]
    print_table("Growth with the samples", ["model", *titles, *grown], rows)
    if picture and find_spec("matplotlib"):
        draw(sizes, found, picture)


def draw(sizes, found, picture):
    """Draw seconds by samples: ours in colours, peers in grey."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(9, 7))
    for number, (name, figures) in enumerate(found.items()):
        seconds = [of_size[0] for of_size in figures if of_size is not None]
        if not seconds:
            continue
        samples = [n for n, _ in sizes[: len(seconds)]]
        style = {
            "color": f"C{number % 10}",
            "linestyle": ("-", "--", ":")[number // 10 % 3],
            "label": name,
        }
        if not hasattr(sb, name):
            style = {"color": "0.6", "linewidth": 3}
            ax.annotate(name, (samples[-1], seconds[-1]), ha="right", va="bottom")
        ax.loglog(samples, np.maximum(seconds, 1e-3), **style)
    ax.set(xlabel="samples of 30 features", ylabel="CPU seconds of a fit")
    ax.legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(picture, dpi=100, bbox_inches="tight")


def by_size(sizes, names, keep, path, title, late):
    """Print seconds and memory of a fit by samples and features; return what is late.

    ``late`` are the sizes without an end on a faster path, by model.
    """
    rows, slow = [], {}
    for name in names:
        figures = sizes_in_turn(sizes, name, keep, path, late.get(name, ()))
        rows.append([name, *map(as_cell, figures)])
        slow[name] = [s for s, f in zip(sizes, figures, strict=True) if f is None]
    print_table(title, ["model", *(f"{n} x {m}" for n, m in sizes)], rows)
    return slow


def by_classes(sizes, names, keep):
    """Print seconds and memory of a fit to several classes, as ratios to LightGBM."""
    found = {}
    for name in names:
        fits = [partial(fit_alone, name, size, cpu_path()) for size in sizes]
        files = [f"{name} {size} {cpu_path()}" for size in sizes]
        found[name] = list(map(partial(kept, keep), files, fits))
    rows, peers = [], found.get("LightGBM", [None] * len(sizes))
    for name, figures in found.items():
        cells = list(map(as_cell, figures))
        for k, (ours, peer) in enumerate(zip(figures, peers, strict=True)):
            if ours and peer:
                cells[k] += f", {ours[0] / peer[0]:.1f}"
        rows.append([name, *cells])
    titles = [f"{n} x {m}, {k} classes" for n, m, k in sizes]
    print_table("Several classes", ["model", *titles], rows)


def by_size_and_path(sizes, names, keep):
    """Print the table of all models, and with AVX-512 that of ours on AVX2."""
    title = "Seconds and memory of a fit: samples x features"
    late = by_size(sizes, names, keep, cpu_path(), title, {})
    if cpu_path() == "avx512":
        ours = [name for name in names if hasattr(sb, name)]
        by_size(sizes[:OFTEN], ours, keep, "avx2", f"On AVX2: {title}", late)


def repeat(function, X):
    """Call a function often."""
    for _ in range(N_SINGLE):
        function(X)


def one_sample(n_samples):
    """Print the time of each estimator for one sample, trained on so many votes."""
    X, y = (part[:n_samples] for part in load_votes(return_X_y=True))
    ours = estimators()
    peers = {name: model for name, model in models().items() if name not in ours}
    rows = []
    for name, model in {**ours, **peers}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
            for method in ("predict", "transform", "score_samples"):
                if hasattr(model, method):
                    break
            else:
                continue
            _, seconds = timed(partial(repeat, getattr(model, method), X[:1]))
        rows.append([name, method, f"{1e6 * seconds / N_SINGLE:.0f}"])
    print_table("One sample", ["estimator", "method", "us"], rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with libsvm_a9a.npz (see README.md)",
    )  # fmt: skip
    parser.add_argument("--keep", type=Path, help="folder for the figures so far")
    parser.add_argument(
        "--growth", nargs="?", const="", metavar="FILE",
        help="time more samples of every estimator, and draw that into a file",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    if options.one:
        name, *size = options.one
        return one_fit(name, *map(int, size))
    print_header("What a user waits")
    for table, (X, X_test, y, y_test) in tables(
        options.data, 100 if options.quick else 4000
    ):
        rows = [
            row(name, model, X, X_test, y, y_test) for name, model in models().items()
        ]
        print_table(
            f"{table}: {X.shape[0]} x {X.shape[1]}, {X_test.shape[0]} test samples",
            ["model", "fit s", "predict ms", "one sample us", "test accuracy"],
            rows,
        )
    if options.quick:  # one of ours and one peer: each fit is a process
        sizes, names = (
            [(300, 50), (60, WIDE)],
            ["AveragedPerceptron", "LogisticRegression"],
        )
        by_size_and_path(sizes, names, options.keep)
        by_classes([(120, 20, 3)], names, options.keep)
        growth([(100, 30), (300, 30)], names, options.keep, cpu_path(), options.growth)
        one_sample(40)
    else:
        names = [name for name in models() if name != "SVC"]
        by_size_and_path(SIZES, names, options.keep)
        several = ["ConjunctionLogisticRegression", "BoostByMajority", "LightGBM"]
        several = [name for name in several if name in names]
        by_classes(CLASSES, several, options.keep)
        one_sample(None)
    if options.growth is not None and not options.quick:
        names = list({**estimators(), **models()})
        growth(GROWTH, names, options.keep, cpu_path(), options.growth)
    return 0


if __name__ == "__main__":
    sys.exit(main())
