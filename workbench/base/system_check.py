"""One line of the system check: what was checked, the result, its state and advice.

No check names a file of the user, or a folder other than those of Glossbench.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import sizes
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
    """`id` is "group.name" and never changes; `advice` says what to do unless the state is ok.

    `sizes`: bytes by name; `{name}` in `result` stands for them, as the window writes numbers in
    the locale of the user. Read the result with `describe`.
    """

    id: str
    title: str
    result: str
    state: str = OK
    advice: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)

    def describe(self, size: Callable[[int], str] | None = None) -> str:
        """The result; `size` formats bytes, by default without a locale."""
        text = self.result
        for name, count in self.sizes.items():
            text = text.replace(f"{{{name}}}", (size or sizes.size)(count))
        return text

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    def to_event(self) -> dict[str, object]:
        """The form in which a job target yields it."""
        return {"kind": "check", **asdict(self)}

    @classmethod
    def from_event(cls, payload: Mapping[str, Any]) -> Check:
        texts = ("id", "title", "result", "state", "advice")
        sizes = {str(name): int(count) for name, count in payload["sizes"].items()}
        return cls(**{name: str(payload[name]) for name in texts}, sizes=sizes)


def worst(checks: tuple[Check, ...]) -> str:
    """The worst state of the checks, ok if there are none."""
    return max((check.state for check in checks), key=STATES.index, default=OK)


def shown(path: Path) -> str:
    """A folder for display: paths in the home folder begin with ~, so the user is not named."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)
