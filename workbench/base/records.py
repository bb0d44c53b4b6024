"""Dataclasses as plain values and back: what crosses a process border, or is printed as JSON.

Arrays are passed through as they are: the channel writes them to files, the command line as lists.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """Dataclasses as dicts, sequences as lists; anything else (numbers, texts, arrays) as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(one) for key, one in value.items()}
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, AbstractSet):
        return sorted(map(to_plain, value))
    return [to_plain(one) for one in value] if isinstance(value, Sequence) else value


def from_plain(kind: type[T], raw: Mapping[str, Any]) -> T:
    """The dataclass that `to_plain` was given. Fields that it does not know are left out.

    Raises TypeError where a field without a default is missing.
    """
    make: Any = kind
    hints = _hints(make)
    return make(**{name: _read(hints[name], value) for name, value in raw.items() if name in hints})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind) if one.init}


def _read(hint: Any, value: Any) -> Any:
    """A value as its annotation says."""
    if value is None:
        return None
    if is_dataclass(hint) and isinstance(hint, type):
        return from_plain(hint, value)
    origin: Any = get_origin(hint)
    inner = get_args(hint)
    if origin in (types.UnionType, Union):
        wanted = [one for one in inner if one is not types.NoneType]
        return _read(wanted[0], value) if len(wanted) == 1 else value
    if origin is tuple and isinstance(value, Sequence):
        return _read_tuple(inner, value)
    if origin is list and isinstance(value, Sequence):
        return [_read(inner[0], one) for one in value]
    if origin in (set, frozenset):
        return origin(_read(inner[0], one) for one in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {_read(inner[0], key): _read(inner[1], one) for key, one in value.items()}
    return hint(value) if hint in (int, float, tuple) else value


def _read_tuple(inner: tuple, value: Sequence) -> tuple:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return tuple(_read(inner[0], one) for one in value)
    return tuple(_read(hint, one) for hint, one in zip(inner, value, strict=True))
