"""Download by id, without Qt: query the Hub, show size and licence, download with progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.models.results import Download, Repository, SearchHit
from workbench.models.spec.licences import spdx
from workbench.operations.models import installed as operations
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.ui.panel import PanelContext

STAGES = ("ask", "searching", "looking", "found", "fetching", "done")


class DownloadState(State):
    """`stage` is one of STAGES. `repository` is the Hub's answer, None before there is one.

    `hits`: models that the last search found, None before one.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.stage, self.error = "ask", ""
        self.repository: Repository | None = None
        self.hits: tuple[SearchHit, ...] | None = None
        self.share: float | None = 0.0
        self.file = ""
        self.trust = False
        self.path = ""

    @property
    def offline(self) -> bool:
        return self.context.settings.offline

    @property
    def busy(self) -> bool:
        return self.stage in ("searching", "looking", "fetching")

    @property
    def can_fetch(self) -> bool:
        trusted = self.trust or (self.repository is not None and not self.repository.pickled)
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
            self.update(stage="ask", repository=None, error="", trust=False)

    def look_up(self, model_id: str, revision: str = "") -> None:
        work = partial(
            operations.look_up, self.context.queue, model_id, self.context.settings,
            revision=revision,
        )  # fmt: skip
        self._begin("looking", work, self._looked_up)

    def _looked_up(self, repository: Repository) -> None:
        self.update(stage="found", repository=repository)

    def search(self, words: str) -> None:
        """Search the Hub for models in supported formats."""
        work = partial(operations.search_hub, self.context.queue, words, self.context.settings)
        self._begin("searching", work, self._searched)

    def _searched(self, hits: tuple[SearchHit, ...]) -> None:
        hits = tuple(replace(hit, licence=spdx(hit.licence)) for hit in hits)
        self.update(stage="ask", hits=hits)

    def fetch(self) -> None:
        if self.repository is not None and self.can_fetch:
            work = partial(
                operations.download, self.context.queue, self.repository.id,
                revision=self.repository.revision, allow_pickle=self.trust,
                settings=self.context.settings,
            )  # fmt: skip
            self._begin("fetching", work, self._fetched)

    def _fetched(self, download: Download) -> None:
        self.update(stage="done", share=1.0, path=download.path)

    def cancel(self) -> None:
        self.context.cancel((self, "hub"))

    def close(self) -> None:
        self.context.drop((self, "hub"))
        super().close()

    # ---------------------------------------------------------------- the worker

    def _begin(self, stage: str, work: Callable[..., Any], done: Callable[[Any], None]) -> None:
        if self.busy:
            return
        self.update(stage=stage, error="", share=None, file="")
        self.context.task(
            (self, "hub"),
            work,
            done,
            failed=self._failed,
            progress=self._progressed,
        )

    def _progressed(self, watch: Watch) -> None:
        progress = watch.progress
        if self.stage == "fetching" and progress.get("total"):
            self.update(share=progress["step"] / progress["total"], file=progress.get("file", ""))

    def _failed(self, error: Exception) -> None:
        before, message = "ask", "" if isinstance(error, Cancelled) else str(error)
        if self.stage == "fetching":
            before = "found"
            message = message or _(
                "Cancelled. The files downloaded so far are kept; a new download resumes there."
            )
        self.update(stage=before, error=message)


def repository_words(repository: Repository) -> str:
    """Licence and size, shown before the download starts."""
    files = len(repository.files)
    parts = [
        ngettext(
            "Size: {size} in {n} file.",
            "Size: {size} in {n} files.",
            files,
            size=formats.size(repository.size_bytes),
        ),
        _("Licence: {it}.", it=spdx(repository.licence) or _("not stated")),
    ]
    if repository.family:
        parts.append(_("Family: {it}.", it=repository.family))
    if repository.gated:
        parts.append(_("Gated model: accept its terms on the Hugging Face Hub first."))
    return " ".join(parts)
