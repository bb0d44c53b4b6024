"""State of the Export page: run or published model, formats, folder, progress, and the result of
the check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.errors import Cancelled, JobFailed
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.exporters.model.results import CheckedText, ExportResult, Verification
from workbench.operations.models import export, serving
from workbench.ui.panels.export.serving_state import ServingState
from workbench.ui.panels.export.weights_state import WeightsState
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.models.spec import ModelInfo
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.ui.panel import PanelContext


EXPORT = "export"  # key of the task


@dataclass(frozen=True)
class CheckedRow:
    """A text that was compared in a format; `number`: of the comparison."""

    number: int
    format: str
    checked: CheckedText


class ExportState(State):
    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project, self.queue = context, opened(context), context.queue
        self.runs: tuple[Run, ...] = ()
        self.run_id: int | None = None
        self.models: tuple[ModelInfo, ...] = ()  # published ones
        self._models: tuple[ModelInfo, ...] = ()
        self.model = ""  # name of the selected one; "" if a run is selected
        self.folder = ""
        self.offers: tuple[export.FormatOffer, ...] = ()  # all formats, for the selected run
        self.formats = export.default_formats()  # those selected
        self.where, self._task = "", ""  # folder and task of what was exported last
        self.stage = ""  # title of the running operation
        self.share: float | None = None  # progress of the check, in [0, 1]
        self.rows: tuple[CheckedRow, ...] = ()
        self.result: ExportResult | None = None
        self.problem, self.details = "", ""  # error of the last export
        self._own_folder = False  # entered or chosen by the user, so it is not replaced
        self.weights, self.serving = WeightsState(context), ServingState(context)
        self.listen(self.project.changed, self._project_changed)
        self.listen(registry().changed, self._show_offers)
        self.refresh()

    # ---------------------------------------------------------------- choices

    def refresh(self) -> None:
        """Read runs and models again; if none is selected, select the latest run with a model."""
        self._models = export.exportable_models(self.context.settings)
        self._look_at_runs()

    def _look_at_runs(self) -> None:
        runs = export.exportable_runs(self.project)
        # The language models of the application alone are nothing to begin with.
        some = runs or any(card.task or card.origin != "starter" for card in self._models)
        self.update(runs=runs, models=self._models if some else ())
        if self.run is not None or self.card is not None:
            return
        self.update(run_id=None, model="", offers=())
        if self.runs:
            self.choose(self.runs[0].id)
        elif self.models:
            self.choose_model(self.models[0].name)

    def _project_changed(self, changes: Changes) -> None:
        if changes.touches("run"):
            self._look_at_runs()

    @property
    def run(self) -> Run | None:
        """The selected run."""
        return next((run for run in self.runs if run.id == self.run_id), None)

    @property
    def card(self) -> ModelInfo | None:
        """The selected published model."""
        return next(
            (model_info for model_info in self.models if model_info.name == self.model), None
        )

    @property
    def name(self) -> str:
        """Name of the selected run or model."""
        selected = self.run or self.card
        return selected.name if selected is not None else ""

    def choose(self, run_id: int) -> None:
        """Select another run and clear the result of an earlier export."""
        if run_id != self.run_id and run_id in {run.id for run in self.runs}:
            self.run_id, self.model = run_id, ""
            self._chosen()

    def choose_model(self, name: str) -> None:
        """As `choose`, a published model."""
        if name != self.model and name in {model_info.name for model_info in self.models}:
            self.run_id, self.model = None, name
            self._chosen()

    def _chosen(self) -> None:
        self._show_offers()
        if not self.busy:
            self.update(rows=(), result=None, problem="", stage="")
        if not self._own_folder:
            self.update(folder=str(self._free_folder()))
        self.changed.emit(frozenset({"run_id", "model"}))
        self.context.commands_changed()

    def _show_offers(self) -> None:
        """Formats may have been added or removed with a plugin, or another model was selected."""
        if self.run is not None:
            offers = self.context.attempt(export.offers, self.project, self.run) or ()
        elif self.card is not None:
            offers = self.context.attempt(export.offers_of_model, self.card) or ()
        else:
            return
        self.update(offers=offers)
        if offers:
            fitting = [offer.id for offer in offers if not offer.unfit]
            formats = tuple(id for id in self.formats if id in fitting)
            defaults = tuple(id for id in export.default_formats() if id in fitting)
            self.update(formats=formats or defaults or tuple(fitting)[:1])
            choices = serving.weights_of(fitting)
            run = self.run if choices else None
            self.weights.choose(run)
            self.serving.choose(run, choices)

    def short(self, format: str) -> str:
        """The title of a format for a narrow column."""
        return next((offer.short for offer in self.offers if offer.id == format), format)

    def title(self, format: str) -> str:
        return next((offer.title for offer in self.offers if offer.id == format), format)

    @property
    def bytes_chosen(self) -> int:
        """Estimated size of the selected formats."""
        return sum(offer.bytes for offer in self.offers if offer.id in self.formats)

    def _free_folder(self) -> Path:
        """A folder that does not exist yet, next to other documents."""
        chosen = self.context.settings.documents_folder
        home = Path(chosen).expanduser() if chosen else paths.documents_folder()
        return paths.free_name(home, f"{self.project.name} {self.name}".replace("/", "-"), "")

    def set_folder(self, folder: str) -> None:
        self._own_folder = bool(folder.strip())
        self.update(folder=folder.strip())
        self.context.commands_changed()

    def set_format(self, format: str, on: bool) -> None:
        selected = {*self.formats, format} if on else set(self.formats) - {format}
        self.update(formats=tuple(offer.id for offer in self.offers if offer.id in selected))
        self.context.commands_changed()

    @property
    def missing(self) -> str:
        """What is missing for an export; "" if it can start."""
        if not self.name:
            return _("There is no run with a model of its own yet.")
        if not self.formats:
            return _("Choose at least one format.")
        if not self.folder:
            return _("Enter a folder.")
        return ""

    @property
    def busy(self) -> bool:
        return self.context.waiting(EXPORT)

    @property
    def ready(self) -> bool:
        return not self.missing and not self.busy

    # ---------------------------------------------------------------- the export

    def start(self) -> None:
        if not self.ready:
            return
        # the folder contains an earlier export
        if not self._own_folder and Path(self.folder).exists():
            self.update(folder=str(self._free_folder()))
        self.update(rows=(), result=None, problem="", details="", share=None, stage=_("Queued"))
        folder = Path(self.folder).expanduser()
        self.where, self._task = str(folder.absolute()), self._task_of_chosen
        self.context.task(
            EXPORT, self._work(folder), self._exported,
            failed=self._failed, progress=self._progressed, on_event=self._describe,
        )  # fmt: skip
        self._busy_changed()

    @property
    def _task_of_chosen(self) -> str:
        if self.card is not None:
            return self.card.task
        return str(self.run.spec.get("task", "")) if self.run is not None else ""

    def _work(self, folder: Path) -> Callable[..., ExportResult]:
        formats = self.formats
        if self.card is not None:
            return partial(
                export.export_published, self.project, self.queue, self.card, folder, formats
            )
        if self.run is None:
            raise RuntimeError("nothing is selected")
        return partial(export.export_run, self.project, self.queue, self.run, folder, formats)

    def cancel(self) -> None:
        if self.busy:
            self.context.cancel(EXPORT)
            self.update(stage=_("Cancelling; removing partial files"), share=None)

    def _progressed(self, watch: Watch) -> None:
        if not watch.progress and not watch.cancelled:
            self.update(stage=_("Queued") if watch.behind else _("Starting a worker"))

    def _describe(self, payload: Mapping[str, Any]) -> None:
        kind = payload.get("kind")
        if kind == "stage":
            self.update(stage=str(payload["title"]), share=None)
        elif kind == "checked":
            start = len(self.rows)
            new = tuple(
                CheckedRow(start + number, payload["format"], CheckedText.from_json(row))
                for number, row in enumerate(payload["rows"])
            )
            self.update(rows=self.rows + new, share=payload["done"] / max(1, payload["total"]))

    def _exported(self, result: ExportResult) -> None:
        self._own_folder = False  # the next export gets a new folder
        rows = tuple(
            sorted(self.rows, key=lambda row: (row.checked.equal, -row.checked.difference))
        )
        self.update(stage="", share=None, rows=rows, result=result)
        self._busy_changed()
        self.context.note(_("Exported to {folder}", folder=self.where))

    def _failed(self, error: Exception) -> None:
        cancelled = isinstance(error, Cancelled)
        details = error.details if isinstance(error, JobFailed) else ""
        problem = "" if cancelled else str(error)
        self.update(stage="", share=None, problem=problem, details=details)
        self._busy_changed()
        if cancelled:
            self.context.note(_("Export cancelled. No files were kept."))

    def _busy_changed(self) -> None:
        self.changed.emit(frozenset({"busy"}))
        self.context.commands_changed()

    # ---------------------------------------------------------------- result

    @property
    def checks(self) -> tuple[tuple[str, Verification], ...]:
        """Title of each exported format, and its comparison with the original."""
        result = self.result
        if result is None:
            return ()
        checks = result.checks or ({"": result.check} if result.check else {})
        return tuple((self.title(format), check) for format, check in checks.items())

    @property
    def bytes_written(self) -> int:
        return self.result.bytes_written if self.result else 0

    def code(self) -> str:
        """Python code that loads the export, including the ONNX model if exported."""
        if self.result is None or not self._task:
            return ""
        return "\n".join(
            export.loading_code(name, folder, self._task, own_head=self.result.own_head)
            for name, folder in self.result.folders.items()
        )
