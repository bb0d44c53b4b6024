"""State of People: the agreement of people and runs in every layer. No Qt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.operations.people import agreement, people
from workbench.operations.people.agreement import ROUNDS, RUN, Agreement, Annotator, Difference
from workbench.operations.schema import labels
from workbench.ui.project.opened import opened
from workbench.ui.style import formats
from workbench.ui.style.formats import points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.base.watch import Watch
    from workbench.metrics.confusion import Confusion
    from workbench.project.changes import Changes
    from workbench.project.project import Project
    from workbench.ui.panel import PanelContext

MEASURING = "agreement"  # key of the task
LABELLED = ("state", "mark", "span", "relation", "answer", "layer", "label", "prediction", "run")
Row = tuple[Agreement, Difference]


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
        self.share: float | None = None  # of a running measurement
        self.problem = ""
        self.blind = people.is_blind(self.project)
        self._on, self._stale = False, True
        self.listen(self.project.layers_shown, self._blind_changed)

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

    def _blind_changed(self) -> None:
        if self.blind != people.is_blind(self.project):
            self.update(blind=not self.blind, annotators=(), agreements=None)
            self._stale = True
            if self._on:
                self.load()

    def load(self) -> None:
        self._stale = False
        if self.blind:  # the page would show the labels of others
            self.update(annotators=(), agreements=(), problem="", share=None)
            return
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

    def _failed(self, error: Exception) -> None:
        self.update(share=None, agreements=(), problem=str(error))

    # ---------------------------------------------------------------- choices

    def include(self, annotator: Annotator, on: bool) -> None:
        key = annotator.kind, annotator.id
        left_out = self.left_out - {key} if on else self.left_out | {key}
        if left_out != self.left_out:
            self.left_out = left_out
            self.load()

    def choose_layer(self, name: str) -> None:
        self.update(layer=name, cell=None)
        self._keep_choices()

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
        return " ".join(map(_verdict, self.agreements or ()))

    def open_document(self, row: Row) -> None:
        self.context.remember_place()
        self.context.go("annotate", document=row[1].document_id)


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


RELIABLE, TENTATIVE = 0.8, 0.667  # alpha; source: Krippendorff 2004, Reliability, p. 429


def _verdict(item: Agreement) -> str:
    """By the limits of Krippendorff where there is an alpha, else the main value alone."""
    names = [value.name for value in item.values]
    alphas = ("alpha", "character_alpha", "interval_alpha")
    name = next((name for name in alphas if name in names), item.main)
    value = item.value(name).value
    if value is None:
        return _("{layer}: everybody chose the same.", layer=item.layer.name)
    values = {"layer": item.layer.name, "measure": item.value(name).title, "value": points(value)}
    if name not in alphas:
        return _("{layer}: {measure} {value}.", **values)
    if value >= RELIABLE:
        return _("{layer} is reliable ({measure} {value}).", **values)
    if value >= TENTATIVE:
        return _("{layer} is only partly reliable ({measure} {value}).", **values)
    return _("{layer} is not reliable ({measure} {value}): look at the differences.", **values)


def documents_text(item: Agreement) -> str:
    return ngettext(
        "{differing} of {n:,} document",
        "{differing} of {n:,} documents",
        len(item.documents),
        differing=formats.count(len(item.differences)),
    )
