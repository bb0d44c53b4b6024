"""How well models fit a sample of texts: vocabulary and perplexity, as a job.

Perplexity is exp of the mean negative log-likelihood. Masked models: pseudo-perplexity, with one
token masked at a time (Salazar et al. 2020). Each model scores tokens in a seeded random order
until all are scored, the mean is exact enough, or its time is over. The time is that of the
processor: on a busy machine the figures are as exact, but come later.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from workbench.base.errors import WorkbenchError
from workbench.metrics.resampling import bounds, resampled
from workbench.models import device as devices
from workbench.models import spec
from workbench.models.base import LoadOptions
from workbench.models.generate import MASKED, LanguageModel
from workbench.models.loading import family_of
from workbench.models.recurrent import StreamTokens
from workbench.pretraining.results import BOTH, CAUSAL, CHARACTER, PSEUDO, ModelFit
from workbench.pretraining.streams import RecurrentModel
from workbench.runtime.inputs import EncodedInput, batches_by_length
from workbench.runtime.vocabularies.measures import measure
from workbench.text.language import language_of
from workbench.text.segment import words as words_of

MAX_SCORED_TOKENS = 256  # tokens of a text that are scored
BATCH_TOKENS = 2048
GROUP, TEXTS = 64, 16  # masked tokens, texts of the others that are sorted by length together
CHUNK = 256  # tokens that a recurrent model reads at once
REPORT_EVERY = 0.5  # seconds
MIN_SCORED_TOKENS, TARGET_STANDARD_ERROR = (
    500,
    0.08,
)  # tokens; standard error of the mean at which no more are scored
T = TypeVar("T")


@dataclass
class Tally:
    """Sum of the negative log-likelihoods, and of their squares, of `count` tokens.

    begin, seconds: of the processor time for it. error: standard error of the mean at which no more
    are scored, 0 for none. texts: number of a text → sum and count of its tokens. words: of the
    texts whose tokens were all scored, for models that predict more than the words of a text; 0
    where the tokens are parts of words.
    """

    seconds: float = 0.0
    error: float = TARGET_STANDARD_ERROR
    begin: float = field(default_factory=time.process_time)
    stopped: bool = False
    total: float = 0.0
    squares: float = 0.0
    count: int = 0
    texts: dict[int, tuple[float, int]] = field(default_factory=dict)
    words: int = 0

    def add(self, logits: Tensor, targets: Tensor, texts: np.ndarray) -> None:
        """logits (N, V), targets (N,), texts int (N,): the number of the text of each."""
        losses = functional.cross_entropy(logits.float(), targets, reduction="none").double()
        self.total += float(losses.sum())
        self.squares += float(losses.square().sum())
        self.count += len(losses)
        numbers, places = np.unique(texts, return_inverse=True)
        sums, counts = np.bincount(places, losses.cpu().numpy()), np.bincount(places)
        for number, total, count in zip(numbers.tolist(), sums, counts, strict=True):
            before = self.texts.get(number, (0.0, 0))
            self.texts[number] = before[0] + float(total), before[1] + int(count)

    def bounds(self, seed: int) -> tuple[float, float] | None:
        """95% interval of the mean by a bootstrap over texts; None with fewer than two."""
        sums = np.array([*self.texts.values()])  # (texts, 2)
        if len(sums) < 2:
            return None

        def mean(weights: np.ndarray) -> dict[str, np.ndarray]:
            total, count = (weights @ sums).T
            return {"mean": total / count}

        low, high = bounds(resampled(mean, len(sums), seed=seed)["mean"])
        return float(low), float(high)

    @property
    def done(self) -> bool:
        """Whether the time is over, the job was stopped, or the mean is exact enough."""
        if self.stopped:
            return True
        if not self.count:
            return False
        mean = self.total / self.count
        variance = max(0.0, self.squares / self.count - mean**2)
        exact = self.count >= MIN_SCORED_TOKENS and variance <= self.error**2 * self.count
        return (bool(self.error) and exact) or self.spent >= 1

    @property
    def spent(self) -> float:
        """Fraction of the time that is used up."""
        return (time.process_time() - self.begin) / max(self.seconds, 1e-9)


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: models [{path, name, allow_pickle}], texts (a JSON file with a list of
    strings), seconds (of the processor at most per model, for its perplexity), seed, weights (of
    causal models: fp32 or bf16), error (see `Tally`).

    Yields {"kind": "progress", "part", "text"} and {"kind": "fit", "fit"} for each model. Returns
    fits, a list of ModelFit.to_json(). A model that fails has `problem`. "stop" ends early, with
    what was scored so far.
    """
    devices.use_threads()
    texts = json.loads(Path(params["texts"]).read_text(encoding="utf-8"))
    fits: list[dict[str, Any]] = []
    models, written = params["models"], language_of(texts)
    for number, model in enumerate(models):
        command = yield {
            "kind": "progress",
            "part": number / len(models),
            "text": model["name"],
        }
        if command == "stop":
            break
        work, stopped = _measured(model, texts, params, *written), False
        try:
            part = next(work)
            while True:
                done = (number + part) / len(models)
                command = yield {"kind": "progress", "part": done, "text": model["name"]}
                stopped = stopped or command == "stop"
                part = work.send(stopped)
        except StopIteration as end:
            fit: ModelFit = end.value
        if stopped and not fit.scored:
            break
        fits.append(fit.to_json())
        yield {"kind": "fit", "fit": fits[-1]}
        if stopped:
            break
    return {"fits": fits}


