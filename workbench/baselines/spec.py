"""Baselines as used by the window and the command line. Imports nothing heavy."""

from __future__ import annotations

import json
from abc import ABC
from pathlib import Path

from workbench.base.i18n import N_, _
from workbench.base.registry import registry
from workbench.tasks.spec import TaskInfo

KIND = "baseline"  # in the registry, and the kind of their runs
LABELS = ("ClassScores", "LabelScores", "WordTags", "SpanScores")  # fields with labels
SAMPLE = ("A", "B", "C")  # labels with which a task is asked for its outputs
PREFIX = "baseline:"  # of their ids where a model is expected
DESCRIPTION = "glossbench.json"  # in the folder of a trained baseline
FEATURE_WEIGHTS, TAG_COUNTS = "feature_weights", "tag_counts"
TAG_FEATURES = "tag_features"
TRANSITIONS = "transitions"
GIVES = {  # what `BaselineInfo.gives` can name, for display
    FEATURE_WEIGHTS: N_("weights of words and word pairs"),
    TAG_COUNTS: N_("counts of the tags of words"),
    TAG_FEATURES: N_("weights of features of words"),
}


class BaselineInfo(ABC):  # noqa: B024 (a plugin sets the attributes)
    """The light half of a baseline. Subclasses set the attributes.

    id, title: for display. learns: a sentence on what it does. unit: "item" for baselines that
    label whole documents, "token" for those that label words, as `TaskInfo.logits`.
    output: name of the field that the task must predict; "" for baselines that learn labels, which
    do not fit tasks that predict numbers.
    constant: whether it predicts the same for every text.
    fits_decoder: whether decoding parameters (thresholds) are fitted on dev, as for trained models.
    quick: takes seconds for thousands of documents, so that every training is compared with it.
    gives: what inspectors can show besides predictions, of GIVES: `base.WeighsFeatures`,
    `base.CountsTags`, `base.WeighsTagFeatures`.
    """

    id: str
    title: str
    learns: str
    unit: str = "item"
    output: str = ""
    constant: bool = False
    fits_decoder: bool = True
    quick: bool = False
    gives: tuple[str, ...] = ()

    def fits(self, task: TaskInfo) -> bool:
        return not self.why_unfit(task)

    def why_unfit(self, task: TaskInfo) -> str:
        """Why it cannot learn a task, for display; "" if it can.

        Its logits are those that the task decodes: a task whose outputs are not its labels, such
        as thresholds between them, has no baseline.
        """
        outputs = (self.output,) if self.output else LABELS
        matching = {*outputs} & {*task.outputs}
        if not matching:
            return _(
                "It predicts {ours}, the task predicts {theirs}.",
                ours=", ".join(outputs),
                theirs=", ".join(task.outputs),
            )
        if task.logits != {"logits": self.unit}:
            return _(
                "It gives logits {ours}, the task decodes {theirs}.",
                ours={"logits": self.unit},
                theirs=dict(task.logits),
            )
        names = task.output_names(SAMPLE)
        if self.unit != "item" or not matching & {*LABELS} or len(names) == len(SAMPLE):
            return ""
        return _(
            "It gives a logit for each label, but the outputs of the task are not its labels: "
            "`output_names` of the labels {labels} is {names}.",
            labels=", ".join(SAMPLE),
            names=", ".join(names),
        )


def all_baselines() -> tuple[BaselineInfo, ...]:
    return registry().infos(KIND)


def info(baseline: str) -> BaselineInfo:
    """Raises SpecError listing the baselines that exist."""
    missing = _("There is no baseline {baseline!r}.", baseline=baseline)
    result: BaselineInfo = registry().info(KIND, baseline, missing=missing)
    return result


def fitting(task: TaskInfo) -> tuple[BaselineInfo, ...]:
    """The baselines for a task, in the order of the registry."""
    return tuple(baseline for baseline in all_baselines() if baseline.fits(task))


def kind_of(folder: Path) -> str:
    """The id of the baseline in a folder, "" if it holds none."""
    try:
        raw = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        return str(raw.get(KIND) or "")
    except (OSError, ValueError, AttributeError):
        return ""


def gives(baseline: BaselineInfo, task: TaskInfo) -> tuple[str, ...]:
    """What a baseline provides to inspectors: the stored fields that its task predicts, and more.

    Fields that exist only while a model is inspected need that model.
    """
    from workbench.text import fields  # imports numpy, which the start of the window must not

    kinds = ((name, fields.named(name)) for name in task.outputs)
    stored = [name for name, kind in kinds if kind is not None and kind.key]
    return (*stored, *baseline.gives)
