"""State of the Labels page: layers, labels, and what deleting would remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import questions, relation_rules, values
from workbench.operations.documents import corpus
from workbench.operations.schema import guideline, guideline_page, label_groups
from workbench.operations.schema import labels as operations
from workbench.project import backup
from workbench.text.labels import LABEL_TABLES, LAYER_KINDS, TEXT, Layer
from workbench.text.relations import Pair, directed, pairs, span_layer
from workbench.text.rows import row_id
from workbench.text.scale import Scale
from workbench.text.snap import snap_of
from workbench.ui.project.opened import opened
from workbench.ui.project.unsaved import UnsavedText
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.schema.guideline import Version as Version
    from workbench.project.changes import Changes
    from workbench.text.columns import Column
    from workbench.ui.panel import PanelContext

COUNTED = (*LABEL_TABLES, "state", "suggestion", "document")

LabelRow = operations.LabelRow
label_columns = operations.columns
MAX_ROWS_COUNTED = 5_000  # tables of class labels and spans


@dataclass(frozen=True)
class LayerRow:
    """`submitted`: number of training documents of the layer; None while counting."""

    layer: Layer
    submitted: int | None

    @property
    def id(self) -> int:
        return row_id(self.layer)

    @property
    def kind(self) -> str:
        """The kind as text."""
        traits = self.layer.traits
        title = traits.title_of_pair if self.layer.texts == 2 else traits.title
        return _(title)


@dataclass(frozen=True)
class ShownValues:
    """`scale`: minimum, maximum and step of a layer of numbers; `found`: of its documents."""

    scale: tuple[float, float, float]
    found: values.ValueStatistics


class LabelsState(State):
    """State of the Labels page. In a large project, annotations are counted in the background,
    after the labels are shown.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.layers: tuple[LayerRow, ...] = ()
        self.layer: LayerRow | None = None
        self.labels: tuple[LabelRow, ...] = ()
        self.chosen: tuple[int, ...] = ()  # label ids
        self.will_go = ""  # number of annotations that deleting the selected labels would remove
        self.layer_will_go = ""
        self.values: ShownValues | None = None  # of a layer without labels
        self.asked = ""  # the number of questions of a layer, in words
        self.kind_text = ""  # what a relation layer connects, number of chains
        self.groups = Groups(self)
        self.guidelines = Guidelines(self)
        self._counts: Mapping[int, int] = {}  # by label id; the last ones until new ones are known
        self._submitted: Mapping[int, int] = {}  # by layer id
        self._stale = False
        self.listen(self.project.changed, self._project_changed)
        self.refresh()

    @property
    def editable(self) -> bool:
        return not self.project.read_only

    @property
    def can_add(self) -> bool:
        return self.editable and self.layer is not None and self.layer.layer.traits.takes_labels

    # ---------------------------------------------------------------- queries

    def _project_changed(self, changes: Changes) -> None:
        if changes.touches("layer") or changes.touches("label"):
            self.refresh()
        elif any(changes.touches(table) for table in COUNTED):
            self._stale = True
            self.update(stale=object())

    def look_again(self) -> None:
        """Count again if labels have changed since."""
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        self._stale = False
        project = self.project

        def show(counts: tuple[Mapping[int, int], Mapping[int, int]]) -> None:
            self._counts, self._submitted = counts
            self._show(operations.layers(project), self.layer.id if self.layer else None)

        if corpus.is_large(project):
            self._show(operations.layers(project), self.layer.id if self.layer else None)
        self.read(
            "counts",
            lambda: (operations.counts(project), operations.submitted_counts(project)),
            show,
        )

    def read(self, key: str, work: Callable[[], Any], done: Callable[[Any], None]) -> None:
        """Call `done(work())`, with `work` in a task in a large project."""
        if corpus.is_large(self.project):
            self.context.task(key, work, done)
        else:
            self.context.drop(key)
            done(work())

    def _show(self, layers: Sequence[Layer], layer_id: int | None) -> None:
        """Show these layers, with the labels of the layer `layer_id`, by default of the first."""
        rows = tuple(LayerRow(layer, self._submitted.get(row_id(layer))) for layer in layers)
        row = next((row for row in rows if row.id == layer_id), rows[0] if rows else None)
        labels = row.layer.labels if row else ()
        label_rows = tuple(LabelRow(label, self._counts.get(row_id(label))) for label in labels)
        chosen = tuple(id for id in self.chosen if any(label.id == id for label in label_rows))
        if (row and row.id) != (self.layer and self.layer.id):
            self.update(values=None, asked="", kind_text="", layer_will_go="")  # of another layer
        self.update(layers=rows, layer=row, labels=label_rows, chosen=chosen)
        self._summarise()
        self._describe_layer()
        self._describe_kind()
        self._describe_chosen()
        self.context.commands_changed()

    def _summarise(self) -> None:
        """Read the statistics of a layer of numbers, written texts or questions."""
        layer, project = self.layer, self.project
        self.context.drop("values")
        if layer is None or layer.layer.traits.has_labels:
            self.update(values=None, asked="")
            if layer is not None and layer.layer.traits.asks:
                count = partial(questions.counts, project, layer.id)
                self.read("values", count, self._show_asked)
            return
        scale = Scale.of(layer.layer.options)
        ends = scale.minimum, scale.maximum, scale.step
        self.read(
            "values",
            partial(values.summary, project, layer.id),
            lambda statistics: self.update(values=ShownValues(ends, statistics)),
        )

    def _show_asked(self, counts: questions.AskedCounts) -> None:
        self.update(asked=questions.in_words(counts))

    def set_scale(self, minimum: str, maximum: str, step: str) -> None:
        """Change the scale of the layer from what was written in the fields."""
        if self.layer is None:
            return
        try:
            scale = values.typed_scale(minimum, maximum, step)
            values.set_scale(self.project, self.layer.id, scale, origin=self)
        except WorkbenchError as error:
            self.context.fail(error)
            self.update(values=self.values)

    def _describe_kind(self) -> None:
        """Say what relations connect, and how many chains there are."""
        layer, project = self.layer, self.project
        traits = layer.layer.traits if layer else None
        self.context.drop("kind")
        if layer is None or traits is None or not (traits.between_spans or traits.in_chains):
            self.update(kind_text="")
        elif traits.between_spans:
            of = span_layer(layer.layer)
            rules = sum(
                bool(pairs(layer.layer, name)) or not directed(layer.layer, name)
                for name in layer.layer.names
            )
            message = ngettext(
                "Connects spans of the layer {layer}; {n} label has rules.",
                "Connects spans of the layer {layer}; {n} labels have rules.",
                rules,
                layer=of,
                n=formats.count(rules),
            )
            self.update(
                kind_text=message
                if of
                else _("Choose the layer whose spans it connects under Rules.")
            )
        else:

            def show(counts: Mapping[int, int]) -> None:
                n = counts.get(layer.id, 0)
                template = ngettext(
                    "{n} chain in all documents",
                    "{n} chains in all documents",
                    n,
                    n=formats.count(n),
                )
                self.update(kind_text=template)

            self.read("kind", partial(relation_rules.chain_counts, project), show)

    def _describe_layer(self) -> None:
        """Say what deleting the layer would remove."""
        layer, project = self.layer, self.project
        if layer is None:
            self.context.drop("layer-will-go")
            self.update(layer_will_go="")
            return
        self.read(
            "layer-will-go",
            partial(operations.will_go, project, layer_id=layer.id),
            lambda description: self.update(layer_will_go=description),
        )

    def _describe_chosen(self) -> None:
        """Say what deleting the selected labels would remove."""
        chosen, project = self.chosen, self.project
        if not chosen:
            self.context.drop("will-go")
            self.update(will_go="")
            return
        self.read(
            "will-go",
            partial(operations.will_go, project, chosen),
            lambda description: self.update(will_go=description),
        )

    # ---------------------------------------------------------------- selection

    def choose_layer(self, layer_id: int) -> None:
        if self.layer is None or self.layer.id != layer_id:
            self.update(chosen=(), will_go="")
            known = any(layer.id == layer_id for layer in self.layers)
            chosen = layer_id if known or self.layer is None else self.layer.id
            self._show([layer.layer for layer in self.layers], chosen)

    def choose(self, label_ids: Sequence[int]) -> None:
        ids = tuple(label_ids)
        if ids != self.chosen:
            self.update(chosen=ids, will_go="")
            self._describe_chosen()
            self.context.commands_changed()

    @property
    def chosen_rows(self) -> tuple[LabelRow, ...]:
        return tuple(label for label in self.labels if label.id in self.chosen)

    # ---------------------------------------------------------------- layers

    def add_layer(
        self,
        name: str,
        kind: str,
        texts: int,
        labels: Sequence[str],
        scale: Sequence[str] = (),
    ) -> None:
        """Add a layer. Raises WorkbenchError if the name is invalid; the dialog shows it.

        Labels are left out where layers of the kind have none. scale: minimum, maximum and step of
        a layer of numbers, as typed.
        """
        own = labels if LAYER_KINDS[kind].takes_labels else ()
        options = values.typed_scale(*scale).options if scale else None
        id = operations.add_layer(
            self.project, name, kind, texts=texts, labels=own, options=options, origin=self
        )
        self.choose_layer(id)

    def scale_problem(self, scale: Sequence[str]) -> str:
        """Why the typed minimum, maximum and step are not a scale, or ""."""
        try:
            if scale:
                values.typed_scale(*scale)
        except WorkbenchError as error:
            return str(error)
        return ""

    def rename_layer(self, layer_id: int, name: str) -> None:
        self.attempt(operations.rename_layer, layer_id, name)

    @property
    def snap(self) -> str:
        """To what spans of the layer snap; "" where that does not apply."""
        layer = self.layer.layer if self.layer else None
        return snap_of(layer) if layer is not None and layer.traits.editor == TEXT else ""

    def set_snap(self, snap: str) -> None:
        if self.layer is not None and snap != self.snap:
            self.attempt(operations.set_snap, self.layer.id, snap)

    @property
    def span_layers(self) -> tuple[Layer, ...]:
        """The layers whose spans the shown relation layer may connect."""
        texts = self.layer.layer.texts if self.layer else 1
        layers = (layer.layer for layer in self.layers)
        return tuple(layer for layer in layers if layer.traits.in_text and layer.texts == texts)

    def names_of(self, layer: str) -> tuple[str, ...]:
        """The labels of a layer."""
        return next(
            (layer_row.layer.names for layer_row in self.layers if layer_row.layer.name == layer),
            (),
        )

    def set_rules(
        self, *, spans: str, undirected: Sequence[str], pairs: Mapping[str, Sequence[Pair]]
    ) -> None:
        """Set the rules of the shown relation layer. Raises WorkbenchError; the dialog shows it."""
        if self.layer is not None:
            relation_rules.set_rules(
                self.project, self.layer.id, spans=spans, undirected=undirected, pairs=pairs
            )

    def delete_layer(self) -> None:
        if self.layer is None or not self.editable:
            return
        message = _("The layer {name} was deleted.", name=self.layer.layer.name)
        self._delete(self.labels, operations.delete_layer, self.layer.id, message)

    def set_guideline(self, layer_id: int, text: str) -> None:
        """Save the guideline and show why it could not be saved; it is then kept."""
        self.guidelines.put(layer_id, text)
        if (error := self.store_texts()) is not None:
            self.context.fail(error)

    def store_texts(self) -> WorkbenchError | None:
        """See `ui.project.unsaved`."""
        return self.guidelines.store()

    def unsaved_texts(self) -> tuple[UnsavedText, ...]:
        return self.guidelines.unsaved()

    @property
    def version_columns(self) -> tuple[Column, ...]:
        return guideline.columns()

    def guideline_versions(self) -> tuple[Version, ...]:
        """Of the selected layer, the newest first."""
        return () if self.layer is None else guideline.history(self.project, self.layer.id)

    @property
    def has_history(self) -> bool:
        return bool(self.guideline_versions())

    def restore_guideline(self, number: int) -> None:
        if self.layer is not None:
            self.attempt(guideline.restore, self.layer.id, number)

    @property
    def page_path(self) -> tuple[Path, str]:
        """The folder and the name that are suggested for the page of all guidelines."""
        name = _("{name} guideline", name=self.project.name)
        return self.project.path.parent, f"{name}{guideline_page.SUFFIX}"

    def export_guidelines(self, path: Path) -> None:
        def done(_result: object) -> None:
            message = _("Guidelines written to {path}.", path=path)
            self.context.note(message)

        self.context.task("page", partial(guideline_page.write, self.project, path), done)

    # ---------------------------------------------------------------- labels

    def add_label(self, name: str) -> bool:
        """Add a label and select it. Returns whether it could be added."""
        ids: list[int] = []
        if self.layer is None or not self.attempt(
            lambda project, *a, **k: ids.append(operations.add_label(project, *a, **k)),
            self.layer.id,
            name,
        ):
            return False
        self.choose(ids)
        return True

    def rename(self, label_id: int, name: str) -> None:
        self.attempt(operations.rename_label, label_id, name)

    def set_key(self, label_id: int, key: str) -> None:
        self.attempt(operations.set_key, label_id, key)

    def describe(self, label_id: int, description: str) -> None:
        self.attempt(operations.describe_label, label_id, description)

    def recolour(self, colour: str) -> None:
        """Set the colour of all selected labels; "" for the default by position."""
        if self.chosen:
            self.attempt(operations.recolour_labels, self.chosen, colour)

    @property
    def can_merge(self) -> bool:
        return self.editable and bool(self.chosen) and len(self.labels) > 1

    @property
    def can_split(self) -> bool:
        return self.editable and len(self.chosen) == 1 and bool(self.chosen_rows[0].count)

    @property
    def can_relocate(self) -> bool:
        """The selected labels can be moved to another layer, if there is one for them."""
        return self.editable and bool(self.chosen) and len(self.layers) > 1

    def delete_chosen(self) -> None:
        rows = self.chosen_rows
        if not rows or not self.editable:
            return
        words = ngettext(
            "{name} was deleted.", "{n} labels were deleted.", len(rows), name=rows[0].label.name
        )
        message = words
        self._delete(rows, operations.delete_labels, [row.id for row in rows], message)

    def _delete(
        self, rows: Sequence[LabelRow], act: Callable[..., Any], what: object, message: str
    ) -> None:
        """Delete immediately, or off the main thread if that would block the window.

        `rows`: the labels that are deleted.
        """
        known = all(row.count is not None for row in rows)
        count = sum(row.count or 0 for row in rows)
        if self.is_quick(rows):
            if self.attempt(act, what):
                self.context.note(message, True)
        else:
            title = ngettext("Delete {n:,} labelled place", "Delete {n:,} labelled places", count)
            if not known:
                title = _("Delete labels")
            self.context.task(
                "delete",
                partial(act, self.project, what),
                lambda _done: self.context.note(message, True),
                title=title,
                writes=True,
            )

    def is_quick(self, rows: Sequence[LabelRow]) -> bool:
        """Whether a change of these labels, with its backup, does not block the window."""
        if any(row.count is None for row in rows):
            return False
        count = sum(row.count or 0 for row in rows)
        copied = count > backup.LARGE_CHANGE or not rows  # a layer without labels has other values
        return count <= MAX_ROWS_COUNTED and not (copied and corpus.is_large(self.project))

    def attempt(self, act: Callable[..., Any], *values: Any) -> bool:
        """Run an operation on the project; on error, show it, reload the state and return False."""
        try:
            act(self.project, *values, origin=self)
        except WorkbenchError as error:
            self.context.fail(error)
            self.update(labels=tuple(self.labels), layers=tuple(self.layers))
            return False
        return True


