"""The text of a pretraining: documents of the project, or files. No Qt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.models import new_models as operations
from workbench.operations.models.new_models import TextSize, TextSource
from workbench.pretraining.texts import ENDINGS
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.ui.panel import PanelContext

PROJECT, FILES = "project", "files"  # sources of text
FILE_PATTERNS = tuple(f"*{ending}" for ending in ENDINGS)
SIZE = "size"  # the task that measures the text
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
        """Count documents or bytes off the main thread."""
        source = self.text_source
        if self.source == FILES and not source.files:
            self.context.drop(SIZE)
            self.update(size=None, problem=_("Add files or folders with text."))
            return
        self.update(size=None, problem="")

        def done(size: TextSize) -> None:
            empty = not (size.documents or size.files)
            self.update(
                size=size, problem=_("No document of the project matches.") if empty else ""
            )

        work = partial(operations.measure, self.project, source)
        self.context.task(SIZE, work, done, failed=lambda error: self.update(problem=str(error)))

    def _project_changed(self, changes: Changes) -> None:
        if self.shown and self.source == PROJECT and changes.touches("document"):
            self.measure()
