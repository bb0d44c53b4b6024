"""The job that examines a sample of the documents of a project with one model."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.records import to_plain
from workbench.base.registry import registry
from workbench.inspection import spec
from workbench.inspection.base import Examiner
from workbench.inspection.subject import Subject
from workbench.models import device as devices
from workbench.text import dataset


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target.

    params: inspector (its id), model (folder), allow_pickle, device, input (documents as JSON
    lines), task (see `Examiner.examine`), options, output (path of the result).

    Yields {"kind": "progress", "part"}. Writes the result as JSON; returns {}.
    """
    devices.use_threads()
    yield {"kind": "progress", "part": 0.0}
    subject = Subject(
        str(params["model"]),
        device=str(params.get("device") or "auto"),
        allow_pickle=bool(params.get("allow_pickle")),
    )
    id = str(params["inspector"])
    examiner: Examiner = registry().get("inspector", id)()
    options = spec.options(id, params["options"])
    data = dataset.read(Path(params["input"]))
    work = examiner.examine(subject, data, str(params["task"]), options)
    try:
        while True:
            yield {"kind": "progress", "part": next(work)}
    except StopIteration as end:
        text = json.dumps(to_plain(end.value), ensure_ascii=False)
        Path(params["output"]).write_text(text, encoding="utf-8")
    return {}
