"""What's new: the newest entries of the change list, one sentence each."""

from __future__ import annotations

import re

from workbench.base import paths

CHANGES = "help/changes.md"
MOST = 6  # number of entries on the Welcome page


def newest() -> tuple[str, tuple[str, ...]]:
    """Entries of the included change list; empty if it is missing."""
    try:
        return read(paths.resource(CHANGES).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return "", ()


def read(text: str, most: int = MOST) -> tuple[str, tuple[str, ...]]:
    """The newest version in a change list, and the first sentences of its newest entries.

    Entries are lines that start with "- ", the newest last; indented lines continue an entry.
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
    return version, tuple(_first_sentence(entry) for entry in entries[: -most - 1 : -1])


def _first_sentence(entry: str) -> str:
    """Without the marks of Markdown, as it is shown as plain text."""
    plain = re.sub(r"[`*]", "", entry)
    return re.split(r"(?<=[.;])\s", plain, maxsplit=1)[0].rstrip(".;")
