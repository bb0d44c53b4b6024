"""Offsets that are counted in another form of the text than the file holds.

Tools count UTF-16 units or bytes, line breaks as one character in a file that has two, or leave
markup and escapes out. Where a file says what its spans cover, each form is tried until every span
of a record covers what it should; what was done is a remark.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from itertools import product

from workbench.base.i18n import N_, _, ngettext
from workbench.importers.record_checks import Fault, show

LF, CRLF, MARK, UTF16, BYTES, ESCAPED = "lf", "crlf", "mark", "utf-16", "bytes", "escaped"
OPEN = -1
POINTS = "points"  # where a format has UTF-16 units
DECODED, UNESCAPED, PLAIN, PLAIN_LINES = "decoded", "unescaped", "plain", "plain-lines"
_WAYS = {  # how offsets are counted
    LF: N_("line breaks count as one character"),
    CRLF: N_("line breaks count as two characters"),
    MARK: N_("a byte order mark counts"),
    UTF16: N_("UTF-16 units are counted"),
    BYTES: N_("bytes of UTF-8 are counted"),
    ESCAPED: N_("&, < and > count as their escapes"),
    POINTS: N_("code points are counted"),
}
_BARE = re.compile(r"(?<!\r)\n")
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|\w+);")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|[ntrfb\"'\\])")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}
_HIDDEN = ("script", "style", "head", "title")
_MAX_TRIES = 50  # records without any fitting form, after which no more is tried


@dataclass(frozen=True)
class Quote:
    """A place in a text as a file gives it: (start, end) of its parts, and what they cover.

    An end of -1 is where the covered text ends.
    """

    parts: tuple[tuple[int, int], ...]
    covered: str

    @classmethod
    def of(cls, start: object, end: object, covered: object) -> Quote | None:
        """None if the file does not say what the place covers, or offsets are no numbers."""
        if type(start) is not int or type(end) is not int or not isinstance(covered, str):
            return None
        return cls(((start, end),), covered) if covered.strip() else None


@dataclass(frozen=True)
class Counting:
    """How the offsets of a record are counted. text: that of the document, in which spans lie.

    ways: what is unusual, as in `_WAYS`. form: how the text differs from that of the file.
    """

    text: str
    ways: tuple[str, ...] = ()
    form: str = ""
    _points: Mapping[int, int] | None = field(default=None, repr=False)

    @property
    def is_usual(self) -> bool:
        """Whether offsets are code points of the text."""
        return self._points is None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in code points; those that lie nowhere are returned as they are."""
        if self._points is None:
            return start, end
        first, last = self._points.get(start), self._points.get(end)
        return (start, end) if first is None or last is None else (first, last)

    def holds(self, quote: Quote) -> bool:
        if self._points is not None:
            known = self._points
            offsets = (offset for part in quote.parts for offset in part)
            if any(offset not in known and offset != OPEN for offset in offsets):
                return False
        return _same(self.covered(quote), quote.covered)

    def holds_to_the_edges(self, quote: Quote) -> bool:
        """Whether the place begins and ends with white space only where what it covers does."""
        return _edges(self.covered(quote)) == _edges(quote.covered)

    def start(self, start: int) -> int:
        return start if self._points is None else self._points.get(start, start)

    def covered(self, quote: Quote) -> str:
        first, last = quote.parts[0]
        if self._points is None and len(quote.parts) == 1 and 0 <= first <= last:
            return self.text[first:last]
        if last == OPEN:
            first = self.start(first)
            return self.text[max(0, first) : max(0, first + len(quote.covered))]
        parts = (self.span(start, end) for start, end in quote.parts)
        return " ".join(self.text[start:end] for start, end in parts if 0 <= start <= end)


