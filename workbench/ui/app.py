"""Create the settings, project, job queue and window, and connect them. The only singleton."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtCore import Signal as QtSignal
from PySide6.QtWidgets import QApplication

from workbench.base import scratch, settings
from workbench.base.errors import ProjectDamaged, ProjectMoved, WorkbenchError, details_of
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.registry import Registry
from workbench.base.registry import registry as installed
from workbench.ui.shell import event_loop, garbage, run_notices, undo_steps
from workbench.ui.shell.local_steps import LocalSteps
from workbench.ui.shell.plugin_watch import PluginWatch
from workbench.ui.shell.window import Window
from workbench.ui.style import locale, style_sheet, theme
from workbench.ui.tasks import Tasks
from workbench.ui.widgets import safe_focus
from workbench.ui.widgets.controls import combo_access

if TYPE_CHECKING:
    from workbench.base.manifest import Contribution
    from workbench.jobs.events import Event
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.ui.shell.menus import Menus
    from workbench.ui.shell.module_preloader import ModulePreloader
    from workbench.ui.shell.work import Work

ACTIVE = ("waiting", "running")
SPARE_AFTER = 4.0  # seconds after opening a project, when its first page is shown and idle


class Dispatch(QObject):
    """`dispatch(fn)` from any thread: the main thread's event loop calls `fn()`, in the order
    posted; after `close`, nothing.
    """

    _posted = QtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self._lock, self._closed = threading.RLock(), False
        self._posted.connect(self._call, Qt.ConnectionType.QueuedConnection)

    def close(self) -> None:
        """Call nothing from now on. A thread that emits while Python ends would end in a crash."""
        with self._lock:
            self._closed = True

    def __call__(self, fn: Callable[[], None]) -> None:
        with self._lock, suppress(RuntimeError):  # the application has ended
            if not self._closed:
                self._posted.emit(fn)

    def _call(self, fn: Callable[[], None]) -> None:
        fn()


class App:
    """State shared by the window, its panels and dialogs.

    Created once by `main`; tests create their own.
    """

    def __init__(
        self,
        qt: QApplication,
        chosen: settings.Settings | None = None,
        registry: Registry | None = None,
    ):
        self.qt, self.settings = qt, chosen or settings.load()
        self.settings.tell_faults(self._settings_fault)
        self.registry = registry or installed()
        self.dispatch = Dispatch()
        self.tasks = self.new_tasks()  # of the window, ended with it
        self.project: Project | None = None
        # emitted with the project, or None when a project was closed
        self.opened = Signal("app.opened")
        self.recent_changed = Signal("app.recent_changed")
        self.jobs_changed = Signal("app.jobs_changed")  # (job, event), as in the queue's own signal
        self._drops: list[Callable[[], None]] = []
        self._queue_used = False
        self._ahead: ModulePreloader | None = None
        self.local_steps: LocalSteps | None = None  # of the open project
        self._plugin_watch = PluginWatch(self)
        self._collector = garbage.Collector()
        combo_access.install()
        qt.focusChanged.connect(safe_focus.focus_moved)
        style_sheet.apply(qt, self.settings, ())  # sizes and fonts, needed to create the window
        qt.styleHints().colorSchemeChanged.connect(self._system_theme)
        self.window = Window(self)
        self.window.setStyleSheet(style_sheet.style_sheet())
        self.window.set_title()

    @cached_property
    def queue(self) -> Queue:
        """The job queue, created on first use."""
        from workbench.jobs.queue import Queue
        from workbench.jobs.spare import Warm
        from workbench.operations.models import installed as models

        self._queue_used = True
        warm = (
            Warm(
                ("torch", "workbench.tasks.session", "onnxruntime", *models.imports()),
                "workbench.models.device:describe",
            )
            if self.settings.warm_worker
            else None
        )
        queue = Queue(dispatch=self.dispatch, warm=warm)
        queue.changed.connect(self._jobs_changed)
        queue.reported.connect(self._devices_reported)
        return queue

    def new_tasks(self) -> Tasks:
        """For the tasks of a panel, a dialog or the window."""
        from workbench.jobs import threads

        return Tasks(
            lambda work, done: threads.run(work, done, dispatch=self.dispatch),
            dispatch=self.dispatch,
            board=lambda: self.work,
            fail=self.fail,
            note=self.note,
        )

    @cached_property
    def work(self) -> Work:
        """The tasks that the window shows, created on first use."""
        from workbench.ui.shell.work import Work

        work = Work(self.window.note_line)
        work.changed.connect(self.commands_changed)
        return work

    @property
    def working(self) -> bool:
        """Whether a task writes to the project. Editing is disabled meanwhile."""
        return "work" in self.__dict__ and self.work.active

    def _devices_reported(self, devices: list[dict[str, Any]]) -> None:
        """Keep the devices that a worker reported, so that the window never imports torch."""
        names = [device["name"] for device in devices]
        best = next((name for name in names if name != "cpu"), "cpu")
        self.settings.devices = {"all": devices, "best": best}
        self.settings.save()
        self.settings_changed()

    # ---------------------------------------------------------------- project

    def open_project(
        self,
        path: Path | str,
        *,
        page: str = "",
        ask: bool = True,
        read_only: bool = False,
        **args: Any,
    ) -> bool:
        """Close the current project, after asking about its running jobs, and open another one.

        Returns False if the user cancels or the file cannot be opened: an error is shown at the top
        of the window and the current project stays open. Shows `page`, by default Annotate, or Data
        while there are no documents. Pass `ask=False` if the user has been asked already. A project
        opened `read_only` is not added to the recent ones.
        """
        from workbench.project.project import Project

        path = Path(path).expanduser().absolute()
        if self._is_open(path) and self.project is not None and self.project.moved:
            if ask and not self.may_leave():
                return False
            self.close_project()  # so that the file that is there now can be locked
            ask = False
        if self._is_open(path):
            self.window.go(page or self._landing(), **args)
            return True
        try:
            project = (
                Project.open(path, read_only=True, dispatch=self.dispatch)
                if read_only
                else Project.open_or_read_only(path, dispatch=self.dispatch)
            )
        except WorkbenchError as error:
            named = WorkbenchError(f"{path}: {error.message}", hint=error.hint)
            self.fail(error if path.name in str(error) else named, other_file=True)
            if isinstance(error, ProjectDamaged):
                self.act("damaged", path, error)
            return False
        except OSError as error:
            message = _("Cannot open {path}: {error}.")
            self.fail(WorkbenchError(message.format(path=path, error=error.strerror or error)))
            return False
        if ask and not self.may_leave():
            project.close()
            return False
        self._take(project)
        if not read_only:
            self.settings.remember_project(project.path)
        self.window.go(page or self._landing(), **args)
        self._ask_who_labels(project)
        return True

    def _is_open(self, path: Path) -> bool:
        """Whether the file is the open project. A read-only project is reopened for writing."""
        project = self.project
        return project is not None and not project.read_only and _same_file(project.path, path)

    def _take(self, project: Project) -> None:
        self.close_project(start=False)
        self.project = project
        self.local_steps = LocalSteps(project)
        self.window.banner.hide()
        from workbench.operations.people import people
        from workbench.operations.runs.run_recorder import wire

        if not project.read_only:
            self._drops.append(wire(project, self.queue).close)
            # after the wiring, which records the ending
            self._drops.append(self.queue.changed.connect(partial(run_notices.tell, self)))
            project.schedule = self._later
        self._drops.append(project.changed.connect(lambda _changes: self._project_changed()))
        self._drops.append(project.layers_shown.connect(self._follow_blind_mode))
        people.follow_blind_mode(project)
        self.window.show_project()
        if project.read_only:
            self.window.tell(
                _(
                    "{name} is open read-only: {reason}.",
                    name=project.path.name,
                    reason=project.read_only_reason,
                ),
                "warn",
            )
        elif project.notice:
            self.window.tell(project.notice, "accent")
        self.person_changed()
        self.opened.emit(project)
        if self.queue.spare is not None and not project.read_only:
            self.queue.spare.prepare(SPARE_AFTER)
        for dock in ("jobs", "history"):
            if self.settings.window.get(f"dock.{dock}"):
                self.window.toggle_dock(dock, True)

    def any_documents(self) -> bool:
        """Whether the open project has documents."""
        from workbench.operations.documents import corpus

        return self.project is not None and corpus.any_documents(self.project)

    def _landing(self) -> str:
        return "annotate" if self.any_documents() else "data"

    def leave_project(self) -> None:
        """File ▸ Close project: close the project, after asking about its running jobs."""
        if self.may_leave():
            self.close_project()

    def close_project(self, *, start: bool = True) -> None:
        """Close the project and its pages without asking. `start` shows the Welcome page.

        The pages cancel their tasks; what is being written is waited for.
        """
        if self.project is None:
            return
        if self.working:
            self.work.wait()
        project, self.project, self.local_steps = self.project, None, None
        self.window.close_panels()
        for drop in self._drops:
            drop()
        self._drops.clear()
        with suppress(ProjectMoved):  # which `may_leave` has asked about
            project.close()
        if start:
            self.window.show_project()
            self.opened.emit(None)

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        from workbench.jobs import threads

        def wait() -> None:
            QTimer.singleShot(
                round(1000 * seconds),
                lambda: threads.run(work, lambda *_result: None, dispatch=self.dispatch),
            )

        self.dispatch(wait)  # a bulk edit asks from a thread of the pool, where timers do not fire

    def undo(self, steps: int | None = None) -> None:
        undo_steps.step(self, "undo", _("Undo {title}"), _("Undone: {title}"), steps)

    def redo(self, steps: int | None = None) -> None:
        undo_steps.step(self, "redo", _("Redo {title}"), _("Redone: {title}"), steps)

    # ---------------------------------------------------------------- called by panels and dialogs

    @property
    def page(self) -> str:
        """Id of the page that is shown."""
        return self.window.page

    @property
    def menus(self) -> Menus:
        return self.window.menus

    def panels(self) -> tuple[Contribution, ...]:
        """All available pages and docks."""
        return self.window.panels()

    def states(self) -> list[Any]:
        """The states of the pages and docks that have been built."""
        panels = [self.window.panel(entry.id) for entry in self.panels()]
        return [panel.state for panel in panels if panel is not None]

    def go(self, page: str, **args: Any) -> None:
        self.window.go(page, **args)

    def visit(self, page: str, **args: Any) -> None:
        self.window.visit(page, **args)

    def remember_place(self) -> None:
        """Let Back return to what the current page shows now."""
        self.window.remember_place()

    def note(
        self,
        text: str,
        undo: bool | Callable[[], None] = False,
        *,
        action: str = "",
        more: Sequence[tuple[str, Callable[[], None]]] = (),
    ) -> None:
        act = undo_steps.undo_of_latest(self) if undo is True else undo or None
        self.window.note(text, act, action, more)

    def tell(self, text: str, tone: str = "warn") -> None:
        """Show a message at the top of the window until it is closed."""
        self.window.tell(text, tone)

    def fail(self, error: Exception, *, other_file: bool = False) -> None:
        """Show the message of a WorkbenchError; handle anything else as an uncaught exception.

        `other_file`: the error is about a file other than the open project, whose changes are saved
        as before.
        """
        if isinstance(error, WorkbenchError):
            self.window.tell(str(error), "bad", details_of(error))
            unsaved = not other_file and self.window.banner.failed(error)
            if unsaved and self.window.status is not None:
                self.window.status.show_saved(False)
            if isinstance(error, ProjectMoved):
                self.act("file-moved")
        else:
            sys.excepthook(type(error), error, error.__traceback__)

    def act(self, name: str, *about: Any) -> None:
        """Open a dialog or run an action of the Welcome page.

        Names: open, new, sample, settings, plugins, palette, keys, log, diagnostics, about.
        """
        from workbench.ui import dialogs

        dialogs.ACTS[name](self, *about)

    def open_files(self, files: Sequence[str]) -> None:
        """Open a project, or import data files; asks where to if a project is open.

        A file that is missing is named as a project is.
        """
        from workbench.operations.transfer import import_choice

        paths = [Path(file).expanduser() for file in files]
        projects = [path for path in paths if not path.exists() or import_choice.is_project(path)]
        if projects:
            self.open_project(projects[0])
        else:
            from workbench.ui import dialogs

            dialogs.import_data(self, paths)

    def clear_recent(self) -> None:
        """Clear the list of recent projects; their files are kept."""
        before = list(self.settings.recent)
        self._set_recent([])
        self.note(_("The list of recent projects is empty."), lambda: self._set_recent(before))

    def _set_recent(self, recent: list[str]) -> None:
        self.settings.recent = recent
        self.settings.save()
        self.recent_changed.emit()

    @property
    def is_blind(self) -> bool:
        """Whether a project is open in blind mode."""
        from workbench.operations.people import people

        return self.project is not None and people.is_blind(self.project)

    def _follow_blind_mode(self) -> None:
        from workbench.operations.people import people

        if self.project is not None and people.follow_blind_mode(self.project):
            self.window.rebuild()

    def _project_changed(self) -> None:
        self._follow_blind_mode()  # after another person labels
        self.commands_changed()
        self.window.banner.saved()
        if self.window.status is not None:
            self.window.status.show_project(self.project)
        self.person_changed()

    def commands_changed(self) -> None:
        self.window.menus.refresh()

    # ---------------------------------------------------------------- appearance

    def change_theme(self, name: str) -> None:
        self.settings.theme = name
        self.restyle()

    def can_change_text_size(self, step: int) -> bool:
        return theme.next_text_size(step) != self.settings.text_size

    def change_text_size(self, step: int) -> None:
        self.settings.text_size = theme.next_text_size(step)
        self.restyle()
        self.note(_("Text size {percent}%", percent=self.settings.text_size))

    def restyle(self) -> None:
        """Apply the theme, text size and font of the settings, and save them."""
        style_sheet.apply(self.qt, self.settings, self.window.windows())
        self.settings.save()
        self.settings_changed()

    def settings_changed(self) -> None:
        """Show what the status bar shows of the settings."""
        if self.window.status is not None:
            self.window.status.show_device(self.settings)

    def adjudicates(self, on: bool) -> None:
        """Show in the status bar that decisions are saved as gold, or who labels."""
        if self.window.status is not None:
            self.window.status.show_adjudication(on)
        self.person_changed()

    def person_changed(self) -> None:
        """Show in the status bar who labels."""
        if self.window.status is not None and self.project is not None:
            from workbench.operations.people import people

            self.window.status.show_person(people.mark(self.project, self.settings))

    def _ask_who_labels(self, project: Project) -> None:
        """A file that was written for somebody: ask once whether that is the user."""
        from workbench.operations.people import people

        person = people.current(project)
        if project.read_only or people.is_own(person, self.settings):
            return

        def recognise() -> None:
            people.recognise(self.settings, person)
            self.person_changed()

        self.note(
            _("Labels in this file are saved as {name}.", name=person.name),
            recognise,
            action=_("This is me"),
            more=((_("People…"), lambda: self.act("people")),),
        )

    def _settings_fault(self, error: WorkbenchError) -> None:
        """Report once that settings cannot be saved: they are saved on almost every change."""
        self.settings.tell_faults(lambda _error: None)
        self.fail(error)

    def _system_theme(self, _scheme: Qt.ColorScheme) -> None:
        if self.settings.theme == "system":
            style_sheet.apply(self.qt, self.settings, self.window.windows())

    # ---------------------------------------------------------------- jobs and shutdown

    def active_jobs(self) -> list[Job]:
        """Running and queued jobs that somebody waits for, running ones first."""
        if not self._queue_used:
            return []
        jobs = [job for job in self.queue.jobs if job.status in ACTIVE and not job.spec.background]
        return sorted(jobs, key=lambda job: job.status != "running")

    def project_jobs(self) -> list[Job]:
        """The active jobs of the open project."""
        if self.project is None:
            return []
        path = self.project.path
        return [
            job
            for job in self.active_jobs()
            if job.spec.project and _same_file(Path(job.spec.project), path)
        ]

    def ended_jobs(self) -> list[Job]:
        """Finished jobs of this session that are still listed."""
        return [job for job in self.queue.jobs if job.over] if self._queue_used else []

    def clear_ended_jobs(self) -> None:
        for job in self.ended_jobs():
            self.queue.forget(job)

    def stop_jobs(self) -> None:
        """Stop running trainings and keep their best checkpoints; cancel all other jobs."""
        for job in self.active_jobs():
            keeps = job.spec.stoppable and job.status == "running"
            job.stop() if keeps else job.cancel()

    def _jobs_changed(self, job: Job | None = None, event: Event | None = None) -> None:
        if self.window.status is not None:
            self.window.status.show_jobs(self.active_jobs())
        if job is not None and event is not None:
            self._remember(job, event)
            self.jobs_changed.emit(job, event)

    def _remember(self, job: Job, event: Event) -> None:
        """Keep in the settings what a job tells about this computer, and the model it has written,
        and prepare predictions with it. Pages do not: a job goes on when its page is closed.
        """
        from workbench.operations.models import new_models, precision
        from workbench.operations.runs import sessions

        precision.remember(event, self.settings)
        if job.over:
            new_models.ended(job, self.settings)
            sessions.ended(self.queue, job, self.settings)

    def started(self) -> None:
        """Called after the first paint: work that may take a moment."""
        from workbench.jobs import threads
        from workbench.ui.dialogs import error
        from workbench.ui.shell import module_preloader

        error.install(self)
        self._jobs_changed()
        self._ahead = module_preloader.ModulePreloader(
            module_preloader.modules(self.window.panels()), self.dispatch, then=self._read_models
        )
        self._ahead.last = self._plugin_watch.check
        threads.run(scratch.sweep, lambda *_result: None, dispatch=self.dispatch)
        # keep existing objects out of the garbage collector: a full collection stalled typing for
        # 60 ms
        gc.freeze()

    def _read_models(self) -> None:
        """Read tasks and model cards in a thread and cache them for the pages that list them."""
        from workbench.operations.models import installed as models

        self.registry.look_for_faults()  # plugins may have been changed since they were enabled
        self._plugin_watch.find()
        self.registry.infos("task")
        models.list(self.settings)

    def may_close(self) -> bool:
        """Whether the window may close; asks the user about what would be lost."""
        from workbench.ui.dialogs import closing

        self._plugin_watch.stop()
        return closing.may_close(self, project_only=False)

    def may_leave(self) -> bool:
        """Whether the project may be closed; asks the user about what would be lost."""
        from workbench.ui.dialogs import closing

        return self.project is None or closing.may_close(self, project_only=True)

    def closed(self) -> None:
        """The window has closed: shut down the rest and save the settings."""
        if self._ahead is not None:
            self._ahead.stop()
        self._collector.stop()
        if self._queue_used:
            self.queue.close()
        self.close_project(start=False)
        self.tasks.close()
        self.dispatch.close()
        self.settings.save()


def _same_file(path: Path, other: Path) -> bool:
    return path == other or path.resolve() == other.resolve()


def make_qt() -> QApplication:
    """Create the Qt application with style and fonts, before any widget."""
    qt = cast(QApplication, QApplication.instance() or QApplication(sys.argv[:1]))
    qt.setApplicationName("Glossbench")
    qt.setDesktopFileName("glossbench")
    qt.setStyle("Fusion")
    theme.load_fonts()
    return qt


def main(file: str | None = None) -> int:
    """Open the window, on `file` if given, and return the exit code.

    The caller has checked that a display is available.
    """
    qt = make_qt()
    locale.use_system()
    app = App(qt)
    app.window.go("welcome")
    app.window.show()
    if file is not None:
        QTimer.singleShot(0, lambda: app.open_files([file]))
    return event_loop.run_handling(qt.exec)
