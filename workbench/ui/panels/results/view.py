"""The Results page: runs on the left, one run or several compared on the right; the board."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFileDialog,
    QFrame,
    QMenu,
    QSizePolicy,
    QTabBar,
    QVBoxLayout,
)

from workbench.base.events import ALL, concerns
from workbench.base.i18n import N_, _, ngettext
from workbench.ui.panel import WatchingView
from workbench.ui.panels.results.board.comparison import ComparisonView
from workbench.ui.panels.results.board.view import BoardView
from workbench.ui.panels.results.people.view import PeopleView
from workbench.ui.panels.results.quality.view import QualityView
from workbench.ui.panels.results.review.errors import ErrorsView
from workbench.ui.panels.results.review.label_errors import LabelErrorsView
from workbench.ui.panels.results.runs.run_table import RunTable
from workbench.ui.panels.results.runs.scores import ScoresView
from workbench.ui.panels.results.runs.tabs import FilesView, SettingsView
from workbench.ui.panels.results.runs.train_overlap_warning import TrainOverlapWarning
from workbench.ui.panels.results.selection import FINISHED
from workbench.ui.panels.results.state import ResultsState
from workbench.ui.project.queue_position import QueuePosition, of_project
from workbench.ui.style import escaping, formats, theme
from workbench.ui.style.formats import size
from workbench.ui.style.run_text import main_score, missing_task, score_text, title_of
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button, Segments, icon_button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.job_row import status_words
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import column, layout_of, row
from workbench.ui.widgets.tables.delegates import RUN_TONES
from workbench.ui.widgets.wait_line import WaitLine

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run

NARROW_WIDTH = 900  # pixels at 100% from which buttons in the header have texts
NARROW_LIST = 260  # minimum width of the run list in pixels
VIEWS = ("runs", "board", "labels", "people")
NO_RUN, ONE_RUN, SEVERAL_RUNS = range(3)  # number of runs shown on the right side
PARTS = {
    "scores": N_("Scores"),
    "errors": N_("Errors"),
    "quality": N_("Quality"),
    "settings": N_("Settings"),
    "files": N_("Files"),
}
WHOLE_WIDTH = ("errors", "quality")  # parts that a list of runs would leave too little room
UNSCORED = ("scores", "errors")  # parts that a run without a task does not have
ERRORS = tuple(PARTS).index("errors")


class _Part(Protocol):
    """A tab or the comparison, a page of a LaterStack."""

    def render_part(self, fields: frozenset[str]) -> None: ...


class ResultsView(WatchingView):
    state: ResultsState

    def __init__(self, state: ResultsState):
        super().__init__(state)
        self._selection = state.selection
        self._compare_menu = QMenu(self)
        self._compare_menu.aboutToShow.connect(self._fill_compare)
        self._compare = Button(
            _("Compare with…"), "panel-left", menu=self._compare_menu, name=_("Compare with")
        )
        self._baseline_menu = QMenu(self)
        self._baseline_menu.aboutToShow.connect(self._fill_baselines)
        self._baseline = Button(_("Add baseline"), "plus", menu=self._baseline_menu)
        self._import = self._import_button()
        self._first_import: Button | None = None  # where there is no run
        self._delete = Button(
            _("Delete…"), "trash-2", "danger", on=self.delete, name=_("Delete run")
        )
        self._train_again = Button(
            _("Train again"),
            "play",
            "primary",
            on=state.actions.train_again,
            tip=_("Use the same settings on the current labels"),
            name=_("Train again with these labels"),
        )
        views = (
            ("runs", _("Runs")),
            ("board", _("Board")),
            ("labels", _("Label errors")),
            ("people", _("People")),
        )
        self._views = Segments(*views, name=_("View"))
        # The tables have the names of their views.
        self._views.button("runs").setAccessibleName(_("Show runs"))
        self._views.button("board").setAccessibleName(_("Show board"))
        self._views.chosen.connect(self._show_view)
        self._save = Button(_("Export…"), "upload", on=self._export_board, name=_("Export board"))
        self._header = PageHeader(
            _("Results"),
            "",
            self._views,
            self._baseline,
            self._import,
            self._compare,
            self._delete,
            self._save,
            self._train_again,
        )
        self._left = RunTable(
            self._selection,
            state.actions,
            state.listing,
            delete=self.delete,
            apply=self.apply_to_files,
            organise=self.organise,
            resume=self.resume,
        )
        self._runs = self._left.table
        self.first = self._runs
        self._head: QBoxLayout | None = None
        self._nothing: EmptyState | None = None
        self._right = LaterStack(self._no_run, self._one_run, self._several_runs)
        frame = row(self._left, (self._right, 1), gap=0)
        others = (
            lambda: BoardView(state.board, state.show_run),
            lambda: LabelErrorsView(state.doubts),
            lambda: PeopleView(state.people),
        )
        body = self._body = LaterStack(lambda: frame, *others)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(body, 1)

    # ---------------------------------------------------------------- parts

    def _no_run(self) -> EmptyState:
        train = lambda: self.state.context.go("train")  # noqa: E731
        lead = Button(_("Train a model"), "play", "primary", on=train)
        hint = _("Scores, errors and the model of each training run are shown here.")
        self._first_import = self._import_button()
        self._nothing = EmptyState("chart-column", _("No runs yet"), hint, lead, self._first_import)
        return self._nothing

    def _import_button(self) -> Button:
        return Button(
            _("Import predictions…"),
            "file-plus-2",
            on=self.import_predictions,
            tip=_("Add a file of predictions made elsewhere as a run"),
            name=_("Import predictions"),
        )

    def _one_run(self) -> QFrame:
        state, head = self.state, self._head_of_run()
        self._keep = Button(_("Keep best checkpoint"), small=True, on=state.actions.keep_checkpoint)
        self._resume = Button(
            _("Continue"),
            small=True,
            on=self.resume,
            tip=_("Train on from the last state, or send the prompts that have no answers yet"),
            name=_("Continue this run"),
        )
        self._message = Callout("", "bad", self._keep, self._resume)
        leave = icon_button(
            "x", _("Do not suggest for them"), lambda: state.update(asked=()), small=True
        )
        self._for_these = Button(
            _("Suggest for these"), "sparkles", small=True, on=state.suggest_asked
        )
        self._asked = Callout("", "accent", self._for_these, leave)
        self._note = Callout()
        self._train_overlap = TrainOverlapWarning(state.comparing.open_documents)
        self._longer_button = Button(
            _("Train longer"),
            "play",
            small=True,
            on=state.actions.train_longer,
            tip=_("Use the same settings and twice the epochs on the current labels"),
        )
        self._longer = Callout("", "accent", self._longer_button)
        self._better_button = Button("", small=True, on=state.actions.follow_baseline)
        self._better = Callout("", "warn", self._better_button)
        self._busy = words("", "small", "accent")
        self._waiting = WaitLine(QueuePosition(state.context, of_project(state.project, "predict")))
        tabs = row((self._tabs_of_run(), 1), self._busy, self._waiting)
        self._spans = combo(name=_("Spans that the relations connect"))
        self._spans.activated.connect(
            lambda _at: self._selection.update(spans_id=self._spans.currentData())
        )
        self._whole = Button(
            _("Score end to end"),
            "chart-column",
            small=True,
            on=state.actions.score_whole,
            tip=_("Predict the spans of dev, then the relations between them, and score these"),
        )
        self._spans_line = row(words(_("Spans")), (self._spans, 1), self._whole, None, gap=8)
        callouts = (
            self._spans_line,
            self._asked,
            self._message,
            self._note,
            self._train_overlap,
            self._better,
            self._longer,
        )
        return column(*(head, *callouts, tabs, (self._pages, 1)), gap=10, margins=(20, 14, 20, 16))

    def _head_of_run(self) -> QFrame:
        """Name and actions of the run; in a narrow page, the actions are below the name."""
        state, middle = self.state, Qt.TextElideMode.ElideMiddle
        self._title, self._chip = Elided("", "heading", weight=600, mode=middle), Chip("")
        self._suggest = Button(
            _("Suggest with this run"), "sparkles", small=True, on=lambda: state.actions.suggest()
        )
        self._inspect = Button(
            _("Inspect"),
            "scan-search",
            small=True,
            on=state.actions.inspect,
            name=_("Inspect this run"),
        )
        self._apply = Button(
            _("Apply to files…"), "folder-open", small=True, on=self.apply_to_files
        )
        self._again = Button(
            _("Train again"),
            "rotate-ccw",
            small=True,
            on=state.actions.train_again,
            tip=_("Use the same settings on the current labels"),
        )
        self._export = Button(
            _("Export model"), "package-open", "primary", small=True, on=state.actions.export
        )
        self._picker = QComboBox()
        self._picker.setAccessibleName(_("Run"))
        self._picker.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._picker.activated.connect(
            lambda _at: self._selection.choose((self._picker.currentData(),))
        )
        self._acts = acts = flow(
            self._suggest, self._inspect, self._apply, self._again, None, self._export, gap=6
        )
        self._title.setSizePolicy(
            QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed
        )  # the chip is placed after the text
        head = row((row(self._picker, self._title, self._chip, None), 1), acts, gap=10)
        self._head = layout_of(head)
        self._fit_head()
        return head

    def _tabs_of_run(self) -> QTabBar:
        """The tabs; their pages are created when they are shown first."""
        state, self._tabs = self.state, QTabBar()
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.setAccessibleName(_("Parts of the run"))
        selection, errors = self._selection, state.browser
        self._pages = LaterStack(
            lambda: ScoresView(selection, state.actions, errors),
            lambda: ErrorsView(errors),
            lambda: QualityView(selection, errors.show),
            lambda: SettingsView(selection),
            lambda: FilesView(selection),
            made=self._fill_tab,
        )
        for name in PARTS.values():
            self._tabs.addTab(_(name))
        self._tabs.currentChanged.connect(lambda at: state.update(part=tuple(PARTS)[at]))
        self._tabs.tabBarClicked.connect(self._clicked, Qt.ConnectionType.QueuedConnection)
        return self._tabs

    def _several_runs(self) -> ComparisonView:
        state = self.state
        self._average = Button(_("Average these runs"), small=True, on=state.actions.average)
        first = lambda: self._selection.choose(self._selection.chosen[:1])  # noqa: E731
        return ComparisonView(
            state.comparing, self._average, Button(_("Show first only"), small=True, on=first)
        )

    def _fill_tab(self, number: int) -> None:
        if self._selection.run is not None:
            cast(_Part, self._pages.widget(number)).render_part(ALL)

    def _show_view(self, view: object) -> None:
        """The keys of a view work at once after a click on its name."""
        self.state.update(view=view)
        self.take_focus()

    def _clicked(self, tab: int) -> None:
        """The keys of the review work at once after a click on the tab of errors."""
        if tab == ERRORS:
            self.take_focus()

    def take_focus(self) -> None:
        """The list of errors where it is shown, as the user returns to it from a document."""
        if self.state.view != "runs":
            part = self._body.widget(VIEWS.index(self.state.view))
            cast(BoardView | LabelErrorsView | PeopleView, part).take_focus()
        elif self.state.shown_part == "errors" and self._selection.run is not None:
            cast(ErrorsView, self._pages.widget(ERRORS)).take_focus()
        else:
            super().take_focus()

    # ---------------------------------------------------------------- render

    def prepare(self) -> Iterator[None]:
        if self._selection.run is not None:
            self._right.widget(ONE_RUN)
            yield
            self._pages.widget(0)
            yield
        yield from super().prepare()

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "runs", "bytes_on_disk", "view"):
            many = len(self._selection.runs)
            hint = ngettext(
                "{n} run · {size} on disk",
                "{n} runs · {size} on disk",
                many,
                size=size(self._selection.bytes_on_disk),
            )
            self._header.set_hint(hint if many else _("Scores, errors and settings of each run"))
        if concerns(fields, "runs", "filter"):
            self._left.show_runs()
        if concerns(fields, "chosen", "runs", "filter"):
            self._runs.choose(set(self._selection.chosen))
        if state.view == "labels":
            message = _("Gold labels that models trained on the other documents do not agree with")
            self._header.set_hint(message)
        if state.view == "people":
            self._header.set_hint(_("How far people and runs agree on the same documents"))
        on_runs, on_board = state.view == "runs", state.view == "board"
        whole = (
            state.part in WHOLE_WIDTH and self._selection.run is not None and self._selection.scored
        )
        self._left.setVisible(bool(self._selection.runs) and not whole)
        self._train_again.setVisible(whole and on_runs)
        self._train_again.setEnabled(self._selection.can_train_again)
        self._views.set(state.view)
        self._body.setCurrentIndex(VIEWS.index(state.view))
        for button in (self._compare, self._delete):
            button.setVisible(on_runs)
        self._baseline.setVisible(on_runs or on_board)
        self._import.setVisible(on_runs and not whole)
        self._save.setVisible(on_board)
        several = len(self._selection.chosen) > 1
        self._right.setCurrentIndex(
            SEVERAL_RUNS if several else ONE_RUN if self._selection.run is not None else NO_RUN
        )
        if (
            self._selection.runs
            and self._selection.run is None
            and not several
            and self._nothing is not None
        ):
            self._nothing.set(_("No run selected"), _("Select a run in the list."))
        self._delete.setEnabled(self._selection.can_delete)
        self._save.setEnabled(bool(self._selection.runs))
        self._baseline.setEnabled(not state.project.read_only)
        for button in filter(None, (self._import, self._first_import)):
            button.setEnabled(not state.project.read_only and not self._selection.busy)
        self._compare.setEnabled(bool(self._selection.others()))
        if self._selection.run is not None:
            part = tuple(PARTS).index(state.shown_part)
            blocked = self._tabs.blockSignals(True)  # `part` is what the user chose
            for number, name in enumerate(PARTS):
                self._tabs.setTabVisible(number, self._selection.scored or name not in UNSCORED)
            quality = _(PARTS["quality"]) if self._selection.scored else _("Curves")
            self._tabs.setTabText(tuple(PARTS).index("quality"), quality)
            self._tabs.setCurrentIndex(part)
            self._tabs.blockSignals(blocked)
            self._pages.setCurrentIndex(part)
            self._render_run()
            self._show_picker(whole)
            for number in self._pages.made():
                cast(_Part, self._pages.widget(number)).render_part(fields)
        if several:
            cast(_Part, self._right.widget(SEVERAL_RUNS)).render_part(fields)
            reason = state.actions.no_average
            self._average.setEnabled(not reason)
            message = _("Add a run whose class probabilities are the mean of these runs")
            escaping.set_tip(self._average, reason or message)

    def _render_run(self) -> None:
        state, run = self.state, self._selection.shown_run
        model = run.spec.get("model_name") or run.spec.get("model", "")
        self._title.setText(
            " · ".join(part for part in (run.name, title_of(run), str(model)) if part)
        )
        self._chip.set(status_words(run.status), tone=RUN_TONES.get(run.status, ""))
        self._suggest.setEnabled(self._selection.can_suggest)
        self._apply.setEnabled(self._selection.can_answer)
        self._export.setEnabled(self._selection.usable)
        self._inspect.setEnabled(not (reason := self._selection.cannot_inspect))
        escaping.set_tip(self._inspect, reason or _("Open the run on the Inspect page"))
        self._again.setEnabled(self._selection.can_train_again)
        title = _(PARTS["errors"])
        if self._selection.details is not None:
            title = f"{title}  {formats.count(self._selection.details.results.mistakes)}"
        self._tabs.setTabText(ERRORS, title)
        self._note.set(*self._selection.note)
        details = self._selection.details
        self._train_overlap.show_systems(
            details.seen(self._selection.splits_shown) if details is not None else ()
        )
        self._show_advice()
        self._busy.setText(self._selection.busy)
        message = ngettext(
            "{n} document was selected on Data. Select the run that suggests labels, unless it "
            "is labelled already.",
            "{n} documents were selected on Data. Select the run that suggests labels for "
            "those not labelled yet.",
            len(state.asked),
        )
        self._asked.set(message.format(n=formats.count(len(state.asked))) if state.asked else "")
        self._for_these.setEnabled(self._suggest.isEnabled())
        self._show_spans()
        text, tone = self._what_to_say(run)
        self._message.set(
            text,
            tone,
            run.failure.details if tone != "accent" and text != self._selection.problem else "",
        )
        self._keep.setVisible(bool(text) and self._selection.can_keep_checkpoint)
        self._resume.setVisible(bool(text) and self._selection.can_resume)

    def _show_spans(self) -> None:
        """The spans that a run of relations connects: those of the layer, or of a run."""
        selection = self._selection
        runs, chosen = selection.span_runs, selection.spans_run
        self._spans_line.setVisible(bool(runs))
        named = [(run.id, run.name) for run in runs]
        fill(self._spans, [(None, _("Labelled spans")), *named], chosen.id if chosen else None)
        self._whole.setEnabled(selection.can_score_whole)

    def _show_advice(self) -> None:
        """What the training suggests to do next, beside its scores."""
        state = self.state
        rising, below = self._selection.advice.rising, self._selection.advice.below
        on_scores = state.part == "scores"
        self._longer.set(rising.sentence(score_text) if rising and on_scores else "")
        self._longer_button.setEnabled(self._selection.can_train_again)
        self._better.set(below.sentence(score_text) if below and on_scores else "")
        known = below is not None and below.run is not None
        self._better_button.setText(_("Compare") if known else _("Add baseline"))
        self._better_button.setAccessibleName(
            _("Compare with this baseline") if known else _("Add this baseline")
        )
        self._better_button.setEnabled(known or not state.project.read_only)

    def _show_picker(self, whole: bool) -> None:
        """Where the list of runs is hidden, a box of the finished ones replaces the title."""
        self._picker.setVisible(whole)
        self._title.setVisible(not whole)
        self._acts.setVisible(not whole)
        if not whole:
            return
        runs = [
            run
            for run in self._selection.runs
            if run.status in FINISHED or run.id in self._selection.chosen
        ]
        if [self._picker.itemData(at) for at in range(self._picker.count())] != [
            run.id for run in runs
        ]:
            self._picker.clear()
            for run in runs:
                self._picker.addItem(f"{run.name} · {title_of(run)}", run.id)
        self._picker.setCurrentIndex(self._picker.findData(self._selection.shown_run.id))

    def _what_to_say(self, run: Run) -> tuple[str, str]:
        text = f"{run.failure.message} {run.failure.hint}".strip()
        if run.status in ("waiting", "running"):
            return _("This run is still running; see the Train page."), "accent"
        if run.status == "interrupted":
            return text or _("The application exited during this run."), "warn"
        if text and run.status not in ("done", "stopped"):
            return text, "bad"
        header = self._selection.resumed_state
        if header is not None and run.status == "stopped":
            message = _(
                "Stopped after step {step} of {total}. The run can be continued.",
                step=formats.count(header.step),
                total=formats.count(header.total),
            )
            return message, "accent"
        if header is None and self._selection.can_resume:
            message = ngettext(
                "{answered:,} of {n:,} prompt of this run is answered.",
                "{answered:,} of {n:,} prompts of this run are answered.",
                run.spec.get("documents", 0),
                answered=run.result.get("n", 0),
            )
            return message, "accent"
        if reason := missing_task(run):
            return reason, "warn"
        if self._selection.lost_weights:
            return _(
                "The weights of this run are missing: there is no folder {folder}.",
                folder=self._selection.folder / "model",
            ), "warn"
        return self._selection.problem, "warn"

    # ---------------------------------------------------------------- actions with dialogs

    def delete(self) -> None:
        from workbench.ui.panels.results.dialogs import DeleteRuns

        runs = self._selection.chosen_runs
        if (
            runs
            and not self.state.project.read_only
            and DeleteRuns(self, self._selection, runs).exec()
        ):
            self.state.actions.delete()

    def resume(self) -> None:
        """Continue the selected run; a training that has ended is asked for more epochs."""
        from workbench.ui.dialogs.more_epochs import MoreEpochs

        header = self._selection.resumed_state
        if header is None or self._selection.shown_run.status != "done":
            self.state.actions.resume()
        elif self._selection.can_resume:
            dialog = MoreEpochs(
                self, self._selection.shown_run.name, header.epochs, self._selection.most_epochs
            )
            if dialog.exec():
                self.state.actions.resume(dialog.epochs)

    def import_predictions(self) -> None:
        path, _kind = QFileDialog.getOpenFileName(self, _("File with predictions"))
        if path:
            self.state.actions.import_predictions(Path(path))

    def rename(self) -> None:
        self._left.rename()

    def organise(self) -> None:
        from workbench.ui.panels.results.dialogs import OrganiseRuns

        if self._selection.can_delete:
            OrganiseRuns(self, self.state.listing, self._selection.runs).exec()

    def _export_board(self) -> None:
        board = self._body.widget(1)
        if isinstance(board, BoardView) and self.state.board.board is not None:
            board.export()

    def apply_to_files(self) -> None:
        from workbench.ui.panels.results.dialogs import ApplyToFiles

        if self._selection.can_answer:
            ApplyToFiles(self, self._selection).exec()

    def _fill_compare(self) -> None:
        self._compare_menu.clear()
        for run in self._selection.others():
            action = self._compare_menu.addAction(
                escaping.menu_text(f"{run.name}  ({main_score(run)})")
            )
            action.triggered.connect(lambda _checked=False, id=run.id: self._compare_with(id))

    def _fill_baselines(self) -> None:
        menu, state = self._baseline_menu, self.state
        menu.clear()
        offers = self._selection.baselines()
        one_layer = len({offer.layer for offer in offers}) < 2
        for offer in offers:
            message = offer.title if one_layer else f"{offer.layer} · {offer.title}"
            action = menu.addAction(escaping.menu_text(message))
            action.triggered.connect(
                lambda _checked=False, offer=offer: state.actions.add_baselines((offer,))
            )
        if not offers:
            menu.addAction(_("No baseline fits the layers")).setEnabled(False)
        if one_layer and len(offers) > 1:
            menu.addSeparator()
            menu.addAction(_("All of them")).triggered.connect(
                lambda: state.actions.add_baselines(offers)
            )

    def _compare_with(self, id: int) -> None:
        self._selection.choose((self._selection.chosen[0], id))
        self._runs.setFocus()  # this button is now disabled; Qt would move the focus to Delete

    # ---------------------------------------------------------------- layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.width() > theme.px(1240)
        room = self.width() - theme.px(610)  # width left by the buttons of a run
        list_width = theme.px(420 if self.width() > theme.px(1600) else 340)
        narrow = min(theme.px(280), max(NARROW_LIST, room))
        self._left.setFixedWidth(list_width if wide else narrow)
        self._left.arrange(wide)
        shortened = (
            (self._compare, _("Compare with…")),
            (self._import, _("Import predictions…")),
            (self._delete, _("Delete…")),
        )
        for button, text in shortened:
            button.shorten(self.width() < theme.px(NARROW_WIDTH), text)
        self._fit_head()
        super().resizeEvent(event)

    def _fit_head(self) -> None:
        if self._head is None:
            return
        beside = self.width() - self._left.width() > theme.px(1020)
        self._head.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
