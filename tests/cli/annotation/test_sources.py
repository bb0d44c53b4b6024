"""`sources`: what each made, and accepting, rejecting and reverting it."""

import pytest

from workbench.operations.annotation import patterns
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.queries.patterns import WORDS, Pattern


@pytest.fixture
def suggested(file):
    """A document with one suggestion each of the patterns Ada and Bob."""
    project = Project.open(file)
    layer = labels.add_layer(project, "names", "span")
    label = labels.add_label(project, layer, "PER")
    with project.edit("fill"):
        record = Record(Document("k0", (("text", "Ada met Bob"),)), {}, {}, {})
        documents.add(project.db, [record], source_id=project.source("import"))
    patterns.add(project, [Pattern(WORDS, name, label) for name in ("Ada", "Bob")])
    patterns.apply(project)
    project.close()
    return file


def test_suggestions_of_a_source_are_accepted_and_reverted(ask, suggested):
    ada = "rule:pattern:Ada"
    answer = ask("sources-accept", "sources", "accept", suggested, "--source", ada)
    assert answer == {"accepted": 1}

    listed = ask("sources-list", "sources", "list", suggested)
    assert [(item["source"], item["labels"], item["suggestions"]) for item in listed] == [
        ("rule:pattern:Bob", 0, 1),
        (ada, 1, 0),
    ]
    reverted = ask("sources-revert", "sources", "revert", suggested, ada)
    assert reverted == {"labels": 1, "suggestions": 1}
    assert ask("sources-reject", "sources", "reject", suggested) == {"rejected": 1}


def test_an_unknown_source_is_named_with_those_that_exist(call, suggested):
    code, _out, err = call("sources", "revert", suggested, "run:9")

    assert code == 1 and "no source 'run:9'" in err and "rule:pattern:Ada" in err
