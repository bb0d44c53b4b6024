"""Replies of models → labels, numbers, spans and answers.

A reply is text from elsewhere: it is only searched, nothing in it is executed, and whatever it
holds, reading it ends: with a `Reading` that says why there is no answer, if there is none.
"""

from __future__ import annotations

import json
import math
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import regex

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.prompting.answers.mentions import Places, place
from workbench.prompting.answers.target import ANSWER, CLASS, LABELS, NUMBER, Reading, Target
from workbench.prompting.spec import AnswerSpec
from workbench.text.segment import SPACELESS
from workbench.text.spans import Span

MAX_CHARS = 1_000_000  # of a reply that are read
MAX_PATTERN_CHARS = 2_000
MAX_QUOTES = 1_000  # quoted strings of a reply
MAX_JSON_STARTS = 50  # places of a reply where JSON may begin
PATTERN_SECONDS = 1.0  # for a pattern and a reply
ALL_PATTERN_SECONDS = 20.0  # of replies that take too long; then each gets SHORT_SECONDS
SHORT_SECONDS = 0.02
MARKER = "Answer:"  # before the answer that follows the reasons

_INSIDE = rf"[\w--[{SPACELESS}]]"  # characters that continue a word
_NUMBER = regex.compile(
    r"(?<![\w.,])[-+−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
    r"(?!\w)",
    regex.V1,
)
_QUOTED = regex.compile(
    r'"((?:[^"\\\n]|\\.)*+)"|“([^”\n]*+)”|„([^“”\n]*+)[“”]|«([^»\n]*+)»', regex.V1
)
_SINGLE = regex.compile(r"(?<!\w)'([^'\n]++(?:'(?=\w)[^'\n]*+)*+)'(?!\w)|‘([^’\n]*+)’", regex.V1)
_LETTER_FIRST = regex.compile(r"\W*([A-Z])(?=\s*(?:[.):,\]]|$|\n))", regex.V1)
_LETTER_LATER = regex.compile(
    r"\(([A-Z])\)|(?i:\b(?:answer|choice|option)\b(?:\s+is)?\s*:?\s*)[\W_]*([A-Z])(?!\w)", regex.V1
)


class Reader:
    """Reads the replies of one run.

    Raises SpecError for a pattern that is no regular expression.
    """

    def __init__(self, answer: AnswerSpec, read: Callable[[Reader, str, Target], Reading]):
        self.answer, self._read = answer, read
        self.pattern = compiled(answer.pattern) if answer.pattern else None
        self._slow = 0.0  # seconds of replies for which the pattern took too long
        self._places: tuple[str, Places] | None = None

    def read(self, reply: str, target: Target) -> Reading:
        """What a reply says. Never raises for a reply."""
        reply = reply[-MAX_CHARS:] if self.answer.marker else reply[:MAX_CHARS]
        if not reply.strip():
            return Reading(no_answer="empty")
        return self._read(self, reply, target)

    def places(self, text: str) -> Places:
        """The places in a text, kept for the samples of one document."""
        if self._places is None or self._places[0] != text:
            self._places = text, Places(text)
        return self._places[1]

    def matches(self, reply: str) -> list[str] | None:
        """What the pattern finds: its first group, or all of it. None if it takes too long."""
        if self.pattern is None:
            return []
        seconds = PATTERN_SECONDS if self._slow < ALL_PATTERN_SECONDS else SHORT_SECONDS
        started = time.monotonic()
        try:
            matches = self.pattern.finditer(reply, timeout=seconds)
            group = 1 if self.pattern.groups else 0
            texts = (match.group(group) for match in matches)
            return [text for text, _n in zip(texts, range(MAX_QUOTES), strict=False) if text]
        except (TimeoutError, MemoryError):
            self._slow += time.monotonic() - started
            return None


