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
from workbench.ui.panels.annotate.session import SuggestionSource
from workbench.ui.panels.annotate.tool import Tool

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import DocumentRow
    from workbench.ui.panels.annotate.session import DocumentSession

_KEY = "annotate.ahead"  # project uid → uid of a layer → id of the run, or NEWEST


@dataclass(frozen=True)
class PreannotationChoice:
    """The runs of a layer: (id, title), None for none. `chosen`: one of the ids.

    refused: id → why the run cannot predict.
    """

    layer: str
    runs: tuple[tuple[int | None, str], ...]
    chosen: int | None
    refused: Mapping[int, str] = field(default_factory=dict)


class PrefetchTool(Tool, SuggestionSource):
    """`line`: what pre-annotation does, or what went wrong; "" while no run is chosen.

    A run is chosen for each layer, or none; the choice is kept for the project.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        session.predictors.append(self)
        self.running: Preannotation | None = None
        self.line = self.tip = ""
        self.listen(session.changed, self._session_changed)
        if self._stored:
            self._use()

    def close(self) -> None:
        if self.running is not None:
            self.running.close()
        super().close()

    def suggesting_runs(self) -> Iterable[tuple[int, int]]:
        runs = self.running.runs if self.running is not None else ()
        return [(run.id, run.layer_id) for run in runs if run.layer_id is not None]

    def suggestion_count(self, row: DocumentRow) -> int:
        return self.running.counts.get(row.id, 0) if self.running is not None else 0

    # ------------------------------------------------------------ choosing

    @property
    def _stored(self) -> Mapping[str, int]:
        runs = self.context.settings.window.get(_KEY, {}).get(self.project.uid, {})
        return runs if isinstance(runs, dict) else {}

    @property
    def chosen(self) -> dict[int, int]:
        """Id of a selected layer → id of the chosen run, or NEWEST."""
        runs = self._stored
        return {
            row_id(ordered_layer): runs[ordered_layer.uid]
            for ordered_layer in self.session.ordered_layers
            if ordered_layer.uid in runs
        }

    @property
    def choices(self) -> tuple[PreannotationChoice, ...]:
        """The choices for each selected layer that a run can predict."""
        choices, chosen = [], self.chosen
        for layer in self.session.ordered_layers:
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
    def can_choose(self) -> bool:
        may = not (self.project.read_only or self.session.blind)
        return may and bool(self.session.ordered_layers)

    def choose(self, layer_name: str, run: int | None) -> None:
        """Pre-annotate a layer with a run (its id, or NEWEST) from now on; None for no run."""
        layer = next(layer for layer in self.session.layers if layer.name == layer_name)
        runs = {uid: id for uid, id in self._stored.items() if uid != layer.uid}
        if run is not None:
            runs[layer.uid] = run
        window = self.context.settings.window
        window[_KEY] = {**window.get(_KEY, {}), self.project.uid: runs}
        self.context.settings.save()
        self._use()
        self.session.show_live()

    @property
    def failed(self) -> bool:
        return self.running is not None and self.running.status == FAILED

    def retry(self) -> None:
        if self.running is not None:
            self.running.retry()

    def _use(self) -> None:
        """Start, change or end the predictions as chosen."""
        chosen = {} if self.project.read_only or self.session.blind else self.chosen
        runs = preannotate.resolved(self.project, chosen) if chosen else ()
        if self.running is None and runs:
            self.running = Preannotation(self.project, self.context.queue, self.context)
            self.running.changed.connect(self._changed)
        if self.running is not None and [run.id for run in self.running.runs] != [
            r.id for r in runs
        ]:
            self.running.use(runs)
            self._follow()

    # ------------------------------------------------------------ following the queue

    def _session_changed(self, fields: frozenset[str]) -> None:
        if fields & {"layers", "off", "blind", "run_changes"} and self._stored:
            self._use()
        if "place" in fields:
            self._follow()

    def _follow(self) -> None:
        if self.running is not None and self.session.place is not None:
            self.running.follow(self.session.place)

    def _changed(self) -> None:
        if self.running is not None:
            self.update(line=self._text(self.running), tip=self.running.message)
            self.session.show_live()
            if fresh := self.running.fresh:
                self.session.suggested_again.emit(fresh)

    def _text(self, ahead: Preannotation) -> str:
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
