"""BoostByMajority at its defaults beside boosters with early stopping, labels flipped.

    python benchmarks/bench_boosting_noise.py [--quick] [--data DIR] [--seeds N]
        [--jobs N] [--cache DIR]

* Error on clean test samples with 0, 10, 20 and 30 % of the training labels flipped,
  ± one standard error over the seeds, and the processor time of a fit. Peers:
  HistGradientBoosting with early stopping, LightGBM with early stopping on a tenth of
  the samples (where it is installed) and at its defaults, and a forest with leaves of
  five samples. A seed is a split (70 % train, at most 1000 samples; 3000 test), the
  flipped labels and the learner's own seed, the same for all.
* Log-loss on test samples whose labels are flipped at the same rate, beside
  HistGradientBoosting and the same behind ``CalibratedClassifierCV(cv=3)``.
* Which labels are wrong, at 10 and 20 % noise: area under the ROC curve of
  ``inspection.label_quality`` and of ``label_quality_``, beside cleanlab's scores from
  five folds of LightGBM, and the processor time of each (with cleanlab and LightGBM
  installed).
* Several classes, labels as they are: USPS, newsgroups_w100 (their own splits, at most
  2000 samples to train) and nursery; monks 1 (its own split) and tic-tac-toe; all of
  the 20 newsgroups by date, one seed.
* Several classes, beside ``OneVsRestClassifier(BoostByMajority())``: digits, car,
  nursery, USPS, newsgroups_w100 and 19 made-up classes, at most 1500 samples to train.

With --cache the figures of each split are kept in DIR, so that a run that was ended can
be continued. Empty it when the package has changed.

Tables of --data that are missing are left out. A number of breast cancer becomes seven
features, "above the j-th eighth" of the training samples; a pixel of the digits becomes
"at least 8 of 16", and their label whether the digit is odd.
"""

import argparse
import contextlib
import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np
from _peers import StoppedLightGBM
from _timing import print_header, print_table
from _workloads import load_part
from joblib import Memory, Parallel, delayed
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.multiclass import OneVsRestClassifier

from sklboolean import BooleanSVC, BoostByMajority
from sklboolean.datasets import flip_labels, load_mushroom, load_votes, make_tic_tac_toe
from sklboolean.inspection import label_quality

NOISE = (0.0, 0.1, 0.2, 0.3)
OURS, CALIBRATED = "BoostByMajority", "HistGB, calibrated"
QUALITY = "label_quality"
FILES = {
    "car": "uci_car", "kr-vs-kp": "uci_kr_vs_kp", "nursery": "uci_nursery",
    "breast cancer (Ljubljana)": "uci_breast_cancer_ljubljana", "w8a": "libsvm_w8a",
}  # fmt: skip


# -- data -----------------------------------------------------------------------------


def load_all(folder, name):
    """Return all samples of a data set, as a dense array, and class numbers."""
    parts = []
    for part in ("all", "train", "test"):
        with contextlib.suppress(KeyError):
            parts.append(load_part(folder, name, part))
    X = np.concatenate(
        [X if isinstance(X, np.ndarray) else X.toarray() for X, _ in parts]
    )
    y = np.concatenate([y for _, y in parts])
    return X.astype(np.uint8), np.unique(y, return_inverse=True)[1]


def load_tables(folder):
    """Return (X, y) by name."""
    X, y = load_digits(return_X_y=True)
    tables = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "mushroom": load_mushroom(return_X_y=True),
        "tic-tac-toe": make_tic_tac_toe(return_X_y=True),
        "votes": load_votes(return_X_y=True),
        "digits": ((X >= 8).astype(np.uint8), y % 2),
    }
    for name, file in FILES.items():
        if folder and (Path(folder) / f"{file}.npz").exists():
            tables[name] = load_all(folder, file)
        else:
            print(f"\nNo {file}.npz in --data: without {name}.")
    return {
        name: (X, np.unique(y, return_inverse=True)[1])
        for name, (X, y) in tables.items()
    }


def split(table, seed):
    """Return X, X_test, y, y_test, all Boolean."""
    X, y = table
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    if X.dtype == np.float64:
        steps = np.quantile(X, np.arange(1, 8) / 8, axis=0)
        X, X_test = (
            np.concatenate([part > step for step in steps], axis=1).astype(np.uint8)
            for part in (X, X_test)
        )
    X, y = X[:1000], y[:1000]
    common = np.bincount(y)[y] > 2  # peers hold out samples of each class
    return X[common], X_test[:3000], y[common], y_test[:3000]


# -- learners -------------------------------------------------------------------------


