"""The Label errors part of Results: measure by folds, then review the doubtful labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QVBoxLayout
from shiboken6 import isValid

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.results.review.error_detail import ErrorDetail, Titles
from workbench.ui.panels.results.review.errors import CHOSEN, ErrorKeys, ErrorTable
from workbench.ui.panels.results.review.errors_state import NONE, VERDICTS
from workbench.ui.panels.results.review.label_errors_state import CHOICES, FOLDS, LabelErrorsState
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import decimal, points, when_iso
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter, Tile
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import column, row
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.operations.evaluation.label_errors import Suspect, SuspectRanking
    from workbench.text.labels import Label

LIST, NARROW_LIST = 560, 430  # widths of the list in pixels at 100%
MEASURE_TIP = _("Each part is predicted by a model that was trained on the others")
VALUE = 4  # column of the confidence, or of the difference of numbers


class LabelErrorsView(QFrame):
    def __init__(self, state: LabelErrorsState):
        super().__init__()
        self.state = state
        self._looks: dict[str, Label] = {}
        self._head = self._measure_bar(state)
        self._progress = Meter(name=_("Progress of the folds"))
        self._running = words("", "small", "muted")
        self._cancel = Button(_("Cancel"), "x", small=True, on=state.cancel)
        self._wait = row((self._progress, 1), self._running, self._cancel)
        self._problem = Callout("", "bad")
        self._tiles = (
            Tile(_("Worth a look")),
            Tile(_("Expected share of wrong labels"), tip=_(
                "Off the diagonal of the confident joint (Northcutt et al. 2021), with a 95% "
                "bootstrap interval over documents. It assumes that the model is right where it is "
                "confident: its own errors count as wrong labels. It is therefore estimated only "
                "if the model predicts at least 90% of what chance leaves."
            )),
            Tile(_("Reviewed")),
            Tile(_("So far")),
        )  # fmt: skip
        self._keys = ErrorKeys(state.context.settings)
        self.table = self._suspect_table(state)
        self.table.keys = self._keys
        titles = Titles(
            _("Change to {label}"),
            _("Keep {label}"),
            _("Skip"),
            _("Model says"),
            remove=_("Remove {label}"),
            add=_("Add {label}"),
            without=_("Do not add"),
        )
        self._detail = ErrorDetail(state, titles)
        self._left = column((self.table, 1))
        self._body = QFrame()
        body = QHBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(12)
        body.addWidget(self._left)
        body.addWidget(self._detail, 1)
        self._none = EmptyState("list-checks", "", "", None)
        self._tile_row = row(*((tile, 1) for tile in self._tiles), gap=10)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 12, 20, 14)
        layout.setSpacing(10)
        for part in (self._head, self._wait, self._problem, self._tile_row):
            layout.addWidget(part)
        layout.addWidget(self._body, 1)
        layout.addWidget(self._none, 1)
        state.listen(state.changed, self._changed)

    # ---------------------------------------------------------------- parts

    def _measure_bar(self, state: LabelErrorsState) -> QFrame:
        self._layer = _combo(_("Layer"))
        self._layer.activated.connect(lambda _at: state.choose_layer(self._layer.currentData()))
        self._message = words("", "small", "muted", wrap=True)
        self._model = _combo(_("Model of the folds"))
        self._folds = _combo(_("Number of folds"))
        for count in CHOICES:
            title = ngettext("{n} fold", "{n} folds", count, n=formats.count(count))
            self._folds.addItem(title, count)
        self._folds.setCurrentIndex(CHOICES.index(FOLDS))
        self._measure = Button(
            _("Measure"),
            "gauge",
            on=lambda: state.measure(self._model.currentData(), self._folds.currentData()),
        )
        controls = flow(self._layer, self._model, self._folds, self._measure, gap=8)
        return column(controls, self._message, gap=6)

    def _suspect_table(self, state: LabelErrorsState) -> ErrorTable:
        columns = (
            Column("#", self._rank, 30, right=True),
            Column(_("Key"), lambda row: row.key, 90, tip=lambda row: row.quote),
            Column(_("Gold"), chip=lambda row: self._chip(row, gold=True), width=118, most=200),
            Column(
                _("Model says"),
                chip=lambda row: self._chip(row, gold=False),
                width=118,
                most=200,
            ),
            Column(
                _("Conf."),
                self._value,
                62,
                right=True,
                hint=_(
                    "Confidence of the model that did not see the document, in %; of a number, "
                    "its difference from the prediction"
                ),
            ),
            Column(
                _("State"),
                lambda row: _(VERDICTS[row.verdict]) if row.verdict else "",
                icon=lambda row: ("check", "good") if row.verdict else ("circle", "faint"),
            ),
        )
        table = ErrorTable(columns, name=_("Label errors"), key=lambda item: item.identity)
        table.chosen.connect(self._row_chosen)
        table.opened.connect(lambda _one: state.open())
        return table

    def _rank(self, suspect: Suspect) -> str:
        return formats.count(self._ranks.get(suspect.identity, 0))

    def _chip(self, suspect: Suspect, *, gold: bool) -> tuple[str, Any, str]:
        mistake = suspect.mistake
        side = self.state.view.side(mistake, suspect.text, gold=gold)
        return side or NONE, None if suspect.verdict else self._looks.get(side), ""

    def _value(self, suspect: Suspect) -> str:
        mistake = suspect.mistake
        return decimal(mistake.loss, 2) if self.state.view.by_size else points(mistake.confidence)

    def _row_chosen(self) -> None:
        rows = self.table.chosen_rows()
        if rows and rows[0].identity != self.state.chosen:
            self.state.choose(rows[0].identity)

    # ---------------------------------------------------------------- showing

    def take_focus(self) -> None:
        """The list, whose keys answer; before a measurement the button that starts it."""
        (self.table if self.state.suspects else self._measure).setFocus()

    def render_part(self, _fields: frozenset[str]) -> None:
        self._changed(frozenset())

    def _changed(self, fields: frozenset[str]) -> None:
        if not isValid(self) or not self.isVisibleTo(self.window()):
            return
        if not fields or not fields <= CHOSEN:  # reading all rows again takes a while
            self._show_list()
        chosen = self.state.chosen
        self.table.choose({chosen} if chosen is not None else set())
        self._detail.show_state()

    def _show_list(self) -> None:
        state = self.state
        self._looks = {label.name: label for label in state.layer.labels} if state.layer else {}
        waited = self._cancel.hasFocus() or (self._measure.hasFocus() and self._body.isHidden())
        self._ranks = {suspect.identity: at for at, suspect in enumerate(state.suspects, 1)}
        self._show_controls()
        has = bool(state.suspects)
        self._tile_row.setVisible(state.ranking is not None)
        self._body.setVisible(has)
        self._none.setVisible(state.loaded and not has)
        self._show_empty()
        if state.ranking is not None:
            self._show_tiles()
        self.table.rows_model.set_title(VALUE, _("Error") if state.view.by_size else _("Conf."))
        self.table.set_rows(state.suspects)
        if waited and state.share is None:
            self.take_focus()

    def _show_controls(self) -> None:
        state, ranking = self.state, self.state.ranking
        names = [(layer.name, layer.name) for layer in state.layers]
        _fill(self._layer, names, state.layer.name if state.layer else "")
        models = [(title, value) for value, title in state.models]
        _fill(self._model, models, self._model.currentData())
        self._wait.setVisible(state.share is not None)
        if self._measure.hasFocus() and not state.can_measure:
            self._cancel.setFocus()  # Qt would move the focus to the first button of the window
        for part in (self._model, self._folds):
            part.setVisible(bool(state.models))
        self._measure.setEnabled(state.can_measure)
        escaping.set_tip(self._measure, state.no_model or MEASURE_TIP)
        self._measure.set_text(_("Measure again") if ranking is not None else _("Measure"))
        self._progress.set(state.share)
        share = formats.points(state.share or 0.0)
        self._running.setText(_("Training the folds: {share}%", share=share))
        self._problem.set(state.problem, "bad")
        message = ""
        if ranking is not None:
            about = {"model": ranking.measured.model, "when": when_iso(ranking.measured.at)}
            message = ngettext(
                "{n} fold of {model}, {when}.", "{n} folds of {model}, {when}.",
                ranking.measured.folds, **about)  # fmt: skip
            message = f"{message} {_agreement(ranking)}".rstrip()
            if ranking.changed:
                more = ngettext(
                    "Gold has changed since in {n:,} document.",
                    "Gold has changed since in {n:,} documents.",
                    ranking.changed,
                )
                message = f"{message} {more}"
        self._message.setText(message)
        self._message.setVisible(bool(message))

    def _show_empty(self) -> None:
        state = self.state
        if not state.layers:
            self._none.set(_("No layer to measure"), _("Create a layer with labels first."))
        elif state.no_model:
            self._none.set(
                state.no_model,
                _("Train a model on the layer: its settings are then used for every fold."),
            )
        elif state.ranking is None:
            self._none.set(
                _("Not measured yet"),
                _(
                    "The labelled documents of train and dev are divided into folds. Each fold is "
                    "predicted by a model trained on the others, and labels that it contradicts "
                    "with confidence are listed here."
                ),
            )
        else:
            self._none.set(
                _("No doubtful labels"), _("No model of a fold contradicts gold with confidence.")
            )

    def _show_tiles(self) -> None:
        state, ranking = self.state, self.state.ranking
        if ranking is None:
            return
        doubtful, share, reviewed, sofar = self._tiles
        share.set(*_share(ranking))
        n = len(state.suspects)
        message = ngettext(
            "of {n:,} label, most doubtful first",
            "of {n:,} labels, most doubtful first",
            ranking.units,
        )
        doubtful.set(formats.count(n), message.format(n=ranking.units))
        done = _("{done} of {n}", done=formats.count(state.count()), n=formats.count(n))
        reviewed.set(done, _("labels"))
        message = _("{changed} changed · {kept} kept")
        counts = {"changed": formats.count(state.corrected), "kept": formats.count(state.kept)}
        sofar.set(message.format(**counts), _("each can be undone"))

    # ---------------------------------------------------------------- events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        action = self._keys.action(event)
        if event.text().isdigit() and not event.modifiers():
            self.state.set_label_at(int(event.text()) - 1)
        elif action:
            getattr(self.state, action)()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.state.watch(True)
        self._changed(frozenset())

    def hideEvent(self, event: QHideEvent) -> None:
        self.state.watch(False)
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.width() > theme.px(1250)
        self._left.setFixedWidth(theme.px(LIST if wide else NARROW_LIST))
        self.table.setColumnHidden(0, not wide)
        super().resizeEvent(event)


def _agreement(ranking: SuspectRanking) -> str:
    """How well the models of the folds predict gold."""
    if ranking.agreement is not None:
        message = _("The models agree with {share}% of the labels.")
        if ranking.weak:
            message = _(
                "The models agree with only {share}% of the labels, close to chance: the ranking "
                "is unreliable. Choose another model for the folds."
            )
        return message.format(share=points(ranking.agreement))
    if ranking.correlation is None:
        return ""
    message = _("Gold and the predictions of the models have a Pearson correlation of {value}.")
    return message.format(value=decimal(ranking.correlation, 2))


def _share(ranking: SuspectRanking) -> tuple[str, str]:
    """The estimated share of wrong labels with its interval, or why there is none."""
    if ranking.agreement is None:
        return NONE, _("not estimated for numbers")
    if ranking.share is None or ranking.low is None or ranking.high is None:
        return NONE, _("not estimated: most disagreement may be errors of the model")
    interval = _(
        "95%: {low} – {high}, if the model is right where it is confident",
        low=points(ranking.low),
        high=points(ranking.high),
    )
    text = interval
    return _("{share}%", share=points(ranking.share)), text


def _combo(name: str) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(name)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box


def _fill(box: QComboBox, choices: list[tuple[str, str]], value: object) -> None:
    if [box.itemData(at) for at in range(box.count())] != [value for _title, value in choices]:
        box.clear()
        for title, data in choices:
            box.addItem(title, data)
    box.setCurrentIndex(max(box.findData(value), 0))
