"""Rules that predict: RuleClassifier against trees and other rule learners.

    python benchmarks/bench_rules_accuracy.py [--quick] [--data DIR] [--keep DIR]
        [--jobs N]

* 3 splits, 80 % to train: accuracy on the rest with its standard error over the splits,
  number of rules and literals, and CPU seconds for the fit. A tree's leaves are its
  rules, a tree's literals the sum of their depths.
* "labels" is the same search over the labels themselves: every training sample is a
  support vector with the sign of its class. The difference is what a kernel model adds.
* "SVC" is RuleClassifier over a plain SVC; fidelity is the fraction of test samples on
  which the rules predict the same as their kernel model.
* Planted DNFs are drawn anew for each split: 2000 samples to train with noisy labels,
  5000 to test without noise, neighbouring features correlated, half of the samples
  positive.
* imodels takes part if it can be imported: FIGS (a readable sum of trees) and its
  boosted rules; not over planted DNFs, where it takes long.
  skope-rules 1.0.1 cannot be imported on Python 3.10 or later.

Then published rule learners over 16 tables of two classes, one class against the rest
where there are more: at most 1000 samples to train, 3000 to test, all at defaults, one
split. RIPPER of wittgenstein, SkopeRules, FIGS and RuleFit of imodels, GOSDT, BRCG of
aix360 and CART; those that cannot be imported are left out. A peer that takes more than
30 seconds of CPU time or 8 GiB for a fit has no entry; GOSDT gives its best tree after
20. The size is the number of literals: of all rules, of the paths to all leaves of
trees, of the rules with a weight in a linear model. The last table counts the tables
where a peer is at least as accurate and at most as long, and those of them where it is
equal in both.

--jobs fits run at the same time, by default one. --keep DIR writes the
figures of the published learners into a folder. A run that was interrupted continues
there.

Nothing is tuned.
"""

import argparse
import importlib
import os
import re
import resource
import signal
import sys
import warnings
from functools import partial
from multiprocessing import Pipe, get_context
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
from _timing import kept, print_header, print_table, timed
from _workloads import load_part
from joblib import Parallel, delayed
from sklearn import datasets
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sklboolean import KernelPerceptron, RuleClassifier
from sklboolean.datasets import (
    load_mushroom,
    load_votes,
    make_dnf,
    make_monks,
    make_tic_tac_toe,
)
from sklboolean.kernels import ConjunctionKernel
from sklboolean.rules import extract_dnf

PATIENCE = 30  # CPU seconds of a peer's fit
# Features, terms, literals, noise, correlation.
PLANTED = [
    (50, 4, 3, 0.03, 0.5), (100, 8, 3, 0.05, 0.5), (200, 5, 4, 0.04, 0.5),
    (50, 8, 4, 0.05, 0.7),
]  # fmt: skip


class Labels(ClassifierMixin, BaseEstimator):
    """Rules from the labels themselves, without a kernel model."""

    def __init__(self, monotone=False, feature_groups=None):
        self.monotone = monotone
        self.feature_groups = feature_groups

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        # All samples become support vectors, with their labels as coefficients.
        perceptron = KernelPerceptron(
            ConjunctionKernel(max_literals=4, monotone=False, normalize=False),
            average=None, max_iter=1, margin=1e300, n_orders=0,
        ).fit(X, y)  # fmt: skip
        self.dnf_ = extract_dnf(
            perceptron, X, y, monotone=self.monotone, min_fidelity=0,
            feature_groups=self.feature_groups,
        )  # fmt: skip
        self.rules_ = self.dnf_.rules
        return self

    def predict(self, X):
        return self.dnf_.predict(X)


def load_tables(folder):
    """Load (X, y, feature groups) by name; without attributes each column is one."""
    bundles = {
        "tic-tac-toe": make_tic_tac_toe(), "mushroom": load_mushroom(),
        "votes": load_votes(), **{f"monks {k}": make_monks(k) for k in (1, 2, 3)},
    }  # fmt: skip
    tables = {
        name: (
            np.asarray(bundle.data), np.asarray(bundle.target),
            bundle.get("feature_groups", np.arange(bundle.data.shape[1])),
        )
        for name, bundle in bundles.items()
    }  # fmt: skip
    for name in ("car", "spect"):
        file = Path(folder or ".") / f"uci_{name}.npz"
        if not (folder and file.exists()):
            print(f"\nNo uci_{name}.npz in --data: without {name}.")
            continue
        with np.load(file, allow_pickle=False) as arrays:
            parts = [p for p in ("all", "train", "test") if f"y_{p}" in arrays]
            groups = arrays.get("feature_group", np.arange(int(arrays["n_features"])))
        X, y = zip(*(load_part(folder, f"uci_{name}", p) for p in parts), strict=True)
        X, y = np.vstack(X), np.concatenate(y)
        tables[name] = X, y, groups
        if name == "car":
            commonest = np.bincount(y).argmax()
            tables["car, unacceptable"] = X, (y == commonest).astype(int), groups
    return tables