def _measured(
    model: Mapping[str, Any],
    texts: Sequence[str],
    params: Mapping[str, Any],
    script: str,
    language: str,
) -> Generator[float, bool, ModelFit]:
    """Yields the fraction that is scored now and then; True sent to it ends the scoring."""
    began = time.monotonic()
    info = spec.card(model["path"], allow_pickle=model["allow_pickle"], name=model["name"])
    try:
        preparer = spec.preparer(info.path)
        words = measure(preparer, texts)
        rng = np.random.default_rng(params["seed"])
        chosen = {**model, "weights": params.get("weights", "fp32")}
        scored = Tally(params["seconds"], params.get("error", TARGET_STANDARD_ERROR))
        kind = yield from _scored(info, texts, rng, scored, chosen)
    except WorkbenchError as error:
        return ModelFit(info.name, info.architecture, problem=str(error))
    limit = info.max_length if info.tokenizer else 0
    total, tokens = scored.total, scored.count
    mean = total / tokens if tokens else 0.0
    low, high = scored.bounds(params["seed"]) or (None, None)
    # The mean per token times the tokens per word, or per character of the text. A recurrent model
    # also predicts marks: of capitals, and of the ends of texts.
    predicted = tokens / scored.words if scored.words else words.fertility
    per_word = predicted if kind != CHARACTER else 1.0
    letters = sum(map(len, texts))
    density = predicted * words.words / max(1, letters) if kind != CHARACTER else 1.0
    return ModelFit(
        info.name,
        info.architecture,
        words.unknown,
        words.fertility,
        sum(length > limit for length in words.lengths) / max(1, words.texts) if limit else 0.0,
        words.cut,
        limit,
        kind if tokens else "",
        _exp(mean * per_word) if tokens else 0.0,
        _exp(mean * density) if tokens else 0.0,
        tokens,
        round(time.monotonic() - began, 3),
        words.lengths,
        tuple((split.word, split.units, split.count, split.texts) for split in words.split),
        total=total,
        low=low,
        high=high,
        languages=spec.languages(Path(info.path)),
        script=script,
        language=language,
        predicted=predicted,
    )


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))  # exp(710) overflows


def _scored(
    info: spec.ModelInfo,
    texts: Sequence[str],
    rng: np.random.Generator,
    tally: Tally,
    model: Mapping[str, Any],
) -> Generator[float, bool, str]:
    """Add the tokens to the tally. Returns the kind of perplexity, "" for no language model."""
    order = [texts[number] for number in rng.permutation(len(texts)) if texts[number].strip()]
    allow = bool(model["allow_pickle"])
    if info.tokenizer and {"masked_lm", "next_lm"} & {*info.gives}:
        loaded = LanguageModel.load(
            info.path, device="cpu", allow_pickle=allow, weights=str(model["weights"])
        )
        tally.begin = time.process_time()
        if loaded.kind == MASKED:
            yield from _masked(loaded, order, rng, tally)
            return PSEUDO
        yield from _causal(loaded, order, tally)
        return CAUSAL
    directions = [
        literal
        for literal in ("next", "previous")
        if {f"{literal}_lm", f"{literal}_character"} & {*info.gives}
    ]
    if not directions:
        return ""
    heads = family_of(info).heads(info)
    head = next((item for item in directions if item in heads), "")
    options = LoadOptions(head=head, allow_pickle=allow)
    encoder = family_of(info).load(info, options).eval()
    if not isinstance(encoder, RecurrentModel):
        return ""
    tally.begin = time.process_time()
    yield from _recurrent(encoder, order, directions, tally)
    return CHARACTER if info.predicts_characters else BOTH if len(directions) > 1 else CAUSAL


class _Reporter:
    """Reports the fraction that is done every REPORT_EVERY seconds, and hears of a stop."""

    def __init__(self, tally: Tally):
        self.tally, self.last = tally, time.monotonic()

    def report(self, part: float) -> Generator[float, bool, None]:
        if (now := time.monotonic()) - self.last >= REPORT_EVERY:
            self.last = now
            self.tally.stopped = bool((yield min(1.0, max(part, self.tally.spent))))