def learners(seed):
    """Return the learners by name."""
    hist = HistGradientBoostingClassifier(early_stopping=True, random_state=seed)
    models = {
        OURS: BoostByMajority(random_state=seed),
        "HistGB, early stopping": hist,
        CALIBRATED: CalibratedClassifierCV(hist, cv=3),
        "forest, leaves of 5": RandomForestClassifier(
            min_samples_leaf=5, random_state=seed
        ),
    }
    with contextlib.suppress(ImportError):
        from lightgbm import LGBMClassifier

        options = {"n_jobs": 1, "verbose": -1, "random_state": seed}
        models["LightGBM, early stopping"] = StoppedLightGBM(seed)
        models["LightGBM"] = LGBMClassifier(**options)
    return models


def measure(table, noise, seed):
    """Return error in percent, log-loss and seconds of a fit, by learner."""
    warnings.simplefilter("ignore")
    X, X_test, y, y_test = split(table, seed)
    flip_test = flip_labels(y_test, noise, random_state=1000 + seed)
    y = flip_labels(y, noise, random_state=seed)
    classes, y = np.unique(y, return_inverse=True)
    found = {}
    for name, model in learners(seed).items():
        start = process_time()
        model.fit(X.astype(np.float32), y)
        seconds = process_time() - start
        given = X_test.astype(np.float32)
        error = 100 * np.mean(classes[model.predict(given)] != y_test)
        inside = np.isin(flip_test, classes)
        shares = model.predict_proba(given)[inside]
        loss = log_loss(flip_test[inside], shares, labels=classes)
        found[name] = error, loss, seconds
    return found


# -- tables ---------------------------------------------------------------------------


def compare_noise(tables, seeds, n_jobs, memory):
    """Print errors and log-losses by table and noise, and a summary."""
    cells = [
        (name, noise, seed) for seed in seeds for noise in NOISE for name in tables
    ]
    results = Parallel(n_jobs=n_jobs)(
        delayed(memory.cache(measure))(tables[name], noise, seed)
        for name, noise, seed in cells
    )
    names = list(results[0])
    shape = len(seeds), len(NOISE), len(tables), len(names), 3
    figures = np.array([[run[n] for n in names] for run in results]).reshape(shape)
    errors, seconds = figures[..., 0], figures[..., 2].mean(axis=(0, 1, 2))
    rows = []
    for i, noise in enumerate(NOISE):
        for j, table in enumerate(tables):
            rows.append((table, f"{noise:.0%}", *map(with_error, errors[:, i, j].T)))
        rows.append(
            ("mean", f"{noise:.0%}", *map(with_error, errors[:, i].mean(axis=1).T))
        )
    rows.append(("seconds of a fit", "", *(f"{each:.2f}" for each in seconds)))
    print_table(
        f"Error in percent on clean test samples, {len(seeds)} seeds",
        ["data", "noise", *names], rows,
    )  # fmt: skip
    losses = figures[..., 1].mean(axis=0)
    rows = []
    for i, noise in enumerate(NOISE):
        for j, table in enumerate(tables):
            rows.append((table, f"{noise:.0%}", *(f"{x:.3f}" for x in losses[i, j])))
        means = losses[i].mean(axis=0)
        rows.append(("mean", f"{noise:.0%}", *(f"{x:.3f}" for x in means)))
    print_table(
        f"Log-loss on test samples with as much noise, {len(seeds)} seeds",
        ["data", "noise", *names], rows,
    )  # fmt: skip
    print_summary(names, errors.mean(axis=0), losses)


def print_summary(names, errors, losses):
    """Sum up errors and losses, which have an axis for noise, table, learner."""
    ours, rows = names.index(OURS), []
    rivals = ["HistGB, early stopping", "forest, leaves of 5"]
    rivals += [name for name in names if name == "LightGBM, early stopping"]
    for i, noise in enumerate(NOISE[1:], start=1):
        best = errors[i][:, [names.index(name) for name in rivals]]
        peers = zip(rivals, best.T, strict=True)
        for name, peer in [*peers, ("all of them", best.min(axis=1))]:
            n_won = int(np.sum(errors[i][:, ours] < peer))
            rows.append(
                (f"tables with a smaller error than {name} at {noise:.0%} noise",
                 f"{n_won} of {len(peer)}")
            )  # fmt: skip
    if "LightGBM" in names:
        gap = (errors[0][:, ours] - errors[0][:, names.index("LightGBM")]).mean()
        rows.append(("mean error without noise minus LightGBM's", f"{gap:+.2f}"))
    for i, noise in enumerate(NOISE):
        gap = (losses[i][:, ours] - losses[i][:, names.index(CALIBRATED)]).mean()
        rows.append(
            (f"mean log-loss minus that of {CALIBRATED}, at {noise:.0%} noise",
             f"{gap:+.3f}")
        )  # fmt: skip
    print_table("Summary: errors", ["measure", "value"], rows)


