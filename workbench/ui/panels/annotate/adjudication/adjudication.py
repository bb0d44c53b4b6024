"""Adjudication: the differences between people, one after the other, and the decisions. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.base.errors import Cancelled
from workbench.base.i18n import N_, _, ngettext
from workbench.operations.people import adjudication, equal_cases, reliability
from workbench.operations.people.cases import BOTH, EDITED, NEITHER
from workbench.operations.people.differences import BOUNDARY, LABEL, MISSED
from workbench.operations.people.reliability import DAWID_SKENE as DAWID_SKENE
from workbench.operations.people.reliability import MAJORITY as MAJORITY
from workbench.operations.schema import guideline
from workbench.text import result_view
from workbench.text.guideline import sentence_for
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.session import LABELLED
from workbench.ui.panels.annotate.tool import Tool
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import DocumentRow
    from workbench.operations.people.adjudication import Difference, Overview, Sheet, Take
    from workbench.operations.people.differences import Mark
    from workbench.operations.people.reliability import Consensus, Method, SuggestedVersion
    from workbench.project.changes import Changes
    from workbench.project.project import Project
    from workbench.storage.annotation.people import Person
    from workbench.text.document import Document
    from workbench.text.fields import Prediction
    from workbench.text.labels import Layer
    from workbench.text.result_view import Answer
    from workbench.ui.panels.annotate.session import DocumentSession

MOST = "most"  # an order; the others are kinds of differences
ORDERS = {
    MOST: N_("Most differences first"),
    BOUNDARY: N_("Boundary differences first"),
    LABEL: N_("Label differences first"),
    MISSED: N_("Missed labels first"),
}
OFF: Literal[""] = ""  # no suggestions
METHODS: Mapping[Method | Literal[""], str] = {
    OFF: N_("No suggestions"),
    MAJORITY: N_("Suggest the majority"),
    DAWID_SKENE: N_("Suggest by Dawid–Skene"),
}
RUNS = 3  # runs whose predictions are shown
HIDES = "annotate.adjudicate.hide"  # setting: what runs say is hidden until the decision
BEGIN, OVERVIEW, CASES, PREDICTED, ALIKE, SUGGEST, PREVIEW = (
    "adjudicate-begin",
    "adjudicate-overview",
    "adjudicate-cases",
    "adjudicate-runs",
    "adjudicate-alike",
    "adjudicate-suggest",
    "adjudicate-preview",
)  # keys of tasks


Place = tuple[int, str]  # document id, key of a difference


class Counts(NamedTuple):
    """Differences that are decided, and all."""

    decided: int
    total: int


class AdjudicationTool(Tool):
    """On while `people` are compared.

    overview: the documents with differences. ids: their order in the queue. sheet: the open one.
    at: the current difference of the sheet, None without any. unfolded: agreeing lines that are
    shown in full, each by its text and its first line. alike: the next decision also decides the
    ticked `cases`, which are equal to the current difference; cases is None until they are known.
    editing: gold of the open document is edited with the usual keys. predicted: layer id → names of
    runs with what they say. method: of suggestions; consensus: what it suggests, None until that is
    computed.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.people: tuple[Person, ...] = ()
        self.layers: tuple[Layer, ...] = ()
        self.overview: Overview | None = None
        self.ids: tuple[int, ...] = ()
        self.order = MOST
        self.sheet: Sheet | None = None
        self.at: int | None = None
        self.unfolded: frozenset[tuple[str, int]] = frozenset()
        self.cases: tuple[Difference, ...] | None = None
        self.unticked: frozenset[Place] = frozenset()
        self.alike = False
        self.editing = False
        self.starting = False
        self.predicted: Mapping[int, Sequence[tuple[str, Sequence[Answer]]]] = {}
        self.method: Method | Literal[""] = OFF
        self.consensus: Consensus | None = None
        self._loading = self._outdated = False  # the overview; what is being read of it
        self._alike: dict[tuple[object, ...], tuple[Difference, ...]] = {}  # by signature
        self._signatures: dict[str, tuple[object, ...]] = {}  # of the document, by key
        self._words_of: dict[Place, tuple[object, ...]] = {}
        self._rows: tuple[Overview | None, dict[int, adjudication.DocumentRow]] = None, {}
        self._after: Sheet | None = None  # the open document after the decision that is written
        self.listen(self.project.changed, self._project_changed)

    # ------------------------------------------------------------ on and off

    @property
    def is_on(self) -> bool:
        return bool(self.people)

    @property
    def is_shown(self) -> bool:
        """Whether the differences are shown, and not the usual page to edit one."""
        return self.is_on and not self.editing

    @property
    def can_decide(self) -> bool:
        return self.is_shown and self.session.can_write and self.current is not None

    @property
    def current(self) -> Difference | None:
        if self.sheet is None or self.at is None:
            return None
        return self.sheet.differences[self.at]

    def participants(self) -> tuple[Person, ...]:
        """The people whose labels can be compared."""
        return adjudication.participants(self.project)

    def layers_of(self, people: Sequence[Person]) -> tuple[Layer, ...]:
        """The layers that these people have labelled."""
        return adjudication.layers_of(self.project, people)

    def start(
        self, people: Sequence[Person], layers: Sequence[Layer], document_id: int | None = None
    ) -> None:
        """Compare these people. Documents on which they agree become gold at once, in one undo
        step.
        """
        self.update(starting=True)
        work = partial(adjudication.begin, self.project, people, layers, origin=self)
        done = partial(self._begun, tuple(people), tuple(layers), document_id)
        title = _("Comparing versions…")
        self.context.task(BEGIN, work, done, failed=self._not_begun, writes=True, title=title)

    def start_with(
        self, people_ids: Sequence[int], layer_ids: Sequence[int], document_id: int | None
    ) -> None:
        """As `start`, by ids, without ids of layers in all that they have labelled; only opens the
        document if the same people are compared already. Does nothing in blind mode.
        """
        from workbench.operations.people import people
        from workbench.operations.schema import labels

        if self.session.blind:
            return
        persons = [person for person in people.every(self.project) if person.id in people_ids]
        layers = [
            layer
            for layer in labels.layers(self.project)
            if layer.id in layer_ids or (not layer_ids and layer in self.layers_of(persons))
        ]
        same = [person.id for person in persons] == [person.id for person in self.people]
        if same and {layer.id for layer in layers} <= {layer.id for layer in self.layers}:
            if self.editing:
                self.end_editing()
            if document_id is not None:
                self.open(document_id)
        else:
            self.start(persons, layers, document_id)

    def place_in_history(self) -> dict[str, Any]:
        """Arguments of the page that lead back here."""
        return {
            "adjudicate": tuple(person.id for person in self.people),
            "layers": tuple(row_id(layer) for layer in self.layers),
            "document": self.sheet.document.id if self.sheet is not None else None,
        }

    def _begun(
        self,
        people: tuple[Person, ...],
        layers: tuple[Layer, ...],
        document_id: int | None,
        taken: int,
    ) -> None:
        self.session.update(blocked=True)
        self.update(starting=False, people=people, layers=layers, editing=False, overview=None)
        self.update(sheet=None, at=None, ids=(), cases=None, alike=False)
        self._alike.clear()
        self.set_method(self.method)
        self.context.app.adjudicates(True)
        if taken:
            message = ngettext(
                "{n:,} document has layers without differences, which are gold now.",
                "{n:,} documents have layers without differences, which are gold now.",
                taken,
            )
            self.context.note(message, undo=True)
        self._load(document_id)

    def _not_begun(self, error: Exception) -> None:
        self.update(starting=False)
        self.context.fail(error)

    def leave(self) -> None:
        """Show the usual page again, with the document that is open here."""
        for key in (OVERVIEW, CASES, PREDICTED, SUGGEST, PREVIEW):
            self.context.drop(key)
        sheet = self.sheet
        self.session.finish = None
        self.context.app.adjudicates(False)
        self.update(people=(), sheet=None, at=None, overview=None, editing=False)
        self.session.update(blocked=False)
        if sheet is not None:
            self.session.open(row_id(sheet.document))
        self.context.commands_changed()

    # ------------------------------------------------------------ documents

    def _load(self, document_id: int | None = None) -> None:
        """Read all documents again; then open this one, or the first with an open difference."""
        work = partial(adjudication.overview, self.project, self.people, self.layers)
        self._loading = True
        self.context.task(OVERVIEW, work, partial(self._take_overview, document_id))

    def _take_overview(self, document_id: int | None, overview: Overview) -> None:
        self._loading = False
        if self._outdated and self.overview is not None:  # it may lack what was decided since
            self._outdated = False
            self._load(document_id)
            return
        self.overview, self._outdated = overview, False
        self._sort()
        opened = row_id(self.sheet.document) if self.sheet is not None else None
        if document_id is None and opened is None:
            document_id = self._next_document(0) or next(iter(self.ids), None)
        if document_id is not None and document_id != opened:
            self.open(document_id)
        self.announce("overview", "ids")
        self.context.commands_changed()

    def set_order(self, order: str) -> None:
        self.update(order=order)
        self._sort()
        self.announce("ids")

    def _sort(self) -> None:
        rows = self.overview.rows if self.overview is not None else ()
        ordered = sorted(rows, key=lambda row: -self._weight(row))
        self.ids = tuple(row.document_id for row in ordered)

    def _weight(self, row: adjudication.DocumentRow) -> int:
        return row.total if self.order == MOST else self._open_in(row)

    def _open_in(self, row: adjudication.DocumentRow) -> int:
        """Open differences of a document that the order leads through."""
        return sum(n for kind, n in row.kinds.items() if self.order in (MOST, kind))

    def rows(self, ids: Sequence[int]) -> list[DocumentRow]:
        """The documents as the queue lists them: submitted, begun, or pending."""
        from workbench.operations.annotation.annotate import DocumentRow

        rows = self._by_id
        return [
            DocumentRow(id, row.key, row.text, None, _state(row), (), 0, 0)
            for id in ids
            if (row := rows.get(id)) is not None
        ]

    @property
    def _by_id(self) -> dict[int, adjudication.DocumentRow]:
        if self._rows[0] is not self.overview:
            rows = self.overview.rows if self.overview is not None else ()
            self._rows = self.overview, {row.document_id: row for row in rows}
        return self._rows[1]

    def queue_note(self, id: int) -> str:
        """How many differences of a document are open, for its row in the queue."""
        row = self._by_id.get(id)
        if row is None or _is_done(row):
            return ""
        if not row.open:
            return _("to submit")
        if self.sheet is not None and id == row_id(self.sheet.document):
            return ngettext("{n:,} open", "{n:,} open", row.open)
        return formats.count(row.open)

    @property
    def place(self) -> int | None:
        """The position of the open document in the queue."""
        id = row_id(self.sheet.document) if self.sheet is not None else None
        return self.ids.index(id) if id in self.ids else None

    @property
    def finished(self) -> Counts:
        """Documents that are gold, and all with differences."""
        rows = self.overview.rows if self.overview is not None else ()
        return Counts(sum(map(_is_done, rows)), len(rows))

    def open(self, document_id: int) -> None:
        """Show a document, at its first open difference."""
        sheet = self._read(document_id)
        if sheet is None:
            return
        self._alike.clear()  # without what was decided in the document before
        self._signatures.clear()
        self._words_of.clear()
        with self.together():
            self.update(sheet=sheet, at=None, unfolded=frozenset(), predicted={})
            self.project.select((document_id,), self.session)
            self.go_to(self._next_open(-1) if self._next_open(-1) is not None else 0)
        self._read_predictions(sheet.document)
        self.context.commands_changed()

    def _read(self, document_id: int) -> Sheet | None:
        """None if the document was removed, or cannot be read."""
        read = partial(adjudication.sheet, self.project, document_id, self.people, self.layers)
        try:
            sheet: Sheet | None = self.context.attempt(read)
        except KeyError:
            return None
        return sheet

    def step_document(self, way: int) -> None:
        place = self.place
        if place is not None and 0 <= place + way < len(self.ids):
            self.open(self.ids[place + way])

    def _next_document(self, way: int) -> int | None:
        """The next document of the queue with open differences of the order; after the last comes
        the first. way 0: from the first one on.
        """
        place = self.place if way and self.place is not None else -1
        by_id = self._by_id
        for id in (*self.ids[place + 1 :], *self.ids[: max(place, 0)]):
            if self._open_in(by_id[id]):
                return id
        return None

    # ------------------------------------------------------------ differences

    def go_to(self, at: int | None) -> None:
        """Make a difference of the open document the current one."""
        count = len(self.sheet.differences) if self.sheet is not None else 0
        at = at if at is not None and 0 <= at < count else None
        self.update(at=at, cases=None, unticked=frozenset(), alike=False)
        self.context.drop(CASES)
        difference = self.current
        if difference is not None and difference.taken is None:
            self._find_cases(difference)
        self.context.commands_changed()

    def _find_cases(self, difference: Difference) -> None:
        """Set `cases`, from a former search where it was for an equal case."""
        signed = self._signature(difference)
        alike = self._alike.get(signed)
        if alike is None or self.sheet is None:
            work = partial(
                adjudication.equal_cases, self.project, difference, self.people, self.layers
            )
            self.context.task(CASES, work, partial(self._take_cases, difference))
            return
        others = [case for case in alike if case.document_id != difference.document_id]
        own = [
            item
            for item in self.sheet.differences
            if item.taken is None and item.key != difference.key and self._signature(item) == signed
        ]
        words = self._words(difference)
        every = sorted((*others, *own), key=lambda item: item.document_id)
        self.update(cases=tuple(sorted(every, key=lambda item: self._words(item) != words)))

    def _words(self, difference: Difference) -> tuple[object, ...]:
        place = _place(difference)
        words = self._words_of.get(place)
        if words is None:
            words = self._words_of[place] = equal_cases.words_of(difference)
        return words

    def _signature(self, difference: Difference) -> tuple[object, ...]:
        """Of a difference of the open document."""
        signed = self._signatures.get(difference.key)
        if signed is None:
            signed = self._signatures[difference.key] = equal_cases.signature(difference)
        return signed

    def _take_cases(self, difference: Difference, cases: Sequence[Difference]) -> None:
        self._alike[self._signature(difference)] = tuple(cases)
        if self.current is not None and self.current.key == difference.key:
            self.update(cases=tuple(cases))

    def step(self, way: int) -> None:
        """Go to the next or previous difference without deciding, also of the next or previous
        document.
        """
        if self.sheet is None:
            return
        at = way if self.at is None else self.at + way
        if 0 <= at < len(self.sheet.differences):
            self.go_to(at)
            return
        place = self.place
        if place is None or not 0 <= place + way < len(self.ids):
            self.context.note(
                _("This is the last difference.") if way > 0 else _("This is the first difference.")
            )
            return
        self.open(self.ids[place + way])
        self.go_to(0 if way > 0 else len(self.sheet.differences) - 1)

    def _next_open(self, at: int) -> int | None:
        """The next open difference of the document that the order leads through, else any."""
        differences = self.sheet.differences if self.sheet is not None else ()
        numbers = [*range(at + 1, len(differences)), *range(at + 1)]
        left = [n for n in numbers if 0 <= n < len(differences) and differences[n].taken is None]
        first = (n for n in left if self.order in (MOST, differences[n].kind))
        return next(first, None)

    def turn(self, row: tuple[str, int], unfold: bool | None = None) -> None:
        """Unfold or fold agreeing lines; row: their field and the number of the first one."""
        unfold = row not in self.unfolded if unfold is None else unfold
        self.update(unfolded=self.unfolded | {row} if unfold else self.unfolded - {row})

    # ------------------------------------------------------------ deciding

    def take(self, number: int) -> None:
        """Take the version of an annotator, counted from 0."""
        if number < len(self.people):
            self._decide(number)

    def take_both(self) -> None:
        self._decide(BOTH)

    def take_neither(self) -> None:
        self._decide(NEITHER)

    def _decide(self, take: Take) -> None:
        if not self.can_decide or self.sheet is None or self.current is None:
            return
        if take not in self.current.takes:
            name = self.current.layer.name
            self.context.note(_("This is not possible in layer {layer}.", layer=name))
            return
        ticked = self.ticked
        if self.alike and ticked:
            self._decide_alike(self.sheet, (self.current, *ticked), take)
            return
        with self.together():
            self._after = self.sheet.after(self.current, take)
            if self._attempt(adjudication.decide, self.sheet, self.current, take):
                self._go_on()

    def _attempt(self, act: Callable[..., tuple[str, ...] | None], *args: Any) -> bool:
        """Change the project and show warnings; False after an error, which is shown."""
        try:
            warnings = self.session.attempt(partial(_warnings, act), *args)
        finally:
            self._after = None
        if warnings:
            self.context.note(" ".join(warnings), undo=True)
        return warnings is not None

    def _decide_alike(self, sheet: Sheet, differences: Sequence[Difference], take: Take) -> None:
        work = partial(
            adjudication.decide_alike, self.project, sheet, differences, take, origin=self
        )
        done = partial(self._decided_alike, len(differences))
        self.context.task(ALIKE, work, done, writes=True, title=_("Deciding equal cases…"))

    def _decided_alike(self, count: int, warnings: Sequence[str]) -> None:
        message = ngettext("Decided {n:,} difference.", "Decided {n:,} differences alike.", count)
        self.context.note(" ".join((message, *warnings)), undo=True)
        self._go_on()

    def _go_on(self) -> None:
        """Go to the next open difference; in an order by kind also of the next document."""
        following = self._next_open(self.at if self.at is not None else -1)
        if following is not None:
            self.go_to(following)
            return
        document_id = self._next_document(1) if self.order != MOST else None
        if document_id is not None:
            self.open(document_id)
        else:
            self.go_to(self.at)

    def undo_decision(self, number: int | None = None) -> None:
        """Make a difference of the open document, or the current one, open again."""
        number = self.at if number is None else number
        if self.sheet is None or number is None or not self.session.can_write:
            return
        difference = self.sheet.differences[number]
        if difference.taken is None:
            return
        with self.together():
            self._after = self.sheet.after(difference, None)
            if self._attempt(adjudication.undo_decision, self.sheet, difference):
                self.go_to(number)

    def discuss(self, text: str) -> None:
        """Set the note on the current difference; "" removes it."""
        if self.current is not None:
            self._attempt(adjudication.discuss, self.current, text)

    @property
    def ticked(self) -> tuple[Difference, ...]:
        """The equal cases that the next decision also decides, if `alike` is on."""
        return tuple(case for case in self.cases or () if self.is_ticked(case))

    def turn_alike(self) -> None:
        if self.cases:
            self.update(alike=not self.alike)

    def is_ticked(self, case: Difference) -> bool:
        return _place(case) not in self.unticked

    def tick(self, case: Difference, on: bool) -> None:
        place = {_place(case)}
        self.update(unticked=self.unticked - place if on else self.unticked | place)

    # ------------------------------------------------------------ suggested versions

    def set_method(self, method: Method | Literal[""]) -> None:
        """Suggest versions by this method, of all documents; OFF: none."""
        self.context.drop(SUGGEST)
        self.update(method=method, consensus=None)
        if method:
            work = partial(
                reliability.consensus, self.project, self.people, self.layers, method=method
            )
            title = _("Comparing people…")
            self.context.task(
                SUGGEST, work, self._take_consensus, failed=self._not_suggested, title=title
            )

    def _take_consensus(self, consensus: Consensus) -> None:
        self.update(consensus=consensus)

    def _not_suggested(self, error: Exception) -> None:
        self.update(method=OFF)
        if not isinstance(error, Cancelled):
            self.context.fail(error)

    def suggestion(self, difference: Difference) -> SuggestedVersion | None:
        """The version that is suggested for a difference; None without one."""
        if self.consensus is None:
            return None
        return self.consensus.versions.get(_place(difference))

    @property
    def suggestions_open(self) -> int:
        """Open differences of the open document with a suggestion."""
        differences = self.sheet.differences if self.sheet is not None else ()
        return sum(item.taken is None and bool(self.suggestion(item)) for item in differences)

    def take_suggested(self) -> None:
        """Take the version that is suggested for the current difference."""
        suggested = self.suggestion(self.current) if self.current is not None else None
        if suggested is not None:
            self._decide(suggested.take)
        elif self.can_decide:
            self.context.note(
                _("No version is suggested for this difference.")
                if self.consensus is not None
                else _("Choose how versions are suggested above the list of documents.")
            )

    def find_suggestions(
        self, show: Callable[[Sequence[tuple[Difference, SuggestedVersion]]], None]
    ) -> None:
        """Call `show` with the open differences of all documents that have a suggestion."""
        if self.consensus is not None:
            work = partial(
                reliability.open_suggestions,
                self.project, self.people, self.layers, self.consensus,
            )  # fmt: skip
            self.context.task(PREVIEW, work, show, title=_("Reading open differences…"))

    def take_all(self, rows: Sequence[tuple[Difference, SuggestedVersion]]) -> None:
        """Take the suggested version of each of these differences, in one undo step."""
        decisions = [(difference, suggested.take) for difference, suggested in rows]
        work = partial(
            adjudication.decide_each,
            self.project, self.people, self.layers, decisions, origin=self,
        )  # fmt: skip
        done = partial(self._took_all, len(rows))
        self.context.task(ALIKE, work, done, writes=True, title=_("Taking suggestions…"))

    def _took_all(self, count: int, result: tuple[int, Sequence[str]]) -> None:
        decided, warnings = result
        messages = [
            ngettext("Decided {n:,} difference.", "Decided {n:,} differences.", decided),
            *warnings,
        ]
        if left := count - decided:
            messages.append(
                ngettext(
                    "{n:,} relation is still open: its spans are not decided.",
                    "{n:,} relations are still open: their spans are not decided.",
                    left,
                )
            )
        self.context.note(" ".join(messages), undo=True)
        self._go_on()

    def key_of(self, difference: Difference) -> str:
        """The key of its document."""
        row = self._by_id.get(difference.document_id)
        return row.key if row is not None else ""

    # ------------------------------------------------------------ editing and submitting

    def edit(self) -> None:
        """Edit the gold labels of the document with the usual keys; `end_editing` comes back."""
        if not self.can_decide or self.sheet is None or self.current is None:
            return
        sheet, difference = self.sheet, self.current
        if difference.taken != EDITED and not self._attempt(
            adjudication.decide, sheet, difference, EDITED
        ):
            return
        self.session.finish = self.end_editing
        self.session.update(blocked=False, off=self.session.off - {difference.layer.id})
        self.session.open(row_id(sheet.document))
        self.update(editing=True)
        self.context.commands_changed()

    def end_editing(self) -> None:
        self.session.leaving.emit()
        self.session.finish = None
        self.session.update(blocked=True)
        self.session.load_layers()
        self.update(editing=False)
        self._go_on()

    @property
    def open_count(self) -> int:
        """Open differences of the document."""
        differences = self.sheet.differences if self.sheet is not None else ()
        return sum(difference.taken is None for difference in differences)

    @property
    def can_submit(self) -> bool:
        return (
            self.is_shown
            and self.session.can_write
            and self.sheet is not None
            and not self.sheet.done
            and not self.open_count
        )

    def submit(self) -> None:
        """Make the labels gold and open the next document with open differences, else the next
        one to submit.
        """
        if not self.can_submit or self.sheet is None:
            return
        document = self.sheet.document
        warnings = self.session.attempt(adjudication.submit, self.sheet)
        if warnings is None:
            return
        message = _("{key} is gold.", key=document.key)
        self.context.note(" ".join((message, *warnings)), undo=True)
        following = self._next_document(1)
        if following is None:
            by_id = self._by_id
            others = (id for id in self.ids if id != document.id)
            following = next((id for id in others if not _is_done(by_id[id])), None)
        if following is not None:
            self.open(following)

    # ------------------------------------------------------------ what runs and the guideline say

    @property
    def hides_runs(self) -> bool:
        """Whether what runs say is hidden until a difference is decided."""
        return bool(self.context.settings.window.get(HIDES))

    def hide_runs(self, hide: bool) -> None:
        self.context.settings.window[HIDES] = hide
        self.context.settings.save()
        self.announce("predicted")

    def _read_predictions(self, document: Document) -> None:
        work = partial(_predicted, self.project, self.layers, document)
        self.context.task(PREDICTED, work, partial(self._take_predictions, row_id(document)))

    def _take_predictions(
        self, document_id: int, predicted: Mapping[int, Sequence[tuple[str, Sequence[Answer]]]]
    ) -> None:
        if self.sheet is not None and row_id(self.sheet.document) == document_id:
            self.update(predicted=predicted)

    def text_of(self, difference: Difference) -> str:
        """The text in which a difference is; "" of one without a place."""
        if self.sheet is None or difference.start is None:
            return ""
        return self.sheet.document.content(difference.field)

    @property
    def guideline(self) -> str:
        """Markdown: the guideline of the layer of the current difference."""
        return guideline.shown([self.current.layer]) if self.current is not None else ""

    @staticmethod
    def guideline_sentence(difference: Difference) -> str:
        """What the guideline says on the labels of a difference; "" if it says nothing."""
        marks = (mark for version in difference.versions for mark in version or ())
        names = dict.fromkeys(mark.label for mark in marks)
        sentences = (sentence_for(difference.layer, name) for name in names)
        return " ".join(dict.fromkeys(filter(None, sentences)))

    @property
    def _example(self) -> tuple[Mark, bool] | None:
        """The label of the current decision, and whether it was taken; None without one."""
        difference = self.current
        if difference is None or difference.taken in (None, EDITED):
            return None
        take = difference.taken
        taken = difference.marks(take) if take is not None else ()
        every = (mark for version in difference.versions for mark in version or ())
        mark = next(iter(taken or every), None)
        names = [label.name for label in difference.layer.labels]
        return None if mark is None or mark.label not in names else (mark, bool(taken))

    @property
    def can_add_example(self) -> bool:
        """Whether the decision on the current difference can be an example of the guideline."""
        return self.session.can_write and self._example is not None

    def add_example(self) -> None:
        """Add what was taken to the guideline as an example, else what was not taken."""
        if not self.can_add_example or self.current is None or self._example is None:
            return
        (mark, positive), difference = self._example, self.current
        place = {"start": mark.start, "end": mark.end, "field": mark.field}
        added = self.session.attempt(
            guideline.add_example,
            row_id(difference.layer),
            mark.label,
            difference.document_id,
            positive=positive,
            **(place if mark.start is not None else {}),
        )
        if added is not None:
            message = _("Added to the guideline of {layer}.", layer=difference.layer.name)
            self.context.note(message, undo=True)

    @property
    def counts(self) -> Mapping[str, Counts]:
        """Layer → its differences in all documents."""
        layers = self.overview.layers if self.overview is not None else {}
        return {name: Counts(*counts) for name, counts in layers.items()}

    def readings(self, difference: Difference) -> list[tuple[str, list[Answer]]]:
        """What runs predict where the versions differ: (run, predicted labels)."""
        runs = self.predicted.get(row_id(difference.layer), ())
        return [
            (name, [answer for answer in answers if _is_at(answer, difference)])
            for name, answers in runs
        ]

    # ------------------------------------------------------------ following the project

    def _project_changed(self, changes: Changes) -> None:
        if not self.is_on:
            return
        if changes.touches("layer") or changes.touches("label") or changes.touches("document"):
            self._follow_schema()
        elif any(map(changes.touches, LABELLED)):
            self._follow(changes)

    def _follow_schema(self) -> None:
        from workbench.operations.schema import labels

        self._alike.clear()
        ids = {layer.id for layer in self.layers}
        layers = tuple(layer for layer in labels.layers(self.project) if layer.id in ids)
        if not layers:
            self.leave()
            return
        self.update(layers=layers)
        self.set_method(self.method)
        self._reread()
        self._load()

    def _follow(self, changes: Changes) -> None:
        changed = changes.documents
        if changed is None or self.sheet is None or changed - {row_id(self.sheet.document)}:
            self._alike.clear()
        opened = row_id(self.sheet.document) if self.sheet is not None else None
        if changed is None or opened is None:
            self.set_method(self.method)
            self._reread()
            self._load()
            return
        if opened in changed:
            before = self.sheet
            self._reread()
            self._count(before, self.sheet)
        if changed - {opened}:
            self._load()
        if changes.origin is None and len(changed) == 1 and opened not in changed:
            document_id = next(iter(changed))  # an undo or redo in another document
            if document_id in self.ids and not self.editing:
                self.open(document_id)
        self.announce("overview")
        if self._after is None:  # else the next difference is opened
            self.context.commands_changed()

    def _reread(self) -> None:
        """Read the open document again; if it is gone, show none."""
        if self.sheet is not None:
            sheet = self._after or self._read(row_id(self.sheet.document))
            if sheet is None:
                self.update(sheet=None, at=None)
            else:
                self._show(sheet)

    def _show(self, sheet: Sheet) -> None:
        """Show the open document as it is now; the current difference stays, if it is there."""
        key = self.current.key if self.current is not None else ""
        keys = [difference.key for difference in sheet.differences]
        at = keys.index(key) if key in keys else (self.at if self.at in range(len(keys)) else None)
        self.update(sheet=sheet, at=at)

    def _count(self, before: Sheet | None, now: Sheet | None) -> None:
        """Bring the counts of the open document up to date without reading the others."""
        overview = self.overview
        if before is None or now is None or overview is None:
            self._load()
            return
        self._outdated = self._loading
        layers = Counter({name: decided for name, (decided, _total) in overview.layers.items()})
        layers.subtract(item.layer.name for item in before.differences if item.taken is not None)
        layers.update(item.layer.name for item in now.differences if item.taken is not None)
        remaining = Counter(item.kind for item in now.differences if item.taken is None)
        rows = [
            replace(
                row,
                open=remaining.total(),
                total=len(now.differences),
                kinds=dict(remaining),
                discussed=sum(bool(item.note) for item in now.differences),
                submitted=now.done,
            )
            if row.document_id == now.document.id
            else row
            for row in overview.rows
        ]
        counts = {name: (layers[name], total) for name, (_before, total) in overview.layers.items()}
        self.overview = replace(overview, rows=tuple(rows), layers=counts)


