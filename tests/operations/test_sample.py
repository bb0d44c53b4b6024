import pytest

from workbench.base.errors import ProjectError
from workbench.operations import corpus
from workbench.project.project import Project
from workbench.storage import documents, labels


@pytest.fixture
def sample(tmp_path):
    project = Project.open(corpus.create_sample(tmp_path / "new" / "folder"))
    yield project
    project.close()


def test_the_sample_holds_three_layers_and_488_documents(sample):
    found = corpus.info(sample)

    assert found["documents"] == 488 and found["splits"] == {
        "train": 220,
        "dev": 70,
        "test": 70,
        "none": 128,
    }
    assert found["states"] == {"pending": 120, "draft": 8, "submitted": 360, "discarded": 0}
    assert [
        (one.name, one.kind, one.texts, len(one.labels)) for one in labels.layers(sample.db)
    ] == [
        ("class", "class", 1, 6),
        ("spans", "span", 1, 8),
        ("pairs", "class", 2, 3),
    ]


def test_every_label_has_a_key_a_colour_and_a_description(sample):
    for layer in labels.layers(sample.db):
        assert all(one.key and one.colour and one.description for one in layer.labels)
        assert (
            len({one.key for one in layer.labels})
            == len({one.colour for one in layer.labels})
            == len(layer.labels)
        )
    assert labels.layer_by_name(sample.db, "spans").guideline.startswith("# Guideline")


def test_other_scripts_are_drafts_and_spans_point_at_their_words(sample):
    (hebrew,) = [one for one in documents.records(sample.db) if one.document.key == "s-02"]

    assert hebrew.states == {"class": "draft", "spans": "draft"}
    assert "קאסל סקוור" in [
        hebrew.document.text[one.start : one.end] for one in hebrew.spans["spans"]
    ]


def test_each_copy_gets_a_free_name(tmp_path):
    first, second = corpus.create_sample(tmp_path), corpus.create_sample(tmp_path)

    assert first != second and first.exists() and second.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ProjectError, match="file"):
        corpus.create_sample(tmp_path / "file" / "x")


def test_a_sample_that_cannot_be_written_leaves_no_file(tmp_path, monkeypatch):
    from workbench.operations import sample

    def full(*_args, **_named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sample.documents, "add", full)
    with pytest.raises(OSError, match="No space"):
        corpus.create_sample(tmp_path / "new")

    assert list((tmp_path / "new").iterdir()) == []
