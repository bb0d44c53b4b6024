"""What is new: the newest entries of the list of changes, in a sentence each."""

from __future__ import annotations

import re

from workbench.base import paths

CHANGES = "help/changes.md"
MOST = 6  # entries that the Welcome page shows


def newest() -> tuple[str, tuple[str, ...]]:
    """`read` of the list of changes that this version came with; nothing where it is missing."""
    try:
        return read(paths.resource(CHANGES).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return "", ()


def read(text: str, most: int = MOST) -> tuple[str, tuple[str, ...]]:
    """The newest version in a list of changes, and the first sentences of its newest entries.

    Entries are lines that begin with "- ", the newest last; a line that is indented goes on.
    """
    version, entries = "", []
    for line in text.splitlines():
        if line.startswith("## "):
            if version:
                break
            version = line[3:].strip()
        elif line.startswith("- "):
            entries.append(line[2:].strip())
        elif line.startswith("  ") and entries:
            entries[-1] += " " + line.strip()
    return version, tuple(_first_sentence(one) for one in entries[: -most - 1 : -1])


def _first_sentence(entry: str) -> str:
    return re.split(r"(?<=[.;:])\s", entry, maxsplit=1)[0].rstrip(".;:")
