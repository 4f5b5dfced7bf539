"""Theory: bounds, class sizes, sample complexity, halfspaces, games, committees."""

from sklboolean.boosting._game_play import play_majority_game
from sklboolean.boosting._game_rounds import max_gamma, min_rounds
from sklboolean.boosting._majority_game import majority_potentials, majority_weights
from sklboolean.theory._boosting import (
    filter_sample_bound,
    majority_gate_size,
    subsample_bound,
)
from sklboolean.theory._class_sizes import (
    n_conjunctions,
    n_disjunctions,
    n_halfspaces_bound,
    n_k_cnf,
    n_k_dnf,
)
from sklboolean.theory._committee import (
    information_gain_lower_bound,
    query_stopping_wait,
)
from sklboolean.theory._halfspaces import (
    at_least_halfspace,
    conjunction_halfspace,
    decision_list_halfspace,
    disjunction_halfspace,
)
from sklboolean.theory._margins import (
    additive_mistake_bound,
    hinge_deviation,
    multiplicative_mistake_bound,
)
from sklboolean.theory._mistake_bounds import (
    elimination_mistake_bound,
    halving_mistake_bound,
    perceptron_mistake_bound,
    perceptron_mistake_bound_nonseparable,
    winnow1_mistake_bound,
    winnow_mistake_bound,
)
from sklboolean.theory._pac import (
    online_sample_complexity,
    sample_complexity,
    survival_length,
)
from sklboolean.theory._vc_dimensions import (
    vc_dimension_bound,
    vc_dimension_conjunctions,
    vc_dimension_disjunctions,
    vc_dimension_halfspaces,
)

__all__ = [
    "additive_mistake_bound",
    "at_least_halfspace",
    "conjunction_halfspace",
    "decision_list_halfspace",
    "disjunction_halfspace",
    "elimination_mistake_bound",
    "filter_sample_bound",
    "halving_mistake_bound",
    "hinge_deviation",
    "information_gain_lower_bound",
    "majority_gate_size",
    "majority_potentials",
    "majority_weights",
    "max_gamma",
    "min_rounds",
    "multiplicative_mistake_bound",
    "n_conjunctions",
    "n_disjunctions",
    "n_halfspaces_bound",
    "n_k_cnf",
    "n_k_dnf",
    "online_sample_complexity",
    "perceptron_mistake_bound",
    "perceptron_mistake_bound_nonseparable",
    "play_majority_game",
    "query_stopping_wait",
    "sample_complexity",
    "subsample_bound",
    "survival_length",
    "vc_dimension_bound",
    "vc_dimension_conjunctions",
    "vc_dimension_disjunctions",
    "vc_dimension_halfspaces",
    "winnow1_mistake_bound",
    "winnow_mistake_bound",
]
