"""Identifiers of licences as SPDX writes them (spdx.org/licenses).

The model cards of the Hugging Face Hub have them in lower case.
"""

from __future__ import annotations

import re

_NAMES = {"apache": "Apache", "clause": "Clause", "openrail": "OpenRAIL"}
_KNOWN = re.compile(
    r"(apache|mit|cc|cc0|bsd|[al]?gpl|mpl|pddl|odc|odbl|isc|openrail)(-[a-z0-9.]+)*"
)


def spdx(licence: str) -> str:
    """apache-2.0 → Apache-2.0, mit → MIT, cc-by-sa-3.0 → CC-BY-SA-3.0; others are unchanged."""
    if not _KNOWN.fullmatch(licence):
        return licence
    return "-".join(_NAMES.get(part, part.upper()) for part in licence.split("-"))
