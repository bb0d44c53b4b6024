"""Write and change queries as text, and find what is being written at a caret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base import deprecation
from workbench.text.queries.query import (
    CONDITION,
    KEYS,
    And,
    Node,
    Not,
    Or,
    QueryError,
    Term,
    parse,
    unquoted,
)

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Place="CaretPlace")

_BARE = re.compile(r'[^\s",()]+')
_DOTTED = tuple(name for name, key in KEYS.items() if key.dotted)


def quoted(value: str) -> str:
    """The value as it is written in a query, in quotes if it needs them."""
    if value and _BARE.fullmatch(value) and "*" not in value and ".." not in value:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def term(key: str, *values: str, name: str = "") -> str:
    """A condition as text: `term("label", "PER", name="entities")` is `label.entities:PER`."""
    after = f".{quoted(name)}" if name else ""
    return f"{key}{after}:{','.join(map(quoted, values))}"


def without(text: str, part: int) -> str:
    """The query without the condition number `part` of `parse(text).nodes`."""
    node = parse(text).nodes[part]
    return f"{text[: node.at].rstrip()} {text[node.end :].lstrip()}".strip()


def with_term(text: str, key: str, condition: str) -> str:
    """The query with all conditions on `key` alone replaced by `condition`.

    "" removes them. A query that cannot be read only gets the condition added.
    """
    try:
        nodes = parse(text).nodes
    except QueryError:
        nodes = ()
    same = [number for number, node in enumerate(nodes) if _is_on(node, key)]
    for number in reversed(same):
        text = without(text, number)
    return f"{text.strip()} {condition}".strip()


def _is_on(node: Node, key: str) -> bool:
    """Whether a condition has this key and no other."""
    if isinstance(node, Not):
        return _is_on(node.node, key)
    if isinstance(node, (Or, And)):
        return all(_is_on(part, key) for part in node.nodes)
    return isinstance(node, Term) and node.key == key


@dataclass(frozen=True)
class CaretPlace:
    """What is being written at the caret, for completion: the text [start, end) is replaced.

    `typed`: what of it is there. `key`: whose value it is, with `field` after its dot; "" while a
    key or word is written. `name`: the key whose part after the dot is written, else None.
    """

    start: int
    end: int
    typed: str
    key: str = ""
    field: str = ""
    name: str | None = None


def place(text: str, caret: int) -> CaretPlace:
    """The part of a condition in front of the caret."""
    begun = text[:caret]
    start = _start_of_condition(begun)
    end = caret
    while end < len(text) and not text[end].isspace() and text[end] not in ",)":
        end += 1
    match = CONDITION.match(begun, start)
    if match:
        value = match.end()
        comma = begun.rfind(",", value)
        value = comma + 1 if comma >= 0 and begun.count('"', value, comma) % 2 == 0 else value
        typed = begun[value:].removeprefix('"')
        return CaretPlace(value, end, typed, match[1].lower(), unquoted(match[2] or ""))
    dotted = re.match(r'([A-Za-z]+)\."?(.*)$', begun[start:])
    if dotted and dotted[1].lower() in _DOTTED:
        at = start + len(dotted[1]) + 1
        return CaretPlace(at, end, dotted[2], name=dotted[1].lower())
    return CaretPlace(start, end, begun[start:])


def _start_of_condition(begun: str) -> int:
    """Where the condition that ends at the end of `begun` starts, after `-` and `(`."""
    start, inside = 0, False
    for at, char in enumerate(begun):
        if char == '"' and not begun[:at].endswith("\\"):
            inside = not inside
        elif not inside and (char.isspace() or char == "("):
            start = at + 1
    return start + 1 if begun[start : start + 1] == "-" else start
