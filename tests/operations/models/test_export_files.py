"""Exports with files for each document: names, folders, and what an error leaves."""

import json

import pytest

from workbench.base.errors import ExportFailed
from workbench.base.registry import builtins
from workbench.base.watch import Watch
from workbench.exporters.data.base import ExportPlan
from workbench.operations.models import export_files
from workbench.operations.schema import labels
from workbench.operations.transfer.data_export import export_data, what_is_lost
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

HALF = "\ud83d"  # of a surrogate pair
EXPORTERS = builtins().all("exporter")


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
    def stop(share):
        raise RuntimeError(share)

    with pytest.raises(RuntimeError):
        export_data(project, tmp_path / "out", format="brat", watch=Watch(stop))

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


def old(text=f"Ada {HALF} met"):
    """A record of a project of an older version, with such a character everywhere."""
    layers = (
        Layer("spans", "span", (Label(f"PER{HALF}", key="1"),)),
        Layer("class", "class", (Label(f"a{HALF}", key="1"),)),
    )
    document = Document(
        f"k{HALF}", (("text", text),), None, f"g{HALF}", {f"m{HALF}": f"v{HALF}"}, {}
    )
    states = {"spans": "submitted", "class": "submitted"}
    marks, spans = {"class": (f"a{HALF}",)}, {"spans": (Span(0, 5, f"PER{HALF}"),)}
    return Record(document, states, marks, spans), ExportPlan(layers)


@pytest.mark.parametrize("entry", EXPORTERS, ids=[entry.id for entry in EXPORTERS])
def test_files_of_every_format_are_valid_utf8(entry, tmp_path):
    record, plan = old()
    exporter, out = builtins().get("exporter", entry.id)(), tmp_path / "out"

    if entry.options.get("folder"):
        export_files.write_folder(out, exporter, [record], plan)
        files = sorted(out.iterdir())
    else:
        is_json = entry.options["suffix"].startswith(".json")
        export_files.write_file(
            out, lambda file: exporter.write([record], plan, file), plan, is_json=is_json
        )
        files = [out]

    texts = [file.read_bytes().decode("utf-8") for file in files]  # strict
    replaced = any("\ufffd" in text for text in texts)
    assert replaced == any("were replaced by \ufffd" in item or "was replaced by \ufffd" in item
                           for item in plan.warnings)  # fmt: skip


def test_json_holds_every_character_as_it_was(tmp_path):
    record, plan = old()
    exporter = builtins().get("exporter", "doccano")()

    export_files.write_file(
        tmp_path / "a.jsonl", lambda file: exporter.write([record], plan, file), plan, is_json=True
    )

    row = json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8"))
    assert (row["id"], row["text"], row["cats"]) == (f"k{HALF}", f"Ada {HALF} met", [f"a{HALF}"])
    assert row["meta"] == {f"m{HALF}": f"v{HALF}"} and not plan.warnings
