"""Compare on my text: a row per installed model, the lengths of texts, and words that are split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QFrame

from workbench.base.events import ALL, concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.models.recommend_state import (
    SAMPLES,
    RecommendState,
    columns,
    figure,
    histogram,
    interval_words,
    kind_words,
    length_words,
    per_token,
    rule_words,
)
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.frame import ChartFrame
from workbench.ui.widgets.charts.layers import Bars, ChartLayer, ChartLine, ChartText
from workbench.ui.widgets.controls.button import Button, icon_button
from workbench.ui.widgets.controls.field import combo
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import TurningRow, card, column, fill, fixed, row, scrolled
from workbench.ui.widgets.tables.table import Column, Table, ValueKind

if TYPE_CHECKING:
    from workbench.operations.models.recommend import Ranked

NOTE = _(
    "Perplexity is per word, for character models per character. Compare it only within one kind: "
    "the pseudo-perplexity of masked models, which see both sides, is usually lower than the "
    "perplexity of causal models, which see the left side only."
)


def _icon(ranked: Ranked) -> tuple[str, str]:
    if not ranked.suits:
        return "triangle-alert", "warn"
    return ("circle-check", "good") if ranked.best else ("circle", "faint")


WIDE_TABLE = (
    1400  # pixels at 100%; a narrower table has no family and limit, for the recommendation
)
LESS = (1, 5)  # these two, in COLUMNS
_MODEL, _FAMILY, _UNKNOWN, _FERTILITY, _CUT, _LIMIT, _PERPLEXITY, *_REST = columns()
COLUMNS = (
    Column.of(_MODEL, 206, icon=_icon, sort=_MODEL.value),
    Column.of(_FAMILY, 84, sort=_FAMILY.value),
    Column.of(_UNKNOWN, 100, sort=_UNKNOWN.value),
    Column.of(_FERTILITY, 134, sort=_FERTILITY.value),
    Column.of(_CUT, 66, sort=_CUT.value),
    Column.of(
        _LIMIT,
        66,
        display=lambda row: formats.count(row.fit.limit) if row.fit.limit else _("none"),
    ),
    Column.of(
        _PERPLEXITY,
        90,
        display=lambda row: figure(row.fit.perplexity),
        tip=interval_words,
        sort=_PERPLEXITY.value,
        hint=NOTE,
    ),
    Column(
        _("Per token"),
        lambda row: figure(per_token(row)),
        84,
        right=True,
        sort=per_token,
        hint=_("For character models, per character. Tokens differ between tokenizers"),
    ),
    Column(_("Kind"), kind_words, 118, sort=kind_words),
    Column.of(_REST[-1], prose=True, tip=_REST[-1].value),
)
SPLIT = (
    Column(_("Word"), lambda row: row[0], 130),
    Column(_("Tokens"), lambda row: " · ".join(row[1]), prose=True),
    Column(_("Count"), lambda row: row[2], 64, kind=ValueKind.COUNT, sort=lambda row: row[2]),
    Column(_("Texts"), lambda row: row[3], 64, kind=ValueKind.COUNT, sort=lambda row: row[3]),
)


class RecommendView(QFrame):
    """The second view of the Models page."""

    def __init__(self, state: RecommendState, ask_tokenizers: Callable[[], None]):
        super().__init__()
        self.state, self._ask_tokenizers = state, ask_tokenizers
        self._stack = LaterStack(self._empty, self._result)
        self._sample = combo(
            [(n, ngettext("{n} text", "{n} texts", n, n=formats.count(n))) for n in SAMPLES],
            value=state.sample,
            name=_("Sample"),
        )
        self._sample.currentIndexChanged.connect(
            lambda _at: state.set_sample(self._sample.currentData())
        )
        fixed(self._sample, theme.px(140))
        self._source = words("", "small", "muted")
        self._other = Button(_("Other texts…"), "folder-open", "quiet", small=True, on=self._pick)
        self._own = icon_button(
            "x", _("Measure on the project"), lambda: state.read_files(()), small=True
        )
        self._measure = Button(_("Measure"), "gauge", on=state.measure)
        self._cancel = Button(_("Cancel"), "x", on=state.cancel, name=_("Cancel the measurement"))
        self._meter = fixed(Meter(0.0, name=_("Progress of the measurement")), 160)
        self._message = Elided("", "small", "muted")
        self._error = Callout("", "bad")
        texts = flow(self._source, self._other, self._own, gap=10)
        acts = flow(self._sample, self._measure, self._cancel, gap=10)
        top = TurningRow(texts, acts, (row(self._meter, (self._message, 1), gap=10), 1))
        fill(self, top, self._error, (self._stack, 1), gap=12, margins=(24, 16, 24, 20))
        state.listen(state.changed, self.render)
        self.first = self._measure
        self.render(ALL)

    def _pick(self) -> None:
        files, _filter = QFileDialog.getOpenFileNames(self.window(), _("Texts to measure on"))
        if files:
            self.state.read_files([Path(file) for file in files])

    def _empty(self) -> EmptyState:
        self._go = Button(_("Measure installed models"), "gauge", "primary", on=self.state.measure)
        hint = _(
            "Unknown words, tokens per word, truncated texts and perplexity of every installed "
            "model on a sample of the project."
        )
        return EmptyState("gauge", _("Which model suits my text?"), hint, self._go)

    def _result(self) -> QFrame:
        self._train = Button("", "activity", "primary", small=True, on=self.state.train)
        self._sentence = Elided("", "small", "muted")
        escaping.set_tip(self._sentence, rule_words())
        self._table = Table(COLUMNS, name=_("Measured models"), key=lambda row: row.fit.name)
        self._hide_columns()
        self._table.chosen.connect(self._chosen)
        self._table.opened.connect(lambda item: self.state.context.go("train", model=item.fit.name))
        head = row(
            words(_("Which model suits my text?"), weight=600),
            (self._sentence, 1),
            self._train,
            gap=10,
        )
        self._lengths = _Lengths()
        self._split_note = Elided("", "caption", "muted")
        self._split = Table(SPLIT, name=_("Words split most often"), key=lambda row: row[0])
        below = row(
            (self._lengths, 1),
            (
                card(
                    row(
                        words(_("Words split most often"), weight=600),
                        (self._split_note, 1),
                        Button(
                            _("Compare tokenizers…"),
                            "boxes",
                            "quiet",
                            small=True,
                            on=self._ask_tokenizers,
                        ),
                    ),
                    (self._split, 1),
                ),
                1,
            ),
            gap=16,
        )
        fixed(below, height=theme.px(290))
        above = card(head, self._table, Callout(NOTE))
        return scrolled(column(above, below, None, gap=16))

    def _chosen(self) -> None:
        for item in self._table.chosen_rows():
            self.state.choose(item.fit.name)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        focused = self._has_focused_button()
        if focused and state.busy:  # before the others are disabled
            self._cancel.setVisible(True)
            self._cancel.setFocus()
        self._measure.setEnabled(state.can_measure)
        self._source.setText(state.source)
        self._other.setEnabled(not state.busy)
        self._own.setVisible(bool(state.files))
        self._measure.set_text(_("Measure again") if state.rows else _("Measure"))
        if focused and not state.busy:
            (self._measure if state.can_measure else self._sample).setFocus()
        self._cancel.setVisible(state.busy)
        self._meter.setVisible(state.busy)
        self._meter.set(state.share)
        waits = state.context.project is None and not state.files
        reason = _("Open a project first, or choose other texts.") if waits else ""
        self._message.setText(state.message or reason)
        self._error.set(state.error)
        self._stack.setCurrentIndex(1 if state.rows else 0)
        if not state.rows:
            self._go.setEnabled(state.can_measure)
            return
        if concerns(fields, "rows", "busy"):
            self._sentence.setText(state.recommendation)
        if concerns(fields, "rows"):
            self._table.set_rows(state.rows)
            self._table.fit_height(9)
            best = state.best
            self._train.setVisible(best is not None)
            if best is not None:
                self._train.set_text(_("Train with {name}", name=best.fit.name))
            self._train.setEnabled(state.can_train)
        if concerns(fields, "rows", "chosen"):
            self._table.choose({state.chosen})
            self._render_chosen()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if 1 in self._stack.made():
            self._hide_columns()

    def _hide_columns(self) -> None:
        for place in LESS:
            self._table.setColumnHidden(place, self.width() < theme.px(WIDE_TABLE))

    def _has_focused_button(self) -> bool:
        """Whether the focus is on a button that a measurement disables or hides; Qt would then
        pass it to the rail.
        """
        buttons = (self._measure, self._other, self._own, self._cancel, getattr(self, "_go", None))
        return any(button is not None and button.hasFocus() for button in buttons)

    def _render_chosen(self) -> None:
        ranked = self.state.selected
        if ranked is None:
            return
        self._lengths.show_fit(ranked)
        self._split.set_rows(ranked.fit.split)
        self._split_note.setText(ranked.fit.name if ranked.fit.split else _("No word is split"))


class _Lengths(QFrame):
    """Histogram of the tokens per text, with the fraction that common limits cut."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("part", "card")
        self._note = Elided("", "caption", "muted")
        self._frame = ChartFrame(Axis(_("Tokens per text"), whole=True), Axis(whole=True))
        self._frame.setAccessibleName(_("Length of texts"))
        self._frame.setMinimumHeight(150)
        head = row(words(_("Length of texts"), weight=600), (self._note, 1))
        fill(self, head, (self._frame, 1), gap=2, margins=(14, 10, 10, 8))

    def show_fit(self, ranked: Ranked) -> None:
        fit = ranked.fit
        self._note.setText(length_words(fit))
        self._frame.setAccessibleDescription(length_words(fit))
        drawn = histogram(fit)
        end = len(drawn.counts) * drawn.width
        top = max(drawn.counts, default=1) * 1.15 or 1
        edges = [(at + 0.07) * drawn.width for at in range(len(drawn.counts))]
        layers: list[ChartLayer] = [Bars(edges, 0.86 * drawn.width, drawn.counts)]
        for text, share in fit.cut_at.items():
            limit = float(text)
            if limit <= end:
                message = _("above {limit}: {share}%", limit=text, share=formats.points(share))
                side = 1.0 if limit > end / 2 else 0.0  # of the line, inside the plot
                layers.append(ChartLine((limit, limit), (0.0, top), "warn", 1.3, dashed=True))
                layers.append(ChartText(limit, top, message, "warn", anchor=(side, 0.0)))
        margin = 0.02 * end
        self._frame.show_layers(layers, (-margin, end + margin), (0.0, top))
