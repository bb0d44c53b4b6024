"""Former names in the interface of plugins: they work as before, with a DeprecationWarning."""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def warn(old: str, new: str) -> None:
    """Tell the author of the calling code to use another name."""
    warnings.warn(f"{old} is deprecated; use {new}", DeprecationWarning, stacklevel=3)


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Accept former names of keyword arguments: `renamed(old="new")`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            for old, new in names.items():
                if old in options:
                    warn(f"{function.__name__}({old}=)", f"{new}=")
                    options[new] = options.pop(old)
            return function(*args, **options)

        return call

    return decorate


def renamed_field(old: str, new: str) -> Callable[[type[T]], type[T]]:
    """Accept a former name of a field of a dataclass, as argument and as attribute."""

    def decorate(cls: type[T]) -> type[T]:
        def value(self: T) -> Any:
            warn(f"{cls.__name__}.{old}", new)
            return getattr(self, new)

        # mypy refuses an assignment to __init__
        setattr(cls, "__init__", renamed(**{old: new})(cls.__init__))  # noqa: B010
        setattr(cls, old, property(value))
        return cls

    return decorate


def former(module: str, **names: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: former name → present name, a full one in another module."""

    def attribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn(f"{module}.{name}", names[name])
        owner, _dot, present = names[name].rpartition(".")
        return getattr(importlib.import_module(owner or module), present)

    return attribute


def former_modules(package: str, **modules: str) -> None:
    """Make modules importable by their former names in a package: name → present full name."""
    if _former_modules not in sys.meta_path:
        # the last one: it is asked only about modules that do not exist
        sys.meta_path.append(_former_modules)
    _former_modules.update({f"{package}.{name}": present for name, present in modules.items()})


class _FormerModules(dict[str, str]):
    """Imports the present module in place of a former one: both names stand for one module.

    A finder and a loader without the base classes of `importlib.abc`, which takes 30 ms to import.
    """

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name not in self:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type] # no subclass of abc.Loader

    def create_module(self, spec: ModuleSpec) -> None:
        """The import system makes an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        warn(module.__name__, self[module.__name__])
        # the import system takes the module that stands here afterwards
        sys.modules[module.__name__] = importlib.import_module(self[module.__name__])


_former_modules = _FormerModules()
