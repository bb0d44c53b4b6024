"""The project of the person who leads."""

from contextlib import closing

import pytest

from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXT = "Ada met Bob in Rome."


@pytest.fixture
def lead(tmp_path):
    with closing(Project.create(tmp_path / "lead.glossbench")) as project:
        labels.add_layer(project, "class", "class", labels=["yes", "no"])
        labels.add_layer(project, "names", "span", labels=["PER", "LOC"])
        labels.add_layer(project, "links", "relation", labels=["met"])
        records = [
            Record(Document(f"d{n}", (("text", f"{TEXT} {n}"),), "test" if n == 5 else "train"))
            for n in range(6)
        ]
        with project.edit("Import"):
            documents.add(project.db, records, source_id=project.source("import"))
        people.add(project, "Ben")
        people.add(project, "Cleo")
        yield project
    assert check(project.path) == []
