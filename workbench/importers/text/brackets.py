"""The format of the sample texts: spans in nested brackets followed by the label; crossing spans on
separate lines.

    # m-0001 train delay
    [The [42]LINE tram]VEHICLE was [twenty minutes]TIME late.
    + ROUTE: from Harbour Gate to Northfield

Described in resources/samples/FORMAT.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.text.spans import Span

_LABEL = re.compile(r"[A-Z]+")
_CROSSING = re.compile(r"\+ ([A-Z]+)(?:#(\d+))?: (.+)")


@dataclass(frozen=True)
class Message:
    """`split` and `label` are None where the file says "-"."""

    key: str
    split: str | None
    label: str | None
    text: str
    spans: tuple[Span, ...]


def parse(content: str) -> Iterator[Message]:
    """Blocks between empty lines. Raises ImportFailed naming the block."""
    for block in re.split(r"\n{2,}", content.strip("\n")):
        lines = block.split("\n")
        head = lines[0].split()
        if len(head) != 4 or head[0] != "#" or len(lines) < 2:
            raise ImportFailed(
                _("Expected “# key split class” and a text, found {lines!r}.", lines=lines[0])
            )
        _mark, key, split, label = head
        text, spans = marked(lines[1], key)
        spans += [_crossing(line, text, key) for line in lines[2:]]
        yield Message(
            key,
            _none(split),
            _none(label),
            text,
            tuple(sorted(spans, key=lambda span: (span.start, -span.end, span.label))),
        )


def _none(word: str) -> str | None:
    return None if word == "-" else word


def marked(line: str, key: str) -> tuple[str, list[Span]]:
    r"""The text without its markup, and the spans.

    `\[` and `\]` belong to the text. Raises ImportFailed.
    """
    text: list[str] = []
    spans: list[Span] = []
    starts: list[int] = []
    place = 0
    while place < len(line):
        char = line[place]
        if char == "\\" and line[place + 1 : place + 2] in ("[", "]"):
            text.append(line[place + 1])
            place += 2
            continue
        place += 1
        if char == "[":
            starts.append(len(text))
        elif char == "]":
            name = _LABEL.match(line, place)
            if not starts or not name:
                raise ImportFailed(
                    _(
                        "{key}: ']' at column {place} {what}.",
                        key=key,
                        place=place,
                        what=_("has no opening bracket")
                        if not starts
                        else _("is not followed by a label"),
                    )
                )
            spans.append(Span(starts.pop(), len(text), name.group()))
            place = name.end()
        else:
            text.append(char)
    if starts:
        raise ImportFailed(
            ngettext(
                "{key}: {count} bracket is not closed.",
                "{key}: {count} brackets are not closed.",
                len(starts),
                key=key,
                count=len(starts),
            )
        )
    return "".join(text), spans


def _crossing(line: str, text: str, key: str) -> Span:
    match = _CROSSING.fullmatch(line)
    if not match:
        raise ImportFailed(
            _("{key}: {line!r} is not of the form “+ LABEL: words”.", key=key, line=line)
        )
    start = -1
    for _turn in range(int(match[2] or 1)):
        start = text.find(match[3], start + 1)
        if start < 0:
            raise ImportFailed(
                _(
                    "{key}: {found!r} does not occur in the text (or not as often).",
                    key=key,
                    found=match[3],
                )
            )
    return Span(start, start + len(match[3]), match[1])
