"""The left side of the Train page: what to train, on which data, with which options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QLineEdit,
    QMenu,
    QVBoxLayout,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.text.segmenters.base import DEFAULT, OPTION
from workbench.ui.commands import MenuChoice
from workbench.ui.panels.train.layer_steps import LayerSteps
from workbench.ui.panels.train.state import TrainState
from workbench.ui.style import escaping, formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import bar, column, layout_of, row, scrolled
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.text import context_menu

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.operations.runs.training_data import DataPlan


USUAL = "1"  # epochs of adaptation when it is switched on
FIRST = ("epochs", "learning_rate", "adapt_epochs", "adapt_objective")


class Choices(QFrame):
    """Task, model and options; then the data used and left out, and the Start button."""

    def __init__(self, state: TrainState, show_batch: Callable[[], None]):
        super().__init__()
        self.state = state
        self.setProperty("part", "side")
        self.setMaximumWidth(600)
        self._build_controls()
        self._form: Form | None = None
        self._form_for: tuple[object, ...] = ()  # task, method, family, teachers it was built for
        self._form_box = QVBoxLayout()
        seed = TitledField(
            _("Seed"), self._seed, _("The same seed gives the same results on one machine.")
        )
        tools = column(self._layers, flow(self._audit), gap=4)
        self._options = column(tools, self._search, seed, gap=12)
        layout_of(self._options).addLayout(self._form_box)
        self._options.hide()
        middle = column(
            words(_("New run"), "heading", weight=600),
            TitledField(_("What do you want to train?"), self.task, name=_("Task")),
            TitledField(_("Layer"), self.layer, name=_("Layer")),
            self._also,
            self._model_field,
            row((self._epochs, 1), (self._rate, 1), gap=12),
            self.adaptation,
            self._message,
            self._used,
            self._warnings,
            self._words,
            self._more,
            self._options,
            None,
            gap=14,
            margins=(20, 18, 20, 18),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(scrolled(middle, upright=True), 1)
        self.batch = Button(_("Show first batch…"), "list-checks", on=show_batch)
        layout.addWidget(bar(self.batch, None, self.start, margins=(20, 10, 20, 10)))

    def _build_controls(self) -> None:
        state = self.state
        self.task, self.layer, self.model = combo(), combo(), combo()
        self.task.activated.connect(lambda _i: state.choose_task(self.task.currentData()))
        self.layer.activated.connect(lambda _i: state.choose_layer(self.layer.currentData()))
        self.model.activated.connect(lambda _i: state.choose_model(self.model.currentData()))
        self._also_menu = QMenu(self)
        self._also = Button(
            _("Also train on"),
            small=True,
            menu=self._also_menu,
            tip=_(
                "Trains several layers together: one encoder, a head for each. Every layer becomes "
                "a run."
            ),
        )
        self._model_field = TitledField(_("Which model?"), self.model, name=_("Model"))
        self._epochs = TitledField(_("Epochs"), self._line("epochs"))
        self._rate = TitledField(_("Learning rate"), self._line("learning_rate"))
        self.adaptation = AdaptationForm(state)
        self._message = words("", "caption", "muted", wrap=True)
        self._map = Button(
            _("Model map…"),
            kind="quiet",
            on=self._show_map,
            tip=_("Frozen, trained and new parts of the model in this run"),
        )
        self._layers = LayerSteps(
            state.layer_rates, self._map, frozen=lambda: state.frozen, freeze=state.freeze
        )
        self._audit = Button(
            _("Check word boundaries…"),
            kind="quiet",
            on=self._check_alignment,
            tip=_("Labels that the tokenizer of this model would move, split, lose or truncate"),
        )
        self._used, self._warnings = Callout(), Callout(tone="warn")
        self._words = WordAdvice(state)
        self._more = Button(
            _("Options"),
            "chevron-right",
            "quiet",
            on=self._fold,
            tip=_("Batch size, schedule, freezing, seed, checks and more"),
        )
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Search options"))
        self._search.setClearButtonEnabled(True)
        call(self._search, _("Search options"))
        self._search.textChanged.connect(lambda text: self._form and self._form.filter(text))
        self._seed = SpinBox(0, 2**31 - 1)
        call(self._seed, _("Seed"))
        self._seed.valueChanged.connect(state.set_seed)
        self.start = Button(_("Start training"), "play", "primary", on=self._start)

    def _start(self) -> None:
        from workbench.ui.dialogs import consent

        if consent.may_run(self.state.needed_consent()):
            self.state.start()

    def _show_map(self) -> None:
        from workbench.ui.widgets.tables.run_map import RunMapDialog

        dialog = RunMapDialog(self.window(), self.state.model, self.state.ask_map)
        dialog.exec()
        dialog.deleteLater()

    def _check_alignment(self) -> None:
        from workbench.ui.dialogs import audit

        audit.show(self.state.context.app, self.layer.currentData() or "", self.state.model)

    def _line(self, name: str) -> QLineEdit:
        it = QLineEdit()
        it.setPlaceholderText(_("automatic"))
        it.textEdited.connect(lambda _text: self._edited())
        it.setProperty("option", name)
        return it

    def _fold(self) -> None:
        unfolds = not self._options.isVisible()
        if unfolds:
            self._make_form()
        self._options.setVisible(unfolds)
        self._more.set_icon("chevron-down" if unfolds else "chevron-right")
        if unfolds:
            self._search.setFocus()

    def _make_form(self) -> None:
        method = self.state.values.get("method", "")
        form_for = (self.state.task, method, self.state.family, self.state.teachers)
        if self._form_for == form_for:
            return
        focused = self._form.focused() if self._form is not None else ""
        if self._form is not None:
            self._form_box.removeWidget(self._form)
            self._form.deleteLater()
        self._form_for = form_for
        self._form = Form(
            [option for option in self.state.options if option.name not in FIRST],
            self._all_values(),
        )
        self._form.changed.connect(lambda _name: self._edited())
        self._form_box.addWidget(self._form)
        self._form.filter(self._search.text())
        if focused:
            self._form.focus(focused)

    def _all_values(self) -> dict[str, object]:
        """Those of the form, and of the options that are above it."""
        above = {item.name: item.default for item in self.state.options if item.name in FIRST}
        return {**above, **self.state.values}

    def _edited(self) -> None:
        values = (
            dict(self._form.values())
            if self._form
            else {name: value for name, value in self.state.values.items() if name not in FIRST}
        )
        for item in (self._epochs, self._rate):
            if text := cast(QLineEdit, item.control).text().strip():
                values[item.control.property("option")] = text
        values |= self.adaptation.values()
        self.state.set_values(values)

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "task", "tasks"):
            fill(
                self.task,
                state.task_titles,
                state.task,
            )
        if (
            concerns(fields, "task", "tasks", "layer", "values", "model", "run")
            and self._form is not None
        ):
            self._make_form()
        if concerns(fields, "layers", "layer", "task"):
            fill(
                self.layer,
                [
                    (name, _("{name}  ({n} submitted)", name=name, n=formats.count(n)))
                    for name, n in state.layers
                ],
                state.layer,
            )
        if concerns(fields, "layers", "layer", "all_layers", "task", "values"):
            self._show_also()
        if concerns(fields, "models", "model", "unfit"):
            names = [(info.name, info.name) for info in state.models]
            fill(self.model, names, state.model, refused=state.unfit)
            self._model_field.set_hint(_card_text(state.card) if state.card is not None else "")
            self._model_field.set_error(state.unfit.get(state.model, ""))
        if concerns(fields, "values", "errors", "task"):
            self._show_values()
        if concerns(fields, "values", "model", "models", "errors", "task"):
            self.adaptation.render()
        if concerns(fields, "seed") and self._seed.value() != state.seed:
            self._seed.setValue(state.seed)
        if concerns(
            fields,
            "plan",
            "warnings",
            "unlearned",
            "task",
            "values",
            "model",
            "errors",
            "preparing",
        ):
            self._show_plan()
        if concerns(fields, "words", "values", "plan"):
            self._words.render()
        title = _("Queue another run") if state.running else _("Start training")
        self.start.set_text(title)
        self.batch.shorten(state.running, _("Show first batch…"))  # the longer title needs room
        self._let_start(state.ready)

    def _show_also(self) -> None:
        others = self.state.also
        self._also.setVisible(bool(others))
        choices = [
            MenuChoice(
                escaping.menu_text(name), partial(self.state.toggle_also, name), on=on, tip=name
            )
            for name, on in others
        ]
        context_menu.fill(self._also_menu, choices)
        names = ", ".join(name for name, on in others if on) or _("nothing else")
        self._also.set_text(_("Also train on: {names}", names=names))

    def _let_start(self, on: bool) -> None:
        """Keep the focus while Start is disabled.

        Qt would move it to Cancel, and a second Enter would discard the run.
        """
        if not on and self.start.hasFocus():
            self.setFocus()
        self.start.setEnabled(on)
        self.batch.setEnabled(on)
        if on and self.hasFocus():
            self.start.setFocus()

    def _show_values(self) -> None:
        for item in (self._epochs, self._rate):
            name = item.control.property("option")
            text = self.state.values.get(name, "")
            line = cast(QLineEdit, item.control)
            if line.text().strip() != text:
                line.setText(text)
            item.set_error(self.state.errors.get(name, ""))
        if self._form is None:
            return
        if self._form.values() != {
            name: value for name, value in self.state.values.items() if name not in FIRST
        }:
            self._form.set_values(self._all_values())
        self._form.set_errors(self.state.errors)

    def _show_plan(self) -> None:
        state, plan = self.state, self.state.plan
        self._message.setText(state.defaults_text())
        self._message.setVisible(bool(self._message.text()))
        self._layers.render()
        if state.project.read_only:
            self._used.set(
                _("The project is open read-only, so training is not available."), "warn"
            )
        elif not state.tasks:
            self._used.set(
                _(
                    "No layer can be used for training. Add a class or span layer on the "
                    "Labels page."
                ),
                "warn",
            )
        elif state.preparing:
            self._used.set(_("Preparing training data…"), "accent")
        elif plan is None:
            counting = _("Counting documents…"), "accent"
            failed = _("The documents could not be counted."), "warn"
            self._used.set(*(counting if state.working_out else failed))
        elif plan.problem:
            self._used.set(plan.problem, "warn")
        else:
            self._used.set(_used_text(plan), "accent")
        message = (
            *(plan.warnings if plan and not plan.problem else ()),
            *state.warnings,
            *filter(None, (state.unlearned, state.memory_warning())),
        )
        self._warnings.set("\n".join(message), "warn")


def _used_text(plan: DataPlan) -> str:
    used = plan.used
    counts = {name: used[name] for name in ("train", "dev", "test")}
    message = [_("{train:,} train · {dev:,} dev · {test:,} test.", **counts)]
    if plan.assigned:
        message.append(
            ngettext(
                "{n:,} of these documents is assigned to a split when training starts.",
                "{n:,} of these documents are assigned to a split when training starts.",
                plan.assigned,
            )
        )
    if plan.left_out:
        left_out = ", ".join(f"{formats.count(out.count)} {out.reason}" for out in plan.left_out)
        message.append(_("Left out: {reasons}.", reasons=left_out))
    return " ".join(message)


def _card_text(info: ModelInfo) -> str:
    if info is None:
        return ""
    size = _("{n:.1f} M", n=info.parameters / 1e6) if info.parameters else ""
    return "  ·  ".join(
        part
        for part in (
            info.architecture,
            size,
            ngettext("{n} layer", "{n} layers", info.layers) if info.layers else "",
            formats.licence(info.licence),
        )
        if part
    )


class AdaptationForm(QFrame):
    """A check box; while it is on, the epochs and the objective of the language model."""

    def __init__(self, state: TrainState):
        super().__init__()
        self.state = state
        self.check = QCheckBox(_("Adapt to my text, then fine-tune"))
        self.check.clicked.connect(lambda on: self._set({"adapt_epochs": USUAL} if on else {}))
        self._epochs, self._objective = QLineEdit(), combo()
        self._epochs.textEdited.connect(lambda _text: self._set(self.values()))
        self._objective.activated.connect(lambda _at: self._set(self.values()))
        self._epochs_field = TitledField(_("Epochs of adaptation"), self._epochs)
        self._fields = row(
            (self._epochs_field, 2), (TitledField(_("Objective"), self._objective), 3), gap=12
        )
        self._fields.hide()
        fill_with(self, self.check, self._fields)

    def values(self) -> dict[str, str]:
        """Settings that differ from the defaults."""
        if not self.check.isChecked() or not self.check.isEnabled():
            return {}
        chosen = self._objective.currentData()
        values = {"adapt_epochs": self._epochs.text().strip() or USUAL}
        return {**values, "adapt_objective": str(chosen)} if chosen else values

    def _set(self, own: dict[str, str]) -> None:
        others = {
            name: value
            for name, value in self.state.values.items()
            if name not in ("adapt_epochs", "adapt_objective")
        }
        self.state.set_values({**others, **own})

    def render(self) -> None:
        state, values = self.state, self.state.values
        known = state.adaptations
        on = values.get("adapt_epochs", "0") not in ("", "0")
        self.check.setEnabled(bool(known))
        self.check.setChecked(on and bool(known))
        message = _(
            "First trains the language model on all texts of the project, labelled or not, except "
            "those of test."
        )
        missing = _("This model is not a language model, so it cannot be adapted.")
        escaping.set_tip(self.check, message if known else missing)
        self._fields.setVisible(on and bool(known))
        if not on:
            return
        if self._epochs.text().strip() != values["adapt_epochs"]:
            self._epochs.setText(values["adapt_epochs"])
        self._epochs_field.set_error(state.errors.get("adapt_epochs", ""))
        usual = ("", _("Automatic"))
        fill(self._objective, (usual, *known), values.get("adapt_objective", ""))


class WordAdvice(QFrame):
    """Shown while no segmenter is chosen; its button chooses one that is installed."""

    def __init__(self, state: TrainState):
        super().__init__()
        self.state = state
        self._message = Callout(tone="warn")
        self.choose = Button(small=True, on=self._choose)
        fill_with(self, self._message, row(self.choose, None), gap=6)

    def render(self) -> None:
        advice = self.state.words
        is_chosen = self.state.values.get(OPTION, DEFAULT) != DEFAULT
        self._message.set(advice.message if advice is not None else "")
        self.setVisible(advice is not None and not is_chosen)
        remedy = advice.remedy if advice is not None else ""
        self.choose.set_text(_("Use {segmenter}", segmenter=remedy))
        self.choose.setVisible(bool(remedy))

    def _choose(self) -> None:
        if (advice := self.state.words) is not None:
            self.state.set_values({**self.state.values, OPTION: advice.remedy})