def classifiers(groups):
    """Make the classifiers by name."""
    shared = {"feature_groups": groups, "random_state": 0}
    found = {
        "RuleClassifier": RuleClassifier(**shared),
        "RuleClassifier, monotone": RuleClassifier(monotone=True, **shared),
        "RuleClassifier(SVC())": RuleClassifier(SVC(), **shared),
        "labels": Labels(feature_groups=groups),
        "DecisionTree": DecisionTreeClassifier(random_state=0),
    }
    try:
        from imodels import BoostedRulesClassifier, FIGSClassifier
    except ImportError as error:
        print(f"\nPeer left out: imodels ({error}).")
    else:
        found["imodels FIGS"] = FIGSClassifier()
        found["imodels BoostedRules"] = BoostedRulesClassifier(random_state=0)
    return found


def size_of(model):
    """Count rules and literals; None for models without rules."""
    if hasattr(model, "tree_"):
        tree = model.tree_
        depths = _leaf_depths(tree)
        return len(depths), sum(depths)
    if isinstance(model, RuleClassifier | Labels):
        return len(model.rules_), sum(len(rule.literals) for rule in model.rules_)
    return None, None


def _leaf_depths(tree):
    depths, stack = [], [(0, 0)]
    while stack:
        node, depth = stack.pop()
        children = tree.children_left[node], tree.children_right[node]
        if children[0] < 0:
            depths.append(depth)
        else:
            stack += [(child, depth + 1) for child in children]
    return depths


def figures_of(model, X, X_test, y, y_test):
    """Fit a model; return accuracy, size, seconds, and the fidelity of rules."""
    _, seconds = timed(lambda: model.fit(X, y))
    predicted = model.predict(X_test)
    fidelity = None
    if isinstance(model, RuleClassifier) and model.estimator_ is not None:
        fidelity = np.mean(predicted == model.estimator_.predict(X_test))
    return np.mean(predicted == y_test), size_of(model), seconds, fidelity


def judge(name, splits, groups, n_jobs):
    """Measure all classifiers; a line of the table for each."""
    rows = []
    for kind, model in classifiers(groups).items():
        if isinstance(model, Labels) and len(np.unique(splits[0][2])) > 2:
            continue
        # Planted terms hold negations; imodels takes long.
        if groups is None and kind.endswith(("monotone", "FIGS", "Rules")):
            continue
        scores, sizes, seconds, fidelity = zip(*Parallel(n_jobs=n_jobs)(
            delayed(figures_of)(model, *split) for split in splits
        ), strict=True)  # fmt: skip
        fidelity = [share for share in fidelity if share is not None]
        error = np.std(scores, ddof=1) / len(scores) ** 0.5 if scores[1:] else 0.0
        n_rules, n_literals = (
            f"{np.mean(column):.1f}" if column[0] is not None else ""
            for column in zip(*sizes, strict=True)
        )
        rows.append(
            (
                name, kind, f"{np.mean(scores):.3f}", f"{error:.3f}", n_rules,
                n_literals, f"{np.mean(fidelity):.3f}" if fidelity else "",
                f"{np.mean(seconds):.3f}",
            )
        )  # fmt: skip
    return rows


def planted_split(shape, seed, n_train, n_test):
    """Draw samples; noise in the training labels only."""
    n, terms, literals, noise, correlation = shape
    X, y, _ = make_dnf(
        n_train + n_test, n, n_terms=terms, n_literals=literals,
        correlation=correlation, positive_fraction=0.5, random_state=seed,
    )  # fmt: skip
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=n_test, random_state=seed, stratify=y
    )
    flipped = np.random.default_rng(seed).random(n_train) < noise
    return X, X_test, y ^ flipped, y_test


