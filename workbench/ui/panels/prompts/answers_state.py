"""The answers of one prompt run or two, text by text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.prompts import prompt_answers
from workbench.operations.prompts.prompt_answers import (
    DISAGREE,
    FIRST,
    NO_ANSWER,
    RIGHT,
    SORTS,
    AnswerRow,
)
from workbench.operations.runs import results
from workbench.prompting.spec import PromptSpec
from workbench.text import columns
from workbench.text.columns import Column, Medium

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_answers import AnswerComparison, CountRow, Exchange
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Label
    from workbench.ui.panels.prompts.draft import PromptDraft

__all__ = ["NO_ANSWER", "RIGHT", "SORTS", "AnswersState"]

RUNS, EXCHANGES = "answers-runs", "answers-exchanges"  # tasks
SPLIT = "dev"


class AnswersState(State):
    """prompts: the runs to choose A from. others: those to choose B from. first, second: ids of A
    and B, None for none. problem: why they cannot be compared. segment, sort: which rows are shown,
    of prompt_answers.SEGMENTS and SORTS. document: id of the selected one. exchanges: what A and B
    were sent for the selected row and replied, () while it is read.
    """

    def __init__(self, draft: PromptDraft, edit: Callable[[PromptSpec], None]) -> None:
        """edit: shows the settings of a prompt to be edited."""
        super().__init__()
        self.draft, self.context, self.project = draft, draft.context, draft.project
        self.prompts: tuple[Run, ...] = ()
        self.others: tuple[Run, ...] = ()
        self.first: int | None = None
        self.second: int | None = None
        self.comparison: AnswerComparison | None = None
        self.labels: Mapping[str, Label] = {}  # of the layer, by name
        self.loading, self.problem = False, ""
        self.segment, self.sort = DISAGREE, FIRST
        self.document: int | None = None
        self.exchanges: tuple[Exchange | None, ...] = ()
        self._edit = edit
        self._every: tuple[Run, ...] = ()
        self._arranged: tuple[tuple[Any, ...], list[AnswerRow]] = ((), [])  # choices, and rows
        self._alone = False  # the user has chosen none as B

    # ---------------------------------------------------------------- which runs

    def refresh(self, first: int | None = None) -> None:
        """Read the runs again. first: the new A; the former one becomes B."""

        def listed(every: tuple[Run, ...]) -> None:
            self._every = every
            self.update(prompts=prompt_answers.prompt_runs(every, self.draft.spec.layer))
            ids = [run.id for run in self.prompts]
            if first in ids and first != self.first:
                self._choose(first, self.first)
            else:
                chosen = self.first if self.first in ids else next(iter(ids), None)
                self._choose(chosen, self.second)

        self.context.task(RUNS, partial(results.all_runs, self.project), listed)

    def choose_first(self, id: int) -> None:
        self._choose(id, self.first if id == self.second else self.second)

    def choose_second(self, id: int | None) -> None:
        self._alone = id is None
        if self.second is None:  # disagreements begin the list of a comparison
            self.update(segment=DISAGREE)
        self._choose(self.first, id)

    def show_pair(self, first: int, second: int | None, document: int | None = None) -> None:
        """Show these runs, such as those that were shown before."""
        self.update(document=document)
        self._alone = second is None
        self.first = first
        self.second = second
        self.refresh()

    def _choose(self, first: int | None, second: int | None) -> None:
        """B is the next prompt unless one that fits A is chosen."""
        run = next((run for run in self.prompts if run.id == first), None)
        others = prompt_answers.beside(run, self._every) if run is not None else ()
        if second not in [other.id for other in others]:
            prompts = (other.id for other in others if prompt_answers.is_prompt(other))
            second = None if self._alone else next(prompts, None)
        self.update(others=others, first=first, second=second)
        self._load()

    def _load(self) -> None:
        if self.first is None:
            self.context.drop(self)
            self.update(comparison=None, problem="", loading=False)
            return
        project, first, second = self.project, self.first, self.second

        def work() -> tuple[AnswerComparison, dict[str, Label]]:
            comparison = prompt_answers.answers(project, first, second, SPLIT)
            layer = results.layer_of(project, comparison.runs[0].run)
            return comparison, {label.name: label for label in layer.labels}

        def done(loaded: tuple[AnswerComparison, dict[str, Label]]) -> None:
            comparison, labels = loaded
            self.update(comparison=comparison, labels=labels, problem="", loading=False)
            if self.segment not in comparison.segments:
                self.update(segment=next(iter(comparison.segments)))
            self._read()

        def failed(error: Exception) -> None:
            self.update(comparison=None, loading=False)
            if isinstance(error, WorkbenchError):
                self.update(problem=str(error))
            elif not isinstance(error, KeyError):  # a run was deleted meanwhile
                self.context.fail(error)

        self.update(loading=True)
        self.context.task(self, work, done, failed=failed)

    def title(self, run: Run) -> str:
        return prompt_answers.title(run)

    @property
    def heading(self) -> str:
        """What is compared."""
        if self.second is None:
            return _("Answers on dev")
        n = len(self.comparison.rows) if self.comparison is not None else 0  # that both answered
        if self.second in [run.id for run in self.prompts]:
            return ngettext(
                "Two prompts on {n:,} dev document", "Two prompts on {n:,} dev documents", n
            )
        return ngettext(
            "A prompt and a run on {n:,} dev document",
            "A prompt and a run on {n:,} dev documents",
            n,
        )

    def about(self, id: int | None) -> str:
        """Model and examples of a run, "" for none."""
        run = next((run for run in self._every if run.id == id), None)
        return prompt_answers.about(run) if run is not None else ""

    @property
    def what_counts(self) -> tuple[str, ...]:
        """How the replies of A and B are read, each once."""
        shown = (self.first, self.second)
        runs = [run for id in shown for run in self._every if run.id == id]
        return tuple(filter(None, dict.fromkeys(map(prompt_answers.what_counts, runs))))

    @property
    def counts(self) -> tuple[CountRow, ...]:
        return prompt_answers.counts(self.comparison) if self.comparison is not None else ()

    @property
    def verdict(self) -> str:
        return prompt_answers.verdict(self.comparison) if self.comparison is not None else ""

    # ---------------------------------------------------------------- which answers

    @property
    def rows(self) -> list[AnswerRow]:
        """The answers of the segment, in the chosen order."""
        if self.comparison is None:
            return []
        choices = (self.comparison, self.segment, self.sort)
        if self._arranged[0] != choices:
            self._arranged = choices, self.comparison.shown(self.segment, self.sort)
        return self._arranged[1]

    @property
    def row(self) -> AnswerRow | None:
        """The selected answer; the first one if none is."""
        rows = self.rows
        selected = (row for row in rows if row.document_id == self.document)
        return next(selected, next(iter(rows), None))

    def show_segment(self, segment: str) -> None:
        self.update(segment=segment)
        self._read()

    def sort_by(self, sort: str) -> None:
        self.update(sort=sort)
        self._read()

    def select(self, document: int) -> None:
        if document != self.document:
            self.update(document=document)
            self._read()

    def _read(self) -> None:
        """Read what was sent and received for the selected row."""
        project, comparison, row = self.project, self.comparison, self.row
        if comparison is None or row is None:
            self.context.drop(EXCHANGES)
            self.update(exchanges=())
            return
        chosen, document = [answered.run for answered in comparison.runs], row.document_id

        def work() -> tuple[Exchange | None, ...]:
            return tuple(prompt_answers.exchange(project, run, document) for run in chosen)

        self.context.task(EXCHANGES, work, lambda read: self.update(exchanges=read))

    # ---------------------------------------------------------------- actions

    def open(self, document: int) -> None:
        """Open a document in Annotate."""
        self.update(document=document)
        self.context.go("annotate", document=document)

    def edit_first(self) -> None:
        """Edit the prompt of A."""
        run = next((run for run in self.prompts if run.id == self.first), None)
        if run is not None:
            self._edit(PromptSpec.from_json(run.spec))

    @staticmethod
    def columns() -> dict[str, Column]:
        """The columns of the answers of two runs."""
        return columns.by_key(prompt_answers.columns())

    @staticmethod
    def count_columns(medium: Medium) -> tuple[Column, ...]:
        return prompt_answers.count_columns(medium)

    def save(self, path: Path) -> None:
        """Save the answers that are shown as CSV. Raises OSError."""
        if self.comparison is None:
            return
        table = prompt_answers.columns(self.comparison)
        columns.write_delimited(path, columns.cells(table, self.rows))

    @property
    def place(self) -> dict[str, Any]:
        """Arguments of `show_pair` that lead back to what is shown."""
        return {"first": self.first, "second": self.second, "document": self.document}
