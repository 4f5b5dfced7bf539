"""Density models of Boolean rows, with exact likelihoods."""

from sklboolean.density.combination_machine import CombinationMachine
from sklboolean.density.mixture import BernoulliMixture
from sklboolean.density.tree import ChowLiuTree

__all__ = ["BernoulliMixture", "ChowLiuTree", "CombinationMachine"]
