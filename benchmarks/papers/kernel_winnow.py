"""Kernel Winnow counts satisfying assignments: Theorem 7 of Khardon, Roth and Servedio.

    python benchmarks/papers/kernel_winnow.py [--quick]

R. Khardon, D. Roth, R. Servedio (2001). Efficiency versus Convergence of Boolean
Kernels for On-Line Learning Algorithms. NIPS 14.

The theorem turns a monotone 2-CNF formula F and a number K into a sequence of examples,
after which Winnow over all non-empty monotone monomials predicts "true" on one more row
iff F has at least K satisfying assignments: who could simulate this Winnow fast could
count them. Here the reduction is coded, and Winnow simulated exactly for any number of
features: features that occurred in the same mistakes are interchangeable, so that only
their number matters. The cost is exponential in the number of such groups.

Checked, with an error where it fails: the simulation against all 2**m - 1 weights,
Lemma 8 by enumeration, that every example of the sequence is a mistake and that some
monotone function agrees with all of them, and the last prediction for every K.
"""

import argparse
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from _timing import print_header, print_table, timed

# -- Winnow over all monomials: a row is an int, bit i for feature i ------------------


def bits(row):
    """Return the positions of the ones of an int."""
    return [i for i in range(row.bit_length()) if row >> i & 1]


class MonomialWinnow:
    """Winnow over all non-empty monotone monomials, exact, for any number of features.

    The promotion factor, alpha of the theorem, is 2; its threshold is 2**m for m
    features. The weight of a monomial is 2 to the sum of the steps, +1 or -1, of the
    mistakes whose rows satisfy it.
    """

    def __init__(self, n_features):
        self.steps = []  # of each different row that was a mistake
        self.number = {}
        self.mistakes_with = [0] * n_features  # for each feature a set, as an int
        self.n_groups = 0

    def score(self, row):
        """Return the sum of the weights of the monomials that a row satisfies."""
        groups = Counter(self.mistakes_with[i] for i in bits(row))
        self.n_groups = max(self.n_groups, len(groups))
        # For sets of mistakes, how many of the monomials occur in just these.
        kinds = Counter()
        for mistakes, size in groups.items():
            longer = Counter()
            for others, count in kinds.items():
                longer[others & mistakes] += count * (2**size - 1)
            kinds.update(longer)
            kinds[mistakes] += 2**size - 1
        return sum(
            count * Fraction(2) ** sum(self.steps[i] for i in bits(mistakes))
            for mistakes, count in kinds.items()
        )

    def see(self, row, label, threshold, times=1):
        """Learn a row so many times over; return how often it was a mistake.

        A mistake multiplies all monomials of its row, and so its score; after a right
        prediction nothing changes any more.
        """
        score, scale = self.score(row).as_integer_ratio()
        mistakes = 0
        while mistakes < times and (score >= threshold * scale) != label:
            score, scale = (2 * score, scale) if label else (score, 2 * scale)
            mistakes += 1
        if mistakes:
            if row not in self.number:
                self.number[row] = len(self.steps)
                self.steps.append(0)
                for i in bits(row):
                    self.mistakes_with[i] |= 1 << self.number[row]
            self.steps[self.number[row]] += mistakes if label else -mistakes
        return mistakes


def play_by_definition(examples, n_features, threshold):
    """Return mistakes and last scores of Winnow with a weight for every monomial.

    It shows that `MonomialWinnow` is right, for few features.
    """
    weights = {monomial: Fraction(1) for monomial in range(1, 2**n_features)}
    mistakes = [0] * len(examples)
    for i, (row, label, times) in enumerate(examples):
        satisfied = [monomial for monomial in weights if monomial & ~row == 0]
        for _ in range(times):
            score = sum(weights[monomial] for monomial in satisfied)
            if (score >= threshold) != label:
                mistakes[i] += 1
                for monomial in satisfied:
                    weights[monomial] *= Fraction(2) ** (1 if label else -1)
    scores = [
        sum(w for monomial, w in weights.items() if monomial & ~row == 0)
        for row, _, _ in examples
    ]
    return mistakes, scores


