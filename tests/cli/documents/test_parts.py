"""`parts`: documents are split into sentences and joined again."""

import pytest

from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def book(file):
    """A document of three sentences in two paragraphs, and one of a single sentence."""
    project = Project.open(file)
    with project.edit("fill"):
        texts = ("Ada left. Bob came.\nThey met.", "One.")
        records = [Record(Document(f"k{n}", (("text", text),))) for n, text in enumerate(texts)]
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    return file


def keys(file):
    project = Project.open(file)
    found = [record.document.key for record in documents.records(project.db)]
    project.close()
    return found


def test_documents_are_split_and_joined(ask, book):
    kept = {"a single part": 1}
    message = ask("parts-split", "parts", "split", book, "--unit", "paragraph", "--dry-run")
    assert message == {"documents": 1, "parts": 2, "kept": kept}
    assert keys(book) == ["k0", "k1"]
    assert ask("parts-split", "parts", "split", book) == {"documents": 1, "parts": 3, "kept": kept}
    assert keys(book) == ["k1", "k0/1", "k0/2", "k0/3"]
    joined = ask("parts-join", "parts", "join", book)
    assert joined == {"documents": 1, "parts": 3, "kept": {}}
    assert keys(book) == ["k1", "k0"]


def test_the_documents_are_chosen_by_a_query(call, book):
    code, out, _err = call("parts", "split", book, "--where", "key:k1")
    assert (code, out) == (0, "0 documents became 0 parts.\n")
    code, out, _err = call("parts", "split", book, "--where", "key:k0")
    assert (code, out) == (0, "1 document became 3 parts.\n")
