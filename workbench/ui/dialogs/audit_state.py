"""State of the alignment audit: labels that the tokenizer of a model would split, lose or cut."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.evaluation import alignment_audit, folds
from workbench.operations.evaluation.alignment_audit import AlignmentAudit, Finding
from workbench.operations.models import installed
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.models.spec import ModelInfo
    from workbench.project.changes import Changes
    from workbench.project.project import Project
    from workbench.tasks.spec import TaskInfo
    from workbench.text.labels import Layer
    from workbench.ui.application import Application

columns = alignment_audit.columns
KINDS, TITLES, MEANINGS = alignment_audit.KINDS, alignment_audit.TITLES, alignment_audit.MEANINGS
CHECK, CHANGED = "check", "changed"  # keys of tasks: all labels; those of changed documents
LABELLED = ("span", "state", "layer", "label", "document")
OF_ALL = ("layer", "label")  # changes of these concern every document
MOST_AGAIN = 200  # changed documents that are checked again at once, without a click


class AuditState(State):
    """`audit` is None until a check has ended; `share` is its progress, None if none is running.

    Documents that change are checked again; outdated: too many have changed for that.
    """

    def __init__(
        self, app: Application, project: Project, layer: str = "", model: str = ""
    ) -> None:
        super().__init__()
        self.app, self.project = app, project
        self.layers: tuple[Layer, ...] = folds.measurable(project)
        self.cards: tuple[ModelInfo, ...] = ()
        self.layer, self.model = layer or next((x.name for x in self.layers), ""), model
        self.task = ""  # of the layer's tasks; "" for the first
        self.audit: AlignmentAudit | None = None
        self.kind = ""
        self.share: float | None = None
        self.problem = ""
        self.outdated = False
        self.closed = False
        self._changed_ids: set[int] = set()  # of documents to check again
        self._tasks = app.new_tasks()
        self.listen(project.changed, self._changed)
        self.listen(project.layers_shown, self._layers_shown)
        work = partial(installed.list, app.settings)
        self._tasks.start("models", work, self._take_cards, failed=self._failed)

    def _take_cards(self, cards: Sequence[ModelInfo]) -> None:
        self.update(cards=tuple(card for card in cards if not card.problems))
        names = [card.name for card in self.cards]
        if self.model not in names:
            usual = [name for name in names if name == "starter-bert"]
            self.update(model=next(iter(usual or names), ""))
        self.check()

    def _layers_shown(self) -> None:
        if self.app.is_blind:  # the findings may be on labels of others
            self.update(audit=None)
            self.check()

    def _changed(self, changes: Changes) -> None:
        if not any(map(changes.touches, LABELLED)) or (self.audit is None and self.share is None):
            return
        ids = None if any(map(changes.touches, OF_ALL)) else changes.documents
        if ids is None or len(ids) > MOST_AGAIN:
            self.update(outdated=True)
        else:
            self._changed_ids |= ids
            self._check_changed()

    def _check_changed(self) -> None:
        """Check the documents that have changed since, unless a check is still running."""
        waiting = self.share is not None or self._tasks.waiting(CHANGED)
        if waiting or not self._changed_ids:
            return
        ids, before = frozenset(self._changed_ids), self.audit
        self._changed_ids.clear()
        work = self._auditing(only=ids)
        if work is None or before is None:
            return

        def done(audit: AlignmentAudit) -> None:
            self.update(audit=before.updated(ids, audit))
            self._check_changed()

        def failed(error: Exception) -> None:
            self.update(outdated=True)
            self._show_error(error)
            self._check_changed()

        self._tasks.start(CHANGED, work, done, failed=failed)

    def choose(
        self, *, layer: str | None = None, model: str | None = None, task: str | None = None
    ) -> None:
        of_layer = "" if layer not in (None, self.layer) else self.task
        self.update(
            layer=layer or self.layer,
            model=model or self.model,
            task=of_layer if task is None else task,
            audit=None,
            kind="",
        )
        self.check()

    @property
    def tasks(self) -> tuple[TaskInfo, ...]:
        """The tasks that learn the layer."""
        layer = next((layer for layer in self.layers if layer.name == self.layer), None)
        return tasks.fitting(layer) if layer is not None else ()

    def narrow(self, kind: str) -> None:
        self.update(kind=kind)

    # ---------------------------------------------------------------- checking

    def check(self) -> None:
        """Check all labels, replacing a check that is running."""
        work = self._auditing()
        for key in (CHECK, CHANGED):
            self._tasks.drop(key)
        self._changed_ids.clear()
        if work is None:
            self.update(share=None)
            return
        self.update(share=0.0, problem="", outdated=False)
        self._tasks.start(
            CHECK, work, self._checked, failed=self._failed, progress=self._progressed
        )

    def _checked(self, audit: AlignmentAudit) -> None:
        self.update(audit=audit, share=None)
        self._check_changed()

    def _progressed(self, watch: Watch) -> None:
        self.update(share=watch.share)

    def _auditing(
        self, *, only: Collection[int] | None = None
    ) -> Callable[..., AlignmentAudit] | None:
        """What checks the documents `only` (by default all), None without a layer or a model."""
        layer = next((layer for layer in self.layers if layer.name == self.layer), None)
        card = next((card for card in self.cards if card.name == self.model), None)
        if layer is None or card is None:
            return None
        return partial(
            alignment_audit.audit,
            self.project,
            layer,
            card.path,
            model_length=card.max_length,
            task=self.task,
            only=only,
        )

    def _failed(self, error: Exception) -> None:
        self.update(share=None)
        self._show_error(error)

    def _show_error(self, error: Exception) -> None:
        if isinstance(error, WorkbenchError) and not isinstance(error, Cancelled):
            self.update(problem=str(error))
        elif not isinstance(error, Cancelled):
            self.app.fail(error)

    def cancel(self) -> None:
        self._tasks.cancel(CHECK)

    def close(self) -> None:
        self.closed = True
        self._tasks.close()
        super().close()

    # ---------------------------------------------------------------- findings

    @property
    def shown(self) -> tuple[Finding, ...]:
        findings = self.audit.findings if self.audit is not None else ()
        return tuple(item for item in findings if not self.kind or item.kind == self.kind)

    @property
    def fixable(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.shown if finding.fix is not None)

    @property
    def looks(self) -> dict[str, Any]:
        """The labels of the layer by name."""
        layer = next((layer for layer in self.layers if layer.name == self.layer), None)
        return {label.name: label for label in layer.labels} if layer is not None else {}

    def open(self, finding: Finding) -> None:
        """Open the place in Annotate."""
        args: dict[str, Any] = {"span": finding.span_id} if finding.span_id is not None else {}
        self.app.visit("annotate", document=finding.document_id, **args)

    def fix(self, chosen: Sequence[Finding]) -> None:
        """Snap these labels to words, in one undo step."""
        fixable = [finding for finding in chosen if finding.fix is not None]
        if not fixable or self.project.read_only:
            return

        def done(moved: int) -> None:
            message = ngettext("Snapped {n} label to words.", "Snapped {n} labels to words.", moved)
            self.app.note(message, undo=True)
            if self.outdated:  # too many to be checked one by one
                self.check()

        work = partial(alignment_audit.snap, self.project, fixable)
        self._tasks.start("snap", work, done, failed=self._show_error)

    def describe(self) -> str:
        """What was checked, in a sentence."""
        audit = self.audit
        if audit is None:
            return ""
        documents = ngettext("{n:,} document", "{n:,} documents", audit.documents)
        labels = ngettext("{n:,} label", "{n:,} labels", audit.labels)
        return _(
            "{documents} with {labels}; maximum length: {length}.",
            documents=documents.format(n=audit.documents),
            labels=labels,
            length=audit.max_length,
        )
