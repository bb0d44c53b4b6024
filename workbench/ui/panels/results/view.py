"""The Results page: runs on the left, one run or two side by side on the right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QTabBar,
    QVBoxLayout,
)

from workbench.base.events import ALL, concerns
from workbench.base.i18n import N_, _, ngettext
from workbench.ui import formats, plain, theme
from workbench.ui.commands import SEPARATOR, Choice
from workbench.ui.formats import size, when_iso
from workbench.ui.panel import WatchingView
from workbench.ui.panels.results.comparison import ComparisonView
from workbench.ui.panels.results.details import told_again
from workbench.ui.panels.results.errors import ErrorsView
from workbench.ui.panels.results.quality import QualityView
from workbench.ui.panels.results.scores import ScoresView
from workbench.ui.panels.results.state import FINISHED, ResultsState
from workbench.ui.panels.results.tabs import FilesView, SettingsView
from workbench.ui.run_words import main_score, short_title, title_of
from workbench.ui.waits import Waits, of_project
from workbench.ui.widgets.button import Button, icon_button
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.chip import Chip
from workbench.ui.widgets.context_menu import RowMenu
from workbench.ui.widgets.delegates import RUN_TONES
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.job_row import status_words
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import column, layout_of, row
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.wait_line import WaitLine
from workbench.ui.widgets.words import Elided, words

if TYPE_CHECKING:
    from workbench.storage.runs import Run

ICONS = {
    "done": ("circle-check", "good"),
    "stopped": ("circle-check", "good"),
    "running": ("activity", "accent"),
    "waiting": ("clock", "faint"),
    "interrupted": ("triangle-alert", "warn"),
}
NARROW_LIST = 260  # minimum width of the run list in pixels
NONE, ONE, TWO = range(3)  # number of runs shown on the right side
PARTS = {
    "scores": N_("Scores"),
    "errors": N_("Errors"),
    "quality": N_("Quality"),
    "settings": N_("Settings"),
    "files": N_("Files"),
}
WHOLE_WIDTH = ("errors", "quality")  # parts that a list of runs would leave too little room
ERRORS = tuple(PARTS).index("errors")


class _Part(Protocol):
    """A tab or the comparison, a page of a LaterStack."""

    def render_part(self, fields: frozenset[str]) -> None: ...


class ResultsView(WatchingView):
    state: ResultsState

    def __init__(self, state: ResultsState):
        super().__init__(state)
        self._compare_menu = QMenu(self)
        self._compare_menu.aboutToShow.connect(self._fill_compare)
        self._compare = Button(
            _("Compare with…"), "panel-left", menu=self._compare_menu, name=_("Compare with")
        )
        self._baseline_menu = QMenu(self)
        self._baseline_menu.aboutToShow.connect(self._fill_baselines)
        self._baseline = Button(_("Add baseline"), "plus", menu=self._baseline_menu)
        self._delete = Button(
            _("Delete…"), "trash-2", "danger", on=self.delete, name=_("Delete run")
        )
        self._train_again = Button(
            _("Train again"),
            "play",
            "primary",
            on=state.train_again,
            tip=_("Use the same settings on the current labels"),
            name=_("Train again with these labels"),
        )
        self._header = PageHeader(
            _("Results"), "", self._baseline, self._compare, self._delete, self._train_again
        )
        self._runs = self._run_table()
        self.first = self._runs
        self._left = QFrame()
        self._left.setProperty("part", "side")
        beside = QVBoxLayout(self._left)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(self._runs)
        self._head: QBoxLayout | None = None
        self._right = LaterStack(self._no_run, self._one_run, lambda: ComparisonView(state))
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self._left)
        body.addWidget(self._right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addLayout(body, 1)

    # ---------------------------------------------------------------- parts

    def _run_table(self) -> Table:
        columns = (
            Column(
                _("Run"),
                lambda run: run.name,
                icon=lambda run: ICONS.get(run.status, ("circle-x", "bad")),
                tip=lambda run: f"{run.name}: {status_words(run.status)}",
            ),
            Column(
                _("Task"),
                short_title,
                66,
                tip=title_of,
            ),
            Column(
                _("Dev"),
                main_score,
                54,
                right=True,
                hint=_("Macro F1 (for tagging: strict span F1) on dev, as run"),
            ),
            Column(
                _("When"),
                lambda run: when_iso(run.at, brief=True),
                82,
                tip=lambda run: run.at,
                sort=lambda run: run.at,
            ),
        )
        table = Table(columns, name=_("Runs"), key=lambda run: run.id, many=True, sortable=True)
        table.chosen.connect(
            lambda: self.state.choose(tuple(run.id for run in table.chosen_rows()[:2]))
        )
        table.removed.connect(self.delete)
        RowMenu(table, self._run_choices)
        return table

    def _run_choices(self) -> tuple[Choice | None, ...]:
        """Actions on one or two selected runs; the keys are those of the Run menu."""
        state, average = self.state, self.state.averaging
        names = "\n".join(run.name for id in state.chosen if (run := state.run_of(id)))
        delete = ngettext("&Delete run…", "&Delete {n} runs…", len(state.chosen))
        copy = ngettext("Copy na&me", "Copy na&mes", len(state.chosen))
        return (
            _run_choice("suggest", _("&Suggest with this run"), state.suggest, state.can_suggest),
            _run_choice("inspect", _("&Inspect this run"), state.inspect, state.usable),
            _run_choice("apply", _("A&pply to files…"), self.apply_to_files, state.usable),
            _run_choice("export", _("&Export model"), state.export, state.usable),
            SEPARATOR,
            _run_choice("again", _("Train &again"), state.train_again, state.can_train_again),
            _run_choice("test", _("Show &test score"), state.show_test, state.can_show_test),
            _run_choice("errors", _("Review e&rrors"), state.open_first_error, bool(state.errors)),
            _run_choice("average", _("A&verage two runs"), average.start, not average.problem),
            SEPARATOR,
            Choice(copy, lambda: QGuiApplication.clipboard().setText(names)),
            _run_choice(
                "delete", delete.format(n=len(state.chosen)), self.delete, state.can_delete
            ),
        )

    def _no_run(self) -> EmptyState:
        train = lambda: self.state.context.go("train")  # noqa: E731
        lead = Button(_("Train a model"), "play", "primary", on=train)
        hint = _("A run is one training. Its scores, errors and model are shown here.")
        return EmptyState("chart-column", _("No runs yet"), hint, lead)

    def _one_run(self) -> QFrame:
        state = self.state
        self._title, self._chip = (
            Elided("", "heading", weight=600, mode=Qt.TextElideMode.ElideMiddle),
            Chip(""),
        )
        self._suggest = Button(
            _("Suggest with this run"), "sparkles", small=True, on=lambda: state.suggest()
        )
        self._inspect = Button(
            _("Inspect"), "scan-search", small=True, on=state.inspect, name=_("Inspect this run")
        )
        self._apply = Button(
            _("Apply to files…"), "folder-open", small=True, on=self.apply_to_files
        )
        self._again = Button(
            _("Train again"),
            "rotate-ccw",
            small=True,
            on=state.train_again,
            tip=_("Use the same settings on the current labels"),
        )
        self._export = Button(
            _("Export model"), "package-open", "primary", small=True, on=state.export
        )
        self._picker = QComboBox()
        self._picker.setAccessibleName(_("Run"))
        self._picker.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._picker.activated.connect(lambda _at: state.choose((self._picker.currentData(),)))
        self._acts = acts = flow(
            self._suggest, self._inspect, self._apply, self._again, None, self._export, gap=6
        )
        self._title.setSizePolicy(
            QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed
        )  # the chip is placed after the text
        head = row((row(self._picker, self._title, self._chip, None), 1), acts, gap=10)
        self._head = layout_of(head)
        self._fit_head()
        self._keep = Button(_("Keep best checkpoint"), small=True, on=state.keep_checkpoint)
        self._message = Callout("", "bad", self._keep)
        leave = icon_button(
            "x", _("Do not suggest for them"), lambda: state.update(asked=()), small=True
        )
        self._for_these = Button(
            _("Suggest for these"), "sparkles", small=True, on=state.suggest_asked
        )
        self._asked = Callout("", "accent", self._for_these, leave)
        self._again_told = Callout("", "accent", icon="rotate-ccw")
        self._busy = words("", "small", "accent")
        self._waiting = WaitLine(Waits(state.context.queue, of_project(state.project, "predict")))
        self._tabs = QTabBar()
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.setAccessibleName(_("Parts of the run"))
        kinds = (ScoresView, ErrorsView, QualityView, SettingsView, FilesView)
        make = [lambda kind=kind: kind(state) for kind in kinds]
        self._pages = LaterStack(*make, made=self._fill_tab)
        for name in PARTS.values():
            self._tabs.addTab(_(name))
        self._tabs.currentChanged.connect(lambda at: state.update(part=tuple(PARTS)[at]))
        return column(
            head,
            self._asked,
            self._message,
            self._again_told,
            row((self._tabs, 1), self._busy, self._waiting),
            (self._pages, 1),
            gap=10,
            margins=(20, 14, 20, 16),
        )

    def _fill_tab(self, number: int) -> None:
        if self.state.run is not None:
            cast(_Part, self._pages.widget(number)).render_part(ALL)

    def take_focus(self) -> None:
        """The list of errors where it is shown, as the user returns to it from a document."""
        if self.state.part == "errors" and self.state.run is not None:
            page = self._pages.widget(ERRORS)
            cast(ErrorsView, page).table.setFocus()
        else:
            super().take_focus()

    # ---------------------------------------------------------------- render

    def prepare(self) -> Iterator[None]:
        if self.state.run is not None:
            self._right.widget(ONE)
            yield
            self._pages.widget(0)
            yield
        yield from super().prepare()

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        if concerns(fields, "runs", "bytes_on_disk"):
            many = len(state.runs)
            hint = ngettext("{n} run · {size} on disk", "{n} runs · {size} on disk", many).format(
                n=many, size=size(state.bytes_on_disk)
            )
            self._header.set_hint(hint if many else _("Scores, errors and settings of each run"))
            self._runs.set_rows(state.runs)
        if concerns(fields, "chosen", "runs"):
            self._runs.choose(set(state.chosen))
        whole = state.part in WHOLE_WIDTH and state.run is not None
        self._left.setVisible(bool(state.runs) and not whole)
        self._train_again.setVisible(whole)
        self._train_again.setEnabled(state.can_train_again)
        two = len(state.chosen) == 2
        self._right.setCurrentIndex(TWO if two else ONE if state.run is not None else NONE)
        self._delete.setEnabled(state.can_delete)
        self._baseline.setEnabled(not state.project.read_only)
        self._compare.setEnabled(bool(state.others()))
        if state.run is not None:
            part = tuple(PARTS).index(state.part)
            self._tabs.setCurrentIndex(part)
            self._pages.setCurrentIndex(part)
            self._render_run()
            self._show_picker(whole)
            for number in self._pages.made():
                cast(_Part, self._pages.widget(number)).render_part(fields)
        if two:
            cast(_Part, self._right.widget(TWO)).render_part(fields)

    def _render_run(self) -> None:
        state, run = self.state, self.state.shown_run
        model = run.spec.get("model_name") or run.spec.get("model", "")
        self._title.setText(
            " · ".join(part for part in (run.name, title_of(run), str(model)) if part)
        )
        self._chip.set(status_words(run.status), tone=RUN_TONES.get(run.status, ""))
        self._suggest.setEnabled(state.can_suggest)
        for button in (self._inspect, self._apply, self._export):
            button.setEnabled(state.usable)
        self._again.setEnabled(state.can_train_again)
        title = _(PARTS["errors"])
        if state.details is not None:
            title = f"{title}  {formats.count(state.details.results.mistakes)}"
        self._tabs.setTabText(ERRORS, title)
        self._again_told.set(told_again(state.details.again) if state.details else "")
        self._busy.setText(state.busy)
        asked = ngettext(
            "{n} document was selected on Data. Select the run that suggests labels, unless it "
            "is labelled already.",
            "{n} documents were selected on Data. Select the run that suggests labels for "
            "those not labelled yet.",
            len(state.asked),
        )
        self._asked.set(asked.format(n=len(state.asked)) if state.asked else "")
        self._for_these.setEnabled(self._suggest.isEnabled())
        text, tone = self._what_to_say(run)
        self._message.set(
            text,
            tone,
            run.failure.details if tone != "accent" and text != state.problem else "",
        )
        self._keep.setVisible(bool(text) and state.can_keep_checkpoint)

    def _show_picker(self, whole: bool) -> None:
        """Where the list of runs is hidden, a box of the finished ones replaces the title."""
        state = self.state
        self._picker.setVisible(whole)
        self._title.setVisible(not whole)
        self._acts.setVisible(not whole)
        if not whole:
            return
        runs = [run for run in state.runs if run.status in FINISHED or run.id in state.chosen]
        if [self._picker.itemData(at) for at in range(self._picker.count())] != [
            run.id for run in runs
        ]:
            self._picker.clear()
            for run in runs:
                self._picker.addItem(f"{run.name} · {title_of(run)}", run.id)
        self._picker.setCurrentIndex(self._picker.findData(state.shown_run.id))

    def _what_to_say(self, run: Run) -> tuple[str, str]:
        told = f"{run.failure.message} {run.failure.hint}".strip()
        if run.status in ("waiting", "running"):
            return _("This run is still running; see the Train page."), "accent"
        if run.status == "interrupted":
            return told or _("The application exited during this run."), "warn"
        if told and run.status not in ("done", "stopped"):
            return told, "bad"
        if run.kind == "train" and not self.state.weights_here:
            return _("The weights of this run are missing: there is no folder {folder}.").format(
                folder=self.state.folder / "model"
            ), "warn"
        return self.state.problem, "warn"

    # ---------------------------------------------------------------- actions with dialogs

    def delete(self) -> None:
        from workbench.ui.panels.results.dialogs import DeleteRuns

        runs = [run for id in self.state.chosen if (run := self.state.run_of(id)) is not None]
        if runs and not self.state.project.read_only and DeleteRuns(self, self.state, runs).exec():
            self.state.delete()

    def apply_to_files(self) -> None:
        from workbench.ui.panels.results.dialogs import ApplyToFiles

        if self.state.usable:
            ApplyToFiles(self, self.state).exec()

    def _fill_compare(self) -> None:
        self._compare_menu.clear()
        for run in self.state.others():
            action = self._compare_menu.addAction(
                plain.menu_text(f"{run.name}  ({main_score(run)})")
            )
            action.triggered.connect(lambda _checked=False, id=run.id: self._compare_with(id))

    def _fill_baselines(self) -> None:
        menu, state = self._baseline_menu, self.state
        menu.clear()
        offers = state.baselines()
        one_layer = len({offer.layer for offer in offers}) < 2
        for offer in offers:
            told = offer.title if one_layer else f"{offer.layer} · {offer.title}"
            action = menu.addAction(plain.menu_text(told))
            action.triggered.connect(
                lambda _checked=False, offer=offer: state.add_baselines((offer,))
            )
        if one_layer and len(offers) > 1:
            menu.addSeparator()
            menu.addAction(_("All of them")).triggered.connect(lambda: state.add_baselines(offers))

    def _compare_with(self, id: int) -> None:
        self.state.choose((self.state.chosen[0], id))
        self._runs.setFocus()  # this button is now disabled; Qt would move the focus to Delete

    # ---------------------------------------------------------------- layout

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.width() > theme.px(1240)
        room = self.width() - theme.px(610)  # width left by the buttons of a run
        list_width = theme.px(420 if self.width() > theme.px(1600) else 340)
        narrow = min(theme.px(280), max(NARROW_LIST, room))
        self._left.setFixedWidth(list_width if wide else narrow)
        self._runs.setColumnHidden(
            1, self._left.width() < theme.px(270)
        )  # the name on the left, the task on the right
        self._runs.setColumnHidden(3, not wide)
        self._fit_head()
        super().resizeEvent(event)

    def _fit_head(self) -> None:
        if self._head is None:
            return
        beside = self.width() - self._left.width() > theme.px(1020)
        self._head.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )


def _run_choice(id: str, title: str, act: Callable[..., Any], can: bool) -> Choice:
    return Choice(title, lambda: act(), can, command=f"results.{id}")
