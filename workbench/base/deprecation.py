"""Former names in the interface of plugins: they work as before, with a DeprecationWarning."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
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


def former(module: str, names: dict[str, tuple[str, Any]]) -> Callable[[str], Any]:
    """The `__getattr__` of a module: former name → present name and what it stands for."""

    def attribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new, value = names[name]
        warn(f"{module}.{name}", new)
        return value

    return attribute


def former_modules(package: str, modules: dict[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: former name of a module in it → its present full name."""

    def attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warn(f"{package}.{name}", modules[name])
        return importlib.import_module(modules[name])

    return attribute