def measure_quality(table, noise, seed):
    """Return area under the ROC curve and seconds, by ranking of wrong labels."""
    from cleanlab.rank import get_label_quality_scores
    from lightgbm import LGBMClassifier

    warnings.simplefilter("ignore")
    X, _, y, _ = split(table, seed)
    often = np.bincount(y)[y] >= 10  # each of five folds needs every class
    X, y = X[often], np.unique(y[often], return_inverse=True)[1]
    given = flip_labels(y, noise, random_state=seed)

    def by_cleanlab():
        model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed)
        shares = cross_val_predict(
            model, X.astype(np.float32), given, cv=5, method="predict_proba"
        )
        return get_label_quality_scores(given, shares)

    ways = {
        QUALITY: lambda: label_quality(X, given, random_state=seed),
        f"{QUALITY}, SVC": lambda: label_quality(
            X, given, BooleanSVC(), random_state=seed
        ),
        OURS: lambda: BoostByMajority(random_state=seed).fit(X, given).label_quality_,
        "cleanlab, LightGBM": by_cleanlab,
    }
    found = {}
    for name, rank in ways.items():
        start = process_time()
        quality = rank()
        seconds = process_time() - start
        found[name] = roc_auc_score(given != y, -quality), seconds
    return found


def compare_wrong_labels(tables, seeds, n_jobs, memory):
    """Print how well flipped labels are found, and in which time."""
    if not (find_spec("cleanlab") and find_spec("lightgbm")):
        print("\nWithout cleanlab or LightGBM: no ranking of wrong labels.")
        return
    cells = [
        (name, noise, seed) for seed in seeds for noise in (0.1, 0.2) for name in tables
    ]
    run = delayed(memory.cache(measure_quality))
    results = Parallel(n_jobs=n_jobs)(
        run(tables[name], noise, seed) for name, noise, seed in cells
    )
    names = list(results[0])
    shape = len(seeds), 2, len(tables), len(names), 2
    figures = np.array([[run[n] for n in names] for run in results]).reshape(shape)
    means = figures.mean(axis=0)
    rows = [
        (table, f"{noise:.0%}", *(f"{x:.3f}" for x in means[i, j, :, 0]),
         *(f"{x:.2f}" for x in means[i, j, :, 1]))
        for i, noise in enumerate((0.1, 0.2)) for j, table in enumerate(tables)
    ]  # fmt: skip
    print_table(
        f"Wrong labels found: area under the ROC curve, {len(seeds)} seeds",
        ["data", "noise", *names, *(f"s, {name}" for name in names)], rows,
    )  # fmt: skip
    *ours, (peer, peer_s) = means.mean(axis=(0, 1))
    rows = []
    for name, (area, seconds) in zip(names[:-1], ours, strict=True):
        rows += [
            (f"{name}: mean area, minus cleanlab's", f"{area:.3f}, {area - peer:+.3f}"),
            (f"{name}: seconds over cleanlab's", f"{seconds / peer_s:.2f}"),
        ]
    print_table("Summary: wrong labels", ["measure", "value"], rows)


def with_error(values):
    """Write a mean and its standard error."""
    spread = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{values.mean():.1f} ± {spread:.1f}"


def compare_clean(folder, tables, seeds):
    """Print the accuracy on tables of several classes and on conjunctions."""
    parts = {
        "monks 1": "uci_monks1", "USPS": "usps_binarized",
        "newsgroups_w100": "newsgroups_w100",
        "20 newsgroups": "newsgroups20_bydate_bool",
    }  # fmt: skip
    rows = []
    for name, file in parts.items() if folder else ():
        scores, seconds = [], []
        try:
            X, y = load_part(folder, file, "train")
            X_test, y_test = load_part(folder, file, "test")
        except KeyError:
            X, y = load_part(folder, file, "all")
            X, X_test, y, y_test = train_test_split(
                X, y, test_size=0.3, stratify=y, random_state=0
            )
        for seed in seeds if name != "20 newsgroups" else seeds[:1]:
            chosen = np.random.default_rng(seed).permutation(len(y))
            if name in ("USPS", "newsgroups_w100"):
                chosen = chosen[:2000]
            model = BoostByMajority(random_state=seed)
            start = process_time()
            model.fit(X[chosen], y[chosen])
            seconds.append(process_time() - start)
            scores.append(model.score(X_test, y_test))
        accuracy = with_error(100 * np.array(scores))
        rows.append((name, accuracy, f"{np.mean(seconds):.1f}"))
    for name in ("nursery", "tic-tac-toe"):
        if name not in tables:
            continue
        scores, seconds = [], []
        for seed in seeds:
            X, X_test, y, y_test = train_test_split(
                *tables[name],
                test_size=0.3,
                stratify=tables[name][1],
                random_state=seed,
            )
            start = process_time()
            model = BoostByMajority(random_state=seed).fit(X, y)
            seconds.append(process_time() - start)
            scores.append(model.score(X_test, y_test))
        accuracy = with_error(100 * np.array(scores))
        rows.append((name, accuracy, f"{np.mean(seconds):.1f}"))
    print_table(
        f"Accuracy without flipped labels, {len(seeds)} seeds (20 newsgroups: 1)",
        ["data", "accuracy in percent", "seconds of a fit"],
        rows,
    )