def check_simulation(n_features, n_samples, rng):
    """Compare the simulation with the definition on random rows with random labels."""
    rows, labels, times = (
        rng.integers(low, high, n_samples).tolist()
        for low, high in [(0, 2**n_features), (0, 2), (1, 5)]
    )
    examples = list(zip(rows, map(bool, labels), times, strict=True))
    threshold = int(rng.integers(1, 2**n_features))
    winnow = MonomialWinnow(n_features)
    mistakes = [
        winnow.see(row, label, threshold, times) for row, label, times in examples
    ]
    scores = [winnow.score(row) for row in rows]
    expected = play_by_definition(examples, n_features, threshold)
    assert (mistakes, scores) == expected, "grouping features changed a score"
    return sum(mistakes)


# -- formulas: a clause is a set of variables as an int, a formula a list of clauses ---


def n_satisfying(clauses, n_variables):
    """Count the satisfying assignments of a monotone CNF by trying all."""
    return sum(all(y & clause for clause in clauses) for y in range(2**n_variables))


def counted_cnf(n_variables, count):
    """Return a monotone CNF with exactly so many satisfying assignments (Lemma 8).

    The paper distributes x_k where it must be x_{k+1}, the new variable.
    """
    if n_variables == 1:
        return [1]
    new, half = 1 << n_variables - 1, 2 ** (n_variables - 1)
    if count == half:
        return [1]
    if count < half:
        return [new, *counted_cnf(n_variables - 1, count)]
    return [new | clause for clause in counted_cnf(n_variables - 1, count - half)]


def check_counted_cnf(n_variables):
    """Check Lemma 8 for every count, and return how many counts there are."""
    for count in range(1, 2**n_variables):
        clauses = counted_cnf(n_variables, count)
        assert len(clauses) <= n_variables, "Lemma 8: too many clauses"
        assert n_satisfying(clauses, n_variables) == count, "Lemma 8: wrong count"
    return 2**n_variables - 1


def formulas(n_variables):
    """Return the 2-CNF formulas of different pairs, one of each shape."""
    pairs = [1 << i | 1 << j for i, j in combinations(range(n_variables), 2)]
    found = {}
    for size in range(1, len(pairs) + 1):
        for clauses in combinations(pairs, size):
            found.setdefault(shape(clauses, n_variables), list(clauses))
    return list(found.values())


def shape(clauses, n_variables):
    """Describe a graph; up to four vertices this tells all that differ apart."""
    degrees = sorted(sum(c >> i & 1 for c in clauses) for i in range(n_variables))
    return tuple(degrees), n_satisfying(clauses, n_variables)


# -- the reduction --------------------------------------------------------------------


def sizes(n):
    """Return U, V, W and m of section 4.1 for alpha = 2."""
    U = n + 1 + 3
    V = n + 2
    W = U + 3
    return U, V, W, n + U + 6 * V * n**2 + 6 * U * W + 3


def forced_mistakes(clauses, wanted, times, slack, m):
    """Yield examples that demote the monomials which falsify a clause, so many times.

    Three fresh pairs of slack features are promoted until one of each suffices to reach
    the threshold together: then the negative example is a mistake.
    """
    for clause in clauses:
        for _ in range(times):
            pairs = [(next(slack), next(slack)) for _ in range(3)]
            for first, second in pairs:
                # log2(2**m / 3) rounded up
                yield 1 << first | 1 << second, True, m - 1
            heavy = sum(1 << first for first, _ in pairs)
            yield wanted & ~clause | heavy, False, 1


