"""The text rules of fastai, with the offsets of every unit in the original text.

fastai changes the text ("Hello" becomes "xxmaj hello", "!!!!" becomes "xxrep 4 !") and then splits
it with spaCy. Here the same rules are applied to stretches of the original text, so that offsets
are kept, and the splitter is our own: `text.segment` with the contractions, numbers and
abbreviations that spaCy keeps. Words that spaCy splits in other places become other units, for
example "gonna", URLs and emoticons.

Source: fastai 2.8, fastai/text/core.py; fastai 0.7, fastai/text.py (Howard and others, Apache
License 2.0).
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.base.deprecation import renamed
from workbench.text.characters import compiled
from workbench.text.segment import words

Span = tuple[int, int]
Unit = tuple[str, Span | None]  # an entry of the vocabulary, and its code points; None: a mark


@dataclass(frozen=True)
class FastaiRules:
    """The marks of one version of fastai and where they are set.

    least: repetitions of a character or word from this number on are replaced. capital: mark of
    capitalized words, "" for none; upper: of words in capitals with at least `least_upper`
    letters. begin: the units before a text.
    """

    unknown: str
    padding: str
    begin: tuple[str, ...]
    field: str
    repeated: str
    repeated_word: str
    upper: str
    capital: str
    least: int
    least_upper: int


NEW = FastaiRules(
    "xxunk", "xxpad", ("xxbos",), "xxfld", "xxrep", "xxwrep", "xxup", "xxmaj", least=3,
    least_upper=2,
)  # fmt: skip
OLD = FastaiRules(
    "_unk_", "_pad_", ("\n", "xbos", "xfld", "1"), "xfld", "tk_rep", "tk_wrep", "t_up", "",
    least=4, least_upper=3,
)  # fmt: skip

# The first entries of a vocabulary, as fastai 1 and 2 write it.
MARKS = (
    NEW.unknown, NEW.padding, *NEW.begin, "xxeos", NEW.field, NEW.repeated, NEW.repeated_word,
    NEW.upper, NEW.capital,
)  # fmt: skip


def rules_of(vocabulary: Sequence[str]) -> FastaiRules:
    """OLD (fastai 0.7) if the vocabulary has its special entries, else NEW (1 and 2)."""
    entries = frozenset(vocabulary)
    return OLD if OLD.unknown in entries and NEW.unknown not in entries else NEW


# ---------------------------------------------------------------- text with replacements

_FIXES = {
    "#39;": "'", "amp;": "&", "#146;": "'", "nbsp;": " ", "#36;": "$", "\\n": "\n", "quot;": "'",
    "<br />": "\n", '\\"': '"', " @.@ ": ".", " @-@ ": "-", "...": " …",
}  # fmt: skip
_NOT_ENTITIES = "|".join(name.removesuffix(";") for name in _FIXES if name.endswith(";"))
_FIX = (
    "|".join(map(re.escape, _FIXES))
    + rf"|<unk>|&(?!(?:{_NOT_ENTITIES});)(?:#[\p{{Nd}}]+|#[xX][0-9a-fA-F]+|[\w]+);"
)


class _Text:
    """A changed text that knows which characters of the original each character stands for."""

    def __init__(self, original: str, unknown: str):
        self.text, self.starts, self.ends = original, list(range(len(original))), []
        self.ends = [start + 1 for start in self.starts]
        if compiled(_FIX).search(original):
            self._fix(original, unknown)

    def _fix(self, original: str, unknown: str) -> None:
        parts, starts, ends, done = [], [], [], 0
        for match in compiled(_FIX).finditer(original):
            matched = match[0]
            new = unknown if matched == "<unk>" else _FIXES.get(matched) or html.unescape(matched)
            start, end = match.span()
            parts += [original[done:start], new]
            starts += [*range(done, start), *[start] * len(new)]
            ends += [*range(done + 1, start + 1), *[end] * len(new)]
            done = end
        self.text = "".join((*parts, original[done:]))
        self.starts = [*starts, *range(done, len(original))]
        self.ends = [*ends, *range(done + 1, len(original) + 1)]

    def span(self, start: int, end: int) -> Span:
        """The original characters of a stretch that is not empty."""
        return self.starts[start], self.ends[end - 1]

    def inside(self, offsets: Sequence[Span]) -> list[Span]:
        """The stretches of words that are given by their original characters."""
        stretches, at, count = [], 0, len(self.text)
        for start, end in sorted(offsets):
            while at < count and self.ends[at] <= start:
                at += 1
            first = at
            while at < count and self.starts[at] < end:
                at += 1
            if first < at:
                stretches.append((first, at))
        return stretches


# ---------------------------------------------------------------- rules

_SPECIAL = "/#\\"
# What spaCy keeps together or splits off, where `words` does otherwise; line breaks are units.
_BEGIN, _END = r"(?<![\w])", r"(?![\w])"  # of a word
_TOKEN_EXCEPTIONS = (
    r"\n+|[\p{Nd}]+(?:[.,:][\p{Nd}]+)+"
    rf"|(?:{_BEGIN}[\p{{L}}]\.)+[\p{{L}}]{_END}|(?<=[\p{{L}}])(?i:n['’]t){_END}"
    rf"|(?<=[\w])['’](?i:s|re|ve|ll|d|m){_END}"
)
_CHUNK = rf"[^\s{re.escape(_SPECIAL)}]+|[{re.escape(_SPECIAL)}]|\n+"


def split(text: str) -> list[Span]:
    """The words of a text and its line breaks, as spaCy would split it."""
    tokens: list[Span] = []
    done = 0
    for match in compiled(_TOKEN_EXCEPTIONS).finditer(text):
        tokens += _shifted(text[done : match.start()], done)
        tokens.append(match.span())
        done = match.end()
    return [*tokens, *_shifted(text[done:], done)]


@renamed(borders="offsets")
def units(text: str, offsets: Sequence[Span], rules: FastaiRules) -> list[Unit]:
    """The units of a text in order, without those before it; `offsets` are those of its words."""
    changed = _Text(text, rules.unknown)
    stretches = changed.inside(offsets)
    result: list[Unit] = []
    for start, end, marks, may_have_case in _stretches(changed.text, rules):
        result += [(mark, None) for mark in marks]
        part = changed.text[start:end]
        if may_have_case and (mark := _case_mark(part, rules)):
            result.append((mark, None))
        if marks:  # a repetition is one unit
            content = part[0] if marks[0] == rules.repeated else part.split()[0]
            result.append((content.lower(), changed.span(start, end)))
            continue
        for low, high in _near(stretches, start, end):
            low, high = max(low, start), min(high, end)
            result.append((changed.text[low:high].lower(), changed.span(low, high)))
    return result


def _near(offsets: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """The spans that overlap a stretch; spans in order."""
    number = bisect_right(offsets, start, key=lambda span: span[1])
    while number < len(offsets) and offsets[number][0] < end:
        yield offsets[number]
        number += 1


def _shifted(part: str, by: int) -> Iterator[Span]:
    return ((start + by, end + by) for start, end in words(part))


Stretch = tuple[int, int, tuple[str, ...], bool]  # start, end, marks before it, may get a case mark


def _stretches(text: str, rules: FastaiRules) -> Iterator[Stretch]:
    r"""Repeated words and characters, and the text between them at white space and / # \."""
    done = 0
    least = rules.least - 2
    # The last repetition may be followed by a punctuation mark.
    repeated = compiled(rf"(?<![^\s])([\w]+)(?:[\s]+\1(?=[\s])){{{least},}}[\s]+\1(?![\w])")
    for match in repeated.finditer(text):
        if _same_characters(rules).search(match[1]):
            continue  # the rule for characters has changed these words before
        yield from _chunks(text, done, match.start(), rules)
        count = len(match[0].split())
        yield match.start(), match.end(), (rules.repeated_word, str(count)), True
        done = match.end()
    yield from _chunks(text, done, len(text), rules)


