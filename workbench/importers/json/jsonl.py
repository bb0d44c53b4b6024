"""JSON values of a file, one at a time: one per line, a list, or consecutive objects; formatted on
any number of lines, of any size.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from workbench.base.i18n import _
from workbench.importers.base import Fault, check_text
from workbench.importers.source import HEAD, Source

_SPACE = " \t\r\n"
_APART = re.compile(r'"\s+:')
_STRING = r'"(?:[^"\\\n]|\\.)*'
# What a file of JSON begins with, after the brackets that open lists. A text and a file of tokens
# may begin with a bracket, too: what follows must be a value with its comma, colon or bracket.
_OPENING = re.compile(
    rf"\{{\s*(?:\}}|{_STRING}(?:\"\s*(?::|$)|$)|$)"
    rf"|\[\s*(?:\]|{_STRING}(?:\"\s*(?:[,\]]|$)|$)|$)"
    r"|\[\s*(?:-?\d[\d.eE+-]*|null|true|false)\s*(?:[,\]]|$)"
)
_LISTS = re.compile(r"\[\s*(?=[\[{])")


def _object(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        times = Counter(key for key, _value in pairs)
        twice = next(key for key, number in times.items() if number > 1)
        raise ValueError(_("the key {key!r} occurs twice", key=twice))
    return content


def _constant(name: str) -> None:
    raise ValueError(_("{name} is not a JSON number", name=name))


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_DECODE = _DECODER.raw_decode
_UNCHECKED = json.JSONDecoder(parse_constant=_constant).raw_decode  # keeps the last of equal keys


def opens(head: str) -> bool:
    """Whether a file begins like JSON. A text may begin with a bracket, too: "[Music] Hello"."""
    start = head.lstrip(_SPACE + "\ufeff")
    position = 0
    while match := _LISTS.match(start, position):
        position = match.end()
    return bool(_OPENING.match(start, position))


def layout(head: str) -> str:
    """`lines`, `list` or `objects` (consecutive, multi-line), from the beginning of a file."""
    start = head.lstrip(_SPACE + "\ufeff")
    first, newline, rest = start.partition("\n")
    if not start or start[0] not in "[{":
        return "lines"
    alone = _parses(first)
    if start[0] == "[":
        return "lines" if alone and (rest.strip() or _is_pair(first)) else "list"
    if alone or not newline:
        return "lines"
    try:
        _DECODER.raw_decode(start)
    except json.JSONDecodeError as error:
        # An object cut only by the end of the head is valid; an invalid first line is not.
        return "objects" if error.pos >= len(start) - 1 and len(start) >= HEAD // 2 else "lines"
    except (ValueError, RecursionError):
        return "lines"
    return "objects"


def _is_pair(line: str) -> bool:
    """Whether a line is a text with its annotations, one record, and not a list of records."""
    value = json.loads(line)
    return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict)


def _parses(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def values(source: Source, *, checked: bool = True) -> Iterator[tuple[int, object]]:
    """(1-based line, value). For invalid JSON, a Fault replaces the value.

    checked: a key that occurs twice is a Fault; False is for a first look at a file that is read
    again, and takes a third of the time.
    """
    how = layout(source.head())
    if how == "lines":
        yield from _lines(source)
    else:
        text, decode = source.text(), _DECODE if checked else _UNCHECKED
        yield from _stream(text, decode, listed=how == "list", cut=source.cut)


def _decode(line: str) -> object:
    """The value of a line. Raises ValueError, also for a key that occurs twice."""
    try:
        value, end = _UNCHECKED(line)
    except (ValueError, RecursionError):
        return _DECODER.decode(line)
    if end == len(line) and type(value) is dict and _keys_differ(line, value):
        return value
    return _DECODER.decode(line)


def _keys_differ(line: str, value: dict[str, object]) -> bool:
    """Whether it is certain that no object of the line has a key twice, without another pass.

    Every object has a brace and every key a colon. If the line has no more of them than were
    found in the object and those directly in it, then no key was dropped. Colons of texts are
    left out if every key has its colon next to it.
    """
    objects, keys = 1, len(value)
    for part in value.values():
        if type(part) is dict:
            objects += 1
            keys += len(part)
    if line.count("{") != objects:
        return False
    return line.count(":") == keys or (line.count('":') == keys and not _APART.search(line))


def _lines(source: Source) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(source.lines(), 1):
        if not line or line.isspace():
            continue
        try:
            if not line.isascii():
                check_text(line, _("the line"))
            yield number, _decode(line)
        except Fault as fault:
            yield number, fault
        except (ValueError, RecursionError) as error:
            yield number, explain(error, len(line))


def _stream(
    text: str, decode: Callable[[str, int], tuple[Any, int]], *, listed: bool, cut: bool
) -> Iterator[tuple[int, object]]:
    """The values of a list, or of consecutive objects.

    `cut`: the text is only the beginning of a file, so it may end within a value.
    """
    position = _skip(text, 0)
    line, counted = 1, 0
    if listed:
        position = _skip(text, position + 1)
        if text[position : position + 1] == "]":
            return
    while position < len(text):
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, position = decode(text, position)
        except (ValueError, RecursionError) as error:
            if cut and _ends_within(error, len(text)):
                return
            fault = explain(error, len(text))
            yield line, Fault(_("{fault}; nothing after it could be read", fault=fault))
            return
        yield line, value
        position = _skip(text, position)
        if listed:
            sign = text[position : position + 1]
            if cut and not sign:
                return
            after = _skip(text, position + 1)
            if sign != "," or text[after : after + 1] == "]":
                if wrong := _fault_at_end(text, position):
                    yield line, Fault(wrong)
                return
            position = after


def _fault_at_end(text: str, position: int) -> str:
    """What is wrong where a list ends, after its last value; "" if nothing is."""
    sign = text[position : position + 1]
    if sign == "]":
        rest = text[position + 1 :].strip()
        message = _("the list ends here, but more follows ({rest!r}); it was not read")
        return message.format(rest=rest[:20]) if rest else ""
    if sign == ",":
        return _("there is a comma before the end of the list; the records before it were read")
    if sign:
        return _("a comma is missing before {sign!r}", sign=sign)
    return _("the list is not closed; the file may be truncated")


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n\ufeff":
        position += 1
    return position


def _ends_within(error: Exception, length: int) -> bool:
    """Whether the only error may be that the text of `length` characters is truncated."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= length - 10


