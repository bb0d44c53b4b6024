"""The guideline of a layer: Markdown with a heading per label, and examples as items of lists.

An example is an item that begins with ✓ or ✗: the words in context with the marked range in bold
and brackets, then the key of their document as code. Lines that are indented below it are a remark.

    ## PER
    - ✓ We met [**Dr Lovelace**] in London. `doc-12`
      - Titles belong to the name.

So it is read and edited as text, here and elsewhere. Offsets are code points, end exclusive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.text.sentences import sentences

if TYPE_CHECKING:
    from workbench.text.labels import Layer

GOOD, BAD = "✓", "✗"
EXCERPT = 60  # characters of an example in a message
_GOOD, _BAD = "✓✔☑", "✗✘✕☒"  # what is read as such
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(rf"( {{0,3}})[-*+][ \t]+([{_GOOD}{_BAD}])\ufe0f?[ \t]+(\S.*)$")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_KEY = re.compile(r"(?:^|[ \t])(`+)(.+?)(?<!`)\1(?!`)[ \t]*$")
_MARK = re.compile(r"\[\*\*(.+?)\*\*\]|(?<!\*)\*\*(?!\*)(.+?)\*\*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SPECIAL = re.compile(
    r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)|(?<=~)~"
)
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-*:?\s*)*$")
_AFTER_NAME = re.compile(r"\s*$|\s*[:–—(,/]\s*|\s+-\s+")
_PICTURE_OR_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|~~)")
_HIDDEN = 0x10FF00  # private code points that stand for escaped characters while a line is read
_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Example:
    """label: its name. text: words in context on one line, of which [start, end) is marked, nothing
    if they are equal. key: of the document.
    """

    label: str
    text: str
    start: int = 0
    end: int = 0
    positive: bool = True
    remark: str = ""
    key: str = ""

    @property
    def marked(self) -> str:
        return self.text[self.start : self.end]

    def is_same(self, other: Example) -> bool:
        """Whether both mark the same words of the same context for a label."""
        return (self.label, self.text, self.start, self.end) == (
            other.label, other.text, other.start, other.end,
        )  # fmt: skip


def one_line(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The text with each run of white space as one space, none at its ends nor those of [start,
    end), and where that range is in it.
    """
    before, marked, after = (
        re.sub(r"\s+", " ", part) for part in (text[:start], text[start:end], text[end:])
    )
    if marked.startswith(" "):
        before, marked = before.rstrip() + " ", marked[1:]
    if marked.endswith(" "):
        marked, after = marked[:-1], " " + after.lstrip()
    before, after = before.lstrip(), after.rstrip()
    return before + marked + after, len(before), len(before) + len(marked)


# ---------------------------------------------------------------- writing and reading an example


def as_lines(example: Example) -> list[str]:
    """The lines of an example in a guideline."""
    text, start, end = example.text, example.start, example.end
    marked = f"[**{escaped(text[start:end])}**]" if start < end else ""
    after = escaped(text[end:])
    if marked and after.startswith("("):  # else it would be a link
        after = "\\" + after
    key = f" {_code(example.key)}" if example.key else ""
    sign = GOOD if example.positive else BAD
    lines = [f"- {sign} {escaped(text[:start])}{marked}{after}{key}"]
    if remark := " ".join(example.remark.split()):
        lines.append(f"  - {escaped(remark)}")
    return lines


def escaped(text: str) -> str:
    """Plain text as Markdown."""
    return _SPECIAL.sub(lambda match: "\\" + match.group(), text)


def _code(text: str) -> str:
    text = " ".join(text.split())
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _hidden(text: str) -> str:
    """A line in which escaped characters are no marks; `_SHOWN` maps them back."""
    return _ESCAPED.sub(lambda match: chr(_HIDDEN + ord(match[1])), text)


_SHOWN = {_HIDDEN + code: chr(code) for code in range(128)}


def _read(label: str, sign: str, line: str, remark: Sequence[str]) -> Example:
    key = ""
    if match := _KEY.search(line.removesuffix("\\")):  # a backslash at the end breaks the line
        line, key = line[: match.start()], match[2]
        if len(key) > 2 and key[0] == key[-1] == " " and key.strip():
            key = key[1:-1]
    line = _hidden(line).rstrip("\\ \t")
    mark = _MARK.search(line)
    parts = (line, "", "")
    if mark is not None:
        parts = line[: mark.start()], mark[1] or mark[2], line[mark.end() :]
    before, marked, after = (part.translate(_SHOWN) for part in parts)
    text = f"{before}{marked}{after}".rstrip()
    start = len(before) if marked else 0
    words = " ".join(_BULLET.sub("", part).strip("\\ \t") for part in remark)
    return Example(
        label, text, start, min(start + len(marked), len(text)), sign in _GOOD,
        _hidden(words).translate(_SHOWN), key,
    )  # fmt: skip


