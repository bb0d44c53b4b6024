"""GAP: an ambiguous pronoun and two names, in a table of tabs, as multiple choice.

The question is the part of the text around the pronoun, with a blank in its place; the choices are
both names and “neither”. The metadata has the pronoun, its gender, by which it is scored, and the
offsets of pronoun and names, see operations/evaluation/gap.py. Source: Webster et al. 2018 and
github.com/google-research-datasets, gap-coreference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    placed_span,
    show,
)
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import BLANK, choice_names, with_choices
from workbench.text.labels import ONE_OF, Label, Layer

COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref",
           "B", "B-offset", "B-coref")  # fmt: skip
LAYER = "referent"
PRONOUN, GENDER = "pronoun", "gender"  # names of the metadata
PLACES = OFFSET, *NAME_OFFSETS = ("offset", "offset_a", "offset_b")
MASCULINE, FEMININE = "masculine", "feminine"
NEITHER = "neither"  # the choice that none of the names is meant
_GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), MASCULINE),
    **dict.fromkeys(("she", "her", "hers", "herself"), FEMININE),
}
_TRUTH = {"true": True, "false": False}
_WORDS = 12  # of the context on each side of the pronoun
_BEFORE = re.compile(rf"(?:\S+\s+){{0,{_WORDS}}}\S*$")
_AFTER = re.compile(rf"\S*(?:\s+\S+){{0,{_WORDS}}}")


class GapImporter:
    def sniff(self, head: str, name: str) -> Guess:
        if tuple(_header(head)[: len(COLUMNS)]) == COLUMNS:
            return Guess(0.99, _("the columns of GAP: a pronoun and two names"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        columns = (_("text"), _("pronoun"), "A", "B", _("answer"))
        rows = []
        for line, row in _rows(source):
            if isinstance(row, Fault):
                continue
            answer = "A" if _is(row, "A") else "B" if _is(row, "B") else NEITHER
            cells = row["Text"], row["Pronoun"], row["A"], row["B"], answer
            rows.append(TableRow(line, cells))
            if len(rows) == limit:
                break
        return Table(columns, tuple(rows), (), _("multiple choice: which name a pronoun means"))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: the columns of GAP are fixed.", file=source.name),
                hint=_("Leave --map out."),
            )
        yield Layer(LAYER, ONE_OF.id, tuple(map(Label, choice_names(3))), 0)
        for line, row in _rows(source):
            try:
                if isinstance(row, Fault):
                    raise row
                record = _record(row)
                check(record)
                yield Row(line, record)
            except Fault as fault:
                yield Skipped(line, str(fault))


def _header(head: str) -> list[str]:
    return head.lstrip("\ufeff").partition("\n")[0].rstrip("\r").split("\t")


def _rows(source: Source) -> Iterator[tuple[int, dict[str, str] | Fault]]:
    """(line, cells by name) after the header; a Fault for a line of another length."""
    names: list[str] = []
    for number, line in enumerate(source.lines(), 1):
        cells = line.split("\t")
        if not names:
            names = _header(line)
            if not set(COLUMNS) <= set(names):
                missing = ", ".join(name for name in COLUMNS if name not in names)
                raise ImportFailed(
                    _("{file} lacks columns of GAP: {missing}.", file=source.name, missing=missing),
                    hint=_("Choose another format."),
                )
        elif line.strip() and len(cells) != len(names):
            yield (
                number,
                Fault(
                    ngettext(
                        "the row has {n} column, expected {wanted}",
                        "the row has {n} columns, expected {wanted}",
                        len(cells),
                        wanted=len(names),
                    )
                ),
            )
        elif line.strip():
            yield number, dict(zip(names, cells, strict=True))


def _is(row: Mapping[str, str], name: str) -> bool:
    """Whether the pronoun means a name. Raises Fault for another value than TRUE or FALSE."""
    value = row[f"{name}-coref"]
    if value.lower() not in _TRUTH:
        raise Fault(_("the answer is {value}, expected TRUE or FALSE", value=show(value)))
    return _TRUTH[value.lower()]


def _record(row: Mapping[str, str]) -> Record:
    text, pronoun = row["Text"], row["Pronoun"]
    start, end = _placed(row, "Pronoun")
    names = [_placed(row, name)[0] for name in ("A", "B")]
    right = [name for name in ("A", "B") if _is(row, name)]
    if len(right) > 1:
        raise Fault(_("both names are the answer, expected one or none"))
    before, after = _BEFORE.search(text[:start]), _AFTER.match(text[end:])
    parts = (before[0] if before else "", after[0] if after else "")
    question = BLANK.join(part.replace(BLANK, " ") for part in parts)
    document = with_choices(row["ID"], text, (row["A"], row["B"], NEITHER), question)
    meta: dict[str, object] = dict(zip(PLACES, (start, *names), strict=True))
    meta[PRONOUN] = pronoun
    if pronoun_gender := _GENDERS.get(pronoun.lower(), ""):
        meta[GENDER] = pronoun_gender
    answer = {"A": "1", "B": "2"}.get(right[0] if right else "", "3")
    return Record(replace(document, meta=meta), {LAYER: "submitted"}, {LAYER: (answer,)})


def _placed(row: Mapping[str, str], name: str) -> tuple[int, int]:
    """The offsets of the pronoun or a name. Raises Fault if the text is not there."""
    value = row[f"{name}-offset"]
    if not re.fullmatch(r"\d{1,9}", value):
        raise Fault(
            _("the offset of {name} is {value}, expected a number", name=name, value=show(value))
        )
    return placed_span(row["Text"], int(value), int(value) + len(row[name]), row[name])
