"""Prompts: the template on the left; the rendered prompt, predictions and run on the right."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.options import Option
from workbench.ui.panel import View
from workbench.ui.panels.prompts.boxes import PreviewBox, TemplateBox
from workbench.ui.panels.prompts.outcome import Outcome, candidate_name, set_outdated
from workbench.ui.panels.prompts.state import PromptsState
from workbench.ui.panels.prompts.templates import OWN
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import TurningRow, card, column, layout_of, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with

if TYPE_CHECKING:
    from workbench.operations.prompts.prompt_fill import PromptPreview

PAUSE = 350  # milliseconds after the last key press until the preview is computed
LEAST_TEMPLATE, LEAST_OUTCOME = 96, 200  # pixels at 100%; the sides scroll if they are smaller
NO_LAYER, NO_MODEL, PAGE = range(3)


VARIABLES_HELP = _(
    "Variables: text (text_b for pairs; question and choices for multiple choice), label, labels, "
    "letter, letters, descriptions[label], examples (each with the same, its own label and letter)."
)
TEACHING = _("{model} is a small teaching model. Expect scores far below those of fine-tuning.")
OUTDATED = _("Outdated: the template has an error. This is the last valid prompt.")
ORDERS = [("balanced", _("balanced")), ("random", _("random"))]
CALIBRATIONS = [
    ("content-free", _("Content-free")),
    ("pmi", _("PMI")),
    ("none", _("None")),
]
CALIBRATION_HELP = _(
    "Models prefer some labels regardless of the text. Calibration divides the probability of "
    "a label by its prior, its probability without the text. Content-free: the mean over the "
    "texts “N/A”, a mask token and the empty text (Zhao et al. 2021). PMI: pointwise mutual "
    "information, for whole labels and an empty text (Holtzman et al. 2021)."
)


class PromptsView(View):
    state: PromptsState

    def __init__(self, state: PromptsState, parent: QWidget | None = None):
        super().__init__(state, parent)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self.take_template)
        self._suggest = Button(
            _("Create suggestions"),
            "sparkles",
            on=state.make_suggestions,
            tip=_("Suggest labels for unlabelled documents, from the last run"),
        )
        page = row((self._left(), 5), (self._right(), 5), gap=0)
        self._stack = LaterStack(self._no_layer, self._no_model, lambda: page)
        self._stack.setCurrentIndex(PAGE)
        fill_with(
            self,
            PageHeader(
                _("Prompts"), _("Build a few-shot prompt and evaluate it like a run"), self._suggest
            ),
            (self._stack, 1),
            gap=0,
        )
        self.first = self._template

    def take_template(self) -> None:
        """Pass the typed template to the state immediately."""
        self._pause.stop()
        self.state.set_template(self._template.source())

    # ---------------------------------------------------------------- empty states

    def _no_layer(self) -> EmptyState:
        labels = Button(
            _("Go to Labels"), "tags", "primary", on=lambda: self.state.context.go("labels")
        )
        hint = _(
            "A prompt predicts one of the classes of a layer, or one of the choices of a document. "
            "Add a layer, or import labelled data."
        )
        return EmptyState(
            "message-square-quote", _("No layer with classes or choices"), hint, labels
        )

    def _no_model(self) -> QWidget:
        """Leads to Models, below the backends of plugins that failed."""
        models = Button(
            _("Go to Models"), "boxes", "primary", on=lambda: self.state.context.go("models")
        )
        hint = _("A prompt needs a masked or causal language model. Add one on the Models page.")
        empty = EmptyState("message-square-quote", _("No language model"), hint, models)
        self._failed = Callout("", "warn")
        return column(self._failed, (empty, 1), margins=(20, 14, 20, 16))

    def _no_documents(self) -> EmptyState:
        data = Button(_("Go to Data"), "database", on=lambda: self.state.context.go("data"))
        hint = _("Import texts on the Data page to see the rendered prompt for a text.")
        return EmptyState("database", _("No documents"), hint, data)

    # ---------------------------------------------------------------- left: the template

    def _left(self) -> QWidget:
        self._known = combo(name=_("Templates"))
        self._known.activated.connect(lambda _i: self._choose_template())
        self._template = TemplateBox(_("Template"))
        self._template.textChanged.connect(self._typed)
        self._go_to = Button(_("Go to line"), small=True, on=self._go_to_line)
        self._fault = Callout("", "bad", self._go_to)
        self._fault.hide()
        editor = TitledField(_("Template (Jinja2)"), self._template, name=_("Template"))
        variables = words(VARIABLES_HELP, "caption", "muted", wrap=True)
        self._template.setMinimumHeight(theme.px(LEAST_TEMPLATE))
        choices = self._choices()
        above = column(
            TitledField(_("Start from"), self._known, name=_("Templates")),
            (editor, 1),
            self._fault,
            variables,
            choices,
            gap=12,
            margins=(20, 14, 20, 10),
        )
        acts = column(flow(self._run, self._try), margins=(20, 6, 20, 16))
        return column((scrolled(above), 1), acts, gap=0, part="surface")

    def _choices(self) -> QWidget:
        """Layer and model above examples, sampling, seed and calibration; also creates the buttons
        below.
        """
        state = self.state
        self._layer, self._model = combo(name=_("Layer")), combo(name=_("Model"))
        self._layer.activated.connect(lambda _i: state.choose_layer(self._layer.currentData()))
        self._model.activated.connect(lambda _i: state.choose_model(self._model.currentData()))
        self._form = Form(())
        self._options = column(self._form)
        self._form_of: tuple[Option, ...] = ()  # the options that the form shows
        self._options.hide()
        self._order, self._calibration = combo(ORDERS), combo(CALIBRATIONS)
        self._order.activated.connect(lambda _i: state.set(order=self._order.currentData()))
        self._calibration.activated.connect(
            lambda _i: state.set(calibration=self._calibration.currentData())
        )
        escaping.set_tip(self._calibration, CALIBRATION_HELP)
        self._shots, self._seed = _spin(0, 64), _spin(0, 99_999)
        self._shots.valueChanged.connect(lambda value: state.set(shots=value))
        self._seed.valueChanged.connect(lambda value: state.set(seed=value))
        self._run = Button(_("Run on dev"), "play", "primary", on=self.run_on_dev)
        self._try = Button(_("Try on this text"), on=self.try_text)
        drawing = row(
            (TitledField(_("Examples"), self._shots), 2),
            (TitledField(_("Sampling"), self._order, name=_("Sampling")), 3),
            gap=10,
        )
        scoring = row(
            (TitledField(_("Seed"), self._seed), 2),
            (TitledField(_("Calibration"), self._calibration, name=_("Calibration")), 4),
            gap=10,
        )
        return column(
            row(
                (TitledField(_("Layer"), self._layer), 3),
                (TitledField(_("Model"), self._model), 4),
                gap=10,
            ),
            self._options,
            TurningRow((drawing, 5), (scoring, 6)),
            gap=12,
        )

    def run_on_dev(self) -> None:
        self.take_template()
        self.state.run_on_dev()

    def try_text(self) -> None:
        self.take_template()
        self.state.try_text()

    def _go_to_line(self) -> None:
        if self.state.line:
            self._template.go_to(self.state.line)

    def _typed(self) -> None:
        if self._template.source() != self.state.template:
            self._pause.start()

    def _choose_template(self) -> None:
        self._pause.stop()
        self.state.choose_template(self._known.currentData())

    # ---------------------------------------------------------------- right: the rendered prompt

    def _right(self) -> QWidget:
        state = self.state
        self._count, self._meter = (
            words("", "caption", "muted"),
            Meter(0.0, name=_("Tokens of the prompt")),
        )
        self._preview = PreviewBox(_("Preview"))
        self._outdated = Callout("", "warn")
        self._outdated.hide()
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
        self._document.setMinimumWidth(theme.px(120))
        which = row(words(_("with"), "small", "muted"), (self._candidate, 1), back, on, gap=6)
        self._shown = column(
            self._meter,
            self._outdated,
            (self._preview, 1),
            self._remark,
            TurningRow((self._document, 1), which, gap=6),
            gap=8,
        )
        self._right_pages = LaterStack(lambda: self._shown, self._no_documents)
        self._right_pages.setCurrentIndex(0)
        top = card(
            flow(words(_("Prompt as the model receives it"), weight=600), None, self._count),
            (self._right_pages, 1),
            gap=8,
        )
        self._outcome = Outcome(state)
        self._teaching = Callout("", "warn")
        self._preview.setMinimumHeight(theme.px(LEAST_TEMPLATE))
        self._outcome.setMinimumHeight(theme.px(LEAST_OUTCOME))
        return scrolled(
            column((top, 9), (self._outcome, 10), self._teaching, gap=12, margins=(16, 14, 20, 16))
        )

    # ---------------------------------------------------------------- showing

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "layers", "models", "unavailable"):
            self._show_page()
        if concerns(fields, "layers", "layer"):
            fill(
                self._layer,
                [
                    (name, _("{name} ({n} submitted)", name=name, n=formats.count(n)))
                    for name, n in state.layers
                ],
                state.layer,
            )
        if concerns(fields, "models", "unavailable", "model"):
            self._show_models()
            self._teaching.set(TEACHING.format(model=state.model) if state.teaching else "")
            self._show_options()
        elif concerns(fields, "options") and dict(state.options) != self._form.values():
            self._form.set_values(state.options)
        if concerns(fields, "known", "chosen"):
            self._show_known()
        if concerns(fields, "template") and self._template.source() != state.template:
            self._template.setPlainText(state.template)
        if concerns(fields, "shots", "order", "seed", "calibration"):
            self._show_numbers()
        if concerns(fields, "template", "problem", "line"):
            self._show_problem()
        if concerns(fields, "preview", "problem", "label", "document", "no_document"):
            self._show_preview()
        self._show_buttons()
        self._outcome.render(fields)

    def _show_page(self) -> None:
        state = self.state
        page = NO_LAYER if not state.layers else NO_MODEL if not state.models else PAGE
        self._stack.setCurrentIndex(page)
        if page == NO_MODEL:
            message = _("{backend}: failed. {reason}")
            reasons = [
                message.format(backend=failed.title, reason=failed.reason)
                for failed in state.unavailable
            ]
            self._failed.set("\n".join(reasons))

    def _show_models(self) -> None:
        """All models; below them, disabled, the backends of plugins that failed."""
        state = self.state
        failed = {(backend.backend,): backend for backend in state.unavailable}  # no key of a model
        message = _("{backend}: failed")
        items: list[tuple[object, str]] = [(model.key, model.title) for model in state.models]
        items += [(key, message.format(backend=backend.title)) for key, backend in failed.items()]
        refused = {key: backend.reason for key, backend in failed.items()}
        fill(self._model, items, state.model, refused=refused)

    def _show_options(self) -> None:
        """Fields for the options of the model's backend, rebuilt when these change."""
        choice = self.state.choice
        options = choice.options if choice else ()
        if options != self._form_of:
            self._form_of = options
            layout_of(self._options).removeWidget(self._form)
            self._form.deleteLater()
            ungrouped = [replace(option, group="") for option in options]
            self._form = Form(ungrouped, self.state.options)
            self._form.changed.connect(lambda _name: self.state.set(options=self._form.values()))
            layout_of(self._options).addWidget(self._form)
            self._options.setVisible(bool(options))

    def _show_known(self) -> None:
        items = [(known.id, known.title) for known in self.state.known]
        if self.state.chosen == OWN:
            items.append((OWN, _("Edited. Saved in the project when it is run.")))
        fill(self._known, items, self.state.chosen)

    def _show_numbers(self) -> None:
        for box, value in ((self._shots, self.state.shots), (self._seed, self.state.seed)):
            blocked = box.blockSignals(True)
            box.setValue(value)
            box.blockSignals(blocked)
        fill(self._order, ORDERS, self.state.order)
        fill(self._calibration, CALIBRATIONS, self.state.calibration)

    def _show_problem(self) -> None:
        state = self.state
        self._fault.set(state.problem)
        self._template.mark(state.line, state.problem)
        if state.line:
            self._go_to.set_text(_("Go to line {n}", n=state.line))
        self._go_to.setVisible(bool(state.line))

    def _show_preview(self) -> None:
        state, preview = self.state, self.state.preview
        self._right_pages.setCurrentIndex(1 if state.no_document else 0)
        outdated = bool(state.problem and preview)
        set_outdated(self._preview, outdated)
        self._outdated.set(OUTDATED if outdated else "")
        if preview is None:
            self._preview.setPlainText("")
            self._count.setText("")
            self._meter.set(0.0)
            return
        self._preview.show_prompt(preview.prompts[preview.label])
        count = ngettext(
            "{n} of {limit} token",
            "{n} of {limit} tokens",
            preview.limit,
            n=preview.tokens,
            limit=preview.limit,
        )
        self._count.setText(count)
        self._meter.set(preview.tokens / preview.limit)
        self._remark.setText(_remarks(preview))
        self._remark.setVisible(bool(self._remark.text()))
        names = [(label, candidate_name(preview, label)) for label in preview.prompts]
        fill(self._candidate, names, preview.label)
        if state.document is not None:
            # The isolates separate a right-to-left text from the key before it.
            text = " ".join(state.document.text.split())
            self._document.setText(f"{state.document.key}: \u2068{text}\u2069")

    def _show_buttons(self) -> None:
        state = self.state
        self._run.setText(
            " " + (_("Run on dev ({n})", n=state.dev) if state.dev else _("Run on dev"))
        )
        self._run.setEnabled(state.ready)
        why = (
            _("There is no submitted document of this layer in the dev split.")
            if state.layer and not state.dev
            else ""
        )
        escaping.set_tip(self._run, why)
        self._try.setEnabled(state.preview is not None and not state.problem and not state.asking)
        self._suggest.setEnabled(
            bool(state.live and state.live.status in ("done", "stopped"))
            and not state.project.read_only
        )


def _remarks(preview: PromptPreview) -> str:
    """What was left out of the prompt to fit the model, "" for nothing."""
    remarks = []
    if n := preview.dropped:
        left_out = ngettext(
            "{n} example was left out because the prompt is too long.",
            "{n} examples were left out because the prompt is too long.",
            n,
        )
        remarks.append(left_out)
    if preview.cut:
        remarks.append(_("The end of the text was truncated."))
    return " ".join(remarks)


def _spin(low: int, high: int) -> SpinBox:
    it = SpinBox(low, high)
    it.setKeyboardTracking(False)
    return it
