"""Learning over Boolean features: exact, readable, fast on bits."""

from importlib.metadata import version

from sklboolean._core.versions import show_versions
from sklboolean.kernels.perceptron import KernelPerceptron
from sklboolean.online.averaged_perceptron import AveragedPerceptron
from sklboolean.online.winnow import Winnow

__all__ = ["AveragedPerceptron", "KernelPerceptron", "Winnow", "show_versions"]

__version__ = version("sklboolean")