class Groups:
    """What the selected labels of the page can do in their order."""

    def __init__(self, page: LabelsState) -> None:
        self._page = page

    def can_move(self, step: int) -> bool:
        return self._neighbour(step) is not None

    def move(self, step: int) -> None:
        """Move the selected label one position up (-1) or down (1), with its sublabels."""
        if (place := self._neighbour(step)) is not None:
            self._page.attempt(operations.move_label, self._page.chosen[0], place)

    def _neighbour(self, step: int) -> int | None:
        """The place of the label that the selected one would change places with, among those with
        the same parent.
        """
        page, rows = self._page, self._page.chosen_rows
        if not page.editable or len(rows) != 1:
            return None
        alike = [label for label in page.labels if label.label.parent == rows[0].label.parent]
        place = alike.index(rows[0]) + step
        return page.labels.index(alike[place]) if 0 <= place < len(alike) else None

    # ---------------------------------------------------------------- parents

    @property
    def parents(self) -> tuple[LabelRow, ...]:
        """The labels that all selected ones can be sublabels of; none if one has sublabels."""
        page, rows = self._page, self._page.chosen_rows
        layer = page.layer.layer if page.layer else None
        if layer is None or layer.traits.in_choices or not page.editable:
            return ()
        if not rows or any(layer.sublabels(row.label.name) for row in rows):
            return ()
        return tuple(label for label in page.labels if not label.label.parent and label not in rows)

    @property
    def parent(self) -> int | None:
        """The parent of the selected labels; None without one, or with several."""
        names = {row.label.parent for row in self._page.chosen_rows}
        name = names.pop() if len(names) == 1 else ""
        return next(
            (label.id for label in self._page.labels if name and label.label.name == name), None
        )

    def set_parent(self, parent_id: int | None) -> None:
        if self._page.chosen and parent_id != self.parent:
            self._page.attempt(label_groups.set_parent, self._page.chosen, parent_id)

    @property
    def parent_above(self) -> int | None:
        """The label that the selected ones become sublabels of when they are indented."""
        rows, allowed = self._page.chosen_rows, {parent.id for parent in self.parents}
        if not allowed or any(row.label.parent for row in rows):
            return None
        above = self._page.labels[: self._page.labels.index(rows[0])]
        return next((label.id for label in reversed(above) if label.id in allowed), None)

    def indent(self) -> None:
        if (above := self.parent_above) is not None:
            self.set_parent(above)

    @property
    def can_outdent(self) -> bool:
        return self._page.editable and any(row.label.parent for row in self._page.chosen_rows)

    def outdent(self) -> None:
        if self.can_outdent:
            self._page.attempt(label_groups.set_parent, self._page.chosen, None)


