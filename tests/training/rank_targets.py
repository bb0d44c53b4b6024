"""Trainings whose second process is short of memory, as targets of jobs."""

import torch

from workbench.base import peers
from workbench.training import loop
from workbench.training.finetuning import FineTuning

MOST = 1  # example that the second process has room for


def forward(params, folder):
    """No room for the activations of more examples."""
    losses = FineTuning.losses

    def short(learning, batch):
        if peers.number() == 1 and torch.is_grad_enabled() and learning.size(batch) > MOST:
            raise torch.OutOfMemoryError("no memory")
        return losses(learning, batch)

    FineTuning.losses = short
    return (yield from loop.run(params, folder))


def backward(params, folder):
    """No room for the gradients of more examples."""
    losses = FineTuning.losses

    def short(learning, batch):
        computed = losses(learning, batch)
        if peers.number() == 1 and torch.is_grad_enabled() and learning.size(batch) > MOST:
            computed["task"].total.register_hook(_fail)
        return computed

    FineTuning.losses = short
    return (yield from loop.run(params, folder))


def _fail(_gradient):
    raise torch.OutOfMemoryError("no memory")
