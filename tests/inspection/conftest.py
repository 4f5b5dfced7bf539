"""Figures are drawn without a screen, and closed after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")
