"""Keys of servers, in the key store of the system and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

SERVICE = "glossbench"
_FILES = "keyrings.alt"  # a package of stores that are files, some without encryption

T = TypeVar("T")


class NoKeyStore(WorkbenchError):
    """The system has no key store that can be used."""


def get(address: str) -> str:
    """The key of a server, "" if it has none or the system has no key store."""
    import keyring

    try:
        return _used(lambda: keyring.get_password(SERVICE, address)) or ""
    except NoKeyStore:
        return ""


def put(address: str, key: str) -> None:
    """Raises NoKeyStore."""
    import keyring

    _used(lambda: keyring.set_password(SERVICE, address, key))


def remove(address: str) -> None:
    """Remove the key of a server, if there is one. Raises NoKeyStore if it cannot be removed."""
    import keyring

    if get(address):
        _used(lambda: keyring.delete_password(SERVICE, address))


def _used(action: Callable[[], T]) -> T:
    import keyring
    from keyring.backends import fail
    from keyring.errors import KeyringError

    hint = _(
        "Keys are kept there and never in a file. Install or unlock one, such as GNOME Keyring or "
        "KWallet. Servers without a key work without it."
    )
    store = keyring.get_keyring()
    if isinstance(store, fail.Keyring) or type(store).__module__.startswith(_FILES):
        raise NoKeyStore(_("This system has no key store."), hint=hint)
    try:
        return action()
    except (KeyringError, RuntimeError, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise NoKeyStore(
            _("The key store of the system cannot be used: {reason}", reason=reason), hint=hint
        ) from None
