"""What hostile arguments of functions found, and late finds of estimators, by name."""

from fractions import Fraction

import numpy as np
import pytest
from oracles.kernels import plain_perceptron
from scipy import sparse

from sklboolean import (
    BoostByMajorityRegressor,
    ConsistentHalfspace,
)
from sklboolean.active_learning import align_probabilities, vote_shares
from sklboolean.concepts import learn_conjunction_from_examples
from sklboolean.datasets import make_dnf, make_threshold
from sklboolean.kernels import cnf_kernel, disjunction_kernel, dnf_kernel
from sklboolean.rules import extract_dnf
from sklboolean.theory import (
    filter_sample_bound,
    majority_potentials,
    majority_weights,
    n_conjunctions,
    n_k_cnf,
)

X = np.random.default_rng(0).integers(0, 2, (20, 3))
Y = X[:, 0]
HUGE = 10**400


def test_nested_labels_are_named():
    for labels in ([0, []], [0, {}]):
        classes = np.array(labels, dtype=object)
        with pytest.raises(ValueError, match="plain labels such as numbers or strings"):
            vote_shares([[0, 1]], classes=classes)
        members = [[0, 1], classes]
        with pytest.raises(ValueError, match=r"labels of member_classes\[1\]"):
            align_probabilities([[[0.5, 0.5]]] * 2, members, [0, 1])


def test_sizes_of_samples_may_be_small_integers():
    three = np.int8(3)
    wanted = make_dnf(30, 200, n_terms=3, n_literals=3, random_state=0)
    made = make_dnf(30, 200, n_terms=three, n_literals=three, random_state=0)
    assert np.array_equal(made[0], wanted[0])
    assert made[2] == wanted[2]
    made = make_threshold(9, 200, n_relevant=np.int8(100), threshold=three)
    assert made[0].shape == (9, 200)


def test_sizes_of_samples_have_an_end():
    for name in ("n_samples", "n_features"):
        with pytest.raises(ValueError, match=name):
            make_dnf(**{name: HUGE})
        with pytest.raises(ValueError, match=name):
            make_threshold(**{name: 2**63})


@pytest.mark.parametrize("n_literals", [4, 2**63, HUGE], ids=["4", "2**63", "huge"])
@pytest.mark.parametrize("monotone", [True, False])
def test_no_formula_has_more_literals_than_features(n_literals, monotone):
    options = {"n_literals": n_literals, "monotone": monotone}
    for kernel in (cnf_kernel, disjunction_kernel, dnf_kernel):
        assert not kernel(X, **options).any()


def test_examples_have_an_end():
    def oracle(row):
        return row[0]

    for n_examples in (2**63, 10**9 + 1):
        with pytest.raises(ValueError, match="n_examples"):
            learn_conjunction_from_examples(oracle, 0.5, 4, n_examples)
    learned = learn_conjunction_from_examples(oracle, 0.5, 4, np.int8(9))
    assert type(learned.n_examples) is int


def test_a_penalty_beyond_int64_is_a_number():
    model = ConsistentHalfspace().fit(X, Y)
    found, huge = (
        extract_dnf(model, X, Y, penalty=penalty) for penalty in (1e19, 2**64)
    )
    assert found.rules == huge.rules


def test_filter_sample_bound_of_any_numbers():
    sound = {"gamma": 0.2, "epsilon": 0.1, "delta": 0.1, "n_weak_samples": 10}
    least = filter_sample_bound(**sound)
    for change in (
        {"delta": 5e-324},
        {"delta": Fraction(1, HUGE)},
        {"weak_learner_success_rate": 5e-324},
        {"weak_learner_success_rate": Fraction(1, HUGE)},
        {"n_weak_samples": HUGE},
    ):
        assert filter_sample_bound(**sound | change) > least


def test_aborted_rounds_of_any_integer_type():
    for table in (majority_weights, majority_potentials):
        wanted = table(5, 3, 0.1, n_aborted=2, other_votes=1)
        for two, one in ((np.uint64(2), np.int8(1)), (np.int8(2), np.uint64(1))):
            found = table(5, 3, 0.1, n_aborted=two, other_votes=one)
            assert np.array_equal(found, wanted)


def test_class_sizes_end_or_are_refused():
    with pytest.raises(ValueError, match="n_features must be below"):
        n_conjunctions(HUGE)
    for max_literals in (None, HUGE):
        with pytest.raises(ValueError, match="max_literals"):
            n_k_cnf(HUGE, max_literals)
    assert n_k_cnf(2, HUGE) == n_k_cnf(np.int8(2), np.int8(2)) == 256


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]", "U2"])
def test_targets_are_numbers(dtype):
    with pytest.raises(ValueError, match="but a regressor needs numbers"):
        BoostByMajorityRegressor().fit(X, np.arange(20).astype(dtype))


def test_regressor_names_the_integer_that_no_float_holds():
    model = BoostByMajorityRegressor(n_estimators=3).fit(X, X.sum(axis=1))
    with pytest.raises(ValueError, match="X holds a number beyond float64"):
        model.predict([[HUGE, 0, 1]])
    with pytest.raises(ValueError, match="X holds a number beyond float64"):
        list(model.staged_predict([[HUGE, 0, 1]]))


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_cosines_of_long_rows(layout):
    long = X * 1.0
    long[:, 2] = np.where(Y, 1e300, -1e300)
    model = ConsistentHalfspace(sigma=0.05, random_state=0)
    model.fit(layout(long), Y)
    assert model.margin_ > 0
    # The constant vanishes beside such features: only their direction counts.
    assert model.decision_function(layout(long)) == pytest.approx(
        model.coef_[0, 2] * np.where(Y, 1, -1)
    )


def test_a_gain_beyond_integers_is_one_that_no_rule_has():
    model = plain_perceptron(random_state=0).fit(X, Y)
    dnf = extract_dnf(model, X, literal_cost=2**64, time_limit=10**300, min_fidelity=0)
    assert not dnf.rules


@pytest.mark.parametrize("members", [{"a": [[1.0]]}, {1}], ids=["dict", "set"])
def test_members_come_in_an_order(members):
    with pytest.raises(ValueError, match="must have one entry per member"):
        align_probabilities(members, members, [0])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, float])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
def test_nothing_is_above_a_threshold_beyond_integers(form, dtype):
    table = form(X.astype(dtype))
    assert not disjunction_kernel(table, binarize=2**64, monotone=True).any()
