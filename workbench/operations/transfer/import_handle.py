"""A running import: progress, cancellation, result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.base import plugin_failures
from workbench.base.errors import Cancelled, ImportFailed, JobFailed, WorkbenchError
from workbench.base.events import Signal
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.base.watch import Watch
from workbench.jobs.events import Finished, Output
from workbench.text.document import SPLITS

if TYPE_CHECKING:
    from workbench.importers.results import FileRead
    from workbench.jobs.queue import Job


@dataclass(frozen=True)
class SkippedRecord:
    file: str
    line: int
    reason: str


@dataclass(frozen=True)
class SameTexts:
    """Number of records whose text exists in the project, or earlier in the files, under another
    key.

    `action`: how they were handled: imported, skipped or suggested.
    """

    project: int = 0
    files: int = 0
    action: str = "imported"


@dataclass(frozen=True)
class ImportOutcome:
    """Numbers of new `documents`, `spans` and `questions`; `suggestions` created from duplicates
    and by patterns. `labelled`: new documents with gold labels, `labels`: labels of the files,
    `splits`: number of new documents per split. `failed`: whether every record has an error.
    """

    documents: int
    spans: int
    skipped: tuple[SkippedRecord, ...]
    warnings: tuple[str, ...]
    suggestions: int = 0
    same_texts: SameTexts = SameTexts()
    formats: tuple[FileRead, ...] = ()
    questions: int = 0
    failed: bool = False
    labelled: int = 0
    labels: int = 0
    splits: Mapping[str, int] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """What was imported: numbers of documents, labels, spans, documents per split …"""
        n = self.documents
        parts = [ngettext("{n:,} document", "{n:,} documents", n).format(n=n)]
        if n := self.labelled:
            parts.append(_("{n:,} labelled").format(n=n))
        if n := self.labels:
            parts.append(ngettext("{n:,} label", "{n:,} labels", n).format(n=n))
        if n := self.spans:
            parts.append(ngettext("{n:,} span", "{n:,} spans", n).format(n=n))
        if n := self.questions:
            parts.append(ngettext("{n:,} question", "{n:,} questions", n).format(n=n))
        if n := self.suggestions:
            parts.append(ngettext("{n:,} suggestion", "{n:,} suggestions", n).format(n=n))
        counts = [
            f"{self.splits[split]:,} {term(split)}" for split in SPLITS if split in self.splits
        ]
        text = _("Imported {parts}.").format(parts=", ".join(parts))
        splits = _("Splits: {counts}.").format(counts=", ".join(counts)) if counts else ""
        return " ".join(filter(None, (text, splits)))


class ImportHandle:
    """A running import. `changed` is emitted on the main thread; at the end `outcome` or `error` is
    set.

    status: reading, storing, done, failed, cancelled. `progress`: fraction of that phase, and a
    text.
    `watch` reports the progress of storing from its thread through `dispatch`.
    """

    def __init__(
        self, store: Callable[[ImportHandle], None], dispatch: Callable[[Callable[[], None]], None]
    ):
        self.changed = Signal("import.changed")
        self.job: Job | None = None
        self.status = "reading"
        self.progress: tuple[float, str] = (0.0, "")
        self.outcome: ImportOutcome | None = None
        self.error: WorkbenchError | None = None
        self.watch = Watch(lambda share: dispatch(lambda: self._stored(share)))
        self._store = store
        self._drop: Callable[[], None] = lambda: None

    @property
    def ended(self) -> bool:
        return self.status in ("done", "failed", "cancelled")

    def cancel(self) -> None:
        """Possible until the last record is stored; the project is then unchanged."""
        self.watch.cancel()
        if self.job is not None and self.status == "reading":
            self.job.cancel()

    def follow(self, job: Job) -> None:
        self.job = job
        self._drop = job.changed.connect(self._on_event)

    def _on_event(self, event: object) -> None:
        if isinstance(event, Output) and event.payload.get("kind") == "progress":
            self.progress = (float(event.payload["part"]), str(event.payload["text"]))
            self.changed.emit()
        elif isinstance(event, Finished):
            self._drop()
            if event.status == "done":
                self.status, self.progress = "storing", (0.0, _("Storing…"))
                self.changed.emit()
                self._store(self)
            elif event.status == "cancelled":
                self.finish(None, Cancelled())
            else:
                self.finish(None, _job_error(event))

    def _stored(self, share: float) -> None:
        if self.status == "storing":
            self.progress = (share, _("Storing…"))
            self.changed.emit()

    def finish(self, outcome: ImportOutcome | None, error: BaseException | None) -> None:
        self.outcome = outcome
        if isinstance(error, Cancelled):
            error = Cancelled(_("The import was cancelled. No changes were made."))
        if error is not None:
            self.error = (
                error
                if isinstance(error, WorkbenchError)
                else plugin_failures.of(error)
                or ImportFailed(_("The import failed: {error!r}.").format(error=error))
            )
        self.status = (
            "cancelled" if isinstance(self.error, Cancelled) else "failed" if self.error else "done"
        )
        self.changed.emit()


def _job_error(event: Finished) -> WorkbenchError:
    if event.message:
        return ImportFailed(event.message, hint=event.hint)
    return JobFailed(
        _("The import ended without a result ({status}).").format(status=term(event.status)),
        hint=event.details[-300:],
    )
