"""The uses of a word in the documents by similarity, its static neighbours, and its senses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QInputDialog, QLineEdit, QMenu

from workbench.base.i18n import N_, _, ngettext
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.controls import LayerChoice
from workbench.ui.panels.inspect.samples import WORD_SAMPLES
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import SQUARE
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.field import fill as fill_combo
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, column, fixed, layout_of, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.context_menu import RowMenu, fill
from workbench.ui.widgets.text.kwic import KwicDelegate
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import StripWord, WordStrip

if TYPE_CHECKING:
    from workbench.inspection.uses.info import LayerSenses, Senses, Use, Uses
    from workbench.ui.panels.inspect.inspector_state import InspectorState

STRIP = 62  # most pixels at 100% of the words of the text: two lines
USE_COLUMN = 1
STATIC_WIDTH, LEAST_STATIC = 220, 168
LABEL_COLUMN, KEY_COLUMN = 2, 3
NARROW_WIDTH = 700  # pixels at 100%: in a narrower pane, keys of documents are left out

CHART_HEIGHT = 132  # pixels
CENTROID = N_("nearest centroid, F1")
SAME = N_("same sense among 10 nearest")
PAIRS = N_("pairs, accuracy")


class UsesView(InspectorView):
    """Above: the text, the word, the layer. Below: the nearest uses beside the static neighbours,
    and the scores of the senses.
    """

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._strip = WordStrip(_("Words of the text"))
        self._strip.chosen.connect(self._word_chosen)
        self._word = QLineEdit()
        self._word.setPlaceholderText(_("play plays played"))
        self._word.returnPressed.connect(self._typed)
        self._layer = LayerChoice()
        self._layer.chosen.connect(lambda _layer: self._show_layer())
        self._senses = combo(name=_("Senses from"))
        self._senses.activated.connect(
            lambda at: state.set_options(senses=self._senses.itemData(at))
        )
        self._assigning = QMenu(self)
        self._assigning.aboutToShow.connect(lambda: fill(self._assigning, self._sense_choices()))
        self._assign = Button(_("Assign sense"), "tags", small=True, menu=self._assigning)
        self._title = Elided("", weight=600)
        self._count = Elided("", "caption", "muted")
        self._table = Table(self._columns(), name=_("Nearest uses"), key=_number, many=True)
        self._table.setItemDelegateForColumn(USE_COLUMN, KwicDelegate(self._table, _parts))
        self._table.opened.connect(lambda pair: self.page.corpus.open(pair[0].document))
        self._table.chosen.connect(self._chosen)
        RowMenu(self._table, self._choices)
        self._static_title = words(_("Static vector"), weight=600)
        self._static_note = Elided("", "caption", "muted")
        self._static = Table(
            _static_columns(), name=_("Static neighbours"), key=lambda row: row.word
        )
        self._chart = SenseChart()
        self._chart.chart.opened.connect(lambda _series, point: self._point(point))
        self._chart.chart.moved.connect(lambda _series, point: self._point(point))
        self._lay_out()

    def _lay_out(self) -> None:
        strip = self._strip_area = scrolled(self._strip)
        self._layer_field = self._layer.field()
        words_and_senses = row(
            (TitledField(_("Word, or several forms"), self._word), 1),
            (TitledField(_("Senses from"), self._senses), 1),
            gap=12,
        )
        options = self._options = row((words_and_senses, 1), (self._layer_field, 1), gap=8)
        title = column(self._title, self._count, gap=0)
        nearest = column(row((title, 1), self._assign, gap=8), (self._table, 1), gap=4)
        static = column(self._static_title, self._static_note, (self._static, 1), gap=4)
        static.setMinimumWidth(theme.px(LEAST_STATIC))
        static.setMaximumWidth(theme.px(STATIC_WIDTH))
        self._found = row((nearest, 3), (static, 1), gap=12)
        self._empty = EmptyState(
            "whole-word",
            _("Choose a word"),
            _("Click a word of the text, or type one, to find its uses in your documents. Or try:"),
            *(
                Button(_(word), small=True, on=self._sample(_(text), _(word)), tip=_(text))
                for text, word in WORD_SAMPLES
            ),
        )
        self._empty.hide()
        parts = (strip, options, (self._empty, 1), (self._found, 1), self._chart.widget)
        layout_of(self).addWidget(card(*parts, gap=8, margins=(12, 8, 12, 8)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()
        self._fit_strip()

    def _fit_strip(self) -> None:
        """The words take as many lines as they need, up to STRIP; the rest is scrolled."""
        self._strip_area.setFixedHeight(min(theme.px(STRIP), self._strip.minimumHeight()))

    def _fit_columns(self) -> None:
        """The words around a use need the room of a narrow pane."""
        narrow = self.width() < theme.px(NARROW_WIDTH)
        ways = QBoxLayout.Direction
        layout_of(self._options).setDirection(ways.TopToBottom if narrow else ways.LeftToRight)
        self._table.setColumnHidden(KEY_COLUMN, narrow)
        self._table.setColumnHidden(LABEL_COLUMN, narrow and not self.state.option("senses"))

    # ---------------------------------------------------------------- showing

    def clear(self) -> None:
        self._strip.set(())
        self._table.set_rows(())
        self._static.set_rows(())
        self._title.setText("")
        self._count.setText("")
        self._chart.show_senses(None, -1)

    def show_result(self, result: Uses) -> None:
        text = self.page.document.text if self.page.document else ""
        forms = result.word.casefold().split()
        strip_words = [
            StripWord(
                at,
                word.text,
                ground="accent_soft" if at == result.asked else "",
                bold=word.text.casefold() in forms,
            )
            for at, word in enumerate(result.words)
        ]
        self._strip.set(strip_words, rtl=starts_rtl(text))
        self._strip.choose(result.asked)
        self._fit_strip()
        if not self._word.hasFocus():
            self._word.setText(result.word)
        layers = [(name, name) for name in self.page.corpus.sense_layers()]
        fill_combo(self._senses, [("", _("No senses")), *layers], self.state.option("senses"))
        self._layer.set(result.layers, self._layer.value)
        self._static.set_rows(result.static)
        self._static_note.setText(_static_text(result))
        self._empty.setVisible(not result.word)
        self._found.setVisible(bool(result.word))
        self._fit_columns()
        self._show_layer()

    def _show_layer(self) -> None:
        result: Uses = self.state.result
        layer = self._layer.value
        self._count.setText(_describe(result))
        self._title.setText(
            _("Nearest uses, layer {n}", n=layer) if result.rankings else _("Nearest uses")
        )
        self._table.set_rows(self.rows(result))
        self._chart.show_senses(result.senses, layer)
        self._assign.setEnabled(self.page.corpus.can_write and bool(self._table.chosen_rows()))
        self._show_selected()

    def rows(self, result: Uses) -> list[tuple[Use, float]]:
        """The uses at the selected layer with their cosines, nearest first."""
        uses = {use.number: use for use in result.uses}
        ranking = next(
            (ranking for ranking in result.rankings if ranking.layer == self._layer.value), None
        )
        if ranking is None:
            return []
        return [
            (uses[number], cosine)
            for number, cosine in zip(ranking.numbers, ranking.cosines, strict=True)
        ]

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if "chosen_documents" in fields and self.state.result is not None:
            self._show_selected()

    def _show_selected(self) -> None:
        """Select the uses in documents that another view has selected."""
        chosen = set(self.page.chosen_documents)
        if {item.document for item, _cosine in self._table.chosen_rows()} != chosen:
            pairs = self._table.rows()
            self._table.choose({pair.number for pair, _cosine in pairs if pair.document in chosen})

    def _columns(self) -> list[Column]:
        return [
            Column(_("Cosine"), lambda pair: formats.decimal(pair[1], 3), 80, right=True),
            Column(_("Use"), lambda pair: _line(pair[0]), None, tip=lambda pair: _line(pair[0])),
            Column(
                _("Label"),
                lambda pair: pair[0].label or "–",
                110,
                chip=lambda pair: self._chip(pair[0].label),
            ),
            Column(_("Document"), lambda pair: pair[0].key, 104),
        ]

    def _chip(self, label: str) -> tuple[str, object, str] | None:
        if not label:
            return None
        return label, self.page.corpus.label(str(self.state.option("senses")), label), ""

    def data(self) -> list[list[object]]:
        names = [_("Layer"), _("Cosine"), _("Document"), _("Start"), _("End")]
        rows: list[list[object]] = [[*names, _("Before"), _("Word"), _("After"), _("Label")]]
        result: Uses = self.state.result
        uses = {use.number: use for use in result.uses}
        for ranking in result.rankings:
            for number, cosine in zip(ranking.numbers, ranking.cosines, strict=True):
                use = uses[number]
                place = [ranking.layer, cosine, use.key, use.start, use.end]
                rows.append([*place, use.left, use.word, use.right, use.label])
        return rows

    # ---------------------------------------------------------------- actions

    def _word_chosen(self, at: int) -> None:
        word = self.visible.words[at]
        self._word.setText(word.text)
        self.state.set_options(word=word.text, start=word.start, use=-1)

    def _sample(self, text: str, word: str) -> Callable[[], None]:
        def use() -> None:
            self.page.type_text(text)
            self.state.set_options(word=word, start=-1, use=-1)

        return use

    def _typed(self) -> None:
        self.state.set_options(word=" ".join(self._word.text().split()), start=-1, use=-1)

    def _point(self, point: int) -> None:
        senses = self.visible.senses
        if senses is not None and point < len(senses.layers):
            self._layer.set(self._layer.layers, senses.layers[point].layer)
            self._show_layer()

    def _chosen(self) -> None:
        rows = self._table.chosen_rows()
        self._assign.setEnabled(self.page.corpus.can_write and bool(rows))
        self.page.corpus.choose(tuple(dict.fromkeys(item.document for item, _cosine in rows)))

    def _choices(self) -> list[MenuChoice | None]:
        rows = [item for item, _cosine in self._table.chosen_rows()]
        if not rows:
            return []
        first = rows[0]
        only = len(rows) == 1
        return [
            MenuChoice(_("&Open in Annotate"), lambda: self.page.corpus.open(first.document), only),
            MenuChoice(_("&Inspect this document"), lambda: self.page.pick(first.document), only),
            MenuChoice(
                _("&Nearest to this use"), lambda: self.state.set_options(use=first.number), only
            ),
            MenuChoice(_("Show in &Data"), self.page.corpus.show_chosen),
            SEPARATOR,
            MenuChoice(_("Assign &sense"), choices=tuple(self._sense_choices())),
        ]

    def _sense_choices(self) -> list[MenuChoice | None]:
        layer = self.page.corpus.sense_target(str(self.state.option("senses")))
        chosen: list[MenuChoice | None] = [
            MenuChoice(name, lambda name=name: self._give(layer, name))  # type: ignore[misc]  # a default
            for name in self.page.corpus.sense_names(layer)
        ]
        if chosen:
            chosen.append(SEPARATOR)
        return [*chosen, MenuChoice(_("&New sense…"), lambda: self._ask_sense(layer))]

    def _ask_sense(self, layer: str) -> None:
        message = _("Name of the sense; saved as a label of the layer “{layer}”:", layer=layer)
        name, fine = QInputDialog.getText(self.window(), _("New sense"), message)
        if fine and name.strip():
            self._give(layer, name.strip())

    def _give(self, layer: str, name: str) -> None:
        uses = [item for item, _cosine in self._table.chosen_rows()]
        places = [(use.document, use.start, use.end) for use in uses]
        self.page.corpus.assign(layer, name, places, lambda: self.state.set_options(senses=layer))


def _number(pair: tuple[Use, float]) -> int:
    return pair[0].number


def _parts(pair: tuple[Use, float]) -> tuple[str, str, str]:
    use = pair[0]
    return use.left, use.word, use.right


def _line(use: Use) -> str:
    return " ".join(f"{use.left}{use.word}{use.right}".split())


def _describe(result: Uses) -> str:
    """What was compared with what."""
    if not result.count:
        return _("“{word}” does not occur in your documents.", word=result.word)
    of = next((use for use in result.uses if use.number == result.of), None)
    if of is not None:
        message = _("compared with the use in {key}: {line}")
        return message.format(key=of.key, line=_line(of))
    if result.total < 0:
        message = ngettext(
            "random sample of {n:,} use", "random sample of {n:,} uses", result.count
        )
        return message.format(n=result.count)
    message = ngettext("{n:,} use in your documents", "{n:,} uses in your documents", result.count)
    return message.format(n=result.count)


def _static_text(result: Uses) -> str:
    if not result.static_name:
        return _("no model with static vectors")
    if not result.static:
        return _("not in {name}", name=result.static_name)
    return _("{name}: the same in every context", name=result.static_name)


def _static_columns() -> list[Column]:
    return [
        Column(_("Word"), lambda row: row.word, None),
        Column(_("Cosine"), lambda row: formats.decimal(row.score, 2), 70, right=True),
    ]


# ---------------------------------------------------------------- scores of the senses


class SenseChart:
    """`widget` holds the chart; `chart.opened` and `chart.moved` name a point."""

    def __init__(self) -> None:
        self._title = words(_("Senses by layer, %"), weight=600)
        self._note = words("", "caption", "muted", wrap=True)
        self.chart = Chart(
            _("Senses by layer"),
            Axis(_("Layer"), whole=True),
            Axis(_("%"), 0.0, 100.0),
            empty=_("The scores of each layer appear here for words with known senses."),
        )
        fixed(self.chart, height=CHART_HEIGHT)
        names = ((CENTROID, "accent"), (SAME, "good"), (PAIRS, "muted"))
        legend = [words(_(name), "caption", tone, weight=600) for name, tone in names]
        dashed = words(_("dashed: most frequent sense, static vector"), "caption", "muted")
        self.widget = column(
            flow(self._title, *legend, dashed, gap=12), self.chart, self._note, gap=2
        )
        self.widget.hide()

    def show_senses(self, result: Senses | None, layer: int) -> None:
        """layer: the selected one."""
        self.widget.setVisible(result is not None)
        if result is None:
            return
        self.chart.setVisible(bool(result.layers))
        self._note.setText(_scores_text(result, layer))
        if not result.layers:
            return
        x = tuple(float(layer.layer) for layer in result.layers)
        ends = (x[0], x[-1]) if len(x) > 1 else (x[0] - 0.5, x[0] + 0.5)
        frequent, static = 100 * result.frequent_f1, 100 * result.same_static
        self.chart.set_series(
            [
                Series(_(CENTROID), x, _curve_of(result, "f1"), "accent", marker=SQUARE),
                Series(_(SAME), x, _curve_of(result, "same"), "good"),
                Series(_(PAIRS), x, _curve_of(result, "pairs"), "muted"),
                Series(_("most frequent sense, F1"), ends, (frequent,) * 2, "accent", dashed=True),
                Series(_("static vector, same sense"), ends, (static,) * 2, "good", dashed=True),
            ]
        )
        at = next((n for n, senses in enumerate(result.layers) if senses.layer == layer), 0)
        self.chart.choose(0, at)


def _curve_of(result: Senses, name: str) -> tuple[float, ...]:
    return tuple(100 * float(getattr(layer, name)) for layer in result.layers)


def _scores_text(result: Senses, layer: int) -> str:
    counts = " · ".join(
        _("{name} {count}", name=name, count=formats.count(count))
        for name, count in result.counts.items()
    )
    if not result.counts:
        return _("No use has a label in this layer. Select uses and assign a sense.")
    if not result.layers:
        return _("{counts}. Scores need two senses with two uses each.", counts=counts)
    here: LayerSenses = next(
        (senses for senses in result.layers if senses.layer == layer), result.layers[-1]
    )
    return ngettext(
        "Layer {layer}: F1 {f1}%, accuracy {accuracy}% of {n:,} labelled use, each left out of "
        "its centroid; most frequent sense: F1 {frequent}%. {counts}",
        "Layer {layer}: F1 {f1}%, accuracy {accuracy}% of {n:,} labelled uses, each left out of "
        "its centroid; most frequent sense: F1 {frequent}%. {counts}",
        result.scored,
        layer=here.layer,
        f1=formats.decimal(100 * here.f1, 1),
        accuracy=formats.decimal(100 * here.accuracy, 1),
        frequent=formats.decimal(100 * result.frequent_f1, 1),
        counts=counts,
    )
