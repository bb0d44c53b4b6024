"""Baselines as used by the window and the command line. Imports nothing heavy."""

from __future__ import annotations

from abc import ABC

from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.tasks.spec import TaskInfo

KIND = "baseline"  # in the registry, and the kind of their runs
LABELS = ("ClassScores", "LabelScores", "WordTags", "SpanScores")  # fields with labels
PREFIX = "baseline:"  # of their ids where a model is expected


class BaselineInfo(ABC):  # noqa: B024 (a plugin sets the attributes)
    """The light half of a baseline. Subclasses set the attributes.

    id, title: for display. learns: a sentence on what it does. unit: "item" for baselines that
    label whole documents, "token" for those that label words, as `TaskInfo.logits`.
    output: name of the field that the task must predict; "" for baselines that learn labels, which
    do not fit tasks that predict numbers.
    fits_decoder: whether decoding parameters (thresholds) are fitted on dev, as for trained models.
    """

    id: str
    title: str
    learns: str
    unit: str = "item"
    output: str = ""
    fits_decoder: bool = True

    def fits(self, task: TaskInfo) -> bool:
        outputs = (self.output,) if self.output else LABELS
        return task.logits == {"logits": self.unit} and bool({*outputs} & {*task.outputs})


def all_baselines() -> tuple[BaselineInfo, ...]:
    return registry().infos(KIND)


def info(baseline: str) -> BaselineInfo:
    """Raises SpecError listing the baselines that exist."""
    missing = _("There is no baseline {baseline!r}.").format(baseline=baseline)
    found: BaselineInfo = registry().info(KIND, baseline, missing=missing)
    return found


def fitting(task: TaskInfo) -> tuple[BaselineInfo, ...]:
    """The baselines for a task, in the order of the registry."""
    return tuple(baseline for baseline in all_baselines() if baseline.fits(task))
