"""What a run reported at its end, as a record; the project stores it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.metrics import evaluation
from workbench.operations.runs.kinds import contract as kinds
from workbench.prompting.results import PromptResult
from workbench.training.plan import Plan
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Evaluation
    from workbench.storage.runs.runs import Run


def trained(run: Run) -> TrainResult:
    """Every field has its default if the run failed or has not ended."""
    return TrainResult.from_json(run.result)


def planned(run: Run) -> Plan | None:
    """What the automatic settings of a training became before its start; of a run of an earlier
    version what it reported at its end, None if it has not ended.
    """
    return Plan.from_json(run.spec.get("resolved")) or trained(run).plan


def prompted(run: Run) -> PromptResult:
    """As `trained`, for a run that asked a prompt."""
    return PromptResult.from_json(run.result)


def prices(run: Run) -> tuple[float, ...]:
    """Of a million tokens sent and received when a prompt run was started; () without any."""
    return tuple(run.spec.get("prices") or ())


def columns(result: TrainResult | PromptResult) -> dict[str, Any]:
    """The columns of a run that hold a result."""
    return columns_of_form(result.to_json())


def columns_of_form(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a result in the form that a worker returned; scores and versions have columns
    of their own.
    """
    other = ("versions", "scores")
    return {
        "result": {name: value for name, value in raw.items() if name not in other},
        "scores": {split: dict(item["scores"]) for split, item in scored(raw).items()},
        "versions": dict(raw.get("versions") or {}),
    }


def scored(raw: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The evaluations in the form of a result, by split; damaged ones are left out.

    Of an earlier version only the scores.
    """
    forms = {split: {"scores": scores} for split, scores in (raw.get("scores") or {}).items()}
    forms |= raw.get("evaluations") or {}
    return {
        split: form
        for split, form in forms.items()
        if isinstance(form, Mapping) and isinstance(form.get("scores"), Mapping)
    }


def evaluations(run: Run) -> dict[str, Evaluation]:
    """What the run itself was scored with, by split; of an earlier version only the scores."""
    return evaluation.from_json({**run.result, "scores": run.scores})


def outcome(run: Run) -> TrainResult | PromptResult:
    return kinds.info(run.kind).result.from_json(run.result)
