"""State of People: the agreement of people and runs in every layer. No Qt."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.people import (
    adjudication,
    agreement,
    open_question,
    people,
    report,
    verdict,
)
from workbench.operations.people.agreement import (
    PERSON,
    ROUNDS,
    RUN,
    Agreement,
    Annotator,
    Difference,
)
from workbench.operations.people.over_time import (
    BLOCKS,
    WEEK,
    OverTime,
    Twice,
    over_time,
    twice,
)
from workbench.operations.people.progress import PAUSE, Progress, Speed, progress, speeds
from workbench.operations.people.report import (
    pause_text,
    progress_columns,
    speed_columns,
    twice_columns,
    twice_rows,
)
from workbench.operations.schema import labels
from workbench.ui.project.opened import opened
from workbench.ui.style import formats

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workbench.base.watch import Watch
    from workbench.metrics.confusion import Confusion
    from workbench.project.changes import Changes
    from workbench.project.project import Project
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

__all__ = [
    "BLOCKS", "PAUSE", "WEEK", "PeopleState", "Row", "documents_text", "pause_text",
    "progress_columns", "speed_columns", "twice_columns", "twice_rows",
]  # fmt: skip

MEASURING, FURTHER, REPORT = "agreement", "agreement-further", "agreement-report"  # tasks
OPEN = "open-differences"  # key of the task that counts them
LABELLED = ("state", "mark", "span", "relation", "answer", "layer", "label", "prediction", "run")
Row = tuple[Agreement, Difference]


@dataclass(frozen=True)
class Further:
    """Of the chosen layer: over time, None with less than two people who share a document; who
    labelled texts twice. Of all layers: progress, and documents per hour.
    """

    over: OverTime | None = None
    twice: tuple[Twice, ...] = ()
    progress: tuple[Progress, ...] = ()
    speeds: tuple[Speed, ...] = ()


class PeopleState(State):
    """Measures while it is visible. left_out: (kind, id) of annotators that are not compared."""

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.annotators: tuple[Annotator, ...] = ()  # of all layers, each once
        self.left_out: frozenset[tuple[str, int]] = frozenset()
        self.agreements: tuple[Agreement, ...] | None = None  # None: not measured yet
        self.layer = ""  # whose differences are shown in the matrix
        self.measure = ""  # of the pairs
        self.pair = (0, 1)  # of annotators, whose labels are the rows and columns of the matrix
        self.cell: tuple[int, int] | None = None  # of the matrix, whose documents are listed
        self.by = WEEK  # periods: weeks, or the number of documents of a block
        self.further = Further()
        self.share: float | None = None  # of a running measurement
        self.problem = ""
        self.open = 0  # differences to adjudicate between those who are compared
        self._on, self._stale = False, True

    def watch(self, on: bool) -> None:
        """Whether the view is visible."""
        self._on = on
        if on and self._stale:
            self.load()

    def project_changed(self, changes: Changes) -> None:
        if changes.rows is None or any(map(changes.touches, LABELLED)):
            self._stale = True
            if self._on:
                self.load()

    def load(self) -> None:
        self._stale = False
        self.update(share=0.0, problem="")
        work = partial(_measured, self.project, self.left_out)
        self.context.task(
            MEASURING, work, self._take, failed=self._failed, progress=self._progressed
        )

    def _progressed(self, watch: Watch) -> None:
        self.update(share=watch.share)

    def _take(self, result: tuple[tuple[Annotator, ...], tuple[Agreement, ...]]) -> None:
        annotators, agreements = result
        names = [item.layer.name for item in agreements]
        layer = self.layer if self.layer in names else next(iter(names), "")
        self.update(
            annotators=annotators, agreements=agreements, share=None, layer=layer, cell=None
        )
        self._keep_choices()
        self._load_further()
        self._count_open()

    def _failed(self, error: Exception) -> None:
        self.update(share=None, agreements=(), problem=str(error))

    # ---------------------------------------------------------------- choices

    def include(self, annotator: Annotator, on: bool) -> None:
        key = annotator.kind, annotator.id
        left_out = self.left_out - {key} if on else self.left_out | {key}
        if left_out != self.left_out:
            self.left_out = left_out
            self.load()

    def _load_further(self) -> None:
        current = self.current
        chosen = current.annotators if current is not None else ()
        layer = current.layer if current is not None else None
        work = partial(_further, self.project, layer, chosen, self.by)
        self.context.task(FURTHER, work, lambda further: self.update(further=further))

    def choose_layer(self, name: str) -> None:
        self.update(layer=name, cell=None, further=Further())
        self._keep_choices()
        self._load_further()

    def choose_periods(self, by: int) -> None:
        if by != self.by:
            self.update(by=by)
            self._load_further()

    def choose_measure(self, name: str) -> None:
        self.update(measure=name)

    def choose_pair(self, one: int, other: int) -> None:
        """The rows and the columns of the matrix; nothing for two who share no document."""
        compared = self.current
        pair = min(one, other), max(one, other)
        if compared is not None and pair in compared.pairs and pair != self.pair:
            self.update(pair=pair, cell=None)

    def choose_cell(self, cell: tuple[int, int] | None) -> None:
        self.update(cell=None if cell == self.cell else cell)

    def _keep_choices(self) -> None:
        """The measure and the pair stay if the layer has them."""
        compared = self.current
        if compared is not None and self.pair not in compared.pairs:
            self.update(pair=next(iter(compared.pairs)))
        names = [value.name for value in compared.values] if compared is not None else []
        if self.measure not in names:
            usual = "kappa" if "kappa" in names else next(iter(names), "")
            self.update(measure=usual)

    # ---------------------------------------------------------------- shown values

    @property
    def current(self) -> Agreement | None:
        """That of the chosen layer."""
        every = self.agreements or ()
        return next((item for item in every if item.layer.name == self.layer), None)

    @property
    def confusion(self) -> Confusion | None:
        """The labels of the chosen pair."""
        compared = self.current
        return compared.confusions.get(self.pair) if compared is not None else None

    @property
    def rows(self) -> Sequence[Row]:
        """The documents with differences, those of the chosen cell if there is one."""
        compared = self.current
        if compared is None:
            return ()
        if self.cell is not None and self.confusion is not None:
            places = self.confusion.where.get(self.cell, ())
            ids = {compared.documents[place] for place in places}
            return [(compared, row) for row in compared.differences if row.document_id in ids]
        return [(compared, row) for row in compared.differences]

    @property
    def verdict(self) -> str:
        """What the numbers mean, in a sentence for each layer."""
        return " ".join(map(verdict.verdict, self.agreements or ()))

    def save_report(self, path: Path) -> None:
        """Write the report of all layers; the suffix .csv selects CSV."""

        def work(watch: Watch) -> None:
            measured = report.report(self.project, left_out=self.left_out, by=self.by, watch=watch)
            report.save(measured, path)

        message = _("The report was saved as {path}.", path=path)
        self.context.task(REPORT, work, lambda _none: self.context.note(message))

    @property
    def drift(self) -> str:
        """What the periods mean in the chosen measure."""
        over = self.further.over
        return verdict.drift_verdict(over, self.measure) if over is not None else ""

    @property
    def disputed(self) -> Agreement | None:
        """The layer with the most frequent difference between people."""
        counts = [
            (confused.count, at)
            for at, item in enumerate(self.agreements or ())
            if item.is_of_people and (confused := verdict.most_confused(item)) is not None
        ]
        return (self.agreements or ())[max(counts)[1]] if counts else None

    def add_to_guideline(self) -> None:
        """Add the most frequent difference to the guideline of its layer, and show that."""
        item = self.disputed
        if item is None:
            return

        def add() -> None:
            open_question.add(self.project, item)
            self.context.remember_place()
            self.context.go("labels", layer=item.layer.id)

        self.context.attempt(add)

    def open_document(self, row: Row) -> None:
        """Open a document in adjudication, if two people are compared, else in Annotate."""
        self.context.remember_place()
        who = self.adjudicated
        args = {"adjudicate": who} if who else {}
        self.context.go("annotate", document=row[1].document_id, **args)

    @property
    def adjudicated(self) -> tuple[int, ...]:
        """Ids of the people who are compared and can be adjudicated; () for less than two."""
        current = self.current
        if current is None or self.project.read_only:
            return ()
        persons = {person.id for person in adjudication.participants(self.project)}
        chosen = (who.id for who in current.annotators if who.kind == PERSON and who.id in persons)
        ids = tuple(chosen)
        return ids if len(ids) > 1 else ()

    def adjudicate(self) -> None:
        """Start with the first document in which these people differ."""
        self.context.remember_place()
        self.context.go("annotate", adjudicate=self.adjudicated)

    def _count_open(self) -> None:
        """Count the open differences of those who are compared."""
        ids = self.adjudicated
        self.update(open=0)
        if ids:
            work = partial(_open_differences, self.project, ids)
            self.context.task(OPEN, work, lambda n: self.update(open=n))


def _open_differences(project: Project, ids: Sequence[int], watch: Watch) -> int:
    persons = [person for person in people.every(project) if person.id in ids]
    layers = adjudication.layers_of(project, persons)
    overview = adjudication.overview(project, persons, layers, watch=watch)
    return overview.total - overview.decided


def _measured(
    project: Project, left_out: frozenset[tuple[str, int]], watch: Watch
) -> tuple[tuple[Annotator, ...], tuple[Agreement, ...]]:
    """The agreement in every layer that two annotators have labelled, without those left out."""
    every: dict[tuple[str, int], Annotator] = {}
    agreements = []
    layers = labels.layers(project)
    for at, layer in enumerate(layers):
        part = watch.part(at / len(layers), (at + 1) / len(layers))
        who = agreement.annotators(project, layer)
        every |= {(item.kind, item.id): item for item in who}
        chosen = [item for item in who if (item.kind, item.id) not in left_out]
        people = [item for item in chosen if item.kind != RUN]
        if not people or len(chosen) < 2:
            continue
        try:
            agreements.append(agreement.compare(project, layer, chosen, rounds=ROUNDS, watch=part))
        except SpecError:
            continue  # no document in common
    return tuple(every.values()), tuple(agreements)


def _further(
    project: Project,
    layer: Layer | None,
    chosen: Sequence[Annotator],
    by: int,
    watch: Watch,
) -> Further:
    over, again = None, list[Twice | None]()
    if layer is not None:
        with suppress(SpecError):  # no document in common
            over = over_time(project, layer, chosen, by=by, watch=watch.part(0, 0.7))
        persons = [who for who in chosen if who.kind == PERSON]
        again = [twice(project, layer, person) for person in persons]
    known = tuple(item for item in again if item is not None)
    return Further(over, known, progress(project), speeds(project))


def documents_text(item: Agreement) -> str:
    return ngettext(
        "{differing} of {n:,} document",
        "{differing} of {n:,} documents",
        len(item.documents),
        differing=formats.count(len(item.differences)),
    )
