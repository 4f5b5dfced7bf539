"""Theory: bounds, class sizes, sample complexity, halfspaces and games."""

from sklboolean.boosting._majority_game import (
    majority_potentials,
    majority_weights,
    max_gamma,
    min_rounds,
)
from sklboolean.theory._bounds import (
    additive_mistake_bound,
    elimination_mistake_bound,
    halving_mistake_bound,
    hinge_deviation,
    information_gain_lower_bound,
    multiplicative_mistake_bound,
    online_sample_complexity,
    perceptron_mistake_bound,
    perceptron_mistake_bound_nonseparable,
    query_stopping_wait,
    sample_complexity,
    survival_length,
    winnow1_mistake_bound,
    winnow_mistake_bound,
)
from sklboolean.theory._classes import (
    n_conjunctions,
    n_disjunctions,
    n_halfspaces_bound,
    n_k_cnf,
    n_k_dnf,
    vc_dimension_bound,
    vc_dimension_conjunctions,
    vc_dimension_disjunctions,
    vc_dimension_halfspaces,
)
from sklboolean.theory._games import (
    filter_sample_bound,
    majority_gate_size,
    play_majority_game,
    subsample_bound,
)
from sklboolean.theory._halfspaces import (
    at_least_halfspace,
    conjunction_halfspace,
    decision_list_halfspace,
    disjunction_halfspace,
)

__all__ = ["additive_mistake_bound", "at_least_halfspace", "conjunction_halfspace"]
__all__ += ["decision_list_halfspace", "disjunction_halfspace"]
__all__ += ["elimination_mistake_bound", "filter_sample_bound", "halving_mistake_bound"]
__all__ += ["hinge_deviation", "information_gain_lower_bound", "majority_gate_size"]
__all__ += ["majority_potentials", "majority_weights", "max_gamma", "min_rounds"]
__all__ += ["multiplicative_mistake_bound", "n_conjunctions", "n_disjunctions"]
__all__ += ["n_halfspaces_bound", "n_k_cnf", "n_k_dnf", "online_sample_complexity"]
__all__ += ["perceptron_mistake_bound", "perceptron_mistake_bound_nonseparable"]
__all__ += ["play_majority_game", "query_stopping_wait", "sample_complexity"]
__all__ += ["subsample_bound", "survival_length", "vc_dimension_bound"]
__all__ += ["vc_dimension_conjunctions", "vc_dimension_disjunctions"]
__all__ += ["vc_dimension_halfspaces", "winnow1_mistake_bound", "winnow_mistake_bound"]
