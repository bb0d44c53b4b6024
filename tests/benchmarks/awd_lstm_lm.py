"""Training steps of an AWD-LSTM language model: words per CPU second, ours and fastai's.

    python tests/benchmarks/awd_lstm_lm.py [--vocabulary 30000] [--batch 16] [--steps 3]

The sizes are those of ULMFiT (embeddings 400, three layers of 1152, texts in parts of 72 words).
A step is forward, loss, backward and AdamW (fused in ours), with all dropouts of a language model.
fastai is
measured in the same run where it can be imported (fastai 2.8 in an environment of its own, with
the repository on PYTHONPATH and `regex` installed). Both alternate, and the best step counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from meter import parsed
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.models.families.awd_lstm.encoder import AwdLstm
from workbench.models.families.awd_lstm.info.weights import Network
from workbench.models.families.awd_lstm.network import LANGUAGE_MODEL
from workbench.models.spec import ModelInfo
from workbench.runtime.preparers.fastai_words import FastaiWords

WIDTH, HIDDEN, LAYERS, PART = 400, 1152, 3, 72
Step = Callable[[], float]


def ours(vocabulary: int, batch: int) -> Step:
    info = ModelInfo("", "", width=WIDTH, layers=LAYERS, max_length=10_000)
    sizes = Network(0, LAYERS, WIDTH, HIDDEN, vocabulary, True)
    model = AwdLstm(
        info,
        FastaiWords(["xxunk", "xxpad"]),
        sizes,
        direction="next",
        dropouts=LANGUAGE_MODEL,
        head="next",
    ).train()
    memory = None

    def logits(ids: Tensor) -> Tensor:
        nonlocal memory
        states, memory = model.read({"input_ids": ids}, "next", memory)
        return model.scores(states, "next")

    return step(model, logits, vocabulary, batch, fused=True)  # as our training does


def theirs(vocabulary: int, batch: int) -> Step | None:
    try:
        from fastai.text.models.awdlstm import AWD_LSTM
        from fastai.text.models.core import get_language_model
    except ImportError:
        return None
    model = get_language_model(AWD_LSTM, vocabulary).train()
    return step(model, lambda ids: model(ids)[0], vocabulary, batch, fused=False)


def step(
    model: nn.Module,
    logits: Callable[[Tensor], Tensor],
    vocabulary: int,
    batch: int,
    *,
    fused: bool,
) -> Step:
    """One training step on random words; returns its CPU seconds."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=fused)
    ids = torch.randint(0, vocabulary, (batch, PART + 1))

    def run() -> float:
        began = time.process_time()
        scores = logits(ids[:, :-1])
        F.cross_entropy(scores.flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return time.process_time() - began

    return run


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--vocabulary", type=int, default=30_000)
    asked.add_argument("--batch", type=int, default=16)
    asked.add_argument("--steps", type=int, default=3)
    given = parsed(asked, vocabulary=1000, batch=2, steps=1)
    torch.manual_seed(0)
    made = {
        name: found
        for name, build in (("glossbench", ours), ("fastai", theirs))
        if (found := build(given.vocabulary, given.batch))
    }
    best = dict.fromkeys(made, float("inf"))
    for _number in range(given.steps + 1):  # the first step of each allocates memory
        for name, run in made.items():
            best[name] = min(best[name], run())
    speeds = {name: given.batch * PART / seconds for name, seconds in best.items()}
    for name, speed in speeds.items():
        print(f"{name}: {speed:,.0f} words per CPU second")
    if len(speeds) == 2:
        print(f"ratio: {speeds['glossbench'] / speeds['fastai']:.2f}")
    else:
        print("fastai cannot be imported here")


if __name__ == "__main__":
    main()
