import pytest

from workbench.base.errors import ProjectError
from workbench.operations.annotation import annotate
from workbench.operations.schema import labels as label_acts
from workbench.project import snapshot
from workbench.storage.documents import documents
from workbench.text import dataset
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


@pytest.fixture
def ids(project):
    label_acts.add_layer(project, "spans", "span", labels=["PER"])
    label_acts.add_layer(project, "class", "class", labels=["yes"])
    return fill(project)


def fill(project):
    with project.edit("Import"):
        records = [
            Record(
                Document(str(n), (("text", f"Ada {n} \ud800"),)),
                {"spans": "submitted"},
                {"class": ("yes",)},
                {"spans": (Span(0, 3, "PER"),)},
            )
            for n in range(4)
        ]
        return documents.add(project.db, records, source_id=project.source("import"))


def test_a_snapshot_holds_the_chosen_documents_with_one_layer(project, ids):
    frozen = snapshot.write(project, "spans", {"train": ids[:2], "dev": ids[2:3]})
    data = dataset.read(frozen.path)

    assert (
        frozen.path.parent == project.runs_folder / "data"
        and frozen.path.stem == frozen.fingerprint
    )
    assert [record.document.id for record in data.records] == ids[:3]
    assert [layer.name for layer in data.layers] == ["spans"]
    assert data.records[0].spans["spans"] == (Span(0, 3, "PER"),) and data.records[0].marks == {}
    assert frozen.splits == {"train": tuple(ids[:2]), "dev": tuple(ids[2:3])}
    assert data.fingerprint() == frozen.fingerprint


def test_equal_content_is_stored_once_and_changed_content_beside_it(project, ids):
    first = snapshot.write(project, "spans", {"train": ids})
    again = snapshot.write(project, "spans", {"train": ids[:2], "dev": ids[2:]})
    label = label_acts.layers(project)[0].labels[0].id
    annotate.add_span(project, ids[0], 4, 5, label)
    changed = snapshot.write(project, "spans", {"train": ids})

    assert first.path == again.path != changed.path
    assert sorted(path.name for path in first.path.parent.iterdir()) == sorted(
        [first.path.name, changed.path.name]
    )


def test_equal_content_under_other_ids_never_changes_the_file_of_an_earlier_run(project, ids):
    first = snapshot.write(project, "spans", {"train": ids})
    before = first.path.read_bytes()
    with project.edit("Delete"):
        documents.delete(project.db, ids)
    second = snapshot.write(project, "spans", {"train": fill(project)})

    assert second.fingerprint == first.fingerprint and second.path != first.path
    assert first.path.read_bytes() == before


def test_an_unknown_layer_and_a_folder_that_cannot_be_made_are_named(project, ids):
    with pytest.raises(ProjectError, match="no layer 'x'"):
        snapshot.write(project, "x", {"train": ids})
    project.runs_folder.write_text("in the way")
    with pytest.raises(ProjectError, match="cannot be written"):
        snapshot.write(project, "spans", {"train": ids})
