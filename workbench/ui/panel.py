"""Base classes of pages and docks, and their interface to the application.

A panel is a folder `ui/panels/<id>/` of three files and one `[[panel]]` line in `builtins.toml`:

- `state.py`: a `State` (base/events.py), without Qt: what is shown, and the actions of the user,
  through `operations`;
- `view.py`: a `View` (below): builds widgets of `ui/widgets`, forwards input to the state, and
  `render(fields)` shows the state;
- `__init__.py`: a `Panel` (below) with its table of `Command`s; imports state and view in `build`.

Panels are built when first shown and closed when the project closes, so a state may use
`context.project` for its whole life. It connects with `self.listen(signal, callback)`, and
`close()` disconnects everything.

Pages open one another with `context.go(page, **args)`; the page's `Panel.shown(**args)` gets the
arguments:

    data      files=[Path, …] (open the import dialog with these)
              ids=(document id, …), caption="…" (show only these)
              dialog="import"|"export"
    annotate  document=id
              span=id
              at=(field, start, end): select this text of the document
              question=text: make this question about the document the current one
              run=id, errors=(document id, …): error review, prediction beside gold
              adjudicate=(person id, …), layers=(layer id, …): compare these people; with document
              run=id, suggestions=True: filter the queue to suggestions and open the first
    labels    layer=id
    models    model=path of an installed model
    train     model=name or folder
              spec=TrainSpec (use the same settings)
              pretrain=True: show pretraining
    results   run=id
              group=name: list the runs of a group, also archived ones
              suggest=(document id, …): select the run that suggests labels for these
    inspect   run=id
              model=name or folder
              text="…"
              document=id
              documents=(id, …): select these on the map
    prompts   example=document id: pin this example
    export    run=id
    welcome   –

`Panel.place` may add arguments of its own that lead back to what it shows, such as `place`.

A page without documents, runs … shows an `EmptyState` with a button for the next action
(`context.go`, `context.app.act("new")`). Actions without arguments that any page may use:
`context.app.act("open" | "new" | "sample" | "settings")`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from workbench.base.errors import WorkbenchError
from workbench.base.events import ALL, State
from workbench.ui.commands import Command
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.base.watch import OnEvent, Watch
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.ui.application import Application
    from workbench.ui.shell.work import Work


Render = Callable[[frozenset[str]], None]


class PanelContext:
    """The interface of the application to a panel; one instance per panel.

    Late results are dropped after the panel is closed.
    """

    def __init__(self, app: Application, page: str):
        self.app, self.page, self.closed = app, page, False
        self._tasks = app.new_tasks()
        self._drops: list[Callable[[], None]] = []

    def close(self) -> None:
        """The panel is closed: its tasks are cancelled, and nothing arrives any more."""
        self.closed = True
        self._tasks.close()
        for drop in self._drops:
            drop()
        self._drops.clear()

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
        """Runs a function on the main thread; for inference hosts and threads."""
        return self.app.dispatch

    @property
    def window(self) -> QWidget:
        """The parent window for dialogs."""
        return self.app.window

    def go(self, page: str, **args: Any) -> None:
        """Show another page (or this one) with the arguments listed above.

        A page that was not shown before follows after a few turns of the event loop.
        """
        self.app.visit(page, **args)

    def remember_place(self) -> None:
        """Let Back return to what the page shows now; call before it shows something else."""
        if self.app.page == self.page:
            self.app.remember_place()

    def note(
        self,
        text: str,
        undo: bool | Callable[[], None] = False,
        *,
        action: str = "",
        more: Sequence[tuple[str, Callable[[], None]]] = (),
    ) -> None:
        """Show a message about the last action at the bottom of the window.

        `undo=True` offers to undo the last step; a function is called instead. `action` is the
        title of the button, "Undo" by default. `more`: further buttons, title and what they do.
        """
        self.app.note(text, undo, action=action, more=more)

    def note_step(
        self, text: str, title: str, back: Callable[[], None], again: Callable[[], None]
    ) -> None:
        """Show a message about a change that the history of the project does not contain.

        Undo and Redo, which name it `title`, revert it and make it again.
        """
        steps = self.app.local_steps
        if steps is None:  # no project is open
            self.note(text, back)
            return
        step = steps.add(title, back, again)
        self.commands_changed()
        self.note(text, lambda: steps.undo(step))

    def fail(self, error: Exception) -> None:
        """Show the message of a WorkbenchError at the top of the window; other errors are uncaught
        errors.
        """
        self.app.fail(error)

    def attempt(self, act: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Call `act` and return its result; on WorkbenchError, show its message and return None."""
        try:
            return act(*args, **named)
        except WorkbenchError as error:
            self.fail(error)
            return None

    def task(
        self,
        key: Hashable,
        work: Callable[..., Any],
        done: Callable[[Any], None],
        *,
        failed: Callable[[Exception], None] | None = None,
        progress: Callable[[Watch], None] | None = None,
        on_event: OnEvent | None = None,
        title: str = "",
        writes: bool = False,
    ) -> None:
        """Call `work()` in a thread, or `work(watch=…)` if it takes `watch`, then `done(result)`.

        The newest task with the same key wins. For the rules see `ui/tasks.py`.
        """
        self._tasks.start(
            key, work, done,
            failed=failed, progress=progress, on_event=on_event, title=title, writes=writes,
        )  # fmt: skip

    def waiting(self, key: Hashable) -> bool:
        """Whether a task with this key is running."""
        return self._tasks.waiting(key)

    def cancel(self, key: Hashable) -> None:
        """Cancel the task with this key, as its Cancel button does: `failed` gets Cancelled."""
        self._tasks.cancel(key)

    def drop(self, key: Hashable) -> None:
        """Ignore the answer of the task with this key; it is cancelled unless it writes."""
        self._tasks.drop(key)

    def follow(
        self, what: Run | Job | None, on_event: Callable[[Job, Event], None]
    ) -> Callable[[], None]:
        """Call `on_event(job, event)` for each event of a job, of the training of a run, or of all
        jobs (None), until the panel is closed or the returned function is called.
        """
        from workbench.jobs.queue import Job
        from workbench.operations.runs import train

        if what is None:
            drop = self.queue.changed.connect(on_event)
        elif isinstance(what, Job):
            drop = what.changed.connect(partial(on_event, what))
        else:
            of_run = partial(train.trains, project=opened(self), run_id=what.id)
            drop = self.queue.changed.connect(
                lambda job, event: on_event(job, event) if of_run(job) else None
            )
        self._drops.append(drop)
        return drop

    @property
    def work(self) -> Work:
        """The task that writes to the project: `work.active`, `work.changed`."""
        return self.app.work

    def undo(self, steps: int = 1) -> None:
        """Undo the most recent steps, all or none; large ones as a long operation."""
        self.app.undo(steps)

    def redo(self, steps: int = 1) -> None:
        self.app.redo(steps)

    def commands_changed(self) -> None:
        """Titles or checks of the panel's commands have changed."""
        self.app.commands_changed()


