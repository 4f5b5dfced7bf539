"""Tables of bits on disk, for data larger than memory."""

from sklboolean.io._bit_table import BitTable

__all__ = ["BitTable"]
