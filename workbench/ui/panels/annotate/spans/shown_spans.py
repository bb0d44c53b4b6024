"""The spans that Annotate draws in the texts: gold, suggestions, predictions and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from workbench.base.i18n import _
from workbench.ui.panels.annotate.differences import differences
from workbench.ui.style import theme
from workbench.ui.widgets.text import span_layout
from workbench.ui.widgets.text.span_layout import TextSpan

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import SpanRow
    from workbench.operations.annotation.document_view import SpanRows
    from workbench.ui.panels.annotate.differences import UnmatchedPrediction
    from workbench.ui.panels.annotate.document_text import DocumentText
    from workbench.ui.panels.annotate.session import DocumentSession

Drawn = list[TextSpan]

# name and colour of a span whose label is not loaded or was deleted
NO_LABEL = ("?", theme.NO_LABEL)


def _in_chain(chain: int | None, name: str, tint: Any) -> tuple[str, Any]:
    """Name and colour of a span: those of its chain, if it is in one."""
    if chain is None:
        return name, tint
    return _("{chain} · {label}", chain=chain, label=name), chain - 1


class Looks(NamedTuple):
    """What all gold spans depend on; another one draws all of them again."""

    labels: dict[int | None, tuple[str, Any]]  # label id → name, colour
    missed: frozenset[int]  # ids of spans that the reviewed run lacks
    tags: frozenset[int | None]  # layers that are shown below tokens instead


class Given(NamedTuple):
    """What a text shows: the number of the change of gold that it knows, and the other spans."""

    field: str
    change: int
    others: Drawn


class DrawnAnswer(Protocol):
    """An answer in the first text, [start, end) in code points; `kind` of what is drawn."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def id(self) -> int: ...

    @property
    def score(self) -> float | None: ...


class ShownSpans:
    """What is drawn for the rows of the state.

    Unchanged rows keep their objects. After an edit only the changed spans are exchanged, so that
    its time does not depend on the number of spans.
    """

    def __init__(
        self, session: DocumentSession, answers: Callable[[], Iterable[DrawnAnswer]]
    ) -> None:
        """answers: those of the current question."""
        self.session, self._answers_of = session, answers
        self._looks = Looks({}, frozenset(), frozenset())
        self._rows: SpanRows | None = None  # the gold that is drawn
        self._gold: dict[str, dict[int, TextSpan]] = {}  # text → span id → what is drawn
        self._change = 0  # number of the last change of gold
        self._last: dict[str, tuple[Drawn, Drawn]] = {}  # text → spans gone and come with it
        self._given: dict[DocumentText, Given] = {}

    def show_in(self, texts: Iterable[DocumentText]) -> None:
        """Show the spans of each text: gold, open suggestions, and in error review the run's false
        positives.
        """
        extra, missed = differences(self.session)[:2]
        self._follow_gold(missed)
        others = self._others(extra)
        for text in texts:
            self._show(text, others.get(text.field, []))

    def forget(self, text: DocumentText) -> None:
        """The text shows no spans now, as after `set_text`."""
        self._given.pop(text, None)

    def _show(self, text: DocumentText, others: Drawn) -> None:
        before, field = self._given.get(text), text.field
        if before is None or before.field != field or before.change < self._change - 1:
            text.set_spans([*self._gold.get(field, {}).values(), *others])
        else:
            last: tuple[Drawn, Drawn] = ([], [])
            if before.change < self._change:
                last = self._last.get(field, last)
            if others == before.others:
                others = before.others
                text.exchange_spans(*last)
            else:
                text.exchange_spans([*last[0], *before.others], [*last[1], *others])
        self._given[text] = Given(field, self._change, others)

    # ------------------------------------------------------------ gold

    def _follow_gold(self, missed: frozenset[int]) -> None:
        session = self.session
        looks = Looks(
            {
                id: (label.name, label.colour or label.position)
                for id, (_layer, label) in session.label_of.items()
            },
            missed,
            frozenset(layer.id for layer in session.tag_layers),
        )
        rows = session.spans
        change = rows.changes(self._rows) if looks == self._looks else None
        if change is None:
            self._draw_all(rows, looks)
        elif change.gone or change.come:
            self._draw(change.gone, change.come)
        self._rows = rows

    def _draw_all(self, rows: SpanRows, looks: Looks) -> None:
        same = self._rows.by_id if self._rows is not None and looks == self._looks else {}
        before, self._gold, self._looks = self._gold, {}, looks
        for row in rows:
            if row.layer_id not in looks.tags:
                known = before.get(row.field, {}).get(row.id) if same.get(row.id) is row else None
                self._gold.setdefault(row.field, {})[row.id] = known or self._make(row)
        self._change += 2  # more than one step, so that every text is given all of them

    def _draw(self, gone: Iterable[SpanRow], come: Iterable[SpanRow]) -> None:
        self._last = {}
        for row in gone:
            if row.layer_id not in self._looks.tags:
                last = self._last.setdefault(row.field, ([], []))
                last[0].append(self._gold[row.field].pop(row.id))
        for row in come:
            if row.layer_id not in self._looks.tags:
                last = self._last.setdefault(row.field, ([], []))
                last[1].append(self._make(row))
                self._gold.setdefault(row.field, {})[row.id] = last[1][-1]
        self._change += 1

    def _make(self, row: SpanRow) -> TextSpan:
        name, tint = _in_chain(row.chain, *self._looks.labels.get(row.label_id, NO_LABEL))
        note = _("missed") if row.id in self._looks.missed else ""
        return TextSpan(
            row.start, row.end, name, tint, row.id, span_layout.GOLD, None, note, parts=row.parts
        )

    # ------------------------------------------------------------ the others

    def _others(self, extra: Iterable[UnmatchedPrediction]) -> dict[str, Drawn]:
        """Suggestions, answers and predictions of each text."""
        session, looks = self.session, self._looks
        drawn: dict[str, Drawn] = {}
        hidden = looks.tags | {layer.id for layer in session.active if layer.traits.asks}
        for row in () if session.errors else session.suggestions:
            if row.start is not None and row.end is not None and row.layer_id not in hidden:
                name, tint = _in_chain(row.chain, *looks.labels.get(row.label_id, NO_LABEL))
                drawn.setdefault(row.field, []).append(
                    TextSpan(
                        row.start, row.end, name, tint, row.id, span_layout.SUGGESTED, row.score
                    )
                )
        if answers := self._answers():
            drawn.setdefault(session.shown_doc.document.fields[0], []).extend(answers)
        learned = next(
            (layer.labels for layer in session.layers if layer.id == session.run_layer), ()
        )
        tints = {label.name: label.colour or label.position for label in learned}
        for number, predicted in enumerate(() if session.run_layer in looks.tags else extra, 1):
            tint = tints.get(predicted.label, NO_LABEL[1])
            name, tint = _in_chain(predicted.chain, predicted.label, tint)
            drawn.setdefault(predicted.field, []).append(
                TextSpan(
                    predicted.start,
                    predicted.end,
                    name,
                    tint,
                    number,
                    span_layout.PREDICTED,
                    predicted.score,
                )
            )
        return drawn

    def _answers(self) -> list[TextSpan]:
        """The answers of the current question in the text."""
        answers = self._answers_of()
        return [
            TextSpan(answer.start, answer.end, _("answer"), 0, answer.id, answer.kind, answer.score)
            for answer in answers
        ]
