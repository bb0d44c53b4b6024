"""Files of torch.save with objects of other libraries, read and written without these libraries.

Only the classes that a family names can be unpickled, only their instances get attributes, and the
only persistent ids are those of storages, so a file cannot execute code, change a class or write a
file. This is what `torch.load(weights_only=True)` does for its own list; that reader knows neither
protocol 4, which flair writes, nor classes that are not installed.
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


_METADATA = frozenset({"_metadata"})  # of the modules, which torch adds to a state dictionary
_python_unpickler: Any = pickle._Unpickler  # the one in Python, whose instructions can be replaced


class _Restricted(_python_unpickler):  # type: ignore[misc]  # not in the stubs
    """Sets attributes only of instances that `can_get` them, and knows storages only."""

    dispatch = dict(_python_unpickler.dispatch)

    def can_get(self, instance: object, state: Mapping[str, Any]) -> bool:
        raise NotImplementedError

    def load_build(self) -> None:
        state, instance = self.stack.pop(), self.stack[-1]
        is_plain = isinstance(state, dict) and all(type(name) is str for name in state)
        if not is_plain or not self.can_get(instance, state):
            raise pickle.UnpicklingError(f"attributes of {type(instance).__name__}")
        vars(instance).update(state)  # no setattr and no __setstate__, which are code

    def load_binpersid(self) -> None:
        about = self.stack[-1]
        kind = about[0] if isinstance(about, tuple) and about else None
        if kind not in ("storage", b"storage"):  # legacy files name modules, with their source
            raise pickle.UnpicklingError(f"persistent id {str(kind)[:40]}")
        super().load_binpersid()

    def load_persid(self) -> None:
        raise pickle.UnpicklingError("persistent id as text")

    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.BINPERSID[0]] = load_binpersid
    dispatch[pickle.PERSID[0]] = load_persid


def load(path: Path, classes: Mapping[str, type]) -> Any:
    """The object in a file of torch.save, on the CPU.

    classes: "module.name" → the class to use for it, in addition to tensors and dictionaries.
    Raises ModelError if the file is damaged or needs anything else.
    """
    allowed = {**_ALLOWED, **classes}
    described = frozenset(classes.values())

    class Restricted(_Restricted):
        def find_class(self, module: str, name: str) -> Any:
            if f"{module}.{name}" not in allowed:
                raise pickle.UnpicklingError(f"{module}.{name}")
            return allowed[f"{module}.{name}"]

        def can_get(self, instance: object, state: Mapping[str, Any]) -> bool:
            metadata = type(instance) is collections.OrderedDict and state.keys() <= _METADATA
            return metadata or type(instance) in described

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
            _(
                "{path} cannot be loaded: {error}.",
                path=path,
                error=lines[0][:200].removesuffix("."),
            ),
            hint=_("The file is damaged, or holds objects that Glossbench does not load."),
        ) from error


def _is_script(content: io.BytesIO) -> bool:
    with zipfile.ZipFile(content) as archive:
        return any(name.rpartition("/")[2] == "constants.pkl" for name in archive.namelist())


def save(content: Any, path: Path, classes: Mapping[str, type]) -> None:
    """The reverse of `load`: instances of a class in `classes` get the name it stands for."""
    names = {class_: name for name, class_ in classes.items()}

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
