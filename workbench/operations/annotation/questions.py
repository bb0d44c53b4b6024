"""Questions about a document and their answers. Every call is one undo step."""

from __future__ import annotations

from dataclasses import replace

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.operations.annotation.annotate import reopen_empty, start_draft
from workbench.project.project import Project
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import answers
from workbench.storage.annotation.answers import AskedCounts, AskedQuestion
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.questions import Question

__all__ = ["AskedCounts", "AskedQuestion"]


def asked(project: Project, document_id: int, layer_id: int) -> tuple[AskedQuestion, ...]:
    """The questions about a document in one layer, in order."""
    questions = answers.asked(project.db, document_id)
    return tuple(question for question in questions if question.layer_id == layer_id)


def counts(project: Project, layer_id: int) -> AskedCounts:
    """How many questions of a layer are answered."""
    return answers.counts(project.db, layer_id)


def in_words(counts: AskedCounts) -> str:
    """One sentence."""
    return _(
        "Questions: {questions:,} (answered: {answered:,}, without an answer in the "
        "text: {null:,}, open: {open:,}). Documents: {documents:,}.",
        questions=counts.questions,
        documents=counts.documents,
        answered=counts.answered,
        null=counts.without_answer,
        open=counts.open,
    )


def add(
    project: Project, document_id: int, layer_id: int, text: str, *, origin: object = None
) -> int:
    """Ask a question about a document; returns its id. Raises WorkbenchError for a blank one."""
    question = Question(_checked(text))
    if not labels.layer(project.db, layer_id).traits.asks:
        raise WorkbenchError(_("This layer has no questions."))
    documents.get(project.db, document_id)
    with project.edit(_("Add question"), origin=origin):
        id = answers.add_question(
            project.db, document_id, layer_id, question, **_by(project, layer_id)
        )
        start_draft(project, document_id, layer_id)
        reopen_empty(project, document_id, layer_id)
    return id


def rename(project: Project, id: int, text: str, *, origin: object = None) -> None:
    """Change the text of a question; its answers stay. Raises WorkbenchError for a blank one."""
    stored = answers.question(project.db, id)
    renamed = replace(stored.question, text=_checked(text))
    if renamed != stored.question:
        _set(project, stored, renamed, _("Change question"), origin)


def delete(project: Project, id: int, *, origin: object = None) -> None:
    """Delete a question with its answers. A draft without any question left becomes pending."""
    stored = answers.question(project.db, id)
    document_id, layer_id = stored.rows[0].document_id, stored.layer_id
    with project.edit(_("Delete question"), origin=origin):
        answers.delete_question(project.db, stored)
        start_draft(project, document_id, layer_id)
        annotation_rows.reset_untouched(project.db, [document_id], layer_id, project.gold(layer_id))
        reopen_empty(project, document_id, layer_id)


def answer(project: Project, id: int, start: int, end: int, *, origin: object = None) -> None:
    """Add code points [start, end) to the correct answers of a question.

    Raises WorkbenchError if they lie outside the text.
    """
    stored = answers.question(project.db, id)
    length = len(documents.get(project.db, stored.rows[0].document_id).text)
    if not 0 <= start < end <= length:
        message = _("Span {start}–{end} is outside the text of length {length}.")
        raise WorkbenchError(message.format(start=start, end=end, length=length))
    answered = stored.question.answers
    if (start, end) not in answered:
        changed = replace(stored.question, answers=(*answered, (start, end)), is_null=False)
        _set(project, stored, changed, _("Answer question"), origin)


def remove_answer(
    project: Project, id: int, start: int, end: int, *, origin: object = None
) -> None:
    """Remove one of the correct answers of a question; without any left, the question is open."""
    stored = answers.question(project.db, id)
    left = tuple(offsets for offsets in stored.question.answers if offsets != (start, end))
    _set(project, stored, replace(stored.question, answers=left), _("Remove answer"), origin)


def set_null(project: Project, id: int, is_null: bool, *, origin: object = None) -> None:
    """State that the text does not answer a question, or take that back."""
    stored = answers.question(project.db, id)
    if stored.question.is_null != is_null:
        changed = replace(stored.question, answers=(), is_null=is_null)
        title = _("Mark as unanswerable") if is_null else _("Reopen question")
        _set(project, stored, changed, title, origin)


def take(
    project: Project,
    question: AskedQuestion,
    offsets: tuple[int, int] | None,
    *,
    source_id: int,
) -> None:
    """Make [start, end) the only right answer of a question; None: the text does not answer it.

    Within an edit; the state of the document does not change.
    """
    answered = replace(
        question.question, answers=() if offsets is None else (offsets,), is_null=offsets is None
    )
    answers.set_answers(
        project.db,
        question,
        answered,
        annotator_id=project.gold(question.layer_id),
        source_id=source_id,
    )


def accept(
    project: Project,
    id: int,
    offsets: tuple[int, int] | None,
    run_id: int,
    *,
    origin: object = None,
) -> None:
    """Make the prediction of a run the only right answer of a question; its source is the run."""
    stored = answers.question(project.db, id)
    with project.edit(_("Accept prediction"), origin=origin):
        source = project.source("run", str(run_id), annotator=False)
        take(project, stored, offsets, source_id=source)
        start_draft(project, stored.rows[0].document_id, stored.layer_id)


def take_prediction(
    project: Project,
    document_id: int,
    layer_id: int,
    text: str,
    offsets: tuple[int, int] | None,
    *,
    source_id: int,
) -> None:
    """`take` for every question with this text. Raises WorkbenchError if there is none."""
    every = [
        question
        for question in asked(project, document_id, layer_id)
        if question.question.text == text
    ]
    if not every:
        raise WorkbenchError(_("The question {text!r} was deleted or changed.", text=text))
    for asked_question in every:
        take(project, asked_question, offsets, source_id=source_id)


def _set(
    project: Project, stored: AskedQuestion, changed: Question, title: str, origin: object
) -> None:
    document_id, layer_id = stored.rows[0].document_id, stored.layer_id
    with project.edit(title, origin=origin):
        answers.set_answers(project.db, stored, changed, **_by(project, layer_id))
        start_draft(project, document_id, layer_id)
        reopen_empty(project, document_id, layer_id)


def _checked(text: str) -> str:
    if not text.strip():
        raise WorkbenchError(_("The question is empty."))
    return text.strip()


def _by(project: Project, layer_id: int) -> dict[str, int]:
    return {"annotator_id": project.gold(layer_id), "source_id": project.source("person")}
