"""State of a comparison of the documents with text files outside of the project. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.documents import overlap
from workbench.operations.documents.overlap import Overlap, OverlapRow
from workbench.text.similar.overlap import SIZE

if TYPE_CHECKING:
    from workbench.ui.panels.data.selection import DocumentSelection

COMPARE = "overlap"  # task
columns = overlap.columns
SPLITS = ("test", "dev", "train", "")  # "": all documents


class OverlapState(State):
    """`found` is None until a comparison has ended; `share` is its progress, None if none is
    running. files: texts and folders; split, size: what is compared next.
    """

    def __init__(self, selection: DocumentSelection) -> None:
        super().__init__()
        self.selection = selection
        self.context, self.project = selection.context, selection.project
        self.files: tuple[Path, ...] = ()
        self.split, self.size = SPLITS[0], SIZE
        self.found: Overlap | None = None
        self.share: float | None = None
        self.problem = ""

    def choose(self, *, split: str, size: int) -> None:
        """What the next comparison looks for."""
        self.update(split=split, size=size)

    def compare(self, files: Sequence[Path]) -> None:
        """Compare off the main thread, replacing a comparison that is running."""
        self.update(files=tuple(files), share=0.0, problem="")
        split, size = self.split, self.size

        def done(result: Overlap) -> None:
            self.update(found=result, share=None)

        def failed(error: Exception) -> None:
            self.update(share=None)
            if isinstance(error, WorkbenchError):
                if not isinstance(error, Cancelled):
                    self.update(found=None, problem=f"{error} {error.hint}".strip())
            else:
                self.context.fail(error)

        self.context.task(
            COMPARE,
            partial(overlap.overlap, self.project, list(files), split=split, size=size),
            done,
            failed=failed,
            progress=lambda watch: self.update(share=watch.share),
        )

    def cancel(self) -> None:
        self.context.cancel(COMPARE)

    def close(self) -> None:
        self.context.drop(COMPARE)
        super().close()

    def show_in_list(self, rows: Sequence[OverlapRow]) -> None:
        """Show the documents of these rows in the list of documents."""
        documents = [row.document for row in rows]
        self.selection.list_only(documents, _("Overlap with other texts"))
