"""Knowledge distillation: a model learns the probabilities of a teacher beside the gold labels.

The probabilities, called soft labels, are computed once, before the first step, and kept in the
folder of the run. The loss is α · CE + (1 - α) · T² · KL(teacher ‖ model), where T divides the
logits of both; a document without gold has the second part only.
Source: Hinton et al. 2015, section 2; for hidden states, Sanh et al. 2019, section 3.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from torch import Tensor
from torch.nn import functional as F

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.models import device as devices
from workbench.runtime.decoding import sigmoid, softmax, word_logits
from workbench.runtime.inputs import CHUNK, MASK, Logits, Prepared
from workbench.tasks.answers import read_answers
from workbench.tasks.base import IGNORED, Batch, Features, Loss, Model, Task
from workbench.tasks.predictor import Predictor, infer
from workbench.tasks.spec import PER_WORD
from workbench.text.dataset import Record, read
from workbench.text.document import Document
from workbench.text.fields import DocumentLabels
from workbench.text.segment import tokens_of
from workbench.training.events import LogMessage, Tick
from workbench.training.learning import Events
from workbench.training.prepare import with_words
from workbench.training.spec import Teaching, TrainSpec

FILE = "soft_labels.npz"  # in the folder of the run
TEACHER, HIDDEN, HAS_GOLD = "teacher", "hidden", "has_gold"  # targets; the first two are losses too
LEAST = 1e-6  # of a probability: a prompt may answer with 0


@dataclass(frozen=True)
class SoftLabels:
    """What a teacher says about documents, in their order.

    logits: of each document, float (L,), or (W, L) of its words, up to a constant of each row; NaN
    where the teacher says nothing. hidden (D, H): the mean of its last layer over the tokens of
    each document; None if that is not learned.
    """

    logits: Sequence[np.ndarray]
    hidden: np.ndarray | None = None

    def write(self, path: Path, ids: np.ndarray) -> None:
        """ids int64 (D,): of the documents. Raises OSError."""
        rows = [np.atleast_2d(row).astype(np.float32) for row in self.logits]
        hidden = np.zeros((0, 0)) if self.hidden is None else self.hidden
        draft = path.with_name(f".{os.getpid()}-{path.name}")
        counts = np.array([len(row) for row in rows])
        np.savez(draft, ids=ids, counts=counts, logits=np.concatenate(rows), hidden=hidden)
        os.replace(draft, path)

    @classmethod
    def read(cls, path: Path, ids: np.ndarray, *, of_words: bool) -> Self | None:
        """Those of the documents with these ids; None if the file does not have them."""
        try:
            with np.load(path) as file:
                if not np.array_equal(file["ids"], ids):
                    return None
                rows = np.split(file["logits"], np.cumsum(file["counts"])[:-1])
                hidden = file["hidden"] if len(file["hidden"]) else None
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            return None
        return cls(rows if of_words else [row[0] for row in rows], hidden)


class Distillation:
    """The part of a training that concerns its teacher.

    records: of documents that have no gold, only soft labels.
    """

    def __init__(self, spec: TrainSpec, teaching: Teaching, folder: Path):
        self.spec, self.teaching, self.folder = spec, teaching, folder
        self.alpha = float(spec.option("alpha"))
        self.temperature = float(spec.option("temperature"))
        self.hidden_weight = float(spec.option("hidden_weight"))
        self.of_words = spec.info.taught == PER_WORD
        path = teaching.unlabelled
        records = read(Path(path)).records if path else ()
        self.records: Sequence[Record] = with_words(records, spec.segmenter)
        self.hidden: LastLayer | None = None

    @classmethod
    def of(cls, spec: TrainSpec, teaching: Teaching | None, folder: Path) -> Self | None:
        """None for a training without a teacher, or where it has no weight.

        teaching: by default, the setting `teacher` is the folder of a trained model.
        """
        name = str(spec.option("teacher"))
        if not name or (spec.option("alpha") == 1 and not spec.option("hidden_weight")):
            return None
        return cls(spec, teaching or Teaching((name,)), folder)

    # ------------------------------------------------------------ soft labels

    def taught(
        self,
        task: Task,
        model: Model,
        labels: Sequence[str],
        gold: Features,
        others: Sequence[Features],
    ) -> Events[Features]:
        """The inputs with gold, then the others, with soft labels as targets of each.

        others: of `records`, without targets. Raises SpecError or ModelError if the teacher does
        not fit.
        """
        if self.hidden_weight:
            self.hidden = LastLayer(model)
        documents = [doc for part in (gold, *others) for doc in part.prepared.documents]
        soft = yield from self._soft_labels(task, model, labels, documents)
        parts, start = [], 0
        for number, part in enumerate((gold, *others)):
            count, inputs = len(part.prepared.documents), len(part.prepared.inputs)
            targets = dict(part.targets) if not number else self._blank(gold, part.prepared)
            own = soft.logits[start : start + count]
            targets[TEACHER] = self._placed(task, part.prepared, own)
            targets[HAS_GOLD] = [np.asarray(int(not number))] * inputs
            if soft.hidden is not None:
                targets[HIDDEN] = list(soft.hidden[start : start + count][part.prepared.owner])
            parts.append(Features(part.prepared, targets))
            start += count
        return Features.join(parts)

    def _soft_labels(
        self, task: Task, model: Model, labels: Sequence[str], documents: Sequence[Document]
    ) -> Events[SoftLabels]:
        ids = np.array([document.id or 0 for document in documents])
        path = self.folder / FILE
        stored = SoftLabels.read(path, ids, of_words=self.of_words)
        if stored is not None:
            return stored
        yield LogMessage(
            ngettext(
                "Computing the soft labels of {n:,} document with {teacher}",
                "Computing the soft labels of {n:,} documents with {teacher}",
                len(documents),
                teacher=self.spec.option("teacher"),
            )
        )
        names = task.info.output_names(labels)
        if self.teaching.predictions:
            rows = predicted(Path(self.teaching.predictions), documents, names, task)
            soft = SoftLabels(list(rows))
        else:
            soft = yield from self._computed(task, model, names, documents)
        self.folder.mkdir(parents=True, exist_ok=True)
        soft.write(path, ids)
        return soft

    def _computed(
        self, task: Task, model: Model, names: Sequence[str], documents: Sequence[Document]
    ) -> Events[SoftLabels]:
        """The mean of the probabilities of all models."""
        device, by_model = model.encoder.device, []
        for folder in self.teaching.models:
            teacher = Predictor.load(folder, str(device), allow_pickle=True)
            order = self._order(teacher, task, model, names)
            rows: list[np.ndarray] = []
            hidden: list[np.ndarray] = []
            for start in range(0, len(documents), CHUNK):
                prepared = teacher.prepare(documents[start : start + CHUNK])
                self._check_words(prepared, documents[start : start + CHUNK])
                logits = yield from self._inferred(teacher, prepared)
                rows += [row[..., order] for row in self._rows(prepared, logits, len(order))]
                if self.hidden_weight:
                    firsts = map(prepared.first, range(len(prepared.documents)))
                    hidden += [logits[first][HIDDEN] for first in firsts]
            by_model.append(rows)
            del teacher
            devices.release(device)
        mean = [averaged(logits, task) for logits in zip(*by_model, strict=True)]
        return SoftLabels(mean, np.stack(hidden) if hidden else None)

    def _inferred(self, teacher: Predictor, prepared: Prepared) -> Events[Logits]:
        """With HIDDEN of each input if that is learned."""
        states = LastLayer(teacher.model) if self.hidden_weight else None
        work = infer(teacher.task, teacher.model, Features(prepared, {}))
        with recording(states):
            while True:
                try:
                    next(work)
                except StopIteration as end:
                    logits: Logits = end.value
                    return logits
                yield Tick(0)

    def _order(
        self, teacher: Predictor, task: Task, model: Model, names: Sequence[str]
    ) -> list[int]:
        """The positions of the model's outputs among those of the teacher. Raises SpecError."""
        own = teacher.info.trained_outputs(teacher.labels, teacher.decoder)
        if teacher.info.id != task.info.id or set(own) != set(names):
            raise SpecError(
                _(
                    "The teacher learned other labels: {labels}.",
                    labels=", ".join(teacher.labels) or _("none"),
                ),
                hint=_("Choose a run of the same task and labels."),
            )
        if self.hidden_weight and teacher.encoder.width != model.encoder.width:
            raise SpecError(
                _(
                    "The hidden states of the teacher have width {teacher}, those of the model "
                    "{model}.",
                    teacher=teacher.encoder.width,
                    model=model.encoder.width,
                ),
                hint=_("Set hidden_weight to 0, or choose a model of the same width."),
            )
        return [list(own).index(name) for name in names]

    def _check_words(self, prepared: Prepared, documents: Sequence[Document]) -> None:
        """Words are aligned by position. Raises SpecError."""
        if not self.of_words:
            return
        for words, document in zip(prepared.words, documents, strict=True):
            if len(words) != len(tokens_of(document)):
                raise SpecError(
                    _("The teacher splits the texts into other words than the model."),
                    hint=_("Choose the word segmenter that the teacher was trained with."),
                )

    def _rows(self, prepared: Prepared, logits: Logits, count: int) -> Iterator[np.ndarray]:
        """Of each document (L,), or of each of its words (W, L), NaN for one without a subword."""
        windows = [window["logits"] for window in logits]
        for number in range(len(prepared.documents)):
            if not self.of_words:
                yield windows[prepared.first(number)].astype(np.float64)
                continue
            where = prepared.alignments[number]
            rows = word_logits(windows, prepared.first(number), where, count)
            rows[where.window < 0] = np.nan
            yield rows

    # ------------------------------------------------------------ targets

    def _blank(self, gold: Features, prepared: Prepared) -> dict[str, list[np.ndarray]]:
        """Targets of inputs without gold, which no loss reads, in the shapes of the others."""
        lengths = prepared.lengths
        return {
            name: [np.full(length, IGNORED) for length in lengths]
            if self.of_words
            else [np.zeros_like(rows[0])] * len(lengths)
            for name, rows in gold.targets.items()
        }

    def _placed(
        self, task: Task, prepared: Prepared, logits: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """The probabilities of each input at the temperature: float32 (L,), or (T, L) at the first
        subwords of words; 0 where there are none.
        """
        soft = [softened(rows, self.temperature, task) for rows in logits]
        if not self.of_words:
            return [soft[document] for document in prepared.owner]
        placed = [
            np.zeros((len(encoded), soft[document].shape[-1]), np.float32)
            for encoded, document in zip(prepared.inputs, prepared.owner, strict=True)
        ]
        for document, rows in enumerate(soft):
            where, first = prepared.alignments[document], prepared.first(document)
            for word in np.flatnonzero(where.window >= 0):
                placed[first + where.window[word]][where.first[word]] = rows[word]
        return placed

    # ------------------------------------------------------------ loss

    def spread(
        self,
        often: np.ndarray | None,
        usual: Mapping[str, float | None],
        gold: Features,
        whole: Features,
        batch_size: int,
    ) -> tuple[np.ndarray | None, dict[str, float | None]]:
        """How often each input is drawn, and `Task.usual_counts`: those of the inputs with gold →
        of all, with the counts of the teacher. Inputs without gold have the mean frequency.
        """
        share = len(gold.prepared.inputs) / len(whole.prepared.inputs)
        if often is not None:
            others = len(whole.prepared.inputs) - len(often)
            often = np.concatenate([often, np.full(others, often.mean())])
        width = max(np.size(rows[0]) for rows in gold.targets.values())  # of labels on their own
        counts = {
            name: count if share == 1 else share * (count or batch_size * width)
            for name, count in usual.items()
        }
        words = sum(int((rows.sum(-1) > 0).sum()) for rows in whole.targets[TEACHER])
        of_teacher = batch_size * words / len(whole.prepared.inputs) if self.of_words else None
        return often, {**counts, TEACHER: of_teacher, HIDDEN: None}

    def losses(self, task: Task, model: Model, batch: Batch) -> dict[str, Loss]:
        """Of gold, weighted with α, and of the teacher: "teacher", "hidden"."""
        targets = dict(batch.targets)
        soft, has_gold = targets.pop(TEACHER), targets.pop(HAS_GOLD).bool()
        hidden = targets.pop(HIDDEN, None)
        with recording(self.hidden):
            logits, others = model.with_losses(batch.inputs)
        losses = dict(others)
        if self.alpha:
            if self.records:
                logits_of_gold = {name: values[has_gold] for name, values in logits.items()}
                targets = {name: values[has_gold] for name, values in targets.items()}
            else:
                logits_of_gold = logits
            gold = task.losses(model, logits_of_gold, targets)
            losses |= {name: Loss(self.alpha * one.total, one.count) for name, one in gold.items()}
        if self.alpha < 1:
            total, count = divergence(logits["logits"], soft, self.temperature, task)
            losses[TEACHER] = Loss((1 - self.alpha) * self.temperature**2 * total, count)
        if hidden is not None:
            away = 1 - F.cosine_similarity(logits[HIDDEN].float(), hidden)  # (B,)
            losses[HIDDEN] = Loss(self.hidden_weight * away.sum(), has_gold.new_tensor(len(away)))
        return losses


def divergence(logits: Tensor, soft: Tensor, temperature: float, task: Task) -> Loss:
    """Sum of KL(soft ‖ model) and how many distributions there are.

    logits (…, L) of the model; soft (…, L): probabilities of the teacher at the temperature, 0 for
    none. For labels that are decided on their own each is a distribution over yes and no.
    """
    scaled = logits.float() / temperature
    is_taught = soft.sum(-1) > 0
    if task.independent:
        yes = F.kl_div(F.logsigmoid(scaled), soft, reduction="none")
        no = F.kl_div(F.logsigmoid(-scaled), 1 - soft, reduction="none")
        each, width = (yes + no).sum(-1), logits.shape[-1]
    else:
        each, width = F.kl_div(F.log_softmax(scaled, -1), soft, reduction="none").sum(-1), 1
    return Loss(each.where(is_taught, 0.0).sum(), is_taught.sum() * width)


def softened(logits: np.ndarray, temperature: float, task: Task) -> np.ndarray:
    """Probabilities float32 of logits (…, L) divided by the temperature; 0 where they are NaN."""
    known = np.nan_to_num(logits) / temperature
    probabilities = sigmoid(known) if task.independent else softmax(known)
    probabilities = np.clip(probabilities, LEAST / 2, 1) if task.independent else probabilities
    soft: np.ndarray = np.where(np.isnan(logits), 0.0, probabilities).astype(np.float32)
    return soft


def averaged(logits: Sequence[np.ndarray], task: Task) -> np.ndarray:
    """The logits, up to a constant, of the mean of the probabilities of several models (…, L)."""
    if len(logits) == 1:
        return logits[0]
    if task.independent:
        mean = np.clip(np.mean([sigmoid(one) for one in logits], axis=0), LEAST, 1 - LEAST)
        odds: np.ndarray = np.log(mean) - np.log1p(-mean)
        return odds
    mean = np.mean([softmax(one) for one in logits], axis=0)
    logs: np.ndarray = np.log(np.maximum(mean, LEAST))
    return logs


def predicted(
    path: Path, documents: Sequence[Document], names: Sequence[str], task: Task
) -> Iterator[np.ndarray]:
    """Logits (L,) of predicted labels of documents; NaN for a document without an answer."""
    answers = read_answers(path)
    for document in documents:
        prediction = answers.get(document.id)
        labels = prediction.get(DocumentLabels) if prediction is not None else None
        if labels is None:
            yield np.full(len(names), np.nan)
            continue
        scores = labels.as_dict()
        shares = np.clip([scores.get(name, 0.0) for name in names], LEAST, 1 - LEAST)
        yield np.log(shares) - (np.log1p(-shares) if task.independent else 0.0)


class LastLayer:
    """Adds HIDDEN (B, H), the mean of the last layer over the tokens, to what a model returns while
    `is_on`. Raises SpecError if the last layer gives no states.
    """

    def __init__(self, model: Model):
        self.is_on, self._states = False, None
        model.encoder.whole = True
        model.encoder.parts().modules[-1].register_forward_hook(self._keep)
        model.register_forward_hook(self._add)

    def _keep(self, _layer: Any, _inputs: Any, output: Any) -> None:
        self._states = (output[0] if isinstance(output, tuple) else output) if self.is_on else None

    def _add(self, _model: Any, inputs: Any, logits: dict[str, Tensor]) -> dict[str, Tensor] | None:
        if not self.is_on:
            return None
        mask, states = inputs[0][MASK], self._states
        if states is None or states.shape[:2] != mask.shape:
            raise SpecError(
                _("The last layer of this model gives no hidden states to compare."),
                hint=_("Set hidden_weight to 0."),
            )
        weights = mask.unsqueeze(-1).to(states.dtype)  # (B, T, 1)
        return {**logits, HIDDEN: (states * weights).sum(1) / weights.sum(1).clamp(min=1)}


@contextmanager
def recording(states: LastLayer | None) -> Iterator[None]:
    if states is not None:
        states.is_on = True
    try:
        yield
    finally:
        if states is not None:
            states.is_on = False
