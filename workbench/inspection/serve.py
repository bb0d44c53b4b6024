"""The host that keeps one model loaded and answers what it says of a text."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.base.errors import ModelError
from workbench.inspection.base import token_rows, words_of
from workbench.inspection.spec import Answer, TokenOptions
from workbench.inspection.token_scores import (
    ClassScoresInspector,
    TokenScoresInspector,
    tokenizer_of,
)
from workbench.inspection.vocabulary import VocabularyInspector
from workbench.models import device as devices
from workbench.models import spec as models
from workbench.models.folder import DESCRIPTION, located
from workbench.models.generate import LanguageModel
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.predictor import Predictor
from workbench.text.document import TEXT, Document

WARM = "A few words to begin with."


def open(params: Mapping) -> Callable[[Mapping], dict]:
    """Host target. params: model (folder of a run or of a pretrained model), device, allow_pickle.

    A request {"texts": {field: content}, "tokens": {field: [[start, end], …]}, "top": 5, "start": 0} gives Answer.to_json().
    Raises ModelError where the folder cannot be loaded.
    """
    devices.use_threads()
    asked = _subject(
        Path(params["model"]), str(params.get("device") or "auto"), bool(params.get("allow_pickle"))
    )
    asked.answer({"texts": {TEXT: WARM}})  # the first pass prepares buffers
    return lambda request: asked.answer(request).to_json()


class Asked:
    """A loaded model with the inspector that fits it."""

    def __init__(
        self,
        kind: str,
        family: str,
        subject: Any,
        inspector: Any,
        tokenizer: Tokenizer,
        labels: tuple[str, ...] = (),
    ):
        self.kind, self.family, self.subject, self.inspector = kind, family, subject, inspector
        self.tokenizer, self.labels = tokenizer, labels

    def answer(self, request: Mapping) -> Answer:
        began = time.perf_counter()
        texts = tuple((str(name), str(content)) for name, content in request["texts"].items())
        tokens = {
            name: tuple((int(a), int(b)) for a, b in borders)
            for name, borders in (request.get("tokens") or {}).items()
        }
        document = Document("", texts, tokens=tokens)
        options = TokenOptions(int(request.get("top", 5)), int(request.get("start", 0)))
        found = dict(self.inspector.run(self.subject, [document], options)[0])
        found["tokens"], found["words"] = tuple(found["tokens"]), tuple(found["words"])
        unknown = self.tokenizer.unknown_share([content for _, content in texts])
        milliseconds = 1000 * (time.perf_counter() - began)
        return Answer(
            self.kind,
            self.family,
            unknown=unknown,
            milliseconds=milliseconds,
            labels=self.labels,
            **found,
        )


class _Subwords:
    """For a model without a head: only how the text falls into subwords."""

    def __init__(self, max_length: int):
        self.max_length = max_length

    def run(
        self, subject: Tokenizer, documents: builtins.list[Document], options: TokenOptions
    ) -> builtins.list[dict]:
        found = []
        for document in documents:
            piece, cut = next(iter(subject.whole([(document.text,)], self.max_length)))
            words = words_of(document, 1)
            found.append(
                {"tokens": token_rows(piece, document, words, subject), "words": words, "cut": cut}
            )
        return found


def _subject(folder: Path, device: str, allow_pickle: bool) -> Asked:
    folder = located(folder)
    if (folder / DESCRIPTION).is_file():
        predictor = Predictor.load(folder, device)
        info, tokens = predictor.encoder.info, "TokenScores" in predictor.task.info.outputs
        inspector = TokenScoresInspector() if tokens else ClassScoresInspector()
        return Asked(
            predictor.task.info.id,
            info.architecture,
            predictor,
            inspector,
            tokenizer_of(predictor),
            predictor.labels,
        )
    info = models.read_folder(folder, allow_pickle=allow_pickle)
    try:
        model = LanguageModel.load(folder, device=device, allow_pickle=allow_pickle)
    except ModelError:
        if {"masked_lm", "next_lm"} & {*info.gives}:
            raise
        tokenizer = Tokenizer.load(folder)
        return Asked(
            "none", info.architecture, tokenizer, _Subwords(info.max_length or 512), tokenizer
        )
    return Asked(model.kind, info.architecture, model, VocabularyInspector(), model.tokenizer)
