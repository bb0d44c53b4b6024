"""The description of a ladder experiment; the last one on each layer is kept beside the runs.

Finished runs are found by their settings: with the description, an experiment can be continued in
the window after a restart, also one that was started on the command line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.base.records import json_text
from workbench.operations.experiments.ladder_rungs import RUNGS, Rung, to_json

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.project.project import Project

FILE = "ladder.json"  # in the folder of the runs: layer → description, the last one at the end


@dataclass(frozen=True)
class LadderSpec:
    """The description of an experiment.

    decoders: of DECODERS, ("",) for a task without. settings: of every rung that has them;
    of_rungs: rung → settings of this one alone. parts: see `ladder_rungs.PARTS`.
    """

    task: str
    layer: str
    rungs: tuple[Rung, ...]
    seeds: tuple[int, ...] = (1, 2, 3)
    decoders: tuple[str, ...] = ("",)
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    of_rungs: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    parts: Mapping[str, str] = field(default_factory=dict, hash=False)


def keep(project: Project, spec: LadderSpec) -> None:
    """Store a started experiment as the last one on its layer."""
    path = _file(project)
    specs = {name: raw for name, raw in _read(path).items() if name != spec.layer}
    specs[spec.layer] = {
        "task": spec.task,
        "rungs": [to_json(rung) for rung in spec.rungs],
        "seeds": spec.seeds,
        "decoders": spec.decoders,
        "settings": dict(spec.settings),
        "of_rungs": {rung: dict(own) for rung, own in spec.of_rungs.items()},
        "parts": dict(spec.parts),
    }
    draft = path.with_name(f".{path.name}.part")
    with suppress(OSError):  # the experiment runs all the same
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json_text(specs, indent=1), encoding="utf-8")
        os.replace(draft, path)


def last(project: Project, layer: str = "") -> LadderSpec | None:
    """The last experiment on a layer, on any layer by default; None if there is none."""
    specs = _read(_file(project))
    name = layer or next(reversed(specs), "")
    try:
        raw = specs[name]
        return LadderSpec(
            str(raw["task"]),
            name,
            tuple(map(_rung, raw["rungs"])),
            tuple(map(int, raw["seeds"])),
            tuple(map(str, raw["decoders"])),
            _texts(raw["settings"]),
            {str(rung): _texts(own) for rung, own in raw["of_rungs"].items()},
            _texts(raw["parts"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):  # none, or of another version
        return None


def _file(project: Project) -> Path:
    return project.runs_folder / FILE


def _read(path: Path) -> dict[str, Any]:
    try:
        specs = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return specs if isinstance(specs, dict) else {}


def _rung(raw: Mapping[str, Any]) -> Rung:
    """A known rung by its id, or one of the user."""
    known = next((rung for rung in RUNGS if rung.id == raw["id"]), None)
    options = _texts(raw["options"])
    return known or Rung(str(raw["id"]), str(raw["title"]), str(raw["model"]), options)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in values.items()}
