"""Active learning by committees: which rows are worth a label."""

__all__ = []
