"""The main window: rail, one page at a time, docks, menus, status bar.

Pages and menus come from tables; the window contains no logic of pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QByteArray, QRect, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QWidget,
)

from workbench.base.i18n import _
from workbench.base.manifest import BUILTIN, Contribution
from workbench.ui.panel import Panel, PanelContext, View
from workbench.ui.shell import pages
from workbench.ui.shell.menus import Menus
from workbench.ui.shell.navigation_history import HistoryEntry, NavigationHistory
from workbench.ui.shell.rail import Rail
from workbench.ui.style import escaping, icons, theme
from workbench.ui.widgets.callout import Banner
from workbench.ui.widgets.layout import fill
from workbench.ui.widgets.note_line import NoteLine
from workbench.ui.widgets.pages import Pages

if TYPE_CHECKING:
    from workbench.ui.app import App
    from workbench.ui.shell.status import Status


class DetachedPage(QMainWindow):
    """Holds one page; closing it returns the page to the main window.

    The main window's shortcuts work here too.
    """

    def __init__(
        self, title: str, view: QWidget, main: QMainWindow, given_back: Callable[[], None]
    ):
        super().__init__()
        self._given_back = given_back
        self.setWindowTitle(f"{title} – Glossbench")
        self.setWindowIcon(main.windowIcon())
        self.setStyleSheet(main.styleSheet())
        self.setCentralWidget(view)
        self.addActions(main.actions())
        self.resize(main.size() * 0.85)
        view.show()

    def take(self) -> QWidget | None:
        """Return the page, which this window no longer owns."""
        return self.takeCentralWidget()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._given_back()
        event.accept()


START = "welcome"
DOCK = 190  # initial height of a dock


class Window(QMainWindow):
    """The window of one project.

    The app calls `show_project`, `go`, `note` and `tell`; everything else is started by the user.
    """

    def __init__(self, app: App):
        super().__init__()
        self.app = app
        self.page = ""
        self._entries = pages.available(app.registry)
        self._panels: dict[str, Panel] = {}
        self._classes: dict[str, type[Panel]] = {}
        self._empties: dict[str, QWidget] = {}
        self._broken: dict[str, QWidget] = {}  # plugins' pages that have failed
        self._docks: dict[str, QDockWidget] = {}
        self._torn: dict[str, DetachedPage] = {}
        self._commands_loaded = False
        self._steps: Iterator[None] | None = None  # of the page that `visit` is building
        self._trail = NavigationHistory()
        self.status: Status | None = None
        self.setWindowIcon(icons.app_icon())
        self.setAcceptDrops(True)
        self.setMinimumSize(960, 600)
        self._build()
        self._restore()

    # ---------------------------------------------------------------- construction

    def pages(self) -> tuple[Contribution, ...]:
        """The available pages of the rail, in order."""
        return tuple(
            entry for entry in self._entries.values() if entry.options.get("place") == "page"
        )

    def panels(self) -> tuple[Contribution, ...]:
        """All available pages and docks."""
        return tuple(self._entries.values())

    def _build(self) -> None:
        self.menus = Menus(self, self.app.settings, lambda: self.page, self.go)
        self.rail = Rail(self.pages(), self.visit)
        self.stack = Pages()
        self.banner = Banner()
        right, centre = QWidget(), QWidget()
        fill(right, self.banner, (self.stack, 1), gap=0)
        beside = QHBoxLayout(centre)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(0)
        beside.addWidget(self.rail)
        beside.addWidget(right, 1)
        self.setCentralWidget(centre)
        self.note_line = NoteLine(self, free=self._room_for_notes)
        self.note_line.left.connect(self._focus_page)
        self.rail.hide()

    def load_commands(self) -> None:
        """Create menus, shortcuts, status bar and docks: everything that the first paint does not
        need.
        """
        if self._commands_loaded:
            return
        self._commands_loaded = True
        from workbench.ui.shell.editing import Editing
        from workbench.ui.shell.status import Status
        from workbench.ui.shell.window_commands import page_commands, window_commands

        self.editing = Editing(self)

        self.menus.add(page_commands(self.pages()), "", lambda: self)
        self.menus.add(window_commands(), "", lambda: self)
        for entry in self._entries.values():
            if entry.options.get("place") != START:
                with pages.contained(self.app.registry, entry):
                    commands = self.panel_class(entry.id).commands
                    self.menus.add(commands, entry.id, partial(self._panels.get, entry.id))
        self.status = Status(lambda: self.go("train"), lambda: self.app.act("people"))
        self.setStatusBar(self.status)
        self.status.setVisible(self.page != START)
        self.status.show_project(self.app.project)
        self.status.show_device(self.app.settings)
        self.app.person_changed()
        self.app.started()

    def panel_class(self, id: str) -> type[Panel]:
        if id not in self._classes:
            self._classes[id] = self.app.registry.get("panel", id)
        return self._classes[id]

    # ---------------------------------------------------------------- pages

    def visit(self, page: str, **args: Any) -> None:
        """Show a page as `go` does, but build a new one over several turns of the event loop.

        Keys and clicks are handled between the turns; another `go` or `visit` takes precedence.
        """
        self._steps = self._build_steps(page, args)
        self._build_next(page, self._steps)

    def _build_next(self, page: str, steps: Iterator[None]) -> None:
        if steps is not self._steps:
            return
        try:
            next(steps)
        except StopIteration:
            self._steps = None
        except BaseException as error:
            self._steps = None
            if self._fails(page, error):
                self._show(page)
                return
            self.rail.show_chosen(self.page)
            raise
        else:
            QTimer.singleShot(0, lambda: self._build_next(page, steps))

    def _build_steps(self, page: str, args: dict[str, Any]) -> Iterator[None]:
        if page in self._entries and page not in self._panels and self._can_build(page):
            self.rail.show_chosen(page)
            yield
            panel = self._panels[page] = self.panel_class(page)(PanelContext(self.app, page))
            yield
            view = panel.view
            yield
            self.stack.addWidget(view)  # the style sheet is applied to all its children
            yield
            if not args:
                panel.shown()
                yield
            if isinstance(view, View):
                yield from view.prepare()
            self._show(page)
            if args:
                yield
                panel.shown(**args)
        else:
            self.go(page, **args)

    def go(self, page: str, **args: Any) -> None:
        """Show a page, after building its panel if necessary, and pass `args` to it."""
        self._steps = None
        if page not in self._entries:
            page, args = next((page.id for page in self.pages()), START), {}
        try:
            self._show(page)
            if page in self._panels:
                self._panels[page].shown(**args)
        except Exception as error:
            if not self._fails(page, error):
                raise
            self._show(page)

    def _fails(self, page: str, error: BaseException) -> bool:
        """Whether a page of a plugin has raised this: from now on, its error is shown instead."""
        entry = self._entries.get(page)
        if entry is None or entry.source == BUILTIN or not isinstance(error, Exception):
            return False
        fault = self.app.registry.failed(entry.kind, page, error)
        self._broken[page] = pages.broken(fault, entry, lambda: self.app.act("plugins"))
        self.stack.addWidget(self._broken[page])
        self.bring_back(page)
        if page in self._panels:
            with pages.contained(self.app.registry, entry):  # it may have been built in part
                self._panels.pop(page).close()
        return True

    @property
    def can_go_back(self) -> bool:
        return not self._trail.empty

    def back(self) -> None:
        """Return to the place, on this page or another, that the current one was opened from."""
        place = self._trail.pop(self._place())
        if place is not None:
            with self._trail.resting():
                self.go(place.page, **place.args)
            place.take_focus()

    def remember_place(self) -> None:
        """Let Back return to what the current page shows now."""
        self._trail.push(self._place())
        self.menus.refresh()

    def _place(self) -> HistoryEntry | None:
        if (panel := self._panels.get(self.page)) is not None:
            with pages.contained(self.app.registry, self._entries[self.page]):
                return HistoryEntry(self.page, panel.place(), panel.view.focusWidget())
        return None

    def _show(self, page: str) -> None:
        if page != self.page:
            self._trail.push(self._place())
        self.page = page
        widget = self._widget(page)
        if page in self._torn:
            self._torn[page].raise_()
            self._torn[page].activateWindow()
        else:
            self.stack.setCurrentWidget(widget)
        self.rail.setVisible(page != START or self.app.project is not None)
        self.rail.show_chosen(page)
        if self.status is not None:
            self.status.setVisible(page != START or self.app.project is not None)
        self.menus.refresh()
        panel = self._panels.get(page)
        if panel is not None:
            panel.focus()
        else:
            widget.setFocus()

    def _focus_page(self) -> None:
        if self.page in self._panels:
            self._panels[self.page].focus()

    @property
    def shown_panel(self) -> Panel | None:
        """The panel of the current page; None if it needs a project and none is open."""
        return self._panels.get(self.page)

    def panel(self, page: str) -> Panel | None:
        """The panel of a page that has been built, for tests and commands."""
        return self._panels.get(page)

    def _widget(self, page: str) -> QWidget:
        if page in self._broken:
            return self._broken[page]
        if not self._can_build(page):
            return self._empty(page)
        if page not in self._panels:
            self._panels[page] = self.panel_class(page)(PanelContext(self.app, page))
        view = self._panels[page].view
        if page not in self._torn and self.stack.indexOf(view) < 0:
            self.stack.addWidget(view)
        return view

    def _can_build(self, page: str) -> bool:
        if page in self._broken:
            return False
        if self.app.project is None:
            return not self.panel_class(page).needs_project
        return not (self.panel_class(page).shows_predictions and self.app.is_blind)

    def _empty(self, page: str) -> QWidget:
        """What is shown instead of a page that cannot be."""
        key = page if self.app.project is None else f"blind.{page}"
        if key not in self._empties:
            entry, people = self._entries[page], partial(self.app.act, "people")
            self._empties[key] = (
                pages.no_project(entry, lambda: self.go(START))
                if self.app.project is None
                else pages.blind(people)
            )
            self.stack.addWidget(self._empties[key])
        return self._empties[key]

    def rebuild(self) -> None:
        """Build all pages and docks again, where they are."""
        place = self._place()
        docks = [id for id in self._docks if self.dock_shown(id)]
        self.close_panels()
        if self.status is not None:
            self.status.show_adjudication(False)
        self.go(self.page, **(place.args if place is not None else {}))
        for id in docks:
            self.toggle_dock(id, True)

    def show_project(self) -> None:
        """Show another project, or none: all pages are rebuilt when shown."""
        self.close_panels()
        self._trail.clear()
        self.set_title()
        if self.status is not None:
            self.status.show_adjudication(False)
            self.status.show_project(self.app.project)
        if self.app.project is None:
            self.go(START)

    def set_title(self) -> None:
        project = self.app.project
        name = f"{project.path.name} – Glossbench" if project is not None else "Glossbench"
        self.setWindowTitle(escaping.window_title(name))

    def close_panels(self) -> None:
        self.note_line.hide()  # its action would refer to a closed project
        for id in list(self._torn):
            self.bring_back(id)
        for id, dock in list(self._docks.items()):
            self.app.settings.window[f"dock.{id}"] = dock.isVisible()
            dock.setWidget(cast(QWidget, None))  # Qt accepts a null pointer
            self.removeDockWidget(dock)
            dock.deleteLater()
        self._docks.clear()
        self._steps = None
        for id, panel in list(self._panels.items()):
            # the view stays in the stack until it is deleted: removing it could delete it inside
            # its own signal
            with pages.contained(self.app.registry, self._entries[id]):
                panel.close()
            del self._panels[id]
        for failed in self._broken.values():
            failed.deleteLater()
        self._broken.clear()

    # ---------------------------------------------------------------- docks and torn pages

    def toggle_dock(self, id: str, show: bool | None = None) -> None:
        """Show or hide a dock; it is built when first shown."""
        if id not in self._entries or not self._can_build(id):
            return
        if id in self._docks:
            dock = self._docks[id]
            dock.setVisible(not dock.isVisible() if show is None else show)
        elif show is not False:
            self._docks[id] = self._make_dock(id)

    def dock_shown(self, id: str) -> bool:
        return id in self._docks and self._docks[id].isVisible()

    def _make_dock(self, id: str) -> QDockWidget:
        dock = QDockWidget(_(self._entries[id].title), self)
        dock.setObjectName(f"dock.{id}")
        dock.setAccessibleName(_(self._entries[id].title))
        make, plugins = partial(self._dock_view, id), partial(self.app.act, "plugins")
        dock.setWidget(pages.view(self.app.registry, self._entries[id], make, plugins))
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
        self.resizeDocks([dock], [theme.px(DOCK)], Qt.Orientation.Vertical)
        dock.show()
        beside = [*(dock for dock in self._docks.values() if dock.isVisible()), dock]
        half = self.width() // len(beside)  # else the second one is as narrow as its longest word
        self.resizeDocks(beside, [half] * len(beside), Qt.Orientation.Horizontal)
        return dock

    def _dock_view(self, id: str) -> QWidget:
        self._panels[id] = self.panel_class(id)(PanelContext(self.app, id))
        return self._panels[id].view

    @property
    def can_tear_off(self) -> bool:
        return self.page in self._panels and self.page not in self._torn and self.page != START

    def tear_off(self) -> None:
        """Move the current page to a window of its own; a placeholder remains here."""
        page = self.page
        if not self.can_tear_off:
            return
        panel, entry = self._panels[page], self._entries[page]
        self.stack.removeWidget(panel.view)
        stands_for = pages.moved(entry, lambda: self.bring_back(page))
        self._empties[f"torn.{page}"] = stands_for
        self.stack.addWidget(stands_for)
        self.stack.setCurrentWidget(stands_for)
        self._torn[page] = DetachedPage(
            _(entry.title), panel.view, self, lambda: self.bring_back(page)
        )
        self._torn[page].show()
        panel.focus()

    def windows(self) -> tuple[QMainWindow, ...]:
        """The main window and the windows of detached pages."""
        return self, *self._torn.values()

    def bring_back(self, page: str) -> None:
        torn = self._torn.pop(page, None)
        if torn is None:
            return
        view, stands_for = cast(QWidget, torn.take()), self._empties.pop(f"torn.{page}")
        self.stack.removeWidget(stands_for)
        stands_for.deleteLater()
        self.stack.addWidget(view)
        torn.deleteLater()
        if self.page == page:
            self.stack.setCurrentWidget(view)

    # ---------------------------------------------------------------- messages

    def note(
        self,
        text: str,
        undo: Callable[[], None] | None,
        action: str = "",
        more: Sequence[tuple[str, Callable[[], None]]] = (),
    ) -> None:
        self.note_line.say(text, undo, action=action, more=more)

    def _room_for_notes(self) -> QRect:
        """The free range of the status bar in window coordinates; empty while there is none."""
        if self.status is None or not self.status.isVisible():
            return QRect()
        return self.status.unused().translated(self.status.pos())

    def tell(self, text: str, tone: str = "warn", details: str = "") -> None:
        """Show a message at the top until it is closed; details can be expanded."""
        self.banner.set(text, tone, details)

    # ---------------------------------------------------------------- frame

    def _restore(self) -> None:
        geometry = self.app.settings.window.get("geometry", "")
        if not (geometry and self.restoreGeometry(QByteArray.fromBase64(geometry.encode()))):
            room = self.screen().availableGeometry()
            self.resize(min(1440, room.width()), min(900, room.height()))
            if room.width() < 1500 or room.height() < 960:  # no room for the window frame
                self.setWindowState(Qt.WindowState.WindowMaximized)

    def _remember(self) -> None:
        self.app.settings.window["geometry"] = bytes(self.saveGeometry().toBase64().data()).decode()
        for id, dock in self._docks.items():
            self.app.settings.window[f"dock.{id}"] = dock.isVisible()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self.load_commands)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.app.may_close():
            event.ignore()
            return
        self._remember()
        for torn in list(self._torn):
            self.bring_back(torn)
        event.accept()
        self.app.closed()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls() and any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        # finish the drag before a dialog opens
        QTimer.singleShot(0, lambda: self.app.open_files(files))
