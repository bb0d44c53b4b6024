"""Local language models score answers in prompts (masked, causal, text-to-text) and write texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models import device as devices
from workbench.models import precision, spec
from workbench.models.base import DECODER_IDS, Encoder, Growing, LoadOptions, shared_length
from workbench.models.loading import family_of
from workbench.runtime.inputs import batches_by_length, pad
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer, mask_token

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

MASKED, CAUSAL, TEXT = "masked", "causal", "text-to-text"
SENTINEL = "<extra_id_0>"  # T5 writes what belongs in its place
_HEADS = {MASKED: "mask", CAUSAL: "next", TEXT: "text"}
BATCH_TOKENS = 4096  # subwords in one forward pass, padding included

Sequences = tuple[tuple[int, ...], tuple[int, ...]]  # ids of a row, and its source


class GenerationPrompt(Protocol):
    """A finished prompt: `before` + `answer` + `after`; the probability of `answer` is computed."""

    @property
    def before(self) -> str: ...

    @property
    def answer(self) -> str: ...

    @property
    def after(self) -> str: ...


class Sampling(Protocol):
    """How tokens are drawn, see `filtered`; temperature 0 takes the most probable one."""

    @property
    def temperature(self) -> float: ...

    @property
    def top_k(self) -> int: ...

    @property
    def top_p(self) -> float: ...

    @property
    def seed(self) -> int: ...


class WrittenText(Protocol):
    """A text that a model writes. ids: what it reads before. most: tokens that may be added."""

    ids: Sequence[int]
    most: int

    def take(self, logits: Tensor) -> int | None:
        """The next token, given logits (V) on the CPU; None after the end of the text."""
        ...


@dataclass(frozen=True, slots=True)
class _Row:
    """One input of the model and the position at which its prediction is read.

    source: the input of the encoder, if `ids` are those of a decoder.
    """

    ids: tuple[int, ...]
    position: int
    target: int
    source: tuple[int, ...] = ()


class LanguageModel:
    """A loaded language model. `kind` is MASKED, CAUSAL or TEXT."""

    def __init__(self, encoder: Encoder, kind: str, device: torch.device):
        placed = all(weights.device == device for weights in encoder.parameters())
        self.encoder = (encoder if placed else encoder.to(device)).eval()
        self.kind, self.device = kind, device
        self.tokenizer, self.max_length = _tokenizer(encoder), encoder.max_length
        self.mask = mask_id(encoder) if kind == MASKED else -1
        self._gap = "" if kind == MASKED else _gap(encoder)

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        device: str = "auto",
        allow_pickle: bool = False,
        bits: int = 0,
        weights: str = "fp32",
    ) -> LanguageModel:
        """weights: see `precision.of_weights`.

        Raises ModelError for a model that is not a language model, SpecError if its weights cannot
        have so many `bits` here.
        """
        info = spec.read_folder(folder, allow_pickle=allow_pickle)
        kind = language_kind(info)
        chosen = devices.pick(device)
        options = LoadOptions(
            head=_HEADS[kind],
            allow_pickle=allow_pickle,
            bits=bits,
            bf16=not bits and precision.of_weights(weights, info, chosen),
            device=str(chosen),
        )
        return cls(family_of(info).load(info, options), kind, chosen)

    def logprobs(self, prompts: Sequence[GenerationPrompt]) -> list[list[float]]:
        """The natural log-probabilities of the subwords of each answer, in order.

        [] for an answer without subwords.

        Causal: each subword given all before it. Masked: all subwords of the answer are masked at
        first; they are filled from left to right with the correct subwords, and each is scored
        before it is filled. Text-to-text: the encoder reads the prompt with a gap in place of the
        answer, marked as in pretraining; the decoder writes the answer behind T5's sentinel
        (Raffel et al. 2020, section 3.1.4), or behind the beginning of the text (Lewis et al. 2020,
        section 2). Equal inputs run once, and so does what causal prompts share at the beginning,
        if that saves much. Raises ModelError if a prompt exceeds the maximum length of the model.
        """
        rows = [self._rows(prompt) for prompt in prompts]
        log_probabilities = self._branched(rows) if self.kind == CAUSAL else None
        if log_probabilities is None:
            log_probabilities = self._answers([row for group in rows for row in group])
        return [[log_probabilities[row] for row in group] for group in rows]

    def write(self, texts: Sequence[WrittenText]) -> Iterator[None]:
        """Write texts, in batches of those that share most; yields after each token of a batch.

        Texts do not depend on the batch that they are in. Raises ModelError for a masked model.
        """
        if self.kind == MASKED:
            raise ModelError(
                _("{model} cannot write texts: it fills masks.", model=self.encoder.info.name),
                hint=_("Choose a causal or text-to-text language model."),
            )
        before: Growing | None = None
        for batch in _batches(texts):
            ids = [text.ids for text in batch]
            rows: Growing = self.encoder.growing(ids, before) or _Reread(self, ids)
            before = rows
            while batch:
                logits = rows.logits.float().cpu()
                chosen = [text.take(row) for text, row in zip(batch, logits, strict=True)]
                yield
                left = [number for number, id in enumerate(chosen) if id is not None]
                batch = [batch[number] for number in left]
                if batch:
                    rows.grow(left, [id for id in chosen if id is not None])

    def _rows(self, prompt: GenerationPrompt) -> list[_Row]:
        rows = self._written(prompt) if self.kind == TEXT else self._read(prompt)
        longest = max((max(len(row.ids), len(row.source)) for row in rows), default=0)
        if longest > self.max_length:
            raise ModelError(
                _(
                    "A prompt is longer than the model allows: {count:,} of at most {most:,} "
                    "subwords.",
                    count=longest,
                    most=self.max_length,
                ),
                hint=_("Show fewer examples."),
            )
        return rows

    def _written(self, prompt: GenerationPrompt) -> list[_Row]:
        """Inputs of an encoder–decoder."""
        backend = self.tokenizer.backend
        before = self._gap if self._gap == SENTINEL else prompt.before if self._gap else ""
        ids, places = locate(
            backend, before + prompt.answer, len(before), len(before) + len(prompt.answer)
        )
        source = tuple(backend.encode(prompt.before + self._gap + prompt.after).ids)
        decoded = (self.encoder.start, *ids[: places[-1]]) if places else ()
        return [_Row(decoded, place, ids[place], source) for place in places]

    def _read(self, prompt: GenerationPrompt) -> list[_Row]:
        """Inputs of a model with one stack of layers."""
        text = prompt.before + prompt.answer + (prompt.after if self.kind == MASKED else "")
        ids, places = locate(
            self.tokenizer.backend,
            text,
            len(prompt.before),
            len(prompt.before) + len(prompt.answer),
        )
        if self.kind == CAUSAL:
            if places and places[0] == 0:
                ids, places = [self.tokenizer.fallback, *ids], [place + 1 for place in places]
            rows = [_Row(tuple(ids[: places[-1]]), place - 1, ids[place]) for place in places]
        else:
            rows = [
                _Row(tuple(self._hidden(ids, places[turn:])), place, ids[place])
                for turn, place in enumerate(places)
            ]
        return rows

    def _hidden(self, ids: Sequence[int], places: Sequence[int]) -> list[int]:
        hidden = set(places)
        return [self.mask if place in hidden else id for place, id in enumerate(ids)]

    def _answers(self, rows: Sequence[_Row]) -> dict[_Row, float]:
        rows_by_sequences: dict[Sequences, dict[_Row, None]] = {}
        for row in rows:
            rows_by_sequences.setdefault((row.ids, row.source), {})[row] = None
        groups = (
            _joined(rows_by_sequences)
            if self.kind == CAUSAL
            else [(ids, list(group_rows)) for ids, group_rows in rows_by_sequences.items()]
        )
        answers: dict[_Row, float] = {}
        lengths = np.array([len(ids) + len(source) for (ids, source), _found in groups])
        for chosen in batches_by_length(lengths, BATCH_TOKENS):
            batch = [groups[number] for number in chosen]
            positions = [[row.position for row in group_rows] for _, group_rows in batch]
            sources = [source for (_ids, source), _ in batch] if self.kind == TEXT else None
            logits = self.logits([ids for (ids, _source), _ in batch], positions, sources)
            logs = logits.float().log_softmax(-1).cpu()  # (B, K, V)
            for number, (_sequences, group_rows) in enumerate(batch):
                answers.update(
                    {
                        row: float(logs[number, turn, row.target])
                        for turn, row in enumerate(group_rows)
                    }
                )
        return answers

    def _branched(self, rows: Sequence[Sequence[_Row]]) -> dict[_Row, float] | None:
        """As `_answers` for the rows of each prompt, from one pass over what the prompts share.

        None if that does not save at least half of the tokens, or if the model cannot do it.
        """
        texts: dict[tuple[int, ...], dict[tuple[int, ...], list[_Row]]] = {}
        for group in filter(None, rows):
            ids, length = group[-1].ids, group[0].position + 1
            texts.setdefault(ids[:length], {}).setdefault(ids[length:], []).extend(group)
        order = sorted(texts)  # those that share most follow each other
        whole = sum(len(text) + len(end) for text in order for end in texts[text])
        pairs = zip(((), *order), order, strict=False)
        once = sum(len(text) - shared_length(before, text) for before, text in pairs)
        once += sum(len(end) for text in order for end in texts[text])
        if 2 * once > whole:
            return None
        branched = self.encoder.branched_logits([(text, list(texts[text])) for text in order])
        if branched is None:
            return None
        answers: dict[_Row, float] = {}
        for text, tables in zip(order, branched, strict=True):
            for group, table in zip(texts[text].values(), tables, strict=True):
                logs = table.float().log_softmax(-1).cpu()  # (1 + S, V)
                answers.update(
                    {row: float(logs[row.position + 1 - len(text), row.target]) for row in group}
                )
        return answers

    def logits(
        self,
        ids: Sequence[Sequence[int]],
        positions: Sequence[Sequence[int]],
        sources: Sequence[Sequence[int]] | None = None,
    ) -> Tensor:
        """Scores over the vocabulary, (B, K, V), at up to K positions of each row of `ids`.

        Rows with fewer positions are filled with position 0. `sources` are the inputs of an
        encoder whose decoder gets `ids`.
        """
        most = max(map(len, positions))
        where = torch.tensor(
            [[*row, *[0] * (most - len(row))] for row in positions], device=self.device
        )
        with torch.inference_mode():
            if sources is None:
                return self.encoder.logits_at(padded(ids, self.encoder), where)
            inputs = padded(sources, self.encoder)
            inputs[DECODER_IDS] = padded(ids, self.encoder)["input_ids"]
            return self.encoder.logits_at(inputs, where)


class _Reread:
    """Texts of a model that cannot continue what it has read; see `models.base.Growing`."""

    def __init__(self, model: LanguageModel, texts: Sequence[Sequence[int]]):
        self._model, self._texts = model, [list(text) for text in texts]
        self.logits = self._read()

    def grow(self, rows: Sequence[int], ids: Sequence[int]) -> None:
        """See `models.base.Growing`."""
        self._texts = [[*self._texts[row], id] for row, id in zip(rows, ids, strict=True)]
        self.logits = self._read()

    def _read(self) -> Tensor:
        last = [[len(text) - 1] for text in self._texts]
        return self._model.logits(self._texts, last)[:, 0]  # (B, 1, V) → (B, V)


def _batches(texts: Sequence[WrittenText]) -> Iterator[list[WrittenText]]:
    """Batches of at most BATCH_TOKENS tokens, padding included. Texts that share most follow each
    other.
    """
    batch: list[WrittenText] = []
    longest = 0
    for text in sorted(texts, key=lambda text: tuple(text.ids)):
        longest = max(longest, len(text.ids) + text.most)
        if batch and (len(batch) + 1) * longest > BATCH_TOKENS:
            yield batch
            batch, longest = [], len(text.ids) + text.most
        batch.append(text)
    if batch:
        yield batch


class Sampler:
    """Draws the tokens of one text, independent of other texts."""

    def __init__(self, settings: Sampling):
        self._settings = settings
        self._random = torch.Generator().manual_seed(settings.seed)

    def draw(self, logits: Tensor) -> int:
        """A token, given logits (V) on the CPU, -inf for tokens that are not allowed."""
        settings = self._settings
        if not settings.temperature:
            return int(logits.argmax())
        probabilities = filtered(
            logits,
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
        )
        return int(torch.multinomial(probabilities, 1, generator=self._random))


def filtered(logits: Tensor, *, temperature: float, top_k: int, top_p: float) -> Tensor:
    """Probabilities (…, V) that sampling draws from; 0 at units that are cut off.

    First all logits are divided by `temperature`, then all but the `top_k` highest are cut (0: none
    is), then all but the smallest set that holds at least `top_p` of the probability.
    Source: Holtzman et al. 2020, section 3.1; the order is that of transformers.
    """
    scaled = logits / temperature
    if 0 < top_k < scaled.shape[-1]:
        least = scaled.topk(top_k, dim=-1).values[..., -1:]
        scaled = scaled.masked_fill(scaled < least, -math.inf)
    probabilities = scaled.softmax(-1)
    if top_p < 1:
        ordered, order = probabilities.sort(dim=-1, descending=True, stable=True)
        before = ordered.cumsum(-1) - ordered  # what the more probable ones hold
        cut = torch.zeros_like(before, dtype=torch.bool).scatter(-1, order, before >= top_p)
        probabilities = probabilities.masked_fill(cut, 0.0)
        probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    return probabilities


def language_kind(info: spec.ModelInfo) -> str:
    """MASKED, CAUSAL or TEXT. Raises ModelError for a model that is not a language model."""
    for output, kind in (("masked_lm", MASKED), ("next_lm", CAUSAL), ("text_to_text", TEXT)):
        if output in info.gives:
            return kind
    raise ModelError(
        _("{model} has no language model head.", model=info.name),
        hint=_("Choose a masked or causal language model, T5 or BART."),
    )


def mask_id(encoder: Encoder) -> int:
    """The id of the mask token. Raises ModelError if the tokenizer has none."""
    backend = _tokenizer(encoder).backend
    name = mask_token(encoder.info.path, backend)
    number = backend.token_to_id(name) if name is not None else None
    if number is None:
        raise ModelError(_("The tokenizer of {model} has no mask token.", model=encoder.info.name))
    return number


def _gap(encoder: Encoder) -> str:
    """The token that marks a gap in the input of an encoder–decoder; "" if it has none."""
    backend = _tokenizer(encoder).backend
    if backend.token_to_id(SENTINEL) is not None:
        return SENTINEL
    return mask_token(encoder.info.path, backend) or ""


def _tokenizer(encoder: Encoder) -> Tokenizer:
    """Only models of subwords have a head for words."""
    return cast(Subwords, encoder.preparer).tokenizer


def locate(backend: Backend, text: str, start: int, end: int) -> tuple[list[int], list[int]]:
    """Ids of the whole text with special subwords, and the positions that overlap [start, end).

    A text that begins with the first special subword, as a chat template writes it, gets none.
    """
    encoding = backend.encode(text)
    if encoding.special_tokens_mask[:1] == [1] and encoding.ids[:1] == encoding.ids[1:2]:
        encoding = backend.encode(text, add_special_tokens=False)
    pairs = enumerate(zip(encoding.offsets, encoding.special_tokens_mask, strict=True))
    return encoding.ids, [
        place
        for place, ((left, right), special) in pairs
        if not special and left < end and start < right
    ]


def _joined(
    rows_by_sequences: Mapping[Sequences, Mapping[_Row, None]],
) -> list[tuple[Sequences, list[_Row]]]:
    """Rows of a causal model that are a prefix of another row are answered by that row."""
    groups: list[tuple[Sequences, list[_Row]]] = []
    for sequences in sorted(rows_by_sequences, key=lambda item: len(item[0]), reverse=True):
        ids = sequences[0]
        home = next(
            (group_rows for (longer, _), group_rows in groups if longer[: len(ids)] == ids), None
        )
        if home is None:
            groups.append((sequences, list(rows_by_sequences[sequences])))
        else:
            home.extend(rows_by_sequences[sequences])
    return groups


def padded(ids: Sequence[Sequence[int]], encoder: Encoder) -> dict[str, Tensor]:
    """input_ids and attention_mask, (B, T), padded on the right."""
    rows = [np.asarray(row, np.int64) for row in ids]
    table = torch.from_numpy(pad(rows, encoder.preparer.fill["input_ids"]))
    mask = torch.from_numpy(pad([np.ones_like(row) for row in rows]))
    return {"input_ids": table.to(encoder.device), "attention_mask": mask.to(encoder.device)}
