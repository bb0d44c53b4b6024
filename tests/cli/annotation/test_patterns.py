"""`occurrences` and `patterns`: what they list, add and refuse."""

import pytest

from workbench.operations.schema import labels as schema
from workbench.project.project import Project
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def places(file):
    """Two documents and a layer of spans with the label STOP."""
    project = Project.open(file)
    with project.edit("fill"):
        labels.add_label(project.db, labels.add_layer(project.db, "places", "span"), "STOP")
        texts = ["From Elm Park to Elm Park", "elm park"]
        records = [
            Record(Document(f"k{n}", (("text", text),)), {}, {}, {}) for n, text in enumerate(texts)
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    return file


def test_occurrences_are_listed_and_nothing_is_written(ask, places):
    answer = ask("occurrences", "occurrences", places, "Elm Park", "--label", "STOP")

    found = [(row["document"], row["start"], row["status"]) for row in answer["occurrences"]]
    assert found == [("k0", 5, "new"), ("k0", 17, "new")]
    assert (answer["documents"], answer["complete"], answer["added"]) == (1, True, None)


def test_free_places_are_labelled_in_one_undo_step(ask, places):
    chosen = ("Elm Park", "--label", "STOP", "--any-case", "--add", "gold")

    answer = ask("occurrences", "occurrences", places, *chosen)

    assert answer["added"] == 3
    project = Project.open(places)
    assert len(annotations.spans(project.db, 1)) == 2
    assert project.undo() == "Label 3 occurrences as STOP"
    assert annotations.spans(project.db, 1) == ()
    project.close()


def test_suggestions_in_one_document_are_told_in_words(call, places):
    chosen = ("elm park", "--label", "STOP", "--document", "k1", "--add", "suggestions")

    code, out, _err = call("occurrences", places, *chosen)

    assert code == 0 and "k1" in out and "[elm park]" in out and "Labelled 1 place." in out


def test_an_unknown_label_is_named_with_those_that_exist(call, places):
    code, _out, err = call("occurrences", places, "Elm", "--label", "LINE")

    assert code == 1 and "no label 'LINE'" in err and "Its labels: STOP." in err


def test_an_unknown_label_names_those_of_its_layer_alone(call, places):
    project = Project.open(places)
    with project.edit("fill"):
        labels.add_label(project.db, labels.add_layer(project.db, "topic", "class"), "delay")
    project.close()

    code, _out, err = call("relabel", "rename", places, "STOP", "x", "--layer", "topic")
    assert code and "'topic' has no label 'STOP'" in err and "Its labels: delay." in err

    code, _out, err = call("relabel", "rename", places, "STOP", "x", "--layer", "nothing")
    assert code and "no layer 'nothing'" in err and "Its layers: places, topic." in err


@pytest.fixture
def people(file):
    """Two documents and a layer of spans with the label PER."""
    project = Project.open(file)
    schema.add_layer(project, "names", "span", labels=("PER",))
    texts = ["Ada met Bob", "Bob left"]
    records = [
        Record(Document(f"k{n}", (("text", text),)), {}, {}, {}) for n, text in enumerate(texts)
    ]
    with project.edit("fill"):
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    return file


def test_patterns_are_added_counted_applied_and_removed(ask, people):
    added = ask("patterns-add", "patterns", "add", people, "Ada", "Bob", "--label", "PER")
    assert (added["label"], added["pattern"], added["kind"]) == ("PER", ["Ada", "Bob"], "words")
    assert ask("patterns-list", "patterns", "list", people) == [added]

    counted = ask("patterns-count", "patterns", "count", people)
    assert counted["searched"] == 2
    assert [(row["hits"], row["documents"]) for row in counted["patterns"]] == [(3, 2)]

    applied = ask("patterns-apply", "patterns", "apply", people, "--state", "pending")
    assert applied == {"suggestions": 3, "documents": 2, "patterns": 1, "searched": 2}

    assert ask("patterns-remove", "patterns", "remove", people, added["id"]) == {"removed": 1}
    assert ask("patterns-list", "patterns", "list", people) == []


def test_a_table_is_exported_and_imported(ask, call, people, tmp_path):
    ask("patterns-add", "patterns", "add", people, r"B\w+", "--regex", "--label", "PER")
    path = tmp_path / "p.csv"

    assert ask("patterns-export", "patterns", "export", people, path)["written"] == 1
    assert ask("patterns-import", "patterns", "import", people, path) == {"added": 1}
    code, out, _err = call("patterns", "count", people)
    assert code == 0 and out.count(r"B\w+") == 2 and "Hits" in out


def test_an_id_that_does_not_exist_is_named(call, people):
    code, _out, err = call("patterns", "remove", people, 7)

    assert code == 1 and "There is no pattern 7." in err
