"""A command: one thing a person can do, with its words, menu and keys. Tables of them become menus, keys, palette, key sheet.

Also a choice: one line of a context menu or of a submenu.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import N_

MENUS = (N_("File"), N_("Edit"), N_("View"), N_("Labels"), N_("Run"), N_("Help"))


def always(_target: Any) -> bool:
    return True


def _nothing(_target: Any) -> None:
    """For a line of the key sheet whose key a widget handles itself."""


@dataclass(frozen=True)
class Choice:
    """One line of a context menu or submenu; `choices` make a submenu of it.

    `title` may carry a mnemonic. At its right stands the key of the command whose id is `command`,
    or `key`. A line with `on` (True or False) has a tick or the place for one.
    """

    title: str
    act: Callable[[], object] = lambda: None
    enabled: bool = True
    command: str = ""
    key: str = ""
    on: bool | None = None
    choices: tuple[Choice | None, ...] = ()


SEPARATOR = None  # between two choices


@dataclass(frozen=True)
class Command:
    """`run(target)` does it; the target is the window for its own commands, the panel for a panel's.

    `title` carries the mnemonic (`&`) and "…" where a dialog follows; a function `title(target)` may change it each time the
    menu opens. `keys` in Qt's portable notation ("Ctrl+Shift+P"), the first is shown. A panel's command acts only while its
    page is shown, unless `anywhere`: then the page is brought up first, while its keys act on its own page alone; `possible`
    is asked of the window as long as the page has not been built. `shown_only` lists the keys on the key sheet, while a
    widget of the page handles them itself (bare keys, mostly). `choices(target)` make a submenu; it has nothing to run.
    """

    id: str
    title: str | Callable[[Any], str]
    run: Callable[[Any], None] = _nothing
    menu: str = ""
    keys: tuple[str, ...] | str = ()
    enabled: Callable[[Any], bool] = always
    checked: Callable[[Any], bool] | None = None
    anywhere: bool = False
    possible: Callable[[Any], bool] = always
    shown_only: bool = False
    choices: Callable[[Any], Sequence[Choice | None]] | None = None
    group: str = ""  # a separator stands between groups of a menu
    name: str = ""  # the title where it does not change with the target: on the key sheet; for a title that is a function

    @property
    def all_keys(self) -> tuple[str, ...]:
        return (self.keys,) if isinstance(self.keys, str) else tuple(self.keys)

    def words(self, target: Any = None) -> str:
        """The title now, with its mnemonic."""
        return self.title(target) if callable(self.title) else self.title

    def lasting(self) -> str:
        """The title without mnemonic, whatever the target."""
        return self.name if callable(self.title) else self.plain()

    def plain(self, target: Any = None) -> str:
        """The title without mnemonic."""
        return self.words(target).replace("&&", "\0").replace("&", "").replace("\0", "&")