def _inputs(model: LanguageModel, texts: Sequence[str]) -> list[EncodedInput]:
    longest = min(model.max_length, MAX_SCORED_TOKENS)
    return [windows[0] for windows in model.tokenizer.whole([(text,) for text in texts], longest)]


def _masked(
    model: LanguageModel, texts: Sequence[str], rng: np.random.Generator, tally: Tally
) -> Generator[float, bool, None]:
    inputs = _inputs(model, texts)
    places = [
        (number, int(at))
        for number, input_ in enumerate(inputs)
        for at in np.flatnonzero(input_.text >= 0)
    ]
    order, reporter = rng.permutation(len(places)), _Reporter(tally)
    for start in range(0, len(order), GROUP):
        yield from reporter.report(start / len(order))
        if tally.done:
            break
        chosen = [places[number] for number in order[start : start + GROUP]]
        lengths = np.array([len(inputs[number]) for number, _at in chosen])
        for positions in batches_by_length(lengths, BATCH_TOKENS):
            batch = [chosen[position] for position in positions]
            rows, targets = [], []
            for number, at in batch:
                ids = inputs[number].ids.tolist()
                targets.append(ids[at])
                rows.append([*ids[:at], model.mask, *ids[at + 1 :]])
            logits = model.logits(rows, [[at] for _number, at in batch])[:, 0]  # (B, V)
            tally.add(logits, torch.tensor(targets), np.array([number for number, _at in batch]))


def _causal(
    model: LanguageModel, texts: Sequence[str], tally: Tally
) -> Generator[float, bool, None]:
    """Every token but the first of a text, which has nothing before it."""
    reporter = _Reporter(tally)
    for start in range(0, len(texts), TEXTS):
        yield from reporter.report(start / len(texts))
        if tally.done:
            break
        numbered = [*enumerate(_inputs(model, texts[start : start + TEXTS]), start)]
        lengths = np.array([len(input_) for _number, input_ in numbered])
        for positions in batches_by_length(lengths, BATCH_TOKENS):
            chosen = [numbered[position] for position in positions]
            batch = [input_ for _number, input_ in chosen]
            places = [
                [int(at) for at in np.flatnonzero(input_.text >= 0) if at] for input_ in batch
            ]
            if not any(places):
                continue
            befores = [[at - 1 for at in row] for row in places]
            logits = model.logits([input_.ids.tolist() for input_ in batch], befores)  # (B, K, V)
            for scores, (number, input_), row in zip(logits, chosen, places, strict=True):
                targets = torch.from_numpy(input_.ids[row].astype(np.int64))
                tally.add(scores[: len(row)], targets, np.full(len(row), number))


def _recurrent(
    encoder: RecurrentModel, texts: Sequence[str], directions: Sequence[str], tally: Tally
) -> Generator[float, bool, None]:
    """The mean of the directions, of as many tokens in each. Each text is a stream of its own."""
    reporter = _Reporter(tally)
    for start in range(0, len(texts), TEXTS):
        yield from reporter.report(start / len(texts))
        if tally.done:
            break
        lines = [
            tuple(line for part in text.splitlines() if (line := part.strip()))
            for text in texts[start : start + TEXTS]
        ]
        for direction in directions:
            tally.words += sum(len(words_of(part)) for line in lines for part in line)
            streams = [encoder.stream(line, direction) for line in lines]
            _streams(encoder, streams, direction, tally, start)


def _streams(
    encoder: RecurrentModel,
    streams: Sequence[StreamTokens],
    direction: str,
    tally: Tally,
    first: int,
) -> None:
    """Streams of any length side by side. What follows the end of one is read, but not scored.

    first: the number of the first text.
    """
    memory = None
    lengths = torch.tensor([len(stream.targets) - 1 for stream in streams])
    names, longest = streams[0].inputs, int(lengths.max())
    inputs = {
        name: _stacked([stream.inputs[name] for stream in streams], longest) for name in names
    }
    targets = _stacked([stream.targets[1:] for stream in streams], longest).long()
    for start in range(0, longest, CHUNK):
        places = torch.arange(start, min(start + CHUNK, longest))
        scored = places < lengths[:, None]  # (B, T)
        part = {name: array[:, places] for name, array in inputs.items()}
        with torch.inference_mode():
            states, memory = encoder.read(part, direction, memory)
            logits = encoder.scores(states[scored], direction)  # (N, V)
        tally.add(logits, targets[:, places][scored], first + scored.nonzero()[:, 0].numpy())


def _stacked(arrays: Sequence[np.ndarray], length: int) -> Tensor:
    """(B, length, …), shorter arrays continued with their last row, longer ones cut."""
    rows = [array[np.minimum(np.arange(length), len(array) - 1)] for array in arrays]
    return torch.from_numpy(np.stack(rows))
