"""The statistics of the Data page: six cards, whose parts lead to their documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QGridLayout, QSizePolicy, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panel import View
from workbench.ui.panels.data.statistics_state import BINS, LIMITS, StatisticsState
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.count_plots import DayPlot, StepPlot, Steps
from workbench.ui.widgets.charts.pair_plot import PairPlot
from workbench.ui.widgets.charts.plot import Plot
from workbench.ui.widgets.charts.row_plot import PlotRow, RowPlot
from workbench.ui.widgets.charts.saving import ask_numbers, ask_picture, save_menu
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, column, row, scrolled

if TYPE_CHECKING:
    from workbench.operations.documents.statistics import Agreement, LabelUsage, SpanLengths

THREE_COLUMNS, TWO_COLUMNS = 1080, 700  # pixels at 100% from which there are three and two columns
HEIGHT = 262  # of a card


class _Card(QFrame):
    """A plot with its title, choices and a sentence below; `missing` says why there is none."""

    def __init__(
        self, title: str, note: str, plot: Plot, *boxes: QWidget, extra: QWidget | None = None
    ) -> None:
        super().__init__()
        self.plot = plot
        self._note = Elided(note, "caption", "muted", whole=True)
        self._missing = words("", "small", "muted", wrap=True)
        self._missing.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._below = words("", "caption", "muted", wrap=True)
        self._menu = save_menu(title, _("Save the plot “{title}”", title=title), plot)
        self._area = scrolled(plot)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        margin = theme.px(40)
        plot.moved.connect(lambda at: self._area.ensureVisible(at.x(), at.y(), margin, margin // 2))
        head = row(words(title, weight=600), (self._note, 1), *boxes, self._menu, gap=8)
        more = [extra] if extra is not None else []
        self._card = card(
            head,
            (self._area, 1),
            (self._missing, 1),
            *more,
            self._below,
            gap=8,
            margins=(16, 8, 12, 10),
        )
        column_ = QGridLayout(self)
        column_.setContentsMargins(0, 0, 0, 0)
        column_.addWidget(self._card)
        self.setMinimumHeight(theme.px(HEIGHT))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def tell(self, *, note: str | None = None, below: str = "", missing: str = "") -> None:
        """Show the plot with these sentences, or why there is none."""
        if note is not None:
            self._note.setText(note)
        self._below.setText(below)
        self._below.setVisible(bool(below) and not missing)
        self._missing.setText(missing)
        self._missing.setVisible(bool(missing))
        self._area.setVisible(not missing)
        self._menu.setVisible(not missing)


class StatisticsView(View):
    state: StatisticsState

    def __init__(self, state: StatisticsState) -> None:
        super().__init__(state)
        self._boxes = {
            plot: _layer_box(name, partial(state.choose_layer, plot))
            for plot, name in (
                ("balance", _("Layer of the label balance")),
                ("spans", _("Layer of the span lengths")),
                ("together", _("Layer of the label pairs")),
            )
        }
        self._tokenizer = _layer_box(_("Tokenizer"), state.choose_tokenizer)
        self._tokenizer.setMaximumWidth(theme.px(150))
        self._build_plots()
        self._meter = Meter(name=_("Progress of measuring texts"))
        self._stop = Button(_("Cancel"), "x", "quiet", small=True, on=state.cancel)
        self._measure = Button(_("Measure texts"), "whole-word", small=True, on=state.measure)
        self._measuring = row((self._meter, 1), self._stop, self._measure, None)
        self._cards = (
            _Card(_("Label balance"), "", self.balance, self._boxes["balance"]),
            _Card(_("Text length"), "", self.lengths, self._tokenizer, extra=self._measuring),
            _Card(_("Span length in words"), "", self.spans, self._boxes["spans"]),
            _Card(_("Label pairs"), "", self.pairs, self._boxes["together"]),
            _Card(_("Annotation speed"), _("documents per hour"), self.days),
            _Card(
                _("Suggestions that agree with gold"), _("share and 95% interval"), self.agreement
            ),
        )
        self._problem = Callout("", "bad")
        self._wait = Meter(name=_("Progress of counting labels"))
        cancel = Button(_("Cancel"), "x", "quiet", small=True, on=state.cancel)
        self._waiting = row(words(_("Counting…"), "small", "muted"), (self._wait, 1), cancel)
        self._columns = 0
        self._page = QWidget()
        self._grid = QGridLayout(self._page)
        self._grid.setContentsMargins(24, 16, 24, 16)
        self._grid.setSpacing(16)
        whole = scrolled(self._page)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        top = column(self._problem, self._waiting, margins=(24, 8, 24, 0))
        top.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._top = top
        layout.addWidget(top, 0, 0)
        layout.addWidget(whole, 1, 0)
        self.first = self.balance
        self._arrange(3)

    def _build_plots(self) -> None:
        state = self.state
        self.balance = RowPlot(_("Label balance"), ("label", "count", "documents", "share"))
        self.spans = RowPlot(
            _("Span length in words"), ("label", "spans", "median", "p5", "p95", "longest")
        )
        self.agreement = RowPlot(
            _("Suggestions that agree with gold"),
            ("source", "layer", "agreed", "changed", "wrong", "share", "low", "high"),
        )
        self.lengths = StepPlot(_("Text length"))
        self.pairs = PairPlot(_("Label pairs"))
        self.days = DayPlot(_("Annotation speed"))
        self._queries: dict[Plot, list[str]] = {}
        for plot in (self.balance, self.spans, self.pairs, self.days):
            plot.opened.connect(lambda at, plot=plot: state.find(self._queries[plot][at]))
        self.lengths.opened.connect(state.find_lengths)
        self.agreement.opened.connect(lambda at: state.find_decided(state.agreement[at]))

    def save_pictures(self) -> None:
        ask_picture(self, self._shown_plots(), _("Statistics"))

    def save_numbers(self) -> None:
        ask_numbers(self, self._shown_plots(), _("Statistics"))

    def _shown_plots(self) -> Sequence[Plot]:
        return [item.plot for item in self._cards if item.plot.isVisible()]

    # ------------------------------------------------------------ layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width()
        self._arrange(
            3 if wide >= theme.px(THREE_COLUMNS) else 2 if wide >= theme.px(TWO_COLUMNS) else 1
        )

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for number, item in enumerate(self._cards):
            self._grid.addWidget(item, number // columns, number % columns)
        for number in range(3):
            self._grid.setColumnStretch(number, int(number < columns))

    # ------------------------------------------------------------ showing

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours of labels."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.state.found is not None:
            self._show_balance()
            self._show_spans()

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self._problem.set(state.problem, "bad")
        self._wait.set(state.share)
        waits = state.share is not None
        self._waiting.setVisible(waits)
        self._top.setVisible(waits or bool(state.problem))
        if concerns(fields, "found", "chosen"):
            for plot, box in self._boxes.items():
                self._fill_layers(plot, box)
            self._show_balance()
            self._show_spans()
            self._show_pairs()
            self._show_days()
            self._show_agreement()
        if concerns(fields, "tokenizers", "tokenizer"):
            fill(
                self._tokenizer,
                [(tokenizer, tokenizer) for tokenizer in state.tokenizers or ()],
                state.tokenizer,
            )
            self._tokenizer.setVisible(bool(state.tokenizers))
        if concerns(fields, "lengths", "measured", "found", "tokenizer"):
            self._show_lengths()

    def _fill_layers(self, plot: str, box: QComboBox) -> None:
        layers, chosen = self.state.layers_for(plot), self.state.layer_of(plot)
        names = [layer.layer.name for layer in layers]
        fill(box, [(name, name) for name in names], chosen.layer.name if chosen else "")
        box.setVisible(len(layers) > 1)

    def _show_balance(self) -> None:
        card_, statistics = self._cards[0], self.state.layer_of("balance")
        if statistics is None:
            card_.tell(note="", missing=_("The project has no layer yet. Add one on Labels."))
            return
        note = _("{n:,} submitted", n=statistics.submitted)
        if not statistics.submitted or not statistics.rows:
            message = _(
                "No document with labels of layer {layer} is submitted. Labels are counted in "
                "submitted documents.",
                layer=statistics.layer.name,
            )
            card_.tell(note=note, missing=message)
            return
        total = sum(usage.count for usage in statistics.rows) or 1
        self._queries[self.balance] = [usage.query for usage in statistics.rows]
        self.balance.show_rows([_balance_row(usage, total) for usage in statistics.rows])
        below = []
        if statistics.unlabelled:
            without = ngettext(
                "{n:,} submitted document without a label",
                "{n:,} submitted documents without a label",
                statistics.unlabelled,
            )
            below.append(without)
        if statistics.chains:
            chains = ngettext("{n:,} chain", "{n:,} chains", statistics.chains)
            below.append(chains)
        card_.tell(note=note, below=" · ".join(below))

    def _show_spans(self) -> None:
        card_, statistics = self._cards[2], self.state.layer_of("spans")
        if statistics is None or not statistics.spans:
            card_.tell(note="", missing=_("There are no spans in submitted documents yet."))
            return
        self._queries[self.spans] = [span.query for span in statistics.spans]
        self.spans.show_rows([_span_row(span) for span in statistics.spans])
        top = formats.count(max(span.high for span in statistics.spans))
        below = _("right: median and number of spans; scale in words: 0 to {top}", top=top)
        card_.tell(note=_("band: 5th to 95th percentile"), below=below)

    def _show_pairs(self) -> None:
        card_, statistics = self._cards[3], self.state.layer_of("together")
        if statistics is None:
            card_.tell(
                note="",
                missing=_("The project has no layer in which a document has several labels."),
            )
            return
        if not any(a != b for a, b in statistics.pairs):
            missing = _(
                "No submitted document has two labels of layer {layer}.",
                layer=statistics.layer.name,
            )
            card_.tell(note="", missing=missing)
            return
        used = [at for at in range(len(statistics.layer.labels)) if statistics.pairs.get((at, at))]
        places = {at: number for number, at in enumerate(used)}
        counts = {(places[a], places[b]): n for (a, b), n in statistics.pairs.items()}
        self.pairs.show_pairs([statistics.layer.labels[at].name for at in used], counts)
        self._queries[self.pairs] = [
            statistics.query_of_pair(used[col], used[row_]) for row_, col, _n in self.pairs.cells
        ]
        card_.tell(note="", below=_("documents with both labels; on the diagonal: with the label"))

    def _show_days(self) -> None:
        days = self.state.found.days if self.state.found is not None else ()
        if not days:
            message = _(
                "The speed is shown for days on which at least four documents were labelled one "
                "after the other. Breaks of over five minutes and imports are not counted."
            )
            self._cards[4].tell(missing=message)
            return
        self._queries[self.days] = [day.query for day in days]
        self.days.show_days(
            [(day.date, formats.day(day.date), day.per_hour, day.documents) for day in days]
        )
        measured = sum(day.documents for day in days)
        seconds = sum(3600 / day.per_hour * day.documents for day in days) / measured
        message = ngettext(
            "{seconds} s per document on average, measured on {n:,} document; days in UTC",
            "{seconds} s per document on average, measured on {n:,} documents; days in UTC",
            measured,
        )
        self._cards[4].tell(below=message.format(seconds=formats.decimal(seconds, 1), n=measured))

    def _show_agreement(self) -> None:
        agreements = self.state.agreement
        if not agreements:
            message = _("No suggestion is accepted or rejected yet.")
            self._cards[5].tell(missing=message)
            return
        several = len({agreement.layer.name for agreement in agreements}) > 1
        self.agreement.show_rows(
            [_agreement_row(agreement, several) for agreement in agreements], 1.0
        )
        below = _("right: agreement and number of suggestions that you accepted or rejected")
        self._cards[5].tell(below=below)

    def _show_lengths(self) -> None:
        state, card_ = self.state, self._cards[1]
        self._meter.set(state.measured)
        measuring = state.measured is not None
        for part in (self._meter, self._stop):
            part.setVisible(measuring)
        self._measure.setVisible(not measuring and state.lengths is None)
        self._measuring.setVisible(measuring or state.lengths is None)
        lengths, count = state.lengths, state.found.documents if state.found else 0
        if lengths is None or not len(lengths.ids):
            message = (
                _("Measuring texts…")
                if measuring
                else ngettext(
                    "The text of {n:,} document is not measured yet.",
                    "The texts of {n:,} documents are not measured yet.",
                    count,
                )
            )
            if not count:
                message = _("There are no documents.")
                self._measuring.hide()
            card_.tell(note="", missing=message)
            return
        edges, words_, units = lengths.histogram(BINS)
        summary = lengths.to_json()
        curves, limits = [Steps(_("words"), tuple(words_))], list[tuple[int, str]]()
        median = _short(summary["words"]["median"])
        below = _("median in words: {words}", words=median)
        if units:
            curves.insert(0, Steps(state.tokenizer, tuple(units)))
            limits = [(limit, _cut(limit, lengths.cut(limit))) for limit in LIMITS]
            message = _("median in tokens (solid): {tokens}, in words (dashed): {words}; {cut}")
            below = message.format(
                tokens=_short(summary["units"]["median"]),
                words=median,
                cut=", ".join(text for _limit, text in limits),
            )
        self.lengths.show_steps(edges, curves, limits)
        card_.tell(note=_("documents"), below=below)


def _layer_box(name: str, choose: Callable[[str], Any]) -> QComboBox:
    box = combo(name=name)
    box.setMaximumWidth(theme.px(124))
    box.activated.connect(lambda _at: choose(box.currentData()))
    escaping.set_tip(box, name)
    return box


def _balance_row(usage: LabelUsage, total: int) -> PlotRow:
    share = _share(usage.count / total)
    text = f"{formats.count(usage.count)} · {share}"
    message = _(
        "{label}: {n} ({share}). Documents: {documents}",
        label=usage.name,
        n=formats.count(usage.count),
        share=share,
        documents=formats.count(usage.documents),
    )
    tip = message
    colour = theme.label_colours(usage.label).line if usage.label is not None else ""
    values = (usage.name, usage.count, usage.documents, usage.count / total)
    return PlotRow(usage.name, text, tip, usage.count, colour=colour, values=values)


def _span_row(span: SpanLengths) -> PlotRow:
    text = f"{span.median} · {formats.count(span.spans)}"
    message = _(
        "{label}: {n}. Length in words: median {median}, 5th to 95th percentile {low}–{high}, "
        "longest {longest}",
        label=span.label.name,
        n=formats.count(span.spans),
        median=span.median,
        low=span.low,
        high=span.high,
        longest=span.longest,
    )
    tip = message
    values = (span.label.name, span.spans, span.median, span.low, span.high, span.longest)
    colour = theme.label_colours(span.label).line
    return PlotRow(span.label.name, text, tip, span.high, span.low, span.median, colour, values)


def _agreement_row(agreement: Agreement, several: bool) -> PlotRow:
    low, high = agreement.interval
    name = _("{source}, {layer}", source=agreement.title, layer=agreement.layer.name)
    text = f"{_share(agreement.share, 0)} · {formats.count(agreement.total)}"
    lines = [
        _(
            "{source}: {agreed} agree with gold, {changed} were changed, {wrong} are not in gold",
            source=name,
            **{key: formats.count(n) for key, n in agreement.counts.items()},
        )
    ]
    lines += [
        _("{label}: {agreed} agree, {changed} changed, {wrong} wrong", label=label, **counts)
        for label, counts in agreement.labels.items()
    ]
    values = (
        agreement.title,
        agreement.layer.name,
        *agreement.counts.values(),
        agreement.share,
        low,
        high,
    )
    title = name if several else agreement.title
    return PlotRow(title, text, "\n".join(lines), high, low, agreement.share, "", values)


def _share(share: float, digits: int = 1) -> str:
    return _("{share}%", share=formats.decimal(100 * share, digits))


def _cut(limit: int, share: float) -> str:
    return _("{limit}: {share} cut", limit=limit, share=_share(share))


def _short(value: float) -> str:
    return formats.significant(value, 4)
