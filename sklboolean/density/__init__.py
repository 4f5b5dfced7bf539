"""Density models of Boolean rows, with exact likelihoods."""

__all__ = []
