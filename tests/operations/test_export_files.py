"""Exports with files for each document: names, folders, and what an error leaves."""

import pytest

from workbench.base.errors import ExportFailed
from workbench.operations import export_files, labels
from workbench.operations.data_export import export_data, what_is_lost
from workbench.project.project import Project
from workbench.storage import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


@pytest.fixture
def project(tmp_path):
    """Three documents, two of whose keys are no file names."""
    project = Project.create(tmp_path / "p.glossbench")
    labels.add_layer(project, "names", "span", labels=("PER",))
    keys = ("a/b", "a:b", "c")
    with project.edit("Add"):
        records = [
            Record(
                Document(key, (("text", "Ada met Bob"),)),
                {"names": "submitted"},
                spans={"names": (Span(0, 3, "PER"),)},
            )
            for key in keys
        ]
        documents.add(project.db, records, source_id=project.source("person"))
    yield project
    project.close()


@pytest.mark.parametrize("format", ["brat", "webanno"])
def test_each_document_has_files_with_unique_names(project, tmp_path, format):
    out = tmp_path / "out"

    outcome = export_data(project, out, format=format)

    suffix = ".tsv" if format == "webanno" else ".ann"
    assert {path.name for path in out.glob(f"*{suffix}")} == {
        f"{name}{suffix}" for name in ("a_b", "a_b-2", "c")
    }
    assert outcome.documents == 3
    assert outcome.warnings[0].startswith("2 documents are named differently")
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_folder_that_is_not_empty_is_left_alone(project, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    export_data(project, out, format="brat")  # an empty one is filled

    with pytest.raises(ExportFailed, match="not empty"):
        export_data(project, out, format="brat")
    with pytest.raises(ExportFailed, match="is a file"):
        export_data(project, out / "c.ann", format="brat")
    assert (out / "c.txt").read_text() == "Ada met Bob"


def test_a_cancelled_export_leaves_nothing(project, tmp_path):
    def stop(count):
        raise RuntimeError(count)

    with pytest.raises(RuntimeError):
        export_data(project, tmp_path / "out", format="brat", progress=stop)

    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []


def test_the_loss_preview_says_what_a_folder_of_brat_does_not_hold(project):
    labels.add_layer(project, "mood", "class", labels=("good",))

    said = " ".join(what_is_lost("brat", project))

    assert "Classes of documents are not written: mood." in said and "Tokens" in said


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("", "document"),
        ("..", "document"),
        ("CON", "_CON"),
        ("a\x00b?", "a_b_"),
        ("ö" * 150, "ö" * 100),
    ],
)
def test_names_of_files_are_allowed_everywhere(key, name):
    taken = {}

    assert export_files.file_name(key, taken) == name
    assert export_files.file_name(key.upper(), taken).casefold() != name.casefold()
