import pytest

from workbench.base.errors import ProjectError
from workbench.operations.application.sample import create_sample
from workbench.operations.documents import corpus
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels


@pytest.fixture
def sample(tmp_path):
    project = Project.open(create_sample(tmp_path / "new" / "folder"))
    yield project
    project.close()


def test_the_sample_holds_three_layers_and_488_documents(sample):
    result = corpus.info(sample)

    assert result["documents"] == 488 and result["splits"] == {
        "train": 220,
        "dev": 70,
        "test": 70,
        "none": 128,
    }
    assert result["states"] == {"pending": 120, "draft": 8, "submitted": 360, "discarded": 0}
    assert [
        (layer.name, layer.kind, layer.texts, len(layer.labels))
        for layer in labels.layers(sample.db)
    ] == [
        ("class", "class", 1, 6),
        ("spans", "span", 1, 8),
        ("pairs", "class", 2, 3),
    ]


def test_every_label_has_a_key_a_colour_and_a_description(sample):
    for layer in labels.layers(sample.db):
        assert all(label.key and label.colour and label.description for label in layer.labels)
        assert (
            len({label.key for label in layer.labels})
            == len({label.colour for label in layer.labels})
            == len(layer.labels)
        )
    assert labels.layer_by_name(sample.db, "spans").guideline.startswith("# Guideline")


def test_other_scripts_are_drafts_and_spans_point_at_their_words(sample):
    (hebrew,) = [record for record in documents.records(sample.db) if record.document.key == "s-02"]

    assert hebrew.states == {"class": "draft", "spans": "draft"}
    assert "קאסל סקוור" in [
        hebrew.document.text[span.start : span.end] for span in hebrew.spans["spans"]
    ]


def test_each_copy_gets_a_free_name(tmp_path):
    first, second = create_sample(tmp_path), create_sample(tmp_path)

    assert first != second and first.exists() and second.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ProjectError, match="file"):
        create_sample(tmp_path / "file" / "x")


def test_a_sample_that_cannot_be_written_leaves_no_file(tmp_path, monkeypatch):
    def full(*_args, **_named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(documents, "add", full)
    with pytest.raises(OSError, match="No space"):
        create_sample(tmp_path / "new")

    assert list((tmp_path / "new").iterdir()) == []
