"""A command is one action of the user, with its title, menu and keys.

Tables of commands define the menus, keyboard shortcuts, command palette and shortcut list.

Also a `MenuChoice`: one line of a context menu or of a submenu.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _

MENUS = (N_("File"), N_("Edit"), N_("View"), N_("Labels"), N_("Run"), N_("Help"))


def always(_target: Any) -> bool:
    return True


def _nothing(_target: Any) -> None:
    """Placeholder for a shortcut that a widget handles itself."""


@dataclass(frozen=True)
class MenuChoice:
    """One entry of a context menu or submenu; `choices` make it a submenu.

    `title` may contain a mnemonic. The shortcut shown is that of the command whose id is `command`,
    or `key`. An entry with `on` (True or False) is checkable. `tip`: why it is disabled, on hover.
    """

    title: str
    act: Callable[[], object] = lambda: None
    enabled: bool = True
    command: str = ""
    key: str = ""
    on: bool | None = None
    choices: tuple[MenuChoice | None, ...] = ()
    tip: str = ""


SEPARATOR = None  # a separator


@dataclass(frozen=True)
class Command:
    """`run(target)` runs the command.

    The target is the window for its own commands and the panel for a panel's.

    `title` contains the mnemonic (`&`), and "…" if a dialog follows; a function `title(target)` may
    change it each time the menu opens. `keys` are in Qt's portable notation ("Ctrl+Shift+P"); the
    first is shown. A panel's command acts only while its page is shown, unless `anywhere`: then the
    page is opened first, while the keys act on its own page only. `possible` is called with the
    window as long as the page has not been built. With `shown_only`, a widget of the page handles
    the keys itself (mostly single keys), and they are only listed; with `bare` the user can change
    them as well, and `with_ctrl` says that they mean something with Ctrl, too. `choices(target)`
    make a submenu, which has nothing to run.
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
    bare: bool = False
    with_ctrl: bool = False
    choices: Callable[[Any], Sequence[MenuChoice | None]] | None = None
    mode: str = ""  # of the page; commands of different modes may have the same keys
    group: str = ""  # groups of a menu are divided by separators
    # for the shortcut list, if the title is a function: a title that does not depend on the target
    name: str = ""

    def __post_init__(self) -> None:
        if self.menu and self.menu not in MENUS:
            message = _("The command {id!r} is in the menu {menu!r}, which does not exist.")
            raise SpecError(
                message.format(id=self.id, menu=self.menu),
                hint=_("Known: {names}.", names=", ".join(MENUS)),
            )

    @property
    def all_keys(self) -> tuple[str, ...]:
        return (self.keys,) if isinstance(self.keys, str) else tuple(self.keys)

    def words(self, target: Any = None) -> str:
        """The current title, with its mnemonic."""
        return self.title(target) if callable(self.title) else self.title

    def lasting(self) -> str:
        """The title without mnemonic, independent of the target."""
        return self.name if callable(self.title) else self.plain()

    def plain(self, target: Any = None) -> str:
        """The title without mnemonic."""
        return self.words(target).replace("&&", "\0").replace("&", "").replace("\0", "&")
