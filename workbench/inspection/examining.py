"""The job that examines a sample of the documents of a project with one model."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.base.records import json_text, to_plain
from workbench.base.registry import registry
from workbench.inspection import spec
from workbench.inspection.base import Examiner
from workbench.inspection.loading import load
from workbench.text import dataset

if TYPE_CHECKING:
    from workbench.inspection.subject import Subject


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target.

    params: those of `loading.load`, inspector (its id), input (documents as JSON lines), task
    (see `Examiner.examine`), options, output (path of the result).

    Yields {"kind": "progress", "part"}. Writes the result as JSON; returns {}.
    """
    yield {"kind": "progress", "part": 0.0}
    subject = cast("Subject", load(params))  # whatever the needs of the examiner say
    id = str(params["inspector"])
    examiner: Examiner = registry().get("inspector", id)()
    options = spec.options(id, params["options"])
    data = dataset.read(Path(params["input"]))
    work = examiner.examine(subject, data, str(params["task"]), options)
    try:
        while True:
            yield {"kind": "progress", "part": next(work)}
    except StopIteration as end:
        text = json_text(to_plain(end.value))
        Path(params["output"]).write_text(text, encoding="utf-8")
    return {}