class Offsets:
    """The counting of the offsets of each record of a file; `remarks` says what was unusual."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[tuple[str, ...], str]] = Counter()
        self._failed = 0

    def counting(
        self,
        text: str,
        quotes: Iterable[Quote | None],
        *,
        fixed: bool = False,
        markup: bool = False,
        mark: bool = True,
    ) -> Counting:
        """The first counting in which every place covers what the file says; an unusual one only if
        a place does so to its edges.

        fixed: the text of the document stays as it is. markup: the text is HTML, so that labels
        refer to it without its elements. mark: a byte order mark may count. Raises Fault that names
        a place if there is none.
        """
        known = [quote for quote in quotes if quote is not None]
        usual = Counting(text)
        if not known and not markup:
            return usual
        if not markup and all(map(usual.holds, known)):
            return usual
        tries = _countings(text, fixed=fixed, markup=markup) if self._failed < _MAX_TRIES else ()
        for counting in tries:
            if (mark or MARK not in counting.ways) and all(map(counting.holds, known)):
                if counting.ways and not any(map(counting.holds_to_the_edges, known)):
                    continue  # a place beside the words, by the length of the white space
                self._counts[counting.ways, counting.form] += 1
                return counting
        self._failed += not self._counts
        wrong = next((quote for quote in known if not usual.holds(quote)), known[0])
        raise Fault(
            _(
                "the span {start}–{end} covers {found}, but the file says {covered}",
                start=wrong.parts[0][0],
                end=wrong.parts[-1][1],
                found=show(usual.covered(wrong)),
                covered=show(wrong.covered),
            )
        )

    def add(self, document: Offsets) -> None:
        """Count a document by the offsets of its parts."""
        self._counts.update(document._counts.keys())

    def note(self, way: str) -> None:
        """Count a document whose offsets were counted in another way than in its format."""
        self._counts[(way,), ""] += 1

    def remarks(self, file: str) -> Iterator[str]:
        """What was unusual in the records read so far."""
        forms: Counter[str] = Counter()
        for (ways, form), n in self._counts.items():
            forms[form] += n
            if ways:
                template = ngettext(
                    "{file}: the offsets of {n:,} document were converted: {how}.",
                    "{file}: the offsets of {n:,} documents were converted: {how}.",
                    n,
                )
                how = ", ".join(_(_WAYS[way]) for way in ways)
                yield template.format(file=file, n=n, how=how)
        if n := forms[PLAIN] + forms[PLAIN_LINES]:
            template = ngettext(
                "{file}: {n:,} text was imported without its markup (HTML).",
                "{file}: {n:,} texts were imported without their markup (HTML).",
                n,
            )
            yield template.format(file=file, n=n)
        if n := forms[DECODED] + forms[UNESCAPED]:
            template = ngettext(
                "{file}: {n:,} text was imported with its escapes decoded, to which its offsets "
                "refer.",
                "{file}: {n:,} texts were imported with their escapes decoded, to which their "
                "offsets refer.",
                n,
            )
            yield template.format(file=file, n=n)


def length(text: str, way: str) -> int:
    """The length of a text in UTF-16 units, bytes, or code points."""
    if way not in _WIDTHS or text.isascii():
        return len(text)
    return sum(map(_WIDTHS[way], text))


def points(text: str, *ways: str) -> dict[int, int]:
    """Offset as it is counted in some of the `_WAYS` → code point of the text."""
    width = _WIDTHS.get(next((way for way in ways if way in _WIDTHS), ""), _one)
    lf, crlf, escaped = (way in ways for way in (LF, CRLF, ESCAPED))
    position = width("\ufeff") if MARK in ways else 0
    code_points = {position: 0}
    for n, character in enumerate(text):
        if escaped and character in "&<>":
            position += len(html.escape(character))
        elif lf and character == "\r" and text[n + 1 : n + 2] == "\n":
            pass  # counts with the next character
        else:
            extra = crlf and character == "\n" and text[n - 1 : n] != "\r"
            position += width(character) + extra
        code_points.setdefault(position, n + 1)
    return code_points


def _one(_character: str) -> int:
    return 1


def _units(character: str) -> int:
    return 1 + (character > "\uffff")


def _bytes(character: str) -> int:
    return len(character.encode("utf-8", "surrogatepass"))


_WIDTHS = {UTF16: _units, BYTES: _bytes}


def _countings(text: str, *, fixed: bool, markup: bool) -> Iterator[Counting]:
    """All that are possible, those with the fewest peculiarities first."""
    for form, content in _forms(text, fixed=fixed, markup=markup):
        if form:
            yield Counting(content, (), form)
        for ways in _ways(content):
            yield Counting(content, ways, form, points(content, *ways))


def _ways(text: str) -> Sequence[tuple[str, ...]]:
    """The ways of counting that differ from code points in this text."""
    largest = max(text, default="")
    lines = ["", *([LF] if "\r\n" in text else []), *([CRLF] if _BARE.search(text) else [])]
    units = ["", *([UTF16] if largest > "\uffff" else []), *([BYTES] if largest > "\x7f" else [])]
    escapes = ["", *([ESCAPED] if any(sign in text for sign in "&<>") else [])]
    combinations = [
        tuple(filter(None, ways)) for ways in product(lines, units, escapes, ("", MARK))
    ]
    return sorted(filter(None, combinations), key=lambda ways: (len(ways), MARK in ways))


def _forms(text: str, *, fixed: bool, markup: bool) -> Iterator[tuple[str, str]]:
    """(form, text) of the texts to which offsets may refer."""
    if markup or (not fixed and _TAG.search(text)):
        lines, plain = without_markup(text, lines=True), without_markup(text)
        if not markup:
            yield "", text
        yield PLAIN_LINES, lines
        if plain != lines:
            yield PLAIN, plain
        return
    yield "", text
    if not fixed and _ENTITY.search(text):
        yield UNESCAPED, html.unescape(text)
    if not fixed and _ESCAPE.search(text):
        yield DECODED, decoded(text)


def decoded(text: str) -> str:
    r"""The text without escapes of Java and JSON: \u00FC, \n, \\; surrogate pairs are joined."""
    return joined_surrogates(_ESCAPE.sub(lambda match: _character(match[1]), text))


def joined_surrogates(text: str) -> str:
    """The text with one character for each surrogate pair; a half of one stays as it is."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _character(escape: str) -> str:
    return chr(int(escape[1:], 16)) if len(escape) == 5 else _CONTROLS.get(escape, escape)


def without_markup(text: str, *, lines: bool = False) -> str:
    """The text of HTML, as a browser counts it: all text nodes. lines: <br> is a line break."""
    parser = _Text(lines)
    parser.feed(text)
    parser.close()
    return "".join(parser.parts)


class _Text(HTMLParser):
    def __init__(self, lines: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._lines, self._hidden = lines, 0
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag == "br" and self._lines:
            self.parts.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br" and self._lines:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _edges(text: str) -> tuple[bool, bool]:
    return text[:1].isspace(), text[-1:].isspace()


@lru_cache(maxsize=1 << 12)
def _same(place_text: str, covered: str) -> bool:
    """Whether a place covers what the file says, apart from white space, case and escapes."""
    if place_text == covered:
        return True
    if not place_text.strip():
        return False
    words = place_text.casefold().split()
    return any(words == form.casefold().split() for form in (covered, html.unescape(covered)))
