"""Learning over Boolean features: exact, readable, fast on bits."""

from importlib.metadata import version

from sklboolean._core.versions import show_versions
from sklboolean.kernels.perceptron import KernelPerceptron

__all__ = ["KernelPerceptron", "show_versions"]

__version__ = version("sklboolean")
