"""What an export of a run takes from the project: facts for the card, and stored predictions."""

import json
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import ExportFailed
from workbench.operations.models import export
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction
from workbench.text.relations import Relation
from workbench.text.spans import Span


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


def test_a_folder_that_is_not_empty_is_named_before_a_job_starts(project, queue, tmp_path):
    (run,) = runs.all(project.db)
    (tmp_path / "mine.txt").write_text("keep")

    with pytest.raises(ExportFailed, match="is not empty"):
        export.export_run(project, queue, run, tmp_path, ("hf",))

    assert not queue.jobs


def test_spans_that_a_run_connects_go_to_the_check(project):
    labels.add_layer(project, "names", "span", labels=("PER",))
    labels.add_layer(project, "links", "relation", labels=("knows",))
    ada, bob = Span(0, 3, "PER"), Span(8, 11, "PER")
    with project.edit("Add documents"):
        document = Document("r", (("text", "Ada met Bob"),), split="dev")
        record = Record(
            document,
            {"names": "submitted", "links": "submitted"},
            spans={"names": (ada, bob)},
            relations={"links": (Relation("knows", ada, bob),)},
        )
        documents.add(project.db, [record], source_id=project.source("person"))

    records = export.check_records(project, 1, "links")

    (linked,) = [record for record in records if record.document.key == "r"]
    places = [(span.start, span.end, span.label) for span in linked.document.input_spans]
    assert places == [(0, 3, "PER"), (8, 11, "PER")]
    assert len(linked.relations["links"]) == 1


def test_the_card_gets_the_slices_of_dev_that_are_below_the_whole(project):
    """Twelve long texts, all wrong, and twelve short ones, all right."""
    (run,) = runs.all(project.db)
    with project.edit("Add documents"):
        texts = [("Text " * n).strip() for n in (*range(9, 21), *(12 * [2]))]
        records = [
            Record(
                Document(f"d{n}", (("text", text),), split="dev"),
                {"class": "submitted"},
                {"class": ("good",)},
            )
            for n, text in enumerate(texts)
        ]
        ids = documents.add(project.db, records, source_id=project.source("person"))
    right = Prediction((ClassScores(("good", "bad"), (0.75, 0.25)),))
    wrong = Prediction((ClassScores(("good", "bad"), (0.25, 0.75)),))
    with project.write():
        rows = [
            (record.document.id, record.document.asked_hash, (wrong if n < 12 else right).to_json())
            for n, record in enumerate(documents.records(project.db, ids=ids))
        ]
        runs.save_predictions(project.db, run.id, rows)

    table = export.facts(project, run)["slices"]

    assert (table["split"], table["score"], table["n"]) == ("dev", "accuracy", 24)
    assert table["value"] == 0.5
    (row,) = table["rows"]
    assert row["name"].startswith("more than") and row["value"] == 0.0 and row["is_low"]
