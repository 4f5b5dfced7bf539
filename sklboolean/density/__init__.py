"""Density models of Boolean and real samples, with exact likelihoods."""

from sklboolean.density._bernoulli_mixture import BernoulliMixture
from sklboolean.density._combination_machine import CombinationMachine
from sklboolean.density._density_classifier import DensityClassifier
from sklboolean.density._density_imputer import DensityImputer
from sklboolean.density._density_mixture import DensityMixture
from sklboolean.density._gaussian_machine import GaussianCombinationMachine
from sklboolean.density._maximum_likelihood import GradientAscent
from sklboolean.density._outlier_detector import DensityOutlierDetector
from sklboolean.density._sampled_machine import SampledCombinationMachine
from sklboolean.density._tree import ChowLiuTree

__all__ = ["BernoulliMixture", "ChowLiuTree", "CombinationMachine", "DensityClassifier"]
__all__ += ["DensityImputer", "DensityMixture", "DensityOutlierDetector"]
__all__ += ["GaussianCombinationMachine", "GradientAscent", "SampledCombinationMachine"]
