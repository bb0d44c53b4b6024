"""The text of a pretraining: documents of the project, or files. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.watch import Watch
from workbench.operations.models import new_models as operations
from workbench.operations.models.new_models import TextSize, TextSource, Written
from workbench.pretraining.texts import ENDINGS
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.jobs.queue import Job
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext

PROJECT, FILES = "project", "files"  # sources of text
FILE_PATTERNS = tuple(f"*{ending}" for ending in ENDINGS)
UNSPLIT = "none"  # documents without a split, in `splits`


class TextState(State):
    """`source`, `splits`, `words` and `files` are the choices.

    `shown`: whether pretraining is shown in place of fine-tuning. `size`: of the chosen text, None
    while it is measured; `problem`: why it cannot be used. `preparing`: the text is being written.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.shown = False
        self.source = PROJECT
        self.splits: frozenset[str] = frozenset(("train", UNSPLIT))
        self.words = ""
        self.files: tuple[str, ...] = ()
        self.size: TextSize | None = None
        self.problem = ""
        self.preparing = False
        self._asked = 0
        self._writing: tuple[Watch, ...] = ()  # of the texts that are being written
        self.listen(self.project.changed, self._project_changed)

    @property
    def text_source(self) -> TextSource:
        if self.source == FILES:
            return TextSource(files=self.files)
        splits = tuple(None if split == UNSPLIT else split for split in sorted(self.splits))
        return TextSource((), splits, self.words, ("dev",))

    def choose_source(self, source: str) -> None:
        self.update(source=source)
        self.measure()

    def set_split(self, split: str, on: bool) -> None:
        self.update(splits=self.splits | {split} if on else self.splits - {split})
        self.measure()

    def set_words(self, words: str) -> None:
        """Use only documents that contain these words."""
        if words != self.words:
            self.update(words=words)
            self.measure()

    def add_files(self, paths: list[str]) -> None:
        self.update(files=tuple(dict.fromkeys((*self.files, *paths))))
        self.measure()

    def clear_files(self) -> None:
        self.update(files=())
        self.measure()

    def measure(self) -> None:
        """Count documents or bytes off the main thread; only the latest request counts."""
        self._asked += 1
        asked, source = self._asked, self.text_source
        if self.source == FILES and not source.files:
            self.update(size=None, problem=_("Add files or folders with text."))
            return
        self.update(size=None, problem="")

        def done(size: TextSize) -> None:
            if asked == self._asked:
                empty = not (size.documents or size.files)
                self.update(
                    size=size, problem=_("No document of the project matches.") if empty else ""
                )

        def failed(error: Exception) -> None:
            if asked == self._asked:
                self.update(problem=str(error))

        self.context.run(lambda: operations.measure(self.project, source), done, failed)

    def _project_changed(self, changes: Changes) -> None:
        if self.shown and self.source == PROJECT and changes.touches("document"):
            self.measure()

    def with_text(
        self,
        begin: Callable[[Written], Job],
        then: Callable[[Job], None],
        *,
        joined: bool = False,
        failed: Callable[[Exception], None] | None = None,
        run: Job | None = None,
    ) -> None:
        """Write the text off the main thread, then call `begin` with it and `then` with its job.

        failed: called with an error, which is shown at the top of the window by default. run: one
        whose text is written again, instead of the chosen text.
        """
        report = failed or self.context.fail
        source = self.text_source
        watch = Watch()
        self._writing = (*self._writing, watch)
        self.update(preparing=True)

        def work() -> Written:
            if run is not None:
                return operations.write_again(self.project, run, watch)
            written = operations.write(self.project, source, watch)
            return operations.joined(written) if joined else written

        def ended() -> None:
            self._writing = tuple(other for other in self._writing if other is not watch)
            self.update(preparing=bool(self._writing))

        def done(written: Written) -> None:
            ended()
            try:
                job = begin(written)
            except WorkbenchError as error:
                written.close()
                report(error)
            else:
                then(job)

        def not_written(error: Exception) -> None:
            ended()
            if not isinstance(error, Cancelled):
                report(error)

        self.context.run(work, done, not_written)

    def close(self) -> None:
        for watch in self._writing:
            watch.cancel()
        super().close()
