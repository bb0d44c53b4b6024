"""Documents as imported. Their text never changes; offsets are code points, end exclusive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.base import deprecation
from workbench.base.i18n import _
from workbench.text.spans import TEXT as TEXT
from workbench.text.spans import Span

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, asked="with_questions", ASKED="QUESTIONS")

SPLITS = ("train", "dev", "test")
TEXT_B = "text_b"
SPANS = "spans"  # in JSON, those that a model connects
QUESTION = "question"  # of a document with choices, beside the text that it is about
CHOICE = "choice_"  # begins the names of the texts to choose from, numbered from 1
CHOICES = 0  # form of documents with choices: these may be any number
BLANK = "_"  # in a question: the choice takes its place


@dataclass(frozen=True, slots=True)
class Document:
    """One document with 1..n named texts (a sentence pair has two: `text` and `text_b`).

    A document with choices has a `text`, maybe a `question`, and `choice_1`, `choice_2` …
    `tokens[field]` are (start, end) offsets in code points, only if the import had tokens.
    `input_spans` are the spans of the text that a model of relations connects.
    `split` is None until splits are made. `id` is None until the document is stored; ids are never
    reused.
    """

    key: str
    texts: tuple[tuple[str, str], ...]  # (field, content), in order
    split: str | None = None
    group: str | None = None
    meta: Mapping[str, object] = field(default_factory=dict, hash=False)
    tokens: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict, hash=False)
    id: int | None = None
    questions: tuple[str, ...] = ()  # asked about the text; stored with their answers, not here
    input_spans: tuple[Span, ...] = ()  # of the text; stored in their layer, not here

    @property
    def text(self) -> str:
        return self.texts[0][1]

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.texts)

    def content(self, field: str = TEXT) -> str:
        """Raises KeyError if there is no such text."""
        return dict(self.texts)[field]

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts to choose from, () for other documents."""
        return tuple(content for name, content in self.texts if name.startswith(CHOICE))

    @property
    def question(self) -> str:
        """The question of a document with choices, "" without one."""
        return next((content for name, content in self.texts if name == QUESTION), "")

    @property
    def prompt(self) -> str:
        """The text and the question of a document with choices, as a model is prompted."""
        return f"{self.text}\n\n{self.question}" if self.question else self.text

    @property
    def inputs(self) -> tuple[tuple[str, ...], ...]:
        """The texts that a model reads together, for each of its inputs: one, or one per choice.

        A choice is read after the text; the question precedes it, or has a blank for it.
        Source: transformers, examples/legacy/multiple_choice (RACE).
        """
        if not self.choices:
            return (tuple(content for _name, content in self.texts),)
        question = self.question
        return tuple(
            (
                self.text,
                question.replace(BLANK, choice)
                if BLANK in question
                else f"{question} {choice}".strip(),
            )
            for choice in self.choices
        )

    @property
    def form(self) -> int:
        """What layers are for (`Layer.texts`): the number of texts, CHOICES if it has choices."""
        return form_of(self.texts)

    @property
    def asked_hash(self) -> str:
        """Hash of the texts, the questions and the spans, on which a prediction depends."""
        if not self.questions and not self.input_spans:
            return self.text_hash
        named = tuple((QUESTION, question) for question in self.questions)
        spans = tuple((s.label, f"{s.field} {s.start} {s.end}") for s in self.input_spans)
        return text_hash((*self.texts, *named, *spans))

    @property
    def text_hash(self) -> str:
        return text_hash(self.texts)


def form_of(texts: Sequence[tuple[str, str]]) -> int:
    """The form of a document with these texts, see `Document.form`."""
    for name, _content in texts:
        if name.startswith(CHOICE):
            return CHOICES
    return len(texts)


def choice_names(count: int) -> tuple[str, ...]:
    """The labels of so many choices: "1", "2" …"""
    return tuple(map(str, range(1, count + 1)))


