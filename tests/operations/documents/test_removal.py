"""Documents that are removed permanently: no byte of their texts is left beside the project."""

import json
from contextlib import closing

import pytest

from workbench.base import paths
from workbench.base.errors import ProjectBusy, ProjectError
from workbench.operations.annotation import annotate, patterns
from workbench.operations.documents import corpus, removal
from workbench.operations.schema import labels as schema
from workbench.project import backup, snapshot
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.queries import saved_filters
from workbench.storage.runs import runs
from workbench.storage.schema import migrations
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.patterns import REGEX, WORDS, Pattern
from workbench.text.spans import Span

RARE = "Quetzalcoatlus"
COUNT = 60


@pytest.fixture
def path(tmp_path):
    """A project whose third document has left its text wherever texts are kept."""
    path = tmp_path / "p.glossbench"
    with closing(Project.create(path)) as project:
        topic = schema.add_layer(project, "topic", "class", labels=("news", "sport"))
        schema.add_layer(project, "names", "span", labels=("PER",))
        with project.edit("Import", bulk=True):
            source = project.source("import", "a.jsonl")
            ids = documents.add(project.db, [_record(n) for n in range(COUNT)], source_id=source)
        backup.save_version(project, "first")
        corpus.delete_documents(project, ids[:10])
        backup.save_version(project, "deleted")
        project.undo()
        annotate.set_class(project, ids[2], schema.layers(project)[0].label("sport").id)
        with project.write():
            run = runs.add(project.db, "first", layer_id=topic, status="done", spec={"task": "c"})
            hash = documents.get(project.db, ids[2]).text_hash
            rows = [(id, hash, {"answer": RARE}) for id in ids[2:4]]
            runs.save_predictions(project.db, run.id, rows[:1])
        snapshot.write(project, "topic", {"train": ids[:5]})
        folder = paths.run_folder(path, run.id)
        folder.mkdir(parents=True)
        lines = [{"document_id": id, "prediction": f"{RARE} {id}"} for id in (ids[2], ids[3])]
        (folder / "predictions.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
        cache = paths.cache_folder() / "indexes"
        cache.mkdir(parents=True)
        (cache / "one.lines.jsonl").write_text(RARE)
    return path


def _record(number):
    text = f"Ada saw the {RARE if number == 2 else 'tram'} of line {number}."
    marks, spans = {"topic": ("news",)}, {"names": (Span(0, 3, "PER"),)}
    return Record(Document(f"k{number}", (("text", text),)), {"topic": "submitted"}, marks, spans)


def files_with(path, word):
    """Every file of the project, its versions, runs and caches that has the word, in any case."""
    places = (path.parent, paths.cache_folder())
    found = {file for place in places for file in place.rglob("*") if file.is_file()}
    return sorted(file.name for file in found if word.lower().encode() in file.read_bytes().lower())


def of_rare(project):
    return list(corpus.filter_ids(project, corpus.Filter(text=RARE)))


def test_no_file_has_the_text_afterwards_and_the_rest_is_untouched(path):
    assert len(files_with(path, RARE)) >= 6
    with closing(Project.open(path)) as project:
        ids = of_rare(project)
        found = removal.preview(project, ids)
        done = removal.remove(project, ids)

        left = files_with(path, RARE)
        assert [name for name in left if name != "predictions.jsonl"] == []
        assert corpus.counts(project).documents == COUNT - 1
        assert corpus.filter_ids(project, corpus.Filter(text="tram")).tolist() != []
        while project.undo_title not in (None, "Import"):
            project.undo()
        while project.redo_title:
            project.redo()
        assert of_rare(project) == [] and corpus.check(project) == ()

    assert (done.documents, done.versions, done.files, done.left) == (1, 2, 2, ())
    assert found.found.documents == 1 and len(found.versions) == 2 and found.runs == ("first",)
    assert {file.name for file in found.files} >= {"predictions.jsonl"}
    lines = (paths.run_folder(path, 1) / "predictions.jsonl").read_text().splitlines()
    assert [json.loads(line)["document_id"] for line in lines] == [ids[0] + 1]
    assert files_with(path, "tram of line 3") != []
    for version in backup.versions(path):
        assert check(version.path) == []
        with closing(Project.open(version.path, read_only=True)) as old:
            assert corpus.any_documents(old) and of_rare(old) == []


def test_a_version_that_cannot_be_cleaned_is_deleted(path, monkeypatch):
    damaged, older = backup.versions(path)
    data = bytearray(damaged.path.read_bytes())
    data[4096 : 4096 * 20] = bytes(4096 * 19)
    damaged.path.write_bytes(data)
    set_version(older.path, migrations.CURRENT - 1)

    with closing(Project.open(path)) as project:
        ids = of_rare(project)
        found = removal.preview(project, ids)
        removal.remove(project, ids)

    assert set(found.deleted_versions) == {damaged, older} and backup.versions(path) == ()


def set_version(path, version):
    data = bytearray(path.read_bytes())
    data[60:64] = version.to_bytes(4, "big")
    path.write_bytes(data)


def test_patterns_and_filters_with_words_that_only_the_documents_have_are_named(path):
    with closing(Project.open(path)) as project:
        (label,) = schema.layers(project)[1].labels
        lists = [Pattern(WORDS, body, label.id) for body in (f"bus\n{RARE.lower()}", "tram")]
        patterns.add(project, [*lists, Pattern(REGEX, rf"\b{RARE}s?", label.id)])
        with project.edit("Save"):
            saved_filters.add(project.db, "rare ones", f'state:pending "{RARE}"')
            saved_filters.add(project.db, "trams", "tram")
        found = removal.preview(project, of_rare(project))

    assert found.patterns == (f"bus, {RARE.lower()}", rf"/\b{RARE}s?/")
    assert found.filters == ("rare ones",)
    assert f"and are kept: bus, {RARE.lower()}, /\\b{RARE}s?/." in removal.warning(found)
    assert "are kept: rare ones." in removal.warning(found)


def test_a_preview_changes_nothing(path):
    before = files_with(path, RARE)
    with closing(Project.open(path)) as project:
        message = removal.describe(removal.preview(project, of_rare(project)))

    assert message[0] == "1 document" and "2 versions lose them" in message
    assert files_with(path, RARE) == before


def test_nothing_is_removed_from_a_read_only_project_or_within_an_edit(path):
    with closing(Project.open(path, read_only=True)) as project, pytest.raises(ProjectError):
        removal.remove(project, of_rare(project))
    with closing(Project.open(path)) as project:
        ids = of_rare(project)
        with pytest.raises(ProjectBusy), project.edit("Edit"):
            project.remove_documents(ids)
        assert of_rare(project) == ids


def test_all_documents_can_be_removed(path):
    with closing(Project.open(path)) as project:
        ids = corpus.filter_ids(project, corpus.Filter())
        assert removal.remove(project, ids).documents == COUNT
        assert project.history() == () or not corpus.any_documents(project)

    assert check(path) == [] and files_with(path, "tram of line") == []
