"""Why a library could not load a file, in one line."""

from __future__ import annotations

import re

from workbench.base.errors import unreadable
from workbench.base.i18n import _

MAX_CHARS = 300  # characters
_CHECKED = re.compile(r"Weights only load")
_NEEDED = re.compile(r"Unsupported (?:global|class|operand): (?:GLOBAL )?([\w.]+)")


def reason(error: BaseException) -> str:
    """The first line of the error; for a pickle that holds more than weights, what it asks for.

    torch recommends there to load the file without its checks, which would execute code.
    """
    if isinstance(error, UnicodeDecodeError):
        return unreadable(error)
    text = str(error).strip()
    if _CHECKED.match(text):
        match = _NEEDED.search(text)
        if match is None:
            return _("the pickle is damaged, or holds more than weights")
        return _(
            "the pickle needs {name}, which can execute code and is not loaded", name=match.group(1)
        )
    first, *others = text.split("\n")
    if first.endswith(":") and others:  # names the object first, and what is wrong with it next
        first = f"{first} {others[0].strip()}"
    return first[:MAX_CHARS].strip().removesuffix(".") or type(error).__name__
