"""Slow twins by definition, one module for each package."""
