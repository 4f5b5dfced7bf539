"""Density models of Boolean rows, with exact likelihoods."""

from sklboolean.density._bernoulli_mixture import BernoulliMixture
from sklboolean.density._chow_liu_tree import ChowLiuTree
from sklboolean.density._combination_machine import CombinationMachine

__all__ = ["BernoulliMixture", "ChowLiuTree", "CombinationMachine"]
