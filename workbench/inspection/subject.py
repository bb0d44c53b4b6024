"""A loaded model for inspectors: a run with its task, or a pretrained model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.inspection import spec
from workbench.inspection.predicting import Predicting, texts_of
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.models import precision
from workbench.models import spec as models
from workbench.models.base import Encoder, LoadOptions
from workbench.models.generate import LanguageModel
from workbench.models.loading import loaded
from workbench.runtime.crf import Transitions
from workbench.runtime.inputs import Logits, Prepared, Preparer
from workbench.runtime.preparers.words import segmenter_of
from workbench.tasks.base import Features
from workbench.tasks.predictor import Predictor, infer
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.text.segmenters import base as segmenters

_HEADS = {"next": "next_lm", "previous": "previous_lm"}  # of language models that read words
TEXT = "text"  # the head of encoder–decoders
DEFAULT_MAX_UNITS = 512  # maximum units per input of a pretrained model that defines no limit


@dataclass(frozen=True)
class Predicted:
    """One pass over one document: its inputs, their logits, the prediction."""

    prepared: Prepared
    logits: Logits
    prediction: Prediction


class Subject(Predicting):
    """Loads what inspectors request of a model, each part once.

    info: the card of the model. gives: what it provides to inspectors, see `spec.provided_outputs`.
    is_run: a run, or a published model that is trained for a task. labels: of a run, in the order
    of its outputs.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        device: str = "auto",
        allow_pickle: bool = False,
        weights: str = "auto",
    ):
        """weights: of pretrained models, see `precision.of_weights`.

        Raises ModelError if the folder holds no usable model.
        """
        self.folder, self._device = folders.located(folder), device
        self._allow_pickle, self._weights = allow_pickle, weights
        self.info = models.read_folder(self.folder, allow_pickle=allow_pickle)
        self.is_run = (self.folder / models.DESCRIPTION).is_file() or bool(self.info.task)
        gives = self.info.gives
        if self.is_run:
            self.gives = spec.provided_outputs(spec.of_run(gives, self.folder), self._answers())
        else:
            self.gives = spec.provided_outputs(gives, None)
        self._eager: Encoder | None = None
        self._last: tuple[object, Predicted] | None = None
        self._read_at = self._written_at()

    def _answers(self) -> tuple[str, ...]:
        options = self.predictor.description.get("options") or {}
        return self.predictor.task.info.provides(options)

    # ---------------------------------------------------------------- parts of the model

    @cached_property
    def predictor(self) -> Predictor:
        """The run with its task. Raises ModelError for a pretrained model."""
        return self._predictor("sdpa")

    def _predictor(self, attention: str) -> Predictor:
        return Predictor.load(
            self.folder, self._device, attention=attention, allow_pickle=self._allow_pickle
        )

    @cached_property
    def language_model(self) -> LanguageModel:
        """The pretrained model with its own head. Raises ModelError if it has none."""
        return LanguageModel.load(
            self.folder,
            device=self._device,
            allow_pickle=self._allow_pickle,
            weights=self._weights,
        )

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder used for predictions, in eval mode on the device."""
        if self.is_run:
            return self.predictor.encoder
        if self.scores_subwords:
            return self.language_model.encoder
        return self._load("sdpa")

    def transitions(self) -> Transitions | None:
        if not self.is_run:
            return None
        return self.predictor.task.info.transitions(self.labels, self.predictor.decoder)

    @property
    def scores_subwords(self) -> bool:
        """Whether it is a pretrained language model with a subword tokenizer.

        Other language models read words or characters, see `Encoder.vocable`.
        """
        return spec.EXPECTED_WORDS in self.gives and bool(self.info.tokenizer)

    @property
    def eager_encoder(self) -> Encoder:
        """The same encoder, loaded so that it returns attention weights (`attentions`).

        The first call loads it a second time if the encoder used for predictions computes attention
        in a fused kernel, which does not return weights.
        """
        if self._eager is None:
            is_eager = self.encoder.gives_attention
            self._eager = self.encoder if is_eager else self._load("eager")
        return self._eager

    @cached_property
    def writer(self) -> Encoder:
        """The encoder–decoder with its head for text, which returns attention weights.

        Raises ModelError for a run whose own head has replaced that of the decoder.
        """
        if self.is_run:
            encoder = self.eager_encoder
            if encoder.head != TEXT:
                raise ModelError(
                    _(
                        "{model} does not generate text: its classes are scored by a new layer.",
                        model=self.info.name,
                    ),
                    hint=_("Train it without pooling; the decoder then generates the labels."),
                )
            return encoder
        options = LoadOptions(head=TEXT, attention="eager", allow_pickle=self._allow_pickle)
        writer = loaded(self.info, options)
        return writer.to(devices.pick(self._device)).eval()

    def _load(self, attention: str) -> Encoder:
        if self.is_run:
            return self._predictor(attention).encoder
        heads = {} if self.info.tokenizer else _HEADS
        head = next((head for head, output in heads.items() if output in self.info.gives), "")
        device = devices.pick(self._device)
        options = LoadOptions(
            head=head,
            attention=attention,
            allow_pickle=self._allow_pickle,
            bf16=precision.of_weights(self._weights, self.info, device),
        )
        return loaded(self.info, options).to(device).eval()

    @property
    def preparer(self) -> Preparer:
        return self.encoder.preparer

    @property
    def base_folder(self) -> Path | None:
        """The folder of the model that a run was trained from; None if it is not installed."""
        name = str(self.predictor.description.get("model") or "") if self.is_run else ""
        return models.installed(name) if name else None

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def labels(self) -> tuple[str, ...]:
        return self.predictor.labels if self.is_run else ()

    @property
    def temperature(self) -> float:
        """The temperature that a run decodes with; 1 if none was fitted."""
        return float(self.predictor.decoder.get("temperature", 1.0)) if self.is_run else 1.0

    def refresh(self) -> None:
        """Decode with the temperature and thresholds that the run has now."""
        if self.is_run and self._read_at != (now := self._written_at()):
            self.predictor.description = folders.description(self.folder)
            self._read_at, self._last = now, None

    def _written_at(self) -> tuple[int, int]:
        """Time and size of the description of a run, (0, 0) for a model without one."""
        try:
            about = (self.folder / models.DESCRIPTION).stat()
        except OSError:
            return 0, 0
        return about.st_mtime_ns, about.st_size

    @property
    def asks(self) -> bool:
        """Whether it is a run that answers questions about a text."""
        return self.is_run and self.predictor.task.info.asks

    @property
    def is_ordered(self) -> bool:
        return self.is_run and self.predictor.task.info.ordered

    @property
    def texts(self) -> int:
        """How many texts an input holds; with choices or questions, the text and one of them."""
        return texts_of(self.predictor.task.info) if self.is_run else 1

    def segmented(self, documents: Sequence[Document]) -> list[Document]:
        """With the words that the model was trained on as tokens of texts that have none."""
        id = self.predictor.segmenter if self.is_run else segmenter_of(self.encoder.preparer)
        return segmenters.segmented(documents, id)

    def as_read(self, document: Document) -> Document:
        """What one input reads of a document with choices or questions; others as they are."""
        if self.asks:
            return self.predictor.task.info.as_read(document, Prediction())
        if not self.is_run or not document.choices:
            return document
        return self.predictor.task.info.as_read(document, self.predicted(document).prediction)

    # ---------------------------------------------------------------- inputs and predictions

    @property
    def max_length(self) -> int:
        """Maximum units per input."""
        return (
            self.predictor.max_length
            if self.is_run
            else min(self.encoder.max_length, DEFAULT_MAX_UNITS)
        )

    def prepared(self, document: Document, *, longest: int = DEFAULT_MAX_UNITS) -> Prepared:
        """The document as the model reads it: one input, or the windows of a long text.

        `longest` limits the windows of a pretrained model; those of a run are as in training.
        """
        if self.is_run:
            return self.predictor.prepare([document])
        return self.preparer.windows([document], min(self.max_length, longest))

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        return self.predictor.predict(documents)

    def prediction(self, document: Document) -> Prediction:
        return self.predicted(document).prediction

    def unknown_share(self, texts: Sequence[str]) -> float:
        return self.preparer.unknown_share(texts)

    def predicted(self, document: Document) -> Predicted:
        """The prediction of the run; inspectors of the same document share one pass."""
        key = (document.texts, dict(document.tokens), document.questions)
        if self._last is None or self._last[0] != key:
            self._last = key, self._predict(document)
        return self._last[1]

    def _predict(self, document: Document) -> Predicted:
        prepared = self.predictor.prepare([document])
        work = infer(self.predictor.task, self.predictor.model, Features(prepared, {}))
        while True:
            try:
                next(work)
            except StopIteration as end:
                (prediction,) = self.predictor.decode(end.value, prepared)
                return Predicted(prepared, end.value, prediction)

    def warm_up(self, document: Document) -> None:
        """A first pass that allocates buffers, so that the first request is answered quickly."""
        if self.is_run:
            self.predicted(document)
        elif self.scores_subwords:
            piece = self.prepared(document).inputs[0]
            self.language_model.logits([piece.ids.tolist()], [[0]])
        else:
            _ = self.encoder  # loads it
