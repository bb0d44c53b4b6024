"""Documents that are removed permanently: no byte of their texts is left beside the project."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import ProjectBusy, ProjectError
from workbench.operations.annotation import annotate, patterns
from workbench.operations.documents import corpus, notes, removal
from workbench.operations.prompts import prompt
from workbench.operations.runs import train
from workbench.operations.schema import labels as schema
from workbench.project import backup, snapshot
from workbench.project.check import check, check_open
from workbench.project.project import Project
from workbench.prompting.spec import PromptSpec
from workbench.storage.documents import documents
from workbench.storage.queries import saved_filters
from workbench.storage.runs import replies, runs
from workbench.storage.schema import migrations
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.queries.patterns import REGEX, WORDS, Pattern
from workbench.text.spans import Span
from workbench.training.spec import TrainSpec

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


MARKER = "Quetzalcoatlus northropi"
TEXT = f"{MARKER} flew over\nthe quay of line 9 at dawn, said “Zoë”"
OTHER = "the tram of line 7 is late again"
STARTER = str(paths.resource("models/starter-bert"))
TEMPLATE = (
    "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}"
    "{{ text }} => {{ label }}"
)


@pytest.fixture
def ids(add_layer, add_documents):
    add_layer("topic")
    rows = [(TEXT, "train", "submitted", "topic", "praise")]
    rows += [(f"{OTHER} {n}", "train", "submitted", "topic", "complaint") for n in range(2)]
    rows += [(f"{OTHER} {n}", "dev", "submitted", "topic", "praise") for n in (3, 4)]
    return add_documents(rows)


@pytest.fixture
def used(project, queue, ids):
    """The first document was adapted to, was an example of a failed prompt, and was logged."""
    run = train.start(
        project, queue,
        TrainSpec("classify", "topic", STARTER, options={"adapt_epochs": 1}, name="adapted"),
    )  # fmt: skip
    folder = paths.run_folder(project.path, run.id)
    queue.jobs[-1].spec.write(folder / "job.json")
    (folder / "log.txt").write_text(f"too long: {TEXT[:30]}…\nsaved\n")
    (folder / "result.json").write_text(json.dumps({"status": "done", "sample": TEXT}))
    (folder / "model").mkdir()
    (folder / "model" / "vocabulary.json").write_text(json.dumps([f"{MARKER} flew over", "tram"]))
    asked = prompt.run(
        project, queue,
        PromptSpec(TEMPLATE, model=STARTER, model_name="starter", shots=3, name="asked"),
    )  # fmt: skip
    with project.write():
        for item in (run, asked):
            runs.update(project.db, item.id, status="failed", result={"sample": TEXT, "n": 1})
        replies.save(project.db, {"k1": json.dumps({"replies": [TEXT]}), "k2": '{"replies": []}'})
    with project.edit(f"Label all occurrences of {TEXT.splitlines()[0]}"):
        notes.set_note(project, ids[1], "like the other one")


def run_files_with(project, word):
    """Names of the files of the project and its runs that have the word, in any case."""
    found = (path for path in project.path.parent.rglob("*") if path.is_file())
    return sorted(path.name for path in found if word.lower().encode() in path.read_bytes().lower())


@pytest.mark.process  # the worker that renders templates
def test_no_file_but_the_vocabulary_of_a_model_has_the_text_afterwards(project, ids, used):
    prompts = next(project.runs_folder.rglob("prompts.jsonl"))
    texts = project.runs_folder.glob("data/*.txt")
    adapted = next(path for path in texts if MARKER in path.read_text())
    before = [json.loads(line) for line in prompts.read_text().splitlines()]
    assert len(run_files_with(project, MARKER)) >= 7

    found = removal.preview(project, ids[:1])
    done = removal.remove(project, ids[:1])

    assert run_files_with(project, MARKER) == ["vocabulary.json"]
    assert run_files_with(project, "the quay of line 9") == []
    warning = removal.warning(found)
    assert "Runs trained on the documents: adapted." in warning
    assert str(found.models[0]) in warning and found.models[0].name == "vocabulary.json"
    assert done.files == len(found.files) >= 5 and done.left == ()
    assert f"{OTHER} 1" in adapted.read_text()
    after = [json.loads(line) for line in prompts.read_text().splitlines()]
    assert [line["document_id"] for line in after] == [line["document_id"] for line in before]
    assert any("[removed]" in part for line in after for part in line["parts"])
    assert (
        json.loads(next(project.runs_folder.rglob("result.json")).read_text())["status"] == "done"
    )
    assert runs.all(project.db)[0].result == {"sample": "[removed]", "n": 1}
    assert list(replies.get(project.db, ["k1", "k2"])) == ["k2"]
    assert any("[removed]" in step.title for step in project.history())
    assert check_open(project) == []


def test_what_others_wrote_about_the_text_is_counted_and_kept(project, ids):
    notes.set_note(project, ids[2], f"compare with: {TEXT}")

    warning = removal.warning(removal.preview(project, ids[:1]))
    removal.remove(project, ids[:1])

    assert warning.endswith(
        "1 note, prompt, word list, filter or guideline contains text of the documents and is kept."
    )
    assert TEXT in notes.of_document(project, ids[2]).note()


def test_nothing_is_removed_while_a_run_is_not_finished(project, queue, ids):
    train.start(project, queue, TrainSpec("classify", "topic", STARTER, name="second"))

    with pytest.raises(ProjectBusy, match="A run of the project is not finished"):
        removal.remove(project, ids[:1])

    assert documents.get(project.db, ids[0]).text == TEXT and Path(STARTER).is_dir()
