"""Count the functions and files of the package that one small fit runs.

``python tests/functions_of_a_fit.py`` prints them beside the limits, which
`test_structure.py` enforces. A reader of `fit` has to understand that many functions.
"""

import os
import sys
import warnings

import numpy as np
from sklearn.svm import SVC

import sklboolean

HOME = os.path.dirname(sklboolean.__file__)

# Functions of the package that a fit may run, and the goal.
LIMITS = {
    "KernelPerceptron": (84, 55),
    "AveragedPerceptron": (34, 30),
    "BoostByMajority": (91, 60),
    "CombinationMachine": (85, 55),
    "QueryByCommittee": (65, 65),
    "RuleClassifier": (74, 85),
}


def functions_of_a_fit(name):
    """Return the functions of the package that run in one fit, as (file, name)."""
    X = np.random.default_rng(0).integers(0, 2, (300, 30))
    y = (X[:, 0] & X[:, 1]) | X[:, 2]
    model = getattr(sklboolean, name)()
    if name == "QueryByCommittee":
        model.set_params(max_queries=20)
    if name == "RuleClassifier":
        # The default is an estimator of the package, with functions of its own.
        model.set_params(estimator=SVC())
    run = set()

    def note(frame, event, _argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HOME):
            run.add((code.co_filename, code.co_name))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(note)
        try:
            model.fit(X, y)
        finally:
            sys.setprofile(None)
    return run


def main():
    print(f"{'estimator':20} {'functions':>9} {'limit':>6} {'goal':>5} {'files':>6}")
    for name, (limit, goal) in LIMITS.items():
        run = functions_of_a_fit(name)
        n_files = len({file for file, _function in run})
        print(f"{name:20} {len(run):9} {limit:6} {goal:5} {n_files:6}")


if __name__ == "__main__":
    main()
