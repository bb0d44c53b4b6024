"""What the Welcome page shows: recent projects, with missing ones marked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.base import paths
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.ui.moments import when


@dataclass(frozen=True)
class Recent:
    """`when` is when the file was last written, in words; "" if it is missing."""

    path: str
    name: str
    folder: str
    when: str
    missing: bool


class WelcomeState(State):
    def __init__(self, context):
        super().__init__()
        self.context = context
        self.recent: tuple[Recent, ...] = ()
        self.look()

    def look(self) -> None:
        """Look at the files again."""
        self.update(recent=tuple(_recent(one) for one in self.context.settings.recent))

    def open(self, path: str) -> None:
        self.context.app.open_project(path)
        self.look()

    def act(self, name: str) -> None:
        self.context.app.act(name)

    def locate(self, old: str, new: str) -> None:
        """A project has moved: open it where it is now, and forget the old place."""
        if self.context.app.open_project(new):
            self.context.settings.forget_project(old)

    def remove(self, path: str) -> None:
        """Take a project off the list; its file stays."""
        settings, before = self.context.settings, list(self.context.settings.recent)
        settings.forget_project(path)
        self.look()
        self.context.note(
            _("{name} was taken off the list.").format(name=Path(path).name),
            lambda: self._put_back(before),
        )

    def _put_back(self, recent: list[str]) -> None:
        self.context.settings.recent = recent
        self.context.settings.save()
        self.look()


def _recent(name: str) -> Recent:
    path = Path(name)
    try:
        changed = path.stat().st_mtime
    except OSError:
        return Recent(name, path.stem, short(path), "", True)
    return Recent(name, path.stem, short(path), when(changed), False)


def short(path: Path) -> str:
    """The path with the home folder as ~."""
    home = paths.documents_folder().parent
    for base in (Path.home(), home):
        if path.is_relative_to(base):
            return f"~/{path.relative_to(base).as_posix()}"
    return str(path)
