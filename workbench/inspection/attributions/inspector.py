"""How much each word of a text moves a score of a run: the heavy part, through captum."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attributions.info import (
    INFO,
    INTEGRATED,
    OCCLUSION,
    PROBABILITY,
    SMOOTH,
    Attributions,
)
from workbench.inspection.attributions.places import ScorePlace
from workbench.inspection.attributions.targets import Explained, explained
from workbench.inspection.spec import TokenRow
from workbench.inspection.subject import Subject
from workbench.inspection.subwords.embedded import EmbeddingTable, token_table
from workbench.models.generate import mask_id
from workbench.runtime.inputs import EncodedInput, stack
from workbench.tasks.base import Batch
from workbench.text.document import Document

BATCH_TOKENS = 4096  # tokens per pass with gradients
# of integrated gradients: more until the convergence delta is below this fraction of F(x) −
# F(baseline); the sum is Gauss–Legendre quadrature, so that few suffice for most texts
STEPS, CONVERGED = (20, 50, 200), 0.01
MIN_DIFFERENCE = 1e-3  # differences below it are as good as none
NOISE = 0.15  # of SmoothGrad: standard deviation as a fraction of the range of the embeddings


@dataclass(frozen=True)
class Convergence:
    """delta: the sum of all attributions - (F(x) - F(baseline)) after `steps`."""

    delta: float
    steps: int


class AttributionsInspector:
    """For runs with one output per class or per token, one number, or starts and ends of answers
    or of spans.

    Gradients are taken at the token embeddings, so positions and segments stay as they are. The
    baseline replaces all tokens of the text by padding and keeps special tokens.
    """

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Attributions:
        """Raises WorkbenchError for a model without token embeddings, or an unknown target."""
        (document,) = documents
        text = explained(subject, document, options["target"])
        target, place = text.place(options["target"])
        piece, rows = text.predicted.prepared.inputs[place.window], text.rows[place.window]
        scorer = TargetScorer(subject, piece, place, options["score"] == PROBABILITY)
        with torch.backends.cudnn.flags(enabled=False):  # its RNNs have no gradient in eval mode
            tokens, convergence = _attributed(scorer, subject, rows, options)
        return _result(text, rows, tokens, convergence, scorer, target, options["method"])


@dataclass
class TargetScorer:
    """The target's score as a function of the token embeddings, or of ids."""

    subject: Subject
    piece: EncodedInput
    place: ScorePlace
    probability: bool

    def __post_init__(self) -> None:
        encoder = self.subject.encoder
        arrays = stack([self.piece], encoder.input_names, encoder.preparer.fill)
        self.inputs = {
            name: torch.from_numpy(array).to(encoder.device) for name, array in arrays.items()
        }
        table = token_table(encoder, self.piece)
        if table is None or "input_ids" not in self.inputs:
            raise WorkbenchError(
                _(
                    "{model} has no token embeddings to take gradients of.",
                    model=self.subject.info.name,
                ),
                hint=_("Train a run with a transformer or an AWD-LSTM."),
            )
        self.table = table
        self.ids = self.inputs["input_ids"]
        with torch.no_grad():
            self.embeddings = table.table(self.ids).detach().clone()
            self.padding = table.table(self._padded()).detach().clone()

    def _padded(self) -> Tensor:
        fill = int(self.subject.preparer.fill.get("input_ids", 0))
        text = torch.from_numpy(self.piece.text >= 0).to(self.ids.device)
        return torch.where(text[None], torch.full_like(self.ids, fill), self.ids)

    def of_embeddings(self, embeddings: Tensor) -> Tensor:
        """(B, T, E) → scores (B,)."""
        with _replaced(self.table, embeddings):
            return self._score(self.ids.expand(len(embeddings), -1))

    def of_ids(self, ids: Tensor) -> Tensor:
        """(B, T) → scores (B,)."""
        return self._score(ids)

    def _score(self, ids: Tensor) -> Tensor:
        inputs = {
            name: tensor.expand(len(ids), *tensor.shape[1:]) for name, tensor in self.inputs.items()
        }
        inputs["input_ids"] = ids
        predictor = self.subject.predictor
        logits = predictor.task.forward(predictor.model, Batch(inputs, {})).logits
        return self.place.score(logits, probability=self.probability)

    @property
    def rows(self) -> int:
        """Rows per pass."""
        return max(1, BATCH_TOKENS // self.ids.shape[1])


@contextmanager
def _replaced(table: EmbeddingTable, embeddings: Tensor) -> Iterator[None]:
    """Let the table give these embeddings (B, T, E), whatever it is asked for."""
    embeddings = table.as_asked(embeddings)

    def give(_table: nn.Module, _given: object, vectors: Tensor) -> Tensor:
        return embeddings if vectors.shape == embeddings.shape else vectors

    handle = table.table.register_forward_hook(give)
    try:
        yield
    finally:
        handle.remove()


def _captum() -> Any:
    """`captum.attr`. It imports matplotlib, whose cache of fonts belongs into our own folder."""
    os.environ.setdefault("MPLCONFIGDIR", str(paths.cache_folder() / "matplotlib"))
    import captum.attr

    return captum.attr


def _attributed(
    scorer: TargetScorer, subject: Subject, rows: Sequence[TokenRow], options: Mapping[str, Any]
) -> tuple[np.ndarray, Convergence | None]:
    """Per token float64 (T,), and how integrated gradients converged."""
    attr = _captum()
    method, convergence = options["method"], None
    if method == OCCLUSION:
        return _occluded(scorer, subject, rows), None
    score: Callable[[Tensor], Tensor] = scorer.of_embeddings
    embeddings = scorer.embeddings.clone().requires_grad_()
    if method == INTEGRATED:
        attributions, convergence = _integrated(scorer, embeddings, options["steps"])
    elif method == SMOOTH:
        torch.manual_seed(options["seed"])
        spread = float(scorer.embeddings.max() - scorer.embeddings.min())
        attributions = attr.NoiseTunnel(attr.InputXGradient(score)).attribute(
            embeddings,
            nt_type="smoothgrad",
            nt_samples=options["samples"],
            nt_samples_batch_size=scorer.rows,
            stdevs=NOISE * spread,
        )
    else:
        attributions = attr.InputXGradient(score).attribute(embeddings)
    per_token: np.ndarray = attributions.detach()[0].double().sum(-1).cpu().numpy()
    return per_token, convergence


def _integrated(scorer: TargetScorer, embeddings: Tensor, steps: int) -> tuple[Tensor, Convergence]:
    """Per embedding (1, T, E), by this number of steps; 0: as many as convergence takes."""
    method = _captum().IntegratedGradients(scorer.of_embeddings)
    with torch.no_grad():
        ends = [float(scorer.of_embeddings(end)[0]) for end in (embeddings, scorer.padding)]
    for count in (steps,) if steps else STEPS:
        attributions = method.attribute(
            embeddings,
            baselines=scorer.padding,
            n_steps=count,
            internal_batch_size=scorer.rows,
        ).detach()
        convergence = Convergence(float(attributions.double().sum()) - (ends[0] - ends[1]), count)
        if abs(convergence.delta) <= CONVERGED * max(abs(ends[0] - ends[1]), MIN_DIFFERENCE):
            break
    return attributions, convergence


def _occluded(scorer: TargetScorer, subject: Subject, rows: Sequence[TokenRow]) -> np.ndarray:
    """How much the score falls when all tokens of a word are masked, at its first token."""
    words = sorted({row.word for row in rows if row.word is not None})
    group = {word: number for number, word in enumerate(words)}
    others = len(words)  # tokens outside of words are one group, which stays as it is
    mask = [others if row.word is None else group[row.word] for row in rows]
    ids = scorer.ids
    hidden = ids.clone()
    if words:
        at = [number for number, row in enumerate(rows) if row.word is not None]
        hidden[0, at] = _stand_in(subject)
    with torch.no_grad():
        attributions = (
            _captum()
            .FeatureAblation(scorer.of_ids)
            .attribute(
                ids,
                baselines=hidden,
                feature_mask=torch.tensor([mask], device=ids.device),
                perturbations_per_eval=scorer.rows,
            )
        )
    values: np.ndarray = attributions.detach()[0].double().cpu().numpy()
    first_values, words_done = np.zeros(len(rows)), set()
    for at_row, row in enumerate(rows):
        if row.word is not None and row.word not in words_done:
            words_done.add(row.word)
            first_values[at_row] = values[at_row]
    return first_values


def _stand_in(subject: Subject) -> int:
    """The mask token, else the token for unknown words, else padding."""
    from workbench.base.errors import ModelError

    try:
        return mask_id(subject.encoder)
    except (ModelError, AttributeError):  # a model of words has no tokenizer
        unknown = subject.preparer.unknown
        return int(subject.preparer.fill.get("input_ids", 0)) if unknown is None else unknown


def _result(
    text: Explained,
    rows: Sequence[TokenRow],
    tokens: np.ndarray,
    convergence: Convergence | None,
    scorer: TargetScorer,
    target: str,
    method: str,
) -> Attributions:
    sums: dict[int, float] = {}
    special = 0.0
    for row, value in zip(rows, tokens.tolist(), strict=True):
        if row.word is None:
            special += value
        else:
            sums[row.word] = sums.get(row.word, 0.0) + value
    with torch.no_grad():
        score = float(scorer.of_embeddings(scorer.embeddings)[0])
        baseline = float(scorer.of_embeddings(scorer.padding)[0]) if convergence else None
    return Attributions(
        text.words,
        tuple(sums.get(word) for word in range(len(text.words))),
        special,
        method,
        target,
        text.targets,
        score,
        baseline,
        convergence.delta if convergence else None,
        text.predicted.prediction.cut,
        scorer.subject.temperature,
        convergence.steps if convergence else None,
    )
