"""Questions with their answers: JSON of SQuAD, or a line for each question as on the hub."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import ALL_STATES, COMMON, LOOKS, ExportPlan
from workbench.text.dataset import Record
from workbench.text.labels import Layer
from workbench.text.questions import ID, Question


def _lost(layers: Sequence[Layer]) -> tuple[str, ...]:
    losses = [_(COMMON), _(LOOKS), _(ALL_STATES)]
    asking = [layer.name for layer in layers if layer.traits.asks]
    if not asking:
        losses.append(_("The project has no layer with questions: nothing will be written."))
    elif len(asking) > 1:
        losses.append(_("The questions of {names} are merged.", names=", ".join(asking)))
    others = [layer.name for layer in layers if not layer.traits.asks]
    if others:
        losses.append(
            _("Only questions and answers are written, without {names}.", names=", ".join(others))
        )
    return tuple(losses)


class SquadExporter:
    """An article for each group of documents, a paragraph for each document.

    The layout is that of version 1.1, or of 2.0 if a question has no answer.
    """

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        return _lost(layers)

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        out.write('{"data": [')
        count, has_null, group = 0, False, None
        for record, questions in _with_questions(records, plan):
            title = record.document.group or record.document.key
            if not count or title != group:
                out.write(f"{']}, ' if count else ''}{{{_entry('title', title)}, ")
                out.write('"paragraphs": [')
            else:
                out.write(", ")
            paragraph = _paragraph(record, questions)
            has_null = has_null or any(question.is_null for question in questions)
            out.write(json.dumps(paragraph, ensure_ascii=False))
            count, group = count + 1, title
        version = "v2.0" if has_null else "1.1"
        out.write(f"{']}' if count else ''}], {_entry('version', version)}}}\n")
        return count


class HubExporter:
    """JSON lines with id, title, context, question and answers, as `datasets` loads them."""

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        return _lost(layers)

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        count = 0
        for record, questions in _with_questions(records, plan):
            document, count = record.document, count + 1
            for number, question in enumerate(questions, 1):
                answers = _answers(document.text, question)
                row = {
                    "id": question.id or f"{document.key}-{number}",
                    "title": document.group or "",
                    "context": document.text,
                    "question": question.text,
                    "answers": {
                        "text": [answer["text"] for answer in answers],
                        "answer_start": [answer["answer_start"] for answer in answers],
                    },
                }
                if question.is_open:
                    plan.count(_unanswered)
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        return count


def _with_questions(
    records: Iterable[Record], plan: ExportPlan
) -> Iterator[tuple[Record, list[Question]]]:
    """Documents with questions, and these."""
    names = [layer.name for layer in plan.layers if layer.traits.asks]
    for record in records:
        questions = [question for name in names for question in record.questions.get(name, ())]
        if questions:
            yield record, questions
        else:
            plan.count(_without_question)


def _paragraph(record: Record, questions: Sequence[Question]) -> dict[str, Any]:
    text = record.document.text
    entries = []
    for number, question in enumerate(questions, 1):
        more = {name: value for name, value in question.attrs.items() if name != ID}
        raw = {
            "id": question.id or f"{record.document.key}-{number}",
            "question": question.text,
            "answers": _answers(text, question),
        }
        entries.append({**raw, **({"is_impossible": True} if question.is_null else {}), **more})
    return {"context": text, "qas": entries}


def _answers(text: str, question: Question) -> list[dict[str, Any]]:
    return [{"answer_start": start, "text": text[start:end]} for start, end in question.answers]


def _entry(name: str, value: str) -> str:
    return f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"


def _unanswered(n: int) -> str:
    return ngettext(
        "{n} question without an answer is written like those that have none in the text.",
        "{n} questions without an answer are written like those that have none in the text.",
        n,
    )


def _without_question(n: int) -> str:
    return ngettext(
        "{n} document has no question and was omitted.",
        "{n} documents have no question and were omitted.",
        n,
    )
