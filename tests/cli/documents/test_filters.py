"""`filters`, and `--where` of commands that take documents."""

import pytest

from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.queries.query import KEYS, parse


@pytest.fixture
def mails(file):
    """Ten submitted documents of a class layer, every other one from the web."""
    project = Project.open(file)
    labels.add_layer(project, "topic", "class", labels=("good", "bad"))
    records = [
        Record(
            Document(f"k{n}", (("text", f"text {n}"),), meta={"from": ("mail", "web")[n % 2]}),
            {"topic": "submitted"},
            {"topic": ("good",)},
        )
        for n in range(10)
    ]
    with project.edit("fill"):
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    return file


def test_filters_are_saved_listed_applied_renamed_and_deleted(ask, call, mails):
    ask("filters-save", "filters", "save", mails, "web", "meta.from:web")
    ask("filters-rename", "filters", "rename", mails, "web", "from web")
    listed = ask("filters-list", "filters", "list", mails)
    assert listed == [{"name": "from web", "query": "meta.from:web"}]
    found = ask("filters-find", "filters", "find", mails, 'filter:"from web" key:k1')
    assert [item["key"] for item in found["documents"]] == ["k1"]
    assert "1 document matches." in call("filters", "find", mails, "key:k1")[1]

    ask("filters-delete", "filters", "delete", mails, "from web")
    assert ask("filters-list", "filters", "list", mails) == []
    code, _out, err = call("filters", "delete", mails, "from web")
    assert code == 1 and "from web" in err


def test_the_keys_are_listed_with_examples_that_can_be_read(ask):
    rows = ask("filters-keys", "filters", "keys")

    assert [row["key"] for row in rows] == list(KEYS)
    for row in rows:
        for example in row["example"].split(", "):
            assert parse(example).nodes[0].key == row["key"]


def test_where_limits_export_and_splits(ask, call, mails, tmp_path):
    out = tmp_path / "out.jsonl"
    where = ("--where", "meta.from:web -key:k9")
    exported = ask("export-data", "export-data", mails, out, "--format", "glossbench", *where)
    assert exported["documents"] == 4

    made = ask("splits", "splits", mails, "--shares", "50,50,0", *where)
    assert sum(made["splits"].values()) == made["changed"] == 4 and made["outside"] == 6
    assert len(ask("filters-find", "filters", "find", mails, "has:split")["documents"]) == 4


def test_a_query_that_cannot_be_read_is_shown_with_the_wrong_part_marked(call, mails, tmp_path):
    out = tmp_path / "out"
    arguments = ("export-data", mails, out, "--format", "csv", "--where", "a labl:x")

    code, _out, err = call(*arguments)

    assert code == 1 and "a »labl:«x" in err and "label:" in err and not out.exists()
    assert call("predict", "run", "--where", "a")[0] == 2


def test_notes_and_flags_are_written_and_listed(ask, call, mails):
    assert ask("notes-write", "notes", "write", mails, "k1", "ask Ada")["note"] == "ask Ada"
    flagged = ask("notes-flag", "notes", "flag", mails, "unsure", "--where", "key:k1 OR key:k2")
    assert flagged == {"flag": "unsure", "changed": 2}
    listed = ask("notes-list", "notes", "list", mails, "--where", "note:ada")
    assert listed == [{"key": "k1", "flags": ["unsure"], "note": "ask Ada"}]

    call("notes", "write", mails, "k1", "")
    call("notes", "flag", mails, "unsure", "--where", "key:k1", "--remove")
    assert [row["key"] for row in ask("notes-list", "notes", "list", mails)] == ["k2"]
