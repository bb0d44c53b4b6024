"""Samples of language models that the user keeps, with the settings they were drawn with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.records import json_text


@dataclass(frozen=True)
class KeptSample:
    """prompt: the text that was continued; settings: options of the inspector."""

    prompt: str
    text: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def _file() -> Path:
    return paths.data_folder() / "samples.jsonl"


def kept() -> tuple[KeptSample, ...]:
    """Kept samples, oldest first; a line that cannot be read is skipped."""
    try:
        lines = _file().read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    samples = []
    for line in lines:
        try:
            samples.append(KeptSample(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return tuple(samples)


def keep(sample: KeptSample) -> None:
    """Add a sample, unless it was kept already. Raises OSError."""
    if sample not in kept():
        _write((*kept(), sample))


def drop(sample: KeptSample) -> None:
    """Remove a sample. Raises OSError."""
    _write(tuple(kept_sample for kept_sample in kept() if kept_sample != sample))


def _write(samples: tuple[KeptSample, ...]) -> None:
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json_text(asdict(sample)) + "\n" for sample in samples)
    fresh = file.with_suffix(".new")
    fresh.write_text("".join(lines), encoding="utf-8")
    fresh.replace(file)
