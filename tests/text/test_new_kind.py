"""A kind of layer that nobody here has seen is one row of the table of kinds."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate
from workbench.operations.documents import queries
from workbench.operations.schema import labels
from workbench.operations.transfer import data_export, data_import
from workbench.project.check import check_open
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import CLASSES, LAYER_KINDS, MARKS, LayerKind
from workbench.text.rows import row_id
from workbench.ui.dialogs.new_project import all_kinds

STANCE = LayerKind("stance", "a stance per document", record=MARKS, editor=CLASSES, keys="pc")


@pytest.fixture
def stance(project, monkeypatch):
    """Label name → id, of a layer of the new kind beside two documents."""
    monkeypatch.setitem(LAYER_KINDS, STANCE.id, STANCE)
    with project.edit("Import"):
        records = [Record(Document(name, (("text", f"Text {name}"),))) for name in "ab"]
        documents.add(project.db, records, source_id=project.source("import"))
    labels.add_layer(project, "position", STANCE.id, labels=["pro", "con"])
    (layer,) = labels.layers(project)
    assert [label.key for label in layer.labels] == ["p", "c"]
    return {label.name: row_id(label) for label in layer.labels}


def test_a_document_is_labelled_submitted_counted_found_and_the_label_undone(project, stance):
    layer = labels.layers(project)[0].id
    annotate.set_class(project, 1, stance["pro"])
    annotate.set_class(project, 1, stance["con"])
    assert annotate.submit(project, 1, [layer]) == ()
    assert annotate.submit(project, 2, [layer]) == (
        "position has no label yet; the document stays a draft.",
    )

    assert labels.counts(project) == {stance["pro"]: 0, stance["con"]: 1}
    assert list(queries.matching(project, "label:con")) == [1]
    assert "1 class in 1 document" in labels.will_go(project, [stance["con"]])
    assert check_open(project) == []
    project.undo()
    project.undo()
    project.undo()
    assert documents.record(project.db, 1).marks == {"position": ("pro",)}


def test_the_own_format_brings_the_layer_back_as_it_was(project, stance, inline_jobs, tmp_path):
    annotate.set_class(project, 2, stance["con"])
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    data_export.export_data(project, first, format="glossbench")

    other = Project.create(tmp_path / "other.glossbench")
    data_import.import_files(other, inline_jobs, [first])
    data_export.export_data(other, second, format="glossbench")

    assert labels.layers(other)[0].traits is STANCE
    other.close()
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.unsound
def test_the_kind_is_offered_where_layers_are_added_and_unknown_without_its_row(
    project, stance, monkeypatch
):
    assert [kind.title for kind in all_kinds() if kind.kind == STANCE.id] == [STANCE.title]

    monkeypatch.delitem(LAYER_KINDS, STANCE.id)
    assert STANCE.id not in {kind.kind for kind in all_kinds()}
    with pytest.raises(WorkbenchError, match="Unknown layer kind: 'stance'"):
        labels.add_layer(project, "another", STANCE.id)
    assert any("in kind, which is not valid" in problem for problem in check_open(project))
