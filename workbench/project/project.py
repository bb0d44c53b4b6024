"""Project: an open project file. Every undoable change goes through `edit`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from workbench.base import paths, settings
from workbench.base.errors import ProjectError, ProjectLocked
from workbench.base.events import Signal
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.project.changes import Changes
from workbench.storage.annotation import people, provenance
from workbench.storage.connections.database import Database
from workbench.storage.connections.identity import OVERWRITTEN
from workbench.storage.documents import removal
from workbench.storage.journal import history
from workbench.storage.journal.history import HistoryStep
from workbench.storage.journal.journal import Touched
from workbench.storage.labels import labels
from workbench.storage.runs import runs

IDLE_SECONDS = 2.0  # idle time after the last edit before a checkpoint of the write-ahead log
BUSY_SECONDS = 30.0  # longest delay of a checkpoint while edits continue

Dispatch = Callable[[Callable[[], None]], None]
Schedule = Callable[[float, Callable[[], None]], None]


class Project:
    """An open project. Created by `create` or `open`, closed by `close`.

    `dispatch(fn)` runs `fn` on the main thread; without it, changes made by a thread are reported
    on that thread.
    `schedule(seconds, fn)`, if set, runs `fn` off the main thread after that delay.
    """

    def __init__(self, db: Database, *, dispatch: Dispatch | None = None):
        self.db = db
        self.path: Path = db.path
        self.schedule: Schedule | None = None
        self.changed = Signal("project.changed")
        self.selection: tuple[int, ...] = ()  # the current documents of this session
        self.selected = Signal("project.selected")
        self.layers_shown = Signal("project.layers_shown")  # the choice itself is a setting
        self.uid: str = db.meta("uid", "")
        self.seed = db.meta_number("seed", 1)
        self.annotator_id, self.annotator_name = provenance.own_annotator(db)
        self._dispatch = dispatch
        self._home = threading.get_ident()
        self._news: list[Changes] = []
        self._last_edit = 0.0
        self._checkpoint_waits: float | None = None  # time of the oldest edit without a checkpoint
        self._checkpoints_elsewhere = False

    # ------------------------------------------------------------ open and close

    @classmethod
    def create(cls, path: Path | str, *, dispatch: Dispatch | None = None) -> Project:
        """Create a project file.

        Raises ProjectError if `path` exists: files are never overwritten.
        """
        own = settings.load()
        db = Database.create(Path(path), annotator=own.annotator, uid=own.own_uid())
        project = cls(db, dispatch=dispatch)
        if own.initials or own.colour:
            with db.transaction():
                project.label_as_own(own)
                db.take_touched()
        return project

    @classmethod
    def open(
        cls, path: Path | str, *, read_only: bool = False, dispatch: Dispatch | None = None
    ) -> Project:
        """Raises ProjectError if it is not a project, ProjectLocked if another process has it open
        for writing.
        """
        db = Database.open(Path(path), read_only=read_only)
        try:
            project = cls(db, dispatch=dispatch)
            project._tidy()
        except BaseException:
            db.close()
            raise
        return project

    @classmethod
    def open_or_read_only(cls, path: Path | str, *, dispatch: Dispatch | None = None) -> Project:
        """As `open`; a project that is open elsewhere or cannot be locked is opened read-only with
        a reason.
        """
        try:
            return cls.open(path, dispatch=dispatch)
        except ProjectLocked:
            reason = _("it is already open in another window or command")
        except ProjectError as error:
            reason = error.message
        project = cls.open(path, read_only=True, dispatch=dispatch)
        project.db.read_only_reason = reason
        return project

    def _tidy(self) -> None:
        """Updates that need write access: mark runs without a process as interrupted, name a person
        without a name. Mostly there are none, and preparing a write takes 10 ms.
        """
        if self.read_only:
            return
        own = settings.load()
        unnamed = self.annotator_name == settings.Settings.annotator and own.is_named
        if not (unnamed or runs.any_unfinished(self.db)):
            return
        with self.db.transaction():
            runs.record_interrupted(self.db)
            if unnamed:
                self.label_as_own(own)
            self.db.take_touched()

    def label_as_own(self, own: settings.Settings) -> None:
        """The person who labels in the project, and has no name yet, is the one of this computer.

        Within a transaction. Does nothing if the project has another person of that uid or name.
        """
        uid = own.own_uid()
        others = [person for person in people.every(self.db) if person.id != self.annotator_id]
        if any(uid == other.uid or own.annotator == other.name for other in others):
            return
        person = people.Person(
            self.annotator_id, uid, own.annotator, own.initials, colour=own.colour
        )
        people.become(self.db, self.annotator_id, person)
        self.annotator_name = person.name

    def close(self) -> None:
        """Write everything to the file and close it. Repeated calls have no effect.
        Raises ProjectError inside an edit; ProjectMoved, after closing, if changes were made and
        the file is no longer there.
        """
        self.db.close()

    @property
    def closed(self) -> bool:
        return self.db.closed

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def read_only(self) -> bool:
        return self.db.read_only

    @property
    def read_only_reason(self) -> str:
        """Why the project is read-only, as a clause: "it is already open in another window or
        command".
        "" for a project that can be edited.
        """
        return self.db.read_only_reason

    @property
    def moved(self) -> bool:
        """Whether the file was renamed, deleted, replaced or overwritten while it is open."""
        return bool(self.db.moved)

    @property
    def overwritten(self) -> bool:
        """Whether another program has written to the file while it is open."""
        return self.db.moved == OVERWRITTEN

    @property
    def in_no_file(self) -> bool:
        """Whether closing would lose the project: `moved`, and no copy was saved since."""
        return self.db.in_no_file

    @property
    def notice(self) -> str:
        """A message to show after opening: a backup made before an upgrade, or a drive without
        write-ahead logging. Usually "".
        """
        copy = self.db.upgraded_copy
        upgraded = (
            _(
                "The project was upgraded to the current version. A backup of the "
                "previous version is kept as {name}.",
                name=copy.name,
            )
            if copy
            else ""
        )
        return " ".join(text for text in (upgraded, self.db.journal_note) if text)

    @property
    def busy(self) -> bool:
        """Whether another thread is writing; editing commands are disabled meanwhile."""
        return self.db.busy

    @property
    def runs_folder(self) -> Path:
        return paths.runs_folder(self.path)

    # ------------------------------------------------------------ changes

    @contextmanager
    def edit(
        self,
        title: str,
        *,
        origin: object = None,
        bulk: bool = False,
        joins: int | None = None,
        watch: Watch = QUIET,
    ) -> Iterator[None]:
        """A transaction and one undo step. An exception rolls everything back.

        Nested edits of one thread join the outer one. `bulk`: for many new rows, which are
        journaled as ranges of ids. `joins`: the undo step (`undo_step`) that this edit becomes part
        of, unless another one has followed. `watch` reports the work that remains after the body;
        cancelling it raises Cancelled. Raises ProjectBusy on the main thread while another thread
        writes; ProjectError if the project is read-only.
        """
        with (
            self._writing(title, origin),
            self.db.journal.step(title, bulk=bulk, joins=joins, watch=watch) as touched,
        ):
            yield
        if touched and self.db.in_transaction:
            self._tell_later(title, touched[0], origin)
        elif touched:
            self._tell(self._news_of(title, touched[0], origin))

    @contextmanager
    def write(self, title: str = "", *, origin: object = None) -> Iterator[None]:
        """A transaction that cannot be undone: for runs and predictions, never for annotations."""
        with self._writing(title, origin):
            yield

    @contextmanager
    def _writing(self, title: str, origin: object) -> Iterator[None]:
        outer = not self.db.in_transaction
        news: list[Changes] = []
        try:
            with self.db.transaction():
                yield
                if outer:
                    news, self._news = self._news, []
                    if rows := self.db.take_touched():
                        news.append(Changes(title, origin, rows, frozenset()))
        except BaseException:
            if outer:
                self._news.clear()
            raise
        if outer:
            self._last_edit = time.monotonic()
            self._checkpoint_when_idle()
            for item in news:
                self._tell(item)

    def _news_of(self, title: str, touched: Touched, origin: object) -> Changes:
        return Changes(title, origin, touched.rows, touched.documents)

    def _tell_later(self, title: str, touched: Touched, origin: object) -> None:
        self._news.append(self._news_of(title, touched, origin))

    def _tell(self, changes: Changes) -> None:
        self._on_main_thread(lambda: self.changed.emit(changes))

    def _on_main_thread(self, act: Callable[[], None]) -> None:
        if threading.get_ident() == self._home or self._dispatch is None:
            act()
        else:
            self._dispatch(act)

    def delete_run(self, run_id: int, *, watch: Watch = QUIET) -> None:
        """Delete a run with its predictions and suggestions. Cannot be undone.

        May be called inside `write`, not inside `edit`.
        """
        with self._writing("", None):
            if (touched := runs.delete(self.db, run_id, watch=watch)) is not None:
                self._tell_later("", touched, None)

    def remove_documents(
        self,
        ids: Sequence[int],
        *,
        redact: Callable[[str], str] | None = None,
        watch: Watch = QUIET,
    ) -> int:
        """Delete documents also from the history; returns their number. Cannot be undone.

        `redact` takes their texts out of the titles of the history and the results of runs.
        Afterwards the file is rewritten. Raises ProjectBusy while another process reads it: the
        documents are deleted then, but traces of them may be left in the file.
        """
        with self._writing("", None):
            deleted = removal.remove(self.db, ids, redact=redact, watch=watch.part(0.0, 0.7))
            self._news.append(Changes(""))
        watch.at(0.7)
        removal.compact(self.db)
        return deleted

    def read_annotator(self) -> None:
        """Read who labels, after it has changed."""
        self.annotator_id, self.annotator_name = provenance.own_annotator(self.db)

    def gold(self, layer_id: int) -> int:
        """The annotator whose labels of a layer are gold: those that are shown, edited, trained
        and exported. Raises KeyError if there is no such layer.
        """
        return labels.gold(self.db)[layer_id]

    def source(self, kind: str, ref: str = "", *, annotator: bool = True) -> int:
        """Add a source row, inside `edit`: records who or what created the rows of this edit."""
        return provenance.add_source(self.db, kind, ref, self.annotator_id if annotator else None)

    def select(self, document_ids: Sequence[int], origin: object = None) -> None:
        """Make these the current documents of the session, which every page follows.

        Emits `selected(origin)` if they are others; `origin` is the page where they were selected.
        """
        if (selection := tuple(document_ids)) != self.selection:
            self.selection = selection
            self.selected.emit(origin)

    # ------------------------------------------------------------ undo

    def undo(self, steps: int = 1, *, watch: Watch = QUIET) -> str | None:
        """Undo the most recent steps. Returns the title of the last one undone, or None if there is
        nothing to undo.

        If cancelled, nothing is undone.
        """
        return self._play("undo", steps, watch)

    def redo(self, steps: int = 1, *, watch: Watch = QUIET) -> str | None:
        return self._play("redo", steps, watch)

    def _play(self, way: str, steps: int, watch: Watch) -> str | None:
        played: list[tuple[str, Touched]] = []
        with self._writing("", None):
            move = getattr(self.db.journal, way)
            for number in range(steps):
                if (done := move(watch=watch.part(number / steps, (number + 1) / steps))) is None:
                    break
                played.append(done)
        self.read_annotator()
        if any(touched.rows is None for _title, touched in played):
            self._tell(Changes(played[-1][0]))  # one reload for all steps is enough
        else:
            for title, touched in played:
                self._tell(self._news_of(title, touched, None))
        return played[-1][0] if played else None

    @property
    def undo_step(self) -> int | None:
        """The id of the step that would be undone next."""
        step = history.next_undo(self.db.reader())
        return step.id if step else None

    @property
    def undo_title(self) -> str | None:
        step = history.next_undo(self.db.reader())
        return step.title if step else None

    @property
    def redo_title(self) -> str | None:
        step = history.next_redo(self.db.reader())
        return step.title if step else None

    def history(self, limit: int = 200) -> tuple[HistoryStep, ...]:
        """Most recent first; undone steps come before those that can be undone."""
        return history.steps(self.db.reader(), limit)

    @property
    def history_end(self) -> str:
        """Why older steps are not in the history; "" if it is complete."""
        return history.where_it_ends(self.db.reader())

    # ------------------------------------------------------------ durability

    def _checkpoint_when_idle(self) -> None:
        if self.schedule is None:
            return
        if not self._checkpoints_elsewhere and not self.db.in_transaction:
            self._checkpoints_elsewhere = True
            self.db.checkpoint_elsewhere()
        if self._checkpoint_waits is None:
            self._checkpoint_waits = time.monotonic()
            self.schedule(IDLE_SECONDS, self._checkpoint_if_idle)

    def _checkpoint_if_idle(self) -> None:
        now = time.monotonic()
        rest = self._last_edit + IDLE_SECONDS - now
        waited = now - (self._checkpoint_waits or now)
        schedule = self.schedule
        if rest > 0.05 and waited < BUSY_SECONDS and schedule is not None:
            self._on_main_thread(lambda: schedule(rest, self._checkpoint_if_idle))
            return
        self._checkpoint_waits = None
        self.db.checkpoint()
