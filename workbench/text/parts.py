"""Documents that are parts of a longer one: sentences or paragraphs with their place in it.

The place is in the metadata, so that every format that keeps metadata keeps it: `part_of` (the key
of the whole), `part` (from 1), `parts`, `part_start`, `part_end` (code points in the whole),
`part_unit`, and the white space around it, `part_before` and `part_after`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from workbench.text.document import TEXT, Document

OF, NUMBER, COUNT, UNIT = "part_of", "part", "parts", "part_unit"
START, END, BEFORE, AFTER = "part_start", "part_end", "part_before", "part_after"
KEYS = (OF, NUMBER, COUNT, UNIT, START, END, BEFORE, AFTER)

Range = tuple[int, int]


def is_part(document: Document) -> bool:
    return OF in document.meta and isinstance(document.meta.get(NUMBER), int)


def key_of(document: Document, way: int) -> str:
    """The key of the part before (-1) or after (+1) a part; "" beyond the ends."""
    count, number = document.meta.get(COUNT), document.meta.get(NUMBER)
    if not isinstance(number, int) or not isinstance(count, int):
        return ""
    return _key(str(document.meta[OF]), number + way, count) if 0 < number + way <= count else ""


def _key(whole: str, number: int, count: int) -> str:
    return f"{whole}/{number:0{len(str(count))}d}"


def divided(document: Document, ranges: Sequence[Range], unit: str) -> Iterator[Document]:
    """A document for each range of the text, with its tokens. Parts stay in one group.

    `ranges` in order, with nothing but white space between them.
    """
    text = document.text
    ends = [start for start, _end in ranges[1:]] + [len(text)]
    for number, ((start, end), after) in enumerate(zip(ranges, ends, strict=True), 1):
        place: dict[str, object] = {
            OF: document.key, NUMBER: number, COUNT: len(ranges), UNIT: unit,
            START: start, END: end,
        }  # fmt: skip
        if number == 1 and start:
            place[BEFORE] = text[:start]
        if text[end:after]:
            place[AFTER] = text[end:after]
        tokens = [(a - start, b - start) for a, b in _tokens(document) if start <= a and b <= end]
        yield replace(
            document,
            id=None,
            key=_key(document.key, number, len(ranges)),
            texts=((TEXT, text[start:end]),),
            group=document.group or document.key,
            meta={**document.meta, **place},
            tokens={TEXT: tuple(tokens)} if _tokens(document) else {},
        )


def _tokens(document: Document) -> Sequence[Range]:
    return document.tokens.get(TEXT, ())


def joined(parts: Sequence[Document]) -> tuple[Document, list[int]]:
    """The whole of all its parts, in order, and where each part begins in it."""
    first, content, starts = parts[0], "", []
    tokens: list[Range] = []
    for part in parts:
        content += str(part.meta.get(BEFORE, ""))
        starts.append(len(content))
        tokens += [(start + len(content), end + len(content)) for start, end in _tokens(part)]
        content += part.text + str(part.meta.get(AFTER, ""))
    whole = str(first.meta[OF])
    document = replace(
        first,
        id=None,
        key=whole,
        texts=((TEXT, content),),
        group=None if first.group == whole else first.group,
        meta={name: value for name, value in first.meta.items() if name not in KEYS},
        tokens={TEXT: tuple(tokens)} if tokens else {},
    )
    return document, starts
