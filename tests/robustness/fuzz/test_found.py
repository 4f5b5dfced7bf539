"""What hostile input found, each by name."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from oracles.kernels import counting_kernel, plain_perceptron
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import SVC

from sklboolean import (
    AveragedPerceptron,
    BernoulliMixture,
    BooleanStump,
    BooleanSVC,
    ChowLiuTree,
    CombinationMachine,
    ConjunctionClassifier,
    OnlineBoostByMajority,
    QueryByCommittee,
    SampledCombinationMachine,
    Winnow,
)
from sklboolean._core.parameters import check_choice
from sklboolean.active_learning import (
    FiniteVersionSpace,
    HalfspaceVersionSpace,
    KernelVersionSpace,
    ThresholdVersionSpace,
    align_probabilities,
    bayes_error_bounds,
    expected_information_gain,
    vote_shares,
)
from sklboolean.concepts import (
    learn_conjunction_by_queries,
    learn_conjunction_from_examples,
)
from sklboolean.datasets import flip_labels
from sklboolean.kernels import cnf_kernel, dnf_kernel
from sklboolean.rules import DNF, Rule, RuleEnsemble, extract_dnf, top_conjunctions
from sklboolean.theory import (
    additive_mistake_bound,
    at_least_halfspace,
    hinge_deviation,
    majority_potentials,
    majority_weights,
    n_k_dnf,
)

X = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0]])
Y = X[:, 0]
CLASSIFIERS = [
    AveragedPerceptron(), BooleanStump(), ConjunctionClassifier(), plain_perceptron(),
    OnlineBoostByMajority(), Winnow(),
]  # fmt: skip


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
@pytest.mark.parametrize(
    "labels", [["a", 1, "a", 1], [0, (1, 2), 0, 0], ["b", 2.5, None, "b"]]
)
def test_labels_without_an_order_are_a_value_error_about_y(estimator, labels):
    y = np.empty(4, dtype=object)
    y[:] = labels
    messages = r"Unknown label type|y holds labels of the|y contains missing values"
    with pytest.raises(ValueError, match=messages):
        estimator.fit(X, y)
    assert not hasattr(estimator, "classes_")


def test_labels_of_another_type_than_the_classes_are_a_value_error():
    estimator = AveragedPerceptron().fit(X, Y)
    y = np.array(["a", "b", "a", "b"], dtype=object)
    with pytest.raises(ValueError, match="y holds labels of the type int and str"):
        estimator.partial_fit(X, y)
    odd = np.array([1, "a"], dtype=object)
    with pytest.raises(ValueError, match="classes holds labels of the type"):
        AveragedPerceptron().partial_fit(X, Y, classes=odd)
    with pytest.raises(ValueError, match="classes holds labels of the type"):
        QueryByCommittee().fit(X, Y, classes=odd)
    session = QueryByCommittee(random_state=0).teach(X, Y)
    with pytest.raises(ValueError, match="'a' is of another type"):
        session.teach(X, y)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_a_label_beyond_integers_is_continuous_without_a_warning(estimator):
    with pytest.raises(ValueError, match="y is continuous"):
        estimator.fit(X, [1e300, 0.0, 1.0, 0.0])


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]", "V3", "i4,f8"])
def test_times_and_structures_are_no_features(dtype):
    table = np.zeros(X.shape, dtype=dtype)
    for estimator in [AveragedPerceptron(), ChowLiuTree(), QueryByCommittee()]:
        with pytest.raises(ValueError, match="which is not numeric"):
            estimator.fit(table, Y)


def test_dates_among_python_objects_are_no_features():
    with pytest.raises(TypeError, match="must be a string or a real number"):
        AveragedPerceptron().fit([[datetime.date(2020, 1, 1), 1]] * 4, Y)


def test_weights_without_a_finite_sum_are_refused_on_line():
    weights = np.full(4, 1e308)
    for base in [None, BernoulliNB()]:
        estimator = OnlineBoostByMajority(base, n_estimators=3).fit(X, Y)
        with pytest.raises(ValueError, match=r"sum of inf; it must be below 2\*\*53"):
            estimator.partial_fit(X, Y, sample_weight=weights)


DENSITIES = [
    BernoulliMixture(2, n_init=1, random_state=0), ChowLiuTree(),
    CombinationMachine(2, n_init=1, random_state=0),
    SampledCombinationMachine(2, max_iter=3, random_state=0),
    CombinationMachine("auto", n_init=1, init="projection_pursuit", random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("model", DENSITIES, ids=str)
@pytest.mark.parametrize(
    ("weight", "demand"), [(1e308, r"below 2\*\*53"), (5e-324, "at least 1e-300")]
)
def test_weights_of_densities_have_a_sum_that_can_be_used(model, weight, demand):
    model = clone(model)
    learnings = [model.fit] if weight > 1 else []
    if hasattr(model, "partial_fit"):
        learnings.append(model.partial_fit)
    for learn in learnings:
        with pytest.raises(ValueError, match=f"sample_weight has a sum .*{demand}"):
            learn(X, sample_weight=np.full(4, weight))
        assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize("model", DENSITIES, ids=str)
@pytest.mark.parametrize("weight", [1e15, 5e-324])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_of_densities_may_be_huge_or_tiny(model, weight):
    model = clone(model).fit(X, sample_weight=np.full(4, weight))
    assert np.isfinite(model.score_samples(X)).all()


def test_hidden_states_lie_between_0_and_1():
    machine = CombinationMachine(2, n_init=1, random_state=0).fit(X)
    for value in [2.0, -0.5, 1e300]:
        with pytest.raises(ValueError, match="in column 1; states of hidden units"):
            machine.inverse_transform([[1.0, value]])
    assert machine.inverse_transform(machine.transform(X)).shape == X.shape


def test_no_classes_are_too_few():
    for estimator in [AveragedPerceptron(), Winnow()]:
        with pytest.raises(ValueError, match="classes holds none; give two"):
            estimator.fit_partitions([(X, Y)], classes=np.array([], dtype=int))
    with pytest.raises(ValueError, match="classes must list all labels that can occur"):
        flip_labels([0, 1], 0.5, classes=[])


def test_numbers_beyond_float64_are_refused_by_name():
    with pytest.raises(ValueError, match="margin must be at most 1e"):
        hinge_deviation([1.0], [1], margin=10**400)


def test_choices_are_compared_with_anything():
    for odd in [pd.NA, np.zeros((2, 2)), [1, 2]]:
        with pytest.raises(ValueError, match="must be one of"):
            check_choice(odd, "monotone", (False, True))


# -- committees ---------------------------------------------------------------------


def test_version_spaces_read_tables_only():
    spaces = [HalfspaceVersionSpace(), KernelVersionSpace(counting_kernel())]
    for space in spaces:
        with pytest.raises(ValueError, match=r"table|array"):
            space.predict_proba(1.0)
        with pytest.raises(ValueError, match="y must be a bool"):
            space.update(X, b"bytes")
        with pytest.raises(ValueError, match="y must be a bool"):
            space.update(X, np.full(4, 0.5))
        assert space.predict_proba(pd.DataFrame(X)).shape == (4, 2)
    finite = FiniteVersionSpace("conjunctions", 3)
    with pytest.raises(ValueError, match="X must contain finite numbers"):
        finite.predict_proba(pd.DataFrame(X).astype(bool).astype("boolean").mask(X > 0))
    with pytest.raises(ValueError, match="X must contain real numbers"):
        ThresholdVersionSpace().predict_proba([[1j]])


def test_a_small_integer_type_counts_a_class_all_the_same():
    space = FiniteVersionSpace("conjunctions", np.int8(9), max_literals=2)
    assert space.n_hypotheses == FiniteVersionSpace(
        "conjunctions", 9, max_literals=2
    ).n_hypotheses  # fmt: skip


def test_votes_and_weights_that_are_no_numbers():
    with pytest.raises(ValueError, match="member_weights must contain real numbers"):
        vote_shares(X, member_weights=[10**400, 1, 1, 1])
    odd = np.array([[Decimal("nan"), 1]], dtype=object)
    with pytest.raises(ValueError, match="votes holds labels of the type"):
        vote_shares(odd)
    with pytest.raises(ValueError, match="must be one-dimensional"):
        align_probabilities([[[1.0]]], [["a"]], [["a"]])
    with pytest.raises(ValueError, match="one entry per member"):
        align_probabilities(0.5, [["a"]], ["a"])


def test_more_classes_than_any_float_counts():
    lower, upper = bayes_error_bounds(0.5, n_classes=2**70)
    assert 0 <= lower <= upper == 0.25
    with pytest.raises(TypeError, match="entropy must be a number"):
        bayes_error_bounds("0.5")


# -- rules, kernels, others ---------------------------------------------------------


@pytest.mark.parametrize("kernel", [cnf_kernel, dnf_kernel])
def test_more_clauses_than_there_are_take_no_time(kernel):
    assert not kernel(X, n_literals=2).any() or kernel(X).any()
    options = {cnf_kernel: "n_clauses", dnf_kernel: "n_terms"}
    assert not kernel(X, **{options[kernel]: 2**40}).any()


def test_names_of_features_that_are_too_few_are_told():
    rule = Rule(((0, True), (2, False)), 2.0, 2.0)
    for text in [DNF((rule,), 1, 0, 1.0, 3), RuleEnsemble((rule,), -1.0, 1, 0, 1.0, 3)]:
        for write in [text.to_text, text.to_python]:
            for names in [["a"], np.array(None), 5]:
                with pytest.raises(ValueError, match="feature_names has"):
                    write(names)


def test_rules_beyond_all_lists_are_refused():
    model = plain_perceptron(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="n_rules == "):
        top_conjunctions(model, 2**64)
    with pytest.raises(ValueError, match="width == "):
        extract_dnf(model, X, width=2**64)
    with pytest.raises(ValueError, match="target must be one of"):
        top_conjunctions(model, target=[])


def test_rules_read_sparse_tables_with_the_same_care():
    model = SVC().fit(X, Y)
    assert extract_dnf(model, X).n_features == 3
    with pytest.raises(ValueError, match="BooleanEncoder"):
        extract_dnf(model, [["a", "b", "c"]] * 4)


def test_a_learned_conjunction_counts_the_columns():
    learned = learn_conjunction_by_queries(lambda row: row[0] and row[2], 3)
    assert learned.holds(X).tolist() == [False] * 4
    for rows in [[[]], [[1, 0]], [[1, 0, 1, 1]]]:
        with pytest.raises(ValueError, match=r"feature"):
            learned.holds(rows)


def test_counts_that_would_never_end_are_refused():
    with pytest.raises(ValueError, match="are not computed"):
        n_k_dnf(2**40, 2**40 // 2)
    with pytest.raises(ValueError, match="too many to be listed"):
        FiniteVersionSpace("conjunctions", 2**31).initialize()
    with pytest.raises(ValueError, match="n_features"):
        at_least_halfspace(1, [0], 2**64)


def test_complex_numbers_are_no_probabilities():
    with pytest.raises(ValueError, match="probabilities must contain real numbers"):
        expected_information_gain(np.array([0.5 + 0j]))
    with pytest.raises(TypeError, match="draw must be an instance of"):
        learn_conjunction_from_examples(lambda row: row[0], 1j, 3, 9)


@pytest.mark.parametrize("tabulate", [majority_potentials, majority_weights])
def test_logarithms_are_asked_for_with_a_bool(tabulate):
    with np.errstate(divide="ignore"):
        logs = np.log(tabulate(3, 2, 0.1))
    np.testing.assert_allclose(tabulate(3, 2, 0.1, log=np.True_), logs, rtol=1e-12)
    assert logs.min() == -np.inf
    for odd in [3, 1.0, "natural", None, np.zeros((2, 2))]:
        with pytest.raises(TypeError, match="log must be an instance of"):
            tabulate(3, 2, 0.1, log=odd)


def test_half_precision_signs_do_not_overflow():
    signs = np.array([1.0, np.float16(1.0)], dtype=object)
    assert hinge_deviation([4.0, 2.0**63], signs, 1.0) == 0


def test_signs_are_numbers_of_any_type_but_complex():
    mixed = np.array([Fraction(-1), Decimal(1), True, np.float16(1)], dtype=object)
    unsigned = np.ones(4, dtype=np.uint64)
    assert hinge_deviation([4.0, 3, 3, 3], mixed, 1.0) == 5
    assert additive_mistake_bound([1.0], [[-2], [1], [1], [1]], mixed) == 4
    assert hinge_deviation([-4.0, 3, 3, 3], unsigned, 1.0) == 5
    assert additive_mistake_bound([1.0], [[2], [1], [1], [1]], unsigned) == 4
    wrong = [
        unsigned + np.uint64(2**63), np.full(4, 2**64 - 1, dtype=np.uint64),
        np.ones(4, dtype=complex), np.ones(4, dtype="m8[s]"), ["1"] * 4, [[1], [1, 1]],
        np.zeros(4, dtype="i4,f8"), np.array([1, 1, 1, pd.NA], dtype=object),
        np.array([1, 1, 1, 1 + 0j], dtype=object),
    ]  # fmt: skip
    for signs in wrong:
        with pytest.raises(ValueError, match="signs must contain only -1 and"):
            hinge_deviation([4.0, 3, 3, 3], signs, 1.0)
        with pytest.raises(ValueError, match="signs must contain only -1 and"):
            additive_mistake_bound([1.0], [[2], [1], [1], [1]], signs)


def test_scores_are_real_numbers():
    for scores in [np.ones(1, dtype=complex), [10**400], ["a"], [[1], [1, 1]]]:
        with pytest.raises(ValueError, match="scores must contain real numbers"):
            hinge_deviation(scores, [1], 1.0)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_no_labels_to_flip(odd):
    with pytest.raises(ValueError, match="y must not contain NaN, infinity"):
        flip_labels([odd, 0.0, 1.0], 0.5)
    with pytest.raises(ValueError, match="classes must not contain NaN, infinity"):
        flip_labels([0.0, 1.0], 0.5, classes=[0.0, 1.0, odd])


def test_labels_to_flip_have_an_order():
    for gap in [None, np.nan, Decimal("NaN"), Decimal("sNaN")]:
        with pytest.raises(ValueError, match="y must not contain NaN, infinity"):
            flip_labels(np.array([0, gap, 1], dtype=object), 0.5)
    with pytest.raises(ValueError, match="y must have labels of one type"):
        flip_labels(np.array(["a", 1, (2,)], dtype=object), 0.5)


def test_more_draws_than_memory_are_refused():
    for space in [FiniteVersionSpace("conjunctions", 3), ThresholdVersionSpace()]:
        rows = X if isinstance(space, FiniteVersionSpace) else [[0.5]]
        with pytest.raises(ValueError, match="n_draws == "):
            space.sample_predictions(rows, 2**64, 0)


def test_intercept_of_none_is_no_intercept():
    answers = []
    for intercept in [None, False]:
        space = HalfspaceVersionSpace(fit_intercept=intercept, random_state=0)
        model = QueryByCommittee(space, max_queries=4, random_state=0)
        answers.append(model.fit(X, X[:, 0]).predict_proba(X))
    np.testing.assert_array_equal(*answers)


def test_weights_of_an_infinite_sum_have_no_box():
    for options in [{}, {"class_weight": {0: 1.0, 1: 1e300}}]:
        weights = np.full(4, 1e308 if not options else 1e10)
        with pytest.raises(ValueError, match=r"sample_weight.* sum .* below 2\*\*53"):
            BooleanSVC(**options).fit(X, Y, weights)


def test_a_partition_without_dimensions_is_refused_in_words():
    nothing = np.array(None, dtype=object)
    with pytest.raises(ValueError, match="Partition 1: Expected 2D array"):
        AveragedPerceptron().fit_partitions([(X, Y), (nothing, Y)])
