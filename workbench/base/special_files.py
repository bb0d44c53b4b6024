"""Pipes, sockets and devices in folders from others: opening or reading one may never end."""

from __future__ import annotations

import stat
from itertools import chain, islice
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.base.i18n import _

MOST_FILES = 10_000  # looked at, in a folder and one level below


def refuse(model: Path) -> None:
    """Raises ModelError if a model, or a file in its folder or one level below, is one of them."""
    inside = (islice(model.glob(pattern), MOST_FILES) for pattern in ("*", "*/*"))
    for path in chain([model], *inside):
        try:
            mode = path.stat().st_mode
        except OSError:  # reported where the file is read
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise ModelError(
                _("{path} is a pipe or a device, not a file", path=path),
                hint=_("Remove it from the folder of the model."),
            )
