"""State of the dialogs that merge, split and move labels together with their annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.schema import label_changes as operations
from workbench.operations.schema import label_moves
from workbench.operations.schema.label_changes import LabelUse
from workbench.text.labels import Layer
from workbench.text.rows import row_id
from workbench.ui.panels.labels.state import LabelRow, LabelsState

DESCRIPTION, USES = "change-description", "uses"  # keys of tasks
MERGE, SPLIT, MOVE = "merge", "split", "move"


class ChangeState(State):
    """One change of the selected labels.

    `message` says what it does; it is worked out in the background in large projects.
    `fault`: why it could not be done; "" if it was.
    """

    def __init__(self, page: LabelsState) -> None:
        super().__init__()
        self.page, self.project = page, page.project
        self.rows: tuple[LabelRow, ...] = page.chosen_rows
        self.message = self.fault = ""

    def close(self) -> None:
        self.page.context.drop(DESCRIPTION)
        self.page.context.drop(USES)
        super().close()

    @property
    def ids(self) -> list[int]:
        return [row.id for row in self.rows]

    def _describe(self, work: Callable[[], str]) -> None:
        self.page.read(DESCRIPTION, work, lambda message: self.update(message=message))

    def _run(self, title: str, act: Callable[..., Any], describe: Callable[[Any], str]) -> bool:
        """Do it at once, or off the main thread if that would block the window; True unless it
        failed. `act()` takes `watch` and returns what `describe` tells.
        """
        context = self.page.context
        if not self.page.is_quick(self.rows):
            context.task(
                "change",
                act,
                lambda done: context.note(describe(done), True),
                title=title,
                writes=True,
            )
            return True
        try:
            done = act()
        except WorkbenchError as error:
            self.update(fault=str(error))
            return False
        context.note(describe(done), True)
        return True


class MergeState(ChangeState):
    """`into`: the label that remains. With one label selected, it is merged into another one."""

    def __init__(self, page: LabelsState) -> None:
        super().__init__(page)
        several = len(self.rows) > 1
        self.targets = (
            self.rows
            if several
            else tuple(label for label in page.labels if label not in self.rows)
        )
        self.into = max(self.targets, key=lambda row: row.count or 0).id if self.targets else 0
        self.choose(self.into)

    def choose(self, into: int) -> None:
        self.update(into=into, fault="")
        project, ids = self.project, self.ids
        if into:
            self._describe(lambda: operations.merge_text(project, ids, into))

    def run(self) -> bool:
        ids, into = self.ids, self.into
        return self._run(
            _("Merge labels"),
            partial(operations.merge, self.project, ids, into),
            lambda n: ngettext(
                "Merged; {n:,} annotation was changed.",
                "Merged; {n:,} annotations were changed.",
                n,
            ),
        )


class MoveState(ChangeState):
    """`layers`: where the labels can be moved to; `layer_id`: where they will be."""

    def __init__(self, page: LabelsState) -> None:
        super().__init__(page)
        own = page.layer
        self.layers: tuple[Layer, ...] = label_moves.layers_for(self.project, own.id) if own else ()
        self.layer_id = 0
        if self.layers:
            self.choose(row_id(self.layers[0]))

    def choose(self, layer_id: int) -> None:
        self.update(layer_id=layer_id, fault="")
        project, ids = self.project, self.ids
        self._describe(lambda: label_moves.move_text(project, ids, layer_id))

    def run(self) -> bool:
        ids, layer_id = self.ids, self.layer_id
        return self._run(
            _("Move labels"),
            partial(label_moves.move, self.project, ids, layer_id),
            lambda n: ngettext("Moved {n:,} annotation.", "Moved {n:,} annotations.", n),
        )


class SplitState(ChangeState):
    """`uses`: the uses of the label, None while they are read; `shown`: those that contain what was
    typed. `in_text`: spans or relations are chosen by their texts, else documents; `connects`: they
    are relations.
    """

    def __init__(self, page: LabelsState) -> None:
        super().__init__(page)
        self.uses: tuple[LabelUse, ...] | None = None
        self.shown: tuple[LabelUse, ...] = ()
        self.chosen: tuple[LabelUse, ...] = ()
        self.name = self.filter = ""
        traits = page.layer.layer.traits if page.layer is not None else None
        self.connects = traits is not None and traits.between_spans
        self.in_text = self.connects or (traits is not None and traits.in_text)
        project, label_id = self.project, self.ids[0]
        page.read(USES, partial(operations.uses, project, label_id), self._read)

    @property
    def cut(self) -> bool:
        """There are more uses than can be shown."""
        return self.uses is not None and len(self.uses) >= operations.SHOWN

    @property
    def can_run(self) -> bool:
        return bool(self.name.strip() and self.chosen)

    def _read(self, uses: tuple[LabelUse, ...]) -> None:
        self.update(uses=uses, shown=uses)

    def set_filter(self, words: str) -> None:
        pattern = words.casefold()
        matching = tuple(use for use in self.uses or () if pattern in use.text.casefold())
        self.update(filter=words, shown=matching)

    def set_name(self, name: str) -> None:
        self.update(name=name, fault="")
        self._count()

    def choose(self, chosen: Sequence[LabelUse]) -> None:
        self.update(chosen=tuple(chosen))
        self._count()

    def _count(self) -> None:
        n, name = sum(use.count for use in self.chosen), self.name.strip()
        if not self.can_run:
            self.update(message="")
            return
        message = ngettext(
            "{n:,} annotation gets the label {name}.",
            "{n:,} annotations get the label {name}.",
            n,
            name=name,
        )
        self.update(message=message)

    def run(self) -> bool:
        ids = [id for use in self.chosen for id in use.ids]
        rows, documents = (ids, None) if self.in_text else (None, ids)
        label_id, name = self.ids[0], self.name.strip()
        return self._run(
            _("Split label"),
            partial(
                operations.split, self.project, label_id, name, ids=rows, document_ids=documents
            ),
            lambda done: ngettext(
                "{n:,} annotation was changed.", "{n:,} annotations were changed.", done[1]
            ),
        )
