"""The component of spaCy that predicts with an exported model, and the tokenizer of its pipeline.

A copy of this module lies in the exported folder, see `exporters.model.bundle`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from spacy import util
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from workbench.base.i18n import _
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.text.document import TEXT, Document
from workbench.text.fields import DocumentLabels, Prediction
from workbench.text.labels import LAYER_KINDS, TOKENS
from workbench.text.segment import words
from workbench.text.spans import FLAT

FACTORY = "glossbench"  # also the name of the extension `doc._.glossbench`
TOKENIZER = "glossbench.words.v1"
KEY = "sc"  # of spans that may overlap, as of spaCy's own component


@Language.factory(FACTORY, default_config={"threads": 0})
def create(nlp: Language, name: str, threads: int) -> Component:
    """threads: 0 is OMP_NUM_THREADS, or all processors."""
    return Component(name, threads)


class Component:
    """Sets `doc.cats`, `doc.ents` or `doc.spans["sc"]`, or `token.tag_` if it tags every token.

    `doc._.glossbench` is the whole prediction, the object of `glossbench predict --json`; its
    offsets are exact. A span that does not begin and end with tokens is widened to whole ones;
    `widened` counts these. Of entities that overlap then, the first is set; `left_out` counts the
    others.
    """

    def __init__(self, name: str, threads: int = 0):
        self.name, self.threads = name, threads
        self.widened = self.left_out = 0
        self._folder: Path | None = None
        self._loaded: tuple[int, OnnxPredictor] | None = None  # with the process that loaded it
        if not Doc.has_extension(FACTORY):
            Doc.set_extension(FACTORY, default=None)

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 32) -> Iterator[Doc]:
        stream = iter(stream)
        while docs := list(islice(stream, batch_size)):
            documents = [Document("", ((TEXT, doc.text),)) for doc in docs]
            for doc, prediction in zip(docs, self.predictor.predict(documents), strict=True):
                self._annotate(doc, prediction)
                yield doc

    @property
    def predictor(self) -> OnnxPredictor:
        """Loaded when first used. Raises ValueError without a model, and in a process that was
        forked later: it lacks the threads of onnxruntime, and would wait for them for ever.
        """
        if self._folder is None:
            raise ValueError(_("The component {name} has no model.", name=self.name))
        if self._loaded is None:
            self._loaded = os.getpid(), OnnxPredictor.load(self._folder, threads=self.threads)
        elif self._loaded[0] != os.getpid():
            raise ValueError(
                _(
                    "The component {name} was used before this process was forked. Use several "
                    "processes from the start, or multiprocessing.set_start_method('spawn').",
                    name=self.name,
                )
            )
        return self._loaded[1]

    @property
    def labels(self) -> tuple[str, ...]:
        """() before a model is read."""
        return self.predictor.labels if self._folder is not None else ()

    # ---------------------------------------------------------------- annotations

    def _annotate(self, doc: Doc, prediction: Prediction) -> None:
        doc._.set(FACTORY, prediction.to_json())
        if labels := prediction.get(DocumentLabels):
            doc.cats = labels.as_dict()
        elif any(LAYER_KINDS[kind].editor == TOKENS for kind in self.predictor.info.layer_kinds):
            _tag(doc, prediction)
        elif (self.predictor.description.get("decoder") or {}).get("overlap", FLAT) == FLAT:
            doc.ents = self._apart(self._spans(doc, prediction))
        else:
            spans = self._spans(doc, prediction)
            scores = [item.score for item in prediction.spans]
            doc.spans[KEY] = SpanGroup(doc, name=KEY, spans=spans, attrs={"scores": scores})

    def _spans(self, doc: Doc, prediction: Prediction) -> list[Span]:
        spans = []
        for item in prediction.spans:
            exact = doc.char_span(item.start, item.end, label=item.label)
            self.widened += exact is None
            spans.append(exact or _widened(doc, item.start, item.end, item.label))
        return spans

    def _apart(self, spans: Sequence[Span]) -> list[Span]:
        separate: list[Span] = []
        for span in spans:
            if separate and span.start < separate[-1].end:
                self.left_out += 1
            else:
                separate.append(span)
        return separate

    # ---------------------------------------------------------------- files

    def to_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> None:
        if self._folder is not None and Path(path).resolve() != self._folder.resolve():
            shutil.copytree(self._folder, path, dirs_exist_ok=True)

    def from_disk(self, path: Path | str, *, exclude: Iterable[str] = ()) -> Component:
        self._folder, self._loaded = Path(path), None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        raise NotImplementedError(_("Save the pipeline with to_disk: it contains an ONNX model."))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Component:
        raise NotImplementedError(_("Save the pipeline with to_disk: it contains an ONNX model."))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_loaded": None}


def _widened(doc: Doc, start: int, end: int, label: str) -> Span:
    """The tokens that lie in a range at least in part, which are one or more."""
    tokens = [token.i for token in doc if token.idx < end and token.idx + len(token) > start]
    return Span(doc, tokens[0], tokens[-1] + 1, label=label)


def _tag(doc: Doc, prediction: Prediction) -> None:
    """Each token has the tag of the word in which it begins."""
    tagged = iter(prediction.words)
    word = next(tagged, None)
    for token in doc:
        while word is not None and word.end <= token.idx:
            word = next(tagged, None)
        if word is not None and word.start <= token.idx:
            token.tag_ = word.label or ""


# ---------------------------------------------------------------- tokens


def create_tokenizer() -> Any:
    return lambda nlp: Words(nlp.vocab)


util.registry.tokenizers(TOKENIZER, func=create_tokenizer)


class Words:
    """The words of Glossbench, so that predicted spans begin and end with tokens."""

    def __init__(self, vocab: Vocab):
        self.vocab = vocab

    def __call__(self, text: str) -> Doc:
        parts = [text[start:end] for start, end in words(text)]
        names, spaces = util.get_words_and_spaces(parts, text)
        return Doc(self.vocab, words=names, spaces=spaces)

    def pipe(self, texts: Iterable[str], batch_size: int = 1000) -> Iterator[Doc]:
        return map(self, texts)

    def to_disk(self, path: Path | str, **_options: Any) -> None:
        """There is nothing to save."""

    def from_disk(self, path: Path | str, **_options: Any) -> Words:
        return self

    def to_bytes(self, **_options: Any) -> bytes:
        return b""

    def from_bytes(self, data: bytes, **_options: Any) -> Words:
        return self
