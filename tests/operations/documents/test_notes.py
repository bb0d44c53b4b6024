"""Notes and flags on documents and spans, with undo."""

import pytest

from workbench.base.errors import SpecError
from workbench.operations.annotation import annotate, document_view
from workbench.operations.documents import corpus, notes, queries
from workbench.operations.schema import labels
from workbench.operations.transfer import data_export, data_import
from workbench.storage.documents import documents, flags
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def spanned(project):
    """Two documents, and a span in the first; returns (project, ids of documents, id of span)."""
    labels.add_layer(project, "names", "span", labels=("PER",))
    with project.edit("fill"):
        records = [Record(Document(f"k{n}", (("text", "Ada met Bob"),))) for n in range(2)]
        ids = documents.add(project.db, records, source_id=project.source("import"))
    label = labels.layers(project)[0].labels[0].id
    span = annotate.add_span(project, ids[0], 0, 3, label)
    return project, ids, span


def test_a_note_is_added_edited_deleted_and_brought_back(spanned):
    project, (first, _second), span = spanned
    notes.set_note(project, first, " ask Ada ")
    notes.set_note(project, first, "who?", span_id=span)
    notes.set_note(project, first, "ask Bob")
    found = notes.of_document(project, first)
    assert (found.note(), found.note(span)) == ("ask Bob", "who?")
    assert corpus.rows(project, [first])[0].note == "ask Bob · who?"

    notes.set_note(project, first, "")
    assert notes.of_document(project, first).note() == ""
    project.undo()
    project.undo()
    assert notes.of_document(project, first).note() == "ask Ada"


def test_a_note_on_a_span_goes_and_returns_with_it(spanned):
    project, (first, _second), span = spanned
    notes.set_note(project, first, "who?", span_id=span)
    notes.set_flag(project, [first], "unsure", on=True, span_id=span)

    annotate.delete_span(project, span)
    assert notes.of_document(project, first) == notes.Remarks()

    project.undo()
    found = notes.of_document(project, first)
    assert found.note(span) == "who?" and found.names(span) == ("unsure",)
    assert corpus.check(project) == ()


def test_a_flag_is_set_once_and_removed_in_one_step(spanned):
    project, ids, span = spanned
    assert notes.set_flag(project, ids, "my  flag", on=True) == 2
    assert notes.set_flag(project, ids, "my flag", on=True) == 0
    notes.set_flag(project, ids[:1], "unsure", on=True, span_id=span)
    assert notes.flag_names(project) == ("unsure", "discuss", "my flag")
    assert corpus.rows(project, ids)[0].flags == ("my flag", "unsure")
    assert list(queries.matching(project, 'flag:"my flag" -flag:unsure')) == ids[1:]

    assert notes.set_flag(project, ids, "my flag", on=False) == 2
    assert notes.of_document(project, ids[0]).names() == ()
    assert notes.of_document(project, ids[0]).names(span) == ("unsure",)


def test_reviews_are_no_flags(spanned):
    project, ids, _span = spanned
    with project.edit("review"):
        flags.add(project.db, ids[0], flags.REVIEWS + "{}", project.annotator_id)

    assert notes.of_document(project, ids[0]).names() == ()
    assert notes.flag_names(project) == notes.STANDARD
    with pytest.raises(SpecError, match="review"):
        notes.set_flag(project, ids, "review", on=True)


def test_notes_and_flags_are_exported_and_imported_with_their_spans(spanned, inline_jobs, tmp_path):
    project, (first, second), span = spanned
    notes.set_note(project, first, "ask\nAda")
    notes.set_note(project, first, "who?", span_id=span)
    notes.set_flag(project, [first], "unsure", on=True, span_id=span)
    notes.set_flag(project, [second], "discuss", on=True)
    path, again = tmp_path / "all.jsonl", tmp_path / "again.jsonl"
    data_export.export_data(project, path, format="glossbench")
    assert [record.remarks for record in documents.records(project.db)] == [(), ()]

    corpus.delete_documents(project, [first, second])
    data_import.import_files(project, inline_jobs, [path])

    first, second = corpus.filter_ids(project, corpus.Filter())
    found = notes.of_document(project, first)
    (row,) = document_view.view(project, first).spans
    message = found.note(), found.note(row.id), found.names(row.id)
    assert message == ("ask\nAda", "who?", ("unsure",))
    assert notes.of_document(project, second).names() == ("discuss",)
    data_export.export_data(project, again, format="glossbench")
    assert again.read_text() == path.read_text() and corpus.check(project) == ()
