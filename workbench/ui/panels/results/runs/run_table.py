"""The list of runs: filters, in-place renaming, the menu of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QMenu, QVBoxLayout

from workbench.base.i18n import _, ngettext
from workbench.text.columns import by_key
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panels.results.board.comparison_state import MAX_SYSTEMS
from workbench.ui.panels.results.selection import RunFilter, RunSelection, groups, run_columns, tags
from workbench.ui.style import escaping, theme
from workbench.ui.style.formats import when_iso
from workbench.ui.style.run_text import main_score, short_title, title_of
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.job_row import status_words
from workbench.ui.widgets.layout import row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.context_menu import RowMenu

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run
    from workbench.ui.panels.results.actions import Organising, RunActions

ICONS = {
    "done": ("circle-check", "good"),
    "stopped": ("circle-check", "good"),
    "running": ("activity", "accent"),
    "waiting": ("clock", "faint"),
    "interrupted": ("triangle-alert", "warn"),
}
TASK, GROUP, WHEN = 1, 2, 4


class RunTable(QFrame):
    """delete, apply, organise, resume: actions of the page that open dialogs."""

    def __init__(
        self,
        selection: RunSelection,
        actions: RunActions,
        listing: Organising,
        *,
        delete: Callable[[], None],
        apply: Callable[[], None],
        organise: Callable[[], None],
        resume: Callable[[], None],
    ):
        super().__init__()
        self.setProperty("part", "side")
        self._selection, self._actions, self._listing = selection, actions, listing
        self._delete, self._apply, self._organise = delete, apply, organise
        self._resume = resume
        self._wide = self._grouped = self._one_task = False
        self.table = self._make_table()
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_filter)
        self._filter = Button(_("Filter"), "filter", "quiet", small=True, menu=self._menu)
        self._message = words("", "small", "muted")
        self._head = row(self._filter, (self._message, 1), margins=(8, 6, 8, 4))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._head)
        layout.addWidget(self.table)

    def _make_table(self) -> Table:
        selection, known = self._selection, by_key(run_columns())
        columns = (
            Column.of(
                known["run"],
                icon=_icon,
                tip=_tip,
                edit=lambda run, name: self._listing.rename(run, name),
            ),
            Column(_("Task"), short_title, 76, tip=title_of),
            Column.of(known["group"], 76, tip=_tip),
            Column(
                _("Dev"),
                main_score,
                54,
                right=True,
                hint=_("Macro F1 (for tagging: strict span F1) on dev when the run ended"),
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
        trigger = table.editTriggers()
        table.setEditTriggers(trigger & ~table.EditTrigger.DoubleClicked)
        table.chosen.connect(
            lambda: selection.choose(tuple(run.id for run in table.chosen_rows()[:MAX_SYSTEMS]))
        )
        table.removed.connect(self._delete)
        RowMenu(table, self._choices)
        return table

    def show_runs(self) -> None:
        selection = self._selection
        runs = selection.listed
        self.table.set_rows(runs)
        self._grouped = bool(groups(runs))
        self._one_task = len({title_of(run) for run in runs}) < 2
        self.arrange(self._wide)
        hidden = len(selection.runs) - len(runs)
        organised = groups(selection.runs) or tags(selection.runs) or hidden
        self._head.setVisible(bool(organised))
        message = ngettext("{n} run is hidden", "{n} runs are hidden", hidden)
        self._message.setText(message if hidden else "")

    def arrange(self, wide: bool) -> None:
        """Hide columns in favour of the name; a group is shown in the place of the time."""
        self._wide, room = wide, self.width()
        self.table.setColumnHidden(GROUP, not self._grouped)
        self.table.setColumnHidden(WHEN, self._grouped or not wide)
        least = 400 if self._one_task else 330 if self._grouped else 270
        self.table.setColumnHidden(TASK, room < theme.px(least))

    def rename(self) -> None:
        """Edit the name of the selected run in place."""
        index = self.table.currentIndex()
        if index.isValid():
            self.table.edit(index.siblingAtColumn(0))

    def _fill_filter(self) -> None:
        selection, menu = self._selection, self._menu
        menu.clear()
        now, runs = selection.filter, selection.runs
        everything = RunFilter(archived=now.archived)
        self._add(_("All runs"), everything, now == everything)
        for titles, name, values in (
            (_("Group: {name}"), "group", groups(runs)),
            (_("Tag: {name}"), "tag", tags(runs)),
        ):
            if values:
                menu.addSeparator()
            for value in values:
                on = getattr(now, name) == value
                chosen = RunFilter(**{**vars(now), name: "" if on else value})
                self._add(titles.format(name=value), chosen, on)
        menu.addSeparator()
        other = RunFilter(now.group, now.tag, not now.archived)
        self._add(_("Show archived runs"), other, now.archived)

    def _add(self, title: str, chosen: RunFilter, on: bool) -> None:
        action = self._menu.addAction(escaping.menu_text(title))
        action.setCheckable(True)
        action.setChecked(on)
        action.triggered.connect(lambda _checked=False: self._selection.update(filter=chosen))

    def _choices(self) -> tuple[MenuChoice | None, ...]:
        """Actions on the selected runs; the keys are those of the Run menu."""
        selection, actions, listing = self._selection, self._actions, self._listing
        chosen = selection.chosen_runs
        names = "\n".join(run.name for run in chosen)
        delete = ngettext("&Delete run…", "&Delete {n} runs…", len(chosen))
        copy = ngettext("Copy na&me", "Copy na&mes", len(chosen))
        return (
            _choice("suggest", _("&Suggest with this run"), actions.suggest, selection.can_suggest),
            _choice(
                "inspect", _("&Inspect this run"), actions.inspect, not selection.cannot_inspect
            ),
            _choice("apply", _("A&pply to files…"), self._apply, selection.can_answer),
            _choice("export", _("&Export model"), actions.export, selection.usable),
            SEPARATOR,
            _choice("again", _("Train &again"), actions.train_again, selection.can_train_again),
            _choice("resume", _("C&ontinue this run"), self._resume, selection.can_resume),
            _choice("test", _("Show &test score"), actions.show_test, selection.can_show_test),
            _choice("errors", _("Review e&rrors"), actions.review_errors, bool(selection.errors)),
            _choice("average", _("A&verage two runs"), actions.average, not actions.no_average),
            SEPARATOR,
            _choice("rename", _("Re&name"), self.rename, listing.can_rename),
            _choice("organise", _("&Group, tags and note…"), self._organise, selection.can_delete),
            _choice("archive", listing.archive_title(), listing.archive, selection.can_delete),
            MenuChoice(copy, lambda: QGuiApplication.clipboard().setText(names)),
            _choice("delete", delete, self._delete, selection.can_delete),
        )


def _choice(id: str, title: str, act: Callable[..., Any], can: bool) -> MenuChoice:
    return MenuChoice(title, lambda: act(), can, command=f"results.{id}")


def _icon(run: Run) -> tuple[str, str]:
    if run.listing.archived:
        return "hard-drive", "faint"
    return ICONS.get(run.status, ("circle-x", "bad"))


def _tip(run: Run) -> str:
    listing = run.listing
    lines = [_("{name}: {status}", name=run.name, status=status_words(run.status))]
    if listing.group:
        lines.append(_("Group: {name}", name=listing.group))
    if listing.tags:
        lines.append(_("Tags: {names}", names=", ".join(listing.tags)))
    if listing.archived:
        lines.append(_("Archived"))
    return "\n".join([*lines, *([listing.note] if listing.note else [])])
