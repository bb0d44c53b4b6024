"""Python's own `import` in place of that of PySide6. Imports no Qt."""

from __future__ import annotations

import builtins


def restore() -> None:
    """Undo what PySide6 does for `from __feature__ import …`, which is not used here.

    Its `__import__` reads the source of every imported module once more, to see whether it uses
    PySide6: 0.11 CPU s until the first page is shown. Can be removed once it does that only where
    a feature is used (6.11 does not).
    """
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
