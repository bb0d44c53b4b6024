"""Documents made of typed texts, outside of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base import deprecation
from workbench.text.document import CHOICES, TEXT, TEXT_B, Document, with_choices, with_questions

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, ASKED="QUESTIONS")

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


def typed_questions(key: str, text: str, lines: str) -> Document:
    """A text with questions, one per line."""
    return with_questions(key, text, [line.strip() for line in lines.splitlines() if line.strip()])
