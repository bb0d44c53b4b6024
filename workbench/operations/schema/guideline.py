"""The guideline of a layer: its text, its examples, its earlier versions. Each change is one undo
step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.operations.people import people
from workbench.storage.documents import documents
from workbench.storage.labels import guidelines, labels
from workbench.storage.schema.values import now
from workbench.text import guideline as texts
from workbench.text.columns import Column, ValueKind
from workbench.text.document import TEXT
from workbench.text.guideline import Example
from workbench.text.sentences import sentences

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.labels.guidelines import StoredGuideline
    from workbench.text.document import Document
    from workbench.text.labels import Layer

TOGETHER = timedelta(minutes=10)  # what one person changes within this time is one version
LONGEST, AROUND = 300, 120  # characters: of the context of an example; beside its marked range
CUT = "…"


@dataclass(frozen=True, slots=True)
class Version:
    """number: from 1 for the oldest. at, author: "" if not known, as of a text that came with an
    import.
    """

    number: int
    at: str
    author: str
    text: str


def columns() -> tuple[Column, ...]:
    """Of versions."""
    return (
        Column(_("Version"), lambda row: row.number, kind=ValueKind.COUNT, key="number"),
        Column(_("Started"), lambda row: row.at or None, kind=ValueKind.TIME, key="at"),
        Column(_("Author"), lambda row: row.author or None, key="author"),
    )


# ---------------------------------------------------------------- text and versions


def write(
    project: Project, layer_id: int, text: str, *, base: str | None = None, origin: object = None
) -> None:
    """Set the text. What one person changes within ten minutes is one version.

    base: the text that the writing began with; if it was changed since, both changes are taken.
    """
    layer = labels.layer(project.db, layer_id)
    if base is not None and layer.guideline != base:
        text = texts.merged(base, layer.guideline, text, name=_("the editor"))
    if text == layer.guideline:
        return
    with project.edit(_("Change guideline of {name}", name=layer.name), origin=origin):
        _store(project, layer, text, joins=True)


def history(project: Project, layer_id: int) -> tuple[Version, ...]:
    """All versions, the newest first; the first one is the present text. () without any text."""
    layer = labels.layer(project.db, layer_id)
    stored = guidelines.versions(project.db, layer.uid)
    versions = [
        Version(number, item.at if item.author else "", item.author, item.text)
        for number, item in enumerate(stored, 1)
    ]
    if layer.guideline.strip() and (not versions or versions[-1].text != layer.guideline):
        versions.append(Version(len(versions) + 1, "", "", layer.guideline))
    return tuple(reversed(versions))


def version(project: Project, layer_id: int, number: int) -> Version:
    """Raises SpecError if there is no such version."""
    versions = history(project, layer_id)
    for item in versions:
        if item.number == number:
            return item
    raise SpecError(
        _("The guideline has no version {number}.", number=number),
        hint=_("Its newest version is {number}.", number=len(versions)),
    )


def restore(project: Project, layer_id: int, number: int, *, origin: object = None) -> None:
    """Make an earlier version the present one; it becomes the newest version. Raises SpecError."""
    layer, old = labels.layer(project.db, layer_id), version(project, layer_id, number)
    if old.text == layer.guideline:
        return
    title = _("Restore version {number} of guideline {name}", number=number, name=layer.name)
    with project.edit(title, origin=origin):
        _store(project, layer, old.text)


def follow_name(project: Project, layer_id: int, old: str, name: str) -> None:
    """Within an edit that renamed a label: rename the headings that are about it."""
    layer = labels.layer(project.db, layer_id)
    names = [old if other == name else other for other in layer.names]
    changed = texts.renamed(layer.guideline, old, name, names)
    if changed != layer.guideline:
        _store(project, layer, changed)


def _store(project: Project, layer: Layer, text: str, *, joins: bool = False) -> None:
    """Within an edit: set the text and store it as a version, the text before it too if that is
    not stored. joins: it may change the newest version.
    """
    db, author = project.db, people.current(project).name
    stored = guidelines.versions(db, layer.uid)
    latest = stored[-1] if stored and stored[-1].text == layer.guideline else None
    if latest is None and layer.guideline.strip():
        guidelines.add(db, layer.uid, layer.guideline, "")
    if latest and joins and latest.author == author and _is_open(project, latest):
        guidelines.update(db, latest.id, layer.uid, text, author)
    else:
        guidelines.add(db, layer.uid, text, author)
    labels.update_layer(db, _id(layer), guideline=text)


def merged(here: Layer, mine: Sequence[str], there: Layer, theirs: Sequence[str], name: str) -> str:
    """The guideline of a layer with the changes of the same layer in another file, called `name`.

    mine, theirs: all stored texts, oldest first. It is that of `here` if the other one is one of
    its earlier versions, and the other way round; otherwise it has the changes of both.
    """
    mine, theirs = [*mine, here.guideline], [*theirs, there.guideline]
    if there.guideline in mine or not there.guideline.strip():
        return here.guideline
    if here.guideline in theirs or not here.guideline.strip():
        return there.guideline
    base = next((text for text in reversed(theirs) if text in mine), None)
    return texts.merged(base, here.guideline, there.guideline, name=name)


def take(project: Project, here: Layer, theirs: Sequence[StoredGuideline], text: str) -> None:
    """Within an edit: add the versions of another file, and set `text`, which `merged` returned."""
    db, mine = project.db, {item.text for item in guidelines.versions(project.db, here.uid)}
    if here.guideline.strip() and here.guideline not in mine:
        guidelines.add(db, here.uid, here.guideline, "")
    new = [item for item in theirs if item.text not in mine and item.text != here.guideline]
    for item in new:
        guidelines.add(db, here.uid, item.text, item.author, at=item.at)
    if not new or new[-1].text != text:
        guidelines.add(db, here.uid, text, people.current(project).name)
    labels.update_layer(db, _id(here), guideline=text)


def _is_open(project: Project, version: StoredGuideline) -> bool:
    written, handed_out = guidelines.handed_out(project.db)
    age = datetime.fromisoformat(now()) - datetime.fromisoformat(version.at)
    return age < TOGETHER and written <= version.at and handed_out < version.at


def _id(layer: Layer) -> int:
    if layer.id is None:
        raise ValueError("the layer is not stored")
    return layer.id


# ---------------------------------------------------------------- examples


def examples(layer: Layer) -> tuple[Example, ...]:
    return texts.examples(layer.guideline, layer.names)


def add_example(
    project: Project,
    layer_id: int,
    label: str,
    document_id: int,
    *,
    start: int | None = None,
    end: int | None = None,
    field: str = TEXT,
    positive: bool = True,
    remark: str = "",
    origin: object = None,
) -> Example:
    """Add words of a document, or the whole of it, to the guideline as an example of a label.

    start, end: code points of the field; None for the whole document. positive: False for what
    must not have the label. Raises SpecError if the layer has no such label, the range is not in
    the text, the document was deleted, or the same words are an example of the label already.
    """
    layer = labels.layer(project.db, layer_id)
    if label not in layer.names:
        raise SpecError(
            _("Layer {layer} has no label {label!r}.", layer=layer.name, label=label),
            hint=_("Its labels: {names}", names=", ".join(layer.names) or _("none")),
        )
    try:
        document = documents.get(project.db, document_id)
    except KeyError:
        raise SpecError(_("This document has been deleted.")) from None
    text, first, last = _in_context(document, field, start, end)
    example = Example(label, text, first, last, positive, remark, document.key)
    changed = texts.with_example(layer.guideline, example, layer.names)
    with project.edit(_("Add example of {label} to the guideline", label=label), origin=origin):
        _store(project, layer, changed, joins=True)
    return example


def added_text(example: Example) -> str:
    """What was added, as a sentence."""
    words = texts.excerpt(example)
    if example.positive:
        return _("Example of {label} added: “{words}”.", label=example.label, words=words)
    return _("Counterexample of {label} added: “{words}”.", label=example.label, words=words)


def _in_context(
    document: Document, field: str, start: int | None, end: int | None
) -> tuple[str, int, int]:
    if start is None or end is None:
        whole = " / ".join(content for _field, content in document.texts)
        text, _start, _end = texts.one_line(whole, 0, len(whole))
        return _shortened(text, LONGEST), 0, 0
    content = dict(document.texts).get(field, "")
    if not 0 <= start < end <= len(content):
        raise SpecError(
            _(
                "Characters {start:,} to {end:,} are not in the text of {key}.",
                start=start,
                end=end,
                key=document.key,
            )
        )
    first, last = _around(content, start, end)
    text, start, end = texts.one_line(content[first:last], start - first, end - first)
    return _fitted(text, start, end) if len(text) > LONGEST else (text, start, end)


def _around(content: str, start: int, end: int) -> tuple[int, int]:
    """The sentences that a range is in."""
    ranges = [part for part in sentences(content) if part[0] < end and start < part[1]]
    return (min(start, ranges[0][0]), max(end, ranges[-1][1])) if ranges else (start, end)


def _fitted(text: str, start: int, end: int) -> tuple[str, int, int]:
    """A long context: some words beside the marked range."""
    marked = _shortened(text[start:end], LONGEST)
    before, after = text[:start], text[end:]
    if len(before) > AROUND:
        before = CUT + before[-AROUND:].partition(" ")[2]
    if len(after) > AROUND:
        after = after[:AROUND].rpartition(" ")[0] + CUT
    return before + marked + after, len(before), len(before) + len(marked)


def _shortened(text: str, most: int) -> str:
    """At most so many characters, cut between words where there are any."""
    if len(text) <= most:
        return text
    part = text[:most]
    return (part.rpartition(" ")[0] or part) + CUT


# ---------------------------------------------------------------- shown with its labels


def shown(layers: Sequence[Layer]) -> str:
    """The guidelines of layers as Markdown, each text once, below tables of their labels."""
    by_text: dict[str, list[Layer]] = {}
    for layer in layers:
        by_text.setdefault(layer.guideline.strip(), []).append(layer)
    several = len(layers) > 1
    parts = []
    for text, alike in by_text.items():
        for layer in alike:
            title = f"# {texts.escaped(layer.name)}\n\n" if several else ""
            parts.append(f"{title}{label_table(layer)}".strip())
        parts.append(text)
    return "\n\n".join(part for part in parts if part) + "\n"


def label_table(layer: Layer) -> str:
    """The labels of a layer as a Markdown table: name, key, description; "" without labels."""
    if not layer.labels:
        return ""
    head = [_("Label"), _("Key"), _("Description")]
    rows = [
        [
            f"{label.parent} › {label.name}" if label.parent else label.name,
            label.key,
            label.description,
        ]
        for label in layer.labels
    ]
    filled = [0, *(at for at in (1, 2) if any(row[at] for row in rows))]
    lines = [[row[at] for at in filled] for row in (head, *rows)]
    cells = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    return "\n".join([cells[0], "|" + "---|" * len(filled), *cells[1:]])


def _cell(text: str) -> str:
    return texts.escaped(" ".join(text.split())).replace("|", "\\|")
