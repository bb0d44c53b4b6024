"""What's new: the highlights of the newest version in the change list."""

from __future__ import annotations

import re

from workbench.base import paths

CHANGES = "help/changes.md"
MAX_ENTRIES = 6  # number of entries on the Welcome page
HIGHLIGHTS = "### Highlights"  # the section of a version that the Welcome page shows


def newest() -> tuple[str, tuple[str, ...]]:
    """Entries of the included change list; empty if it is missing."""
    try:
        return read(paths.resource(CHANGES).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return "", ()


def read(text: str, most: int = MAX_ENTRIES) -> tuple[str, tuple[str, ...]]:
    """The newest version in a change list, and its highlights.

    They are the entries below "### Highlights"; a version without that section has none. Entries
    are lines that start with "- "; indented lines continue an entry.
    """
    version, section, entries = "", "", list[str]()
    for line in text.splitlines():
        if line.startswith("## "):
            if version:
                break
            version = line[3:].strip()
        elif line.startswith("### "):
            section = line.strip()
        elif section != HIGHLIGHTS:
            continue
        elif line.startswith("- "):
            entries.append(line[2:].strip())
        elif line.startswith("  ") and entries:
            entries[-1] += " " + line.strip()
    return version, tuple(_plain(entry) for entry in entries[:most])


def _plain(entry: str) -> str:
    """Without Markdown markup."""
    return re.sub(r"[`*]", "", entry).rstrip(".;")
