"""Boolean data sets: random samples of known rules, complete sets, bundled sets."""

from sklboolean.datasets._bundled import load_mushroom, load_recurrence, load_votes
from sklboolean.datasets._generators import (
    flip_labels,
    make_disjunction,
    make_dnf,
    make_long_servedio,
    make_threshold,
)
from sklboolean.datasets._tables import make_monks, make_tic_tac_toe

__all__ = ["flip_labels", "load_mushroom", "load_recurrence", "load_votes"]
__all__ += ["make_disjunction", "make_dnf", "make_long_servedio", "make_monks"]
__all__ += ["make_threshold", "make_tic_tac_toe"]