def explain(error: Exception, length: int) -> Fault:
    """The Fault that describes a JSON error in a text of `length` characters."""
    if isinstance(error, RecursionError):
        return Fault(_("the JSON is nested too deeply to be read"))
    if "integer string conversion" in str(error):
        return Fault(_("a number has more than {most:,} digits", most=sys.get_int_max_str_digits()))
    if not isinstance(error, json.JSONDecodeError):
        return Fault(_("invalid JSON: {error}", error=error))
    if error.msg.startswith("Unterminated string") or error.pos >= length - 1:
        return Fault(
            _(
                "the JSON ends unexpectedly (column {colno}); the file may be truncated",
                colno=error.colno,
            )
        )
    return Fault(_("invalid JSON: {msg} at column {colno}", msg=error.msg, colno=error.colno))


def keys_in(head: str) -> list[str]:
    """Names in the first characters of a file whose first object is longer than its head."""
    return re.findall(r'"([^"\\]{1,60})"\s*:', head[:4_000])


def first_object(head: str) -> dict[str, Any]:
    """The first object of a file's beginning, {} if there is none."""
    try:
        value, _end = _DECODER.raw_decode(head.lstrip("\ufeff \t\r\n["))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def first_value(head: str) -> object:
    """The first value of a file's beginning, of a list its first item; None if there is none."""
    start = head.lstrip("\ufeff \t\r\n")
    for text in (start, start.removeprefix("[").lstrip()):
        try:
            value, _end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and value and isinstance(value[0], list | dict):
            return value[0]
        return value
    return None


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
