"""A project with runs, a baseline and a prompt whose predictions on dev are written by hand."""

from contextlib import closing

from workbench.operations.runs import results
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction

NAMES = ("complaint", "praise")
TEXTS = ("the tram is late again", "thank you driver", "a broken lift at the north gate")
WRONG = {"first": (0, 1), "second": (0, 3, 4, 5), "majority": tuple(range(0, 12, 2))}
KINDS = {"majority": "baseline"}


def project_with_runs(path):
    """Layer "topic", 12 documents in dev; run "partial" has no prediction of the first two."""
    with closing(Project.create(path)) as project:
        with project.edit("labels"):
            layer = labels.add_layer(project.db, "topic", "class")
            for name in NAMES:
                labels.add_label(project.db, layer, name)
        with project.edit("documents"):
            documents.add(
                project.db,
                [
                    Record(
                        Document(f"k{at}", (("text", f"{TEXTS[at % 3]} {at}"),), "dev"),
                        {"topic": "submitted"},
                        {"topic": (NAMES[at % 2],)},
                        {},
                    )
                    for at in range(12)
                ],
                source_id=project.source("import"),
            )
        for seed, (name, wrong) in enumerate({**WRONG, "partial": ()}.items()):
            _add(project, name, wrong, seed, skip=(0, 1) if name == "partial" else ())
    return path


def _add(project, name, wrong, seed, skip):
    layer = labels.layer_by_name(project.db, "topic")
    spec = {"task": "classify", "layer": "topic", "seed": seed, "model_name": "starter-bert"}
    with project.write():
        run = runs.add(
            project.db,
            name,
            KINDS.get(name, "train"),
            layer_id=layer.id,
            spec=spec,
            status="done",
            result={"seconds": 2.5 + seed, "predicting": {"documents": 12, "cpu_seconds": 0.24}},
        )
    rows = []
    for at, item in enumerate(results.scored(project, run, "dev")):
        gold = item.gold.label
        label = next(other for other in NAMES if (other == gold) != (at in wrong))
        scores = tuple(0.9 if other == label else 0.1 for other in NAMES)
        answer = Prediction((ClassScores(NAMES, scores),)).to_json()
        if at not in skip:
            rows.append((item.document.id, item.document.text_hash, answer))
    with project.write():
        runs.save_predictions(project.db, run.id, rows)
