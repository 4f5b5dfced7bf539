"""Learning over Boolean features: exact, readable, fast on bits."""

from importlib.metadata import version

from sklboolean.kernels.perceptron import KernelPerceptron

__all__ = ["KernelPerceptron"]

__version__ = version("sklboolean")
