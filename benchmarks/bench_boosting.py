"""Rounds of BoostByMajority over stumps against other boosters, and filtered streams.

    python benchmarks/bench_boosting.py [--quick]

* A round over Boolean stumps: ``fit`` with a fixed edge divided by its rounds, and what
  a round costs once the table is set up (the difference of two numbers of rounds),
  beside AdaBoost over scikit-learn's stumps and HistGradientBoosting of depth 1. Peers
  get the numbers that they would convert to: float32 for AdaBoost, float64 for
  HistGradientBoosting.
* Fits at defaults, where length and edge are chosen on held-out samples, beside
  HistGradientBoosting at its defaults and with early stopping.
* What a round of ours is made of: the compiled pass over the columns alone, and all the
  functions of the loop by the profiler, which makes Python's part look larger.
* Rows of a stream that boosting by filtering sees, beside the bound (2.16) of the
  thesis, for the majority of 3 and of 5 features among 8. The error is exact: over all
  rows that there are.
"""

import argparse
import cProfile
import pstats
import sys

import numpy as np
from _timing import as_ratio, compare, milliseconds, print_header, print_table, timed
from _workloads import linear_labels, random_rows
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from sklboolean import BooleanStump, BoostByMajority, FilteringBoostByMajority
from sklboolean._core.bits import pack_dense
from sklboolean.boosting import BoostingSchedule, FilteringSchedule
from sklboolean.boosting._stump import best_stump
from sklboolean.boosting._votes import MajorityVotes
from sklboolean.boosting._weak_learners import StumpWeakLearner
from sklboolean.theory import filter_sample_bound

threadpool_limits(1)  # OpenMP of scikit-learn, which is loaded by now

GAMMA = 0.03
# Features that vote in the target, edge of the best one on any distribution, error.
CONCEPTS = {
    "2 of 3": (3, 1 / 6, 0.1),
    "3 of 5": (5, 0.1, 0.3),
}
N_FEATURES, N_WEAK, DELTA = 8, 200, 0.1
CHUNK = 8192


# -- rounds ---------------------------------------------------------------------------


def fits(X, y):
    """Return a function of the number of rounds for each learner."""
    as_float32, as_float64 = X.astype(np.float32), X.astype(np.float64)
    stump = DecisionTreeClassifier(max_depth=1)
    return {
        "BoostByMajority": lambda n: BoostByMajority(
            n_estimators=n, schedule=BoostingSchedule(gamma=GAMMA)
        ).fit(X, y),
        "AdaBoost": lambda n: AdaBoostClassifier(stump, n_estimators=n).fit(
            as_float32, y
        ),
        "HistGB": lambda n: HistGradientBoostingClassifier(
            max_depth=1, max_iter=n, early_stopping=False
        ).fit(as_float64, y),
    }


def compare_rounds(n_samples, n_features, rounds, repeats):
    """Print the time of a round, by two measures."""
    X = random_rows(n_samples, n_features, 0.5, 0)
    y = linear_labels(X, 0.1, 1)
    models, functions = fits(X, y), {}
    for name, fit in models.items():
        for n in rounds[name]:
            functions[name, n] = lambda fit=fit, n=n: fit(n)
    played = models["BoostByMajority"](rounds["BoostByMajority"][-1])
    if played.n_rounds_ != rounds["BoostByMajority"][-1]:
        raise RuntimeError("The game ended early, so the time of a round is not known.")
    times = compare(functions, repeats)
    whole, marginal = {}, {}
    for name, (few, many) in rounds.items():
        whole[name] = times[name, many] / many
        marginal[name] = (times[name, many] - times[name, few]) / (many - few)
    rows = []
    for name, (_, many) in rounds.items():
        row = [name, many]
        for cost in (whole, marginal):
            ours = cost["BoostByMajority"]
            ratio = as_ratio(cost[name], ours) if name != "BoostByMajority" else ""
            row += milliseconds(cost[name]), ratio
        rows.append(row)
    print_table(
        f"A round over {n_samples} x {n_features} bits",
        [
            "learner", "rounds", "fit / rounds, ms", "/ ours", "one more round, ms",
            "/ ours",
        ],
        rows,
    )  # fmt: skip
    return X, y


def compare_default_fits(shapes, repeats):
    """Print the time of fits at defaults, which choose length and edge."""
    rows = []
    for n_samples, n_features in shapes:
        X = random_rows(n_samples, n_features, 0.5, 0)
        y, Z = linear_labels(X, 0.1, 1), X.astype(np.float64)
        stopped = HistGradientBoostingClassifier(max_iter=1000, early_stopping=True)
        functions = {
            "BoostByMajority": lambda X=X, y=y: BoostByMajority().fit(X, y),
            "HistGB": lambda X=Z, y=y: HistGradientBoostingClassifier().fit(X, y),
            "HistGB, stopped": lambda X=Z, y=y, m=stopped: m.fit(X, y),
        }
        times = compare(functions, repeats)
        ours = times["BoostByMajority"]
        for name, cost in times.items():
            rows.append((f"{n_samples} x {n_features}", name, milliseconds(cost),
                         f"{cost / ours:.2f}"))  # fmt: skip
    print_table("Fits at defaults", ["bits", "learner", "fit, ms", "/ ours"], rows)


