"""States of the layers of a base model of transformers, as its heads read those of the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

Finish = Callable[[Tensor], Tensor]


def finished(
    body: nn.Module, layers: Sequence[nn.Module], inputs: Mapping[str, Tensor]
) -> tuple[Any, Finish]:
    """The output of the base model with all hidden states (B, T, H), and what it applies to the
    states of its last layer: the final norm of models that normalize before each layer, nothing for
    others.

    `hidden_states` but the last are without it, `last_hidden_state` is with it.
    """
    inside = {id(module) for layer in layers for module in layer.modules()}
    after: list[nn.Module] = []

    def start_again(_module: nn.Module, _inputs: object, _output: object) -> None:
        after.clear()

    def keep(module: nn.Module, arguments: tuple[Any, ...], output: object) -> None:
        if arguments and _is_states(arguments[0]) and _is_states(output):
            after.append(module)

    leaves = (
        module for module in body.modules() if id(module) not in inside and not [*module.children()]
    )
    handles = [layer.register_forward_hook(start_again) for layer in layers]
    handles += [module.register_forward_hook(keep) for module in leaves]
    try:
        output = body(**inputs, output_hidden_states=True)
    finally:
        for handle in handles:
            handle.remove()
    steps = tuple(after)

    def finish(states: Tensor) -> Tensor:
        for module in steps:
            states = module(states)
        return states

    return output, finish


def _is_states(value: object) -> bool:
    return isinstance(value, Tensor) and value.dim() == 3 and value.is_floating_point()


@contextmanager
def replaced_forward(body: nn.Module, output: Any) -> Iterator[None]:
    """Let the base model give this output without computing anything, whatever it is given."""

    def give(*_given: object, **_named: object) -> Any:
        return output

    body.forward = give
    try:
        yield
    finally:
        del body.forward
