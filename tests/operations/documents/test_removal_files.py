"""Texts of permanently removed documents leave prompts, logs, results and titles."""

import json
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import ProjectBusy
from workbench.operations.documents import notes, removal
from workbench.operations.prompts import prompt
from workbench.operations.prompts.prompt_fill import PromptSpec
from workbench.operations.runs import train
from workbench.project.check import check_open
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.training.spec import TrainSpec

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
    with project.edit(f"Label all occurrences of {TEXT.splitlines()[0]}"):
        notes.set_note(project, ids[1], "like the other one")


def files_with(project, word):
    """Names of the files of the project and its runs that have the word, in any case."""
    found = (path for path in project.path.parent.rglob("*") if path.is_file())
    return sorted(path.name for path in found if word.lower().encode() in path.read_bytes().lower())


@pytest.mark.process  # the worker that renders templates
def test_no_file_but_the_vocabulary_of_a_model_has_the_text_afterwards(project, ids, used):
    prompts = next(project.runs_folder.rglob("prompts.jsonl"))
    texts = project.runs_folder.glob("data/*.txt")
    adapted = next(path for path in texts if MARKER in path.read_text())
    before = [json.loads(line) for line in prompts.read_text().splitlines()]
    assert len(files_with(project, MARKER)) >= 7

    found = removal.preview(project, ids[:1])
    done = removal.remove(project, ids[:1])

    assert files_with(project, MARKER) == ["vocabulary.json"]
    assert files_with(project, "the quay of line 9") == []
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
