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
    found = answers.asked(project.db, document_id)
    return tuple(question for question in found if question.layer_id == layer_id)


def counts(project: Project, layer_id: int) -> AskedCounts:
    """How many questions of a layer are answered."""
    return answers.counts(project.db, layer_id)


def in_words(found: AskedCounts) -> str:
    """One sentence."""
    return _(
        "Questions: {questions:,} (answered: {answered:,}, without an answer in the "
        "text: {null:,}, open: {open:,}). Documents: {documents:,}."
    ).format(
        questions=found.questions,
        documents=found.documents,
        answered=found.answered,
        null=found.without_answer,
        open=found.open,
    )


def add(
    project: Project, document_id: int, layer_id: int, text: str, *, origin: object = None
) -> int:
    """Ask a question about a document; returns its id. Raises WorkbenchError for a blank one."""
    wanted = Question(_checked(text))
    if not labels.layer(project.db, layer_id).traits.asks:
        raise WorkbenchError(_("This layer has no questions."))
    documents.get(project.db, document_id)
    with project.edit(_("Add question"), origin=origin):
        id = answers.add_question(project.db, document_id, layer_id, wanted, **_by(project))
        start_draft(project, document_id, layer_id)
        reopen_empty(project, document_id, layer_id)
    return id


def rename(project: Project, id: int, text: str, *, origin: object = None) -> None:
    """Change the text of a question; its answers stay. Raises WorkbenchError for a blank one."""
    found = answers.question(project.db, id)
    wanted = replace(found.question, text=_checked(text))
    if wanted != found.question:
        _set(project, found, wanted, _("Change question"), origin)


def delete(project: Project, id: int, *, origin: object = None) -> None:
    """Delete a question with its answers. A draft without any question left becomes pending."""
    found = answers.question(project.db, id)
    document_id, layer_id = found.rows[0].document_id, found.layer_id
    with project.edit(_("Delete question"), origin=origin):
        answers.delete_question(project.db, found)
        start_draft(project, document_id, layer_id)
        annotation_rows.reset_untouched(project.db, [document_id], layer_id, project.annotator_id)
        reopen_empty(project, document_id, layer_id)


def answer(project: Project, id: int, start: int, end: int, *, origin: object = None) -> None:
    """Add code points [start, end) to the correct answers of a question.

    Raises WorkbenchError if they lie outside the text.
    """
    found = answers.question(project.db, id)
    length = len(documents.get(project.db, found.rows[0].document_id).text)
    if not 0 <= start < end <= length:
        message = _("Span {start}–{end} is outside the text of length {length}.")
        raise WorkbenchError(message.format(start=start, end=end, length=length))
    given = found.question.answers
    if (start, end) not in given:
        wanted = replace(found.question, answers=(*given, (start, end)), is_null=False)
        _set(project, found, wanted, _("Answer question"), origin)


def remove_answer(
    project: Project, id: int, start: int, end: int, *, origin: object = None
) -> None:
    """Remove one of the correct answers of a question; without any left, the question is open."""
    found = answers.question(project.db, id)
    left = tuple(offsets for offsets in found.question.answers if offsets != (start, end))
    _set(project, found, replace(found.question, answers=left), _("Remove answer"), origin)


def set_null(project: Project, id: int, is_null: bool, *, origin: object = None) -> None:
    """State that the text does not answer a question, or take that back."""
    found = answers.question(project.db, id)
    if found.question.is_null != is_null:
        wanted = replace(found.question, answers=(), is_null=is_null)
        title = _("Mark as unanswerable") if is_null else _("Reopen question")
        _set(project, found, wanted, title, origin)


def take(
    project: Project,
    found: AskedQuestion,
    offsets: tuple[int, int] | None,
    *,
    source_id: int,
) -> None:
    """Make [start, end) the only right answer of a question; None: the text does not answer it.

    Within an edit; the state of the document does not change.
    """
    wanted = replace(
        found.question, answers=() if offsets is None else (offsets,), is_null=offsets is None
    )
    answers.set_answers(
        project.db, found, wanted, annotator_id=project.annotator_id, source_id=source_id
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
    found = answers.question(project.db, id)
    with project.edit(_("Accept prediction"), origin=origin):
        source = project.source("run", str(run_id), annotator=False)
        take(project, found, offsets, source_id=source)
        start_draft(project, found.rows[0].document_id, found.layer_id)


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
        raise WorkbenchError(_("The question {text!r} was deleted or changed.").format(text=text))
    for asked_question in every:
        take(project, asked_question, offsets, source_id=source_id)


def _set(
    project: Project, found: AskedQuestion, wanted: Question, title: str, origin: object
) -> None:
    document_id, layer_id = found.rows[0].document_id, found.layer_id
    with project.edit(title, origin=origin):
        answers.set_answers(project.db, found, wanted, **_by(project))
        start_draft(project, document_id, layer_id)
        reopen_empty(project, document_id, layer_id)


def _checked(text: str) -> str:
    if not text.strip():
        raise WorkbenchError(_("The question is empty."))
    return text.strip()


def _by(project: Project) -> dict[str, int]:
    return {"annotator_id": project.annotator_id, "source_id": project.source("person")}
