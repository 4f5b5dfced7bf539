"""Train a kernel perceptron on two classic data sets: mushrooms and tic-tac-toe.

Each data set is split into a training and a test set. `KernelPerceptron` learns weights
for all conjunctions of up to three features.
"""

from time import perf_counter

from sklearn.model_selection import train_test_split

from sklboolean import KernelPerceptron
from sklboolean.datasets import load_mushroom, make_tic_tac_toe


def train(name, bunch):
    """Print the accuracy and the time of the default classifier."""
    X_train, X_test, y_train, y_test = train_test_split(
        bunch.data, bunch.target, stratify=bunch.target, random_state=0
    )
    classifier = KernelPerceptron(random_state=0)
    start = perf_counter()
    classifier.fit(X_train, y_train)
    seconds = perf_counter() - start
    print(
        f"{name:<12} {len(X_train):>5} samples x {X_train.shape[1]:<4}"
        f"accuracy {classifier.score(X_test, y_test):.3f}   "
        f"mistakes in training {classifier.n_mistakes_:>3}   {1000 * seconds:.0f} ms"
    )


if __name__ == "__main__":
    train("mushroom", load_mushroom())
    train("tic-tac-toe", make_tic_tac_toe())
