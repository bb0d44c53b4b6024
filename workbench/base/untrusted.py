"""What is not followed or opened in folders that come from others: links that lead out of them, and
pipes, sockets and devices, whose reading may never end.

A folder of data could otherwise bring any file of this computer into a project, and from there into
an export. A file or folder that the user names may be a link itself.
"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from itertools import chain, islice, takewhile
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext

NAMED = 10  # links in a warning


def leads_out(path: Path, folder: Path) -> bool:
    """Whether an entry of a folder, or a folder between them, is a link to something outside.

    A snapshot of a download from the Hugging Face hub links to files of its own repository.
    """
    if not any(part.is_symlink() for part in takewhile(folder.__ne__, (path, *path.parents))):
        return False
    place = folder.resolve()
    whole = place.parents[1] if place.parent.name == "snapshots" else place
    return not path.resolve().is_relative_to(whole)


def companion_leads_out(path: Path, file: Path) -> bool:
    """Whether a file that is read with `file`, and stands beside it, is a link to another folder.

    Where `file` is a link that the user chose, both may lie in the folder that it leads to.
    """
    return leads_out(path, file.parent) and not path.resolve().is_relative_to(file.resolve().parent)


def not_followed(folder: Path, names: Sequence[str]) -> str:
    """A warning for the links of a folder that lead out of it, of which there is at least one."""
    message = ngettext(
        "{n:,} link of the folder {folder} leads out of it and was not followed: {names}.",
        "{n:,} links of the folder {folder} lead out of it and were not followed: {names}.",
        len(names),
    )
    listed = [*names[:NAMED], *(["…"] if names[NAMED:] else [])]
    return message.format(n=len(names), folder=folder, names=", ".join(listed))


MAX_FILES = 10_000  # looked at, in a folder and one level below


def endless(path: Path) -> bool:
    """Whether it is a device such as /dev/zero: reading one may never end. Pipes are allowed."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def refuse_special_files(model: Path) -> None:
    """Raises ModelError if a model, or a file in its folder or one level below, is one of them."""
    inside = (islice(model.glob(pattern), MAX_FILES) for pattern in ("*", "*/*"))
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