class View(QWidget):
    """The widget of a panel.

    Subclasses build their widgets in `__init__` and update them in `render`.

    A hidden view skips `render`; when shown again it renders what has changed meanwhile. On first
    show it renders ALL. `first` is the widget that gets the focus when the page is shown.
    """

    first: QWidget | None = None

    def __init__(self, state: State, parent: QWidget | None = None):
        super().__init__(parent)
        self.state = state
        self._missed: frozenset[str] = ALL
        self._missed_by: dict[Render, frozenset[str]] = {}
        state.listen(state.changed, self._state_changed)

    def shows(self, state: State, render: Render) -> None:
        """Call `render(fields)` with the fields of another state that have changed, as `render` is
        called for its own: for a page of parts, which `render` shows all at first.
        """
        state.listen(state.changed, partial(self._part_changed, render))

    def render(self, fields: frozenset[str]) -> None:
        """Show these fields of the state.

        `base.events.concerns(fields, "rows")` tests for one of them.
        """
        raise NotImplementedError

    def prepare(self) -> Iterator[None]:
        """Create what the first show needs, in steps; events are handled between them."""
        self._render_missed()
        yield

    def _render_missed(self) -> None:
        """Render what has changed while hidden; ALL before the first show."""
        missed, self._missed = self._missed, frozenset()
        missed_by, self._missed_by = self._missed_by, {}
        if missed:
            self.render(ALL if "*" in missed else missed)
        for render, fields in () if "*" in missed else missed_by.items():
            render(fields)

    def take_focus(self) -> None:
        """Called when the page is shown; gives the focus to `first`."""
        (self.first or self).setFocus()

    def _state_changed(self, fields: frozenset[str]) -> None:
        if not isValid(self):  # at exit the window may be deleted before its panels are closed
            return
        if self.isVisible():
            self.render(fields)
        else:
            self._missed |= fields

    def _part_changed(self, render: Render, fields: frozenset[str]) -> None:
        if not isValid(self):
            return
        if self.isVisible():
            render(fields)
        else:
            self._missed_by[render] = self._missed_by.get(render, frozenset()) | fields

    def showEvent(self, event: QShowEvent) -> None:
        self._render_missed()
        super().showEvent(event)


class _Watching(Protocol):
    def watch(self, on: bool) -> None: ...


class WatchingView(View):
    """A view whose state (with `watch(on)`) follows the project only while visible."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        cast(_Watching, self.state).watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        cast(_Watching, self.state).watch(False)
        super().hideEvent(event)


class Panel:
    """A page or dock, built by the window when first shown and closed by it.

    Subclasses set `commands` and implement `build`; id, title, icon and placement are in
    `builtins.toml`. needs_project: cannot be shown without one. shows_predictions: of documents,
    or labels of several people; cannot be shown in blind mode.
    """

    commands: tuple[Command, ...] = ()
    needs_project = True
    shows_predictions = False

    def __init__(self, context: PanelContext):
        self.context = context
        self._view: QWidget | None = None
        self.state, self._make_view = self.build(context)

    def build(self, context: PanelContext) -> tuple[State, Callable[[], QWidget]]:
        """Import state.py and view.py; return the state and a function that creates its view.

        The window creates the view in a later turn of the event loop than the state.
        """
        raise NotImplementedError

    @property
    def view(self) -> QWidget:
        """The view, created when first needed."""
        if self._view is None:
            self._view = self._make_view()
        return self._view

    def shown(self, **args: Any) -> None:
        """The page has been opened with the arguments of `go`; does nothing by default."""

    def place(self) -> dict[str, Any]:
        """Arguments of `shown` that lead back to what is shown now; by default the page alone."""
        return {}

    @property
    def can_find(self) -> bool:
        """Whether Edit ▸ Find is available on this page; if so, `find` opens its find bar."""
        return False

    def find(self) -> None:
        """Open the find bar of the page."""

    def focus(self) -> None:
        take = getattr(self.view, "take_focus", None)
        (take or self.view.setFocus)()

    def close(self) -> None:
        """Disconnect all callbacks of the state and delete the view."""
        self.context.close()
        self.state.close()
        if self._view is not None:
            self._view.deleteLater()
