"""Whether what a task of a plugin returns is what its contract says. Without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, needed_plugin
from workbench.tasks.spec import TaskInfo

if TYPE_CHECKING:
    from workbench.runtime.inputs import Prepared
    from workbench.text.fields import Prediction

PER_TOKEN = "token"  # value of `TaskInfo.logits`


class _Task(Protocol):
    """What `targets` needs of a `tasks.base.Task`, which imports this module."""

    info: TaskInfo
    loss_targets: Mapping[str, str]

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[Any],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]: ...


def _broken(info: TaskInfo, fault: str) -> SpecError:
    message = _("The task {task} does not follow its contract: {fault}.", task=info.id, fault=fault)
    return SpecError(message, hint=contract_hint(info.id))


def targets(
    task: _Task,
    prepared: Prepared,
    golds: Sequence[Any],
    labels: Sequence[str],
    options: Mapping[str, Any],
) -> dict[str, list[np.ndarray]]:
    """The targets of the task. Raises SpecError if they are not one array per input."""
    by_name = task.targets(prepared, golds, labels, options)
    if not needed_plugin(task.info.id):
        return by_name
    if not isinstance(by_name, Mapping):
        fault = _("`targets` returned {kind}, expected a dict of lists")
        raise _broken(task.info, fault.format(kind=type(by_name).__name__))
    for name in set(task.loss_targets.values()) - set(by_name):
        fault = _("`targets` returned no {name!r}, which `loss_targets` names")
        raise _broken(task.info, fault.format(name=name))
    for name, rows in by_name.items():
        if len(rows) != len(prepared.inputs):
            fault = _(
                "number of rows of {name!r} from `targets`: {n}, expected {count}, one per input"
            )
            raise _broken(
                task.info, fault.format(n=len(rows), name=name, count=len(prepared.inputs))
            )
    return by_name


def ensure_named(head: object, logits: object) -> None:
    """Raises SpecError unless a head of our own, or of a plugin, returned logits by name."""
    if not isinstance(logits, Mapping):
        message = _("The head {head} returned {kind}, expected a dict of tensors by name.")
        name, kind = type(head).__qualname__, type(logits).__name__
        raise SpecError(message.format(head=name, kind=kind))


def ensure_logits(info: TaskInfo, logits: Mapping[str, Any], mask: Any) -> None:
    """mask (B, T) of the inputs, or None. Raises SpecError if names or shapes differ."""
    if not needed_plugin(info.id):
        return
    if set(logits) != set(info.logits):
        fault = _("the head returned {found}, but `logits` of the task names {expected}")
        names = [", ".join(map(repr, sorted(names))) for names in (logits, info.logits)]
        raise _broken(info, fault.format(found=names[0] or "–", expected=names[1]))
    for name, axis in info.logits.items() if mask is not None else ():
        shape = tuple(mask.shape) if axis == PER_TOKEN else tuple(mask.shape)[:1]
        actual = tuple(logits[name].shape)
        if actual[: len(shape)] != shape:
            fault = _("the logits {name!r} have the shape {found}, expected {expected}, …")
            expected = str(shape).strip("(),")
            raise _broken(info, fault.format(name=name, found=actual, expected=expected))


def ensure_losses(info: TaskInfo, losses: Mapping[str, tuple[Any, Any]]) -> None:
    """Raises SpecError unless they are totals and counts by name."""
    if not needed_plugin(info.id):
        return
    if not isinstance(losses, Mapping) or not all(
        isinstance(loss, tuple) and len(loss) == 2 for loss in losses.values()
    ):
        fault = _("`losses` returned {kind}, expected names with Loss(total, count)")
        raise _broken(info, fault.format(kind=type(losses).__name__))


def decoded(info: TaskInfo, predictions: Sequence[Prediction], count: int) -> Sequence[Prediction]:
    """The predictions. Raises SpecError unless there is one for each of `count` documents."""
    if needed_plugin(info.id) and len(predictions) != count:
        fault = _("number of predictions from `decode`: {n}, expected {count}, one per document")
        raise _broken(info, fault.format(n=len(predictions), count=count))
    return predictions


def score(
    info: TaskInfo, golds: Sequence[Any], predictions: Sequence[Prediction]
) -> dict[str, float]:
    """The scores of the task. Raises SpecError if one that it declares is missing."""
    scores = info.score(golds, predictions)
    missing = [each.name for each in info.scores if each.name not in scores]
    if missing and needed_plugin(info.id):
        fault = _("`score` returned no {names}, which `scores` declares")
        raise _broken(info, fault.format(names=", ".join(missing)))
    return scores
