"""Layers and labels: what is labelled. Every call is one undo step."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.project.project import Project
from workbench.storage import labels as store
from workbench.text.labels import KINDS, LONGEST_NAME, Label, Layer, free_key

RESERVED_KEYS = frozenset("axu")  # accept, reject, unselect
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def layers(project: Project) -> tuple[Layer, ...]:
    return store.layers(project.db)


def counts(project: Project) -> dict[int, int]:
    """Label id → marks and spans with it."""
    return store.counts(project.db)


def submitted_counts(project: Project) -> dict[int, int]:
    """Layer id → documents that are training data for it."""
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
    options: dict | None = None,
    origin: object = None,
) -> int:
    """A new layer with its labels; labels without a key get the next free one. Raises WorkbenchError where a name does not fit."""
    name = _clean(name, _("A layer"))
    if kind not in KINDS:
        raise WorkbenchError(
            _("A layer of kind {kind!r} is not known.").format(kind=kind),
            hint=_("Known: {kinds}.").format(kinds=", ".join(KINDS)),
        )
    if texts not in (1, 2):
        raise WorkbenchError(
            _("A layer is for documents with 1 or 2 texts, not {texts}.").format(texts=texts)
        )
    _free_layer_name(project, name)
    with project.edit(_("Add layer {name}").format(name=name), origin=origin):
        id = store.add_layer(
            project.db, name, kind, texts=texts, guideline=guideline, options=options
        )
        add_labels(project, id, labels)
    return id


def rename_layer(project: Project, layer_id: int, name: str, *, origin: object = None) -> None:
    name = _clean(name, _("A layer"))
    if store.layer(project.db, layer_id).name == name:
        return
    _free_layer_name(project, name)
    with project.edit(_("Rename layer to {name}").format(name=name), origin=origin):
        store.update_layer(project.db, layer_id, name=name)


def delete_layer(
    project: Project, layer_id: int, *, origin: object = None, watch: Watch = QUIET
) -> None:
    """With its labels and everything labelled with them: one undo step. `will_go` says beforehand what that is."""
    name = store.layer(project.db, layer_id).name
    title = _("Delete layer {name}").format(name=name)
    with project.edit(title, origin=origin, watch=watch.part(0.7, 1.0)):
        store.delete_layer(project.db, layer_id, watch=watch.part(0.0, 0.7))


def set_guideline(
    project: Project, layer_id: int, guideline: str, *, origin: object = None
) -> None:
    """Markdown."""
    name = store.layer(project.db, layer_id).name
    with project.edit(_("Change guideline of {name}").format(name=name), origin=origin):
        store.update_layer(project.db, layer_id, guideline=guideline)


def _free_layer_name(project: Project, name: str) -> None:
    if store.layer_by_name(project.db, name) is not None:
        raise WorkbenchError(
            _("There is a layer {name!r} already.").format(name=name),
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
    """At the end of the layer. Without `key` it gets the next free one; `key` None leaves it without.

    Raises WorkbenchError if the layer has a label of that name or another label has that key.
    """
    layer = store.layer(project.db, layer_id)
    name = _clean(name, _("A label"))
    _free_label_name(layer, name)
    colour = _check_colour(colour)
    key = (
        ""
        if key is None
        else _check_key(project, layer, key) or free_key(layer.kind, used_keys(project, layer))
    )
    with project.edit(_("Add label {name}").format(name=name), origin=origin):
        return store.add_label(
            project.db, layer_id, name, colour=colour, key=key, description=description
        )


def add_labels(
    project: Project, layer_id: int, wanted: Iterable[str | Label], *, origin: object = None
) -> dict[str, int]:
    """Name → id for all of them. Labels that the layer has already stay as they are; a key that is taken or does not fit gives way.

    For imports: many at once, nothing here is an error but an empty name.
    """
    layer = store.layer(project.db, layer_id)
    found = {label.name: label.id for label in layer.labels}
    used = set(used_keys(project, layer))
    with project.edit(_("Add labels to {name}").format(name=layer.name), origin=origin):
        for one in wanted:
            label = one if isinstance(one, Label) else Label(one)
            name = _clean(label.name, _("A label"))
            if name in found:
                continue
            key = (
                label.key
                if _may_be_key(label.key) and label.key not in used
                else free_key(layer.kind, used)
            )
            used.add(key)
            colour = label.colour if _COLOUR.fullmatch(label.colour) else ""
            found[name] = store.add_label(
                project.db, layer_id, name, colour=colour, key=key, description=label.description
            )
    return found


def rename_label(project: Project, label_id: int, name: str, *, origin: object = None) -> None:
    layer_id, label = _label(project, label_id)
    name = _clean(name, _("A label"))
    if name == label.name:
        return
    _free_label_name(store.layer(project.db, layer_id), name)
    with project.edit(_("Rename {old} to {name}").format(old=label.name, name=name), origin=origin):
        store.update_label(project.db, label_id, name=name)


def recolour_labels(
    project: Project, label_ids: Sequence[int], colour: str, *, origin: object = None
) -> None:
    """All of them in one step."""
    colour = _check_colour(colour)
    with project.edit(
        _("Change colour of {names}").format(names=_named(project, label_ids)), origin=origin
    ):
        for id in label_ids:
            store.update_label(project.db, id, colour=colour)


def set_key(project: Project, label_id: int, key: str, *, origin: object = None) -> None:
    """`key` is one character, or "" for none. Raises WorkbenchError if a label shown beside it has that key, naming it."""
    layer_id, label = _label(project, label_id)
    key = _check_key(project, store.layer(project.db, layer_id), key, but=label_id)
    with project.edit(_("Change key of {name}").format(name=label.name), origin=origin):
        store.update_label(project.db, label_id, key=key)


def describe_label(
    project: Project, label_id: int, description: str, *, origin: object = None
) -> None:
    _layer_id, label = _label(project, label_id)
    with project.edit(_("Describe {name}").format(name=label.name), origin=origin):
        store.update_label(project.db, label_id, description=description)


def move_label(project: Project, label_id: int, position: int, *, origin: object = None) -> None:
    """To place `position` (0-based) of its layer."""
    _layer_id, label = _label(project, label_id)
    with project.edit(_("Move {name}").format(name=label.name), origin=origin):
        store.move_label(project.db, label_id, position)


def delete_label(project: Project, label_id: int, *, origin: object = None) -> None:
    """With everything labelled with it: one undo step."""
    delete_labels(project, [label_id], origin=origin)


def delete_labels(
    project: Project, label_ids: Sequence[int], *, origin: object = None, watch: Watch = QUIET
) -> None:
    """Submitted documents that lose their class go back to draft."""
    title, body = _("Delete {names}").format(names=_named(project, label_ids)), watch.part(0.0, 0.7)
    with project.edit(title, origin=origin, watch=watch.part(0.7, 1.0)):
        for place, id in enumerate(label_ids):
            part = body.part(place / len(label_ids), (place + 1) / len(label_ids))
            store.delete_label(project.db, id, watch=part)


def will_go(project: Project, label_ids: Sequence[int] = (), *, layer_id: int | None = None) -> str:
    """One sentence: what deleting these labels, or this layer, takes along."""
    if layer_id is not None:
        layer = store.layer(project.db, layer_id)
        ids, what = [one.id for one in layer.labels], _("the layer {name}").format(name=layer.name)
    else:
        ids, what = list(label_ids), _named(project, label_ids)
    use = store.usage(project.db, ids)
    parts = [_count(len(ids), _("label"), _("labels"))] if layer_id is not None and ids else []
    parts += [_count(use["marks"], _("class"), _("classes"))] * bool(use["marks"])
    parts += [_count(use["spans"], _("span"), _("spans"))] * bool(use["spans"])
    parts += [_count(use["suggestions"], _("open suggestion"), _("open suggestions"))] * bool(
        use["suggestions"]
    )
    if not parts:
        return _("Deleting {what} takes nothing else along.").format(what=what)
    told = _("Deleting {what} takes along {parts}. Undo brings all of it back.")
    if use["documents"]:
        told = _("Deleting {what} takes along {parts} in {documents}. Undo brings all of it back.")
    documents = _count(use["documents"], _("document"), _("documents"))
    return told.format(what=what, parts=_listed(parts), documents=documents)


# ---------------------------------------------------------------- checks


def used_keys(project: Project, layer: Layer, but: int | None = None) -> dict[str, str]:
    """Key → label name, of all labels that are shown together with this layer: those of layers for as many texts."""
    together = (
        one
        for other in store.layers(project.db)
        if other.texts == layer.texts
        for one in other.labels
    )
    return {one.key: one.name for one in together if one.key and one.id != but}


def _check_key(project: Project, layer: Layer, key: str, but: int | None = None) -> str:
    key = key.strip().lower()
    if not key:
        return ""
    if not _may_be_key(key):
        reserved = _("A, X and U accept, reject and unselect.")
        raise WorkbenchError(
            _("{key!r} cannot be a key: it takes one letter or digit.").format(key=key),
            hint=reserved,
        )
    if (other := used_keys(project, layer, but).get(key)) is not None:
        raise WorkbenchError(
            _("{key!r} is the key of {name} already.").format(key=key, name=other),
            hint=_("Change that one first."),
        )
    return key


def _may_be_key(key: str) -> bool:
    return len(key) == 1 and key.isalnum() and key == key.lower() and key not in RESERVED_KEYS


def _check_colour(colour: str) -> str:
    if colour and not _COLOUR.fullmatch(colour):
        raise WorkbenchError(
            _("{colour!r} is no colour.").format(colour=colour),
            hint=_("Write it as #RRGGBB, for instance #2e7d32."),
        )
    return colour.lower()


def _clean(name: str, what: str) -> str:
    """The name without spaces around it. Raises WorkbenchError if nothing is left or it holds a line break or the like."""
    name = name.strip()
    if not name:
        raise WorkbenchError(_("{what} needs a name.").format(what=what))
    if len(name) > LONGEST_NAME:
        raise WorkbenchError(
            _("A name of {n:,} characters is too long; at most {most:,} can be kept.").format(
                n=len(name), most=LONGEST_NAME
            )
        )
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in name):
        raise WorkbenchError(
            _("{what} cannot be called {name!r}: a name is one line of plain characters.").format(
                what=what, name=name
            )
        )
    return name


def _free_label_name(layer: Layer, name: str) -> None:
    if name in layer.names:
        message = _("{layer} has a label {name!r} already.").format(layer=layer.name, name=name)
        raise WorkbenchError(message, hint=_("Choose another name."))


def _label(project: Project, label_id: int) -> tuple[int, Label]:
    try:
        return store.label(project.db, label_id)
    except KeyError:
        raise WorkbenchError(_("This label has been deleted.")) from None


def _named(project: Project, label_ids: Sequence[int]) -> str:
    """The name of the only one, or how many there are."""
    names = [_label(project, id)[1].name for id in label_ids]
    return names[0] if len(names) == 1 else _("{n} labels").format(n=len(names))


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _listed(parts: Sequence[str]) -> str:
    return (
        parts[0]
        if len(parts) == 1
        else _("{some} and {last}").format(some=", ".join(parts[:-1]), last=parts[-1])
    )
