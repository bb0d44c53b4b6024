"""Whether what an objective of a plugin returns is what its contract says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch import Tensor

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, needed_plugin
from workbench.pretraining.objectives.base import Objective, TextBatch
from workbench.pretraining.results import ShownRow
from workbench.pretraining.texts import Texts
from workbench.tasks.base import Loss


def _broken(objective: Objective, fault: str) -> SpecError:
    id = objective.info.id
    message = _(
        "The objective {objective} does not follow its contract: {fault}.",
        objective=id,
        fault=fault,
    )
    return SpecError(message, hint=contract_hint(id))


def batches(objective: Objective, texts: Texts) -> Iterator[TextBatch]:
    """The batches of the objective. Raises SpecError for other values and a progress outside (0,
    1].
    """
    if not needed_plugin(objective.info.id):
        yield from objective.batches(texts)
        return
    for batch in objective.batches(texts):
        if not isinstance(batch, TextBatch):
            fault = _("`batches` yielded {kind}, expected a TextBatch")
            raise _broken(objective, fault.format(kind=type(batch).__name__))
        if not 0 < batch.progress <= 1:
            fault = _("the progress of a batch is {value}, expected above 0 and at most 1")
            raise _broken(objective, fault.format(value=batch.progress))
        yield batch


def losses(
    objective: Objective, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
) -> dict[str, Loss]:
    """The losses of the objective. Raises SpecError unless they are scalar totals and counts by
    name.
    """
    losses = objective.losses(inputs, targets)
    if not needed_plugin(objective.info.id):
        return losses
    if not isinstance(losses, Mapping) or not losses:
        fault = _("`losses` returned {kind}, expected names with Loss(total, count)")
        raise _broken(objective, fault.format(kind=type(losses).__name__))
    for name, loss in losses.items():
        if not isinstance(loss, tuple) or len(loss) != 2:
            fault = _("the loss {name!r} is of type {kind}, expected Loss(total, count)")
            raise _broken(objective, fault.format(name=name, kind=type(loss).__name__))
        shapes = [tuple(getattr(value, "shape", (None,))) for value in loss]
        if shapes != [(), ()]:
            fault = _("total and count of the loss {name!r} are not scalar tensors")
            raise _broken(objective, fault.format(name=name))
    return losses


def shown(objective: Objective, batch: TextBatch) -> list[ShownRow]:
    """A batch as text. Raises SpecError unless the objective returned rows."""
    rows = objective.shown(batch)
    if not all(isinstance(row, ShownRow) for row in rows):
        raise _broken(objective, _("`shown` returned values that are not of the type ShownRow"))
    return rows
