"""Analogies of a model's words, and its scores on data sets of similarity and analogies."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from workbench.base.i18n import _
from workbench.ui.panels.models.analogies_state import (
    TITLES,
    AnalogiesState,
    items,
    made_coverage,
    made_spearman,
    score,
    with_ngrams,
)
from workbench.ui.style import formats, theme
from workbench.ui.widgets.button import Button, Segments
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.field import Field
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.meter import Meter
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.words import words

TYPED, POLLED = 400, 200  # milliseconds after the last change; between two looks at the progress
WITH_NGRAMS = (5, 6)  # columns of `_set_columns`
HEIGHT = 200  # pixels at 100%, of each table


class AnalogiesDialog(Dialog):
    def __init__(self, parent: QWidget | None, state: AnalogiesState) -> None:
        title = _("Analogies and similarity: {name}").format(name=state.card.name)
        hint = _(
            "Words nearest to B − A + C, without these three. Cosine similarity normalizes "
            "the vectors to length 1; the other measures use them unchanged."
        )
        super().__init__(parent, title, hint, width=860)
        self.state = state
        self._typed, self._poll = QTimer(self), QTimer(self)
        self._typed.setSingleShot(True)
        self._typed.setInterval(TYPED)
        self._typed.timeout.connect(self._ask)
        self._poll.setInterval(POLLED)
        self._poll.timeout.connect(self._show_share)
        self.lines = [QLineEdit(word) for word in state.asked]
        for line in self.lines:
            line.textChanged.connect(lambda _text: self._typed.start())
        self.by = Segments(*TITLES.items(), value=state.by, name=_("Measure"))
        self.by.chosen.connect(lambda by: state.choose(str(by)))
        self.found = Table(_word_columns(), name=_("Words that complete the analogy"))
        self.results = Table(_set_columns(), name=_("Data sets"))
        self._describe = words("", "small", "muted", wrap=True)
        self._meter = Meter(name=_("Progress of the evaluation"))
        self._measure = Button(_("Evaluate"), "play", small=True, on=state.evaluate)
        self._files = Button(_("Evaluate on files…"), small=True, on=self._choose_files)
        self._stop = Button(_("Cancel"), "x", small=True, on=state.stop)
        names = (_("A"), _("is to B"), _("as C is to …"))
        fields = zip(names, self.lines, strict=True)
        self.put(
            row(*((Field(name, line), 1) for name, line in fields), gap=12),
            row(self.by, None),
            self.found,
            row(words(_("Data sets"), weight=600), None, self._measure, self._files, self._stop),
            self._meter,
            self.results,
            self._describe,
        )
        self.end(None, Button(_("Close"), on=self.accept))
        for table in (self.found, self.results):
            table.setFixedHeight(theme.px(HEIGHT))
        state.listen(state.changed, self.render)
        self.render(frozenset())
        state.complete()

    def done(self, result: int) -> None:
        """Also called on Escape and the close button."""
        self._typed.stop()
        self._poll.stop()
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

    def render(self, _fields: frozenset[str]) -> None:
        state = self.state
        self.fault(state.error)
        self.by.set(state.by)
        self.found.set_rows(state.found or ())
        self.results.set_rows(state.results)
        made = any(with_ngrams(result) for result in state.results)
        for column in WITH_NGRAMS:
            self.results.setColumnHidden(column, not made)
        for button in (self._measure, self._files):
            button.setVisible(not state.busy)
        for widget in (self._stop, self._meter):
            widget.setVisible(state.busy)
        self._poll.start() if state.busy else self._poll.stop()
        self._show_share()
        self._describe.setText(_describe(state))

    def _show_share(self) -> None:
        self._meter.set(self.state.share)


def _describe(state: AnalogiesState) -> str:
    rules = _(
        "Only the 300,000 most frequent words are used, case is ignored, and pairs or "
        "questions with an unknown word are left out."
    )
    if not state.results:
        return rules
    if any(with_ngrams(result) for result in state.results):
        made = _("n-grams: every word has a vector, unknown words one made of their n-grams.")
        rules = f"{rules} {made}"
    measured = _("Measure: {measure}.").format(measure=TITLES[state.measured])
    return f"{measured} {rules}"


def _word_columns() -> list[Column]:
    return [
        Column(_("Word"), lambda row: row.word, 220),
        Column(_("Score"), lambda row: formats.decimal(row.score, 3), None, right=True),
    ]


def _set_columns() -> list[Column]:
    return [
        Column(_("Data set"), lambda row: row.name, None),
        Column(_("Items"), lambda row: formats.count(items(row)), 70, right=True),
        Column(_("Coverage, %"), lambda row: formats.points(row.coverage), 100, right=True),
        Column(_("Spearman"), lambda row: score(row, spearman=True), 90, right=True),
        Column(_("Accuracy, %"), lambda row: score(row, spearman=False), 100, right=True),
        Column(_("n-grams: coverage, %"), made_coverage, 160, right=True),
        Column(_("n-grams: Spearman"), made_spearman, 145, right=True),
    ]
