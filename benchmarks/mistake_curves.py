"""Mistakes online against the number of features: additive or multiplicative updates?

    python benchmarks/mistake_curves.py [--quick] [--figure FILE]

Three targets over random rows, each learned in one pass over a stream:

* "10 of 100 of n": true where at least 10 of 100 relevant features are. The other
  n - 100 are noise, and rows lie as near to the border as they like.
* Sparse target: at least 3 of 5 relevant features, in rows that are half ones. Winnow's
  bound grows with log n, the perceptron's with n.
* Sparse instances: five features are active at a time and all n matter. The bound of
  the perceptron grows with n, Winnow's with n**2 log n. (A target of ones, as in the
  usual illustration, gives all rows one label: here every second weight is -1.)

The bounds are `additive_mistake_bound` and `multiplicative_mistake_bound` of
`sklboolean.theory`: Kivinen, Warmuth, Auer. "The Perceptron Algorithm versus Winnow".
Artificial Intelligence 97, 1997.
"""

import argparse
import sys

import numpy as np
from _timing import print_header, print_table
from sklearn.base import clone

from sklboolean import AveragedPerceptron, Winnow

__all__ = ["LEARNERS", "SCENARIOS", "mistake_curve"]

# Mistake-driven: no margin. "averaged" counts the mistakes of the mean hypothesis.
LEARNERS = {
    "perceptron": AveragedPerceptron(average=None, margin=0.0),
    "averaged perceptron": AveragedPerceptron(margin=0.0),
    "positive Winnow": Winnow(variant="positive", average=None, margin=0.0),
    "balanced Winnow": Winnow(average=None, margin=0.0),
}

# Colours that colour-blind readers tell apart, and markers for print.
LOOKS = [
    {"color": color, "marker": marker, "linestyle": line}
    for color, marker, line in zip(
        ["#0072B2", "#56B4E9", "#D55E00", "#E69F00"],
        ["o", "s", "D", "^"],
        ["-", "--", "-", "--"],
        strict=True,
    )
]


# -- streams: draw(n_samples, n_features, rng) returns samples and labels


def at_least(m, n_relevant, density):
    """Return a stream of independent features, true where m relevant ones are."""

    def draw(n_samples, n_features, rng):
        X = rng.random((n_samples, n_features), dtype=np.float32) < density
        return X, X[:, :n_relevant].sum(axis=1) >= m

    return draw


def few_active(n_active):
    """Return a stream of rows with few active features, an odd number of them.

    True where most of them have an even number.
    """

    def draw(n_samples, n_features, rng):
        X = np.zeros((n_samples, n_features), dtype=bool)
        for row in X:
            row[rng.choice(n_features, n_active, replace=False)] = True
        return X, 2 * X[:, ::2].sum(axis=1) > n_active

    return draw


SCENARIOS = {
    "10 of 100 of n": at_least(10, 100, density=0.1),
    "sparse target": at_least(3, 5, density=0.5),
    "sparse instances": few_active(5),
}


# -- mistakes -------------------------------------------------------------------------


def block_sizes(n_examples):
    """Return the sizes of the parts of a stream, each 1 % of what went before."""
    sizes, seen = [], 0
    while seen < n_examples:
        sizes.append(min(1 + seen // 100, n_examples - seen))
        seen += sizes[-1]
    return sizes


def learn_block(learner, X, y):
    """Learn a part of a stream; return the mistakes made on the way.

    An averaging learner updates where its last hypothesis is wrong; what it predicts
    with is the mean, which hardly changes within a block.
    """
    resume = hasattr(learner, "classes_")
    if resume and learner.average is not None:
        wrong = int((learner.predict(X) != y).sum())
        learner.partial_fit(X, y)
        return wrong
    before = learner.n_mistakes_ if resume else 0
    learner.partial_fit(X, y, classes=[False, True])
    return learner.n_mistakes_ - before


def mistake_curve(
    learners, n_features_list, draw, *, n_examples=50_000, patience=10_000,
    random_state=0,
):  # fmt: skip
    """Return the mistakes of online learners for growing numbers of features.

    Parameters
    ----------
    learners : dict of AveragedPerceptron and Winnow
    n_features_list : list of int
    draw : callable
        ``draw(n_samples, n_features, rng)`` returns rows and Boolean labels; see
        ``SCENARIOS``.
    n_examples : int
        Length of the stream, the same for all learners.
    patience : int
        A learner without a mistake in so many examples has converged.
    random_state : int

    Returns
    -------
    mistakes : dict of lists of int
        For each learner, by number of features.
    """
    mistakes = {name: [] for name in learners}
    for n_features in n_features_list:
        rng = np.random.default_rng(random_state)
        running = {name: clone(learner) for name, learner in learners.items()}
        counts, faultless = dict.fromkeys(learners, 0), dict.fromkeys(learners, 0)
        for size in block_sizes(n_examples):
            X, y = draw(size, n_features, rng)
            for name, learner in list(running.items()):
                wrong = learn_block(learner, X, y)
                counts[name] += wrong
                faultless[name] = 0 if wrong else faultless[name] + size
                if faultless[name] >= patience:
                    del running[name]
            if not running:
                break
        for name, count in counts.items():
            mistakes[name].append(count)
    return mistakes


def save_figure(curves, n_features_list, file):
    """Draw the curves of all scenarios side by side."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, len(curves), figsize=(5 * len(curves), 4))
    for ax, (scenario, mistakes) in zip(axes, curves.items(), strict=True):
        for (name, values), look in zip(mistakes.items(), LOOKS, strict=True):
            ax.plot(n_features_list, values, label=name, **look)
        ax.set(title=scenario, xlabel="features", ylabel="mistakes", xscale="log")
    axes[0].legend()
    plt.tight_layout()
    plt.savefig(file)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds, short streams")
    parser.add_argument("--figure", help="file for a figure; needs matplotlib")
    options = parser.parse_args(arguments)
    print_header("Mistakes online")
    n_features_list, n_examples = [100, 200, 400, 800, 1600, 3200], 50_000
    if options.quick:
        n_features_list, n_examples = [100, 200], 500
    curves = {}
    for scenario, draw in SCENARIOS.items():
        curves[scenario] = mistake_curve(
            LEARNERS, n_features_list, draw, n_examples=n_examples
        )
        rows = zip(n_features_list, *curves[scenario].values(), strict=True)
        title = f"{scenario}: mistakes in {n_examples} examples"
        print_table(title, ["features", *LEARNERS], list(rows))
    if options.figure:
        save_figure(curves, n_features_list, options.figure)


if __name__ == "__main__":
    sys.exit(main())
