"""How well models fit a sample of texts: vocabulary and perplexity, as a job.

Perplexity is exp of the mean negative log-likelihood. Masked models: pseudo-perplexity, with one
unit masked at a time (Salazar et al. 2020). Each model scores as many units, in a seeded random
order, as fit its time.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from workbench.base.errors import WorkbenchError
from workbench.models import device as devices
from workbench.models import spec
from workbench.models.base import LoadOptions
from workbench.models.generate import MASKED, LanguageModel
from workbench.models.loading import family_of
from workbench.pretraining.results import BOTH, CAUSAL, CHARACTER, PSEUDO, ModelFit
from workbench.pretraining.streams import RecurrentModel
from workbench.runtime.inputs import EncodedInput
from workbench.runtime.vocabularies.measures import measure

LONGEST = 256  # units of a text that are scored
BATCH_TOKENS = 2048
CHUNK = 256  # units that a recurrent model reads at once
Scored = tuple[float, int]  # sum of the negative log-likelihoods, number of units


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: models [{path, name, allow_pickle}], texts (a JSON file with a list of
    strings), seconds (per model, for its perplexity), seed.

    Yields {"kind": "progress", "part", "text"} and {"kind": "fit", "fit"} for each model. Returns
    fits, a list of ModelFit.to_json(). A model that fails has `problem`. "stop" ends early.
    """
    devices.use_threads()
    texts = json.loads(Path(params["texts"]).read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = []
    models = params["models"]
    for number, model in enumerate(models):
        command = yield {
            "kind": "progress",
            "part": number / len(models),
            "text": model["name"],
        }
        if command == "stop":
            break
        fit = _measured(model, texts, params)
        found.append(fit.to_json())
        yield {"kind": "fit", "fit": found[-1]}
    return {"fits": found}


def _measured(
    model: Mapping[str, Any], texts: Sequence[str], params: Mapping[str, Any]
) -> ModelFit:
    began = time.monotonic()
    info = spec.card(model["path"], allow_pickle=model["allow_pickle"], name=model["name"])
    try:
        preparer = spec.preparer(info.path)
        words = measure(preparer, texts)
        rng = np.random.default_rng(params["seed"])
        kind, scored = _scored(info, texts, rng, params["seconds"], model)
    except WorkbenchError as error:
        return ModelFit(info.name, info.architecture, problem=str(error))
    limit = info.max_length if info.tokenizer else 0
    total, units = scored
    mean = total / units if units else 0.0
    # The mean per unit times the units per word, or per character of the text.
    per_word = words.fertility if kind != CHARACTER else 1.0
    letters = sum(map(len, texts))
    density = words.units / max(1, letters) if kind != CHARACTER else 1.0
    return ModelFit(
        info.name,
        info.architecture,
        words.unknown,
        words.fertility,
        sum(length > limit for length in words.lengths) / max(1, words.texts) if limit else 0.0,
        words.cut,
        limit,
        kind if units else "",
        _exp(mean * per_word) if units else 0.0,
        _exp(mean * density) if units else 0.0,
        units,
        round(time.monotonic() - began, 3),
        words.lengths,
        tuple((one.word, one.units, one.count, one.texts) for one in words.split),
        total=total,
    )


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))  # exp(710) overflows


