"""One line of the system check: what was checked, the result, its state and advice.

No check names a file of the user, or a folder other than those of Glossbench.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.base.i18n import N_

OK, WARNING, PROBLEM = STATES = ("ok", "warning", "problem")  # from best to worst
GROUPS = {  # first part of a check's id → title, in the order of the report
    "versions": N_("Versions"),
    "computing": N_("Computing"),
    "display": N_("Display"),
    "storage": N_("Storage"),
    "network": N_("Network and environment"),
}


@dataclass(frozen=True)
class Check:
    """`id` is "group.name" and never changes; `advice` says what to do unless the state is ok."""

    id: str
    title: str
    result: str
    state: str = OK
    advice: str = ""

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    def to_event(self) -> dict[str, object]:
        """The form in which a job target yields it."""
        return {"kind": "check", **asdict(self)}

    @classmethod
    def from_event(cls, payload: Mapping[str, Any]) -> Check:
        return cls(**{name: str(payload[name]) for name in cls.__dataclass_fields__})


def worst(checks: tuple[Check, ...]) -> str:
    """The worst state of the checks, ok if there are none."""
    return max((check.state for check in checks), key=STATES.index, default=OK)


def shown(path: Path) -> str:
    """A folder for display: paths in the home folder begin with ~, so the user is not named."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


def gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
