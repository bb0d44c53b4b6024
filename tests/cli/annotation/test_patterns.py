"""`patterns`: the table, counts and suggestions from the command line."""

import pytest

from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def people(file):
    """Two documents and a layer of spans with the label PER."""
    project = Project.open(file)
    labels.add_layer(project, "names", "span", labels=("PER",))
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
