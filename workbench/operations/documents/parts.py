"""Split documents into sentences or paragraphs, and join them again. Each is one undo step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.base.i18n import N_, _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.documents.corpus import STORED, documents_of
from workbench.operations.schema import labels as layers
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.documents import parts as stored
from workbench.storage.labels import labels as store
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import MARKS, Layer
from workbench.text.parts import COUNT, OF, UNIT, divided, is_part, joined, key_of
from workbench.text.rows import row_id
from workbench.text.sentences import Range, joined_over, units_of

CHUNK_DOCUMENTS = 100  # documents whose texts are in memory
CONTEXT = 240  # code points of the neighbouring parts that are shown

SEVERAL_TEXTS = N_("several texts")
A_PART = N_("already a part of a document")
ONE_PART = N_("a single part")
ON_WHOLE = N_("labels of the whole document")
ACROSS = N_("chains or spans that cross the boundaries of parts")
NO_PART = N_("not a part of a document")
MISSING = N_("parts that are missing")


@dataclass(frozen=True)
class Divided:
    """`documents` and `parts`: how many; `kept`: reason → number of documents left as they are."""

    documents: int
    parts: int
    kept: Mapping[str, int]


# ---------------------------------------------------------------- split


def preview(project: Project, ids: Sequence[int], unit: str, *, watch: Watch = QUIET) -> Divided:
    """What `split` would do."""
    skipped: Counter[str] = Counter()
    done = parts = 0
    for chunk in watch.over(list(ids), CHUNK_DOCUMENTS):
        for document in documents_of(project, chunk):
            ranges = _ranges(project, document, unit)
            if isinstance(ranges, str):
                skipped[ranges] += 1
            else:
                done, parts = done + 1, parts + len(ranges)
    return Divided(done, parts, skipped)


def split(
    project: Project,
    ids: Sequence[int],
    unit: str,
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> Divided:
    """Replace documents by their sentences or paragraphs, with the labels in them.

    Units that a span or a relation extends over stay together. Documents that cannot be divided
    without loss are left as they are: with labels of the whole document, chains across parts,
    several texts, or a single unit.
    """
    skipped: Counter[str] = Counter()
    done = parts = 0
    title = _("Split documents into parts")
    with project.edit(title, origin=origin, watch=watch.part(STORED, 1.0)):
        for chunk in watch.part(0.0, STORED).over(list(ids), CHUNK_DOCUMENTS):
            sources = stored.batch_sources(project.db, chunk)
            gone = []
            for document in documents_of(project, chunk):
                ranges = _ranges(project, document, unit)
                if isinstance(ranges, str):
                    skipped[ranges] += 1
                    continue
                id = row_id(document)
                source = sources.get(id) or project.source("person")
                _divide(project, document, ranges, unit, source)
                done, parts = done + 1, parts + len(ranges)
                gone.append(id)
            documents.delete(project.db, gone)
    return Divided(done, parts, skipped)


def _ranges(project: Project, document: Document, unit: str) -> tuple[Range, ...] | str:
    """The parts of a document, or why it is left as it is."""
    if document.fields != (TEXT,):
        return SEVERAL_TEXTS
    if is_part(document):
        return A_PART
    annotated = stored.inside(project.db, row_id(document))
    if annotated.on_whole:
        return ON_WHOLE
    units = joined_over(units_of(document, unit), annotated.ranges)
    if len(units) < 2:
        return ONE_PART
    every = (*annotated.ranges, *annotated.chains)
    if not all(any(start <= a and b <= end for start, end in units) for a, b in every):
        return ACROSS
    return units


def _divide(
    project: Project, document: Document, ranges: Sequence[Range], unit: str, source: int
) -> None:
    records = [Record(part) for part in divided(document, ranges, unit)]
    new = documents.add(project.db, records, source_id=source)
    places = [(id, *place) for id, place in zip(new, ranges, strict=True)]
    stored.move_into(project.db, row_id(document), places)


# ---------------------------------------------------------------- join


def join(
    project: Project, ids: Sequence[int], *, origin: object = None, watch: Watch = QUIET
) -> Divided:
    """Join the documents that these are parts of again. Classes of parts become spans over them, in
    a layer of their own.

    Parts are left as they are if one is missing, or has a number, a written text or questions.
    """
    skipped: Counter[str] = Counter()
    done = count = 0
    with project.edit(_("Join parts of documents"), origin=origin, watch=watch.part(STORED, 1.0)):
        wholes = _wholes(project, ids, skipped)
        for key in watch.part(0.0, STORED).over(list(wholes), 1):
            order = wholes[key[0]].index
            parts = sorted(
                documents_of(project, wholes[key[0]]), key=lambda part: order(row_id(part))
            )
            if reason := _cannot_join(project, parts):
                skipped[reason] += len(parts)
                continue
            _join(project, parts)
            done, count = done + 1, count + len(parts)
    return Divided(done, count, skipped)


def _wholes(project: Project, ids: Sequence[int], skipped: Counter[str]) -> dict[str, list[int]]:
    """Key → its parts, of the wholes that these documents belong to."""
    keys: dict[str, None] = {}
    for document in documents_of(project, ids):
        if is_part(document):
            keys[str(document.meta[OF])] = None
        else:
            skipped[NO_PART] += 1
    return stored.part_ids(project.db, keys)


def _cannot_join(project: Project, parts: Sequence[Document]) -> str:
    if len(parts) != parts[0].meta.get(COUNT):
        return MISSING
    whole = {
        layer.id for layer in store.layers(project.db)
        if layer.traits.record != MARKS
        and not (layer.traits.in_text or layer.traits.between_spans)
    }  # fmt: skip
    layers_on_whole = (stored.layers_on_whole(project.db, row_id(part)) for part in parts)
    return ON_WHOLE if any(whole.intersection(ids) for ids in layers_on_whole) else ""


def _join(project: Project, parts: Sequence[Document]) -> None:
    db = project.db
    ids = [row_id(part) for part in parts]
    source = stored.batch_sources(db, ids).get(ids[0]) or project.source("person")
    document, starts = joined(parts)
    (new,) = documents.add(db, [Record(document)], source_id=source)
    for layer in store.layers(db):
        if layer.traits.record == MARKS:
            _classes_to_spans(project, layer, parts)
    stored.move_out(db, list(zip(ids, starts, strict=True)), new)
    documents.delete(db, ids)


def _classes_to_spans(project: Project, layer: Layer, parts: Sequence[Document]) -> None:
    """Make the classes of the parts in a layer spans of another one, which is added if needed."""
    ids = [row_id(part) for part in parts]
    if not any(row_id(layer) in stored.layers_on_whole(project.db, id) for id in ids):
        return
    unit = str(parts[0].meta.get(UNIT, ""))
    name = _("{layer} of each {unit}", layer=layer.name, unit=_(unit))
    existing = store.layer_by_name(project.db, name)
    if existing is None:
        target = layers.add_layer(project, name, "span", labels=layer.names)
        store.update_layer(project.db, target, gold=project.gold(row_id(layer)))
    else:
        target = row_id(existing)
        layers.add_labels(project, target, layer.names)
    known = store.layer(project.db, target)
    pairs = [(row_id(label), row_id(known.label(label.name))) for label in layer.labels]
    for part in parts:
        stored.marks_to_spans(
            project.db, row_id(part), len(part.text), row_id(layer), target, pairs
        )


def context(project: Project, document: Document) -> tuple[str, str]:
    """The text before and after a part, from its neighbours; empty for whole documents."""
    if not is_part(document):
        return "", ""
    before, after = (
        documents.by_key(project.db, key) if (key := key_of(document, way)) else None
        for way in (-1, 1)
    )
    return _cut(before.text, -1) if before else "", _cut(after.text, 1) if after else ""


def _cut(text: str, way: int) -> str:
    """The end (-1) or the beginning (+1) of a text."""
    if len(text) <= CONTEXT:
        return text
    return f"{text[:CONTEXT]}…" if way > 0 else f"…{text[-CONTEXT:]}"


def describe(divided: Divided) -> str:
    """A sentence for each reason why documents are left as they are."""
    lines = []
    for reason, n in divided.kept.items():
        line = ngettext(
            "{n:,} document is left unchanged: {reason}.",
            "{n:,} documents are left unchanged: {reason}.",
            n,
            reason=_(reason),
        )
        lines.append(line)
    return "\n".join(lines)