def _same_characters(rules: FastaiRules) -> re.Pattern[str]:
    return compiled(rf"([^\s])\1{{{rules.least - 1},}}")


def _chunks(text: str, start: int, end: int, rules: FastaiRules) -> Iterator[Stretch]:
    characters = _same_characters(rules)
    for chunk in compiled(_CHUNK).finditer(text, start, end):
        done, stop = chunk.span()
        for match in characters.finditer(text, done, stop):
            if done < match.start():
                yield done, match.start(), (), True
            count = match.end() - match.start()
            yield match.start(), match.end(), (rules.repeated, str(count)), False
            done = match.end()
        if done < stop:
            yield done, stop, (), True


_CAPITALS, _CAPITAL = r"[A-Z]+[^a-z\s]*", r"[A-Z][^A-Z\s]*"


def _case_mark(part: str, rules: FastaiRules) -> str:
    """The mark before a run of characters without white space, "" for none."""
    if not rules.capital:
        letters = [word for word in compiled(r"[\w]+").findall(part) if word.isupper()]
        return rules.upper if any(len(word) >= rules.least_upper for word in letters) else ""
    first = part.split()[0] if part.split() else ""
    if len(first) < rules.least_upper:
        return ""
    if compiled(_CAPITALS).fullmatch(first):
        return rules.upper
    return rules.capital if compiled(_CAPITAL).fullmatch(first) else ""