def make_prototypes(seed, n_samples=4000, n_classes=19, n_features=60):
    """Return noisy copies of one sample for each class, and the classes."""
    rng = np.random.default_rng(seed)
    prototypes = rng.integers(0, 2, (n_classes, n_features))
    y = rng.integers(0, n_classes, n_samples)
    return (prototypes[y] ^ (rng.random((n_samples, n_features)) < 0.25)), y


def several_classes(folder, tables, name, seed):
    """Return X, X_test, y, y_test of a table with several classes."""
    if name in ("USPS", "newsgroups_w100"):
        X, y = load_all(folder, {"USPS": "usps_binarized"}.get(name, name))
    elif name == "digits":
        X, y = load_digits(return_X_y=True)
        X = X >= 8
    elif name == "19 classes":
        X, y = make_prototypes(seed)
    else:
        X, y = tables[name]
    often = np.bincount(y)[y] > 3
    n_train = min(1500, int(0.7 * often.sum()))
    X, X_test, y, y_test = train_test_split(
        X[often].astype(np.uint8), y[often], train_size=n_train, stratify=y[often],
        random_state=seed,
    )  # fmt: skip
    return X, X_test[:3000], y, y_test[:3000]


def measure_several(data, seed):
    """Return accuracy in percent and seconds of a fit: ours, and one against rest."""
    warnings.simplefilter("ignore")
    X, X_test, y, y_test = data
    model, found = BoostByMajority(random_state=seed), []
    for each in (model, OneVsRestClassifier(clone(model))):
        start = process_time()
        each.fit(X, y)
        seconds = process_time() - start
        found.append((100 * each.score(X_test, y_test), seconds))
    return found, model.multi_class_


def compare_several(folder, tables, seeds, n_jobs, memory):
    """Print the accuracy of several classes beside that of one class at a time."""
    names = [name for name in ("car", "nursery") if name in tables]
    names += ["digits", "19 classes"]
    names += ["USPS", "newsgroups_w100"] if folder else []
    rows = []
    for name in names:
        results = Parallel(n_jobs=n_jobs)(
            delayed(memory.cache(measure_several))(
                several_classes(folder, tables, name, seed), seed
            )
            for seed in seeds
        )
        figures = np.array([each for each, _kind in results])
        ours, peer = figures[..., 0].T
        kinds = ", ".join(sorted({kind for _figures, kind in results}))
        gap = ours - peer
        rows.append(
            (name, kinds, with_error(ours), with_error(peer), with_error(gap),
             *(f"{x:.1f}" for x in figures[..., 1].mean(axis=0)))
        )  # fmt: skip
    print_table(
        f"Several classes: accuracy in percent, {len(seeds)} seeds",
        ["data", "games", OURS, f"OneVsRest({OURS})", "difference", "s",
         "s, OneVsRest"], rows,
    )  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, one small table")
    parser.add_argument(
        "--data", default=os.environ.get("SKLBOOLEAN_DATA"),
        help="folder with uci_car.npz and others (see README.md)",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds")
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time")
    parser.add_argument("--cache", help="folder for the figures of each split")
    options = parser.parse_args(arguments)
    print_header("Boosting by majority under label noise, at defaults")
    tables = load_tables(options.data)
    seeds = range(options.seeds)
    if options.quick:
        tables = {"tic-tac-toe": [part[::4] for part in tables["tic-tac-toe"]]}
        seeds = range(1)
    memory = Memory(options.cache, verbose=0)
    compare_noise(tables, seeds, options.jobs, memory)
    compare_wrong_labels(tables, seeds[:3], options.jobs, memory)
    data = None if options.quick else options.data
    compare_clean(data, tables, seeds[:2])
    if not options.quick:
        compare_several(data, tables, seeds[:1], options.jobs, memory)


if __name__ == "__main__":
    sys.exit(main())