def _place(case: Difference) -> Place:
    """Documents with equal texts can have differences with equal keys."""
    return case.document_id, case.key


def _warnings(
    act: Callable[..., tuple[str, ...] | None], *args: Any, **named: Any
) -> tuple[str, ...]:
    """What is returned, without None, which tells `_attempt` that there was an error."""
    return act(*args, **named) or ()


def _is_done(row: adjudication.DocumentRow) -> bool:
    return row.submitted and not row.open


def _state(row: adjudication.DocumentRow) -> str:
    if _is_done(row):
        return "submitted"
    return "pending" if row.open == row.total else "draft"


def _is_at(answer: Answer, difference: Difference) -> bool:
    """Whether a prediction is about the place of a difference."""
    if difference.start is None or difference.end is None:
        return True
    if answer.start is None or answer.end is None or answer.field != difference.field:
        return False
    return answer.start < difference.end and difference.start < answer.end


def _predicted(
    project: Project, layers: Sequence[Layer], document: Document
) -> dict[int, list[tuple[str, list[Answer]]]]:
    """What the newest runs of each layer predict for a document."""
    from workbench.operations.runs import predict, results

    predicted: dict[int, list[tuple[str, list[Answer]]]] = {}
    for layer in layers:
        rows = predicted[row_id(layer)] = []
        for run in results.all_runs(project):
            if run.layer_id != layer.id or len(rows) == RUNS:
                continue
            prediction: Prediction | None = predict.stored(project, run, [document]).get(
                row_id(document)
            )
            if prediction is not None:
                rows.append((run.name, result_view.of(prediction).answers(prediction)))
    return predicted
