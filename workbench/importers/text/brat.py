"""brat's standoff annotations: NAME.ann beside NAME.txt, which is one document.

Source: brat.nlplab.org/standoff.html. The arguments of an event become relations from its trigger,
named after their role. Equivalences become chains of coreference, notes and attributes without a
value become notes and flags of their spans. Attributes with values, normalizations, and what
belongs to a relation are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.importers.base import (
    Fault,
    Guess,
    Hint,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    TableRow,
    check,
    show,
    unique_spans,
)
from workbench.importers.offsets import Counting, Offsets, Quote
from workbench.importers.source import Source
from workbench.text import remarks as marks
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import CLUSTER
from workbench.text.relations import Relation
from workbench.text.spans import Place, Span, joined

ENDING = ".ann"
_LINE = re.compile(r"(?:T\d+\t\S+ \d+ \d+|[REAMN]\d+\t\S+[ :]|\*\t\S+ T|#\d*\t)")
_SPAN = re.compile(r"(T\d+)\t(\S+) (\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)(?:\t(.*))?$")
_RELATION = re.compile(r"R\d+\t(\S+) \S+?:([TE]\d+) \S+?:([TE]\d+)\s*$")
_EVENT = re.compile(r"(E\d+)\t(\S+?):(T\d+)((?: \S+?:[TE]\d+)*)\s*$")
_EQUIVALENCE = re.compile(r"\*\t\S+((?: [TE]\d+)+)\s*$")
_FLAG = re.compile(r"[AM]\d+\t(\S+) ([TE]\d+)\s*$")
_NOTE = re.compile(r"#\d*\t\S+ ([TE]\d+)\t(.*\S)")
_OTHERS = {
    "*": N_("equivalences"),
    "A": N_("attributes"),
    "M": N_("attributes"),
    "N": N_("normalizations"),
    "#": N_("notes"),
}
_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")  # where brat ends a line
_LINES = 200  # number of lines examined to recognize the format


class BratImporter:
    def sniff(self, head: str, name: str) -> Guess:
        lines = [line for line in head.lstrip("\ufeff").split("\n") if line.strip()][:_LINES]
        fitting = sum(bool(_LINE.match(line)) for line in lines)
        mine = name.lower().endswith(ENDING)
        if (mine and not lines) or (lines and fitting > 0.8 * len(lines) and (mine or fitting > 1)):
            return Guess(0.96, _("annotations of spans by offsets, as brat stores them"))
        return Guess(0.3 if mine else 0.0, _("the name ends in {ending}", ending=ENDING))

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        text_of(source)
        rows = []
        for number, line in enumerate(source.lines(), 1):
            if line.startswith("T"):
                name, _tab, rest = line.partition("\t")
                kind, _tab, covered = rest.partition("\t")
                label, _space, offsets = kind.partition(" ")
                rows.append(TableRow(number, (name, label, offsets, covered)))
            if len(rows) == limit:
                break
        return Table(
            (_("id"), _("label"), _("offsets"), _("text")),
            tuple(rows),
            (),
            _(
                "annotations of brat; the text is in {name}",
                name=source.path.with_suffix(".txt").name,
            ),
        )

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        if options.mapping:
            raise ImportFailed(
                _("{file}: annotations of brat have no columns.", file=source.name),
                hint=_("Omit --map; --layer chooses the layer of the spans."),
            )
        offsets = Offsets()
        parts = _Parts()
        try:
            parts.counting = _counting(source, offsets, parts)
            for number, line in enumerate(source.lines(), 1):
                parts.take(number, line)
            text = parts.counting.text
            record = parts.record(Document(source.path.stem, ((TEXT, text),)), options)
            parts.line = 1
            check(record)
        except Fault as fault:
            yield Skipped(parts.line, str(fault))
            return
        if options.chain_layer in record.spans:
            yield Hint(options.chain_layer, CLUSTER)
        yield Row(1, record)
        yield from (Remark(message) for message in _remarks(source.name, parts.left))
        yield from (Remark(message) for message in offsets.remarks(source.name))


def annotations_of(path: Path) -> Path | None:
    """The annotations beside a text file, if there are any."""
    beside = path.with_suffix(ENDING)
    return beside if path.suffix.lower() == ".txt" and beside.is_file() else None


def text_of(source: Source) -> str:
    """The text that the annotations belong to. Raises ImportFailed if it is missing."""
    path = source.beside(source.path.with_suffix(".txt"))
    if not path.is_file():
        raise ImportFailed(
            _(
                "The text {text} of the brat annotations {name} is missing.",
                name=source.name,
                text=path.name,
            ),
            hint=_("Put both files into the same folder."),
        )
    return Source(path).text()


def _counting(source: Source, offsets: Offsets, parts: _Parts) -> Counting:
    """How the offsets of a file are counted. Raises Fault, with the line of `parts` set."""
    places: dict[int, Quote] = {}
    for number, line in enumerate(source.lines(), 1):
        if (match := _SPAN.match(line)) and match[4] and match[4].strip():
            places[number] = Quote(_pieces(match[3]), match[4])
    text = text_of(source)
    try:
        return offsets.counting(text, places.values())
    except Fault:
        usual = Counting(text)
        parts.line = next(number for number, its in places.items() if not usual.holds(its))
        raise


@dataclass
class _Parts:
    """The annotations of a file. `line`: the one that is being read or resolved."""

    counting: Counting = field(default_factory=lambda: Counting(""))
    spans: dict[str, Span] = field(default_factory=dict)  # T1 → span
    triggers: dict[str, str] = field(default_factory=dict)  # E1 → T1
    links: list[tuple[int, str, str, str]] = field(default_factory=list)  # line, label, from, to
    equals: list[tuple[int, list[str]]] = field(default_factory=list)  # line, names
    remarks: list[tuple[str, str, str]] = field(default_factory=list)  # kind, text, name of span
    left: Counter[str] = field(default_factory=Counter)  # what is not imported → how often
    line: int = 1

    def take(self, number: int, line: str) -> None:
        """Read a line. Raises Fault."""
        self.line = number
        if not line.strip():
            return
        if line[0] == "T":
            name, span = _span(line, self.counting)
            self.spans[name] = span
        elif line[0] == "R":
            if not (match := _RELATION.match(line)):
                raise Fault(_("{line} is not a relation of two spans", line=show(line[:60])))
            label, first, second = match.groups()
            self.links.append((number, label, first, second))
        elif line[0] == "E":
            if not (match := _EVENT.match(line)):
                raise Fault(_("{line} is not an event", line=show(line[:60])))
            name, _type, trigger, arguments = match.groups()
            self.triggers[name] = trigger
            for role, target in (part.rsplit(":", 1) for part in arguments.split()):
                self.links.append((number, role.rstrip("0123456789") or role, trigger, target))
        elif line[0] in _OTHERS:
            self._take_other(number, line)
        else:
            raise Fault(
                _(
                    "the line begins with {word}, expected T, R, E, A, M, N, * or #",
                    word=show(line[:20]),
                )
            )

    def _take_other(self, number: int, line: str) -> None:
        if match := _EQUIVALENCE.match(line):
            self.equals.append((number, match[1].split()))
        elif match := _FLAG.match(line):
            self.remarks.append((marks.FLAG, match[1], match[2]))
        elif match := _NOTE.match(line):
            self.remarks.append((marks.NOTE, match[2], match[1]))
        else:
            self.left[line[0]] += 1

    def record(self, document: Document, options: Options) -> Record:
        """The document with its labels. Raises Fault for names that the file does not have."""
        layers = {options.span_layer: unique_spans(list(self.spans.values()))} if self.spans else {}
        if chained := self._chained():
            layers[options.chain_layer] = chained
        linked = self._relations()
        relations = {options.relation_layer: linked} if linked else {}
        states = dict.fromkeys((*layers, *relations), "submitted")
        remarks = self._remarks(options.span_layer)
        return Record(document, states, {}, layers, relations=relations, remarks=remarks)

    def _relations(self) -> tuple[Relation, ...]:
        relations: dict[Relation, None] = {}
        message = _("the relation {label} names {name}, which the file does not have")
        for number, label, *names in self.links:
            first, second = (self._named(number, message, name, label) for name in names)
            relations[Relation(label, first, second)] = None
        return tuple(relations)

    def _chained(self) -> tuple[Span, ...]:
        """Copies of the equivalent spans, with the numbers of their chains from 1."""
        chains: list[dict[str, Span]] = []
        message = _("the equivalence names {name}, which the file does not have")
        for number, names in self.equals:
            spans = {self._trigger(name): self._named(number, message, name) for name in names}
            for other in [chain for chain in chains if not chain.keys().isdisjoint(spans)]:
                chains.remove(other)  # a span that two equivalences share joins them
                spans = other | spans
            chains.append(spans)
        return tuple(
            dict.fromkeys(
                replace(span, chain=number)
                for number, chain in enumerate(chains, 1)
                for span in chain.values()
            )
        )

    def _remarks(self, layer: str) -> tuple[marks.DocumentRemark, ...]:
        """Notes, joined where a span has several, and flags; those of no span are counted."""
        notes: dict[Place, list[str]] = {}
        flags: dict[marks.DocumentRemark, None] = {}
        for kind, text, name in self.remarks:
            span = self._span_of(name)
            if span is None:
                self.left["#" if kind == marks.NOTE else "A"] += 1
            elif kind == marks.NOTE:
                notes.setdefault(span.place, []).append(text)
            else:
                flags[marks.DocumentRemark(kind, text, layer, span.place)] = None
        joint = ("\n".join(texts) for texts in notes.values())
        written = (
            marks.DocumentRemark(marks.NOTE, text, layer, place)
            for place, text in zip(notes, joint, strict=True)
        )
        return (*written, *flags)

    def _named(self, line: int, message: str, name: str, label: str = "") -> Span:
        """The span, or that of the event, of a name. Raises Fault with `message` if it has none."""
        self.line = line
        if (span := self._span_of(name)) is None:
            raise Fault(message.format(label=show(label), name=name))
        return span

    def _span_of(self, name: str) -> Span | None:
        return self.spans.get(self._trigger(name))

    def _trigger(self, name: str) -> str:
        """The name of the span of an event; other names as they are."""
        return self.triggers.get(name, name)


def _pieces(offsets: str) -> tuple[tuple[int, int], ...]:
    """ "0 5;10 15" → ((0, 5), (10, 15))"""
    pairs = (piece.split(" ") for piece in offsets.split(";"))
    return tuple((int(start), int(end)) for start, end in pairs)


def _span(line: str, counting: Counting) -> tuple[str, Span]:
    """The name and the span of a line. Raises Fault."""
    match = _SPAN.match(line)
    if not match:
        raise Fault(
            _(
                "{line} is not a span of the form “T1, tab, PER 0 5, tab, words”",
                line=show(line[:60]),
            )
        )
    name, label, offsets, _covered = match.groups()
    pieces = [counting.span(start, end) for start, end in _pieces(offsets)]
    parts = joined(_over_line_breaks(pieces, counting.text))
    more = parts if len(parts) > 1 else ()
    return name, Span(parts[0][0], parts[-1][1], label, parts=more)


def _over_line_breaks(pieces: list[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """The pieces, and the line breaks between two of them: brat divides a span there."""
    before = None
    for start, end in pieces:
        if before is not None and before < start and _BREAKS.fullmatch(text, before, start):
            yield before, start
        yield start, end
        before = end


def _remarks(name: str, left: Counter[str]) -> Iterator[str]:
    kinds: Counter[str] = Counter()
    for sign, n in left.items():
        kinds[_(_OTHERS[sign])] += n
    if kinds := +kinds:
        listed = ", ".join(f"{kind} ({n:,})" for kind, n in sorted(kinds.items()))
        yield _("{name}: not imported: {kinds}.", name=name, kinds=listed)