def profile_round(X, y, n_rounds, repeats):
    """Print what a round of ours is made of."""
    codes = y.astype(np.int16)
    learner = StumpWeakLearner(
        BooleanStump(), pack_dense(X), codes, np.unique(y), None, None, X.shape[1]
    )
    votes = MajorityVotes(codes, 2)
    for _ in range(n_rounds // 2):  # states as in the middle of a game
        shown = votes.weights(n_rounds, GAMMA)
        stump = learner.fit(None, None, shown)
        votes.add(learner.predict_codes(stump))
    later = MajorityVotes(codes, 2)  # its votes may change
    shown = votes.weights(n_rounds, GAMMA)
    small = shown.of_samples(quantized=True)
    signed = learner.signs[0] * small
    predicted = learner.predict_codes(stump)
    parts = {
        "states and weights of a round": lambda: votes.weights(n_rounds, GAMMA),
        "weights of samples, 15 bits": lambda: shown.of_samples(quantized=True),
        "best stump over all columns": lambda: best_stump(
            learner.columns, learner.signs, small
        ),
        "    its compiled sums": lambda: learner.columns.sums(signed),
        "predictions of the stump": lambda: learner.predict_codes(stump),
        "votes on the samples": lambda: later.add(predicted),
    }
    calls = {
        name: lambda part=part: [part() for _ in range(20)]
        for name, part in parts.items()
    }
    times = {name: time / 20 for name, time in compare(calls, repeats).items()}
    total = sum(time for name, time in times.items() if not name.startswith(" "))
    rows = [
        (name.strip() if name[0] != " " else "- " + name.strip(),
         f"{1e6 * time:.0f}", f"{100 * time / total:.0f}")
        for name, time in times.items()
    ]  # fmt: skip
    print_table("Parts of a round", ["part", "us", "% of the sum"], rows)
    profiler = cProfile.Profile()
    booster = BoostByMajority(
        n_estimators=n_rounds, schedule=BoostingSchedule(gamma=GAMMA)
    )
    profiler.runcall(booster.fit, X, y)
    statistics = pstats.Stats(profiler).stats
    slowest = sorted(statistics.items(), key=lambda item: -item[1][2])[:10]
    print_table(
        f"fit of {n_rounds} rounds by the profiler: most time of their own",
        ["function", "calls", "own ms", "with callees ms"],
        [
            (name, calls, milliseconds(own), milliseconds(whole))
            for (_file, _line, name), (_, calls, own, whole, _callers) in slowest
        ],
    )


# -- streams --------------------------------------------------------------------------


def draw_chunks(n_voters, seed, n_chunks):
    """Yield chunks of uniform rows with the majority of the first features."""
    rng = np.random.default_rng(seed)
    for _ in range(n_chunks):
        X = rng.integers(2, size=(CHUNK, N_FEATURES), dtype=np.uint8)
        yield X, majority(X, n_voters)


def majority(X, n_voters):
    """Return whether most of the first features are true."""
    return (2 * X[:, :n_voters].sum(axis=1) > n_voters).astype(np.int64)


def all_rows():
    """Return every row that there is."""
    numbers = np.arange(2**N_FEATURES)[:, np.newaxis]
    return (numbers >> np.arange(N_FEATURES) & 1).astype(np.uint8)


def filter_streams(concepts, modes, seeds):
    """Print what boosting by filtering takes from a stream."""
    X, rows = all_rows(), []
    for concept, (n_voters, gamma, epsilon) in concepts.items():
        bound = filter_sample_bound(
            gamma, epsilon, DELTA, n_weak_samples=N_WEAK, weak_learner_success_rate=1.0
        )
        seen = {}
        for mode in modes:
            runs, seconds = [], 0.0
            for seed in seeds:
                booster = FilteringBoostByMajority(
                    schedule=FilteringSchedule(
                        mode=mode,
                        gamma=gamma,
                        target_error=epsilon,
                        delta=DELTA,
                        n_samples_weak=N_WEAK,
                    ),
                    random_state=seed,
                )
                chunks = draw_chunks(n_voters, seed, 1 + bound // CHUNK)
                booster, elapsed = timed(
                    lambda b=booster, c=chunks: b.fit_stream(c, classes=[0, 1])
                )
                seconds += elapsed
                runs.append(booster)
            seen[mode] = np.mean([run.n_seen_.sum() for run in runs])
            error = np.mean([1 - run.score(X, majority(X, n_voters)) for run in runs])
            rows.append(
                (
                    concept, f"{gamma:.3f}", f"{epsilon:g}", mode, runs[0].k_,
                    f"{np.mean([run.n_aborted_ for run in runs]):.0f}",
                    f"{seen[mode]:.3g}",
                    f"{np.mean([run.n_accepted_.sum() for run in runs]):.3g}",
                    f"{bound:.3g}", f"{bound / seen[mode]:.3g}x", f"{error:.4f}",
                    f"{seconds / len(runs):.2g}",
                )
            )  # fmt: skip
    print_table(
        f"Rows of a stream, {len(seeds)} seeds",
        [
            "concept", "gamma", "epsilon", "mode", "k", "aborted", "seen", "accepted",
            "bound", "bound / seen", "error", "s",
        ],
        rows,
    )  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, small sizes")
    options = parser.parse_args(arguments)
    print_header("Boosting by majority: rounds and streams")
    shape, repeats, modes = (50_000, 200), 5, ("practical", "theory")
    rounds = {"BoostByMajority": (11, 101), "AdaBoost": (1, 5), "HistGB": (11, 101)}
    concepts, seeds = CONCEPTS, range(3)
    if options.quick:
        shape, repeats, seeds = (2000, 50), 1, range(1)
        modes, concepts = ("practical",), {"2 of 3": CONCEPTS["2 of 3"]}
    X, y = compare_rounds(*shape, rounds, repeats)
    # Once after the warm-up: a fit of HistGradientBoosting takes half a minute.
    sizes = [shape] if options.quick else [(1000, 50), (20_000, 200)]
    compare_default_fits(sizes, 1)
    profile_round(X, y, 101, repeats)
    filter_streams(concepts, modes, seeds)


if __name__ == "__main__":
    sys.exit(main())
