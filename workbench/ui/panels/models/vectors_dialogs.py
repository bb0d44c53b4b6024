"""Word vectors of a model: a map of their principal components, analogies, and scores on data sets
of similarity and analogies.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.models.vectors_state import (
    MAX_WORDS,
    TITLES,
    AnalogiesState,
    WordMapState,
    set_columns,
    with_ngrams,
)
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.word_plot import WordPlot
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import fixed, row
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

TYPED = 400  # milliseconds after the last change until it is computed
WITH_NGRAMS = (5, 6)  # columns of `_set_columns`
HEIGHT = 200  # pixels at 100%, of each table


class WordMapDialog(Dialog):
    def __init__(self, parent: QWidget | None, state: WordMapState) -> None:
        title = _("Word map of {name}", name=state.card.name)
        hint = _("The two principal components of the vectors, each of length 1.")
        super().__init__(parent, title, hint, width=1000)
        self.state = state
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(TYPED)
        self._typed.timeout.connect(self._choose)
        self.words = QLineEdit()
        self.words.setPlaceholderText(_("Empty: the most frequent words"))
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(lambda _text: self._typed.start())
        self._count, self._near = SpinBox(3, MAX_WORDS), SpinBox(0, 50)
        self._count.setValue(state.count)
        self._near.setValue(state.near)
        for box, name in (
            (self._count, _("Most frequent words")),
            (self._near, _("Nearest words of each")),
        ):
            call(box, name)
            box.valueChanged.connect(lambda _value: self._typed.start())
        self.plot = WordPlot(_("Words"))
        self.plot.setMinimumHeight(theme.px(420))
        self._message = words("", "small", "muted", wrap=True)
        self.put(
            row(
                (TitledField(_("Words"), self.words), 1),
                fixed(TitledField(_("Nearest words of each"), self._near), theme.px(170)),
                fixed(TitledField(_("Most frequent words"), self._count), theme.px(170)),
                gap=12,
            ),
            self.plot,
            self._message,
        )
        self.end(None, Button(_("Close"), on=self.accept))
        state.listen(state.changed, self.render)
        self.render(frozenset(("map",)))

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self._typed.stop()
        self.state.close()
        super().done(result)

    def _choose(self) -> None:
        text = self.words.text().strip()
        self.state.choose(text, self._count.value(), self._near.value())

    def render(self, fields: frozenset[str]) -> None:
        state, map = self.state, self.state.map
        self.fault(state.error)
        self._near.setEnabled(bool(state.words))
        self._count.setEnabled(not state.words)
        if map is None or state.busy:
            self._message.setText(_("Computing…") if state.busy else "")
        if map is None or "map" not in fields:
            self._tell()
            return
        axis = _("Component {n}: {share}% of the variance")
        first, second = (
            axis.format(n=n, share=formats.points(share)) for n, share in enumerate(map.shares, 1)
        )
        self.plot.show_words(map.words, map.places, axes=(first, second), strong=map.asked)
        self._tell()

    def _tell(self) -> None:
        map = self.state.map
        if map is None or self.state.busy:
            return
        message = ngettext(
            "{n} word.", "{n} words.", len(map.words), n=formats.count(len(map.words))
        )
        parts = [message]
        if map.unknown:
            missing = _("Without a vector: {words}.", words=", ".join(map.unknown))
            parts.append(missing)
        note = _("Distances in the plane are approximate; nearest words use all dimensions.")
        self._message.setText(" ".join((*parts, note)))


class AnalogiesDialog(Dialog):
    def __init__(self, parent: QWidget | None, state: AnalogiesState) -> None:
        title = _("Analogies and similarity: {name}", name=state.card.name)
        hint = _(
            "Words nearest to B − A + C, without these three. Cosine similarity normalizes "
            "the vectors to length 1; the other measures use them unchanged."
        )
        super().__init__(parent, title, hint, width=860)
        self.state = state
        self._typed = QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(TYPED)
        self._typed.timeout.connect(self._ask)
        self.lines = [QLineEdit(word) for word in state.terms]
        for line in self.lines:
            line.textChanged.connect(lambda _text: self._typed.start())
        self.by = Segments(*TITLES.items(), value=state.by, name=_("Measure"))
        self.by.chosen.connect(lambda by: state.choose(str(by)))
        self.neighbours = Table(_word_columns(), name=_("Words that complete the analogy"))
        self.results = Table(_set_columns(), name=_("Data sets"))
        self._describe = words("", "small", "muted", wrap=True)
        self._meter = Meter(name=_("Progress of the evaluation"))
        self._measure = Button(_("Evaluate"), "play", small=True, on=state.evaluate)
        self._files = Button(_("Evaluate on files…"), small=True, on=self._choose_files)
        self._stop = Button(_("Cancel"), "x", small=True, on=state.stop)
        names = (_("A"), _("is to B"), _("as C is to …"))
        fields = zip(names, self.lines, strict=True)
        self.put(
            row(*((TitledField(name, line), 1) for name, line in fields), gap=12),
            row(self.by, None),
            self.neighbours,
            row(words(_("Data sets"), weight=600), None, self._measure, self._files, self._stop),
            self._meter,
            self.results,
            self._describe,
        )
        self.end(None, Button(_("Close"), on=self.accept))
        for table in (self.neighbours, self.results):
            table.setFixedHeight(theme.px(HEIGHT))
        state.listen(state.changed, self.render)
        self.render(frozenset())
        state.complete()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self._typed.stop()
        self.state.close()
        super().done(result)

    def _ask(self) -> None:
        a, b, c = (line.text() for line in self.lines)
        self.state.ask(a, b, c)

    def _choose_files(self) -> None:
        title, kinds = _("Data sets of words"), _("Word pairs and analogies (*.csv *.tsv *.txt)")
        chosen, _kind = QFileDialog.getOpenFileNames(self, title, "", kinds)
        if chosen:
            self.state.evaluate([Path(name) for name in chosen])

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self._meter.set(state.share)
        if fields == {"share"}:  # many times per second
            return
        self.fault(state.error)
        self.by.set(state.by)
        self.neighbours.set_rows(state.neighbours or ())
        self.results.set_rows(state.results)
        has_ngrams = any(with_ngrams(result) for result in state.results)
        for column in WITH_NGRAMS:
            self.results.setColumnHidden(column, not has_ngrams)
        for button in (self._measure, self._files):
            button.setVisible(not state.busy)
        for widget in (self._stop, self._meter):
            widget.setVisible(state.busy)
        self._describe.setText(_describe(state))


def _describe(state: AnalogiesState) -> str:
    rules = _(
        "Only the 300,000 most frequent words are used, case is ignored, and pairs or "
        "questions with an unknown word are left out."
    )
    if not state.results:
        return rules
    if any(with_ngrams(result) for result in state.results):
        ngrams = _("n-grams: every word has a vector, unknown words one made of their n-grams.")
        rules = f"{rules} {ngrams}"
    measured = _("Measure: {measure}.", measure=TITLES[state.measured])
    return f"{measured} {rules}"


def _word_columns() -> list[Column]:
    return [
        Column(_("Word"), lambda row: row.word, 220),
        Column(_("Score"), lambda row: row.score, None, kind=ValueKind.NUMBER),
    ]


def _set_columns() -> list[Column]:
    name, items, _used, coverage, spearman, accuracy, *ngrams = set_columns()
    return [
        Column.of(name),
        Column.of(items, 70, kind=ValueKind.COUNT),
        Column.of(coverage, 100),
        Column.of(spearman, 90),
        Column.of(accuracy, 100, title=_("Accuracy, %")),
        *(Column.of(column, width) for column, width in zip(ngrams, (160, 145), strict=True)),
    ]
