"""Runs that predict numbers: errors by size, gold from predictions, suggestions, board, export."""

import json

import pytest

from workbench.operations.annotation import document_view, suggest
from workbench.operations.evaluation import board, errors
from workbench.operations.runs import results
from workbench.operations.schema import labels
from workbench.operations.transfer import data_export
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Number, Prediction
from workbench.text.labels import SCORE

GOLD = (1.0, 2.0, 3.0, 5.0)
PREDICTED = {"close": (1.2, 2.04, 2.5, 4.0), "far": (5.0, 3.0, 2.0, 1.0)}


@pytest.fixture
def rated(project):
    """A layer "rating" from 0 to 5 in steps of 0.5, four documents in dev and two runs."""
    scale = {"minimum": 0.0, "maximum": 5.0, "step": 0.5}
    layer = labels.add_layer(project, "rating", SCORE.id, options=scale)
    with project.edit("documents"):
        records = [
            Record(
                Document(f"d{n}", (("text", f"a tram {n}"),), "dev"),
                {"rating": "submitted"},
                numbers={"rating": value},
            )
            for n, value in enumerate(GOLD)
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    for name, numbers in PREDICTED.items():
        _add_run(project, layer, name, numbers)
    return project, layer


def _add_run(project, layer, name, numbers):
    spec = {"task": "regress", "layer": "rating", "model_name": "starter-bert"}
    with project.write():
        run = runs.add(project.db, name, "train", layer_id=layer, spec=spec, status="done")
    rows = [
        (item.document.id, item.document.text_hash, Prediction((Number(number),)).to_json())
        for item, number in zip(results.scored(project, run, "dev"), numbers, strict=True)
    ]
    with project.write():
        runs.save_predictions(project.db, run.id, rows)


def test_errors_are_listed_by_size_and_a_prediction_becomes_gold(rated):
    project, layer = rated
    run = results.run_named(project, "close")
    found = errors.arranged(
        errors.items(project, run, "dev"), errors.ErrorFilters(sort=errors.LOSS)
    )
    assert [(item.key, item.mistake.predicted) for item in found] == [
        ("d3", "4"), ("d2", "2.5"), ("d0", "1.2"),
    ]  # fmt: skip

    errors.accept(project, run, found[2])
    row = document_view.view(project, found[2].document_id).marks[0]
    assert (row.value, row.source_kind) == (1.0, "run")  # the nearest step
    project.undo()
    assert document_view.view(project, found[2].document_id).value(layer) == 1.0


def test_the_board_puts_the_smallest_error_first(rated):
    project, _layer = rated
    found = board.board(project, layer="rating", split="dev")

    assert [item.run.name for item in found.sorted_by("mae")] == ["close", "far"]
    assert [item.run.name for item in found.sorted_by("pearson")] == ["close", "far"]
    assert found.sorted_by("mae")[0].value("mae") == pytest.approx(0.435)


def test_suggestions_are_on_the_steps_of_the_scale(rated):
    project, _layer = rated
    layer = labels.layers(project)[0]
    record = next(documents.records(project.db))
    run = results.run_named(project, "close")
    (row,) = suggest.rows_of(project, run, layer, record, Prediction((Number(7.3),)))
    assert (row.label_id, row.value) == (None, 5.0)
    assert tasks.fitting(layer)[0].id == "regress"


def test_predicted_numbers_are_exported_beside_gold(rated, tmp_path):
    project, _layer = rated
    path = tmp_path / "out.jsonl"
    run = results.run_named(project, "close")
    data_export.export_data(project, path, format="glossbench", source="both", run=run)

    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert lines[0]["numbers"] == {"rating": 1.0, "rating (close)": 1.2}
