"""Convert dataclasses to plain values and back, for other processes and for JSON output.

Arrays are passed through: the channel writes them to files, the command line prints them as lists.
The reader of a class is built once from its annotations: a long text has thousands of rows.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Self, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]  # plain value → value of the annotated type
_PLAIN = (str, int, float, bool, bytes, types.NoneType)


def to_plain(value: Any) -> Any:
    """Dataclasses as dicts, sequences as lists; other values (numbers, texts, arrays) unchanged."""
    if isinstance(value, _PLAIN):
        return value
    kind: Any = type(value)
    if names := _names(kind):
        return {name: to_plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(to_plain, value))
    return [to_plain(item) for item in value] if isinstance(value, Sequence) else value


def json_text(
    value: object, *, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """JSON for a file in UTF-8, readable in any script.

    All beyond ASCII is escaped if the value holds a lone surrogate, such as those of a path that is
    not UTF-8.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=default)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, default=default)
    return text


def json_line(value: object) -> bytes:
    """One line of JSON, in UTF-8; infinity and NaN, which JSON does not have, become null."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        line = json.dumps(_finite(value), ensure_ascii=False)
    try:
        return line.encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate is escaped
        return json.dumps(json.loads(line)).encode() + b"\n"


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def plain_rows(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every value within plain ones, as in ("words.3.share", 0.5)."""
    if isinstance(value, dict | list) and value:
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in named:
            yield from plain_rows(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def from_plain(kind: type[T], raw: Mapping[str, Any]) -> T:
    """The dataclass that was passed to `to_plain`. Unknown fields are ignored.

    Raises TypeError where a field without a default is missing.
    """
    make: Any = kind  # a class is hashable
    read: Callable[[Mapping[str, Any]], T] = _dataclass_reader(make)
    return read(raw)


class JsonRecord:
    """A dataclass whose JSON form is an object of its fields."""

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote; unknown fields are skipped.

        Raises TypeError where a field without a default is missing.
        """
        return from_plain(cls, raw)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass, () for anything else."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


@cache
def _dataclass_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    known = {field.name: _reader(hints[field.name]) for field in fields(kind) if field.init}

    def read(raw: Mapping[str, Any]) -> Any:
        return kind(
            **{
                name: value if value is None or (convert := known[name]) is None else convert(value)
                for name, value in raw.items()
                if name in known
            }
        )

    return read


def _reader(hint: Any) -> Reader | None:
    """None for a value that needs no conversion."""
    if isinstance(hint, type) and is_dataclass(hint):
        return lambda value: _dataclass_reader(hint)(value)  # deferred: the class may nest itself
    origin: Any = get_origin(hint)
    inner = get_args(hint)
    if origin in (types.UnionType, Union):
        types_left = [item for item in inner if item is not types.NoneType]
        return _reader(types_left[0]) if len(types_left) == 1 else None
    if origin is tuple or hint is tuple:
        return _tuple_reader(inner)
    if origin in (list, set, frozenset):
        convert = _reader(inner[0])
        return lambda value: origin(_each(convert, value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        convert = _reader(inner[1])
        return lambda value: dict(zip(value, _each(convert, value.values()), strict=True))
    return None


def _tuple_reader(inner: tuple[Any, ...]) -> Reader:
    if not inner:
        return tuple
    if len(inner) == 2 and inner[1] is Ellipsis:
        convert = _reader(inner[0])
        return lambda value: tuple(_each(convert, value))
    readers = [_reader(hint) for hint in inner]
    if not any(readers):
        return tuple
    return lambda value: tuple(
        item if convert is None or item is None else convert(item)
        for convert, item in zip(readers, value, strict=True)
    )


def _each(convert: Reader | None, values: Any) -> Any:
    if convert is None:
        return values
    return [None if value is None else convert(value) for value in values]
