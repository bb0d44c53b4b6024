"""builtins.toml and plugin.toml → Contribution records. Reads and checks; imports nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

KINDS = (
    *("importer", "segmenter", "task", "family", "method"),
    *("objective", "baseline", "inspector", "backend", "strategy", "exporter", "model_exporter"),
    *("run_kind", "panel"),
)
BUILTIN = "builtin"  # the source of what ships with the application
API = "1"  # version of the plugin interface
TARGETS = ("info", "view")  # further keys with a "module:name"


class ManifestError(WorkbenchError):
    """A manifest has a missing, unknown or invalid key."""


@dataclass(frozen=True)
class Contribution:
    """One entry of a manifest: what it contributes, and where its object is imported from."""

    kind: str
    id: str
    title: str
    object: str  # "module:name"
    source: str = BUILTIN
    options: dict[str, Any] = field(
        default_factory=dict, hash=False
    )  # the other keys: patterns, needs, outputs, layer kinds …


def read(path: Path, *, source: str = BUILTIN) -> tuple[Contribution, ...]:
    """All contributions of a manifest file, in order.

    Raises ManifestError that names the file and the entry.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError(
            _("{path} cannot be read: {error}").format(path=path, error=error)
        ) from error
    contributions: list[Contribution] = []
    for kind in KINDS:
        for number, entry in enumerate(_entries(path, kind, raw.get(kind, ()))):
            contributions.append(_contribution(path, kind, number, entry, source))
    keys: set[tuple[str, str]] = set()
    for contribution in contributions:
        if (contribution.kind, contribution.id) in keys:
            raise ManifestError(
                _("{path}: {kind} {id!r} is defined twice").format(
                    path=path, kind=contribution.kind, id=contribution.id
                )
            )
        keys.add((contribution.kind, contribution.id))
    return tuple(contributions)


def _entries(path: Path, kind: str, entries: Any) -> Sequence[dict[str, Any]]:
    """The entries of a kind. Raises ManifestError where there is something else."""
    if isinstance(entries, (list, tuple)) and all(isinstance(entry, dict) for entry in entries):
        return entries
    message = _("{path}: entries of the kind {kind} must begin with [[{kind}]].")
    raise ManifestError(message.format(path=path, kind=kind))


def _contribution(
    path: Path, kind: str, number: int, entry: dict[str, Any], source: str
) -> Contribution:
    for key in ("id", "title", "object"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise ManifestError(
                _("{path}: [[{kind}]] number {number} has no {key!r}").format(
                    path=path, kind=kind, number=number + 1, key=key
                )
            )
    if entry["object"].count(":") != 1:
        raise ManifestError(
            _("{path}: object of {kind} {id!r} is {object!r}, expected 'module:name'").format(
                path=path, kind=kind, id=entry["id"], object=entry["object"]
            )
        )
    rest = {key: value for key, value in entry.items() if key not in ("id", "title", "object")}
    return Contribution(kind, entry["id"], entry["title"], entry["object"], source, rest)
