"""Merging, splitting and moving labels: annotations, states, patterns and relations go along."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, document_view, patterns
from workbench.operations.schema import label_changes as changes
from workbench.operations.schema import label_moves, labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.queries.patterns import WORDS, Pattern
from workbench.text.rows import row_id

TEXT = "Ada met Bob in Rome."


@pytest.fixture
def ids(project):
    with project.edit("Import"):
        records = [Record(Document(str(n), (("text", TEXT),))) for n in range(3)]
        return documents.add(project.db, records, source_id=project.source("import"))


@pytest.fixture
def spans(project):
    """A layer of spans: its id and its labels by name."""
    id = labels.add_layer(project, "spans", "span", labels=["PER", "PERSON", "LOC"])
    return id, {label.name: row_id(label) for label in layer(project, id).labels}


def layer(project, id):
    return next(item for item in labels.layers(project) if item.id == id)


def painted(project, document):
    """(start, end, label name) of the spans of a document."""
    view = document_view.view(project, document)
    name = {label.id: label.name for item in view.layers for label in item.labels}
    return sorted((span.start, span.end, name[span.label_id]) for span in view.spans)


def state(project, document, layer_id):
    return document_view.view(project, document).states[layer_id]


def test_merged_labels_give_their_spans_and_what_stood_twice_stands_once(project, ids, spans):
    _id, label = spans
    annotate.add_span(project, ids[0], 0, 3, label["PER"])
    annotate.add_span(project, ids[0], 0, 3, label["PERSON"])
    annotate.add_span(project, ids[1], 8, 11, label["PERSON"])
    before = [document_view.view(project, id) for id in ids]

    message = changes.merge_text(project, [label["PER"], label["PERSON"]], label["PER"])
    changes.merge(project, [label["PER"], label["PERSON"]], label["PER"])

    assert message == (
        "2 annotations in 2 documents become PER."
        " 1 of them is dropped, because it would be a duplicate."
    )
    assert painted(project, ids[0]) == [(0, 3, "PER")]
    assert painted(project, ids[1]) == [(8, 11, "PER")]
    assert labels.layers(project)[0].names == ("PER", "LOC")
    assert project.undo() == "Merge PERSON into PER"
    assert [document_view.view(project, id) for id in ids] == before


def test_merged_classes_stay_submitted_and_patterns_follow(project, ids):
    id = labels.add_layer(project, "class", "class", labels=["good", "great", "bad"])
    good, great, _bad = (row_id(label) for label in layer(project, id).labels)
    annotate.set_class(project, ids[0], great)
    annotate.submit(project, ids[0], [id])
    patterns.add(project, [Pattern(WORDS, "lovely", great)])

    changes.merge(project, [great], good)

    assert state(project, ids[0], id) == "submitted"
    assert [mark.label_id for mark in document_view.view(project, ids[0]).marks] == [good]
    assert [pattern.label_id for pattern in patterns.all_patterns(project)] == [good]


def test_relations_of_a_dropped_span_go_on_with_the_span_that_stays(project, ids, spans):
    _id, label = spans
    kept = annotate.add_span(project, ids[0], 0, 3, label["PER"])
    dropped = annotate.add_span(project, ids[0], 0, 3, label["PERSON"])
    place = annotate.add_span(project, ids[0], 15, 19, label["LOC"])
    links = labels.add_layer(project, "links", "relation", labels=["in"])
    with project.edit("Relation"):
        project.db.writer.execute(
            "insert into relation(uid, document_id, layer_id, from_span, to_span, source_id)"
            " values('00000000000000aa', ?, ?, ?, ?, ?)",
            (ids[0], links, dropped, place, project.source("person")),
        )

    changes.merge(project, [label["PERSON"]], label["PER"])

    ends = project.db.reader().execute("select from_span, to_span from relation").fetchall()
    assert ends == [(kept, place)]


def test_labels_of_two_layers_cannot_be_merged(project, ids, spans):
    _id, label = spans
    other = labels.add_layer(project, "class", "class", labels=["good"])
    (good,) = layer(project, other).labels
    with pytest.raises(WorkbenchError, match="good is not a label of the layer spans"):
        changes.merge(project, [good.id], label["PER"])
    with pytest.raises(WorkbenchError, match="at least two"):
        changes.merge(project, [label["PER"]], label["PER"])


def test_a_label_is_split_by_the_texts_of_its_spans(project, ids, spans):
    id, label = spans
    for document in ids[:2]:
        annotate.add_span(project, document, 0, 3, label["PER"])
    annotate.add_span(project, ids[0], 8, 11, label["PER"])

    uses = changes.uses(project, label["PER"])
    assert [(use.text, use.count) for use in uses] == [("Ada", 2), ("Bob", 1)]
    new, changed = changes.split(project, label["PER"], "WOMAN", ids=uses[0].ids)

    assert changed == 2 and layer(project, id).names == ("PER", "PERSON", "LOC", "WOMAN")
    assert painted(project, ids[0]) == [(0, 3, "WOMAN"), (8, 11, "PER")]
    with pytest.raises(WorkbenchError, match="No annotations are chosen"):
        changes.split(project, label["PER"], "MAN", ids=[])
    with pytest.raises(WorkbenchError, match="already have the label WOMAN"):
        changes.split(project, new, "WOMAN", ids=uses[0].ids)


def test_a_class_is_split_by_documents(project, ids):
    id = labels.add_layer(project, "class", "class", labels=["good", "bad"])
    good = row_id(layer(project, id).labels[0])
    for document in ids:
        annotate.set_class(project, document, good)

    uses = changes.uses(project, good)
    assert [(use.text, use.ids) for use in uses] == [(TEXT, (document,)) for document in ids]
    great, changed = changes.split(project, good, "great", document_ids=[ids[1]])

    classes = [document_view.view(project, document).marks[0].label_id for document in ids]
    assert changed == 1 and classes == [good, great, good]


def test_a_label_moves_to_a_new_layer_with_the_states_of_all_documents(project, ids, spans):
    old, label = spans
    new = labels.add_layer(project, "places", "span")
    annotate.add_span(project, ids[0], 0, 3, label["PER"])
    annotate.add_span(project, ids[0], 15, 19, label["LOC"])
    annotate.add_span(project, ids[2], 15, 19, label["LOC"])
    annotate.submit(project, ids[0], [old])
    annotate.submit(project, ids[1], [old])
    before = [document_view.view(project, id) for id in ids]

    message = label_moves.move_text(project, [label["LOC"]], new)
    assert label_moves.move(project, [label["LOC"]], new) == 2

    assert message == "2 annotations in 2 documents move to the layer places."
    assert layer(project, new).names == ("LOC",) and layer(project, old).names == ("PER", "PERSON")
    assert painted(project, ids[0]) == [(0, 3, "PER"), (15, 19, "LOC")]
    assert [state(project, id, new) for id in ids] == ["submitted", "submitted", "draft"]
    assert [state(project, id, old) for id in ids] == ["submitted", "submitted", "pending"]
    project.undo()
    assert [document_view.view(project, id) for id in ids] == before


def test_a_class_moves_only_where_no_document_would_get_two(project, ids):
    first = labels.add_layer(project, "topic", "class", labels=["tram", "praise"])
    second = labels.add_layer(project, "tone", "class", labels=["bad"])
    third = labels.add_layer(project, "tags", "multi", labels=["late"])
    tram, praise = (row_id(label) for label in layer(project, first).labels)
    annotate.set_class(project, ids[0], praise)
    annotate.set_class(project, ids[0], row_id(layer(project, second).labels[0]))
    annotate.submit(project, ids[0], [first])

    with pytest.raises(WorkbenchError, match="1 document has a label in the layer tone already"):
        label_moves.move(project, [praise], second)
    label_moves.move(project, [praise], third)

    assert state(project, ids[0], first) == "pending" and state(project, ids[0], third) != "pending"
    assert layer(project, third).names == ("late", "praise") and tram


def test_layers_of_another_kind_are_not_offered_and_refused(project, spans):
    id, label = spans
    other = labels.add_layer(project, "class", "class", labels=["good"])
    same = labels.add_layer(project, "more spans", "span", labels=["PER"])
    assert [item.id for item in label_moves.layers_for(project, id)] == [same]
    with pytest.raises(WorkbenchError, match="cannot hold labels"):
        label_moves.move(project, [label["PER"]], other)
    with pytest.raises(WorkbenchError, match="already has a label named 'PER'"):
        label_moves.move(project, [label["PER"]], same)
