"""Learn rules from a real table of numbers, categories and gaps.

286 patients with breast cancer, as an array of mixed columns. `BooleanEncoder` makes
Boolean features of them, and three classifiers predict whether the cancer comes back:
a short list of rules, a sum of weighted conjunctions, and a linear model.
"""

from collections import Counter
from time import perf_counter

from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from sklboolean import (
    AveragedPerceptron,
    BooleanEncoder,
    ConjunctionLogisticRegression,
    RuleClassifier,
)
from sklboolean.datasets import load_recurrence

if __name__ == "__main__":
    patients = load_recurrence()
    X, y = patients.data, patients.target_names[patients.target]
    print(f"{len(X)} patients, {sum(value is None for value in X.flat)} gaps")
    encoder = BooleanEncoder()
    bits = encoder.fit_transform(X)
    names = encoder.get_feature_names_out(patients.feature_names)
    print(f"{X.shape[1]} columns become {len(names)} features, such as {names[0]!r}\n")

    rules = RuleClassifier(max_literals=2, monotone=True, random_state=0)
    print(rules.fit(bits, y).to_text(names), "\n")

    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    most_frequent = max(Counter(y).values()) / len(y)
    print(f"{'always the majority':<30} accuracy {most_frequent:.3f}")
    for model in (
        rules,
        ConjunctionLogisticRegression(random_state=0),
        AveragedPerceptron(random_state=0),
    ):
        start = perf_counter()
        scores = cross_val_score(make_pipeline(BooleanEncoder(), model), X, y, cv=folds)
        seconds = (perf_counter() - start) / folds.get_n_splits()
        print(
            f"{type(model).__name__:<30} accuracy {scores.mean():.3f}   "
            f"{1000 * seconds:.0f} ms a fit"
        )
