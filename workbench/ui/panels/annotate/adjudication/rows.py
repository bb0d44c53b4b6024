"""How the differences of a document are listed in adjudication, and how they are named. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.i18n import N_, _, ngettext
from workbench.operations.people.cases import BOTH as BOTH
from workbench.operations.people.cases import EDITED
from workbench.operations.people.cases import NEITHER as NEITHER
from workbench.operations.people.differences import BOUNDARY, LABEL, MISSED, TITLES, VALUE
from workbench.operations.people.reliability import MAJORITY
from workbench.text.result_view import NONE
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.people.adjudication import Difference, Sheet
    from workbench.operations.people.differences import Mark
    from workbench.operations.people.reliability import SuggestedVersion

CHIPS = {
    BOUNDARY: N_("boundary differs"),
    LABEL: N_("label differs"),
    VALUE: N_("value differs"),
}
LONG = 600  # code points of lines from which only the text around their differences is shown
AROUND = 120  # code points
NEARLY_ONE = 0.99  # probabilities above it are not told apart


@dataclass(frozen=True, slots=True)
class AgreeingLines:
    """Lines [first, after) of the sheet without a difference, in one text. marks: their labels."""

    first: int
    after: int
    marks: int


@dataclass(frozen=True, slots=True)
class DecidedRow:
    """A difference that is decided and not the current one."""

    difference: int


@dataclass(frozen=True, slots=True)
class OpenRow:
    """Differences to decide: of the document if first is -1, else in the lines [first, after)."""

    first: int
    after: int
    differences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FarRows:
    """Rows far from the current difference, of which only the number of differences is listed.

    before: above it. nearest: the number of their difference next to it.
    """

    before: bool
    count: int
    nearest: int


Row = AgreeingLines | DecidedRow | OpenRow | FarRows
BLOCK = 24  # rows; the block of the current one and its neighbours are listed


def near(rows: list[Row], current: int | None) -> list[Row]:
    """The rows around the current difference; the others are summed up before and after them."""
    if len(rows) <= 3 * BLOCK:
        return rows
    numbers = [_differences_of(row) for row in rows]
    at = next((at for at, some in enumerate(numbers) if current in some), 0)
    first, after = max(0, (at // BLOCK - 1) * BLOCK), (at // BLOCK + 2) * BLOCK
    above = [number for some in numbers[:first] for number in some]
    below = [number for some in numbers[after:] for number in some]
    listed = rows[first if above else 0 : after if below else None]
    if above:
        listed.insert(0, FarRows(True, len(above), above[-1]))
    if below:
        listed.append(FarRows(False, len(below), below[0]))
    return listed


def _differences_of(row: Row) -> tuple[int, ...]:
    if isinstance(row, OpenRow):
        return row.differences
    return (row.difference,) if isinstance(row, DecidedRow) else ()


@dataclass(frozen=True, slots=True)
class Block:
    """Lines [first, after) that are listed together, their differences and agreed labels."""

    first: int
    after: int
    differences: tuple[int, ...]
    marks: int


def blocks_of(sheet: Sheet) -> tuple[Block, ...]:
    blocks, at = [], 0
    while at < len(sheet.lines):
        after = _end_of_block(sheet, at)
        lines = sheet.lines[at:after]
        numbers = sorted({number for line in lines for number in line.differences})
        marks = sum(len(line.agreed) for line in lines)
        blocks.append(Block(at, after, tuple(numbers), marks))
        at = after
    return tuple(blocks)


def rows_of(sheet: Sheet, current: int | None, blocks: Sequence[Block] | None = None) -> list[Row]:
    """What is listed from top to bottom: differences of the whole document, then the lines.

    The current difference is listed as an open one even if it is decided. blocks: of the lines.
    """
    blocks = blocks_of(sheet) if blocks is None else blocks
    in_lines = {number for block in blocks for number in block.differences}
    whole = [number for number in range(len(sheet.differences)) if number not in in_lines]
    rows: list[Row] = [
        OpenRow(-1, -1, (number,)) if _is_open(sheet, number, current) else DecidedRow(number)
        for number in whole
    ]
    for block in blocks:
        if not block.differences:
            rows.append(AgreeingLines(block.first, block.after, block.marks))
            continue
        left = tuple(n for n in block.differences if _is_open(sheet, n, current))
        rows += [DecidedRow(n) for n in block.differences if n not in left]
        if left:
            rows.append(OpenRow(block.first, block.after, left))
    return rows


def _is_open(sheet: Sheet, number: int, current: int | None) -> bool:
    return number == current or sheet.differences[number].taken is None


def _end_of_block(sheet: Sheet, at: int) -> int:
    """Where the lines end that are shown together: those that agree, or share a difference."""
    lines, after = sheet.lines, at + 1
    if not lines[at].differences:
        while (
            after < len(lines)
            and not lines[after].differences
            and lines[after].field == lines[at].field
        ):
            after += 1
        return after
    numbers = set(lines[at].differences)
    while after < len(lines) and numbers.intersection(lines[after].differences):
        numbers |= set(lines[after].differences)
        after += 1
    return after


def range_of(sheet: Sheet, row: OpenRow | AgreeingLines) -> tuple[str, int, int]:
    """The text of a row: its field and code points. Of very long lines with differences, only the
    part around them.
    """
    lines = sheet.lines[row.first : row.after]
    field, start, end = lines[0].field, lines[0].start, lines[-1].end
    if isinstance(row, AgreeingLines):
        return field, start, end
    places = [
        (mark.start, mark.end)
        for number in row.differences
        for version in sheet.differences[number].versions
        for mark in version or ()
        if mark.start is not None and mark.end is not None
    ]
    start = min([start, *(place[0] for place in places)])  # a relation may lead to other lines
    end = max([end, *(place[1] for place in places)])
    if not places or end - start <= LONG:
        return field, start, end
    low = min(place[0] for place in places) - AROUND
    high = max(place[1] for place in places) + AROUND
    text = sheet.document.content(field)
    if low > start:
        start = max(start, text.rfind(" ", start, low) + 1)
    if high < end:
        space = text.find(" ", high, end)
        end = space if space >= 0 else end
    return field, start, end


# ---------------------------------------------------------------- words


def title_of(sheet: Sheet, row: OpenRow | AgreeingLines, texts: Sequence[str] = ()) -> str:
    """ "Line 5", "Lines 5 to 7"; for several texts with the name of the text, of `texts` by field.

    Of a difference of the whole document: its layer.
    """
    if row.first < 0 and isinstance(row, OpenRow):
        return sheet.differences[row.differences[0]].layer.name
    field = sheet.lines[row.first].field
    before = sum(1 for line in sheet.lines[: row.first] if line.field == field)
    first, last = before + 1, before + row.after - row.first
    fields = sheet.document.fields
    if len(fields) > 1 and texts:
        name = texts[fields.index(field)]
        if first == last:
            return _("{text}, line {n}", text=name, n=first)
        return _("{text}, lines {first} to {last}", text=name, first=first, last=last)
    if first == last:
        return _("Line {n}", n=first)
    return _("Lines {first} to {last}", first=first, last=last)


def agreeing_text(title: str, row: AgreeingLines) -> str:
    if row.after - row.first == 1:
        return (
            ngettext("{line} agrees, {n} label", "{line} agrees, {n} labels", row.marks, line=title)
            if row.marks
            else _("{line} agrees", line=title)
        )
    return (
        ngettext("{lines} agree, {n} label", "{lines} agree, {n} labels", row.marks, lines=title)
        if row.marks
        else _("{lines} agree", lines=title)
    )


def version_text(difference: Difference, number: int) -> str:
    """What one version says, as it is listed: the words, or the label where the words are equal.

    Of chains, the mentions of each; of a question, the answers.
    """
    marks, traits = difference.versions[number], difference.layer.traits
    if marks is None:
        return _("not labelled")
    if not marks:
        return _("question left out") if traits.asks else NONE
    if traits.in_chains:
        return "; ".join(chain_texts(marks))
    return ", ".join(mark_text(difference, mark) for mark in marks)


def chain_texts(marks: Sequence[Mark]) -> list[str]:
    """The mentions of each chain: "chain 1: Ada, She"."""
    chains: dict[int, list[str]] = {}
    for mark in marks:
        chains.setdefault(mark.chain or 0, []).append(" ".join(mark.text.split()))
    return [
        _("chain {n}: {mentions}", n=n, mentions=", ".join(words))
        for n, words in sorted(chains.items())
    ]


def question_of(difference: Difference) -> str:
    """The question of a difference between answers; "" for other differences."""
    if not difference.layer.traits.asks:
        return ""
    return next((mark.label for version in difference.versions for mark in version or ()), "")


def caption(difference: Difference, mark: Mark) -> str:
    """Below the words of a label in the text."""
    if not difference.layer.traits.in_chains or mark.chain is None:
        return mark.label
    if len(difference.layer.labels) > 1:
        return _("{label}, chain {n}", label=mark.label, n=mark.chain)
    return _("chain {n}", n=mark.chain)


def mark_text(difference: Difference, mark: Mark) -> str:
    if difference.layer.traits.asks and mark.start is None and mark.label:
        return _("no answer")
    if difference.kind == LABEL or (difference.start is None and mark.label):
        return mark.label
    return " ".join(mark.text.split()) or mark.label


def versions_text(difference: Difference) -> str:
    """All versions in a line: "delay or crowding"."""
    texts = [
        version_text(difference, number)
        for number, version in enumerate(difference.versions)
        if version is not None
    ]
    names = tuple(dict.fromkeys(texts))
    if len(names) == 2:
        return _("{first} or {second}", first=names[0], second=names[1])
    return ", ".join(names)


def taken_text(difference: Difference) -> str:
    """The decision, in a few words; "" if there is none."""
    taken = difference.taken
    if taken is None:
        return ""
    if taken == BOTH:
        return _("both taken")
    if taken == NEITHER:
        return _("neither taken")
    if taken == EDITED:
        return _("edited")
    number = int(taken)
    return _("{n} taken: {version}", n=number + 1, version=version_text(difference, number))


def chip_text(difference: Difference) -> str:
    if difference.kind != MISSED:
        return _(CHIPS[difference.kind])
    versions = [version for version in difference.versions if version is not None]
    number, every = sum(map(bool, versions)), len(versions)
    if every == 2:
        return _("only in one")
    return ngettext(
        "in {n} of {all} version", "in {n} of {all} versions", every, n=number, all=every
    )


def kind_text(difference: Difference, text: str) -> str:
    """The kind of a difference; of a boundary with the words at the edge. text: of its field."""
    kind = _(TITLES[difference.kind])
    edges = edge_words(difference, text) if difference.kind == BOUNDARY else ()
    if not edges:
        return kind
    return _("{kind}: “{words}”", kind=kind, words=" … ".join(edges))


def edge_words(difference: Difference, text: str) -> tuple[str, ...]:
    """The words that some versions cover and others do not, at the start and at the end."""
    marks = [version[0] for version in difference.versions if version]
    places = [(m.start, m.end) for m in marks if m.start is not None and m.end is not None]
    if len(places) < 2:
        return ()
    starts, ends = [start for start, _end in places], [end for _start, end in places]
    parts = text[min(starts) : max(starts)], text[min(ends) : max(ends)]
    return tuple(" ".join(part.split()) for part in parts if part.strip())


# ---------------------------------------------------------------- suggested versions


def support_text(suggested: SuggestedVersion, method: str) -> str:
    """How well a version is supported: "2 of 3", or a probability."""
    if method == MAJORITY:
        return _("{n} of {all}", n=len(suggested.people), all=suggested.of)
    if suggested.score > NEARLY_ONE:
        return _("p > {p}", p=formats.decimal(NEARLY_ONE, 2))
    return _("p = {p}", p=formats.decimal(suggested.score, 2))


def suggested_chip(suggested: SuggestedVersion, method: str) -> str:
    return _(
        "suggested: {n} ({support})", n=suggested.take + 1, support=support_text(suggested, method)
    )


def suggested_text(difference: Difference, suggested: SuggestedVersion, method: str) -> str:
    return _(
        "{n}: {version}, {support}",
        n=suggested.take + 1,
        version=version_text(difference, suggested.take),
        support=support_text(suggested, method),
    )
