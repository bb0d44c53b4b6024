"""Links in a folder of data: those that lead out of the folder are not followed.

A folder that comes from others could otherwise bring any file of this computer into a project, and
from there into an export. A file or folder that the user names may be a link itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from workbench.base.i18n import ngettext

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
