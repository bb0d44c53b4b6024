"""Runs compared on one test set, for the Runs and Board views of Results. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import N_, _
from workbench.operations.evaluation import compare, pairs
from workbench.operations.evaluation.pairs import BOOTSTRAP, MCNEMAR, RANDOMISATION
from workbench.operations.runs import results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_settings import option_titles
from workbench.tasks.spec import score_hint

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.operations.evaluation.compare import Comparison
    from workbench.operations.evaluation.pairs import SystemPair
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Label
    from workbench.ui.panels.results.selection import RunSelection

__all__ = [
    "BOOTSTRAP", "MCNEMAR", "RANDOMISATION", "Comparing", "option_titles", "score_hint",
]  # fmt: skip

part_columns = pairs.part_columns
LETTERS = (N_("A"), N_("B"), N_("C"), N_("D"), N_("E"), N_("F"), N_("G"), N_("H"))
MAX_SYSTEMS = len(LETTERS)  # systems compared at once


class Comparing(State):
    """Compares the runs given to `show`; a new request replaces the previous one."""

    def __init__(self, selection: RunSelection) -> None:
        super().__init__()
        self.selection, self.project = selection, selection.project
        self.context = selection.context
        self.ids: tuple[int, ...] = ()
        self.split = "dev"
        self.score = ""  # of the tests, "" for the main score
        self.comparison: Comparison | None = None
        self.shown: tuple[int, int] | None = None  # A and B, by run id
        self.problem = ""  # why the runs cannot be compared
        self.busy = ""
        self._scoring = ""  # what of `busy` is about predictions that are computed
        self.share: float | None = None  # of a comparison that is running
        self.cancelled = False
        self.where = ""  # a query: only the documents that match it
        self.labels: Mapping[str, Label] = {}  # of the layer, by name

    def show(
        self, ids: tuple[int, ...], split: str = "dev", score: str = "", where: str = ""
    ) -> None:
        """Compare these runs, in this order; fewer than two clear the comparison."""
        if (ids, split, score, where) != (self.ids, self.split, self.score, self.where):
            same = (set(ids), split, where) == (set(self.ids), self.split, self.where)
            comparison = self.comparison if same else None
            self.update(ids=ids, split=split, score=score, where=where)
            self.update(comparison=comparison, shown=None, problem="")
            self.load()

    def cancel(self) -> None:
        """Stop comparing; `load` compares again."""
        if self.share is not None:
            self.context.drop(self)
            self.update(busy=self._scoring, share=None, comparison=None, cancelled=True)
            self.update(problem=_("The comparison was cancelled."))

    def load(self) -> None:
        if len(self.ids) < 2:
            self.context.drop(self)
            self.update(comparison=None, problem="", busy=self._scoring, share=None)
            return
        project, ids, split = self.project, self.ids, self.split
        score, where = self.score, self.where
        busy = self._scoring or _("Comparing…")
        self.update(busy=busy, share=0.0, problem="", cancelled=False)

        def work(watch: Watch) -> tuple[Comparison, dict[str, Label]]:
            comparison = compare.compare(project, ids, split, score=score, where=where, watch=watch)
            layer = results.layer_of(project, comparison.systems[0].run)
            return comparison, {label.name: label for label in layer.labels}

        def done(result: tuple[Comparison, dict[str, Label]]) -> None:
            comparison, labels = result
            self.update(comparison=comparison, labels=labels)
            self.update(problem="", busy=self._scoring, share=None)

        def failed(error: Exception) -> None:
            self.update(busy=self._scoring, comparison=None, share=None)
            if isinstance(error, WorkbenchError):
                self.update(problem=str(error))
            elif not isinstance(error, KeyError):  # a run was deleted meanwhile
                self.context.fail(error)

        self.context.task(self, work, done, failed=failed, progress=self._progressed)

    def _progressed(self, watch: Watch) -> None:
        self.update(share=watch.share)

    # ---------------------------------------------------------------- the shown pair

    @property
    def pair(self) -> SystemPair | None:
        """A and B: those chosen, else the first two systems."""
        if self.comparison is None:
            return None
        chosen = self.shown or (
            self.comparison.systems[0].run.id,
            self.comparison.systems[1].run.id,
        )
        return self.comparison.pair(*chosen)

    def choose_pair(self, first: int, second: int) -> None:
        self.update(shown=(first, second))

    def swap(self) -> None:
        if (pair := self.pair) is not None:
            self.choose_pair(pair.second, pair.first)

    def letter(self, run_id: int) -> str:
        """A, B … of a compared run, in the order in which they were chosen; "" for others."""
        return _(LETTERS[self.ids.index(run_id)]) if run_id in self.ids[:MAX_SYSTEMS] else ""

    def name(self, run_id: int) -> str:
        run = self.selection.run_of(run_id)
        return run.name if run is not None else ""

    # ---------------------------------------------------------------- leading on

    def review(self, ids: tuple[int, ...], first: int | None = None) -> None:
        """Open documents in Annotate, with the predictions of B, beginning with `first`."""
        pair = self.pair
        if pair is not None and ids:
            start = ids[0] if first is None else first
            self.context.go("annotate", document=start, run=pair.second, errors=ids)

    def open_documents(self, ids: tuple[int, ...], caption: str) -> None:
        if ids:
            self.context.go("data", ids=ids, caption=caption)

    @property
    def unscored(self) -> tuple[Run, ...]:
        """The chosen runs, if the comparison failed and their predictions can be completed."""
        failed = self.problem and not self.cancelled
        chosen = (self.selection.run_of(id) for id in self.ids) if failed else ()
        return tuple(run for run in chosen if run is not None and kinds.info(run.kind).predicts)

    def score_all(self) -> None:
        """Compute the predictions that are missing, one run after another, then compare."""
        if self.project.read_only or self.busy:
            return

        def begin(run: Run) -> None:
            self._scoring = _("Scoring {run}…", run=run.name)
            self.update(busy=self._scoring)

        def end() -> None:
            self._scoring = ""
            self.load()

        self.selection.score_all((self, "score"), self.unscored, self.split, begin, end)