def two_class_tables(folder):
    """Map the names of 16 tables to functions of a seed: four arrays, Boolean."""

    def split(X, y, seed):
        return train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)

    def thermometers(load, name, seed):
        X, y = load(return_X_y=True)
        y = (y > np.median(y) if name == "num_diabetes" else y == 0).astype(int)
        train, test, y_train, y_test = split(X, y, seed)
        steps = np.quantile(train, np.arange(1, 8) / 8, axis=0)
        pairs = [(j, q) for j in range(X.shape[1]) for q in np.unique(steps[:, j])]
        parts = (np.stack([Z[:, j] <= q for j, q in pairs], 1) for Z in (train, test))
        return *parts, y_train, y_test

    made = {}
    bundles = {
        "tic-tac-toe": make_tic_tac_toe(), "mushroom": load_mushroom(),
        "votes": load_votes(), **{f"monks {k}": make_monks(k) for k in (1, 2, 3)},
    }  # fmt: skip
    whole = {
        name: (np.asarray(one.data), np.asarray(one.target))
        for name, one in bundles.items()
    }
    stored = {
        "car": "uci_car", "nursery": "uci_nursery", "w100": "newsgroups_w100",
        "breast cancer, Ljubljana": "uci_breast_cancer_ljubljana", "spect": "uci_spect",
        "a9a": "libsvm_a9a", "w8a": "libsvm_w8a",
    }  # fmt: skip
    for name, file in stored.items() if folder else ():
        part = "train" if name in ("spect", "a9a", "w8a") else "all"
        X, y = load_part(folder, file, part)
        classes, counts = np.unique(y, return_counts=True)
        positive = classes[-1] if len(classes) == 2 else classes[counts.argmax()]
        X = X.toarray() if hasattr(X, "toarray") else X
        whole[name] = X.astype(np.uint8), (y == positive).astype(int)
    for name, (X, y) in whole.items():
        made[name] = lambda seed, X=X, y=y: split(X, y, seed)
    for name, load in {
        "num_breast_cancer": datasets.load_breast_cancer,
        "num_diabetes": datasets.load_diabetes, "num_wine": datasets.load_wine,
    }.items():  # fmt: skip
        made[name] = lambda seed, load=load, name=name: thermometers(load, name, seed)
    return made


def comparisons(texts):
    """Count the comparisons in rules that are written out."""
    return sum(len(re.findall(r"<=|>|<|=", text)) for text in texts)


def leaf_depths(node, children, depth=0):
    """Sum the depths of all leaves below a node."""
    below = [getattr(node, name, None) for name in children]
    if below[0] is None:
        return depth
    return sum(leaf_depths(child, children, depth + 1) for child in below)


def literals_of_rulefit(model):
    rules = model._get_rules()
    rules = rules[rules.coef != 0]
    is_linear = rules["type"] == "linear"
    return int(is_linear.sum()) + comparisons(rules.loc[~is_linear, "rule"])


def rule_learners(seed):
    """Make the peers by name, each with a function that counts its literals."""
    made = {
        "CART": (DecisionTreeClassifier(random_state=seed), lambda m: size_of(m)[1]),
        "CART, 16 leaves": (
            DecisionTreeClassifier(max_leaf_nodes=16, random_state=seed),
            lambda m: size_of(m)[1],
        ),
    }

    peers = {
        "RIPPER": ("wittgenstein", "RIPPER", {"random_state": seed},
                   lambda m: sum(len(rule.conds) for rule in m.ruleset_.rules)),
        "SkopeRules": ("imodels", "SkopeRulesClassifier", {"random_state": seed},
                       lambda m: comparisons(map(str, m.rules_))),
        "FIGS": ("imodels", "FIGSClassifier", {"random_state": seed},
                 lambda m: sum(leaf_depths(t, ("left", "right")) for t in m.trees_)),
        "RuleFit": ("imodels", "RuleFitClassifier", {"random_state": seed},
                    literals_of_rulefit),
        "GOSDT": ("gosdt", "GOSDTClassifier",
                  {"regularization": 0.01, "depth_budget": 5, "time_limit": 20},
                  lambda m: leaf_depths(m.trees_[0].tree,
                                        ("left_child", "right_child"))),
        "BRCG": ("aix360.algorithms.rbm", "BooleanRuleCG",
                 {"lambda0": 1e-3, "lambda1": 1e-3, "solver": "CLARABEL",
                  "silent": True},
                 lambda m: sum(rule.count("AND") + 1 for rule in m.explain()["rules"])),
    }  # fmt: skip
    for name, (module, cls, options, count) in peers.items():
        try:
            made[name] = getattr(importlib.import_module(module), cls)(**options), count
        except Exception as error:
            if seed == 0:
                print(f"\nPeer left out: {name} ({error}).")
    return made


def as_peer_data(name, X):
    """Give each peer the form of Boolean features that it reads."""
    if name not in ("RIPPER", "BRCG", "GOSDT"):
        return X.astype(float)
    import pandas as pd

    columns = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X.astype(int), columns=columns)
    if name == "BRCG":
        frame = pd.concat([frame, 1 - frame], axis=1)
        frame.columns = pd.MultiIndex.from_tuples(
            [(c, "", "") for c in columns] + [(c, "not", "") for c in columns]
        )
    return frame


def too_late(_signal, _frame):
    raise TimeoutError(f"{PATIENCE} seconds")


