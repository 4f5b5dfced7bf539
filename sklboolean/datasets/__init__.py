"""Boolean data: random samples from known rules, complete sets, bundled sets."""

from sklboolean.datasets._bundled import load_mushroom, load_votes
from sklboolean.datasets._complete import make_monks, make_tic_tac_toe
from sklboolean.datasets._generators import (
    make_disjunction,
    make_dnf,
    make_threshold,
)
from sklboolean.datasets._noise import flip_labels, make_long_servedio

__all__ = [
    "flip_labels",
    "load_mushroom",
    "load_votes",
    "make_disjunction",
    "make_dnf",
    "make_long_servedio",
    "make_monks",
    "make_threshold",
    "make_tic_tac_toe",
]
