"""An encoder of the `transformers` library: the base model, alone or with one of its heads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from transformers import DynamicCache

from workbench.models import spec
from workbench.models.base import Branches, Continued, Encoder, Growing, Parts, States
from workbench.models.families.transformer import adapters, continued, foreign_weights
from workbench.models.families.transformer.info.architectures import FIRST_TOKEN, PERMUTED
from workbench.runtime.inputs import MASK
from workbench.runtime.preparers.subwords import SWAPPED, Subwords
from workbench.runtime.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel


_EMBEDDINGS = (
    "embeddings",
    "embed",
    "wte",
    "wpe",
    "tokens_embed",
    "positions_embed",
    "embed_tokens",
    "embed_in",
    "tok_embeddings",
)

_PAST = "past_key_values"
CHOICE = "choice"  # the head that scores one choice after the other
CLASSIFIERS = ("sequence", CHOICE)  # heads of whole texts


class TransformerEncoder(Encoder):
    """A model of transformers: the base model, alone or with one of the library's heads."""

    def __init__(
        self,
        info: spec.ModelInfo,
        model: PreTrainedModel,
        tokenizer: Tokenizer,
        head: str,
        has_pooler: bool = True,
    ):
        super().__init__()
        self.has_pooler = has_pooler  # False: newly initialized, so its output is meaningless
        self.info, self.model, self.head = info, model, head
        self.reduced = False  # whether the weights were loaded in bfloat16
        self.preparer: Subwords = Subwords(tokenizer)
        self.max_length = info.max_length or 512
        types = ("token_type_ids",) if _takes_types(model) else ()
        self.input_names = ("input_ids", MASK, *types)
        self.ends = _ends(model)
        self.delimited = tokenizer.delimiter is not None
        if self.delimited:
            self.pooling = "last"  # the extract token

    @property
    def tokenizer(self) -> Tokenizer:
        return self.preparer.tokenizer

    @property
    def feed_forward(self) -> int:
        names = ("intermediate_size", "hidden_dim", "ffn_dim", "n_inner", "d_ff")
        values = (getattr(self.model.config, name, None) for name in names)
        widths = (width for width in values if isinstance(width, int) and width)
        return next(widths, super().feed_forward)

    @property
    def body(self) -> nn.Module:
        base: nn.Module | None = self.model.base_model
        return base if base is not None else self.model

    def _arguments(self, inputs: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """XLNet gets the positions of padding: torch cannot convert how it inverts the mask."""
        if SWAPPED in inputs:
            inputs = {name: array for name, array in inputs.items() if name != SWAPPED}
        if self.info.architecture not in PERMUTED:
            return inputs
        others = {name: array for name, array in inputs.items() if name != MASK}
        return {**others, "input_mask": (1 - inputs[MASK]).float()}

    def read_both_orders(self) -> None:
        """Read pairs in both orders from now on, see `Encoder.both_orders`."""
        self.both_orders = True
        self.input_names = (*self.input_names, SWAPPED)

    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """The embeddings and each layer, (B, T, H)."""
        states = self._states(inputs)
        if not self.both_orders:
            return states
        layers = self._states({**inputs, "input_ids": inputs[SWAPPED]}).layers
        steps = inputs[MASK].cumsum(1)
        ends = ((steps == steps[:, -1:]) & states.mask).unsqueeze(-1)  # (B, T, 1)
        summed = (
            tensor + ends * other for tensor, other in zip(states.layers, layers, strict=True)
        )
        return states._replace(layers=tuple(summed))

    def _states(self, inputs: Mapping[str, Tensor]) -> States:
        output = self.body(**self._arguments(inputs), output_hidden_states=True)
        pooled = getattr(output, "pooler_output", None) if self.has_pooler else None
        layers = tuple(map(self._full, output.hidden_states))
        return States(layers, inputs[MASK].bool(), pooled if pooled is None else self._full(pooled))

    def _full(self, values: Tensor) -> Tensor:
        """Outputs in float32 where the weights were loaded in bfloat16."""
        return values.float() if self.reduced else values

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Outputs of the loaded head: (B, L), or (B, T, L) of tokens, (B, 1) of one choice each."""
        arguments = self._arguments(inputs)
        if self.head == CHOICE:  # its inputs are (documents, choices, T): one choice each
            arguments = {name: array.unsqueeze(1) for name, array in arguments.items()}
        with self._needed_tokens():
            return self._full(_logits(self.model(**arguments)))

    def _needed_tokens(self) -> AbstractContextManager[None]:
        """Within it, the last layer is computed only for the tokens that the head reads."""
        name = FIRST_TOKEN.get(self.info.architecture)
        config = self.model.config
        summary = getattr(config, "summary_type", "first")  # of multiple choice with ELECTRA
        is_chunked = getattr(config, "chunk_size_feed_forward", 0)
        if not name or self.head not in CLASSIFIERS or summary != "first" or is_chunked:
            return nullcontext()
        return nullcontext() if self.whole else first_token(self.layers[-1].get_submodule(name))

    @property
    def gives_attention(self) -> bool:
        return bool(self.model.config._attn_implementation == "eager")

    def attentions(self, inputs: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Attention weights of every layer (B, heads, T, T)."""
        output = self.body(**self._arguments(inputs), output_attentions=True)
        return tuple(map(self._full, output.attentions))

    def logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """Vocabulary logits (B, K, V) at `positions` (B, K)."""
        return self._full(_logits(self._picked(inputs, positions)[0]))

    def branched_logits(self, texts: Sequence[Branches]) -> Iterator[list[Tensor]] | None:
        """Logits (1 + S, V) for each end of each text; None if the model cannot continue a text."""
        return continued.branched(self, texts) if self._keeps_all else None

    def continuation(self, text: Sequence[int]) -> Continued | None:
        return continued.ContinuedRows(self, text) if self._keeps_all else None

    def growing(self, texts: Sequence[Sequence[int]], before: Growing | None) -> Growing | None:
        if not self._takes(_PAST):
            return None
        return continued.GrowingRows(
            self,
            texts,
            before,
            config=self.model.config,
            share=self._keeps_all,
            positions=self._takes("position_ids"),
        )

    def _takes(self, argument: str) -> bool:
        return argument in inspect.signature(self.body.forward).parameters

    @property
    def _keeps_all(self) -> bool:
        """Whether the model takes keys and values of earlier tokens, and each layer keeps all of
        them. Layers with a sliding window keep only the last ones.
        """
        return self._takes(_PAST) and not any(DynamicCache(config=self.model.config).is_sliding)

    def states_and_logits_at(
        self, inputs: Mapping[str, Tensor], positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """States (B, T, H) of the last layer, and logits (B, K, V) at `positions` (B, K)."""
        output, hidden = self._picked(inputs, positions)
        return self._full(hidden), self._full(output.logits)

    def layer_logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """Logits (L + 1, K, V) of the states of every layer at positions (1, K)."""
        arguments = self._arguments(inputs)
        output, finish = finished(self.body, self.layers, arguments)
        layers = [*map(finish, output.hidden_states[:-1]), output.last_hidden_state]
        index = positions.unsqueeze(-1)
        picked = [layer.gather(1, index.expand(-1, -1, layer.shape[-1])) for layer in layers]
        output["last_hidden_state"] = torch.cat(picked)  # (L + 1, K, H)
        with replaced_forward(self.body, output):
            return self._full(_logits(self.model(**arguments)))

    @property
    def layers(self) -> list[nn.Module]:
        config, names = self.model.config, ("num_hidden_groups", "num_hidden_layers")
        count = next((value for name in names if (value := getattr(config, name, None))), 0)
        return _layers(self.body, count)

    def checkpoint_layers(self, contexts: Callable[[], Any]) -> bool:
        self.whole = True  # the backward pass computes layers again, outside of `logits`
        return checkpointed(self.model, contexts)

    def insert_adapters(self, size: int) -> None:
        adapters.insert(self, size)

    def read_adapters(self, folder: Path) -> None:
        adapters.read(self, folder)

    def adapter_parameters(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        inside = [p for adapter in adapters.present(self).values() for p in adapter.parameters()]
        return inside, adapters.norms(self)

    def pair_logits_at(
        self, inputs: Mapping[str, Tensor], positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits (B, K, V) at `positions`, and (B, 2) of: the second segment follows, or not."""
        output, _hidden = self._picked(inputs, positions)
        return output.prediction_logits, output.seq_relationship_logits

    def _picked(self, inputs: Mapping[str, Tensor], positions: Tensor) -> tuple[Any, Tensor]:
        """The output of the model with a language model head, and the last states (B, T, H).

        The head costs as much as the base model, so it is computed at `positions` only.
        """
        states: list[Tensor] = []

        def pick(_module: nn.Module, _inputs: object, output: Any) -> Any:
            states.append(output[0])  # (B, T, H) → (B, K, H)
            index = positions.unsqueeze(-1).expand(-1, -1, states[0].shape[-1])
            output["last_hidden_state"] = states[0].gather(1, index)
            return output

        hook = self.body.register_forward_hook(pick)
        try:
            return self.model(**self._arguments(inputs)), states[0]
        finally:
            hook.remove()

    def target_logits(self, inputs: Mapping[str, Tensor], targets: Tensor) -> Tensor:
        """Logits (B, S, V) of targets int (B, S) that follow the text of each row, -100 at their
        padding.
        """
        size = targets.shape[1]
        lengths = inputs[MASK].sum(1, keepdim=True)  # (B, 1)
        places = lengths + torch.arange(size, device=targets.device)  # (B, S)
        ids = nn.functional.pad(inputs["input_ids"], (0, size), value=self.tokenizer.pad)
        ids = ids.scatter(1, places, targets.clamp(min=0))  # (B, T + S)
        steps = torch.arange(ids.shape[1], device=ids.device)
        mask = (steps < lengths + (targets >= 0).sum(1, keepdim=True)).long()
        return self.logits_at({"input_ids": ids, MASK: mask}, places - 1)

    def language_logits(self, states: States) -> Tensor:
        """Logits (B, T, V) of the next token."""
        head = cast(nn.Module, self.model.get_output_embeddings())
        logits: Tensor = head(states.layers[-1].to(next(head.parameters()).dtype))
        return self._full(logits)

    def published_boundary(self) -> Mapping[str, Tensor]:
        """Weights of the boundary head, each of the shape in `SpanBoundary`; {} for none."""
        return foreign_weights.boundary(Path(self.info.path))

    def vocable(self, number: int) -> str:
        return self.tokenizer.piece(number)

    @property
    def word_embeddings(self) -> Tensor:
        """(V, E)."""
        return cast(nn.Embedding, self.model.get_input_embeddings()).weight

    def parts(self) -> Parts:
        body, layers = self.body, self.layers
        groups = [tuple(layer.parameters()) for layer in layers]
        assigned = {id(parameter) for group in groups for parameter in group}
        low = [module for name, module in body.named_children() if name in _EMBEDDINGS] or tables(
            body
        )
        embeddings = fresh((p for module in low for p in module.parameters()), assigned)
        pooler = fresh(body.parameters(), assigned)
        return Parts(tuple(embeddings), tuple(groups), tuple(pooler), (*low, *layers))


@contextmanager
def first_token(module: nn.Module) -> Iterator[None]:
    """Let a module, and what follows it, compute the first token alone: (B, T, H) → (B, 1, H)."""

    def first(_module: nn.Module, states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(tensor[:, :1] for tensor in states)

    handle = module.register_forward_pre_hook(first)
    try:
        yield
    finally:
        handle.remove()


def checkpointed(model: PreTrainedModel, contexts: Callable[[], Any]) -> bool:
    """See `Encoder.checkpoint_layers`."""
    if not model.supports_gradient_checkpointing:
        return False
    new, old = "activation_checkpointing_enable", "gradient_checkpointing_enable"  # of version 5.0
    enable = getattr(model, new, None) or getattr(model, old)
    enable({"use_reentrant": False, "context_fn": contexts})
    return True


def _ends(model: PreTrainedModel) -> frozenset[int]:
    """The tokens with which a text ends; chat models have several."""
    settings = getattr(model, "generation_config", None) or model.config
    ends = getattr(settings, "eos_token_id", None)
    return frozenset(ends if isinstance(ends, list) else () if ends is None else (ends,))


def _takes_types(model: PreTrainedModel) -> bool:
    """Whether the model has token types for pairs: RoBERTa has only one, GPT-2 none.

    XLNet only compares the types of two tokens, so it has no table of them.
    """
    return "token_type_ids" in inspect.signature(model.forward).parameters and (
        getattr(model.config, "type_vocab_size", 0) > 1 or model.config.model_type in PERMUTED
    )


def _layers(body: nn.Module, count: int) -> list[nn.Module]:
    """The layers: the first module list with the configured number of them.

    XLM has one list for each part of a layer; these are joined.
    """
    for module in body.modules():
        lists = [
            child
            for child in module.children()
            if isinstance(child, nn.ModuleList) and len(child) == count
        ]
        if len(lists) == 1:
            return list(lists[0])
        if lists:
            return [nn.ModuleList(parts) for parts in zip(*lists, strict=True)]
    return []


def tables(body: nn.Module) -> list[nn.Module]:
    """Embedding tables of a base model that does not keep them in one module."""
    return [module for module in body.modules() if isinstance(module, nn.Embedding)]


def fresh(parameters: Iterable[nn.Parameter], assigned: set[int]) -> list[nn.Parameter]:
    unassigned = []
    for parameter in parameters:
        if id(parameter) not in assigned:
            assigned.add(id(parameter))
            unassigned.append(parameter)
    return unassigned


def _logits(output: Any) -> Tensor:
    """Logits of the only head, or of the masked tokens where next sentences have logits too.

    Those of the start and the end of an answer are joined, (B, T, 2).
    """
    if "start_logits" in output:
        return torch.stack([output.start_logits, output.end_logits], -1)
    logits: Tensor = output.prediction_logits if "prediction_logits" in output else output.logits
    return logits


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
