"""Tag schemes (IO, IOB1, IOB2, IOBES, BILOU, BMES) ↔ spans of tokens.

Sources: Ramshaw and Marcus 1995; Tjong Kim Sang and Veenstra 1999 (IOB1, IOB2); Ratinov and
Roth 2009 (BILOU).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_BEGIN, _INSIDE, _END, _SINGLE = "B", "IM", "EL", "SUW"  # M of BMES, W of BMEWO
_PREFIXES = frozenset(_BEGIN + _INSIDE + _END + _SINGLE)
OUTSIDE = ("O", "", "_")
EVERY = "POS"  # a tag without a prefix for every token


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Tokens [first, last) of a sentence."""

    first: int
    last: int
    label: str


def split_tag(tag: str) -> tuple[str, str] | None:
    """("B", "PER") of B-PER or B_PER; None for a tag without a prefix. "B" has an empty label."""
    if len(tag) > 2 and tag[1] in "-_" and tag[0] in _PREFIXES:
        return tag[0], tag[2:]
    return None


def detect(sentences: Iterable[Sequence[str]]) -> str:
    """The scheme of a tag column, see `Detector.scheme`."""
    found = Detector()
    for tags in sentences:
        found.feed(tags)
    return found.scheme


class Detector:
    """Detects the scheme of one column from its sentences, which are added one by one."""

    def __init__(self) -> None:
        self.labels: set[str] = set()  # seen so far, without prefixes
        self._prefixes: set[str] = set()
        self._bare = self._outside = self._loose = self._needless = False

    def feed(self, tags: Iterable[str]) -> None:
        """Add the tags of one sentence."""
        before: tuple[str, str] | None = None
        for tag in tags:
            parts = split_tag(tag)
            if parts is None:
                if tag in OUTSIDE:
                    self._outside |= tag != "_"  # "_": not annotated
                else:
                    self._bare = True
                    self.labels.add(tag)
            else:
                self._prefixes.add(parts[0])
                self.labels.add(parts[1])
                follows = before is not None and before[1] == parts[1]
                self._loose |= parts[0] == "I" and not follows
                self._needless |= parts[0] == "B" and not follows
            before = parts

    @property
    def scheme(self) -> str:
        """IOB1, IOB2, IOBES, BILOU, BMES, IO or EVERY.

        IO: plain labels and O; adjacent tokens with the same label form one span. EVERY: no O at
        all, each token has a tag of its own. A column without evidence is IOB2.
        """
        prefixes = self._prefixes
        if not prefixes:
            return "IO" if self._bare and self._outside else EVERY if self._bare else "IOB2"
        if "U" in prefixes or ("L" in prefixes and "E" not in prefixes):
            return "BILOU"
        if "M" in prefixes or "W" in prefixes:
            return "BMES"
        if "E" in prefixes or "S" in prefixes:
            return "IOBES"
        return "IOB1" if self._loose and not self._needless else "IOB2"


def spans(tags: Sequence[str], scheme: str = "IOB2") -> tuple[TokenSpan, ...]:
    """Spans of one sentence.

    Tags that violate the scheme are read as by conlleval: I- after another label begins a span.
    """
    if scheme == EVERY:
        return tuple(TokenSpan(n, n + 1, tag) for n, tag in enumerate(tags) if tag not in OUTSIDE)
    found: list[TokenSpan] = []
    first, label = 0, None
    for n, tag in enumerate(tags):
        prefix, name = _read(tag, scheme)
        if label is not None and (name != label or prefix in _BEGIN or prefix in _SINGLE):
            found.append(TokenSpan(first, n, label))
            label = None
        if name is None:
            continue
        if label is None:
            first, label = n, name
        if prefix in _END or prefix in _SINGLE:
            found.append(TokenSpan(first, n + 1, label))
            label = None
    if label is not None:
        found.append(TokenSpan(first, len(tags), label))
    return tuple(found)


def _read(tag: str, scheme: str) -> tuple[str, str | None]:
    if tag in OUTSIDE:
        return "O", None
    parts = split_tag(tag)
    if parts is None or scheme == "IO":
        return "I", tag
    return parts


def tags(found: Iterable[TokenSpan], length: int, scheme: str = "IOB2") -> list[str]:
    """The tags of `length` tokens. If spans share a token, the first one gets it.

    Writes IOB2, IOBES and EVERY; in the last, "_" is a token without a tag.
    """
    if scheme == EVERY:
        names = {span.first: span.label for span in reversed([*found])}
        return [names.get(n, "_") for n in range(length)]
    row = ["O"] * length
    for token_span in found:
        if any(tag != "O" for tag in row[token_span.first : token_span.last]):
            continue
        for n in range(token_span.first, token_span.last):
            row[n] = f"{'B' if n == token_span.first else 'I'}-{token_span.label}"
        if scheme == "IOBES" and token_span.last > token_span.first:
            row[token_span.last - 1] = (
                f"{'S' if token_span.last - token_span.first == 1 else 'E'}-{token_span.label}"
            )
    return row
