"""Converters to ONNX, for skl2onnx.

Importing this package registers them, where skl2onnx is installed.
"""

from importlib.util import find_spec

from sklboolean.onnx._register import register_converters

__all__ = ["register_converters"]

if find_spec("skl2onnx") is not None:
    register_converters()
