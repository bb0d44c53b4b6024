"""The keys that the user gave to commands, as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.base.settings import Settings


def first_key(settings: Settings, id: str, *keys: str) -> str:
    """The first key of a command now, in portable notation, "" for none; `keys` are its default
    keys.
    """
    own = settings.window.get("keys", {}).get(id)
    current = own if isinstance(own, list) else keys
    return str(current[0]) if current else ""
