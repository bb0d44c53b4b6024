"""Splitting documents into sentences or paragraphs, and joining them again."""

import pytest

from workbench.operations.annotation import annotate, document_view, relations
from workbench.operations.documents import notes, parts
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.parts import OF
from workbench.text.rows import row_id

TEXT = " Ada met Bob. They left.\n\nEnd of it. 👍🏽 Ok"


@pytest.fixture
def names(project):
    """Label name → id, of a span and a class layer."""
    labels.add_layer(project, "names", "span", labels=["PER"])
    labels.add_layer(project, "mood", "class", labels=["good", "bad"])
    labels.add_layer(project, "chains", "cluster")
    labels.add_layer(project, "links", "relation", labels=["knows"])
    return {label.name: row_id(label) for layer in labels.layers(project) for label in layer.labels}


@pytest.fixture
def whole(project, names):
    made = Document("book", (("text", TEXT),), split="train", meta={"year": 1922})
    return add(project, made)


def add(project, document: Document) -> int:
    with project.edit("Import"):
        source = project.source("import")
        return documents.add(project.db, [Record(document)], source_id=source)[0]


def everything(project) -> list[Record]:
    return list(documents.records(project.db, remarks=True))


def found(project) -> list[Document]:
    return [item.document for item in everything(project)]


def ids(project) -> list[int]:
    return [row_id(item) for item in found(project)]


def layer(project, name: str) -> int:
    return next(row_id(item) for item in labels.layers(project) if item.name == name)


def test_a_document_becomes_its_sentences_in_one_group_and_split(project, whole):
    done = parts.split(project, [whole], "sentence")
    first, *_rest, last = found(project)

    assert (done.documents, done.parts, done.kept) == (1, 4, {})
    texts = [item.text for item in found(project)]
    assert texts == ["Ada met Bob.", "They left.", "End of it.", "👍🏽 Ok"]
    assert (first.key, first.split, first.group) == ("book/1", "train", "book")
    assert (last.meta[OF], last.meta["year"]) == ("book", 1922)


def test_labels_notes_and_states_go_along_with_their_sources(project, whole, names):
    ada = annotate.add_span(project, whole, 1, 4, names["PER"])
    bob = annotate.add_span(project, whole, 9, 12, names["PER"])
    end = annotate.add_span(project, whole, 26, 29, names["PER"])
    relations.add_relation(project, ada, bob, names["knows"])
    notes.set_note(project, whole, "first")
    notes.set_note(project, whole, "of the end", span_id=end)
    annotate.submit(project, whole, [layer(project, "names")])

    parts.split(project, [whole], "paragraph")
    first, second = (document_view.view(project, id) for id in ids(project))

    assert [(span.id, span.start, span.end) for span in first.spans] == [(ada, 0, 3), (bob, 8, 11)]
    assert [(relation.from_span, relation.to_span) for relation in first.relations] == [(ada, bob)]
    assert [(span.id, span.start, span.end) for span in second.spans] == [(end, 0, 3)]
    assert first.states[layer(project, "names")] == "submitted"
    assert notes.of_document(project, ids(project)[0]).note() == "first"
    assert notes.of_document(project, ids(project)[1]).note(end) == "of the end"


def test_sentences_that_a_span_extends_over_stay_together(project, whole, names):
    annotate.add_span(project, whole, 9, 18, names["PER"])
    parts.split(project, [whole], "sentence")

    assert found(project)[0].text == "Ada met Bob. They left."


@pytest.mark.parametrize("unit", ["sentence", "paragraph"])
def test_joined_parts_are_the_document_as_it_was(project, whole, names, unit):
    annotate.add_span(project, whole, 1, 4, names["PER"])
    first = annotate.add_span(project, whole, 26, 29, names["mention"])
    annotate.add_span(project, whole, 33, 35, names["mention"], chain=1)
    notes.set_note(project, whole, "of the end", span_id=first)
    before = everything(project)

    parts.split(project, [whole], unit)
    done = parts.join(project, ids(project)[:1])
    (after,) = everything(project)

    assert done.documents == 1
    assert after.document.texts == before[0].document.texts
    assert after.document.meta == {"year": 1922}
    assert (after.document.key, after.document.group) == ("book", None)
    assert (after.spans, after.states) == (before[0].spans, before[0].states)


def test_classes_of_parts_become_spans_when_they_are_joined(project, whole, names):
    parts.split(project, [whole], "paragraph")
    annotate.set_class(project, ids(project)[1], names["bad"])
    parts.join(project, ids(project))
    (after,) = everything(project)

    (span,) = after.spans["mood of each paragraph"]
    assert after.document.text[span.start : span.end] == "End of it. 👍🏽 Ok"
    assert span.label == "bad"


def test_chains_of_different_parts_stay_different(project, whole, names):
    parts.split(project, [whole], "paragraph")
    for id in ids(project):
        annotate.add_span(project, id, 0, 3, names["mention"])
    parts.join(project, ids(project))

    assert {span.chain for span in everything(project)[0].spans["chains"]} == {1, 2}


def test_what_cannot_be_divided_without_loss_is_left_as_it_is(project, whole, names):
    annotate.set_class(project, whole, names["good"])
    pair = add(project, Document("pair", (("text", "A b. C d."), ("text_b", "B"))))
    short = add(project, Document("short", (("text", "One."),)))
    chained = add(project, Document("chained", (("text", "Ada left. Ada came."),)))
    for start in (0, 10):
        annotate.add_span(project, chained, start, start + 3, names["mention"], chain=1)
    before = everything(project)

    message = parts.preview(project, [whole, pair, short, chained], "sentence")
    done = parts.split(project, [whole, pair, short, chained], "sentence")

    assert message == done
    assert sum(done.kept.values()) == 4
    assert "1 document is left unchanged: labels of the whole document." in parts.describe(done)
    assert everything(project) == before


def test_splitting_and_joining_are_undone_in_one_step(project, whole, names):
    annotate.add_span(project, whole, 1, 4, names["PER"])
    before = everything(project)
    parts.split(project, [whole], "sentence")
    divided = everything(project)
    parts.join(project, ids(project))

    project.undo()
    assert everything(project) == divided
    project.undo()
    assert everything(project) == before
    project.redo()
    assert everything(project) == divided


def test_parts_are_not_joined_if_one_is_missing(project, whole):
    parts.split(project, [whole], "sentence")
    with project.edit("Delete"):
        documents.delete(project.db, ids(project)[1:2])

    done = parts.join(project, ids(project))

    assert done.documents == 0
    assert set(done.kept) == {parts.MISSING}


def test_a_part_is_shown_between_its_neighbours(project, whole):
    parts.split(project, [whole], "sentence")
    item = found(project)[1]

    assert parts.context(project, item) == ("Ada met Bob.", "End of it.")
    assert parts.context(project, found(project)[0])[0] == ""
