"""`relabel`: label sets are changed together with the annotations."""

import pytest

from workbench.operations.annotation import annotate
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def labelled(file):
    """Two documents with spans Ada (PER) and Rome (LOC)."""
    project = Project.open(file)
    layer = labels.add_layer(project, "names", "span")
    person, place = (labels.add_label(project, layer, name) for name in ("PER", "LOC"))
    with project.edit("fill"):
        records = [Record(Document(f"k{n}", (("text", "Ada in Rome"),))) for n in range(2)]
        ids = documents.add(project.db, records, source_id=project.source("import"))
    for id in ids:
        annotate.add_span(project, id, 0, 3, person)
        annotate.add_span(project, id, 7, 11, place)
    project.close()
    return file


def counts(ask, file):
    layers = ask("labels", "labels", file)
    return {
        layer["layer"]: {label["name"]: label["count"] for label in layer["labels"]}
        for layer in layers
    }


def test_labels_are_split_merged_moved_and_renamed(ask, labelled):
    before = counts(ask, labelled)
    split = ask("relabel-split", "relabel", "split", labelled, "PER", "WOMAN", "--text", "Ada")
    assert split == {"split": 2} and counts(ask, labelled)["names"]["WOMAN"] == 2
    merged = ask("relabel-merge", "relabel", "merge", labelled, "WOMAN", "PER", "--into", "PER")
    assert merged == {"merged": 2} and counts(ask, labelled) == before
    renamed = ask("relabel-rename", "relabel", "rename", labelled, "PER", "PERSON")
    assert renamed == {"renamed": "PER", "name": "PERSON"}
    assert counts(ask, labelled)["names"]["PERSON"] == 2


def test_a_label_moves_to_the_layer_named(ask, labelled):
    project = Project.open(labelled)
    labels.add_layer(project, "places", "span")
    project.close()
    moved = ask("relabel-move", "relabel", "move", labelled, "LOC", "--to", "places")
    assert moved == {"moved": 2}
    found = counts(ask, labelled)
    assert found["names"] == {"PER": 2} and found["places"] == {"LOC": 2}


def test_what_cannot_be_done_is_said(call, labelled):
    code, _out, err = call("relabel", "move", labelled, "LOC", "--to", "nowhere")
    assert code and "no layer 'nowhere'" in err
    code, _out, err = call("relabel", "split", labelled, "PER", "WOMAN")
    assert code and "either with --text or with --containing" in err
    code, _out, err = call("relabel", "split", labelled, "PER", "W", "--containing", "absent")
    assert code and "No annotations are chosen" in err


def test_what_spans_of_a_layer_snap_to_is_set(ask, call, labelled):
    message = ask("relabel-snap", "relabel", "snap", labelled, "names", "sentence")
    assert message == {"layer": "names", "snap": "sentence"}
    project = Project.open(labelled)
    assert labels.layers(project)[0].options["snap"] == "sentence"
    project.close()
    code, _out, err = call("relabel", "snap", labelled, "nobody", "off")
    assert code == 1 and "nobody" in err


def test_a_parent_is_set_shown_and_removed(ask, call, labelled):
    message = ask("relabel-parent", "relabel", "parent", labelled, "LOC", "--of", "PER")
    assert message == {"labels": ["LOC"], "parent": "PER"}
    found = {item["name"]: item for item in ask("labels", "labels", labelled)[0]["labels"]}
    assert found["LOC"]["parent"] == "PER" and found["PER"]["count_with_sublabels"] == 4
    code, out, _err = call("labels", labelled)
    assert code == 0 and "Parent" in out and "2  PER" in out
    code, _out, err = call("relabel", "parent", labelled, "PER", "--of", "LOC")
    assert code == 1 and "LOC is a sublabel of PER" in err
    assert ask("relabel-parent", "relabel", "parent", labelled, "LOC")["parent"] is None


def test_a_dry_run_says_what_would_change_and_changes_nothing(ask, call, labelled):
    before = counts(ask, labelled)
    merged = ask("relabel-merge", "relabel", "merge", labelled, "LOC", "--into", "PER", "--dry-run")
    assert merged == {"merged": 0, "told": "2 annotations in 2 documents become PER."}
    deleted = ask("relabel-delete", "relabel", "delete", labelled, "LOC", "--dry-run")
    assert deleted["deleted"] == 0 and "2 spans in 2 documents" in deleted["told"]
    code, out, _err = call("relabel", "reorder", labelled, "LOC", "--dry-run")
    assert (code, out.strip()) == (0, "LOC, PER")
    code, _out, err = call("relabel", "move", labelled, "LOC", "--to", "names", "--dry-run")
    assert code and "already in the layer names" in err
    assert counts(ask, labelled) == before and list(before["names"]) == ["PER", "LOC"]


def test_labels_are_reordered_with_their_sublabels_and_deleted(ask, labelled):
    ask("relabel-split", "relabel", "split", labelled, "PER", "WOMAN", "--text", "Ada")
    ask("relabel-parent", "relabel", "parent", labelled, "WOMAN", "--of", "PER")

    found = ask("relabel-reorder", "relabel", "reorder", labelled, "LOC", "PER")

    assert found == {"order": ["LOC", "PER", "WOMAN"]}
    assert list(counts(ask, labelled)["names"]) == found["order"]
    assert ask("relabel-delete", "relabel", "delete", labelled, "LOC", "PER") == {"deleted": 2}
    assert counts(ask, labelled) == {"names": {"WOMAN": 2}}
