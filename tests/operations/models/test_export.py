"""What an export of a run takes from the project: facts for the card, and stored predictions."""

import json
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.operations.models import export
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction


@pytest.fixture
def project(tmp_path):
    """Two dev documents, and a run that has stored a prediction for the first."""
    project = Project.create(tmp_path / "small.glossbench")
    layer = labels.add_layer(project, "class", "class", labels=("good", "bad"))
    with project.edit("Add documents"):
        records = [
            Record(Document(f"k{n}", (("text", f"Text {n}"),), split="dev")) for n in range(2)
        ]
        documents.add(project.db, records, source_id=project.source("person"))
    used = {"train": 8, "dev": 2, "test": 5}
    spec = {"task": "classify", "layer": "class", "model": "m", "seed": 1, "plan": {"used": used}}
    scores = {"dev": {"accuracy": 0.5}, "test": {"accuracy": 0.25}}
    with project.write():
        values = {"layer_id": layer, "spec": spec, "status": "done", "scores": scores}
        run = runs.add(project.db, "first", "train", **values)
        first = next(iter(documents.records(project.db))).document
        scored = Prediction((ClassScores(("good", "bad"), (0.75, 0.25)),))
        runs.save_predictions(project.db, run.id, [(first.id, first.asked_hash, scored.to_json())])
    model = paths.run_folder(project.path, run.id) / "model"
    model.mkdir(parents=True)
    (model / "glossbench.json").write_text("{}")
    yield project
    project.close()


def test_test_documents_and_scores_count_only_once_they_were_viewed(project):
    (run,) = runs.all(project.db)
    facts = export.facts(project, run)
    assert (facts["counts"], list(facts["scores"])) == ({"train": 8, "dev": 2}, ["dev"])

    with project.write():
        runs.update(project.db, run.id, seen_test=1)
    facts = export.facts(project, runs.get(project.db, run.id))
    assert facts["counts"]["test"] == 5 and list(facts["scores"]) == ["dev", "test"]


def test_the_stored_predictions_of_the_run_go_to_the_check(project, queue, tmp_path):
    (run,) = runs.all(project.db)

    lines = []

    def worker(job):
        lines.extend(Path(job.spec.params["predictions"]).read_text().splitlines())
        job.end()

    queue.worker = worker
    export.export_run(project, queue, run, tmp_path / "out", ("hf",))

    (line,) = lines
    assert json.loads(line)["prediction"]["scores"] == {"good": 0.75, "bad": 0.25}
    assert not Path(queue.jobs[0].spec.folder).exists()
