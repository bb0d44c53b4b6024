"""Pretraining on the Train page: model, objective and text on the left, the run on the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QLineEdit,
    QWidget,
)

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.ui.panel import View
from workbench.ui.panels.train.live_view import PRETRAINING, LiveRun
from workbench.ui.panels.train.pretrain_state import (
    FILE_PATTERNS,
    FILES,
    PROJECT,
    UNSPLIT,
    VECTORS,
    PretrainState,
)
from workbench.ui.style import formats
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.form import Form
from workbench.ui.widgets.controls.spin import SpinBox
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.layout import bar, column, layout_of, row, scrolled, side_by_side
from workbench.ui.widgets.layout import fill as fill_with

if TYPE_CHECKING:
    from collections.abc import Callable

SPLITS = ("train", UNSPLIT, "dev")
FIRST = ("epochs", "learning_rate")  # settings that are always shown


class PretrainView(View):
    state: PretrainState

    def __init__(
        self,
        state: PretrainState,
        show_batch: Callable[[], None],
        show_batch_of_run: Callable[[], None],
    ):
        super().__init__(state)
        self._left = PretrainChoices(state, show_batch)
        batch = partial(
            Button,
            _("First batch…"),
            "list-checks",
            on=show_batch_of_run,
            name=_("First batch of this run"),
            tip=_("Original text, input of the model and positions of the loss in this run"),
        )
        again = partial(
            Button,
            _("New run from it"),
            "rotate-ccw",
            on=state.choose_again,
            tip=_("Selects the new model and the same objective; the schedule starts again"),
        )
        resume = partial(
            Button,
            _("Continue training"),
            "play",
            on=self.resume,
            tip=_("Continues this run from its last step, for more epochs if it has ended"),
        )
        may_resume = (resume, lambda: state.resumed_state is not None)
        self._right = LiveRun(state, PRETRAINING, again, batch, may_resume)
        self.first = self._left.model
        fill_with(self, side_by_side(self._left, self._right, width=400, most=520))

    def render(self, fields: frozenset[str]) -> None:
        self._left.render(fields)
        self._right.render(fields)

    def resume(self) -> None:
        """Continue the run; one that has ended is asked for more epochs."""
        from workbench.ui.dialogs.more_epochs import MoreEpochs

        run, header = self.state.run, self.state.resumed_state
        if run is None or header is None:
            return
        if not self.state.needs_epochs:
            self.state.resume()
            return
        dialog = MoreEpochs(self, run.name, header.epochs, self.state.most_epochs)
        if dialog.exec():
            self.state.resume(dialog.epochs)


class PretrainChoices(QFrame):
    """Model, objective, text and settings; then what will be used, and the Start button."""

    def __init__(self, state: PretrainState, show_batch: Callable[[], None]):
        super().__init__()
        self.state = state
        self.setProperty("part", "side")
        self.setMinimumWidth(340)
        self.setMaximumWidth(600)
        self._forms: dict[str, tuple[tuple[str, ...], Form]] = {}  # place → (options, form)
        self._build()
        self.batch = Button(_("Show first batch…"), "list-checks", on=show_batch)
        self._waiting: QWidget = self.batch  # has the focus again when it is enabled
        self.start = Button(_("Start pretraining"), "play", "primary", on=state.start)
        middle = column(
            words(_("New model"), "heading", weight=600),
            self._model_field,
            self._sizes,
            self._objective_field,
            self._text(),
            row((self._first["epochs"], 1), (self._first["learning_rate"], 1), gap=12),
            self._name_field,
            self._used,
            self._more,
            self._options,
            None,
            gap=14,
            margins=(20, 18, 20, 18),
        )
        fill_with(
            self,
            (scrolled(middle), 1),
            bar(self.batch, None, self.start, margins=(20, 10, 20, 10)),
            gap=0,
        )

    def _build(self) -> None:
        state = self.state
        self.model, self.objective = combo(), combo()
        self.model.activated.connect(lambda _i: state.choose_model(self.model.currentData()))
        self.objective.activated.connect(
            lambda _i: state.choose_objective(self.objective.currentData())
        )
        self._model_field = TitledField(_("Which model?"), self.model, name=_("Model"))
        self._objective_field = TitledField(_("Objective"), self.objective, name=_("Objective"))
        self._sizes, self._options = column(), column(gap=12)
        self._first = {
            name: TitledField(title, self._line(name))
            for name, title in zip(FIRST, (_("Epochs"), _("Learning rate")), strict=True)
        }
        self._name = QLineEdit()
        self._name.textEdited.connect(lambda text: state.set_name(text.strip()))
        self._name_field = TitledField(
            _("Name of the new model"), self._name, _("The model is added to the Models page.")
        )
        self._used = Callout()
        tip = _("Batch size, schedule, seed and more")
        self._more = Button(_("Options"), "chevron-right", "quiet", on=self._fold, tip=tip)
        self._search = QLineEdit()
        self._search.setPlaceholderText(_("Search options"))
        self._search.setClearButtonEnabled(True)
        call(self._search, _("Search options"))
        self._search.textChanged.connect(self._filter)
        self._seed = SpinBox(0, 2**31 - 1)
        self._seed.setValue(state.seed)
        call(self._seed, _("Seed"))
        self._seed.valueChanged.connect(state.set_seed)
        seed = TitledField(
            _("Seed"), self._seed, _("The same seed gives the same results on one machine.")
        )
        layout_of(self._options).addWidget(self._search)
        layout_of(self._options).addWidget(seed)
        self._options.hide()

    def _line(self, name: str) -> QLineEdit:
        it = QLineEdit()
        it.textEdited.connect(lambda _text: self._edited())
        return it

    def _text(self) -> QFrame:
        state = self.state
        self._source = Segments(
            (PROJECT, _("This project")), (FILES, _("Files and folders")), name=_("Text")
        )
        self._source.chosen.connect(state.choose_source)
        self._splits = {name: QCheckBox(_split_title(name)) for name in SPLITS}
        for name, box in self._splits.items():
            box.setChecked(name in state.splits)
            box.toggled.connect(lambda on, name=name: state.set_split(name, on))
        self._words = QLineEdit()
        self._words.setPlaceholderText(_("Only documents that contain…"))
        self._words.setClearButtonEnabled(True)
        call(self._words, _("Words that documents must contain"))
        self._words.textChanged.connect(lambda text: state.set_words("") if not text else None)
        self._words.editingFinished.connect(lambda: state.set_words(self._words.text().strip()))
        self._project = column(row(*self._splits.values(), None, gap=16), self._words, gap=10)
        self._paths = words("", "small", "muted", wrap=True)
        self._clear = Button(_("Clear"), "x", "quiet", small=True, on=state.clear_files)
        self._files = column(
            row(
                Button(_("Add files…"), "file-plus-2", small=True, on=self._ask_files),
                Button(_("Add folder…"), "folder-open", small=True, on=self._ask_folder),
                None,
                self._clear,
            ),
            self._paths,
            gap=8,
        )
        self._files.hide()
        return column(
            words(_("Text"), "small", "muted", weight=500),
            self._source,
            self._project,
            self._files,
            gap=8,
        )

    def _ask_files(self) -> None:
        kinds = _("Text files ({endings})", endings=" ".join(FILE_PATTERNS))
        paths, _kind = QFileDialog.getOpenFileNames(
            self.window(), _("Add files"), "", f"{kinds};;{_('All files')} (*)"
        )
        if paths:
            self.state.add_files(paths)

    def _ask_folder(self) -> None:
        if chosen := QFileDialog.getExistingDirectory(self.window(), _("Add folder")):
            self.state.add_files([chosen])

    # ---------------------------------------------------------------- settings

    def _fold(self) -> None:
        unfolds = self._options.isHidden()
        self._options.setVisible(unfolds)
        self._more.set_icon("chevron-down" if unfolds else "chevron-right")
        if unfolds:
            self._make_forms()
            self._search.setFocus()

    def _filter(self, text: str) -> None:
        if "more" in self._forms:
            self._forms["more"][1].filter(text)

    def _make_forms(self) -> None:
        """The sizes of a new model, always shown; and the other settings, folded."""
        sizes = self.state.sizes
        self._make_form("sizes", self._sizes, sizes)
        self._sizes.setVisible(bool(sizes))
        if not self._options.isHidden():
            visible = {*FIRST, *(option.name for option in sizes)}
            others = [option for option in self.state.options if option.name not in visible]
            self._make_form("more", self._options, others)
            self._filter(self._search.text())

    def _make_form(self, place: str, box: QFrame, options: object) -> None:
        chosen = list(options)  # type: ignore[call-overload] # options of a state
        key = (self.state.model, self.state.objective) if place == "more" else (self.state.model,)
        if place in self._forms and self._forms[place][0] == key:
            return
        if place in self._forms:
            old = self._forms.pop(place)[1]
            layout_of(box).removeWidget(old)
            old.hide()
            old.deleteLater()
        form = Form(chosen, self.state.values, columns=3 if place == "sizes" else 1)
        form.changed.connect(lambda _name: self._edited())
        self._forms[place] = key, form
        layout_of(box).addWidget(form)

    def _edited(self) -> None:
        names = {name for _key, form in self._forms.values() for name in form.names()}
        values = {
            name: text
            for name, text in self.state.values.items()
            if name not in names and name not in FIRST
        }
        for _key, form in self._forms.values():
            values |= form.values()
        for name, field in self._first.items():
            if text := cast(QLineEdit, field.control).text().strip():
                values[name] = text
        self.state.set_values(values)

    # ---------------------------------------------------------------- render

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "cards", "model"):
            self._show_models()
        if concerns(fields, "objective", "model"):
            fill(self.objective, state.objective_titles, state.objective, refused=state.refused)
            self._objective_field.set_hint(state.definition)
            self._make_forms()
        if concerns(fields, "objective", "values", "errors", "model"):
            self._show_values()
        if concerns(fields, "name") and self._name.text().strip() != state.name:
            self._name.setText(state.name)
        if concerns(fields, "source", "files"):
            self._show_source()
        if concerns(fields, "size", "problem", "preparing", "source", "model"):
            self._show_used()
        title = _("Queue another run") if state.running else _("Start pretraining")
        self.start.set_text(title)
        self._let_start(state.ready)

    def _let_start(self, on: bool) -> None:
        """Keep the focus while Start and the batch are disabled: Qt would move it to Cancel or to
        the rail. Also of a window behind a dialog.
        """
        held = self.window().focusWidget()
        if not on and held in (self.start, self.batch):
            self._waiting = held
            self.setFocus()
        self.start.setEnabled(on)
        pairs = self.state.has_pairs
        self.batch.set_text(_("Co-occurrences…") if pairs else _("Show first batch…"))
        self.batch.setEnabled(on and (pairs or not self.state.is_vectors))
        if on and held is self:
            self._waiting.setFocus()

    def _show_models(self) -> None:
        state = self.state
        new = _("New: {architecture}")
        items = [(card.name, card.name) for card in state.cards]
        items += [(value, new.format(architecture=name)) for value, name in state.new_names]
        items.append((VECTORS, _("New: word vectors")))
        fill(self.model, items, state.model, refused=state.unfit)
        if state.created is not None or state.is_vectors:
            hint = _("Starts from random weights; its vocabulary is built from the text.")
        else:
            hint = _("Starts from the weights of this model, which is not changed.")
        self._model_field.set_hint(hint)

    def _show_values(self) -> None:
        state = self.state
        for name, field in self._first.items():
            option = next((option for option in state.options if option.name == name), None)
            line = cast(QLineEdit, field.control)
            text = state.values.get(name, "")
            if line.text().strip() != text:
                line.setText(text)
            default = option.default if option is not None else None
            placeholder = formats.significant(default) if isinstance(default, int | float) else ""
            line.setPlaceholderText(placeholder or _("automatic"))
            field.set_error(state.errors.get(name, ""))
        self._name_field.set_error(state.errors.get("name", ""))
        for _key, form in self._forms.values():
            own = {name: text for name, text in state.values.items() if name in form.names()}
            if form.values() != own:
                form.set_values(own)
            form.set_errors(state.errors)

    def _show_source(self) -> None:
        state = self.state
        self._source.set(state.source)
        self._project.setVisible(state.source == PROJECT)
        self._files.setVisible(state.source == FILES)
        self._paths.setText("\n".join(state.files))
        self._paths.setVisible(bool(state.files))
        self._clear.setVisible(bool(state.files))

    def _show_used(self) -> None:
        state, size = self.state, self.state.size
        if state.preparing:
            self._used.set(_("Writing the text…"), "accent")
        elif state.problem:
            self._used.set(state.problem, "warn")
        elif size is None:
            self._used.set(_("Counting documents…"), "accent")
        elif size.files:
            message = _streamed(size.files, size.size)
            if not state.is_vectors:
                message = " ".join(
                    (message, _("One document in 100 is held out for the perplexity."))
                )
            message = " ".join((message, *size.warnings))
            self._used.set(message, "warn" if size.warnings else "accent")
        else:
            held_out = None if state.is_vectors else size.held_out
            self._used.set(_used(size.documents, held_out), "accent")


def _streamed(files: int, size: int) -> str:
    return ngettext(
        "{n} file, {size}. The text is streamed.",
        "{n} files, {size}. The text is streamed.",
        files,
        n=formats.count(files),
        size=formats.size(size),
    )


def _used(documents: int, held_out: int | None) -> str:
    """held_out: None without a perplexity."""
    message = ngettext(
        "{n} document is used. Labels are not needed; test documents are never used.",
        "{n} documents are used. Labels are not needed; test documents are never used.",
        documents,
        n=formats.count(documents),
    )
    if held_out is None:
        return message
    if not held_out:
        return " ".join((message, _("One document in 100 is held out for the perplexity.")))
    perplexity = ngettext(
        "Perplexity is measured on {n} dev document.",
        "Perplexity is measured on {n} dev documents.",
        held_out,
        n=formats.count(held_out),
    )
    return " ".join((message, perplexity))


def _split_title(name: str) -> str:
    return _("no split") if name == UNSPLIT else term(name)
