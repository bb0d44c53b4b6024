"""Sentences and paragraphs of a text, as code point offsets without white space at their ends.

Sentences end as in UAX 29 (rules SB6 to SB11: a terminator, closing marks, then space, and no
lower-case letter after a full stop), with exceptions for abbreviations, initials and numbered
points, which the standard leaves to applications.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import regex

from workbench.text.document import TEXT, Document

Range = tuple[int, int]
WHOLE, PARAGRAPH, SENTENCE = "document", "paragraph", "sentence"
UNITS = (WHOLE, PARAGRAPH, SENTENCE)
WRAPPED = 100  # code points: lines of hard-wrapped text are not longer

_LINE = regex.compile(r"[^\n\r\v\f\x85\u2028\u2029]*\S[^\n\r\v\f\x85\u2028\u2029]*")
_BLANK_LINE = regex.compile(
    r"(?:\r\n|[\n\r\v\f\x85\u2028])\s*?(?:\r\n|[\n\r\v\f\x85\u2028])|\u2029"
)
_CLOSING = r"[\"'”’»›)\]}」』）】》]"
# A run of terminators with closing marks and white space after it; those of Chinese and Japanese
# need no space. The groups: a full stop that is a terminator of its own; other terminators.
_END = regex.compile(
    rf"(?:(?P<stop>(?<![.])[.](?![.]))|(?P<sure>[.!?…؟۔।॥።፧။៕‼-⁉]+)){_CLOSING}*(?=\s)"
    rf"|(?P<wide>[。！？｡]+{_CLOSING}*)"
)
_BEFORE_STOP = regex.compile(r"[\p{L}\p{M}\p{N}.]*\Z")
_LOWER_AFTER = regex.compile(rf"{_CLOSING}*\s+[\"'“‘«(\[]*\p{{Ll}}")
_DIGIT_AFTER = regex.compile(r"\.\s+\d")
_MONTH_AFTER = regex.compile(  # German dates: "am 3. Mai"
    r"\.\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-z]*\b"
)
_GOES_ON = regex.compile(rf"{_CLOSING}\p{{Hiragana}}")  # a quotation inside a Japanese sentence
_OPENING = "\"'“‘«(["
# Lower case, without the final stop.
ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof rev hon st sr jr messrs mme mlle gen col capt lt sgt gov sen rep pres "
    "vs etc approx dept est fig figs vol ed eds pp ch sec al cf viz inc ltd co corp bros ave blvd "
    "rd mt ft jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
    "i.e e.g a.m p.m u.s u.k u.n ph.d b.a m.a "
    "hr fr frl nr str ca bzw usw vgl evtl ggf inkl zzgl sog bspw geb gest abb abs z.b d.h u.a o.ä "
    "i.d.r s.o s.u v.a "
    "m mm bd env ex p art sra srta ud uds d.na pág núm sig dott prof.ssa".split()
)
_BEFORE_NUMBER = frozenset("no nos nr num art fig figs vol ch sec p pp op abs abb ca bd".split())


def paragraphs(text: str) -> tuple[Range, ...]:
    """Lines; in hard-wrapped text, blocks between blank lines.

    A text is hard-wrapped if it has a blank line and no line is longer than WRAPPED.
    """
    lines = [match.span() for match in _LINE.finditer(text)]
    if any(end - start > WRAPPED for start, end in lines) or not _BLANK_LINE.search(text):
        return tuple(_stripped(text, lines))
    blocks: list[Range] = []
    for line in lines:
        if blocks and not _BLANK_LINE.search(text, blocks[-1][1], line[0]):
            blocks[-1] = blocks[-1][0], line[1]
        else:
            blocks.append(line)
    return tuple(_stripped(text, blocks))


def sentences(text: str) -> tuple[Range, ...]:
    """The sentences of each paragraph, in order; none crosses the end of a paragraph."""
    return tuple(
        sentence for start, end in paragraphs(text) for sentence in _within(text, start, end)
    )


def _within(text: str, start: int, end: int) -> Iterator[Range]:
    """The sentences of the paragraph [start, end)."""
    first = start
    for match in _END.finditer(text, start, end):
        if match["stop"] and not _ends(text, first, match):
            continue
        if match["wide"] and _GOES_ON.match(text, match.end() - 1):
            continue
        yield first, match.end()
        first = match.end()
        while first < end and text[first].isspace():
            first += 1
    if first < end:
        yield first, end


def _ends(text: str, first: int, match: regex.Match[str]) -> bool:
    """Whether a single full stop ends the sentence that begins at `first`."""
    at = match.start("stop")
    if _LOWER_AFTER.match(text, match.end()) or _LOWER_AFTER.match(text, at + 1):
        return False
    before = _BEFORE_STOP.search(text, max(first, at - 20), at)
    word = before.group() if before else ""
    if word.isdecimal():
        return not _MONTH_AFTER.match(text, at) and bool(
            text[first : at - len(word)].strip(_OPENING + " ")
        )  # "1. First point"
    if len(word) == 1 and word.upper() != word.lower() and word != "I":
        return False  # an initial, or "d. 235"
    known = word.lower()
    if known in _BEFORE_NUMBER:
        return not _DIGIT_AFTER.match(text, at)
    return known not in ABBREVIATIONS


def _stripped(text: str, ranges: Iterable[Range]) -> Iterator[Range]:
    for start, end in ranges:
        part = text[start:end]
        yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())


SPLITTERS: Mapping[str, Callable[[str], tuple[Range, ...]]] = {
    PARAGRAPH: paragraphs,
    SENTENCE: sentences,
}


def units_of(document: Document, unit: str, field: str = TEXT) -> tuple[Range, ...]:
    """The paragraphs or sentences of a text of a document; no token is divided between two."""
    ranges = SPLITTERS[unit](document.content(field))
    return joined_over(ranges, document.tokens.get(field, ()))


def joined_over(units: Sequence[Range], whole: Iterable[Range]) -> tuple[Range, ...]:
    """The units, those that a range of `whole` extends over joined to one.

    `units` in order and apart from one another.
    """
    if len(units) < 2:
        return tuple(units)
    ends = [end for _start, end in units]
    inner = set()  # numbers of the units that continue the unit before
    for start, end in whole:
        first = bisect_left(ends, start + 1)
        while first + 1 < len(units) and units[first + 1][0] < end:
            first += 1
            inner.add(first)
    firsts = [number for number in range(len(units)) if number not in inner]
    return tuple(
        (units[first][0], units[after - 1][1]) for first, after in pairwise([*firsts, len(units)])
    )


def unit_at(units: Sequence[Range], position: int) -> int:
    """The number of the unit that holds a position; of the one before, in the space between two.

    0 for a position before the first.
    """
    return max(0, bisect_right(units, position, key=lambda unit: unit[0]) - 1)
