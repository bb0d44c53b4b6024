"""Language modelling with recurrent networks, whose memory is carried from batch to batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from workbench.models.base import Encoder
from workbench.models.recurrent import StreamTokens
from workbench.pretraining import streams
from workbench.pretraining.objectives.base import Objective, TextBatch
from workbench.pretraining.results import ShownRow, ShownToken
from workbench.pretraining.texts import Document, Texts
from workbench.tasks.base import Loss

REGULARIZED = ("ar_alpha", "tar_beta")  # settings
NAMES = {"next": "forward", "previous": "backward"}  # names of the losses


def is_recurrent(encoder: Encoder) -> bool:
    return isinstance(encoder, streams.RecurrentModel)


class RecurrentLm(Objective):
    """Predict the next token in the reading order of each direction of the encoder.

    The loss is the mean over the tokens; both directions read the same documents.
    In training, AR penalizes large states after dropout, TAR large differences between the states
    of adjacent tokens.
    Source: Peters et al. 2018, section 3.1; Akbik et al. 2018, section 2.1; AR and TAR: Merity et
    al. 2017, Revisiting Activation Regularization for Language RNNs, as in fastai's RNNRegularizer.
    """

    divides = False  # the memory is that of all rows
    encoder: Any  # an Encoder that is a streams.RecurrentModel

    @property
    def directions(self) -> tuple[str, ...]:
        directions: tuple[str, ...] = self.encoder.directions
        return directions

    def batches(self, texts: Texts) -> Iterator[TextBatch]:
        self.memory: dict[str, Any] = {}
        directions = self.directions
        seed = int(self.rng.integers(2**32))
        read = [
            streams.batches(
                # Each direction reads the files itself; both keep step, so the disk is read once.
                texts if number == 0 else texts.again(),
                self._tokens(direction),
                rows=self.options["batch_size"],
                length=self.options["length"],
                rng=np.random.default_rng(seed),
            )
            for number, direction in enumerate(directions)
        ]
        for parallel in zip(*read, strict=False):
            inputs: dict[str, np.ndarray] = {}
            targets: dict[str, np.ndarray] = {}
            for direction, batch in zip(directions, parallel, strict=True):
                inputs |= {f"{direction}/{name}": array for name, array in batch.inputs.items()}
                targets[direction] = batch.targets
            yield TextBatch(inputs, targets, parallel[0].words, parallel[0].progress)

    def _tokens(self, direction: str) -> Any:
        def tokens(document: Document) -> StreamTokens:
            stream: StreamTokens = self.encoder.stream(document, direction)
            return stream

        return tokens

    def shown(self, batch: TextBatch) -> list[ShownRow]:
        """One row per text and direction, in reading order. An input is the target before it; the
        first of a row is not known, as it was the last target of the batch before.
        """
        rows_of_text = []
        for direction, rows in batch.targets.items():
            for row in rows:
                texts = [self.encoder.vocable(int(number)) for number in row]
                tokens = [ShownToken(*pair) for pair in zip(["…", *texts], texts, strict=False)]
                rows_of_text.append(
                    ShownRow(tuple(tokens), tuple(texts), notes={"direction": direction})
                )
        return rows_of_text

    def carried(self) -> Any:
        return self.memory

    def carry(self, carried: Any) -> None:
        self.memory = _on(carried, self.encoder.device)

    def losses(
        self, inputs: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """inputs by direction and name (B, T, …), targets by direction (B, T)."""
        losses = {}
        for direction, following in targets.items():
            own = {
                name.removeprefix(f"{direction}/"): array
                for name, array in inputs.items()
                if name.startswith(f"{direction}/")
            }
            states, memory = self.encoder.read(own, direction, self.memory.get(direction))
            self.memory[direction] = _detached(memory)
            dropped = self.encoder.dropped(states)
            logits = self.encoder.scores(dropped, direction).float()  # (B, T, V)
            total = functional.cross_entropy(
                logits.flatten(0, 1), following.flatten(), reduction="sum"
            )
            count = torch.tensor(float(following.numel()), device=total.device)
            losses[NAMES[direction]] = Loss(total, count)
            if self.encoder.training:
                self._regularize(losses, states, dropped)
        return losses

    def _regularize(self, losses: dict[str, Loss], states: Tensor, dropped: Tensor) -> None:
        """Add activation regularization to the losses; for two directions the sum of both."""
        alpha, beta = (
            usual if (setting := self.options.get(name)) is None else float(setting)
            for name, usual in zip(REGULARIZED, self.encoder.regularization, strict=True)
        )
        means = {"ar": (alpha, dropped), "tar": (beta, states[:, 1:] - states[:, :-1])}
        for name, (strength, values) in means.items():
            if strength and values.numel():
                total = strength * values.float().square().mean()
                before = losses[name].total if name in losses else 0.0
                losses[name] = Loss(total + before, torch.ones((), device=total.device))


def _on(carried: Any, device: torch.device) -> Any:
    if isinstance(carried, Tensor):
        return carried.to(device)
    if isinstance(carried, dict):
        return {name: _on(part, device) for name, part in carried.items()}
    return tuple(_on(part, device) for part in carried)


def _detached(memory: Any) -> Any:
    """Tensors in nested tuples without their graph: gradients end at the batch."""
    if isinstance(memory, Tensor):
        return memory.detach()
    return tuple(_detached(part) for part in memory)
