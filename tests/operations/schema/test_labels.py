import pytest

from workbench.base import settings
from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, document_view
from workbench.operations.schema import guideline, labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label


def add_documents(project, count=2):
    with project.edit("Import"):
        records = [Record(Document(str(n), (("text", "Ada met Bob."),))) for n in range(count)]
        return documents.add(project.db, records, source_id=project.source("import"))


def layer(project, number=0):
    return labels.layers(project)[number]


def names(project, number=0):
    return layer(project, number).names


def test_new_labels_take_the_next_free_key_of_their_kind(project):
    labels.add_layer(project, "class", "class", labels=["yes", "no"])
    labels.add_layer(project, "spans", "span", labels=["PER", "LOC"])
    labels.add_layer(project, "pairs", "class", texts=2, labels=["same"])

    keys = [[label.key for label in layer.labels] for layer in labels.layers(project)]
    assert keys == [["q", "w"], ["1", "2"], ["q"]]  # pairs are never shown beside the other two


def test_a_key_that_is_taken_reserved_or_no_key_is_refused_by_name(project):
    id = labels.add_layer(project, "class", "class", labels=["yes", "no"])
    labels.add_layer(project, "spans", "span", labels=["PER"])
    yes, no = layer(project).labels

    with pytest.raises(WorkbenchError, match="already the key of yes"):
        labels.set_key(project, no.id, "q")
    with pytest.raises(WorkbenchError, match="already the key of PER"):
        labels.set_key(project, no.id, "1")
    for wrong in ("a", "X", "u"):
        with pytest.raises(WorkbenchError, match="is the key of a command in Annotate"):
            labels.set_key(project, no.id, wrong)
    for wrong in ("ab", "/", "["):
        with pytest.raises(WorkbenchError, match="cannot be used as a key"):
            labels.set_key(project, no.id, wrong)
    labels.set_key(project, no.id, "N")
    labels.set_key(project, yes.id, "")
    assert [label.key for label in layer(project).labels] == ["", "n"]
    assert labels.add_label(project, id, "third") and layer(project).labels[2].key == "q"
    assert labels.add_label(project, id, "keyless", key=None) and layer(project).labels[3].key == ""


def test_imported_labels_keep_keys_that_are_free_and_never_fail(project):
    id = labels.add_layer(project, "spans", "span", labels=["PER"])
    result = labels.add_labels(
        project,
        id,
        [
            Label("PER", key="9"),
            Label("LOC", "#aabbcc", "1", "places"),
            Label("ORG", "red", "7"),
            "X y",
        ],
    )

    rows = [
        (label.name, label.colour, label.key, label.description) for label in layer(project).labels
    ]
    assert rows == [
        ("PER", "", "1", ""),
        ("LOC", "#aabbcc", "2", "places"),
        ("ORG", "", "7", ""),
        ("X y", "", "3", ""),
    ]
    assert result == {label.name: label.id for label in layer(project).labels}


def test_names_are_unique_one_line_and_not_empty(project):
    id = labels.add_layer(project, "class", "class", labels=["yes"])
    for wrong in ("", "  ", "a\nb", "a\u2028b", "\ud800", "yes", "a" * 1001):
        with pytest.raises(WorkbenchError):
            labels.add_label(project, id, wrong)
    with pytest.raises(WorkbenchError, match="already"):
        labels.add_layer(project, " class ", "span")
    with pytest.raises(WorkbenchError, match="Unknown layer kind"):
        labels.add_layer(project, "other", "nonsense")
    assert names(project) == ("yes",)


def test_every_property_of_a_label_can_be_changed_and_undone(project):
    labels.add_layer(project, "class", "class", labels=["yes", "no"])
    (label, _) = before = layer(project).labels
    acts = [
        lambda: labels.rename_label(project, label.id, "Yes!"),
        lambda: labels.recolour_labels(project, [label.id], "#FF8800"),
        lambda: labels.set_key(project, label.id, "z"),
        lambda: labels.describe_label(project, label.id, "of course"),
        lambda: labels.move_label(project, label.id, 1),
    ]
    for act in acts:
        act()
    changed = layer(project).labels[1]
    assert (changed.name, changed.colour, changed.key, changed.description) == (
        "Yes!",
        "#ff8800",
        "z",
        "of course",
    )

    for _ in acts:
        project.undo()
    assert layer(project).labels == before


def test_what_changes_nothing_leaves_no_step(project):
    labels.add_layer(project, "class", "class", labels=["yes"])
    (label,) = layer(project).labels
    labels.rename_label(project, label.id, "yes")
    labels.describe_label(project, label.id, "")
    labels.recolour_labels(project, [label.id], "")
    labels.rename_layer(project, layer(project).id, "class")
    assert len(project.history()) == 1


