"""Download by id, without Qt: query the Hub, show size and licence, download with progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.models.results import Download, Repository, SearchHit, SearchResult
from workbench.models.spec.licences import spdx
from workbench.operations.models import installed as operations
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.jobs.spec import JobSpec
    from workbench.ui.panel import PanelContext

STAGES = ("ask", "searching", "looking", "found", "fetching", "done")


class DownloadState(State):
    """`stage` is one of STAGES. `found` is the Hub's answer, None before there is one.

    `hits`: models that the last search found, None before one.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.stage, self.error = "ask", ""
        self.found: Repository | None = None
        self.hits: tuple[SearchHit, ...] | None = None
        self.share: float | None = 0.0
        self.file = ""
        self.trust = False
        self.path = ""
        self._job: Job | None = None

    @property
    def offline(self) -> bool:
        return self.context.settings.offline

    @property
    def busy(self) -> bool:
        return self.stage in ("searching", "looking", "fetching")

    @property
    def can_fetch(self) -> bool:
        trusted = self.trust or (self.found is not None and not self.found.pickled)
        return self.stage == "found" and trusted

    def go_online(self) -> None:
        """Turn off offline mode in the settings."""
        self.context.settings.offline = False
        self.context.settings.save()
        self.update(error="", network=object())

    def set_trust(self, trust: bool) -> None:
        self.update(trust=trust)

    def again(self) -> None:
        """The user is typing another id."""
        if not self.busy and self.stage != "ask":
            self.update(stage="ask", found=None, error="", trust=False)

    def look_up(self, model_id: str, revision: str = "") -> None:
        if not self.busy:
            settings = self.context.settings
            self._begin(
                "looking", lambda: operations.look_up(model_id, settings, revision=revision)
            )

    def search(self, words: str) -> None:
        """Search the Hub for models in supported formats."""
        if not self.busy:
            self._begin("searching", lambda: operations.search_hub(words, self.context.settings))

    def fetch(self) -> None:
        if self.can_fetch:
            self._begin("fetching", self._download)

    def _download(self) -> JobSpec:
        if self.found is None:
            raise RuntimeError("no model was looked up")
        return operations.download(
            self.found.id,
            revision=self.found.revision,
            allow_pickle=self.trust,
            settings=self.context.settings,
        )

    def cancel(self) -> None:
        if self._job is not None and not self._job.over:
            self._job.cancel()

    def close(self) -> None:
        self.cancel()
        super().close()

    # ---------------------------------------------------------------- the job

    def _begin(self, stage: str, make: Callable[[], JobSpec]) -> None:
        try:
            job = self._job = self.context.queue.add(make())
        except WorkbenchError as error:
            self.update(error=str(error))
            return
        self.update(stage=stage, error="", share=None, file="")
        self.listen(job.changed, lambda _event: self._heard(job))

    def _heard(self, job: Job) -> None:
        if job is not self._job:
            return
        if job.over:
            self._ended(job)
        elif self.stage == "fetching" and job.progress.get("total"):
            self.update(
                share=job.progress["step"] / job.progress["total"],
                file=job.progress.get("file", ""),
            )

    def _ended(self, job: Job) -> None:
        before = "found" if self.stage == "fetching" else "ask"
        if job.status == "done" and self.stage == "searching":
            found = SearchResult.from_json(job.result).hits
            hits = tuple(replace(hit, licence=spdx(hit.licence)) for hit in found)
            self.update(stage="ask", hits=hits)
        elif job.status == "done" and self.stage == "looking":
            self.update(stage="found", found=Repository.from_json(job.result))
        elif job.status == "done" and (path := Download.from_json(job.result).path):
            self.update(stage="done", share=1.0, path=path)
        elif job.status in ("cancelled", "stopped", "done"):
            self.update(
                stage=before,
                error=_(
                    "Cancelled. The files downloaded so far are kept; a new download resumes there."
                )
                if before == "found"
                else "",
            )
        else:
            self.update(stage=before, error=" ".join(filter(None, (job.message, job.hint))))


def repository_words(found: Repository) -> str:
    """Licence and size, shown before the download starts."""
    files = len(found.files)
    parts = [
        ngettext("Size: {size} in {n} file.", "Size: {size} in {n} files.", files).format(
            size=formats.size(found.size_bytes), n=files
        ),
        _("Licence: {it}.").format(it=spdx(found.licence) or _("not stated")),
    ]
    if found.family:
        parts.append(_("Family: {it}.").format(it=found.family))
    if found.gated:
        parts.append(_("Gated model: accept its terms on the Hugging Face Hub first."))
    return " ".join(parts)
