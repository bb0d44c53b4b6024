"""Names of classes in the features of a Hugging Face data set, whose records have their numbers.

Features are written as JSON (`dataset_info.json`, metadata of Arrow and Parquet) or as YAML (the
card of a data set). Source: `datasets.Features` of Hugging Face datasets 4.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.base.i18n import _
from workbench.base.untrusted import leads_out
from workbench.importers.base import Fault, show

INFO = "dataset_info.json"
Decode = Callable[[Any], Any]
_LISTS = ("Sequence", "List", "LargeList")
_YAML_LISTS = ("sequence", "list", "large_list")


def decoders(features: object) -> dict[str, Decode]:
    """Column → what replaces the numbers of classes in its values by their names; without the
    columns that have no classes.
    """
    columns = _of_yaml(features) if isinstance(features, list) else features
    if not isinstance(columns, Mapping):
        return {}
    by_column = {str(name): _decoder(feature, str(name)) for name, feature in columns.items()}
    return {name: decode for name, decode in by_column.items() if decode is not None}


def decoded(row: dict[str, Any], decoders: Mapping[str, Decode]) -> dict[str, Any] | Fault:
    """The row with names of classes, or the Fault of a number without a name."""
    try:
        return {
            name: decoders[name](value) if name in decoders else value
            for name, value in row.items()
        }
    except Fault as fault:
        return fault


def beside(path: Path) -> dict[str, Decode]:
    """The decoders of the description of a data set that lies beside a file; {} without one."""
    info = path.with_name(INFO)
    try:
        if not info.is_file() or leads_out(info, path.parent):
            return {}
        info_json = json.loads(info.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return decoders(info_json.get("features")) if isinstance(info_json, dict) else {}


def _decoder(feature: object, column: str) -> Decode | None:
    if isinstance(feature, list) and len(feature) == 1:  # the form of a list in old versions
        return _of_list(feature[0], column)
    if not isinstance(feature, Mapping):
        return None
    kind = feature.get("_type")
    if kind == "ClassLabel" and isinstance(feature.get("names"), list):
        names = tuple(map(str, feature["names"]))
        return lambda value: _named(value, names, column)
    if kind in _LISTS:
        return _of_list(feature.get("feature"), column)
    if isinstance(kind, str):
        return None
    parts = {name: _decoder(part, f"{column}.{name}") for name, part in feature.items()}
    known = {name: decode for name, decode in parts.items() if decode is not None}
    return (lambda value: _of_struct(value, known)) if known else None


def _of_list(feature: object, column: str) -> Decode | None:
    decode = _decoder(feature, column)
    if decode is None:
        return None

    def each(value: Any) -> Any:
        if isinstance(value, list):
            return [decode(item) for item in value]
        # a sequence of structures is a structure of lists
        return _lists_of(value, feature, column) if isinstance(value, Mapping) else value

    return each


def _lists_of(value: Mapping[str, Any], feature: object, column: str) -> dict[str, Any]:
    parts = feature if isinstance(feature, Mapping) else {}
    known = {name: _of_list(part, f"{column}.{name}") for name, part in parts.items()}
    decoded: dict[str, Any] = _of_struct(value, {name: its for name, its in known.items() if its})
    return decoded


def _of_struct(value: Any, decoders: Mapping[str, Decode]) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {
        name: decoders[name](part) if name in decoders else part for name, part in value.items()
    }


def _named(value: Any, names: tuple[str, ...], column: str) -> Any:
    """The name of a class; None for -1, which a test split without labels has. Raises Fault."""
    if value is None or value == -1:
        return None
    text = str(value).strip()
    if text in names:
        return text
    if text.isascii() and text.isdecimal() and len(text) < 7 and int(text) < len(names):
        return names[int(text)]
    message = _("{column!r} is {value}, expected a class from 0 to {last}")
    raise Fault(message.format(column=column, value=show(value), last=len(names) - 1))


# ---------------------------------------------------------------- YAML


def _of_yaml(features: list[Any]) -> dict[str, Any]:
    """The features as JSON has them."""
    return {
        str(item["name"]): _feature(item)
        for item in features
        if isinstance(item, Mapping) and "name" in item
    }


def _feature(item: object) -> Any:
    """The feature of `{dtype: …}`, `{sequence: …}`, `{struct: […]}` or of a name of a type."""
    if not isinstance(item, Mapping):
        return {"_type": "Value"}
    for kind in _YAML_LISTS:
        if kind in item:
            return {"_type": "Sequence", "feature": _inner(item[kind])}
    if "struct" in item:
        return _inner(item["struct"])
    return _inner(item.get("dtype", item))


def _inner(item: object) -> Any:
    if isinstance(item, list):
        return _of_yaml(item)
    if not isinstance(item, Mapping):
        return {"_type": "Value"}
    if isinstance(label := item.get("class_label"), Mapping):
        return {"_type": "ClassLabel", "names": _names(label.get("names"))}
    is_nested = any(kind in item for kind in (*_YAML_LISTS, "struct", "dtype"))
    return _feature(item) if is_nested else {"_type": "Value"}


def _names(names: object) -> object:
    """A list of names; of `'0': neg`, `'1': pos` in the order of the numbers."""
    if not isinstance(names, Mapping):
        return names
    numbered = {str(number): name for number, name in names.items()}
    return [numbered.get(str(n), str(n)) for n in range(len(numbered))]
