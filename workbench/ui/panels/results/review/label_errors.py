"""The Label errors part of Results: measure by folds, then review the doubtful labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.results.review.error_detail import Titles
from workbench.ui.panels.results.review.label_errors_state import (
    CHANGED,
    CHOICES,
    FOLDS,
    KEPT,
    LabelErrorsState,
)
from workbench.ui.panels.results.review.state import NONE, VERDICTS
from workbench.ui.panels.results.review.view import ReviewView, combo, fill
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
    from workbench.operations.evaluation.label_errors import SuspectRanking
    from workbench.operations.evaluation.reviews import ReviewItem
    from workbench.ui.panels.results.review.state import Identity

LIST, NARROW_LIST = 560, 430  # widths of the list in pixels at 100%
MEASURE_TIP = _("Each part is predicted by a model that was trained on the others")
VALUE = 4  # column of the confidence, or of the difference of numbers


class LabelErrorsView(ReviewView):
    state: LabelErrorsState

    def __init__(self, state: LabelErrorsState):
        titles = Titles(
            _("Change to {label}"),
            _("Keep {label}"),
            _("Skip"),
            _("Model says"),
            remove=_("Remove {label}"),
            add=_("Add {label}"),
            without=_("Do not add"),
        )
        super().__init__(state, EmptyState("list-checks", "", "", None), titles)
        self._ranks: dict[Identity, int] = {}
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
        self._tile_row = row(*((tile, 1) for tile in self._tiles), gap=10)
        above = (self._head, self._wait, self._problem, self._tile_row)
        self._lay_out(column((self.table, 1)), *above, margins=(20, 12, 20, 14), gap=10)

    # ---------------------------------------------------------------- parts

    def _measure_bar(self, state: LabelErrorsState) -> QFrame:
        self._layer = combo(_("Layer"))
        self._layer.activated.connect(lambda _at: state.choose_layer(self._layer.currentData()))
        self._message = words("", "small", "muted", wrap=True)
        self._model = combo(_("Model of the folds"))
        self._folds = combo(_("Number of folds"))
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

    def _list(self) -> tuple[str, Sequence[Column]]:
        columns = (
            Column("#", self._rank, 30, right=True),
            Column(_("Key"), lambda row: row.key, 90, tip=lambda row: row.quote),
            *self._sides(_("Model says"), 118, 200),
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
        return _("Label errors"), columns

    def _rank(self, item: ReviewItem) -> str:
        return formats.count(self._ranks.get(item.identity, 0))

    # ---------------------------------------------------------------- showing

    def take_focus(self) -> None:
        """The list, whose keys answer; before a measurement the button that starts it."""
        (self.table if self.state.items else self._measure).setFocus()

    def _show_list(self) -> None:
        state = self.state
        waited = self._cancel.hasFocus() or (self._measure.hasFocus() and self._body.isHidden())
        self._ranks = {item.identity: at for at, item in enumerate(state.shown, 1)}
        self._show_controls()
        has = bool(state.shown)
        self._tile_row.setVisible(state.ranking is not None)
        self._body.setVisible(has)
        self._none.setVisible(state.items is not None and not has)
        self._show_empty()
        if state.ranking is not None:
            self._show_tiles()
        self.table.rows_model.set_title(VALUE, self._value_title())
        self.table.set_rows(state.shown)
        if waited and state.share is None:
            self.take_focus()

    def _show_controls(self) -> None:
        state, ranking = self.state, self.state.ranking
        names = [(layer.name, layer.name) for layer in state.layers]
        fill(self._layer, names, state.layer.name if state.layer else "")
        models = [(title, value) for value, title in state.models]
        fill(self._model, models, self._model.currentData())
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
        n = len(state.shown)
        message = ngettext(
            "of {n:,} label, most doubtful first",
            "of {n:,} labels, most doubtful first",
            ranking.units,
        )
        doubtful.set(formats.count(n), message)
        done = _("{done} of {n}", done=formats.count(state.count()), n=formats.count(n))
        reviewed.set(done, _("labels"))
        changed, kept = (formats.count(state.count(verdict)) for verdict in (CHANGED, KEPT))
        so_far = _("{changed} changed · {kept} kept", changed=changed, kept=kept)
        sofar.set(so_far, _("each can be undone"))

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
