"""One error in its text, with gold and prediction, and the errors of the same confusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QVBoxLayout, QWidget
from shiboken6 import isValid

from workbench.base.i18n import _, ngettext
from workbench.base.registry import registry
from workbench.base.terms import term
from workbench.text.document import CHOICE, TEXT
from workbench.text.labels import NUMBERS, TOKENS, WRITTEN
from workbench.text.mistakes import BOUNDARY, DIRECTION, LABEL, MISSED, Mistake
from workbench.text.relations import directed
from workbench.text.result_view import KIND
from workbench.text.scale import Scale, shortest
from workbench.ui.panels.results.review.error_keys import ERROR_COMMANDS
from workbench.ui.panels.results.review.state import NONE, VERDICTS
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import points
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.key_cap import CommandCap
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import TurningRow, bar, card, column, layout_of, row, scrolled
from workbench.ui.widgets.tables.delegates import STATE_TONES
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.arc_layout import RELATION, TextArc
from workbench.ui.widgets.text.span_layout import GOLD, PREDICTED, TextSpan
from workbench.ui.widgets.text.view import TextView

if TYPE_CHECKING:
    from workbench.operations.documents.similar import SimilarDocument
    from workbench.operations.evaluation.errors import Detail
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.text.document import Document
    from workbench.text.labels import Label, Layer
    from workbench.text.result_view import DetailRow, ResultView
    from workbench.text.spans import Span
    from workbench.ui.panels.results.review.similar import SimilarState
    from workbench.ui.panels.results.review.state import ReviewState


SHOWN_LABELS = 3  # in the list of similar texts
MOST_ROWS, FEW_ROWS = 5, 3  # of the tables below the text, and below a passage with questions
WORD, MARK = 92, 56  # widths of a column with words, and with "gold" alone
ANSWER, PAIR = 300, 150  # widths of a column with answers, and with both spans of a relation
GREY = theme.NO_LABEL  # other spans, so that the chosen error stands out
UNBOUNDED = 16_777_215  # QWIDGETSIZE_MAX
LEAST_TEXTS = (48, 72)  # minimum heights of the first and second text, in pixels
ENOUGH_TEXT = 140  # height of a text that may scroll by itself, pixels at 100%


class Titles(NamedTuple):
    """Titles of the decisions, where {label} stands for the label, and of the prediction.

    remove, add, without: where the prediction has no label, and where gold has none.
    """

    accept: str = _("Accept prediction")
    keep: str = _("Keep gold")
    next: str = _("Next")
    predicted: str = _("What the model predicted")
    remove: str = _("Accept prediction")
    add: str = _("Accept prediction")
    without: str = _("Keep gold")

    def of_layer(self, mistake: Mistake, layer: Layer | None, view: ResultView) -> tuple[str, str]:
        """As `decisions`; the label of an answer is its question, which has no place in a title,
        nor has a quoted text, and a number that is accepted is rounded to its scale.
        """
        record = layer.traits.record if layer is not None else ""
        if view.asks or view.quotes or record == WRITTEN:
            return Titles().decisions(mistake)
        if layer is not None and record == NUMBERS and mistake.predicted != NONE:
            nearest = Scale.of(layer.options).nearest(float(mistake.predicted))
            mistake = replace(mistake, predicted=shortest(nearest))
        return self.decisions(mistake)

    def decisions(self, mistake: Mistake) -> tuple[str, str]:
        """Titles of accepting the prediction and of keeping gold."""
        gold, predicted = mistake.gold, mistake.predicted
        accept = self.accept if gold and predicted else self.add if predicted else self.remove
        keep = self.keep if gold else self.without
        return accept.format(label=predicted or gold), keep.format(label=gold)


class PredictionWidget(QWidget):
    """What a kind of prediction shows of an error, above its labels: `view` of its entry in the
    manifest.
    """

    def show_prediction(self, detail: Detail, mistake: Mistake) -> None:
        """detail: of the document, with gold and its prediction."""
        raise NotImplementedError(type(self).__name__)


class ErrorDetail(QFrame):
    """titles: `accept` and `keep` may name the {label}."""

    def __init__(self, state: ReviewState, titles: Titles | None = None):
        super().__init__()
        self._state = state
        self._titles = titles = titles or Titles()
        self._shown: tuple[object, ...] = ()
        self._key = Elided("", weight=600)
        self._split, self._of, self._verdict = Chip(""), Chip(""), Chip("")
        self._inspect = Button(_("Inspect"), "scan-search", "quiet", small=True, on=state.inspect)
        self._open = Button(
            _("Open in Annotate"), "arrow-up-right", "quiet", small=True, on=state.open
        )
        self._title = Elided("", weight=600)
        self._asked = words("", "small", wrap=True)
        self._legend = words(_("solid: gold · dotted: predicted"), "caption", "muted")
        self._texts = [TextView(), TextView()]
        policy = QSizePolicy.Policy
        for number, text in enumerate(self._texts):
            text.setAccessibleName(_("Second text") if number else _("Text"))
            text.setMinimumHeight(LEAST_TEXTS[number])
            text.setSizePolicy(
                policy.Expanding, policy.Ignored
            )  # the cards take their height first
        self._texts_of: list[str | None] = [None, None]
        self._build_cards()
        settings = state.context.settings
        caps = [
            CommandCap(settings, error_command.id, *error_command.all_keys)
            for error_command in ERROR_COMMANDS
            if error_command.bare
        ]
        head = TurningRow(
            (row((self._key, 1), self._split, self._of, self._verdict), 1),
            row(None, self._inspect, self._open, caps[-1]),
            gap=8,
        )
        self._paper = card(
            TurningRow((self._title, 1), self._legend),
            self._asked,
            *((text, 1) for text in self._texts),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(scrolled(column(head, (self._paper, 1), self._cards)), 1)
        layout.addWidget(self._build_acts(caps[:3]))

    def _build_cards(self) -> None:
        """The prediction, and beside it errors of the same kind or similar texts."""
        state = self._state
        self._answers = self._answer_table()
        self._same = self._same_table()
        self._answer_note = words("", "caption", "muted")
        self._same_note = words("", "caption", "muted")
        self._which = Segments(
            (False, _("Same confusion")), (True, _("Similar texts")), name=_("Compare with")
        )
        self._which.chosen.connect(state.similar.show)
        self._similar = SimilarList(state.similar, self._look)
        state.listen(state.similar.changed, self._similar_changed)
        self._own: dict[str, PredictionWidget] = {}  # by key of the field
        self._answer_card = card(
            self._answers, None, title=self._titles.predicted, note=self._answer_note
        )
        head = flow(self._which, None, self._same_note)
        self._other_card = card(head, self._same, self._similar, None)
        self._cards = row((self._answer_card, 1), (self._other_card, 1), gap=12)

    def _build_acts(self, caps: Sequence[CommandCap]) -> QFrame:
        """The buttons of the review, each with its key."""
        state, titles = self._state, self._titles
        self._accept = Button(titles.accept, "check", on=state.accept)
        self._keep = Button(titles.keep, "circle-dot", on=state.keep)
        self._next = Button(titles.next, "skip-forward", on=state.next)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._other = Button(_("Another label"), menu=self._menu)
        buttons = zip((self._accept, self._keep, self._next), caps, strict=True)
        pairs = [row(button, cap, 8) for button, cap in buttons]
        return bar((flow(*pairs, self._other), 1), margins=(0, 8, 0, 0))

    def _answer_table(self) -> Table:
        columns = (
            Column(
                _("Label"),
                chip=lambda row: (row[1] or NONE, self._look(row[1]), ""),
                width=110,
                most=220,
            ),  # fmt: skip
            Column(
                "%",
                lambda row: points(row[2]),
                share=lambda row: row[2],
                hint=_("Probability in %"),
            ),
            Column(_("Word"), lambda row: row[0], WORD, tip=lambda row: row[0]),
        )
        return Table(columns, name=_("Prediction at this place"), key=lambda row: row)

    def _same_table(self) -> Table:
        columns = (
            Column(
                _("Key"),
                lambda row: row.key,
                104,
                icon=lambda row: ("check", "good") if row.verdict else ("circle", "faint"),
                tip=lambda row: _(VERDICTS[row.verdict]) if row.verdict else _("open"),
            ),
            Column(_("Text"), lambda row: row.quote, tip=lambda row: row.quote, prose=True),
        )
        table = Table(columns, name=_("The same confusion"), key=lambda row: row.identity)
        table.opened.connect(lambda item: self._state.choose(item.identity))
        return table

    def _look(self, name: str) -> Label | None:
        layer = self._state.layer
        return (
            next((label for label in layer.labels if label.name == name), None) if layer else None
        )

    def _fill_menu(self) -> None:
        self._menu.clear()
        for place, name in enumerate(self._state.others()):
            key = f"\t{place + 1}" if place < 9 else ""
            action = self._menu.addAction(escaping.menu_text(name) + key)
            action.triggered.connect(lambda _on=False, at=place: self._state.set_label_at(at))

    # ---------------------------------------------------------------- showing

    def show_state(self) -> None:
        state = self._state
        item, detail = state.item, state.detail
        for part in (self._paper, self._cards):
            part.setVisible(item is not None and detail is not None)
        for button in (self._accept, self._keep, self._other):
            button.setEnabled(state.can_decide)
        self._other.setVisible(bool(state.others()))
        for button in (self._next, self._open):
            button.setEnabled(item is not None)
        self._inspect.setVisible(state.can_inspect)
        self._key.setText(item.key if item is not None else "")
        for chip in (self._split, self._of, self._verdict):
            chip.setVisible(item is not None)
        if item is None or detail is None:
            return
        split = term(detail.document.split or "")
        self._split.set(split or NONE)
        accept, keep = self._titles.of_layer(item.mistake, state.layer, state.view)
        self._accept.set_text(accept)
        self._keep.set_text(keep)
        self._of.set(term(detail.state), tone=STATE_TONES.get(detail.state, ""))
        self._verdict.setVisible(bool(item.verdict))
        if item.verdict:
            self._verdict.set(_(VERDICTS[item.verdict]), tone="good")
        sentence = _asked(item, detail) if self._state.view.asks else ""
        question = item.mistake.gold or item.mistake.predicted
        self._title.setText(question if sentence else _headline(item, self._state.view))
        self._asked.setText(sentence)
        self._asked.setVisible(bool(sentence))
        in_text = item.mistake.place is not None
        self._legend.setVisible(in_text)
        self._show_texts(item, detail)
        self._show_answers(item, detail)
        self._show_others(item)

    def _show_others(self, item: ReviewItem) -> None:
        """Errors of the same confusion, or labelled documents with a similar text."""
        state, similar = self._state, self._state.similar
        confused = state.view.by_label
        self._other_card.setVisible(confused or (similar.fits and not self._state.view.asks))
        for which, offered in ((False, confused), (True, similar.fits)):
            self._which.button(which).setVisible(offered)
        on = similar.on and similar.fits
        self._which.set(on)
        self._same.setVisible(confused and not on)
        self._similar.setVisible(on)
        if on:
            self._similar.show_state(MOST_ROWS)
            self._same_note.setText("")
            message = _("Nearest labelled documents, by vectors of {model}")
            escaping.set_tip(
                self._which, message.format(model=similar.model) if similar.model else ""
            )
            return
        same = state.same_confusion()
        self._same.set_rows(same)
        self._same.choose({item.identity})
        self._same.fit_height(MOST_ROWS)
        message = ngettext("{n:,} place", "{n:,} places", len(same))
        self._same_note.setText(message if confused else "")

    def _similar_changed(self, _fields: frozenset[str]) -> None:
        if isValid(self) and self._state.item is not None and self.isVisibleTo(self.window()):
            self._show_others(self._state.item)

    def _show_texts(self, item: ReviewItem, detail: Detail) -> None:
        texts = both_texts(detail.document)
        for number, view in enumerate(self._texts):
            view.setVisible(number < len(texts))
            if number >= len(texts):
                continue
            name, content = texts[number]
            if self._texts_of[number] != content:
                view.set_text(content, detail.document.tokens.get(name, ()))
                self._texts_of[number] = content
            spans, chosen = self._spans(item, detail, name)
            view.set_lanes(0)
            view.set_spans(spans)
            view.set_arcs(self._arcs(item.mistake) if name == item.mistake.field else ())
            view.choose(chosen, show=chosen is not None)
        self._fit_texts()

    def _fit_texts(self) -> None:
        """The second text of a pair begins where the first one ends; a low detail scrolls before
        the texts do.
        """
        for text, least in zip(self._texts, LEAST_TEXTS, strict=True):
            enough = min(text.content_height() + 2, theme.px(ENOUGH_TEXT))
            text.setMinimumHeight(max(least, enough))
        first, second = self._texts
        is_pair = not second.isHidden()
        most = max(LEAST_TEXTS[0], first.content_height() + 2)
        first.setMaximumHeight(most if is_pair else UNBOUNDED)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_texts)  # when the texts have their new width

    def _spans(
        self, item: ReviewItem, detail: Detail, field: str
    ) -> tuple[list[TextSpan], tuple[str, int] | None]:
        """What is painted in one text, and the name of the chosen error."""
        mistake = item.mistake
        if mistake.place is None or mistake.field != field:
            return [], None
        if mistake.ends is not None:
            names = {(span.start, span.end): span.label for span in detail.document.input_spans}
            spans = [
                TextSpan(*place, names.get(place, ""), GREY, number, GOLD)
                for number, place in enumerate(sorted(set(mistake.ends)), 1)
            ]
            return spans, None
        view, layer = self._state.view, self._state.layer
        scores = {
            (s.start, s.end, view.caption(s)): s.score for s in detail.predicted if s.field == field
        }
        gold, predicted = _keys(detail.gold, field, view.caption), {*scores}
        if (
            layer is not None and layer.traits.editor == TOKENS
        ):  # only those that differ: all would be unreadable
            gold, predicted = gold - predicted, predicted - gold
            places = {key[:2] for key in gold}
            predicted = {key for key in predicted if key[:2] in places}
        if mistake.at is not None and not view.quotes:
            gold.add((*mistake.at, mistake.gold))
        if mistake.predicted_at is not None and not view.quotes:
            predicted.add((*mistake.predicted_at, mistake.predicted))
        spans, chosen = [], None
        for kind, keys, own in (
            (GOLD, gold, (*(mistake.at or ()), mistake.gold)),
            (PREDICTED, predicted, (*(mistake.predicted_at or ()), mistake.predicted)),
        ):
            for number, key in enumerate(sorted(keys), 1):
                mine = key[:2] == own[:2] if view.quotes else key == own
                tint = self._tint(key[2]) if mine else GREY
                score = scores.get(key) if kind == PREDICTED else None
                lane = int(kind == PREDICTED)
                caption = key[2]  # of an answer: its question, which is above the text already
                if view.asks:
                    caption = _("predicted") if lane else _("gold")
                span = TextSpan(*key[:2], caption, tint, number, kind, score, least_lane=lane)
                spans.append(span)
                chosen = span.name if mine and chosen is None else chosen
        return spans, chosen

    def _arcs(self, mistake: Mistake) -> list[TextArc]:
        """Of a relation: that of gold, and the predicted one with a dashed line."""
        sides = (
            (RELATION, mistake.gold, mistake.at, mistake.to),
            (PREDICTED, mistake.predicted, mistake.predicted_at, mistake.predicted_to),
        )
        layer = self._state.layer
        return [
            TextArc(
                first, second, name, self._tint(name), number,
                layer is None or directed(layer, name), kind=kind,
            )
            for number, (kind, name, first, second) in enumerate(sides, 1)
            if first is not None and second is not None
        ]  # fmt: skip

    def _tint(self, name: str) -> int | str:
        label = self._look(name)
        return (label.colour or label.position) if label is not None else GREY

    def _show_answers(self, item: ReviewItem, detail: Detail) -> None:
        rows, view = detail.rows(item.mistake), self._state.view
        in_text = item.mistake.place is not None
        texts = in_text or view.asks or any(row.text for row in rows)
        own_widget = self._show_own(item, detail)
        remark = detail.prediction.remark if detail.prediction is not None else ""
        # Numbers have none of these.
        self._answer_card.setVisible(bool(rows or remark) or in_text or own_widget)
        self._answers.setVisible(bool(rows) or in_text)
        own = any(row.threshold is not None for row in rows)
        marked = [(self._mark(row, item), row.label, row.share) for row in rows]
        title = _("Threshold") if own else _(view.column) if texts else ""
        self._answers.rows_model.set_title(2, title)
        word = PAIR if item.mistake.ends is not None else WORD
        self._answers.set_width(2, ANSWER if view.asks else word if title else MARK)
        self._answers.setColumnHidden(0, view.asks)
        self._answers.set_rows(marked)
        self._answers.fit_height(FEW_ROWS if view.asks else MOST_ROWS)
        decided = item.mistake.gold or item.mistake.predicted
        self._answers.choose({row for row in marked if own and row[1] == decided})
        self._answer_note.setText(remark or (view.count(len(rows)) if texts else ""))

    def _show_own(self, item: ReviewItem, detail: Detail) -> bool:
        """Show the widget of the kind of prediction, and no other. Returns whether it has one."""
        key = detail.view.key
        if key not in self._own and (widget := registry().view(KIND, key) if key else None):
            self._own[key] = widget()
            layout_of(self._answer_card).insertWidget(1, self._own[key])
        for name, widget in self._own.items():
            widget.setVisible(name == key)
        if key in self._own:
            self._own[key].show_prediction(detail, item.mistake)
        return key in self._own

    def _mark(self, row: DetailRow, item: ReviewItem) -> str:
        """The third cell of a label: the word, or for a document its threshold and "gold"."""
        if item.mistake.place is not None:
            return row.text
        gold = row.label == item.mistake.gold
        if row.threshold is None:
            return row.text or (_("gold") if gold else "")
        value = points(row.threshold)
        return _("{threshold} · gold", threshold=value) if gold else value


def _keys(
    spans: tuple[Span, ...], field: str, caption: Callable[[Span], str]
) -> set[tuple[int, int, str]]:
    return {(span.start, span.end, caption(span)) for span in spans if span.field == field}


def _asked(item: ReviewItem, detail: Detail) -> str:
    """The gold answer and the predicted one. The label of a mistake is its question."""
    mistake, text = item.mistake, detail.document.text
    gold, predicted = (
        " ".join(text[slice(*at)].split()) if at is not None else _("no answer in the text")
        for at in (mistake.at, mistake.predicted_at)
    )
    return _("Gold: {gold} · Predicted: {predicted}", gold=gold, predicted=predicted)


def _headline(item: ReviewItem, view: ResultView) -> str:
    mistake = item.mistake
    about: dict[str, Any] = {
        "text": item.quote.replace("\n", " ")[:60],
        "gold": view.side(mistake, item.text, gold=True) or NONE,
        "predicted": view.side(mistake, item.text, gold=False) or NONE,
        "kind": view.kind_title(mistake.kind),
    }
    if mistake.place is None:
        return _("Gold {gold}, predicted {predicted}", **about)
    if view.quotes:
        return _("{kind}: “{text}” · Gold: {gold} · Predicted: {predicted}", **about)
    message = {
        LABEL: _("Label error: “{text}” is {gold}, predicted {predicted}"),
        BOUNDARY: _("Boundary error: “{text}”, {gold}"),
        DIRECTION: _("Direction error: “{text}” is {gold}, predicted the other way round"),
        MISSED: _("Missed: “{text}”, {gold}"),
    }
    return message.get(mistake.kind, _("Spurious: “{text}”, predicted {predicted}")).format(**about)


class SimilarList(QFrame):
    """look: the label of a name, None if it was deleted."""

    def __init__(self, state: SimilarState, look: Callable[[str], Label | None]):
        super().__init__()
        self._state, self._look = state, look
        self._message = words("", "small", "muted", wrap=True)
        self._meter = Meter(None, name=_("Vectors of the documents"))
        self._compute = Button(_("Compute vectors"), "play", small=True, on=state.compute)
        self._cancel = Button(_("Cancel"), "x", "quiet", small=True, on=state.cancel)
        self._table = self._make_table()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        for part in (
            self._message,
            self._meter,
            row(self._compute, self._cancel, None),
            self._table,
        ):
            layout.addWidget(part)

    def _make_table(self) -> Table:
        columns = (
            Column(_("Cosine"), lambda row: formats.decimal(row.cosine, 2), 70, right=True),
            Column(
                _("Gold"), chip=self._chip, width=96, most=180, tip=lambda row: ", ".join(row.gold)
            ),
            Column(_("Text"), lambda row: " ".join(row.text.split()), tip=self._about, prose=True),
        )
        table = Table(columns, name=_("Similar labelled documents"), key=lambda row: row.id)
        table.opened.connect(self._state.open)
        return table

    def _chip(self, document: SimilarDocument) -> tuple[str, Any, str]:
        labels = ", ".join(document.gold[:SHOWN_LABELS]) + (
            "…" if document.gold[SHOWN_LABELS:] else ""
        )
        return labels or "–", self._look(document.gold[0]) if len(document.gold) == 1 else None, ""

    def _about(self, document: SimilarDocument) -> str:
        split = term(document.split) if document.split else _("no split")
        return f"{document.key} · {split}\n{document.text}"

    def show_state(self, rows: int) -> None:
        """rows: of the table, at most."""
        state, build = self._state, self._state.build
        self._message.setText(build.message if build is not None else state.message)
        self._message.setVisible(bool(self._message.text()))
        self._compute.setVisible(build is not None and build.waits)
        computing = build is not None and not build.waits
        self._cancel.setVisible(computing)
        self._meter.setVisible(computing)
        self._meter.set(build.share if build is not None else None)
        self._table.setVisible(build is None and not state.message)
        self._table.set_rows(state.rows)
        self._table.fit_height(rows)


def both_texts(document: Document) -> tuple[tuple[str, str], ...]:
    """(field, content) of one or two texts; all choices of a document are in the second one, with
    their numbers.
    """
    if not document.choices:
        return document.texts[:2]
    numbered = (f"{number}  {choice}" for number, choice in enumerate(document.choices, 1))
    return ((TEXT, document.prompt), (CHOICE, "\n\n".join(numbered)))
