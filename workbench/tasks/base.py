"""The torch part of tasks: networks, targets, losses and batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.base import Encoder, States
from workbench.runtime.inputs import MASK, EncodedInput, Prepared, pad, stack
from workbench.tasks import contract
from workbench.tasks.heads.info import LAYER_L2
from workbench.tasks.losses.balance import Balance, TargetCounts
from workbench.tasks.losses.criterion import IGNORED as IGNORED
from workbench.tasks.losses.criterion import Criterion
from workbench.tasks.losses.criterion import Loss as Loss
from workbench.tasks.spec import TaskInfo

STATES = "states"  # array with the states of an encoder that is not trained, in place of its inputs

Targets = Mapping[str, Sequence[np.ndarray]]


class Outputs(NamedTuple):
    """losses: named parts, each plotted as a curve; empty without targets. logits: by name."""

    losses: Mapping[str, Loss]
    logits: Mapping[str, Tensor]


class Batch(NamedTuple):
    """inputs: arrays of the encoder, (B, T, …). targets: by name, from the task."""

    inputs: dict[str, Tensor]
    targets: dict[str, Tensor]


class Layers(nn.Module, ABC):
    """States → States whose last layer is the combined one, (B, T, `width`).

    widths: of each layer. Layers narrower than the widest are padded with zeros where they are
    added. halves: the width of a layer is that of two directions, [forward; backward], and so is
    that of the combined one. mixes: the combined layer is a weighted sum of all.
    """

    mixes = True
    rate_factors: Mapping[str, float] = {}

    def __init__(self, widths: Sequence[int], *, halves: bool = False, normalized: bool = False):
        super().__init__()
        self.widths, self.halves, self.normalized = tuple(widths), halves, normalized

    @property
    def width(self) -> int:
        return max(self.widths)

    def forward(self, states: States) -> States:
        layers = [self._padded(self._scaled(layer)) for layer in states.layers]
        combined = self.combine(torch.stack(layers), states.mask)  # (L, B, T, H)
        return states._replace(layers=(*states.layers, combined))

    @abstractmethod
    def combine(self, layers: Tensor, mask: Tensor) -> Tensor:
        """layers (L, B, T, H), mask bool (B, T). Returns (B, T, H)."""

    def weights(self) -> dict[str, Any]:
        """Learned weights: "weights", one per layer, sum 1; {} if there are none."""
        return {}

    def penalties(self) -> dict[str, Loss]:
        """Named parts of the training loss that do not depend on targets."""
        return {}

    def _scaled(self, layer: Tensor) -> Tensor:
        return F.layer_norm(layer, layer.shape[-1:]) if self.normalized else layer

    def _padded(self, layer: Tensor) -> Tensor:
        missing = self.width - layer.shape[-1]
        if not missing:
            return layer
        if not self.halves:
            return F.pad(layer, (0, missing))
        return torch.cat([F.pad(half, (0, missing // 2)) for half in layer.chunk(2, -1)], -1)


class Model(nn.Module):
    """The trained network: an encoder with the library's head, or with one of our own.

    layers: combines the layers of the encoder for a head of our own; None: it reads the last one.
    lm_weight: of the auxiliary language model loss of an encoder with `language_logits`.
    """

    def __init__(
        self,
        encoder: Encoder,
        head: nn.Module | None = None,
        layers: Layers | None = None,
        lm_weight: float = 0.0,
    ):
        super().__init__()
        self.encoder, self.head, self.layers = encoder, head, layers
        self.lm_weight = lm_weight

    def forward(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Logits by name, float32 (B, …)."""
        if self.head is None:
            return {"logits": self.encoder.logits(inputs).float()}
        return self._headed(self.head, self._states(inputs))

    def _headed(self, head: nn.Module, states: States) -> dict[str, Tensor]:
        states = states if self.layers is None else self.layers(states)
        logits = head(states)
        contract.ensure_named(head, logits)
        return {name: values.float() for name, values in logits.items()}

    def with_losses(
        self, inputs: Mapping[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Loss]]:
        """Logits (B, …), and the parts of the loss without targets of the task, each a scalar."""
        if self.head is None or not self.lm_weight:
            return self(inputs), self.penalties()
        states = self.encoder(inputs)
        logits = self.encoder.language_logits(states).float()  # (B, T, V)
        targets = inputs["input_ids"].masked_fill(~states.mask, IGNORED)[:, 1:]
        total = F.cross_entropy(
            logits[:, :-1].flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        lm = Loss(self.lm_weight * total, (targets != IGNORED).sum())
        return self._headed(self.head, states), {"lm": lm, **self.penalties()}

    def pooled(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """The vectors (B, H) that our own head of whole texts reads."""
        states = self._states(inputs)
        pooling = cast(Callable[[States], Tensor], cast(nn.Module, self.head).pooling)
        return pooling(states if self.layers is None else self.layers(states))

    @property
    def own_head(self) -> bool:
        """Whether `pipeline` of transformers has no task for the saved folder.

        That is so for a head of ours or of another library, and for label texts, which it would
        only generate; other texts are to be generated.
        """
        scores_texts = self.encoder.label_texts and bool(self.encoder.outputs)
        has_pipeline = self.encoder.in_transformers and not scores_texts
        return self.head is not None or not has_pipeline

    def _states(self, inputs: Mapping[str, Tensor]) -> States:
        """The states given as STATES, else those of the encoder. Given are the layers that the head
        reads.
        """
        if (cached := inputs.get(STATES)) is None:
            states: States = self.encoder(inputs)
            return states
        widths = (self.encoder.width,) if self.layers is None else self.encoder.widths
        return States(cached.split(widths, -1), inputs[MASK].bool(), None)

    def head_parameters(self) -> list[nn.Parameter]:
        """Parameters that do not belong to the encoder."""
        parts = self.encoder.parts()
        own = {id(p) for p in (*parts.embeddings, *parts.pooler, *parts.frozen)}
        own |= {id(p) for layer in parts.layers for p in layer}
        return [p for p in self.parameters() if id(p) not in own]

    def rate_factors(self) -> dict[int, float]:
        """id of a parameter → learning-rate factor, for parameters in the head's `rate_factors`.

        Our own heads may have a class attribute `rate_factors`, name of a parameter → factor.
        """
        rates = {}
        for module in (self.head, self.layers, self.encoder.crf):
            named = dict(module.named_parameters()) if module is not None else {}
            factors: Mapping[str, float] = getattr(module, "rate_factors", {})
            rates.update({id(named[name]): factor for name, factor in factors.items()})
        return rates

    def penalties(self) -> dict[str, Loss]:
        """Parts of the loss that do not depend on targets."""
        penalties = {} if self.layers is None else self.layers.penalties()
        if (own := self.encoder.penalty()) is None:
            return penalties
        whole = torch.stack([own, *(loss.total for loss in penalties.values())]).sum()
        return {LAYER_L2.name: Loss(whole, torch.ones((), device=own.device))}

    def layer_weights(self) -> dict[str, Any]:
        """Learned weights of layers, see `training.events.LayerWeights`; {} if there are none."""
        weights = {} if self.layers is None else dict(self.layers.weights())
        parts = self.encoder.layer_weights()
        return {**weights, "parts": dict(parts)} if parts else weights


class SharedEncoder(Model):
    """Models with one encoder, to be trained together."""

    def __init__(self, models: Sequence[Model]):
        heads = [model.head for model in models if model.head is not None]
        super().__init__(models[0].encoder, nn.ModuleList(heads))
        self.mixes = nn.ModuleList(model.layers for model in models if model.layers is not None)
        self.models = tuple(models)

    def rate_factors(self) -> dict[int, float]:
        return {key: rate for one in self.models for key, rate in one.rate_factors().items()}


class Task(ABC):
    """tasks/<name>/task.py: the torch part.

    native: the library's head for this task ("sequence", "token"), "" if the task needs its own.
    problem: the `problem_type` of transformers that its library head solves, "" for none.
    loss_targets: name of a loss → name of the targets that it averages over.
    reference: the array of an input that holds the log-probability which the initial weights give,
    "" for a task that does not compare with these, see `tasks.references`.
    independent: each label is decided on its own. criterion: how the losses weigh targets, set by
    `balance` for a training.
    """

    info: TaskInfo
    native: str = ""
    problem: str = ""
    loss_targets: Mapping[str, str]
    reference: str = ""
    independent: bool = False
    criterion = Criterion()

    def attach(self, encoder: Encoder, options: Mapping[str, Any]) -> None:  # noqa: B027
        """Called with the encoder of a network that was built or loaded for the task, before
        anything else is asked of the two together; most tasks need nothing of it.
        """

    def uses_native(self, options: Mapping[str, Any]) -> bool:
        """Whether the library's head `native` can be used with these settings."""
        return bool(self.native)

    def natives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The library's heads for the task and these settings, the preferred one first."""
        return (self.native,) if self.uses_native(options) else ()

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        """Our own head: `States` → logits by name."""
        raise NotImplementedError(f"{self.info.id} has only the library's head")

    def label_texts(self, golds: Sequence[Any], options: Mapping[str, Any]) -> tuple[str, ...]:
        """What an encoder–decoder writes, from all training documents; () for the labels."""
        return ()

    def notice(self) -> str:
        """What the targets of the training documents leave out, for display; "" for nothing."""
        return ""

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts | None:
        """What the labels of each training input are, for class weights and sampling.

        None for a task that has neither.
        """
        return None

    def balance(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> Balance:
        """What the settings make of uneven labels; sets the `criterion` of all losses.

        targets: of all training inputs.
        """
        counts = self.target_counts(targets, labels, options)
        balance = Balance.of(counts, options, independent=self.independent)
        self.criterion = Criterion.of(balance, options)
        return balance

    @abstractmethod
    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[Any],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """Targets by name, one array per input; those of tokens (T, …) are padded with IGNORED."""

    def notes(
        self, targets: Mapping[str, np.ndarray], labels: Sequence[str], pieces: Sequence[str]
    ) -> dict[str, str]:
        """What is learned of an input where no token has a target of its own, by name, for display.

        targets: of this input. pieces: its subwords.
        """
        return {}

    def sampled(
        self, features: Features, options: Mapping[str, Any], rng: np.random.Generator
    ) -> Features:
        """The inputs of training documents that are learned from."""
        return features

    @abstractmethod
    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Named parts of the loss, each a scalar with its count, of logits and targets (B, …)."""

    def forward(self, model: Model, batch: Batch) -> Outputs:
        more: Mapping[str, Loss] = {}
        if batch.targets:
            logits, more = model.with_losses(batch.inputs)
        else:
            logits = model(batch.inputs)
        contract.ensure_logits(self.info, logits, batch.inputs.get(MASK))
        if not batch.targets:
            return Outputs({}, logits)
        losses = self.losses(model, logits, batch.targets)
        contract.ensure_losses(self.info, losses)
        return Outputs({**losses, **more}, logits)

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        """Decoding parameters for `TaskInfo.decode` (transition scores …), as JSON values."""
        return {}

    def usual_counts(self, targets: Targets, batch_size: int) -> dict[str, float | None]:
        """For each loss the mean number of targets per batch; None if each input has one.

        Batches of similar length hold few or many words; divided by this number instead of their
        own count, every word has the same weight in every batch. So has every target of a class
        with a weight: divided by the weights of the batch, its own would depend on the others.
        """
        return {
            loss: usual_count(targets.get(name, ()), batch_size, self.criterion.weights)
            for loss, name in self.loss_targets.items()
        }


def usual_count(
    rows: Sequence[np.ndarray], batch_size: int, weights: Sequence[float] = ()
) -> float | None:
    """The mean number of targets, or sum of the weights of their classes, in a batch."""
    is_plain = not len(rows) or np.ndim(rows[0]) == 0
    if is_plain and not (weights and len(rows)):
        return None
    classes = np.concatenate([np.atleast_1d(row) for row in rows])
    classes = classes[classes != IGNORED]
    whole = float(np.asarray(weights)[classes].sum()) if weights else float(len(classes))
    mean = batch_size * whole / len(rows)
    return mean if weights else max(1.0, mean)


@dataclass
class Features:
    """Prepared documents with their targets, if there is gold."""

    prepared: Prepared
    targets: dict[str, list[np.ndarray]]

    @property
    def lengths(self) -> np.ndarray:
        """int64 (M,): tokens of each item of a batch, padding between its inputs included.

        An item is an input, or all inputs of a document where these are read in one batch.
        """
        lengths = self.prepared.lengths
        if not self.prepared.is_joint:
            return lengths
        sizes = np.bincount(self.prepared.owner)
        return sizes * np.maximum.reduceat(lengths, np.cumsum(sizes) - sizes)

    def positions(self, items: Sequence[int] | np.ndarray) -> np.ndarray:
        """The inputs of these items, int64 (N,)."""
        if not self.prepared.is_joint:
            return np.asarray(items)
        return np.concatenate([np.array(self.prepared.of(int(item))) for item in items])

    def without_empty(self, name: str) -> Features:
        """Without the inputs that have no row of these targets, of which one is left."""
        places = [at for at, row in enumerate(self.targets[name]) if len(row)] or [0]
        targets = {key: [rows[at] for at in places] for key, rows in self.targets.items()}
        inputs = [self.prepared.inputs[at] for at in places]
        prepared = replace(self.prepared, inputs=inputs, owner=self.prepared.owner[places])
        return Features(prepared, targets)

    @classmethod
    def join(cls, parts: Sequence[Features]) -> Features:
        names = parts[0].targets
        return cls(
            Prepared.join([part.prepared for part in parts]),
            {name: [row for part in parts for row in part.targets[name]] for name in names},
        )


def collate(
    features: Features,
    chosen: Sequence[int] | np.ndarray,
    *,
    encoder: Encoder,
    device: torch.device,
) -> Batch:
    """The inputs (B, T, …) of the selected items, padded to the longest of them, with targets
    (B, …).
    """
    chosen = features.positions(chosen)
    inputs = [features.prepared.inputs[position] for position in chosen]
    arrays = stack(inputs, _names(encoder, inputs[0]), encoder.preparer.fill)
    targets = {
        name: _targets([rows[position] for position in chosen])
        for name, rows in features.targets.items()
    }
    return Batch(_tensors(arrays, device), _tensors(targets, device))


def _names(encoder: Encoder, encoded: EncodedInput) -> list[str]:
    """The arrays that the encoder reads, and features (floats) that replace some of them."""
    own = [name for name in encoder.input_names if name == MASK or name in encoded.arrays]
    return own + [name for name, array in encoded.arrays.items() if array.dtype.kind == "f"]


def _targets(rows: Sequence[np.ndarray]) -> np.ndarray:
    if np.ndim(rows[0]) == 0:
        return np.asarray(rows)
    is_float = np.issubdtype(np.asarray(rows[0]).dtype, np.floating)
    return pad(rows, 0.0, np.float32) if is_float else pad(rows, IGNORED)


def _tensors(arrays: Mapping[str, np.ndarray], device: torch.device) -> dict[str, Tensor]:
    return {
        name: torch.from_numpy(array).to(device, non_blocking=True)
        for name, array in arrays.items()
    }
