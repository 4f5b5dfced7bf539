"""The cheapest set of rules, with its proof: on 16 tables, and beside optimal trees.

    python benchmarks/bench_optimal_rules.py [--quick] [--data DIR] [--seconds N]

The tables are those of `bench_rules_accuracy.py`, in full, and a9a also with 5000
samples. A literal costs as much as one sample. Cost and bound are of the class 1. CPU
seconds are those of `OptimalRuleSet`, of one core; the time limit is by the clock.
"Greedy" is the cost of the rules of `RuleClassifier("labels")` for the same class and
price, as this class counts it.

The second table has the training errors of trees and rule sets of other packages, and
those of `OptimalRuleSet` with at most as many literals: the best of eight prices. The
literals of a tree are those of the paths to its leaves of class 1.
"""

import argparse
import sys
import time
import warnings

import numpy as np
from _timing import print_header, print_table
from bench_rules_accuracy import as_peer_data, two_class_tables

from sklboolean import OptimalRuleSet, RuleClassifier
from sklboolean._core.bits import pack_dense
from sklboolean.rules._dnf_bound import DNFProblem

# Of the table beside peers: they take long on more samples.
PEER_TABLES = (
    "tic-tac-toe", "votes", "monks 1", "monks 2", "monks 3",
    "breast cancer, Ljubljana", "spect", "mushroom",
)  # fmt: skip
PEER_SAMPLES, PEER_SECONDS = 1000, 30
PRICES = (16.0, 8.0, 5.0, 3.0, 2.0, 1.5, 1.0, 0.5)


def tables(options):
    """Yield name, samples and labels."""
    quick = ("votes", "monks 1", "monks 2", "monks 3", "tic-tac-toe")
    for name, parts in two_class_tables(options.data).items():
        X, X_test, y, y_test = parts(0)
        X, y = np.vstack([X, X_test]).astype(np.uint8), np.append(y, y_test)
        if name == "a9a" and not options.quick:
            yield "a9a, 5000 samples", X[:5000], y[:5000]
        if not options.quick or name in quick:
            yield name, X, y


def greedy_cost(X, y):
    """Compute the cost of greedy rules for class 1 at a price of 1."""
    model = RuleClassifier(
        "labels", penalty=1.0, literal_price=1.0, max_rules=100, time_limit=20.0,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    rules = [rule.literals for rule in model.rules_ if rule.label == 1]
    if not rules:
        return None
    problem = DNFProblem(pack_dense(X), X.shape[1], y == 1, np.ones(len(y)), 1.0)
    return problem.cost(rules)


def proof_row(name, X, y, seconds):
    """Find the cheapest rules of one table."""
    start, clock = time.process_time(), time.monotonic()
    model = OptimalRuleSet(time_limit=seconds).fit(X, y)
    start, clock = time.process_time() - start, time.monotonic() - clock
    greedy = greedy_cost(X, y)
    return [
        name, *X.shape, f"{model.cost_[0]:.0f}", f"{model.bound_[0]:.0f}",
        f"{100 * model.gap_[0]:.1f}", len(model.rules_),
        sum(rule.n_literals for rule in model.rules_), f"{start:.1f}", f"{clock:.1f}",
        "other class" if greedy is None else f"{greedy:.0f}",
    ]  # fmt: skip


def positive_leaf_literals(node, children, label, depth=0):
    """Add up the depths of the leaves that predict class 1."""
    below = [getattr(node, name, None) for name in children]
    if None in below:
        return depth * (label(node) == 1)
    return sum(
        positive_leaf_literals(child, children, label, depth + 1) for child in below
    )


def peers():
    """Yield each peer that is installed: name, a new estimator, and its literals."""
    try:
        from gosdt import GOSDTClassifier

        for penalty in (0.02, 0.01):
            model = GOSDTClassifier(
                regularization=penalty, depth_budget=5, time_limit=PEER_SECONDS
            )
            yield (
                f"GOSDT, {penalty}", model,
                lambda m: positive_leaf_literals(
                    m.trees_[0].tree, ("left_child", "right_child"),
                    lambda leaf: int(leaf.prediction),
                ),
            )  # fmt: skip
    except Exception as error:
        print(f"Peer left out: GOSDT ({error}).")
    try:
        from aix360.algorithms.rbm import BooleanRuleCG

        yield (
            "BRCG",
            BooleanRuleCG(lambda0=1e-3, lambda1=1e-3, solver="CLARABEL", silent=True),
            lambda m: sum(rule.count("AND") + 1 for rule in m.explain()["rules"]),
        )
    except Exception as error:
        print(f"Peer left out: BRCG ({error}).")


def errors_by_literals(X, y):
    """List (literals, training errors) of the cheapest rules at each price."""
    sizes = [(0, int(min(y.sum(), (1 - y).sum())))]
    for price in PRICES:
        model = OptimalRuleSet(literal_price=price, time_limit=20.0).fit(X, y)
        n_literals = sum(rule.n_literals for rule in model.rules_)
        sizes.append((n_literals, int((model.predict(X) != y).sum())))
    return sizes


def peer_rows(name, X, y):
    """Compare training errors at no more literals than each peer has."""
    X, y = X[:PEER_SAMPLES], y[:PEER_SAMPLES]
    sizes = errors_by_literals(X, y)
    for peer, model, count in peers():
        try:
            Z = as_peer_data(peer.partition(",")[0], X)
            model.fit(Z, y)
            n_errors = int((np.asarray(model.predict(Z)) != y).sum())
            n_literals = count(model)
        except Exception as error:
            print(f"{name}, {peer}: {type(error).__name__}: {error}"[:100])
            continue
        ours = min(errors for size, errors in sizes if size <= n_literals)
        yield [name, peer, n_literals, n_errors, ours]


def main(arguments=None):
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each table")
    parser.add_argument("--only", nargs="*", help="names of tables")
    options = parser.parse_args(arguments)
    print_header("The cheapest rules, with a proof")
    warnings.simplefilter("ignore")
    proofs, comparisons = [], []
    for name, X, y in tables(options):
        if options.only and name not in options.only:
            continue
        proofs.append(proof_row(name, X, y, options.seconds))
        print(*proofs[-1], flush=True)
        if name in PEER_TABLES and not options.quick:
            comparisons += peer_rows(name, X, y)
    columns = [
        "table", "samples", "features", "cost", "bound", "gap, %", "rules", "literals",
        "CPU s", "clock s", "greedy",
    ]  # fmt: skip
    print_table("Cost and bound at a price of 1", columns, proofs)
    if comparisons:
        print_table(
            "Training errors at no more literals",
            ["table", "peer", "literals", "errors", "OptimalRuleSet"],
            comparisons,
        )


if __name__ == "__main__":
    sys.exit(main())