class Guidelines:
    """`written`: layer id → text that is not stored yet."""

    def __init__(self, state: LabelsState) -> None:
        self._state = state
        self.written: dict[int, str] = {}
        self._bases: dict[int, str] = {}  # the stored text when writing began

    def put(self, layer_id: int, text: str) -> None:
        """Remember a text that is being written."""
        stored = next((r.layer.guideline for r in self._state.layers if r.id == layer_id), "")
        self._bases.setdefault(layer_id, stored)
        self.written[layer_id] = text

    def of(self, layer_id: int, stored: str) -> str:
        """The guideline of a layer, also if it could not be stored."""
        return self.written.get(layer_id, stored)

    def store(self) -> WorkbenchError | None:
        """See `ui.project.unsaved`."""
        failed = None
        stored = {row.id: row.layer.guideline for row in self._state.layers}
        for layer_id, text in list(self.written.items()):
            try:
                if stored.get(layer_id, text) != text:  # else the layer was deleted meanwhile
                    base = self._bases.get(layer_id)
                    state = self._state
                    guideline.write(state.project, layer_id, text, base=base, origin=state)
            except WorkbenchError as error:
                failed = error
            else:
                self.written.pop(layer_id, None)
                self._bases.pop(layer_id, None)
        return failed

    def unsaved(self) -> tuple[UnsavedText, ...]:
        names = {row.id: row.layer.name for row in self._state.layers}
        place = _("guideline of layer {layer}")
        return tuple(
            UnsavedText(place.format(layer=names[id]), text)
            for id, text in self.written.items()
            if id in names
        )