def with_choices(key: str, text: str, choices: Iterable[str], question: str = "") -> Document:
    """A document without splits or metadata."""
    question_text = ((QUESTION, question),) if question else ()
    named = ((f"{CHOICE}{number}", choice) for number, choice in enumerate(choices, 1))
    return Document(key, ((TEXT, text), *question_text, *named))


def with_questions(key: str, text: str, questions: Iterable[str]) -> Document:
    """A text with questions that a model is asked about it."""
    return Document(key, ((TEXT, text),), questions=tuple(questions))


def text_hash(texts: tuple[tuple[str, str], ...]) -> str:
    """32 hex digits over field names and contents; equal texts have equal hashes."""
    whole = "".join([f"{name}\0{content}\0" for name, content in texts])
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


QUESTIONS = -1  # form of documents with questions; in a project it is that of their texts


def typed(text: str, text_b: str | None = None, *, form: int = 1, question: str = "") -> Document:
    """A text without a project; with `text_b` a pair.

    form: CHOICES if `text_b` holds choices, one per line, for which there may be a question;
    QUESTIONS if it holds questions.
    """
    if form == QUESTIONS:
        return typed_questions("", text, text_b or "")
    if form == CHOICES:
        lines = [line.strip() for line in (text_b or "").splitlines() if line.strip()]
        return with_choices("", text, lines or [""], question)
    return Document("", ((TEXT, text), *(((TEXT_B, text_b),) if text_b is not None else ())))


def from_json(raw: Mapping[str, object], *, form: int = 1, connects: bool = False) -> Document:
    """A document from an object as `predict --json` prints it, of the form that a model reads.

    text, and text_b for pairs; a list `questions`, or one of `choices` (or choice_1, choice_2 …)
    with a question; where the model connects spans, a list of these, see `spans_from_json`; `key`
    is optional. Raises ValueError that says what is wrong.
    """
    names = {TEXT: True, TEXT_B: form == 2, QUESTION: False}
    for name, needed in names.items():
        if not isinstance(raw.get(name, None if needed else ""), str):
            raise ValueError(_("{name!r} is missing or is not a text", name=name))
    key, text = str(raw.get("key", "")), str(raw[TEXT])
    if form == QUESTIONS:
        return with_questions(key, text, _texts(raw, "questions"))
    if form == CHOICES:
        numbered = [raw[name] for name in raw if name.startswith(CHOICE)]
        choices = _texts({"choices": numbered, **raw}, "choices")
        return with_choices(key, text, choices, str(raw.get(QUESTION, "")))
    texts = ((TEXT, text), *(((TEXT_B, str(raw[TEXT_B])),) if form == 2 else ()))
    return Document(key, texts, input_spans=spans_from_json(raw, text) if connects else ())


def spans_from_json(raw: Mapping[str, object], text: str) -> tuple[Span, ...]:
    """The list `spans` of an object: start, end (code points of its text) and label of each.

    Raises ValueError that says what is wrong.
    """
    spans = raw.get(SPANS)
    if not isinstance(spans, list):
        raise ValueError(_("{name!r} is missing or is not a list", name=SPANS))
    return tuple(_span(span, number, text) for number, span in enumerate(spans))


def _span(raw: object, number: int, text: str) -> Span:
    if isinstance(raw, Mapping):
        start, end, label = (raw.get(name) for name in ("start", "end", "label"))
        if type(start) is int and type(end) is int and isinstance(label, str):
            span = Span(start, end, label)
            if 0 <= span.start < span.end <= len(text):
                return span
    raise ValueError(
        _(
            "spans.{number}: expected an object with start, end and label, a range of the text "
            "(0 to {n})",
            number=number,
            n=len(text),
        )
    )


def _texts(raw: Mapping[str, object], name: str) -> list[str]:
    texts = raw.get(name)
    if not isinstance(texts, list) or not texts or not all(isinstance(i, str) for i in texts):
        raise ValueError(_("{name!r} is missing or is not a list of texts", name=name))
    return texts


def typed_questions(key: str, text: str, lines: str) -> Document:
    """A text with questions, one per line."""
    return with_questions(key, text, [line.strip() for line in lines.splitlines() if line.strip()])