def _scored(
    info: spec.ModelInfo,
    texts: Sequence[str],
    rng: np.random.Generator,
    seconds: float,
    model: Mapping[str, Any],
) -> tuple[str, Scored]:
    """Kind of perplexity, sum and count of the units that were scored."""
    order = [texts[number] for number in rng.permutation(len(texts)) if texts[number].strip()]
    allow = bool(model["allow_pickle"])
    if info.tokenizer and {"masked_lm", "next_lm"} & {*info.gives}:
        loaded = LanguageModel.load(info.path, device="cpu", allow_pickle=allow)
        end = time.monotonic() + seconds
        if loaded.kind == MASKED:
            return PSEUDO, _masked(loaded, order, rng, end)
        return CAUSAL, _causal(loaded, order, end)
    wanted = [
        one for one in ("next", "previous") if {f"{one}_lm", f"{one}_character"} & {*info.gives}
    ]
    if not wanted:
        return "", (0.0, 0)
    heads = family_of(info).heads(info)
    head = next((one for one in wanted if one in heads), "")
    options = LoadOptions(head=head, allow_pickle=allow)
    encoder = family_of(info).load(info, options).eval()
    if not isinstance(encoder, RecurrentModel):
        return "", (0.0, 0)
    end = time.monotonic() + seconds
    by_character = any(one.endswith("_character") for one in info.gives)
    kind = CHARACTER if by_character else BOTH if len(wanted) > 1 else CAUSAL
    return kind, _recurrent(encoder, order, wanted, end)


def _inputs(model: LanguageModel, texts: Sequence[str]) -> Iterator[EncodedInput]:
    longest = min(model.max_length, LONGEST)
    for text in texts:
        yield next(iter(model.tokenizer.whole([(text,)], longest)))[0]


def _masked(
    model: LanguageModel, texts: Sequence[str], rng: np.random.Generator, end: float
) -> Scored:
    inputs = list(_inputs(model, texts))
    places = [
        (number, int(at))
        for number, one in enumerate(inputs)
        for at in np.flatnonzero(one.text >= 0)
    ]
    total, count = 0.0, 0
    order = rng.permutation(len(places))
    size = max(4, BATCH_TOKENS // max(map(len, inputs), default=1))
    for start in range(0, len(order), size):
        if start and time.monotonic() > end:
            break
        chosen = [places[number] for number in order[start : start + size]]
        rows, targets = [], []
        for number, at in chosen:
            ids = inputs[number].ids.tolist()
            targets.append(ids[at])
            rows.append([*ids[:at], model.mask, *ids[at + 1 :]])
        logits = model.logits(rows, [[at] for _number, at in chosen])[:, 0]  # (B, V)
        total += _loss(logits, torch.tensor(targets))
        count += len(chosen)
    return total, count


def _causal(model: LanguageModel, texts: Sequence[str], end: float) -> Scored:
    """Every unit but the first of a text, which has nothing before it."""
    total, count = 0.0, 0
    for one in _inputs(model, texts):
        places = [int(at) for at in np.flatnonzero(one.text >= 0) if at > 0]
        if not places:
            continue
        if count and time.monotonic() > end:
            break
        logits = model.logits([one.ids.tolist()], [[at - 1 for at in places]])[0]  # (K, V)
        total += _loss(logits, torch.from_numpy(one.ids[places].astype(np.int64)))
        count += len(places)
    return total, count


def _recurrent(encoder: Any, texts: Sequence[str], directions: Sequence[str], end: float) -> Scored:
    """The mean of the directions, of as many units in each."""
    total, count = 0.0, 0
    for text in texts:
        if count and time.monotonic() > end:
            break
        lines = [line for line in (part.strip() for part in text.splitlines()) if line]
        for direction in directions:
            found = encoder.stream(tuple(lines), direction)
            memory = None
            for start in range(0, len(found.targets) - 1, CHUNK):
                stop = min(start + CHUNK, len(found.targets) - 1)
                inputs = {
                    name: torch.from_numpy(array[start:stop])[None]
                    for name, array in found.inputs.items()
                }
                targets = torch.from_numpy(found.targets[start + 1 : stop + 1].astype(np.int64))
                with torch.inference_mode():
                    states, memory = encoder.read(inputs, direction, memory)
                    logits = encoder.scores(states, direction)[0]  # (T, V)
                total += _loss(logits, targets)
                count += len(targets)
    return total, count


def _loss(logits: Tensor, targets: Tensor) -> float:
    return float(functional.cross_entropy(logits.float(), targets, reduction="sum"))