@lru_cache(maxsize=32)
def compiled(pattern: str) -> regex.Pattern[str]:
    """Raises SpecError for a pattern that is no regular expression, or a very long one."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise SpecError(
            _(
                "The pattern is too long: {n:,} of at most {most:,} characters.",
                n=len(pattern),
                most=MAX_PATTERN_CHARS,
            )
        )
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise SpecError(
            _("The pattern is no regular expression: {error}.", error=str(error).rstrip(".")),
            hint=_("Escape special characters with a backslash, as in \\( for a parenthesis."),
        ) from error


# ---------------------------------------------------------------- labels


@lru_cache(maxsize=64)
def _finder(words: tuple[str, ...]) -> regex.Pattern[str]:
    """Any of the words, whatever their case, the longest first, not inside another word."""
    parts = []
    for word in sorted({word for word in words if word}, key=lambda word: (-len(word), word)):
        before = f"(?<!{_INSIDE})" if regex.match(_INSIDE, word, regex.V1) else ""
        after = f"(?!{_INSIDE})" if regex.match(_INSIDE, word[-1], regex.V1) else ""
        parts.append(f"{before}{regex.escape(word, literal_spaces=True)}{after}")
    return regex.compile("|".join(parts) or r"(?!)", regex.V1 | regex.IGNORECASE)


def named(reply: str, words: Mapping[str, str]) -> list[str]:
    """The labels that a reply names, in its order, from word → label."""
    return [label for _text, label in _named(reply, words)]


def first_named(reply: str, words: Mapping[str, str]) -> str | None:
    """The first label named; one in the same case, such as US, comes before others, such as us."""
    pairs = _named(reply, words)
    exact = (label for text, label in pairs if text in words)
    return next(exact, pairs[0][1] if pairs else None)


def _named(reply: str, words: Mapping[str, str]) -> list[tuple[str, str]]:
    folded = {word.casefold(): label for word, label in words.items()}
    texts = (match.group() for match in _finder(tuple(words)).finditer(reply))
    labels = ((text, words.get(text) or folded.get(text.casefold())) for text in texts)
    return [(text, label) for text, label in labels if label is not None]


def exactly(text: str, target: Target) -> str | None:
    """The label that a text is, apart from case and quotation marks; None if it is none."""
    text = text.strip().strip("\"'“”‘’«»`.,;:* \t\n")
    words = target.named
    if text in words:
        return words[text]
    folded = {word.casefold(): label for word, label in words.items()}
    return folded.get(text.casefold())


def says_nothing(reply: str, target: Target) -> bool:
    """Whether a reply is one of the words for nothing."""
    text = reply.strip().strip("\"'“”‘’«»`.,;:*[](){} \t\n").casefold()
    return not text or text in {word.casefold() for word in target.nothing}


def names_nothing(reply: str, target: Target) -> bool:
    return bool(named(reply, {word: word for word in target.nothing}))


def read_first(reader: Reader, reply: str, target: Target) -> Reading:
    """The first label named."""
    if target.choices:
        return read_choice(reader, reply, target)
    label = first_named(reply, target.named)
    return Reading(no_answer="no-label") if label is None else Reading(label)


def read_choice(reader: Reader, reply: str, target: Target) -> Reading:
    """The letter, the number or the text of one of the choices."""
    label = choice(reply, target.choices)
    return Reading(no_answer="no-choice") if label is None else Reading(label)


def choice(reply: str, choices: Sequence[str]) -> str | None:
    """The number of the choice that a reply names."""
    texts: dict[str, str] = {}
    for number, text in enumerate(choices, 1):
        texts.setdefault(text, str(number))
    letters = {chr(ord("A") + at): str(at + 1) for at in range(min(26, len(choices)))}
    plain = reply.strip().strip("\"'“”‘’`.,;:*()[] \t\n")
    numbers = {number: number for number in texts.values()}
    for known in (texts, letters, numbers):
        if plain in known:
            return known[plain]
    if (match := _LETTER_FIRST.match(reply)) and match.group(1) in letters:
        return letters[match.group(1)]
    if label := first_named(reply, texts):
        return label
    for match in _LETTER_LATER.finditer(reply):
        if letter := letters.get(match.group(1) or match.group(2)):
            return letter
    first = number_in(reply)
    return numbers.get(str(int(first))) if first is not None and first == int(first) else None


def read_several(reader: Reader, reply: str, target: Target) -> Reading:
    """All labels named, in the order of the layer."""
    if says_nothing(reply, target):
        return Reading(())
    labels = {*named(reply, target.named)}
    if labels:
        return Reading(tuple(label for label in target.labels if label in labels))
    return Reading(()) if names_nothing(reply, target) else Reading(no_answer="no-label")


# ---------------------------------------------------------------- numbers


def number_in(reply: str) -> float | None:
    """The first number in a text; a comma is a decimal one unless it separates thousands."""
    for match in _NUMBER.finditer(reply):
        text = match.group().replace("−", "-")
        mantissa, _e, exponent = text.lower().partition("e")
        if regex.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?", mantissa):
            mantissa = mantissa.replace(",", "")
        text = mantissa.replace(",", ".") + (f"e{exponent}" if exponent else "")
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    return None


def read_number(reader: Reader, reply: str, target: Target) -> Reading:
    value = number_in(reply)
    return Reading(no_answer="no-number") if value is None else Reading(value)


# ---------------------------------------------------------------- spans


def quoted(reply: str) -> list[tuple[str, int, int]]:
    """Quoted strings with their ranges; those in single quotes if there are no others."""
    for pattern in (_QUOTED, _SINGLE):
        quotes = [
            (_unescaped(next(filter(None, match.groups()), "")), *match.span())
            for match, _n in zip(pattern.finditer(reply), range(MAX_QUOTES), strict=False)
        ]
        if quotes:
            return quotes
    return []


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        value = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return text.replace('\\"', '"')
    return str(value)


def read_quotes(reader: Reader, reply: str, target: Target) -> Reading:
    """Quoted strings, each after the label at the beginning of its line, or before a label.

    In a layer with one label, they need not name it.
    """
    only = target.labels[0] if len(target.labels) == 1 else None
    mentions: list[tuple[str, str]] = []
    unknown: list[str] = []
    lines = reply.splitlines()
    for line in lines:
        quotes = quoted(line)
        if not quotes:
            continue
        ahead = first_named(line[: quotes[0][1]], target.named)
        ends = [start for _text, start, _end in quotes[1:]] + [len(line)]
        for (text, _start, end), following in zip(quotes, ends, strict=True):
            label = ahead or first_named(line[end:following], target.named) or only
            if label is None:
                unknown.append(text)
            else:
                mentions.append((text, label))
    if mentions or unknown:
        return placed(reader, target, mentions, unknown)
    nothing = says_nothing(reply, target) or names_nothing(reply, target)
    return Reading(()) if nothing else Reading(no_answer="no-quotes")


def placed(
    reader: Reader,
    target: Target,
    mentions: Iterable[tuple[str, str]],
    unknown: Iterable[str] = (),
) -> Reading:
    """The spans of quoted strings. unknown: those without a label of the layer."""
    chosen = list(mentions)[:MAX_QUOTES]
    ranges, unplaced = place(reader.places(target.text), chosen, reader.answer.mentions)
    spans = tuple(Span(start, end, label) for start, end, label in ranges)
    return Reading(spans, unplaced=(*unplaced, *unknown))


def read_tags(reader: Reader, reply: str, target: Target) -> Reading:
    """Tags within the repeated text, `[PER Ada]`, nested or not.

    If the rest is the text, apart from white space, offsets are exact. Otherwise the tagged words
    are found in the text by order of mention.
    """
    plain, spans = untagged(reply, target.named)
    offsets = _same_but_spaces(plain, target.text)
    if offsets is not None:
        solid = list(offsets)  # a tag may begin or end with white space
        places = ((bisect_left(solid, start), bisect_left(solid, end) - 1, label)
                  for start, end, label in spans)  # fmt: skip
        unique = {
            Span(offsets[solid[first]], offsets[solid[last]] + 1, label)
            for first, last, label in places
            if first <= last
        }
        return Reading(tuple(sorted(unique)))
    mentions = [(plain[start:end], label) for start, end, label in spans[:MAX_QUOTES]]
    if mentions:
        ranges_found, unplaced = place(reader.places(target.text), mentions, "order")
        return Reading(tuple(Span(*each) for each in ranges_found), unplaced=unplaced)
    return Reading(()) if says_nothing(reply, target) else Reading(no_answer="no-tags")


def untagged(reply: str, words: Mapping[str, str]) -> tuple[str, list[tuple[int, int, str]]]:
    """A text without its tags, and (start, end, label) of what they hold, in order of the start."""
    names = "|".join(map(regex.escape, sorted(words, key=len, reverse=True)))
    parts: list[str] = []
    size = 0
    open_tags: list[tuple[int, str]] = []
    spans: list[tuple[int, int, str]] = []
    last = 0
    for match in regex.finditer(rf"\[({names})[:\s]\s*|\]", reply):
        label = match.group(1)
        if label is None and not open_tags:
            continue
        parts.append(reply[last : match.start()])
        size += match.start() - last
        last = match.end()
        if label is not None:
            open_tags.append((size, words[label]))
            continue
        start, name = open_tags.pop()
        if start < size:
            spans.append((start, size, name))
    plain = "".join([*parts, reply[last:]])
    return plain, sorted(spans, key=lambda span: (span[0], -span[1]))


def _same_but_spaces(plain: str, text: str) -> dict[int, int] | None:
    """Offset of each character that is no white space in `text`; None if these differ."""
    ours = [at for at, character in enumerate(plain) if not character.isspace()]
    theirs = [at for at, character in enumerate(text) if not character.isspace()]
    if len(ours) != len(theirs):
        return None
    if any(plain[at] != text[other] for at, other in zip(ours, theirs, strict=True)):
        return None
    return dict(zip(ours, theirs, strict=True))


# ---------------------------------------------------------------- answers to questions


def read_answer(reader: Reader, reply: str, target: Target) -> Reading:
    """The reply is the answer, or a part of it is in quotation marks."""
    if says_nothing(reply, target):
        return Reading(())
    lines = [line.strip() for line in reply.strip().splitlines() if line.strip()]
    candidates = [lines[0], lines[0].strip("\"'“”‘’«»`.,;: ")]
    candidates += [text for text, _start, _end in quoted(reply)]
    return in_text(reader, candidates, target)


def in_text(reader: Reader, candidates: Iterable[str], target: Target) -> Reading:
    """The first place of the first candidate that the text contains."""
    chosen = [text for text in candidates if text.strip()]
    places = reader.places(target.text)
    for text in chosen:
        if ranges := places.of(text):
            return Reading(ranges[0])
    return Reading(no_answer="not-in-text", unplaced=tuple(chosen[:1]))


# ---------------------------------------------------------------- JSON


def json_in(reply: str) -> Any:
    """The first JSON object or array in a reply, or the reply as a JSON value.

    Raises ValueError if there is none.
    """
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    starts = [match.start() for match, _n in zip(
        regex.finditer(r"[{\[]", reply), range(MAX_JSON_STARTS), strict=False
    )]  # fmt: skip
    stripped = len(reply) - len(reply.lstrip())
    for start in dict.fromkeys([stripped, *starts]):
        try:
            return decoder.raw_decode(reply, start)[0]
        except (ValueError, RecursionError):  # one that is nested too deeply, too
            continue
    raise ValueError("no JSON")


def _no_constant(name: str) -> float:
    raise ValueError(name)


KEYS = {CLASS: "label", LABELS: "labels", NUMBER: "number", ANSWER: "answer"}
SPANS_KEY, CHOICE_KEY = "spans", "choice"


def key_of(target: Target) -> str:
    return CHOICE_KEY if target.choices else KEYS.get(target.output, SPANS_KEY)


def read_json(reader: Reader, reply: str, target: Target) -> Reading:
    try:
        raw = json_in(reply)
    except ValueError:
        return Reading(no_answer="no-json")
    key = key_of(target)
    if isinstance(raw, dict) and (key in raw or (len(raw) == 1 and key != SPANS_KEY)):
        raw = raw[key] if key in raw else next(iter(raw.values()))
    return _of_json(reader, raw, target) or Reading(no_answer="other-json")


def _of_json(reader: Reader, raw: Any, target: Target) -> Reading | None:
    """None for JSON of another form."""
    if target.choices:
        return _json_choice(raw, target)
    if target.output == CLASS:
        label = exactly(str(raw), target) if isinstance(raw, (str, int)) else None
        return None if label is None else Reading(label)
    if target.output == LABELS:
        return _json_labels(raw, target)
    if target.output == NUMBER:
        return _json_number(raw)
    if target.output == ANSWER:
        if raw is None or (isinstance(raw, str) and says_nothing(raw, target)):
            return Reading(())
        return in_text(reader, [raw], target) if isinstance(raw, str) else None
    return _json_spans(reader, raw, target)


def _json_choice(raw: Any, target: Target) -> Reading | None:
    label = choice(str(raw), target.choices) if isinstance(raw, (str, int)) else None
    return None if label is None else Reading(label)


def _json_labels(raw: Any, target: Target) -> Reading | None:
    if raw is None:
        return Reading(())
    items = raw if isinstance(raw, list) else [raw]
    labels = [exactly(item, target) if isinstance(item, str) else None for item in items]
    if any(label is None for label in labels):
        is_none = len(items) == 1 and isinstance(items[0], str) and says_nothing(items[0], target)
        return Reading(()) if is_none else None
    return Reading(tuple(label for label in target.labels if label in labels))


def _json_number(raw: Any) -> Reading | None:
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        return None
    try:
        value = number_in(raw) if isinstance(raw, str) else float(raw)
    except OverflowError:
        return None
    return None if value is None or not math.isfinite(value) else Reading(value)


def _json_spans(reader: Reader, raw: Any, target: Target) -> Reading | None:
    """A list of {"text", "label"}, or the strings of each label."""
    only = target.labels[0] if len(target.labels) == 1 else None
    mentions: list[tuple[str, str]] = []
    unknown: list[str] = []
    if isinstance(raw, dict):
        raw = [
            {"text": text, "label": name}
            for name, texts in raw.items()
            for text in (texts if isinstance(texts, list) else [texts])
        ]
    if not isinstance(raw, list):
        return None
    for item in raw[:MAX_QUOTES]:
        entry = item if isinstance(item, dict) else {"text": item}
        text, name = entry.get("text"), entry.get("label")
        if not isinstance(text, str):
            return None
        label = exactly(name, target) if isinstance(name, str) else only
        if label is None:
            unknown.append(text)
        else:
            mentions.append((text, label))
    return placed(reader, target, mentions, unknown)


# ---------------------------------------------------------------- patterns


def read_pattern(reader: Reader, reply: str, target: Target) -> Reading:
    """What the pattern finds is read as the answer: its first match, all of them for labels."""
    texts = reader.matches(reply)
    if texts is None:
        return Reading(no_answer="time-limit")
    if not texts:
        return Reading(no_answer="no-match")
    if target.output == LABELS:
        labels = [label for text in texts if (label := exactly(text, target)) is not None]
        nothing = says_nothing(texts[0], target)
        if not labels and not nothing:
            return Reading(no_answer="no-label")
        return Reading(tuple(label for label in target.labels if label in labels))
    if target.choices:
        return read_choice(reader, texts[0], target)
    if target.output == NUMBER:
        return read_number(reader, texts[0], target)
    if target.output == ANSWER:
        nothing = says_nothing(texts[0], target)
        return Reading(()) if nothing else in_text(reader, texts[:1], target)
    label = exactly(texts[0], target)
    return Reading(no_answer="no-label") if label is None else Reading(label)


# ---------------------------------------------------------------- reasons


def after_marker(reply: str, marker: str) -> str | None:
    """What follows the last marker, whatever its case; None without it."""
    last = None
    for match in regex.finditer(regex.escape(marker, literal_spaces=True), reply, regex.IGNORECASE):
        last = match.end()
    return None if last is None else reply[last:]