def fit_and_count(name, table, make, seed):
    """Fit one learner; return its accuracy in percent and its number of literals."""
    X, X_test, y, y_test = make(seed)
    X, y, X_test, y_test = X[:1000], y[:1000], X_test[:3000], y_test[:3000]
    if name == "RuleClassifier":
        model, count = RuleClassifier(random_state=seed), lambda m: size_of(m)[1]
    else:
        model, count = rule_learners(seed)[name]
        X, X_test = as_peer_data(name, X), as_peer_data(name, X_test)
    limit = 0 if name == "RuleClassifier" else PATIENCE
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        model.fit(X, y)
        right = np.mean(np.asarray(model.predict(X_test)) == y_test)
        return 100 * right, count(model)
    except Exception as error:
        print(f"{table}, {name}: {type(error).__name__}: {error}"[:100])
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def apart(function):
    """Call in a process of its own with 8 GiB; return None if it needs more."""
    receiver, sender = Pipe(duplex=False)

    def call():
        resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))
        sender.send(function())

    process = get_context("fork").Process(target=call)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        print("A process ended: more than 8 GiB.")
        return None
    finally:
        process.join()


def against_peers(made, n_seeds, keep, n_jobs):
    """Print accuracy and literals of all rule learners on each made table."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, too_late)
    means = {}

    def figures(name, table, seed):
        fit = partial(fit_and_count, name, table, made[table], seed)
        return kept(keep, f"{name} {table} {seed}", partial(apart, fit))

    entries = [(name, table) for name in ["RuleClassifier", *rule_learners(0)]
               for table in made]  # fmt: skip
    cells = [(*entry, seed) for entry in entries for seed in range(n_seeds)]
    with ThreadPool(n_jobs) as pool:  # each thread waits for a process of its own
        found = iter(pool.starmap(figures, cells, chunksize=1))
    for name, table in entries:
        splits = [next(found) for _ in range(n_seeds)]
        if all(splits):
            means[table, name] = np.mean(splits, axis=0)
    names = list(dict.fromkeys(name for _, name in means))
    rows = [
        [table, name, *(f"{figure:.1f}" for figure in means[table, name])]
        for table in made
        for name in names
        if (table, name) in means
    ]
    print_table("Published peers", ["data", "learner", "accuracy, %", "literals"], rows)
    rows = []
    for name in names[1:]:
        pairs = [
            (means[table, name], means[table, "RuleClassifier"])
            for table in made
            if (table, name) in means
        ]
        both = [(peer, ours) for peer, ours in pairs
                if peer[0] >= ours[0] and peer[1] <= ours[1]]  # fmt: skip
        n_equal = sum(np.array_equal(peer, ours) for peer, ours in both)
        points, literals = np.mean([peer - ours for peer, ours in pairs], axis=0)
        cells = f"{points:+.1f}", f"{literals:+.1f}", len(both), n_equal
        rows.append([name, len(pairs), *cells])
    columns = [
        "peer", "tables", "points over ours", "more literals", "as good in both",
        "of these equal",
    ]  # fmt: skip
    print_table("As accurate and as short as RuleClassifier", columns, rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    parser.add_argument("--data", default=os.environ.get("SKLBOOLEAN_DATA"))
    parser.add_argument("--keep", type=Path, help="folder for the figures so far")
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time")
    options = parser.parse_args(arguments)
    print_header("Rules that predict")
    n_seeds, n_splits, n_train, n_test = 1, 3, 2000, 5000
    made, tables = two_class_tables(options.data), load_tables(options.data)
    if options.quick:  # one table of bits and one of numbers
        n_seeds, n_splits, n_train, n_test = 1, 1, 200, 200
        made = {name: made[name] for name in ("monks 3", "num_wine")}
        tables = {name: tables[name] for name in ("monks 3",)}
    against_peers(made, n_seeds, options.keep, options.jobs)
    columns = [
        "data", "classifier", "accuracy", "error", "rules", "literals", "fidelity",
        "fit s",
    ]  # fmt: skip
    rows = []
    for name, (X, y, groups) in tables.items():
        splits = [
            train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
            for seed in range(n_splits)
        ]
        rows += judge(name, splits, groups, options.jobs)
    print_table("Data sets", columns, rows)
    for shape in PLANTED[: 1 if options.quick else None]:
        n, terms, literals, noise, correlation = shape
        splits = [
            planted_split(shape, seed, n_train, n_test) for seed in range(n_splits)
        ]
        title = (
            f"Planted: {n} features, {terms} terms of {literals} literals, noise "
            f"{noise}, correlation {correlation}"
        )
        print_table(title, columns, judge("planted", splits, None, options.jobs))


if __name__ == "__main__":
    sys.exit(main())
