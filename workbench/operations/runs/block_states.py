"""What a training does with each block of a model: frozen, trained, unfrozen later, or new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.base.i18n import N_
from workbench.models.spec import read_folder
from workbench.models.spec.blocks import Block, model_map
from workbench.operations.runs import run_results
from workbench.training.methods import spec as methods
from workbench.training.spec import TrainSpec

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.storage.runs.runs import Run
    from workbench.training.methods.spec import MethodInfo

FROZEN, TRAINED, LATER, INSERTED, NEW, UNUSED = (
    "frozen", "trained", "later", "inserted", "new", "unused",
)  # fmt: skip
_HEAD = N_("Head of the task")
_POOLER = N_("Pooler")
_ABOVE_LAYERS = (_POOLER, N_("Final layer norm"))  # trained with the head


@dataclass(frozen=True)
class MarkedBlock:
    """state: one of those above. epoch: 1-based, from which it is trained if it is LATER.

    INSERTED: its weights are frozen, small matrices beside them with `inserted` parameters are
    trained.
    """

    block: Block
    state: str
    epoch: int = 0
    inserted: int = 0

    @property
    def trained(self) -> int:
        """Parameters that are trained at some time, of the model or beside it."""
        return self.block.parameters if self.state in (TRAINED, LATER) else self.inserted


def marked(spec: TrainSpec, card: ModelInfo, epochs: int) -> tuple[MarkedBlock, ...]:
    """The blocks of the encoder and the new head; layers are divided where their states differ.

    Call it off the main thread. Raises SpecError if the settings do not fit the model.
    """
    method = methods.info(spec.method)
    options = spec.all_options
    factors = [method.factors(card.layers, options, epoch) for epoch in range(max(1, epochs))]
    factors[0] = method.most(card.layers, options, 0)
    levels = [
        next((epoch for epoch, row in enumerate(factors, 1) if row[level]), 0)
        for level in range(card.layers + 2)
    ]
    marks = [mark for block in model_map(card).blocks for mark in _marks(block, levels, method)]
    if method.inserts:
        marks = _with_inserted(marks, spec.forecast(card).trainable)
    return (*marks, MarkedBlock(Block(_HEAD, 0, head=True), NEW))


def _with_inserted(marks: list[MarkedBlock], trainable: int) -> list[MarkedBlock]:
    """Divide the trained parameters that are not of the model among the layers."""
    layers = sum(block.block.count for block in marks if block.state == INSERTED)
    each = (trainable - sum(block.trained for block in marks)) // max(1, layers)
    return [
        replace(block, inserted=each * block.block.count) if block.state == INSERTED else block
        for block in marks
    ]


def of_run(run: Run) -> tuple[MarkedBlock, ...]:
    """The blocks of a training that has been started. Raises ModelError if its model is missing."""
    spec = TrainSpec.from_json(run.spec)
    plan = run_results.planned(run)
    epochs = plan.epochs if plan is not None else int(spec.option("epochs") or 1)
    return marked(spec, read_folder(spec.model, allow_pickle=spec.allow_pickle), epochs)


def _marks(block: Block, levels: Sequence[int], method: MethodInfo) -> Iterator[MarkedBlock]:
    """levels: first epoch of the embeddings, each layer and the head; 0 if they are frozen."""
    if block.head:
        yield MarkedBlock(block, UNUSED)  # replaced by the head of the task
        return
    if not block.layers:
        is_above = block.title in _ABOVE_LAYERS
        if block.title == _POOLER and not method.trains_pooler:
            yield MarkedBlock(block, FROZEN)
            return
        yield _mark(block, levels[-1 if is_above else 0], method.inserts and not is_above)
        return
    first, last = block.layers
    each = block.parameters // block.count
    start = first
    for number in range(first, last + 1):
        here = levels[min(number, len(levels) - 1)]
        after = levels[min(number + 1, len(levels) - 1)] if number < last else None
        if here != after:
            part = replace(block, layers=(start, number), parameters=each * (number - start + 1))
            yield _mark(part, here, method.inserts)
            start = number + 1


def _mark(block: Block, epoch: int, inserts: bool) -> MarkedBlock:
    if not epoch:
        return MarkedBlock(block, FROZEN)
    if inserts:
        return MarkedBlock(block, INSERTED)
    return MarkedBlock(block, TRAINED) if epoch == 1 else MarkedBlock(block, LATER, epoch)