def test_a_colour_that_is_none_is_refused(project):
    labels.add_layer(project, "class", "class", labels=["yes"])
    with pytest.raises(WorkbenchError, match="is not a colour"):
        labels.recolour_labels(project, [layer(project).labels[0].id], "red")


def test_deleting_a_label_removes_its_spans_and_undo_brings_both_back(project):
    labels.add_layer(project, "spans", "span", labels=["PER", "LOC"])
    (document, other) = add_documents(project)
    person, place = layer(project).labels
    annotate.add_span(project, document, 0, 3, person.id)
    annotate.add_span(project, document, 8, 11, place.id)
    before = document_view.view(project, document)

    assert (
        labels.will_go(project, [person.id])
        == "Deleting PER also deletes 1 span in 1 document. This can be undone."
    )
    labels.delete_label(project, person.id)
    assert [span.label_id for span in document_view.view(project, document).spans] == [place.id]
    assert names(project) == ("LOC",)

    assert project.undo() == "Delete PER"
    assert document_view.view(project, document) == before and other


def test_submitted_documents_that_lose_their_class_go_back_to_draft(project):
    id = labels.add_layer(project, "class", "class", labels=["yes", "no"])
    first, second = add_documents(project)
    yes, no = layer(project).labels
    annotate.set_class(project, first, yes.id)
    annotate.set_class(project, second, no.id)
    for document in (first, second):
        annotate.submit(project, document, [id])

    labels.delete_label(project, yes.id)

    assert [document_view.view(project, document).states[id] for document in (first, second)] == [
        "draft",
        "submitted",
    ]
    project.undo()
    assert document_view.view(project, first).states[id] == "submitted"


def test_drafts_that_lose_all_that_was_set_in_the_layer_become_pending(project):
    id = labels.add_layer(project, "class", "class", labels=["yes", "no"])
    first, second = add_documents(project)
    yes, no = layer(project).labels
    annotate.set_class(project, first, yes.id)
    annotate.set_class(project, second, no.id)

    labels.delete_label(project, yes.id)

    states = [document_view.view(project, document).states[id] for document in (first, second)]
    assert states == ["pending", "draft"]


def test_deleting_a_layer_takes_all_of_it_along_in_one_step(project):
    id = labels.add_layer(project, "spans", "span", labels=["PER", "LOC"])
    (document, _) = add_documents(project)
    annotate.add_span(project, document, 0, 3, layer(project).labels[0].id)
    annotate.submit(project, document, [id])
    before = document_view.view(project, document)

    sentence = labels.will_go(project, layer_id=id)
    assert (
        sentence == "Deleting the layer spans also deletes 2 labels and 1 span in 1 document. "
        "This can be undone."
    )
    labels.delete_layer(project, id)
    assert labels.layers(project) == () and document_view.view(project, document).layers == ()

    project.undo()
    assert document_view.view(project, document) == before


def test_will_go_says_when_nothing_else_goes(project):
    labels.add_layer(project, "spans", "span", labels=["PER", "LOC"])
    assert (
        labels.will_go(project, [layer(project).labels[0].id])
        == "Deleting PER does not affect any annotations."
    )
    assert (
        labels.will_go(project, [label.id for label in layer(project).labels])
        == "Deleting 2 labels does not affect any annotations."
    )


def test_layers_can_be_renamed_and_have_a_guideline(project):
    id = labels.add_layer(project, "class", "class")
    labels.rename_layer(project, id, "kind")
    guideline.write(project, id, "# Rules")
    assert (layer(project).name, layer(project).guideline) == ("kind", "# Rules")
    project.undo()
    assert layer(project).guideline == ""


def test_a_deleted_label_is_named_as_deleted(project):
    with pytest.raises(WorkbenchError, match="has been deleted"):
        labels.rename_label(project, 99, "x")


def test_no_label_gets_the_key_that_the_user_gave_to_a_command(project):
    kept = settings.load()
    kept.window["keys"] = {"annotate.accept": ["Q"], "data.new": ["W"]}
    kept.save()

    id = labels.add_layer(project, "class", "class", labels=["yes", Label("no", key="q")])
    added = labels.add_label(project, id, "maybe")

    assert [label.key for label in layer(project).labels] == ["w", "e", "r"]
    with pytest.raises(WorkbenchError, match="'q' is the key of a command in Annotate"):
        labels.set_key(project, added, "q")
    labels.set_key(project, added, "a")  # accepts nothing any more
