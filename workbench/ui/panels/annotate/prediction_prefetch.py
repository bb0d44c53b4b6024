"""Runs that predict the next documents of the queue before they are opened. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import preannotate
from workbench.operations.annotation.preannotate import (
    FAILED,
    NEWEST,
    RUNNING,
    WAITING,
    Preannotation,
)
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.queue import QueueState

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext

_KEY = "annotate.ahead"  # project uid → uid of a layer → id of the run, or NEWEST
MOVED = frozenset({"ids", "document_id", "off", "left"})  # what changes the next documents


@dataclass(frozen=True)
class PreannotationChoice:
    """The runs of a layer: (id, title), None for none. `chosen`: one of the ids.

    refused: id → why the run cannot predict.
    """

    layer: str
    runs: tuple[tuple[int | None, str], ...]
    chosen: int | None
    refused: Mapping[int, str] = field(default_factory=dict)


class PredictionPrefetch(QueueState):
    """`ahead_line`: what pre-annotation does, or what went wrong; "" while no run is chosen.

    A run is chosen for each layer, or none; the choice is kept for the project. `run_changes`: a
    number that changes with the runs of the project.
    """

    def __init__(self, context: PanelContext) -> None:
        self.ahead: Preannotation | None = None
        self.ahead_line = self.ahead_tip = ""
        self.run_changes = 0
        super().__init__(context)
        self.listen(self.changed, self._moved)
        self.listen(self.project.changed, self._runs_changed)

    def close(self) -> None:
        if self.ahead is not None:
            self.ahead.close()
        super().close()

    # ------------------------------------------------------------ choosing

    @property
    def _ahead_kept(self) -> Mapping[str, int]:
        runs = self.context.settings.window.get(_KEY, {}).get(self.project.uid, {})
        return runs if isinstance(runs, dict) else {}

    @property
    def ahead_chosen(self) -> dict[int, int]:
        """Id of a selected layer → id of the chosen run, or NEWEST."""
        runs = self._ahead_kept
        return {
            row_id(ordered_layer): runs[ordered_layer.uid]
            for ordered_layer in self.ordered_layers
            if ordered_layer.uid in runs
        }

    @property
    def ahead_choices(self) -> tuple[PreannotationChoice, ...]:
        """The choices for each selected layer that a run can predict."""
        choices, chosen = [], self.ahead_chosen
        for layer in self.ordered_layers:
            fitting = preannotate.choices(self.project, layer)
            if fitting:
                newest = preannotate.newest(self.project, layer)
                runs: list[tuple[int | None, str]] = [(None, _("No run"))]
                if newest is not None:
                    runs += [(NEWEST, _("Newest run ({name})", name=newest.name))]
                runs += [(run.id, run.name) for run in fitting]
                refused = preannotate.refused(self.project, layer)
                now = chosen.get(row_id(layer))
                choices.append(PreannotationChoice(layer.name, tuple(runs), now, refused))
        return tuple(choices)

    @property
    def can_ahead(self) -> bool:
        return not self.project.read_only and bool(self.ordered_layers)

    def choose_ahead(self, layer_name: str, run: int | None) -> None:
        """Pre-annotate a layer with a run (its id, or NEWEST) from now on; None for no run."""
        layer = next(layer for layer in self.layers if layer.name == layer_name)
        runs = {uid: id for uid, id in self._ahead_kept.items() if uid != layer.uid}
        if run is not None:
            runs[layer.uid] = run
        window = self.context.settings.window
        window[_KEY] = {**window.get(_KEY, {}), self.project.uid: runs}
        self.context.settings.save()
        self._use_ahead()
        self._show_live()

    @property
    def ahead_failed(self) -> bool:
        return self.ahead is not None and self.ahead.status == FAILED

    def retry_ahead(self) -> None:
        if self.ahead is not None:
            self.ahead.retry()

    def _use_ahead(self) -> None:
        """Start, change or end the predictions as chosen."""
        chosen = {} if self.project.read_only else self.ahead_chosen
        runs = preannotate.resolved(self.project, chosen) if chosen else ()
        if self.ahead is None and runs:
            self.ahead = Preannotation(self.project, self.context.queue, self.context)
            self.ahead.changed.connect(self._ahead_changed)
        if self.ahead is not None and [run.id for run in self.ahead.runs] != [r.id for r in runs]:
            self.ahead.use(runs)
            self._follow_queue()

    def _runs_changed(self, changes: Changes) -> None:
        if not changes.touches("run"):
            return
        self.update(run_changes=self.run_changes + 1)
        if self._ahead_kept:
            self._use_ahead()

    # ------------------------------------------------------------ following the queue

    def _moved(self, fields: frozenset[str]) -> None:
        if fields & {"layers", "off"} and self._ahead_kept:
            self._use_ahead()
        if fields & MOVED:
            self._follow_queue()

    def _follow_queue(self) -> None:
        if self.ahead is not None and not self.errors:
            filter = self.shown_filter() if self.queue_order is None else None
            self.ahead.follow(preannotate.QueuePlace(self.ids, self.document_id, filter))

    def _ahead_changed(self) -> None:
        if self.ahead is not None:
            self.update(ahead_line=self._ahead_text(self.ahead), ahead_tip=self.ahead.message)
            self._show_live()
            self._count_again(self.ahead.fresh)

    def _ahead_text(self, ahead: Preannotation) -> str:
        if not ahead.runs or ahead.wanted is None and ahead.status != FAILED:
            return ""
        if ahead.status == FAILED:
            return _("Pre-annotation stopped")
        message = ngettext("next {n} pre-annotated", "next {n} pre-annotated", ahead.ready)
        message = message.format(n=ahead.ready)
        if ahead.ready >= (ahead.wanted or 0):
            return message if ahead.wanted else _("nothing left to pre-annotate")
        if ahead.status == RUNNING:
            return _("{message}, predicting…", message=message) if ahead.ready else _("predicting…")
        if ahead.status == WAITING:
            return _("{message}, waiting for a training run", message=message)
        return message

    # ------------------------------------------------------------ what it has predicted

    def _show_live(self) -> None:
        """Show suggestions that have come for the open document."""
        raise NotImplementedError

    def _count_again(self, ids: Iterable[int]) -> None:
        """Count the suggestions of these documents again in the queue."""
        raise NotImplementedError
