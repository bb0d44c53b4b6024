"""Files of torch.save with objects of other libraries, read and written without these libraries.

Only the classes that a family names can be unpickled, so a file cannot execute code. This is what
`torch.load(weights_only=True)` does for its own list; that reader knows neither protocol 4, which
flair writes, nor classes that are not installed.
"""

from __future__ import annotations

import _codecs
import collections
import io
import pickle
import types
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from workbench.base.errors import ModelError
from workbench.base.i18n import _

_ALLOWED: Mapping[str, Any] = {
    "builtins.int": int,
    "__builtin__.int": int,  # up to protocol 2
    "__builtin__.long": int,
    "collections.OrderedDict": collections.OrderedDict,
    "collections.defaultdict": collections.defaultdict,
    "torch._utils._rebuild_tensor_v2": torch._utils._rebuild_tensor_v2,
    "torch._utils._rebuild_parameter": torch._utils._rebuild_parameter,
    "_codecs.encode": _codecs.encode,
}


def load(path: Path, classes: Mapping[str, type]) -> Any:
    """The object in a file of torch.save, on the CPU.

    classes: "module.name" → the class to use for it, in addition to tensors and dictionaries.
    Raises ModelError if the file is damaged or needs anything else.
    """
    allowed = {**_ALLOWED, **classes}

    class Restricted(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            if f"{module}.{name}" not in allowed:
                raise pickle.UnpicklingError(f"{module}.{name}")
            return allowed[f"{module}.{name}"]

    def restricted(file: Any, **options: Any) -> Any:
        return Restricted(file, **options).load()

    module = types.SimpleNamespace(Unpickler=Restricted, load=restricted, __name__="restricted")
    try:
        # In memory: from an open file torch would first try the tar archives of its version 0.1.
        content = io.BytesIO(path.read_bytes())
        if zipfile.is_zipfile(content) and _is_script(content):
            raise pickle.UnpicklingError("TorchScript")
        content.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on typed storages, inside torch
            return torch.load(content, map_location="cpu", pickle_module=module, weights_only=False)
    except MemoryError:
        raise
    except Exception as error:  # torch and pickle raise errors of many kinds for damaged files
        lines = str(error).splitlines() or [type(error).__name__]
        raise ModelError(
            _("{path} cannot be loaded: {error}.").format(
                path=path, error=lines[0][:200].removesuffix(".")
            ),
            hint=_("The file is damaged, or holds objects that Glossbench does not load."),
        ) from error


def _is_script(content: io.BytesIO) -> bool:
    with zipfile.ZipFile(content) as archive:
        return any(name.rpartition("/")[2] == "constants.pkl" for name in archive.namelist())


def save(content: Any, path: Path, classes: Mapping[str, type]) -> None:
    """The reverse of `load`: instances of a class in `classes` get the name it stands for."""
    names = {made: name for name, made in classes.items()}

    python_pickler: Any = pickle._Pickler  # the one in Python, whose `save_global` can be replaced

    class Renaming(python_pickler):  # type: ignore[misc]  # not in the stubs
        def save_global(self, obj: Any, name: str | None = None) -> None:
            if obj not in names:
                super().save_global(obj, name)
                return
            module, _dot, own = names[obj].rpartition(".")
            self.write(pickle.GLOBAL + f"{module}\n{own}\n".encode("ascii"))
            self.memoize(obj)

    module = types.SimpleNamespace(Pickler=Renaming, __name__="renaming")
    torch.save(content, path, pickle_module=module, pickle_protocol=2)
