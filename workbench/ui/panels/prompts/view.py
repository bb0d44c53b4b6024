"""Prompts: the template at the left; the exact prompt, answers and the run at the right."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontMetricsF, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSpinBox, QStackedLayout, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui import theme
from workbench.ui.panel import View
from workbench.ui.panels.prompts.outcome import Outcome
from workbench.ui.panels.prompts.state import OWN, PromptsState
from workbench.ui.widgets.button import Button
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.field import Field, combo, fill
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import card, column, row
from workbench.ui.widgets.meter import Meter
from workbench.ui.widgets.words import Elided, words

PAUSE = 350  # milliseconds after the last letter until the preview is worked out
TEACHING = _(
    "{model} is a small teaching model: expect few-shot scores far below fine-tuning. Add a larger model on the Models page."
)


class PromptsView(View):
    def __init__(self, state: PromptsState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(lambda: state.set_template(self._template.toPlainText()))
        self._suggest = Button(
            _("Make suggestions"),
            "sparkles",
            on=state.make_suggestions,
            tip=_("For documents that nobody has labelled, from the last run"),
        )
        labels = Button(_("Go to Labels"), "tags", "primary", on=lambda: state.context.go("labels"))
        hint = _(
            "A prompt asks for one of the classes of a layer. Add a layer with classes, or import labelled data."
        )
        self._empty = EmptyState("message-square-quote", _("No layer with classes"), hint, labels)
        body = row((self._left(), 5), (self._right(), 5), gap=0)
        below = QFrame()
        self._stack = QStackedLayout(below)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(
            PageHeader(
                _("Prompts"), _("Build a few-shot prompt and measure it like a run"), self._suggest
            )
        )
        layout.addWidget(below, 1)
        self.first = self._template

    # ---------------------------------------------------------------- left: what is asked

    def _left(self) -> QWidget:
        state = self.state
        self._known = combo(name=_("Templates"))
        self._known.activated.connect(lambda _i: self._choose_template())
        self._template = mono(_("Template"))
        self._template.textChanged.connect(self._typed)
        self._fault = Callout("", "bad")
        self._fault.hide()
        self._layer, self._model = combo(name=_("Layer")), combo(name=_("Model"))
        self._layer.activated.connect(lambda _i: state.choose_layer(self._layer.currentData()))
        self._model.activated.connect(lambda _i: state.set(model=self._model.currentData()))
        self._order = combo(
            [("balanced", _("balanced")), ("random", _("random"))], value="balanced"
        )
        self._order.activated.connect(lambda _i: state.set(order=self._order.currentData()))
        self._shots, self._seed = _spin(0, 64), _spin(0, 99_999)
        self._shots.valueChanged.connect(lambda value: state.set(shots=value))
        self._seed.valueChanged.connect(lambda value: state.set(seed=value))
        self._run = Button(_("Run on dev"), "play", "primary", on=state.run_on_dev)
        self._try = Button(_("Try on this text"), on=state.try_text)
        first = row(
            (Field(_("Layer"), self._layer), 3), (Field(_("Model"), self._model), 4), gap=10
        )
        drawn = Field(_("Drawn"), self._order, name=_("Drawn"))
        second = row(
            (Field(_("Examples"), self._shots), 2),
            (drawn, 3),
            (Field(_("Seed"), self._seed), 2),
            gap=10,
        )
        editor = Field(
            _("Template (Jinja2: text, label, labels, examples)"),
            self._template,
            name=_("Template"),
        )
        return column(
            Field(_("Start from"), self._known, name=_("Templates")),
            (editor, 1),
            self._fault,
            first,
            second,
            row(self._run, self._try, None),
            gap=12,
            margins=(20, 14, 20, 16),
            part="surface",
        )

    def _typed(self) -> None:
        if self._template.toPlainText() != self.state.template:
            self._pause.start()

    def _choose_template(self) -> None:
        self._pause.stop()
        self.state.choose_template(self._known.currentData())

    # ---------------------------------------------------------------- right: what the model gets

    def _right(self) -> QWidget:
        state = self.state
        self._count, self._meter = (
            words("", "caption", "muted"),
            Meter(0.0, name=_("Tokens of the prompt")),
        )
        self._preview = mono(_("Preview"))
        self._preview.setReadOnly(True)
        self._preview.setProperty("plain", True)
        self._preview.setMinimumHeight(theme.px(90))
        self._document, self._remark = (
            Elided("", "small", "muted"),
            words("", "small", "warn", wrap=True),
        )
        self._candidate = combo(name=_("Candidate"))
        self._candidate.setProperty("small", True)
        self._candidate.setMaximumWidth(170)
        self._candidate.activated.connect(
            lambda _i: state.show_label(self._candidate.currentData())
        )
        back = Button(
            "", "chevron-left", small=True, on=lambda: state.step(-1), name=_("Previous text")
        )
        on = Button("", "chevron-right", small=True, on=lambda: state.step(1), name=_("Next text"))
        top = card(
            row(words(_("What the model gets"), weight=600), None, self._count),
            self._meter,
            (self._preview, 1),
            self._remark,
            row(
                (self._document, 1),
                words(_("with"), "small", "muted"),
                self._candidate,
                back,
                on,
                gap=6,
            ),
            gap=8,
        )
        self._outcome = Outcome(state)
        self._teaching = Callout("", "warn")
        return column(
            (top, 5), (self._outcome, 5), self._teaching, gap=12, margins=(16, 14, 20, 16)
        )

    # ---------------------------------------------------------------- showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "layers", "layer"):
            self._stack.setCurrentIndex(1 if state.layers else 0)
            fill(
                self._layer,
                [
                    (name, _("{name} ({n} submitted)").format(name=name, n=n))
                    for name, n in state.layers
                ],
                state.layer,
            )
        if concerns(fields, "models", "model"):
            fill(self._model, [(one.name, _kind(one)) for one in state.models], state.model)
            self._teaching.set(TEACHING.format(model=state.model) if state.teaching else "")
        if concerns(fields, "known", "chosen"):
            self._show_known()
        if concerns(fields, "template") and self._template.toPlainText() != state.template:
            self._template.setPlainText(state.template)
        if concerns(fields, "shots", "order", "seed"):
            self._show_numbers()
        if concerns(fields, "preview", "problem", "label", "document"):
            self._show_preview()
        self._show_buttons()
        self._outcome.render(fields)

    def _show_known(self) -> None:
        items = [(one.id, one.title) for one in self.state.known]
        if self.state.chosen == OWN:
            items.append((OWN, _("Edited; kept in the project when it is run")))
        fill(self._known, items, self.state.chosen)

    def _show_numbers(self) -> None:
        for box, value in ((self._shots, self.state.shots), (self._seed, self.state.seed)):
            blocked = box.blockSignals(True)
            box.setValue(value)
            box.blockSignals(blocked)
        fill(
            self._order, [("balanced", _("balanced")), ("random", _("at random"))], self.state.order
        )

    def _show_preview(self) -> None:
        state, found = self.state, self.state.preview
        self._fault.set(state.problem)
        self._preview.setEnabled(
            not state.problem
        )  # what stands there then is the prompt of the template before
        if found is None:
            self._preview.setPlainText("")
            return
        if self._preview.toPlainText() != found.text:
            self._preview.setPlainText(found.text)
            bar = self._preview.verticalScrollBar()
            bar.setValue(bar.maximum())
        self._count.setText(_("{n} of {limit} tokens").format(n=found.tokens, limit=found.limit))
        self._meter.set(found.tokens / found.limit)
        told = []
        if found.dropped:
            told.append(_("{n} examples left out: they do not fit.").format(n=found.dropped))
        if found.cut:
            told.append(_("The text itself is cut."))
        self._remark.setText(" ".join(told))
        self._remark.setVisible(bool(told))
        fill(self._candidate, [(label, label) for label in found.prompts], found.label)
        if state.document is not None:
            self._document.setText(f"{state.document.key}: {' '.join(state.document.text.split())}")

    def _show_buttons(self) -> None:
        state = self.state
        self._run.setText(
            " " + (_("Run on dev ({n})").format(n=state.dev) if state.dev else _("Run on dev"))
        )
        self._run.setEnabled(state.ready)
        why = (
            _("No submitted document of this layer is in the dev split.")
            if state.layer and not state.dev
            else ""
        )
        self._run.setToolTip(why)
        self._try.setEnabled(state.preview is not None and not state.problem and not state.asking)
        self._suggest.setEnabled(
            bool(state.live and state.live.status in ("done", "stopped"))
            and not state.project.read_only
        )


def mono(name: str) -> QPlainTextEdit:
    """A box for prompts: fixed pitch, wrapped, Tab leads on."""
    it = QPlainTextEdit()
    it.setAccessibleName(name)
    it.setProperty("kind", "mono")
    it.setTabChangesFocus(True)
    it.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    it.setTabStopDistance(4 * QFontMetricsF(theme.font("mono")).horizontalAdvance(" "))
    return it


def _spin(low: int, high: int) -> QSpinBox:
    it = QSpinBox()
    it.setRange(low, high)
    it.setKeyboardTracking(False)
    return it


def _kind(card) -> str:
    told = _("{name} (masked)") if "mask" in card.uses else _("{name} (causal)")
    return told.format(name=card.name)
