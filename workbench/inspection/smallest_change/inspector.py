"""The smallest change of a text that turns a prediction: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from workbench.base.errors import ModelError, WorkbenchError
from workbench.base.i18n import _
from workbench.inspection import decisions
from workbench.inspection.asking import Asking
from workbench.inspection.attributions.targets import explained
from workbench.inspection.base import words_of
from workbench.inspection.predicting import Predicting
from workbench.inspection.smallest_change.info import INFO, NO_MODEL, SmallestChange
from workbench.inspection.smallest_change.search import Proposals, Search, flips
from workbench.inspection.spec import WordRow
from workbench.inspection.subject import Subject
from workbench.models import spec as models
from workbench.models.generate import MASKED, LanguageModel
from workbench.text import result_view
from workbench.text.document import Document

DEFAULT_PROPOSER = "starter-bert"
MAX_WORDS = 60  # words at the beginning of a text that are changed


class SmallestChangeInspector:
    """For runs that decide something about a text: a class, labels, a number, tags, spans, answers.

    Each step changes the word that lowers the score of what was predicted most, until something
    else is predicted. Words that the decision is about stay.
    """

    info = INFO

    def __init__(self) -> None:
        self._model: tuple[object, LanguageModel | None] | None = None
        self._last: tuple[object, Search] | None = None

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> SmallestChange:
        """Raises WorkbenchError for a text without words, or an unknown target or proposer.

        Equal requests go on where the last one ended.
        """
        (document,) = documents
        field, text = document.texts[0]
        words = tuple(word for word in words_of(document, 1) if word.field == field)[:MAX_WORDS]
        if not words:
            raise WorkbenchError(_("The text has no words to change."))
        prediction = subject.prediction(document)
        targets = decisions.targets(prediction, words)
        target = decisions.chosen(targets, str(options["target"]))
        settings = {name: value for name, value in options.items() if name != "part"}
        texts = document.texts, dict(document.tokens), document.questions, document.choices
        key = id(subject), texts, targets, settings
        if self._last is None or self._last[0] != key:
            asking = Asking(subject, document, text, words, target, prediction, options["step"])
            top, proposer = options["top"], str(options["proposer"]).strip()
            search = Search(
                asking,
                targets,
                options["most"],
                partial(self._proposals, asking, proposer, top),
                partial(_estimates, asking, top),
            )
            self._last = key, search
        search = self._last[1]
        search.advance(options["part"])
        return search.result

    def _proposals(self, asking: Asking, proposer: str, top: int) -> tuple[Proposals, str] | None:
        """Of a language model, with its name; None without one."""
        model = self._language_model(asking.subject, proposer)
        if model is None:
            return None
        proposals = _proposals(model, asking.text, asking.words, top)
        return proposals, model.encoder.info.name

    def _language_model(self, subject: Predicting, name: str) -> LanguageModel | None:
        """The masked language model asked for: by default the one that the run was trained from,
        else the starter. None if there is none.
        """
        key = subject.folder, name
        if self._model is None or self._model[0] != key:
            folders = [models.installed(name)] if name else _proposers(subject)
            self._model = key, None if name == NO_MODEL else _first_masked(folders, name)
        return self._model[1]


def _proposers(subject: Predicting) -> list[Path | None]:
    return [subject.base_folder, models.installed(DEFAULT_PROPOSER)]


def _first_masked(folders: Sequence[Path | None], name: str) -> LanguageModel | None:
    """Raises ModelError if the model asked for is none."""
    for folder in folders:
        if folder is None:
            continue
        with suppress(WorkbenchError):  # a model that predicts no words
            model = LanguageModel.load(folder)
            if model.kind == MASKED:
                return model
    if name:
        raise ModelError(
            _("{name} is not an installed masked language model.", name=name),
            hint=_("Choose a masked language model of the Models page, such as starter-bert."),
        )
    return None


def _estimates(asking: Asking, top: int) -> dict[int, dict[str, float]]:
    """Word → replacements with the estimated fall; {} for a model without token embeddings."""
    target, subject, view = asking.target, asking.subject, result_view.of(asking.before)
    if not isinstance(subject, Subject):
        return {}
    sign = 0 if target.value is not None else 1
    if view.independent and target.label not in view.labels(asking.before):
        sign = -1
    try:
        explained_as = _explained(asking, subject)
        flips_by_word = flips(subject, asking.document, asking.words, explained_as, top, sign=sign)
    except WorkbenchError:
        return {}
    return {
        at: {flip.new: flip.fall for flip in word_flips}
        for at, word_flips in flips_by_word.items()
        if word_flips
    }


def _explained(asking: Asking, subject: Subject) -> str:
    """The target of the attributions that stands for a decision: of an answer its start, of a span
    of one word the word's tag.
    """
    target = asking.target
    kind, _colon, rest = target.id.partition(":")
    if kind == decisions.ANSWER:
        return f"start:{rest}"
    if kind not in (decisions.WORD, decisions.SPAN) or target.last > target.first:
        return target.id
    try:
        known = explained(subject, asking.document).places
    except LookupError:  # spans without tags of words
        return target.id
    prefix = f"word:{target.first}:"
    return next((id for id in known if id.startswith(prefix)), target.id)


def _proposals(
    model: LanguageModel, text: str, words: Sequence[WordRow], top: int
) -> dict[int, list[str]]:
    """Word → other words that the model expects in its place, most probable first."""
    tokenizer = model.tokenizer
    name = tokenizer.piece(model.mask)
    chosen = [at for at, word in enumerate(words) if any(map(str.isalnum, word.text))]
    rows, places = [], []
    for at in chosen:
        word = words[at]
        ids = tokenizer.backend.encode(f"{text[: word.start]}{name}{text[word.end :]}").ids
        ids = ids[: model.max_length]
        if model.mask in ids:
            rows.append(ids)
            places.append([ids.index(model.mask)])
    if len(rows) < len(chosen):
        chosen = chosen[: len(rows)]  # the end of a long text is cut
    if not rows:
        return {}
    best = model.logits(rows, places)[:, 0].topk(4 * top, dim=-1).indices.tolist()  # (B, 4 top)
    proposals: dict[int, list[str]] = {}
    for at, numbers in zip(chosen, best, strict=True):
        pieces = [tokenizer.piece(number).lstrip("Ġ▁") for number in numbers]
        own = words[at].text.casefold()
        fitting = [piece for piece in pieces if piece.isalpha() and piece.casefold() != own]
        proposals[at] = list(dict.fromkeys(fitting))[:top]
    return proposals
