"""What a page or a dock is made of, and what it is given. The contract for everyone who builds one.

A panel is a folder `ui/panels/<id>/` of three files and one `[[panel]]` line in `builtins.toml`:

- `state.py`: a `State` (base/events.py), no Qt: what is shown and what the user can do, through `operations`;
- `view.py`: a `View` (below): builds parts of `ui/widgets`, forwards input to the state, `render(fields)` shows the state;
- `__init__.py`: a `Panel` (below) with its table of `Command`s; imports state and view inside `build`.

Panels are built when first shown and closed when the project closes, so a state may take `context.project` for its whole life.
It listens with `self.listen(signal, callback)` and everything is dropped by `close()`.

Pages call one another by `context.go(page, **args)`; the page's `Panel.shown(**args)` gets the arguments:

    data      files=[Path, …] (import dialog with these) · ids=(document id, …), caption="…" (show these alone) · dialog="import"|"export"
    annotate  document=id · span=id · run=id and errors=(document id, …): prediction beside gold, next error by one key
              run=id and suggestions=True: the first document with suggestions, the queue narrowed to them
    labels    layer=id
    models    –
    train     model=name or folder · spec=TrainSpec (the same settings again)
    results   run=id · suggest=(document id, …): which run shall suggest labels for these
    inspect   run=id · model=name or folder · text="…" · document=id
    prompts   –
    export    run=id
    welcome   –

A page without documents, runs … shows an `EmptyState` with a button that leads on (`context.go`, `context.app.act("new")`).
Acts without arguments that any page may need: `context.app.act("open" | "new" | "sample" | "settings")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QWidget

from workbench.base.errors import WorkbenchError
from workbench.base.events import ALL, State
from workbench.ui.commands import Command

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.base.watch import Watch
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.ui.app import App
    from workbench.ui.work import Work


class PanelContext:
    """Everything a panel may reach for. One a panel; after the panel is closed, late answers are dropped."""

    def __init__(self, app: App, page: str):
        self.app, self.page, self.closed = app, page, False

    @property
    def project(self) -> Project | None:
        """The open project; never None in a panel with `needs_project`."""
        return self.app.project

    @property
    def queue(self) -> Queue:
        return self.app.queue

    @property
    def settings(self) -> Settings:
        return self.app.settings

    @property
    def dispatch(self) -> Callable[[Callable[[], None]], None]:
        """Runs a function on the main thread; for hosts and threads."""
        return self.app.dispatch

    @property
    def window(self) -> QWidget:
        """The parent for dialogs."""
        return self.app.window

    def go(self, page: str, **args: Any) -> None:
        """Show another page (or this one) with the arguments listed above."""
        self.app.go(page, **args)

    def note(self, text: str, undo: bool | Callable[[], None] = False, *, action: str = "") -> None:
        """Say at the bottom what was just done. `undo=True` offers to undo the last step, a function is called instead;
        `action` names the button, "Undo" by default.
        """
        self.app.note(text, undo, action=action)

    def fail(self, error: Exception) -> None:
        """Tell a WorkbenchError in words at the top of the window; any other error goes the way of uncaught ones."""
        self.app.fail(error)

    def attempt(self, act: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Call `act` and return its result; a WorkbenchError is told to the user and gives None."""
        try:
            return act(*args, **named)
        except WorkbenchError as error:
            self.fail(error)
            return None

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Short work off the main thread; `done(result)` on the main thread unless the panel was closed meanwhile."""
        from workbench.jobs import threads

        def finished(result: Any, error: Exception | None) -> None:
            if self.closed:
                return
            if error is None:
                done(result)
            else:
                (failed or self.fail)(error)

        threads.run(work, finished, dispatch=self.dispatch)

    def long(self, title: str, act: Callable[[Watch], Any], done: Callable[[Any], None]) -> None:
        """A long act on the project off the main thread: `act(watch)`, then `done(result)` unless the panel was closed meanwhile.

        One at a time. The window shows `title`, how far it is and Cancel, which takes all of it back; faults are told there too.
        """
        self.app.work.start(title, act, lambda result: None if self.closed else done(result))

    @property
    def work(self) -> Work:
        """What `long` has under way: `work.active`, `work.changed`."""
        return self.app.work

    def undo(self, steps: int = 1) -> None:
        """Take back the newest steps, all or none; large ones as a long act."""
        self.app.undo(steps)

    def redo(self, steps: int = 1) -> None:
        self.app.redo(steps)

    def commands_changed(self) -> None:
        """Titles or ticks of the panel's commands are others now."""
        self.app.commands_changed()


class View(QWidget):
    """The widget of a panel. Subclasses build their parts in `__init__` and show the state in `render`.

    A hidden view skips `render`; when it is shown again it renders what has changed meanwhile. The first showing renders ALL.
    `first` is the widget that gets the focus when the page is shown.
    """

    first: QWidget | None = None

    def __init__(self, state: State, parent: QWidget | None = None):
        super().__init__(parent)
        self.state = state
        self._missed: frozenset[str] = ALL
        state.listen(state.changed, self._state_changed)

    def render(self, fields: frozenset[str]) -> None:
        """Show those fields of the state; `base.events.concerns(fields, "rows")` says whether one is among them."""
        raise NotImplementedError

    def take_focus(self) -> None:
        """Called when the page is shown; gives the focus to `first`."""
        (self.first or self).setFocus()

    def _state_changed(self, fields: frozenset[str]) -> None:
        if self.isVisible():
            self.render(fields)
        else:
            self._missed |= fields

    def showEvent(self, event) -> None:
        if self._missed:
            missed, self._missed = self._missed, frozenset()
            self.render(ALL if "*" in missed else missed)
        super().showEvent(event)


class WatchingView(View):
    """A view whose state reads the project anew only while it is seen: the state has `watch(on)`."""

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self.state.watch(True)

    def hideEvent(self, event) -> None:
        self.state.watch(False)
        super().hideEvent(event)


class Panel:
    """A page or dock. Built by the window when first shown, closed by it; nobody else does either.

    Subclasses say `commands` and write `build`; id, title, icon and place stand in `builtins.toml`.
    """

    commands: tuple[Command, ...] = ()
    needs_project = True

    def __init__(self, context: PanelContext):
        self.context = context
        self.state, self.view = self.build(context)

    def build(self, context: PanelContext) -> tuple[State, QWidget]:
        """Import state.py and view.py and make both."""
        raise NotImplementedError

    def shown(self, **args: Any) -> None:
        """The page has been brought up, with the arguments of `go`; nothing by default."""

    @property
    def can_find(self) -> bool:
        """Whether Edit ▸ Find leads somewhere on this page: then `find` goes to its find bar."""
        return False

    def find(self) -> None:
        """Go to the find bar of the page."""

    def focus(self) -> None:
        take = getattr(self.view, "take_focus", None)
        (take or self.view.setFocus)()

    def close(self) -> None:
        """Drop every listener the state made and delete the view."""
        self.context.closed = True
        self.state.close()
        self.view.deleteLater()
