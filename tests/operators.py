"""The table of operators that conversions to ONNX read, made once per process.

torch parses the source of five hundred functions to make it, which is a third of the time of a
small conversion.
"""

from __future__ import annotations

import functools
import sys

MODULE = "torch.onnx._internal.exporter._registration"


def share() -> None:
    """Let all later conversions of this process use one table, once torch's module is imported."""
    module = sys.modules.get(MODULE)
    if module is not None and not hasattr(module.ONNXRegistry.from_torchlib, "cache_info"):
        shared = functools.cache(module.ONNXRegistry.from_torchlib)
        module.ONNXRegistry.from_torchlib = staticmethod(shared)


def make() -> None:
    """Make the table that `torch.onnx.export` asks for, so that forked processes have it."""
    import importlib

    module = importlib.import_module(MODULE)
    share()
    module.ONNXRegistry.from_torchlib(opset_version=module._constants.TORCHLIB_OPSET)
