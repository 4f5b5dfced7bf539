"""Learn two classic tables with a Boolean kernel: mushrooms and tic-tac-toe.

Each table is split, a `KernelPerceptron` over all conjunctions of up to three
features learns one part, and the other part tells how well.
"""

from time import perf_counter

from sklearn.model_selection import train_test_split

from sklboolean import KernelPerceptron
from sklboolean.datasets import load_mushroom, make_tic_tac_toe


def learn(name, table):
    """Print what the default learner makes of a table."""
    X_train, X_test, y_train, y_test = train_test_split(
        table.data, table.target, stratify=table.target, random_state=0
    )
    learner = KernelPerceptron(random_state=0)
    start = perf_counter()
    learner.fit(X_train, y_train)
    seconds = perf_counter() - start
    print(
        f"{name:<12} {len(X_train):>5} rows x {X_train.shape[1]:<4}"
        f"accuracy {learner.score(X_test, y_test):.3f}   "
        f"mistakes while learning {learner.n_mistakes_:>3}   {1000 * seconds:.0f} ms"
    )


if __name__ == "__main__":
    learn("mushroom", load_mushroom())
    learn("tic-tac-toe", make_tic_tac_toe())
