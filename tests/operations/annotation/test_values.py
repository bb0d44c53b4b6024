"""Numbers and written texts of documents: stored, undone, imported, exported."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import (
    annotate,
    document_view,
    provenance,
    questions,
    suggestion_edits,
    values,
)
from workbench.operations.documents import corpus
from workbench.operations.evaluation import reviews
from workbench.operations.schema import labels
from workbench.operations.transfer import data_export, data_import
from workbench.project.project import Project
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.queries.listing import Filter
from workbench.text.labels import ANSWER, SCORE, WRITTEN_TEXT
from workbench.text.mistakes import Mistake
from workbench.text.queries.query import parse


@pytest.fixture
def rated(project, add_texts):
    """(project, layer of numbers from 0 to 5, layer of texts, ids of two documents)."""
    ids = add_texts(["the tram is late", "thank you"])
    scale = {"minimum": 0.0, "maximum": 5.0, "step": 0.5}
    score = labels.add_layer(project, "rating", SCORE.id, options=scale)
    text = labels.add_layer(project, "summary", WRITTEN_TEXT.id)
    return project, score, text, ids


def test_a_number_and_a_text_are_stored_and_undone(rated):
    project, score, text, ids = rated
    values.set_number(project, ids[0], score, 3.5)
    values.set_number(project, ids[0], score, 4.0)
    values.write_text(project, ids[0], text, "tram late")

    record = documents.record(project.db, ids[0])
    assert (record.numbers, record.written) == ({"rating": 4.0}, {"summary": "tram late"})
    assert record.states == {"rating": "draft", "summary": "draft"}
    seen = document_view.view(project, ids[0])
    assert seen.value(score) == 4.0 and seen.value(text) == "tram late" and seen.questions == ()
    project.undo()
    project.undo()
    record = documents.record(project.db, ids[0])
    assert (record.numbers, record.written) == ({"rating": 3.5}, {})


def test_a_document_is_submitted_only_with_its_number(rated):
    project, score, text, ids = rated
    assert len(annotate.submit(project, ids[0], [score, text])) == 2
    values.set_number(project, ids[0], score, 0.0)
    values.write_text(project, ids[0], text, "late")
    assert annotate.submit(project, ids[0], [score, text]) == ()

    values.clear_value(project, ids[0], score)
    values.write_text(project, ids[0], text, " ")
    states = document_view.view(project, ids[0]).states
    assert (states[score], states[text]) == ("draft", "draft")


def test_a_number_outside_of_the_scale_is_refused_with_the_scale(rated):
    project, score, text, ids = rated
    with pytest.raises(WorkbenchError, match=r"5\.5 is not on the scale of rating, 0 to 5"):
        values.set_number(project, ids[0], score, 5.5)
    with pytest.raises(WorkbenchError, match="holds other annotations"):
        values.set_number(project, ids[0], text, 1.0)


def test_a_suggested_number_becomes_gold_and_is_not_offered_beside_gold(rated):
    project, score, _text, ids = rated
    rows = [NewSuggestion(id, score, None, value=2.25) for id in ids]
    suggestion_edits.add_suggestions(project, None, rows, kind="rule")
    (row,) = document_view.view(project, ids[0]).suggestions
    suggestion_edits.accept(project, [row.id])
    assert document_view.view(project, ids[0]).value(score) == 2.25

    values.set_number(project, ids[1], score, 1.0)
    assert document_view.view(project, ids[1]).suggestions == ()


def test_a_suggested_text_becomes_gold_once_and_the_file_stays_whole(rated):
    project, _score, text, ids = rated
    said = zip(ids, ("42", "the tram"), strict=True)
    rows = [NewSuggestion(id, text, None, written=words) for id, words in said]
    suggestion_edits.add_suggestions(project, None, [*rows, rows[0]], kind="rule")
    (row,) = document_view.view(project, ids[0]).suggestions
    assert (row.written, row.value, row.question) == ("42", None, None)
    assert list(integrity.problems(project.db)) == []

    suggestion_edits.accept(project, [row.id])
    assert document_view.view(project, ids[0]).value(text) == "42"
    values.write_text(project, ids[1], text, "thanks")
    assert document_view.view(project, ids[1]).suggestions == ()
    assert list(integrity.problems(project.db)) == []
    project.undo()
    (again,) = document_view.view(project, ids[1]).suggestions
    assert again.written == "the tram"


def test_an_accepted_prediction_replaces_the_text_and_undo_brings_it_back(rated):
    project, _score, text, ids = rated
    values.write_text(project, ids[0], text, "late")
    layer = next(layer for layer in document_view.view(project, ids[0]).layers if layer.id == text)
    mistake = Mistake("label", "late", "42", 0.0, 1.0)

    reviews.accept(project, layer, ids[0], mistake, title="Accept")

    assert document_view.view(project, ids[0]).value(text) == "42"
    (review,) = reviews.reviews(project, text, ids[0])
    assert (review.verdict, review.mistake.predicted) == ("accepted", "42")
    project.undo()
    assert document_view.view(project, ids[0]).value(text) == "late"


def test_taking_back_an_origin_removes_its_numbers_and_texts(rated):
    project, score, text, ids = rated
    values.set_number(project, ids[0], score, 1.0)
    values.write_text(project, ids[0], text, "late")
    made = next(source for source in provenance.sources(project) if source.labels)

    assert provenance.revert(project, made.origin) == (2, 0)
    assert set(document_view.view(project, ids[0]).states.values()) == {"pending"}


def test_values_come_back_through_the_own_format_and_through_tables(rated, tmp_path, inline_jobs):
    project, score, text, ids = rated
    values.set_number(project, ids[0], score, 3.5)
    values.write_text(project, ids[0], text, "a “tram”,\nlate")
    found = {}
    for format in ("glossbench", "csv", "doccano"):
        path = tmp_path / f"out.{'csv' if format == 'csv' else 'jsonl'}"
        data_export.export_data(project, path, format=format)
        other = Project.create(tmp_path / f"{format}.glossbench")
        mapping = [("score:rating", "rating"), ("written:summary", "summary"), ("text", "text")]
        given = {} if format == "glossbench" else {"mapping": tuple(mapping)}
        data_import.import_files(other, inline_jobs, [path], format=format, **given)
        found[format] = next(documents.records(other.db))
        other.close()

    for record in found.values():
        assert record.numbers == {"rating": 3.5}
        assert record.written == {"summary": "a “tram”,\nlate"}


def test_sts_b_is_imported_with_its_scores_and_a_scale(project, data_folder, inline_jobs):
    path = data_folder / "datasets/pair-stsb-nomsr/dev.jsonl"
    data_import.import_files(project, inline_jobs, [path])

    (layer,) = labels.layers(project)
    assert (layer.name, layer.kind, layer.texts) == ("score", "score", 2)
    assert (layer.options["minimum"], layer.options["maximum"]) == (0.0, 5.0)
    records = list(documents.records(project.db))
    assert len(records) == 400 and records[0].numbers == {"score": 2.4}
    assert records[0].states == {"score": "submitted"}


def test_a_second_file_widens_the_scale(project, tmp_path, inline_jobs):
    for name, number in (("a", "4"), ("b", "9.5")):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"text,score\nthe {name} tram,{number}\n")
        data_import.import_files(project, inline_jobs, [path], format="csv")

    (layer,) = labels.layers(project)
    assert (layer.options["maximum"], layer.options["step"]) == (10.0, 0.1)


def test_documents_are_found_by_their_number_and_by_words_of_a_written_text(rated):
    project, score, text, ids = rated
    values.set_number(project, ids[0], score, 3.5)
    values.set_number(project, ids[1], score, 1.0)
    values.write_text(project, ids[1], text, "thanks to the driver")

    def found(query):
        return documents.ids(project.db, Filter(query=parse(query)))

    assert list(found("number>3")) == list(found("number.rating:2..4")) == [ids[0]]
    assert list(found("number.summary>0")) == []
    assert list(found("written:driver")) == [ids[1]] and list(found("-written:driver")) == [ids[0]]
    (row,) = documents.rows(project.db, ids[:1], more=("number",))
    assert row.cells == (3.5,)


def test_numbers_texts_and_answers_are_labels_for_a_query(rated):
    project, score, text, ids = rated
    asked = labels.add_layer(project, "asked", ANSWER.id)

    def labelled():
        return list(corpus.filter_ids(project, Filter(query=parse("has:label"))))

    question = questions.add(project, ids[0], asked, "What is late?")
    assert labelled() == []  # an open question is none
    questions.answer(project, question, 4, 8)
    values.set_number(project, ids[1], score, 0.0)
    assert labelled() == ids
    project.undo()
    values.write_text(project, ids[1], text, "thanks")
    questions.set_null(project, question, True)
    assert labelled() == ids
