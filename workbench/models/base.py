"""Base classes of encoders and families. A family loads a published format as an encoder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.crf import Crf
from workbench.models.spec import FamilyInfo, ModelInfo
from workbench.runtime.inputs import EncodedInput, Preparer
from workbench.text.document import Document

Branches = tuple[Sequence[int], Sequence[Sequence[int]]]  # a text of at least one token, its ends
DECODER_IDS = "decoder_input_ids"  # (B, S): of an encoder–decoder, in the inputs of `logits_at`


class Continued(Protocol):
    """A text that was read, and rows of further tokens; what was read of them is kept."""

    def logits(self, added: Sequence[Sequence[int]]) -> Tensor:
        """(B, V): of the next token after each row of ids, all of the same length.

        Fast if the rows are those of the last call with one more id each.
        """


class Growing(Protocol):
    """Texts that grow together by one token each; what was read of them is kept.

    logits: (B, V) of the next token of each text.
    """

    logits: Tensor

    def grow(self, rows: Sequence[int], ids: Sequence[int]) -> None:
        """Keep only these rows, ascending, each with one more token; their logits follow."""
        ...


class States(NamedTuple):
    """Hidden states of every layer.

    layers: each (B, T, H), embeddings first. mask bool (B, T): True at tokens of the text.
    pooled (B, H): the model's own representation of the input, None if it has none.
    """

    layers: tuple[Tensor, ...]
    mask: Tensor
    pooled: Tensor | None


@dataclass(frozen=True)
class Parts:
    """The parameters of an encoder from the lowest layer up, each once.

    pooler: modules above the last layer (final norm, pooler). modules: the embeddings' module (or
    modules), then each layer; set to eval mode if frozen. frozen: parameters that are never
    trained.
    """

    embeddings: tuple[nn.Parameter, ...]
    layers: tuple[tuple[nn.Parameter, ...], ...]
    pooler: tuple[nn.Parameter, ...]
    modules: tuple[nn.Module, ...]
    frozen: tuple[nn.Parameter, ...] = ()


@dataclass(frozen=True)
class FeatureSource:
    """Computation that gives the same result in every epoch, so that it can be kept.

    name: the array (T, width) that replaces the arrays `inputs` of an input. compute: these, as a
    batch with the mask of its tokens → (B, T, width). key: names weights and settings.
    """

    name: str
    inputs: tuple[str, ...]
    key: str
    width: int
    compute: Callable[[Mapping[str, Tensor]], Tensor]


@dataclass(frozen=True)
class LoadOptions:
    """How to load an encoder.

    head: the library's own head to load with it ("sequence", "token", "choice", "answer", "crf",
    "mask", "next", "text", "pretraining": mask and next sentence), "" for none; `outputs` are the
    names of its outputs, `problem` their type ("single_label_…", "multi_label_classification") for
    other programs that load the folder. Encoders without such a head ignore this.
    seed: of newly initialized parameters. random: initialize all of them, so that only the
    architecture and the preparer of the folder are used.
    attention: "sdpa" or "eager"; dropouts replace the configured values while in memory.
    delimited: add start, delimiter and extract tokens to the vocabulary of a decoder that lacks
    them. both_orders: read pairs in both orders, see `Encoder`.
    bits: 8 or 4 to quantize the weights of a decoder while it is loaded, onto `device`; 0 for full
    ones on the CPU. bf16: keep the weights of a causal model in bfloat16, half the memory; what the
    encoder returns is float32 all the same. settings: values of `FamilyInfo.options`. documents: of
    the training, from which a model without weights takes its vocabulary; None where nothing is
    trained.
    """

    head: str = ""
    outputs: Sequence[str] = ()
    problem: str = ""
    seed: int = 0
    random: bool = False
    allow_pickle: bool = False
    attention: str = "sdpa"
    attention_dropout: float | None = None
    dropout: float | None = None
    delimited: bool = False
    both_orders: bool = False
    bits: int = 0
    bf16: bool = False
    device: str = "cuda"
    settings: Mapping[str, Any] = field(default_factory=dict)
    documents: Sequence[Document] | None = None


def shared_length(sequence: Sequence[int], other: Sequence[int]) -> int:
    """The number of tokens that are equal at the beginning of both."""
    pairs = enumerate(zip(sequence, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(sequence), len(other)))


class Encoder(nn.Module, ABC):
    """Arrays → hidden states; float32 on the CPU when loaded, see `LoadOptions` for exceptions.

    preparer: creates its inputs; input_names: the arrays it takes. input_axes: the name of the
    second axis of arrays (B, N, …) that have no row per token. max_length: maximum tokens per
    input. head: the library's head that was loaded with it, "" if there is none.
    label_texts: the loaded head scores classes as texts: `logits` are log-probabilities of labels.
    outputs: the names of its outputs, with label_texts these texts; () if it keeps none.
    in_transformers: its heads are those of transformers, which can load a saved folder.
    start: the token that a decoder begins with, -1 without a decoder. ends: the tokens with which
    a written text ends.
    pooling: how classifiers of whole texts pool its states by default, see `tasks.heads.pooling`.
    delimited: whether texts end with an extract token, whose state classifiers read. both_orders:
    the state of the extract token is the sum of its states in both orders of a pair.
    directions: in which a recurrent language model reads: "next", "previous" or both; () for all
    other encoders.
    whole: `logits` computes the last layer for all tokens, also where its head reads one.
    """

    info: ModelInfo
    preparer: Preparer
    input_names: tuple[str, ...]
    input_axes: Mapping[str, str] = {}
    max_length: int
    head: str = ""
    label_texts: bool = False
    outputs: tuple[str, ...] = ()
    in_transformers: bool = True
    start: int = -1
    ends: frozenset[int] = frozenset()
    pooling: str = "mean"
    delimited: bool = False
    both_orders: bool = False
    directions: tuple[str, ...] = ()
    whole: bool = False

    @property
    def width(self) -> int:
        return self.info.width

    @property
    def widths(self) -> tuple[int, ...]:
        """Width of each of `States.layers`; the last is `width`."""
        return (self.width,) * (self.info.layers + 1)

    @property
    def feed_forward(self) -> int:
        """Width of the feed-forward layers, or of the layers that dominate the computation."""
        return 4 * self.width

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @abstractmethod
    def forward(self, inputs: Mapping[str, Tensor]) -> States:
        """inputs: `input_names`, each (B, T, …)."""

    @abstractmethod
    def parts(self) -> Parts: ...

    def checkpoint_layers(self, contexts: Callable[[], Any]) -> bool:
        """Keep only the inputs of layers for the backward pass, which computes the rest again.

        contexts: the `context_fn` of torch's checkpoint. False for layers that cannot do it.
        """
        return False

    def insert_adapters(self, size: int) -> None:
        """Add bottleneck adapters of `size` units that change nothing yet; those there are stay.

        Raises ModelError for an encoder whose layers have no known place for them.
        """
        raise ModelError(
            _("Bottleneck adapters cannot be inserted into {model}.", model=self.info.name),
            hint=_("Choose a BERT, RoBERTa, GPT-2 or Llama model, or another training method."),
        )

    def read_adapters(self, folder: Path) -> None:
        """Insert the adapters of a folder, if it has some. Raises ModelError if they do not fit."""

    def adapter_parameters(self) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
        """Parameters of the inserted adapters, and of the norms of the layers and above."""
        return [], []

    def sources(self) -> tuple[FeatureSource, ...]:
        """The computations of frozen parts. `forward` takes their results instead of inputs."""
        return ()

    def narrow(self, inputs: Sequence[EncodedInput]) -> None:  # noqa: B027 (most train everything)
        """Called before training with its inputs: parameters that they do not use may be left out.

        The encoder must still answer for other inputs, and save everything.
        """

    def logits(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Outputs of the loaded head: (B, L) of a sequence, (B, T, L) of tokens or words."""
        raise NotImplementedError(f"{type(self).__name__} has no head of its own")

    @property
    def crf(self) -> Crf | None:
        """The transitions between the outputs of the loaded head "crf"."""
        return None

    @property
    def gives_attention(self) -> bool:
        """Whether `attentions` works for the encoder with the options it was loaded with."""
        return False

    def attentions(self, inputs: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
        """Attention weights of every layer, each (B, heads, T, T), rows (queries) sum to 1.

        For encoders that give "attention", loaded with `LoadOptions.attention` set to "eager".
        """
        raise NotImplementedError(f"{type(self).__name__} gives no attention weights")

    @property
    def attention_starts(self) -> tuple[int, ...]:
        """Indices in `attentions` of the layers that read embeddings: the first of each stack."""
        return (0,)

    def logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """Vocabulary logits (B, K, V) of a language model head at `positions` (B, K) only."""
        raise NotImplementedError(f"{type(self).__name__} is not a language model")

    def branched_logits(self, texts: Sequence[Branches]) -> Iterator[list[Tensor]] | None:
        """Logits (1 + S, V) of a causal language model for each end of each text, after the text
        and after each token of the end.

        What a text shares with the one before it is computed once, and so is a text for all its
        ends. None for a model that cannot continue what it has read.
        """
        return None

    def continuation(self, text: Sequence[int]) -> Continued | None:
        """A text of at least one token; None for a model that cannot continue what it has read."""
        return None

    def growing(self, texts: Sequence[Sequence[int]], before: Growing | None) -> Growing | None:
        """Texts of at least one token that a causal model continues, or sources for which an
        encoder–decoder writes; what they share at the beginning, also with the batch `before`, is
        read once. None for a model that cannot continue what it has read.
        """
        return None

    def states_and_logits_at(
        self, inputs: Mapping[str, Tensor], positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The states of the last layer (B, T, H) and the logits of `logits_at`, in one pass."""
        raise NotImplementedError(f"{type(self).__name__} is not a masked language model")

    def layer_logits_at(self, inputs: Mapping[str, Tensor], positions: Tensor) -> Tensor:
        """Vocabulary logits (L + 1, K, V) that the head gives for the states of every layer of one
        input, embeddings first, at positions (1, K); those of the last layer are its `logits_at`.
        """
        raise NotImplementedError(f"{type(self).__name__} has no head for the states of its layers")

    def pair_logits_at(
        self, inputs: Mapping[str, Tensor], positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The logits of `logits_at`, and (B, 2) of: the second segment follows, or is random."""
        raise NotImplementedError(f"{type(self).__name__} was not pretrained on pairs")

    def language_logits(self, states: States) -> Tensor:
        """Logits (B, T, V) of the next token from the states, with the head "next"."""
        raise NotImplementedError(f"{type(self).__name__} has no states of a language model")

    def layer_weights(self) -> Mapping[str, Mapping[str, Any]]:
        """Learned weights of the parts whose layers are combined, by name: "weights", one per
        layer, sum 1, and "gamma" of a scalar mix.
        """
        return {}

    def penalty(self) -> Tensor | None:
        """The part of the loss that depends only on its parameters, a scalar; None for none."""
        return None

    def target_logits(self, inputs: Mapping[str, Tensor], targets: Tensor) -> Tensor:
        """Vocabulary logits (B, S, V) of targets int (B, S) by teacher forcing, -100 at padding.

        They are what an encoder–decoder writes, or what follows the inputs of a causal model.
        """
        raise NotImplementedError(f"{type(self).__name__} writes no text")

    def cross_attentions(self, inputs: Mapping[str, Tensor], targets: Tensor) -> tuple[Tensor, ...]:
        """Attention of every decoder layer (B, heads, S, T) to the source while it writes `targets`
        int (B, S): row s is of the step that writes target s.

        For encoder–decoders with the head "text", loaded with `LoadOptions.attention` "eager".
        """
        raise NotImplementedError(f"{type(self).__name__} writes no text")

    def written(self, inputs: Mapping[str, Tensor], most: int) -> Tensor:
        """int (B, S): what the model writes, always the likeliest token, at most `most` of them."""
        raise NotImplementedError(f"{type(self).__name__} writes no text")

    def published_boundary(self) -> Mapping[str, Tensor]:
        """Published weights of a head for the span boundary objective; {} for none.

        Each has the shape of the parameter of `SpanBoundary` of this name. Raises ModelError if
        they cannot be read.
        """
        return {}

    @property
    def word_embeddings(self) -> Tensor:
        """The input embeddings (V, E) of a language model."""
        raise NotImplementedError(f"{type(self).__name__} is not a language model")

    def vocable(self, number: int) -> str:
        """The entry of a language model's output vocabulary as text."""
        raise NotImplementedError(f"{type(self).__name__} is not a language model")

    def vocable_ids(self, encoded: EncodedInput) -> np.ndarray:
        """The entry of the output vocabulary at each token, int (T,), -1 for none."""
        return encoded.ids


@runtime_checkable
class KeepsMemory(Protocol):
    """An encoder that can continue where another text ended, as recurrent networks do."""

    def remember(self, inputs: Mapping[str, Tensor], memory: Any) -> tuple[States, Any]:
        """The states, each layer (B, T, H), and the memory of each row for the same row of the next
        batch.

        None is the initial memory.
        """
        ...


class Family(Protocol):
    """models/families/<name>/family.py; `info` is its light part."""

    info: FamilyInfo

    def load(self, info: ModelInfo, options: LoadOptions) -> Encoder:
        """Raises ModelError if the files are damaged or the head is not available."""
        ...

    def save(self, encoder: Encoder, folder: Path) -> None:
        """Save weights, configuration and the files of the preparer."""
        ...

    def heads(self, info: ModelInfo) -> frozenset[str]:
        """The library's own heads that `LoadOptions.head` can name for this model."""
        ...


class Documents(Protocol):
    """Plain text that can be read several times; a document is a sequence of paragraphs."""

    @property
    def progress(self) -> float:
        """Fraction of the text that was read, 0 to 1."""
        ...

    def __iter__(self) -> Iterator[Sequence[str]]: ...


@runtime_checkable
class CreatesModels(Protocol):
    """A family that can create the architectures in `info.creates`."""

    def create(
        self,
        architecture: str,
        options: Mapping[str, Any],
        texts: Documents,
        folder: Path,
        *,
        seed: int,
    ) -> Iterator[float]:
        """Write an untrained model, in the published format, into an empty folder.

        options: all of its `Creation.options`. The vocabulary is that of `texts`, which are read
        once. Yields the fraction of the work that is done. Raises SpecError for sizes that do not
        fit each other, or a text that is too short.
        """
        ...
