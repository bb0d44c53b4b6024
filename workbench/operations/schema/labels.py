"""Layers and labels: the annotation scheme. Every call is one undo step."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.schema import guideline as guidelines
from workbench.operations.schema import label_groups
from workbench.operations.schema.label_keys import check_key, command_keys, may_be_key, used_keys
from workbench.project import backup
from workbench.project.project import Project
from workbench.storage.annotation import answers, document_values
from workbench.storage.documents import documents
from workbench.storage.labels import labels as store
from workbench.text.columns import Column, ValueKind
from workbench.text.document import CHOICES, choice_names
from workbench.text.labels import LAYER_KINDS, MAX_NAME_CHARS, Label, Layer, free_key
from workbench.text.relations import SPANS
from workbench.text.rows import row_id
from workbench.text.snap import SNAPS, snap_of, with_snap

MENTION = "mention"  # the label of a layer of chains that is added without labels
FEW_CHOICES = 4  # labels of a layer for choices while the project has no such document
ANSWERS_COMPARED = 2  # and of a layer of preferences
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class LabelRow:
    """`count`: number of class labels and spans with this label; None while counting."""

    label: Label
    count: int | None

    @property
    def id(self) -> int:
        return row_id(self.label)


def columns() -> tuple[Column, ...]:
    """Of labels, as `LabelRow`; the parent last."""
    keys = _(
        "A letter or digit that applies the label in Annotate. Classes have the keys 1 to 9 while "
        "no span layer is shown."
    )
    number = _("Number of texts, spans and relations with this label")
    return (
        Column(_("Label"), lambda row: row.label.name, key="name"),
        Column(_("Key"), lambda row: row.label.key, key="key", hint=keys),
        Column(_("Colour"), lambda row: row.label.colour, key="colour"),
        Column(_("Count"), lambda row: row.count, kind=ValueKind.COUNT, key="count", hint=number),
        Column(_("Parent"), lambda row: row.label.parent, key="parent"),
    )


def layers(project: Project) -> tuple[Layer, ...]:
    return store.layers(project.db)


def layer_named(project: Project, name: str) -> Layer:
    """Raises SpecError, with the names of the layers, if there is none of this name."""
    every = layers(project)
    for layer in every:
        if layer.name == name:
            return layer
    raise SpecError(
        _("The project has no layer {name!r}.", name=name),
        hint=_("Its layers: {known}.", known=", ".join(layer.name for layer in every) or _("none")),
    )


def counts(project: Project) -> dict[int, int]:
    """Label id → number of annotations with it."""
    return store.counts(project.db)


def submitted_counts(project: Project) -> dict[int, int]:
    """Layer id → number of documents usable for training."""
    return store.submitted_counts(project.db)


# ---------------------------------------------------------------- layers


def add_layer(
    project: Project,
    name: str,
    kind: str,
    *,
    texts: int = 1,
    labels: Iterable[str | Label] = (),
    guideline: str = "",
    options: dict[str, Any] | None = None,
    origin: object = None,
) -> int:
    """Add a layer with its labels; labels without a key get the next free one.

    Layers for choices get the numbers of the choices as labels, layers for questions have none.
    Raises WorkbenchError for an invalid name, or labels that the kind cannot have.
    """
    name = _clean(name, _("A layer"))
    if kind not in LAYER_KINDS:
        raise WorkbenchError(
            _("Unknown layer kind: {kind!r}.", kind=kind),
            hint=_("Known: {kinds}.", kinds=", ".join(LAYER_KINDS)),
        )
    if LAYER_KINDS[kind].in_choices:
        texts = CHOICES
        few = ANSWERS_COMPARED if LAYER_KINDS[kind].compares else FEW_CHOICES
        labels = tuple(labels) or choice_names(documents.most_choices(project.db) or few)
        _check_numbers(labels)
    elif texts not in (1, 2):
        raise WorkbenchError(
            _("A layer applies to documents with 1 or 2 texts, not {texts}.", texts=texts)
        )
    if LAYER_KINDS[kind].asks:
        texts = 1
        _check_none(labels)
    _free_layer_name(project, name)
    if LAYER_KINDS[kind].in_chains:
        labels = tuple(labels) or (MENTION,)
    if LAYER_KINDS[kind].between_spans:
        options = {SPANS: _span_layer(project, texts), **(options or {})}
    with project.edit(_("Add layer {name}", name=name), origin=origin):
        id = store.add_layer(
            project.db,
            name,
            kind,
            texts=texts,
            guideline=guideline,
            options=options,
            gold=project.annotator_id,
        )
        add_labels(project, id, labels)
    return id


def _span_layer(project: Project, texts: int) -> str:
    """The layer whose spans a new relation layer connects; "" without one."""
    matching = (layer for layer in layers(project) if layer.traits.in_text and layer.texts == texts)
    return next((layer.name for layer in matching), "")


def _check_numbers(labels: Sequence[str | Label]) -> None:
    """Raises WorkbenchError for labels of a choice layer that are not 1, 2 …"""
    names = [label.name if isinstance(label, Label) else label for label in labels]
    numbers = choice_names(len(names))
    if wrong := [name for name in names if name not in numbers]:
        raise WorkbenchError(
            _(
                "The labels of a choice layer are the numbers of the choices, not {label!r}.",
                label=wrong[0],
            ),
            hint=_("Leave the labels empty: they are numbered automatically."),
        )


def _check_none(labels: Iterable[str | Label]) -> None:
    """Raises WorkbenchError if there are labels."""
    if tuple(labels):
        raise WorkbenchError(
            _("A layer for questions has no labels."),
            hint=_("Ask questions about a document in Annotate, or import them."),
        )


def rename_layer(project: Project, layer_id: int, name: str, *, origin: object = None) -> None:
    name = _clean(name, _("A layer"))
    if store.layer(project.db, layer_id).name == name:
        return
    _free_layer_name(project, name)
    with project.edit(_("Rename layer to {name}", name=name), origin=origin):
        store.update_layer(project.db, layer_id, name=name)


def delete_layer(
    project: Project, layer_id: int, *, origin: object = None, watch: Watch = QUIET
) -> None:
    """Delete the layer with its labels and annotations in one undo step.

    `will_go` describes them beforehand.
    """
    name = store.layer(project.db, layer_id).name
    title = _("Delete layer {name}", name=name)
    touched = store.documents_in(project.db, layer_id)
    backup.before(project, backup.DELETE, touched, watch=watch.part(0.0, 0.2))
    with project.edit(title, origin=origin, watch=watch.part(0.7, 1.0)):
        store.delete_layer(project.db, layer_id, watch=watch.part(0.2, 0.7))


def set_snap(project: Project, layer_id: int, snap: str, *, origin: object = None) -> None:
    """Set what new spans of a layer snap to, one of `text.snap.SNAPS`.

    Raises WorkbenchError for any other, or a layer without spans.
    """
    layer = store.layer(project.db, layer_id)
    if snap not in SNAPS or not layer.traits.in_text:
        message = _("Spans of {layer} cannot snap to {snap!r}.", layer=layer.name, snap=snap)
        raise WorkbenchError(message, hint=_("Known: {kinds}.", kinds=", ".join(SNAPS)))
    if snap_of(layer) == snap:
        return
    with project.edit(_("Change snapping of {name}", name=layer.name), origin=origin):
        store.update_layer(project.db, layer_id, options=with_snap(layer, snap))


def _free_layer_name(project: Project, name: str) -> None:
    if store.layer_by_name(project.db, name) is not None:
        raise WorkbenchError(
            _("A layer named {name!r} already exists.", name=name),
            hint=_("Choose another name."),
        )


# ---------------------------------------------------------------- labels


def add_label(
    project: Project,
    layer_id: int,
    name: str,
    *,
    colour: str = "",
    key: str | None = "",
    description: str = "",
    origin: object = None,
) -> int:
    """Add a label at the end of the layer. Without `key` it gets the next free one; `key` None
    means no key.

    Raises WorkbenchError if the layer has a label of that name or another label has that key.
    """
    layer = store.layer(project.db, layer_id)
    name = _clean(name, _("A label"))
    _free_label_name(layer, name)
    colour = _check_colour(colour)
    used = {*used_keys(project, layer), *command_keys()}
    key = "" if key is None else check_key(project, layer, key) or free_key(layer.kind, used)
    with project.edit(_("Add label {name}", name=name), origin=origin):
        return store.add_label(
            project.db, layer_id, name, colour=colour, key=key, description=description
        )


def add_labels(
    project: Project, layer_id: int, labels: Iterable[str | Label], *, origin: object = None
) -> dict[str, int]:
    """Name → id for all of them. Existing labels are not changed; a key that is taken or invalid is
    replaced.

    For imports: adds many at once; the only error is an empty name.
    """
    layer = store.layer(project.db, layer_id)
    ids = {label.name: row_id(label) for label in layer.labels}
    added: list[Label] = []
    taken = command_keys()
    used = {*used_keys(project, layer), *taken}
    with project.edit(_("Add labels to {name}", name=layer.name), origin=origin):
        for item in labels:
            label = item if isinstance(item, Label) else Label(item)
            name = _clean(label.name, _("A label"))
            if name in ids:
                continue
            key = label.key if may_be_key(label.key, used) else free_key(layer.kind, used)
            used.add(key)
            added.append(replace(label, name=name))
            colour = label.colour if _COLOUR.fullmatch(label.colour) else ""
            ids[name] = store.add_label(
                project.db, layer_id, name, colour=colour, key=key, description=label.description
            )
        store.group_labels(project.db, added, ids)
    return ids


def rename_label(project: Project, label_id: int, name: str, *, origin: object = None) -> None:
    layer_id, label = _label(project, label_id)
    name = _clean(name, _("A label"))
    if name == label.name:
        return
    _free_label_name(store.layer(project.db, layer_id), name)
    with project.edit(_("Rename {old} to {name}", old=label.name, name=name), origin=origin):
        store.update_label(project.db, label_id, name=name)
        guidelines.follow_name(project, layer_id, label.name, name)


def recolour_labels(
    project: Project, label_ids: Sequence[int], colour: str, *, origin: object = None
) -> None:
    """Change the colour of all labels in one step."""
    colour = _check_colour(colour)
    with project.edit(
        _("Change colour of {names}", names=_named(project, label_ids)), origin=origin
    ):
        for id in label_ids:
            store.update_label(project.db, id, colour=colour)


def set_key(project: Project, label_id: int, key: str, *, origin: object = None) -> None:
    """`key` is one character, or "" for none.

    Raises WorkbenchError naming the label if another label shown beside it has that key.
    """
    layer_id, label = _label(project, label_id)
    key = check_key(project, store.layer(project.db, layer_id), key, but=label_id)
    with project.edit(_("Change key of {name}", name=label.name), origin=origin):
        store.update_label(project.db, label_id, key=key)


def describe_label(
    project: Project, label_id: int, description: str, *, origin: object = None
) -> None:
    _layer_id, label = _label(project, label_id)
    with project.edit(_("Describe {name}", name=label.name), origin=origin):
        store.update_label(project.db, label_id, description=description)


def move_label(project: Project, label_id: int, position: int, *, origin: object = None) -> None:
    """Move the label to `position` (0-based) in its layer."""
    _layer_id, label = _label(project, label_id)
    with project.edit(_("Move {name}", name=label.name), origin=origin):
        store.move_label(project.db, label_id, position)


def ordered(project: Project, label_ids: Sequence[int]) -> tuple[str, ...]:
    """The names of the layer's labels with these first, as `reorder_labels` would order them:
    sublabels follow their parent.

    Raises WorkbenchError if they are not in one layer.
    """
    layer_id, _first = _label(project, label_ids[0])
    layer = store.layer(project.db, layer_id)
    names = [_label(project, id)[1].name for id in dict.fromkeys(label_ids)]
    if any(_label(project, id)[0] != layer_id for id in label_ids):
        raise WorkbenchError(_("The labels are not in one layer."))
    order = (*names, *(name for name in layer.names if name not in names))
    below = {name: layer.label(name).parent for name in order}
    grouped = ((name, *(item for item in order if below[item] == name)) for name in order)
    return tuple(name for group in grouped if not below[group[0]] for name in group)


def reorder_labels(
    project: Project, label_ids: Sequence[int], *, origin: object = None
) -> tuple[str, ...]:
    """Put labels of a layer first, in this order, as one undo step; returns the names in order."""
    order = ordered(project, label_ids)
    with project.edit(_("Reorder labels"), origin=origin):
        for position, id in enumerate(dict.fromkeys(label_ids)):
            store.move_label(project.db, id, position)
    return order


def delete_label(project: Project, label_id: int, *, origin: object = None) -> None:
    """Delete the label with its annotations in one undo step."""
    delete_labels(project, [label_id], origin=origin)


def delete_labels(
    project: Project, label_ids: Sequence[int], *, origin: object = None, watch: Watch = QUIET
) -> None:
    """Submitted documents that lose their class become drafts."""
    title, body = _("Delete {names}", names=_named(project, label_ids)), watch.part(0.2, 0.7)
    touched = store.usage(project.db, label_ids)["documents"]
    backup.before(project, backup.DELETE, touched, watch=watch.part(0.0, 0.2))
    with project.edit(title, origin=origin, watch=watch.part(0.7, 1.0)):
        for place, id in enumerate(label_ids):
            part = body.part(place / len(label_ids), (place + 1) / len(label_ids))
            store.delete_label(project.db, id, watch=part)


def will_go(project: Project, label_ids: Sequence[int] = (), *, layer_id: int | None = None) -> str:
    """A sentence that describes what is deleted with these labels, or this layer."""
    if layer_id is not None:
        layer = store.layer(project.db, layer_id)
        ids = [row_id(label) for label in layer.labels]
        what = _("the layer {name}", name=layer.name)
    else:
        ids, what = list(label_ids), _named(project, label_ids)
    use = store.usage(project.db, ids)
    values = questions = 0
    if layer_id is not None and (layer.traits.asks or not layer.traits.has_labels):
        use["documents"] = store.documents_in(project.db, layer_id)
        if layer.traits.asks:
            questions = answers.count(project.db, layer_id)
        else:
            values = document_values.count(project.db, layer)
    parts = _deleted(
        use, labels=len(ids) * (layer_id is not None), values=values, questions=questions
    )
    alone = "" if layer_id is not None else label_groups.left_alone(project, ids)
    if not parts:
        message = _("Deleting {what} does not affect any annotations.", what=what)
        return " ".join(filter(None, (message, alone)))
    message = _("Deleting {what} also deletes {parts}. This can be undone.")
    if use["documents"]:
        message = ngettext(
            "Deleting {what} also deletes {parts} in {n:,} document. This can be undone.",
            "Deleting {what} also deletes {parts} in {n:,} documents. This can be undone.",
            use["documents"],
        )
    message = message.format(what=what, parts=_listed(parts), n=use["documents"])
    return " ".join(filter(None, (message, alone)))


def _deleted(use: Mapping[str, int], *, labels: int, values: int, questions: int) -> list[str]:
    """What is deleted, with its number: "3 labels", "1 span"."""
    phrases = (
        (labels, ngettext("{n:,} label", "{n:,} labels", labels)),
        (use["marks"], ngettext("{n:,} class", "{n:,} classes", use["marks"])),
        (use["spans"], ngettext("{n:,} span", "{n:,} spans", use["spans"])),
        (use["relations"], ngettext("{n:,} relation", "{n:,} relations", use["relations"])),
        (values, ngettext("{n:,} value", "{n:,} values", values)),
        (questions, ngettext("{n:,} question", "{n:,} questions", questions)),
        (
            use["suggestions"],
            ngettext("{n:,} open suggestion", "{n:,} open suggestions", use["suggestions"]),
        ),
    )
    return [phrase.format(n=n) for n, phrase in phrases if n]


# ---------------------------------------------------------------- validation


def _check_colour(colour: str) -> str:
    if colour and not _COLOUR.fullmatch(colour):
        raise WorkbenchError(
            _("{colour!r} is not a colour.", colour=colour),
            hint=_("Use the form #RRGGBB, for example #2e7d32."),
        )
    return colour.lower()


def _clean(name: str, what: str) -> str:
    """The name without surrounding spaces.

    Raises WorkbenchError if it is empty or contains a line break or control character.
    """
    name = name.strip()
    if not name:
        raise WorkbenchError(_("{what} needs a name.", what=what))
    if len(name) > MAX_NAME_CHARS:
        raise WorkbenchError(
            _(
                "The name is too long: {n:,} of at most {most:,} characters.",
                n=len(name),
                most=MAX_NAME_CHARS,
            )
        )
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in name):
        raise WorkbenchError(
            _(
                "{what} cannot be named {name!r}: a name must be one line of plain characters.",
                what=what,
                name=name,
            )
        )
    return name


def _free_label_name(layer: Layer, name: str) -> None:
    if name in layer.names:
        message = _("{layer} already has a label named {name!r}.", layer=layer.name, name=name)
        raise WorkbenchError(message, hint=_("Choose another name."))


def _label(project: Project, label_id: int) -> tuple[int, Label]:
    try:
        return store.label(project.db, label_id)
    except KeyError:
        raise WorkbenchError(_("This label has been deleted.")) from None


def _named(project: Project, label_ids: Sequence[int]) -> str:
    """The name of a single label, or the number of labels."""
    names = [_label(project, id)[1].name for id in label_ids]
    return names[0] if len(names) == 1 else ngettext("{n} label", "{n} labels", len(names))


def _listed(parts: Sequence[str]) -> str:
    return (
        parts[0]
        if len(parts) == 1
        else _("{some} and {last}", some=", ".join(parts[:-1]), last=parts[-1])
    )