def reduction(clauses, n, K):
    """Return the examples of Theorem 7, the row to predict on, and m, its length.

    Examples are ``(row, label, repetitions)``. The features are A, n of them, B, U of
    them, and slack.
    """
    U, V, W, m = sizes(n)
    A, B = 2**n - 1, (2**U - 1) << n
    slack = iter(range(n + U, m - 2))
    last, last_but_one = m - 1, m - 2  # x_m and x_{m-1} of the paper
    # Stage 1: M_A is about the number of satisfying assignments.
    examples = [*forced_mistakes(clauses, A, V, slack, m)]
    # Stage 2: times alpha**q.
    q = m - (n + 1) - 1
    examples.append((A | 1 << next(slack), True, q))
    # Stage 3: M_B is about p, the least that brings the rest to the threshold.
    c = 2
    D = 2**m - (2**n - 1) * (2**U - 1) - 2**q * K
    p = -(-D // 2 ** (q - c))
    assert 1 < p <= 2**U - 3, "Stage 3: p out of range"
    shifted = [clause << n for clause in counted_cnf(U, p)]
    examples += forced_mistakes(shifted, B, W, slack, m)
    # Stage 4: times alpha**(q - c).
    examples.append((B | 1 << last_but_one, True, q - (U - n)))
    examples.append((B | 1 << last, True, U - n - c))
    return examples, A | B, m


def is_monotone_consistent(examples):
    """Say whether no positive row lies below a negative one."""
    rows = {True: set(), False: set()}
    for row, label, _ in examples:
        rows[label].add(row)
    return all(high & ~low for high in rows[True] for low in rows[False])


def check_reduction(clauses, n, K):
    """Run Winnow on the sequence of the theorem and check all that it claims."""
    examples, row, m = reduction(clauses, n, K)
    assert is_monotone_consistent(examples), "no monotone function fits"
    winnow = MonomialWinnow(m)
    for example, label, times in examples:
        mistakes = winnow.see(example, label, 2**m, times)
        assert mistakes == times, "an example of the sequence was predicted right"
    n_examples = sum(times for _, _, times in examples)
    predicted = winnow.score(row) >= 2**m
    assert predicted == (n_satisfying(clauses, n) >= K), "Theorem 7: wrong prediction"
    return {"m": m, "examples": n_examples, "groups": winnow.n_groups}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, n = 2 only")
    options = parser.parse_args(arguments)
    print_header("Kernel Winnow counts satisfying assignments")
    rng = np.random.default_rng(0)
    n_sequences = 5 if options.quick else 100
    n_mistakes = sum(check_simulation(6, 12, rng) for _ in range(n_sequences))
    print_table(
        "Winnow by groups of features against all 63 monomials of 6 features",
        ["sequences", "mistakes", "scores that differ"],
        [[n_sequences, n_mistakes, 0]],
    )
    n_variables = range(1, 6 if options.quick else 10)
    print_table(
        "Lemma 8: a monotone CNF with exactly p satisfying assignments",
        ["variables", "values of p", "right"],
        [[v, *[check_counted_cnf(v)] * 2] for v in n_variables],
    )
    rows = []
    for n in (2,) if options.quick else (2, 3, 4):
        for clauses in formulas(n):
            runs, seconds = timed(
                lambda clauses=clauses, n=n: [
                    check_reduction(clauses, n, K) for K in range(1, 2**n + 1)
                ]
            )
            rows.append(table_row(clauses, n, runs, seconds))
    columns = "variables F count m examples groups K right s".split()
    print_table("Theorem 7: every K from 1 to 2**n", columns, rows)
    print(f"\nPredictions: {sum(row[-2] for row in rows)}, all right.")


def table_row(clauses, n, runs, seconds):
    """Return the cells on one formula: `check_reduction` has raised no error."""
    texts = ["".join(f"y{i + 1}" for i in bits(clause)) for clause in clauses]
    examples = [run["examples"] for run in runs]
    groups = max(run["groups"] for run in runs)
    count = n_satisfying(clauses, n)
    spread = f"{min(examples)} to {max(examples)}"
    return [
        n, " ".join(texts), count, runs[0]["m"], spread, groups, f"1 to {2**n}",
        len(runs), f"{seconds:.1f}",
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
