"""The cheapest set of rules, with its proof: on 16 tables, and beside optimal trees.

    python benchmarks/bench_optimal_rules.py [--quick] [--data DIR] [--seconds N]

The tables are those of `bench_rules_accuracy.py`, in full, and a9a also with 5000
samples. A literal costs as much as one sample. Cost and bound are of the class 1. CPU
seconds are those of `OptimalRuleSet`, of one core; the time limit is by the clock.
"Greedy" is the cost of the rules of `RuleClassifier("labels")` for the same class and
price, as this class counts it.

The second table has the training errors of optimal trees and rule sets of other
packages, and those of `OptimalRuleSet` at no price with at most as many literals, set
by ``max_total_literals``, and six in a rule. The literals of a tree are those of the
paths to its leaves of class 1 or of class 0, whichever are fewer; the rules describe
the same class. CPU seconds are those of the peer.
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
PEER_SAMPLES, PEER_SECONDS = 1000, 20  # by the clock, of each fit
PEER_COLUMNS = [
    "table", "peer", "literals", "errors", "our literals", "our errors", "CPU s",
]  # fmt: skip
TREE_PRICES, BRCG_PRICES = (0.05, 0.02, 0.01), (0.01, 0.003, 0.001)


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
        "labels", penalty=1.0, literal_cost=1.0, max_rules=100, random_state=0
    ).fit(X, y)
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


def leaf_literals(node, children, label_of, label, depth=0):
    """Add up the depths of the leaves that predict a label."""
    below = [getattr(node, name, None) for name in children]
    if None in below:
        return depth * (int(label_of(node)) == label)
    return sum(
        leaf_literals(child, children, label_of, label, depth + 1) for child in below
    )


def path_literals(tree, label, node=0, depth=0):
    """Do the same for a tree of scikit-learn."""
    if tree.children_left[node] < 0:
        return depth * (int(tree.value[node, 0].argmax()) == label)
    below = tree.children_left[node], tree.children_right[node]
    return sum(path_literals(tree, label, child, depth + 1) for child in below)


def gosdt_literals(model, label):
    """Count the literals of the paths of GOSDT that predict a label."""
    root, children = model.trees_[0].tree, ("left_child", "right_child")
    return leaf_literals(root, children, lambda leaf: leaf.prediction, label)


def optimal_trees():
    """Yield each tree that is installed: name, a new estimator, and its literals."""
    try:
        from gosdt import GOSDTClassifier

        for price in TREE_PRICES:
            model = GOSDTClassifier(
                regularization=price, depth_budget=5, time_limit=PEER_SECONDS
            )
            yield f"GOSDT, {price}", model, gosdt_literals
    except Exception as error:
        print(f"Peer left out: GOSDT ({error}).")
    try:
        from imodels import FastSmallTreeClassifier

        for price in TREE_PRICES:
            model = FastSmallTreeClassifier(
                regularization=price, time_limit=PEER_SECONDS
            )
            yield (
                f"FastSmallTree, {price}", model,
                lambda m, label: path_literals(m.estimator_.tree_, label),
            )  # fmt: skip
    except Exception as error:
        print(f"Peer left out: FastSmallTreeClassifier ({error}).")


def rule_sets():
    """Yield BRCG of class 1, if it is installed."""
    try:
        from aix360.algorithms.rbm import BooleanRuleCG
    except Exception as error:
        print(f"Peer left out: BRCG ({error}).")
        return
    for price in BRCG_PRICES:
        model = BooleanRuleCG(
            lambda0=price, lambda1=price, solver="CLARABEL", silent=True
        )
        yield (
            f"BRCG, {price}", model,
            lambda m, _: sum(rule.count("AND") + 1 for rule in m.explain()["rules"]),
        )  # fmt: skip


def literals_and_errors(X, y, most):
    """Count literals and training errors of the best rules of so few literals."""
    model = OptimalRuleSet(
        literal_cost=0.0, max_literals=6, max_total_literals=most,
        time_limit=PEER_SECONDS,
    ).fit(X, y)  # fmt: skip
    n_literals = sum(rule.n_literals for rule in model.rules_)
    return n_literals, int((model.predict(X) != y).sum())


def peer_rows(name, X, y):
    """Compare training errors at no more literals than each peer has."""
    X, y = X[:PEER_SAMPLES], np.asarray(y[:PEER_SAMPLES]).astype(int)
    for peer, model, count in (*optimal_trees(), *rule_sets()):
        try:
            Z = as_peer_data(peer.partition(",")[0], X)
            start = time.process_time()
            model.fit(Z, y)
            seconds = time.process_time() - start
            n_errors = int((np.asarray(model.predict(Z)) != y).sum())
            literals = {0: np.inf, 1: count(model, 1)}
            if not peer.startswith("BRCG"):
                literals[0] = count(model, 0)
            label = min((1, 0), key=literals.__getitem__)
        except Exception as error:
            print(f"{name}, {peer}: {type(error).__name__}: {error}"[:100])
            continue
        size, ours = literals_and_errors(X, (y == label).astype(int), literals[label])
        row = [name, peer, literals[label], n_errors, size, ours, f"{seconds:.1f}"]
        print(*row, flush=True)
        yield row


def main(arguments=None):
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each table")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--peers", action="store_true", help="the second table only")
    options = parser.parse_args(arguments)
    print_header("The cheapest rules, with a proof")
    warnings.simplefilter("ignore")
    proofs, comparisons = [], []
    for name, X, y in tables(options):
        if options.only and name not in options.only:
            continue
        if not options.peers:
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
            [
                "table",
                "peer",
                "literals",
                "errors",
                "our literals",
                "our errors",
                "CPU s",
            ],
            comparisons,
        )


if __name__ == "__main__":
    sys.exit(main())
