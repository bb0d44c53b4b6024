"""State of the board of several layers: which ones, on which test set. No Qt."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.evaluation import board_average
from workbench.operations.runs.kinds import contract as kinds

if TYPE_CHECKING:
    from workbench.operations.evaluation.board_average import Average, AverageSystem
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.results.selection import RunSelection

DEFINITION = board_average.DEFINITION
average_columns, documents_text = board_average.columns, board_average.documents_text


def kind_text(system: AverageSystem) -> str:
    """As on the board of one layer."""
    if not system.kind:
        return board_average.kind_text(system)
    return _(kinds.info(system.kind).title)


def save_board(context: PanelContext, path: Path, text: str) -> None:
    message = _("The board was saved as {path}.", path=path)
    write = lambda: path.write_text(text, encoding="utf-8", newline="\n")  # noqa: E731
    context.task("save-board", write, lambda _n: context.note(message))


class AverageState(State):
    """chosen: the layers of the board, in the order of `layers`; at first all of them."""

    def __init__(
        self, selection: RunSelection, layers: tuple[str, ...], split: str, where: str = ""
    ) -> None:
        super().__init__()
        self.project, self.context = selection.project, selection.context
        self._archived, self._where = selection.filter.archived, where
        self.layers = self.chosen = layers
        self.split = split
        self.average: Average | None = None
        self.busy = self.problem = ""
        self.load()

    def choose(self, layer: str, on: bool) -> None:
        """Add or remove a layer."""
        self.update(
            chosen=tuple(
                name for name in self.layers if (on if name == layer else name in self.chosen)
            )
        )
        self.load()

    def show_split(self, split: str) -> None:
        self.update(split=split)
        self.load()

    def load(self) -> None:
        work = partial(
            board_average.average,
            self.project,
            self.chosen,
            self.split,
            archived=self._archived,
            where=self._where,
        )

        def done(average: Average) -> None:
            self.update(average=average, busy="", problem="\n".join(board_average.notes(average)))

        def failed(error: Exception) -> None:
            known = isinstance(error, WorkbenchError)
            self.update(average=None, busy="", problem=str(error) if known else "")
            if not known and not isinstance(error, KeyError):  # a run was deleted meanwhile
                self.context.fail(error)

        self.update(busy=_("Scoring…"))
        self.context.task(self, work, done, failed=failed)

    def close(self) -> None:
        self.context.drop(self)
        super().close()

    def save(self, path: Path) -> None:
        """Write the board; the suffix .md selects Markdown, any other CSV."""
        if self.average is None:
            return
        is_markdown = path.suffix.lower() == ".md"
        make = board_average.to_markdown if is_markdown else board_average.to_csv
        save_board(self.context, path, make(self.average))
