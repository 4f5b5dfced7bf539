"""Tables of bits on disk, for data larger than memory, and predictions in batches."""

from sklboolean.io._bit_table import BitTable
from sklboolean.io._prediction import predict_to_parquet

__all__ = ["BitTable", "predict_to_parquet"]
