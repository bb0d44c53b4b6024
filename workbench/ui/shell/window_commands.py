"""Commands of the main window: the contents of each menu except for the pages' own commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.base.manifest import Contribution
from workbench.ui.commands import SEPARATOR, Command, MenuChoice
from workbench.ui.shell import recent, undo_steps
from workbench.ui.style import escaping

if TYPE_CHECKING:
    from workbench.ui.app import App
    from workbench.ui.shell.window import Window

RECENT = 8  # maximum number of projects in the submenu
LONGEST_FOLDER = 48  # maximum length of a folder name there, in characters


def has_project(window: Window) -> bool:
    return window.app.project is not None


def can_write(window: Window) -> bool:
    project = window.app.project
    return project is not None and not (project.read_only or project.busy or window.app.working)


def has_documents(window: Window) -> bool:
    return has_project(window) and window.app.any_documents()


def may_close(window: Window) -> bool:
    return has_project(window) and not window.app.working


def window_commands() -> tuple[Command, ...]:
    """Commands of the File, Edit, View, Run and Help menus; the target is the window."""
    return (*_file(), *_edit(), *_view(), *_run(), *_help())


def page_commands(pages: Sequence[Contribution]) -> tuple[Command, ...]:
    """One command for each page, with Ctrl+Alt+1 … 9."""
    return tuple(
        Command(
            f"page.{page.id}",
            _(page.title),
            _going(page.id),
            "View",
            f"Ctrl+Alt+{number}",
            checked=_shows(page.id),
            group="pages",
        )
        for number, page in enumerate(pages, 1)
    )


def _file() -> tuple[Command, ...]:
    return (
        Command(
            "new",
            _("&New project…"),
            lambda w: w.app.act("new"),
            "File",
            "Ctrl+N",
            group="open",
        ),
        Command("open", _("&Open…"), lambda w: w.app.act("open"), "File", "Ctrl+O", group="open"),
        Command(
            "recent",
            _("Open &recent"),
            menu="File",
            enabled=lambda w: bool(w.app.settings.recent),
            choices=lambda w: recent_choices(w.app),
            group="open",
        ),
        Command(
            "sample",
            _("Open the &sample project"),
            lambda w: w.app.act("sample"),
            "File",
            group="open",
        ),
        Command(
            "welcome",
            _("&Welcome page"),
            lambda w: w.go("welcome"),
            "File",
            "Ctrl+Alt+0",
            enabled=lambda w: w.page != "welcome",
            group="open",
        ),
        Command(
            "import",
            _("&Import data…"),
            lambda w: w.go("data", dialog="import"),
            "File",
            "Ctrl+I",
            enabled=can_write,
            group="data",
        ),
        Command(
            "export-data",
            _("&Export data…"),
            lambda w: w.go("data", dialog="export"),
            "File",
            "Ctrl+Alt+E",
            enabled=has_documents,
            group="data",
        ),
        Command(
            "people",
            _("Peop&le…"),
            lambda w: w.app.act("people"),
            "File",
            enabled=has_project,
            group="people",
        ),
        Command(
            "assign",
            _("Assi&gn documents…"),
            lambda w: w.app.act("assign"),
            "File",
            enabled=lambda w: can_write(w) and has_documents(w),
            group="people",
        ),
        Command(
            "merge",
            _("&Merge…"),
            lambda w: w.app.act("merge"),
            "File",
            enabled=can_write,
            group="people",
        ),
        Command(
            "versions",
            _("&Versions…"),
            lambda w: w.app.act("versions"),
            "File",
            enabled=can_write,
            group="data",
        ),
        Command(
            "close",
            _("&Close project"),
            lambda w: w.app.leave_project(),
            "File",
            "Ctrl+W",
            enabled=may_close,
            group="close",
        ),
        Command(
            "settings",
            _("Se&ttings…"),
            lambda w: w.app.act("settings"),
            "File",
            "Ctrl+,",
            group="settings",
        ),
        Command("quit", _("&Quit"), lambda w: w.close(), "File", "Ctrl+Q", group="quit"),
    )


def recent_choices(app: App) -> tuple[MenuChoice | None, ...]:
    """Entries of File ▸ Open recent: one per project, disabled if the file is missing; then Clear
    list.
    """
    choices = [
        MenuChoice(
            recent_title(project),
            partial(app.open_project, project.path),
            enabled=not project.missing,
        )
        for project in recent.projects(app.settings.recent[:RECENT])
    ]
    return (*choices, SEPARATOR, MenuChoice(_("&Clear list"), app.clear_recent))


def recent_title(item: recent.Recent) -> str:
    folder = str(Path(item.folder).parent)
    if len(folder) > LONGEST_FOLDER:
        folder = f"{folder[: LONGEST_FOLDER // 2]}…{folder[-LONGEST_FOLDER // 2 :]}"
    message = _("{name}  ({folder}, not found)") if item.missing else _("{name}  ({folder})")
    return escaping.menu_text(message.format(name=item.name, folder=folder))


def _edit() -> tuple[Command, ...]:
    return (
        Command(
            "undo",
            undo_title,
            lambda w: w.app.undo(),
            "Edit",
            "Ctrl+Z",
            enabled=can_undo,
            group="undo",
            name=_("Undo"),
        ),
        Command(
            "redo",
            redo_title,
            lambda w: w.app.redo(),
            "Edit",
            ("Ctrl+Shift+Z", "Ctrl+Y"),
            enabled=can_redo,
            group="undo",
            name=_("Redo"),
        ),
        *_clipboard(),
        Command(
            "find",
            _("&Find"),
            lambda w: w.shown_panel.find(),
            "Edit",
            "Ctrl+F",
            enabled=lambda w: w.shown_panel is not None and w.shown_panel.can_find,
            group="find",
        ),
        Command(
            "palette",
            _("Find a co&mmand…"),
            lambda w: w.app.act("palette"),
            "Edit",
            "Ctrl+Shift+P",
            group="find",
        ),
    )


def _clipboard() -> tuple[Command, ...]:
    def edit(id: str, title: str, keys: str, can: str) -> Command:
        return Command(
            id,
            title,
            lambda w: getattr(w.editing, id.replace("-", "_"))(),
            "Edit",
            keys,
            enabled=lambda w: getattr(w.editing, can),
            group="clipboard",
        )

    return (
        edit("cut", _("Cu&t"), "Ctrl+X", "can_cut"),
        edit("copy", _("&Copy"), "Ctrl+C", "can_copy"),
        edit("paste", _("&Paste"), "Ctrl+V", "can_paste"),
        edit("select-all", _("Select &all"), "Ctrl+A", "can_select_all"),
    )


def _view() -> tuple[Command, ...]:
    return (
        Command(
            "back",
            _("Bac&k"),
            lambda w: w.back(),
            "View",
            "Alt+Left",
            enabled=lambda w: w.can_go_back,
            group="back",
        ),
        Command(
            "larger",
            _("&Larger text"),
            lambda w: w.app.change_text_size(1),
            "View",
            ("Ctrl++", "Ctrl+="),
            enabled=lambda w: w.app.can_change_text_size(1),
            group="size",
        ),
        Command(
            "smaller",
            _("S&maller text"),
            lambda w: w.app.change_text_size(-1),
            "View",
            "Ctrl+-",
            enabled=lambda w: w.app.can_change_text_size(-1),
            group="size",
        ),
        Command(
            "usual",
            _("&Reset text size"),
            lambda w: w.app.change_text_size(0),
            "View",
            "Ctrl+0",
            enabled=lambda w: w.app.can_change_text_size(0),
            group="size",
        ),
        *(
            Command(
                f"theme.{name}",
                title,
                _changing_theme(name),
                "View",
                checked=_uses_theme(name),
                group="theme",
            )
            for name, title in (
                ("system", _("Use s&ystem theme")),
                ("light", _("L&ight")),
                ("dark", _("&Dark")),
            )
        ),
        Command(
            "dock.jobs",
            _("&Jobs"),
            lambda w: w.toggle_dock("jobs"),
            "View",
            "Ctrl+Alt+J",
            enabled=has_project,
            checked=lambda w: w.dock_shown("jobs"),
            group="docks",
        ),
        Command(
            "dock.history",
            _("&History"),
            lambda w: w.toggle_dock("history"),
            "View",
            "Ctrl+Alt+H",
            enabled=has_project,
            checked=lambda w: w.dock_shown("history"),
            group="docks",
        ),
        Command(
            "tear-off",
            _("Page in its own &window"),
            lambda w: w.tear_off(),
            "View",
            "Ctrl+Shift+W",
            enabled=lambda w: w.can_tear_off,
            group="docks",
        ),
        Command(
            "full-screen",
            _("&Full screen"),
            _full_screen,
            "View",
            "F11",
            checked=lambda w: w.isFullScreen(),
            group="docks",
        ),
    )


def _run() -> tuple[Command, ...]:
    return (
        Command(
            "stop-run",
            _("&Stop run and keep best"),
            lambda w: w.app.stop_jobs(),
            "Run",
            enabled=_running,
            group="stop",
        ),
        Command(
            "jobs",
            _("Show &jobs"),
            lambda w: w.toggle_dock("jobs", True),
            "Run",
            enabled=lambda w: has_project(w) and not w.dock_shown("jobs"),
            group="stop",
        ),
        Command(
            "clear-jobs",
            _("Clear &finished jobs"),
            lambda w: w.app.clear_ended_jobs(),
            "Run",
            enabled=lambda w: bool(w.app.ended_jobs()),
            group="stop",
        ),
    )


def _help() -> tuple[Command, ...]:
    return (
        Command(
            "keys",
            _("&Keyboard shortcuts"),
            lambda w: w.app.act("keys"),
            "Help",
            "F1",
            group="help",
        ),
        Command(
            "system-check",
            _("&System check…"),
            lambda w: w.app.act("system-check"),
            "Help",
            group="log",
        ),
        Command("log", _("Open &log file"), lambda w: w.app.act("log"), "Help", group="log"),
        Command(
            "diagnostics",
            _("Copy &diagnostics"),
            lambda w: w.app.act("diagnostics"),
            "Help",
            group="log",
        ),
        Command(
            "about", _("&About Glossbench"), lambda w: w.app.act("about"), "Help", group="about"
        ),
    )


def _going(page: str) -> Callable[[Window], None]:
    return lambda window: window.visit(page)


def _shows(page: str) -> Callable[[Window], bool]:
    return lambda window: window.page == page


def _changing_theme(name: str) -> Callable[[Window], None]:
    return lambda window: window.app.change_theme(name)


def _uses_theme(name: str) -> Callable[[Window], bool]:
    return lambda window: window.app.settings.theme == name


def undo_title(window: Window) -> str:
    step = undo_steps.title(window.app, "undo")
    return _("&Undo – {step}", step=escaping.menu_text(step)) if step else _("&Undo")


def redo_title(window: Window) -> str:
    step = undo_steps.title(window.app, "redo")
    return _("&Redo – {step}", step=escaping.menu_text(step)) if step else _("&Redo")


def can_undo(window: Window) -> bool:
    return can_write(window) and undo_steps.title(window.app, "undo") is not None


def can_redo(window: Window) -> bool:
    return can_write(window) and undo_steps.title(window.app, "redo") is not None


def _running(window: Window) -> bool:
    return bool(window.app.active_jobs())


def _full_screen(window: Window) -> None:
    window.showNormal() if window.isFullScreen() else window.showFullScreen()
