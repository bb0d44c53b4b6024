"""State of the board: every system of a layer on one test set, and those compared. No Qt."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations.evaluation import board as boards
from workbench.operations.evaluation import board_export
from workbench.operations.runs.kinds import contract as kinds
from workbench.text.queries.query import QueryError
from workbench.ui.panels.results.board.average_state import AverageState, save_board
from workbench.ui.panels.results.board.comparison_state import MAX_SYSTEMS, Comparing, score_hint
from workbench.ui.project.query_text import QueryText
from workbench.ui.style import formats
from workbench.ui.style.interval_text import interval_method
from workbench.ui.style.run_text import score_title

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.operations.evaluation.board import Board, BoardEntry, Rankings
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.results.selection import RunSelection

RANKINGS = "rankings"  # key of the task
system_columns, cost_columns = board_export.system_columns, board_export.cost_columns


def kind_of(entry: BoardEntry) -> tuple[str, str]:
    """Icon and title of the kind of a run."""
    kind = kinds.info(entry.run.kind)
    return kind.icon, _(kind.title)


class BoardState(State):
    """Follows the project while the board is visible."""

    def __init__(self, selection: RunSelection) -> None:
        super().__init__()
        self.selection, self.project = selection, selection.project
        self.context = selection.context
        self.layers: tuple[str, ...] = ()
        self.layer = ""
        self.split = "dev"
        self.score = ""
        self.board: Board | None = None
        self.busy = ""
        self.problem = ""
        self.chosen: tuple[int, ...] = ()  # runs in the order of their letters
        self.comparing = Comparing(selection)
        self.query = QueryText(self.context)
        self.listen(self.query.changed, self._query_changed)
        self.listen(selection.changed, self._selection_changed)
        self._scoring = ""  # what of `busy` is about predictions that are computed
        self._scored: tuple[int, ...] = ()  # scored last, to be selected when the board has them
        self._on, self._stale = False, True

    def watch(self, on: bool) -> None:
        self._on = on
        if on and self._stale:
            self.load()

    def outdated(self) -> None:
        """Runs, predictions or gold labels have changed."""
        self._stale = True
        if self._on:
            self.load()

    def close(self) -> None:
        self.query.close()
        super().close()

    def _query_changed(self, fields: frozenset[str]) -> None:
        if "query" in fields:
            self.outdated()

    def _selection_changed(self, fields: frozenset[str]) -> None:
        if "filter" in fields:
            self.outdated()

    @property
    def where(self) -> str:
        """The query that the scored documents match, "" for all."""
        return self.query.query.text

    def load(self) -> None:
        self._stale = False
        project, layer, split = self.project, self.layer, self.split
        archived, where = self.selection.filter.archived, self.where
        rankings: Rankings = {}

        def work(watch: Watch) -> tuple[tuple[str, ...], Board | None]:
            layers = boards.layers_with_runs(project)
            if not layers:
                return layers, None
            chosen = layer if layer in layers else layers[0]
            board = boards.board(
                project,
                chosen,
                split,
                archived=archived,
                where=where,
                later=rankings,
                watch=watch,
            )
            return layers, board

        def done(result: tuple[tuple[str, ...], Board | None]) -> None:
            self._take(*result)
            self._resample(rankings)

        def failed(error: Exception) -> None:
            self.update(busy=self._scoring)
            if isinstance(error, KeyError):  # a run was deleted meanwhile
                self._stale = True
            elif isinstance(error, QueryError):
                self.query.refuse(error)
            elif isinstance(error, WorkbenchError):
                self.update(problem=str(error))
            else:
                self.update(problem="")
                self.context.fail(error)

        self.update(busy=self._scoring or _("Scoring…"))
        self.context.drop(RANKINGS)
        self.context.task("board", work, done, failed=failed)

    def _resample(self, rankings: Rankings) -> None:
        """Add the intervals of rankings to the shown board."""
        if self.board is None or not rankings:
            return

        def done(board: Board) -> None:
            self.update(board=board)

        def failed(error: Exception) -> None:
            if not isinstance(error, KeyError):  # a run was deleted meanwhile
                self.context.fail(error)

        work = partial(boards.with_rankings, self.board, rankings)
        self.context.task(RANKINGS, work, done, failed=failed)

    def _take(self, layers: tuple[str, ...], board: Board | None) -> None:
        score = self.score
        if board is not None and score not in board.names:
            score = board.score
        known = {entry.run.id for entry in board.entries} if board is not None else set()
        ids = dict.fromkeys((*self.chosen, *self._scored))
        chosen = tuple(id for id in ids if id in known)[:MAX_SYSTEMS]
        self._scored = tuple(id for id in self._scored if id not in known)
        layer = board.layer if board is not None else ""
        self.busy, self.problem = self._scoring, ""
        self.update(layers=layers, layer=layer, board=board, score=score, chosen=chosen)
        self.changed.emit(frozenset({"busy", "problem"}))
        self._compare(again=True)

    # ---------------------------------------------------------------- choices

    def show_layer(self, layer: str) -> None:
        if layer != self.layer:
            self.update(layer=layer, chosen=(), score="", board=None)
            self.load()

    def show_split(self, split: str) -> None:
        if split != self.split:
            self._scored = ()
            self.update(split=split, chosen=(), board=None)
            self.load()

    def show_score(self, score: str) -> None:
        self.update(score=score)
        self._compare()

    def choose(self, ids: tuple[int, ...]) -> None:
        """Select systems; those already selected keep their letter."""
        scored = {entry.run.id for entry in self.board.entries} if self.board is not None else set()
        before = [id for id in self.chosen if id in ids]
        new = [id for id in ids if id in scored and id not in before]
        chosen = tuple([*before, *new][:MAX_SYSTEMS])
        if chosen != self.chosen:
            self.update(chosen=chosen)
            self._compare()

    def _compare(self, again: bool = False) -> None:
        request = (self.chosen, self.split, self.score, self.where)
        before = self.comparing
        same = request == (before.ids, before.split, before.score, before.where)
        if again and same and len(self.chosen) > 1:
            self.comparing.load()
        else:
            self.comparing.show(*request)

    def letter(self, entry: BoardEntry) -> str:
        return self.comparing.letter(entry.run.id)

    def rows(self) -> tuple[BoardEntry, ...]:
        """Systems by the shown score, best first, then those on another test set."""
        if self.board is None:
            return ()
        return (*self.board.sorted_by(self.score), *self.board.others)

    @property
    def best(self) -> float | None:
        rows = self.board.sorted_by(self.score) if self.board is not None else ()
        return rows[0].value(self.score) if rows else None

    @property
    def ceiling(self) -> float | None:
        """What people score in the shown score, a line in the table."""
        limit = self.board.ceiling if self.board is not None else None
        return limit.of(self.score) if limit is not None else None

    @property
    def heading(self) -> tuple[str, str]:
        """Title and definition of the chosen score, with the method of its intervals if any."""
        title, hint = score_title(self.score), score_hint(self.score)
        board = self.board
        if board is None or not any(
            board_export.has_interval(entry, self.score) for entry in board.entries
        ):
            return title, hint
        ceiling = board.ceiling.sentence(self.score) if board.ceiling is not None else ""
        hint = "\n".join(filter(None, (hint, interval_method(board.intervals), ceiling)))
        return _("{score} and 95% interval", score=title), hint

    @property
    def over(self) -> BoardEntry | None:
        """The system that was selected first: gains are measured over it."""
        entries = self.board.entries if self.board is not None and self.chosen else ()
        return next((entry for entry in entries if entry.run.id == self.chosen[0]), None)

    def gain_text(self, entry: BoardEntry) -> str:
        over, signed = self.over, partial(formats.decimal, signed=True)
        return board_export.gain_text(entry, over, self.score, signed) if over is not None else ""

    def gain(self, entry: BoardEntry) -> float | None:
        """Of the shown score over that of the system selected first."""
        over = self.over
        gain = entry.gain(over, self.score) if over is not None else None
        return gain.absolute if gain is not None else None

    # ---------------------------------------------------------------- actions

    def can_score(self, entry: BoardEntry | None) -> bool:
        """Whether a system can be scored on the test set of the board."""
        return (
            entry is not None
            and bool(entry.problem)
            and not self.busy
            and not self.project.read_only
        )

    def score_here(self, entry: BoardEntry, *others: BoardEntry) -> None:
        """Compute the predictions that systems lack, one after the other; on test, this counts as a
        view.
        """
        if not self.can_score(entry):
            return
        runs, split = [other.run for other in (entry, *others) if other.problem], self.split

        def begin(run: Run) -> None:
            self._scoring = _("Scoring {run}…", run=run.name)
            self.update(busy=self._scoring)
            if split == self.split:
                self._scored = (*self._scored, run.id)

        def end() -> None:
            self._scoring = ""
            self.load()

        self.selection.score_all((self, "score"), runs, split, begin, end)

    def average(self) -> AverageState:
        """The board of all layers with runs."""
        return AverageState(self.selection, self.layers, self.split, self.where)

    def text(self, markdown: bool) -> str:
        """The board as Markdown or CSV, sorted by the shown score."""
        if self.board is None:
            return ""
        make = board_export.to_markdown if markdown else board_export.to_csv
        return make(self.board, self.score, self.over)

    def save(self, path: Path) -> None:
        """Write the board; the suffix .md selects Markdown, any other CSV."""
        save_board(self.context, path, self.text(path.suffix.lower() == ".md"))
