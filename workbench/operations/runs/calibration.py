"""Temperature and thresholds of a run: stored with its model, applied to stored predictions.

New predictions and exports decode with them, as they are decoding parameters in `glossbench.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.errors import ModelError, unreadable
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.models.spec import DESCRIPTION
from workbench.operations.runs import results, run_folders
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text import result_view
from workbench.text.fields import Prediction

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

TEMPERATURE, THRESHOLDS = "temperature", "thresholds"


def temperature(project: Project, run: Run) -> float:
    """The temperature that a run decodes with; 1 if none was set, or it has no model."""
    if not run_folders.has_model(project, run.id):
        return 1.0
    return float(_described(project, run).get("decoder", {}).get(TEMPERATURE, 1.0))


def set_temperature(project: Project, run_id: int, value: float) -> None:
    """Decode with this temperature from now on; 1 for none. Decisions do not change.

    Raises WorkbenchError if the model of the run is missing. Run it in a thread.
    """
    run = runs.get(project.db, run_id)
    info, factor = tasks.info(results.task_of(run)), value / temperature(project, run)
    _apply(project, run, {TEMPERATURE: value}, lambda prediction: info.rescaled(prediction, factor))


def set_thresholds(project: Project, run_id: int, values: Sequence[float]) -> None:
    """Decide with these thresholds from now on, one for each label of the model in order.

    Raises WorkbenchError if the model of the run is missing. Run it in a thread.
    """
    run = runs.get(project.db, run_id)
    info = tasks.info(results.task_of(run))
    changes = {THRESHOLDS: list(map(float, values))}
    _apply(project, run, changes, lambda prediction: info.with_thresholds(prediction, values))


def _described(project: Project, run: Run) -> dict[str, Any]:
    path = run_folders.existing_model(project, run) / DESCRIPTION
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        message = _("{path} cannot be read: {error}", path=path, error=unreadable(error))
        raise ModelError(message) from error
    return raw if isinstance(raw, dict) else {}


def _apply(
    project: Project,
    run: Run,
    values: Mapping[str, object],
    change: Callable[[Prediction], Prediction],
) -> None:
    described = _described(project, run)
    rows = [
        (id, text_hash, change(Prediction.from_json(raw)))
        for id, text_hash, raw in runs.prediction_rows(project.db, run.id)
    ]
    decoder = {**(described.get("decoder") or {}), **values}
    every = (result_view.of(row).thresholds(row) for _id, _hash, row in rows)
    if thresholds := next(filter(None, every), None):  # a temperature moves them too
        decoder[THRESHOLDS] = list(thresholds.values())
    path = run_folders.existing_model(project, run) / DESCRIPTION
    draft = path.with_suffix(".new")
    text = json_text({**described, "decoder": decoder}, indent=1)
    draft.write_text(text, encoding="utf-8")
    with project.write():
        runs.save_predictions(
            project.db, run.id, ((id, text_hash, row.to_json()) for id, text_hash, row in rows)
        )
        runs.update(project.db, run.id, result={**run.result, "decoder": decoder})
        os.replace(draft, path)
