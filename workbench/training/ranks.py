"""The processes that train one model together, each with its part of every batch.

Every process draws the same batches; the first one alone evaluates, saves and reports. Gradients
are summed here instead of by torch's DistributedDataParallel: which parameters are trained changes
between epochs (gradual unfreezing), and a loss is divided by a count of all processes, not by that
of its own. The sums are the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch import distributed as dist

from workbench.base import peers
from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.tasks.base import Loss

BUCKET = 1 << 23  # gradients that are sent together
# The other processes wait while the first one evaluates or saves; `jobs.peers` notices if one ends.
PATIENCE = timedelta(days=7)
T = TypeVar("T")


class Ranks:
    """number: of this process, from 0. count: of all. With one process nothing is exchanged."""

    def __init__(self, number: int = 0, count: int = 1):
        self.number, self.count = number, count

    @property
    def first(self) -> bool:
        return not self.number

    def whole(self, losses: Mapping[str, Loss]) -> dict[str, Loss]:
        """The losses of the whole batch, detached."""
        own = {name: Loss(*map(torch.detach, loss)) for name, loss in losses.items()}
        if self.count == 1 or not own:
            return own
        sums = torch.stack([value.double() for loss in own.values() for value in loss])
        dist.all_reduce(sums)
        pairs = zip(own.items(), sums.view(-1, 2), strict=True)
        return {
            name: Loss(*(part.to(value.dtype) for part, value in zip(pair, loss, strict=True)))
            for (name, loss), pair in pairs
        }

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give every process the gradients of all; of what no process used there is none."""
        if self.count == 1:
            return
        trained = list(parameters)
        used = torch.tensor(
            [parameter.grad is not None for parameter in trained],
            dtype=torch.int32,
            device=trained[0].device,
        )
        dist.all_reduce(used)
        gradients = []
        for parameter, uses in zip(trained, used.tolist(), strict=True):
            if uses and parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            if uses:
                assert parameter.grad is not None
                gradients.append(parameter.grad)
        for bucket in _buckets(gradients):
            _sum(bucket)

    def agree(self, value: T) -> T:
        """The value of the first process."""
        if self.count == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box)
        return box[0]

    def any(self, value: bool) -> bool:
        """Whether it is so in one of the processes."""
        if self.count == 1:
            return value
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        count = torch.tensor(int(value), device=device)
        dist.all_reduce(count)
        return bool(count)

    def gather(self, value: T) -> list[T]:
        """The values of all processes, in order."""
        if self.count == 1:
            return [value]
        box: list[Any] = [None] * self.count
        dist.all_gather_object(box, value)
        return box

    def share_weights(self, model: nn.Module) -> None:
        """Begin with the weights of the first process, and with random numbers of one's own."""
        if self.count > 1:
            for tensor in (*model.parameters(), *model.buffers()):
                dist.broadcast(tensor.detach(), 0)
            torch.manual_seed(torch.initial_seed() + self.number)

    def leave(self) -> None:
        if self.count > 1 and dist.is_initialized():
            dist.destroy_process_group()


def join(device: torch.device) -> tuple[Ranks, torch.device]:
    """The processes of this job and the device of this one, once all have come here.

    The environment says which it is, in the variables of `torchrun`.
    """
    count = peers.count()
    if count == 1:
        return Ranks(), device
    if device.type == "cuda" and count > torch.cuda.device_count():
        raise SpecError(
            _(
                "processes is {count}, but torch can use fewer GPUs: {gpus}.",
                count=count,
                gpus=torch.cuda.device_count(),
            ),
            hint=_("Set processes to at most the number of GPUs."),
        )
    from accelerate import PartialState

    where = {}
    if path := os.environ.get(peers.RENDEZVOUS):  # a file instead of a port that others could reach
        where = {
            "init_method": f"file://{path}",
            "rank": peers.number(),
            "world_size": count,
        }
    PartialState._reset_state()  # of an earlier job of this process
    state = PartialState(cpu=device.type == "cpu", timeout=PATIENCE, **where)
    return Ranks(state.process_index, state.num_processes), state.device


def _buckets(gradients: Sequence[Tensor]) -> Iterable[list[Tensor]]:
    """Gradients of one type, at most BUCKET numbers together, or one larger."""
    bucket: list[Tensor] = []
    numbers = 0
    for gradient in sorted(gradients, key=lambda gradient: str(gradient.dtype)):
        is_other = bucket and bucket[0].dtype != gradient.dtype
        if bucket and (is_other or numbers + gradient.numel() > BUCKET):
            yield bucket
            bucket, numbers = [], 0
        bucket.append(gradient)
        numbers += gradient.numel()
    if bucket:
        yield bucket


def _sum(bucket: Sequence[Tensor]) -> None:
    flat = torch.cat([gradient.reshape(-1) for gradient in bucket])
    dist.all_reduce(flat)
    parts = flat.split([gradient.numel() for gradient in bucket])
    for gradient, part in zip(bucket, parts, strict=True):
        gradient.copy_(part.view_as(gradient))