# ---------------------------------------------------------------- sections


@dataclass(frozen=True, slots=True)
class Heading:
    """line: its number. end: of the section, before the next heading of this level or above; own:
    before the next one of any level. label: that it is about, "" for others.
    """

    line: int
    level: int
    title: str
    label: str
    own: int
    end: int


def lines_of(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def headings(lines: Sequence[str], names: Sequence[str]) -> list[Heading]:
    """The headings in order. names: of the labels of the layer."""
    at = [
        (number, len(match[1]), plain(match[2] or ""))
        for number, line in _outside_code(lines)
        if (match := _HEADING.match(line))
    ]
    every = []
    for place, (number, level, title) in enumerate(at):
        after = at[place + 1 :]
        own = after[0][0] if after else len(lines)
        end = next((line for line, other, _title in after if other <= level), len(lines))
        every.append(Heading(number, level, title, label_of(title, names), own, end))
    return every


def label_of(title: str, names: Sequence[str]) -> str:
    """The label that a heading, or the first words of a cell or item are about; "" if none."""
    title = title.strip()
    if title in names:
        return title
    for name in sorted(names, key=len, reverse=True):
        if title[: len(name)].casefold() == name.casefold() and _AFTER_NAME.match(title, len(name)):
            return name
    return ""


def _outside_code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines that are not in a block of code, with their numbers."""
    fence = ""
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and line.strip() == match[1]:
                fence = ""
        elif match:
            fence = match[1]
        else:
            yield number, line


def plain(text: str) -> str:
    """A line of Markdown without its marks of emphasis, code and links."""
    text = _MARK.sub(lambda match: match[1] or match[2], _hidden(text))
    text = _EMPHASIS.sub("", _PICTURE_OR_LINK.sub(r"\1", text)).replace("`", "")
    return " ".join(text.translate(_SHOWN).split())


# ---------------------------------------------------------------- examples


def examples(text: str, names: Sequence[str]) -> tuple[Example, ...]:
    """The examples of a guideline in order, each with the label of the heading above it."""
    return tuple(example for _first, _last, example in _placed(lines_of(text), names))


def _placed(lines: Sequence[str], names: Sequence[str]) -> Iterator[tuple[int, int, Example]]:
    """(first line, line after the last, example)"""
    sections = headings(lines, names)
    for number, line in _outside_code(lines):
        match = _ITEM.match(line)
        if match is None:
            continue
        last = number + 1
        while last < len(lines) and re.match(rf"{match[1]}(?: {{2,}}|\t)\S", lines[last]):
            last += 1
        around = (item for item in reversed(sections) if item.line < number < item.end)
        label = next((item.label for item in around if item.label), "")
        yield number, last, _read(label, match[2], match[3], lines[number + 1 : last])


def unmarked(text: str) -> str:
    """The guideline with the texts of its examples as they were in their documents."""
    lines = lines_of(text)
    for number, _last, example in _placed(lines, ()):
        lines[number] = example.text
    return "\n".join(lines)


def with_example(text: str, example: Example, names: Sequence[str]) -> str:
    """The guideline with an example below the heading of its label, which is added if there is
    none, after its other examples.

    Raises SpecError if the same words are an example of the label already.
    """
    lines, new = lines_of(text), as_lines(example)
    stored = _read(example.label, *_parts(new[0]), ())  # as it will be read
    for _first, _last, other in _placed(lines, names):
        if other.is_same(stored):
            raise SpecError(_already(other))
    sections = headings(lines, names)
    section = next((item for item in sections if item.label == example.label), None)
    if section is None:
        level = next((item.level for item in sections if item.label), 2)
        heading = f"{'#' * level} {escaped(example.label)}"
        above = [*_trimmed(lines), ""] if text.strip() else []
        return "\n".join([*above, heading, "", *new, ""])
    inside = [last for _first, last, other in _placed(lines, names) if other.label == example.label]
    if inside:
        at, before = inside[-1], []
    else:
        at = section.line + len(_trimmed(lines[section.line : section.own]))
        before = [""]
    goes_on = at < len(lines) and (not lines[at].strip() or _BULLET.match(lines[at]))
    after = [] if goes_on else [""]
    return "\n".join([*lines[:at], *before, *new, *after, *lines[at:]])


def _parts(line: str) -> tuple[str, str]:
    match = _ITEM.match(line)
    return (match[2], match[3]) if match else (GOOD, "")


def _trimmed(lines: Sequence[str]) -> list[str]:
    """Without empty lines at the end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return list(lines[:end])


def excerpt(example: Example) -> str:
    """The marked words, or the beginning of the text."""
    words = example.marked or example.text
    return words if len(words) <= EXCERPT else f"{words[: EXCERPT - 1]}…"


def _already(example: Example) -> str:
    words = excerpt(example)
    if example.positive:
        return _(
            "“{words}” is already an example of {label} here.", words=words, label=example.label
        )
    return _(
        "“{words}” is already an example of what is not {label} here.",
        words=words,
        label=example.label,
    )


def renamed(text: str, old: str, name: str, names: Sequence[str]) -> str:
    """The guideline with another name of a label in the headings that are about it.

    names: of the labels, before the change.
    """
    lines = lines_of(text)
    for section in headings(lines, names):
        if section.label == old:
            written = escaped(old) if escaped(old) in lines[section.line] else old
            lines[section.line] = lines[section.line].replace(written, escaped(name), 1)
    return "\n".join(lines)


# ---------------------------------------------------------------- one label


def sentence_for(layer: Layer, label: str) -> str:
    """What the guideline says about a label, as one plain sentence.

    From the section of the label, else the row of a table or the item that begins with it; else
    its description, "" if it has none.
    """
    names, lines = layer.names, lines_of(layer.guideline)
    for section in headings(lines, names):
        if section.label == label and (sentence := _of_section(section, lines, label)):
            return sentence
    for _number, line in _outside_code(lines):
        if sentence := _beside_name(line, label, names):
            return sentence
    return next((item.description for item in layer.labels if item.name == label), "")


def _of_section(section: Heading, lines: Sequence[str], label: str) -> str:
    block: list[str] = []
    for _number, line in _outside_code(lines[section.line + 1 : section.own]):
        is_text = line.strip() and not _ITEM.match(line) and not _CELLS.search(line)
        if is_text and block and _BULLET.match(line):
            break
        if is_text:
            block.append(_BULLET.sub("", line).lstrip("> "))
        elif block:
            break
    words = plain(" ".join(block))
    if not words:
        rest = section.title[len(label) :]
        words = rest.strip(" :–—-(,/)")
    ranges = sentences(words)
    return words[: ranges[0][1]] if ranges else ""


def _beside_name(line: str, label: str, names: Sequence[str]) -> str:
    """The rest of a row of a table or of an item that begins with the label."""
    if _CELLS.search(line) and not _RULE.match(line):
        first, *others = [plain(cell) for cell in _CELLS.split(line.strip().strip("|"))]
        is_its = label_of(first, names) == label
        return next((cell for cell in others if cell), "") if is_its else ""
    item = _BULLET.match(line)
    if item is None or _ITEM.match(line):
        return ""
    words = plain(line[item.end() :])
    return words[len(label) :].strip(" :–—-,/") if label_of(words, names) == label else ""


# ---------------------------------------------------------------- two versions of a guideline


def merged(base: str | None, here: str, there: str, *, name: str) -> str:
    """Both changes of a guideline, line by line; lines that both changed are in it twice.

    base: what both began with; None if that is not known. name: of the file of `there`.
    """
    one, other = lines_of(here), lines_of(there)
    if base is None:
        matcher = SequenceMatcher(None, one, other, autojunk=False)
        common = [line for at, _b, n in matcher.get_matching_blocks() for line in one[at : at + n]]
    else:
        common = lines_of(base)
    result: list[str] = []
    for old, mine, theirs in _chunks(common, one, other):
        if mine == theirs or theirs == old:
            result += mine
        elif mine == old:
            result += theirs
        elif not _trimmed(old) or _are_rows((*mine, *theirs)):
            result += _union(mine, theirs)
        else:
            result += _both(mine, theirs, name)
    return "\n".join(result)


def _chunks(
    base: list[str], one: list[str], other: list[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """The parts of three texts, in turn equal in all and not.

    Source: Khanna, Kunal and Pierce 2007, "A formal investigation of diff3".
    """
    to_one, to_other = (_matches(base, text) for text in (one, other))
    at, a, b = 0, 0, 0
    for line in [*range(len(base)), None]:
        if line is not None and not (line in to_one and line in to_other):
            continue
        end = (len(base), len(one), len(other)) if line is None else (
            line, to_one[line], to_other[line],
        )  # fmt: skip
        if (at, a, b) != end:
            yield base[at : end[0]], one[a : end[1]], other[b : end[2]]
        if line is not None:
            yield [base[line]], [base[line]], [base[line]]
            at, a, b = (number + 1 for number in end)


def _matches(base: list[str], text: list[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, text, autojunk=False).get_matching_blocks()
    return {at + step: to + step for at, to, n in blocks for step in range(n)}


def _are_rows(lines: Sequence[str]) -> bool:
    return all(line.lstrip().startswith("|") for line in lines)


def _union(mine: list[str], theirs: list[str]) -> list[str]:
    """Mine, then what only they have."""
    return [*mine, *(line for line in theirs if line not in mine or not line.strip())]


def _both(mine: list[str], theirs: list[str], name: str) -> list[str]:
    here, there = _("Version of this project"), _("Version of {name}", name=name)
    return [
        *("", f"> **{here}**", "", *mine),
        *("", f"> **{escaped(there)}**", "", *theirs, ""),
    ]
