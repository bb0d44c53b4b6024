"""Main scores of systems over several layers, and their unweighted mean."""

import csv
import io

import pytest

from tests.compared import project_with_runs
from tests.operations.test_number_runs import GOLD
from workbench.base.errors import WorkbenchError
from workbench.operations.evaluation import board_average
from workbench.operations.evaluation.board_average import (
    AverageCell,
    AverageSystem,
    LayerScore,
    average,
)
from workbench.operations.runs import results, run_list
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Number, Prediction
from workbench.text.labels import SCORE

MADE_FROM = "starter-bert"


@pytest.fixture
def compared(tmp_path):
    """Layer "topic" with three runs, of which two are one system, and "rating" with one."""
    project = Project.open(project_with_runs(tmp_path / "c.glossbench"))
    rated(project)
    yield project
    project.close()


def rated(project):
    layer = labels.add_layer(project, "rating", SCORE.id)
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
    spec = {"task": "regress", "layer": "rating", "model_name": MADE_FROM}
    with project.write():
        run = runs.add(project.db, "stars", "train", layer_id=layer, spec=spec, status="done")
    rows = [
        (item.document.id, item.document.text_hash, Prediction((Number(value),)).to_json())
        for item, value in zip(results.scored(project, run, "dev"), GOLD, strict=True)
    ]
    with project.write():
        runs.save_predictions(project.db, run.id, rows)


def test_a_system_has_the_mean_over_its_runs_and_the_average_over_layers(compared):
    found = average(compared, ("topic", "rating"))

    assert [(item.layer, item.score, item.n) for item in found.layers] == [
        ("topic", "macro_f1", 12),
        ("rating", "pearson", 4),
    ]
    best, baseline = found.systems
    topic = best.cells["topic"]
    assert (best.name, topic.runs) == (MADE_FROM, ("first", "second"))
    assert topic.value == pytest.approx((10 / 12 + 8 / 12) / 2, abs=0.01)  # accuracies nearly
    assert best.cells["rating"] == AverageCell(pytest.approx(1.0), None, ("stars",))
    assert best.average == pytest.approx((topic.value + 1.0) / 2)
    assert baseline.average is None and "rating" not in baseline.cells


def test_groups_of_runs_are_systems_of_their_own(compared):
    run_list.set_group(compared, (runs.by_name(compared.db, "first").id,), "tuned")

    found = average(compared, ("topic", "rating")).systems

    assert {(system.name, system.kind) for system in found} == {
        ("tuned", ""),
        (MADE_FROM, "train"),
        (MADE_FROM, "baseline"),
    }


def test_the_published_average_of_glue_is_that_of_its_nine_columns():
    # BERT-base, Devlin et al. 2018, table 1: MNLI-m and -mm are separate
    scores = (84.6, 83.4, 71.2, 90.5, 93.5, 52.1, 85.8, 88.9, 66.4)
    columns = [LayerScore(str(n), "accuracy", 1, "") for n in range(9)]
    row = {str(n): [("run", score / 100)] for n, score in enumerate(scores)}

    found = board_average._averaged("BERT-base", "train", row, columns)

    assert board_average.average_text(found) == "79.6"


def test_errors_have_no_common_scale(compared):
    columns = [LayerScore("a", "accuracy", 3, ""), LayerScore("b", "mae", 3, "")]
    row = {"a": [("x", 0.5)], "b": [("y", 0.25)]}

    system = board_average._averaged("s", "train", row, columns)

    found = board_average.Average("dev", "", tuple(columns), (system,))
    assert system.average is None and "layer b is an error" in board_average.notes(found)[0]
    assert board_average.cell_text(found, system, columns[1]) == "0.250"


def test_tables_have_a_column_for_each_layer(compared):
    found = average(compared, ("topic", "rating"))

    (first, second) = csv.DictReader(io.StringIO(board_average.to_csv(found)))
    assert float(first["rating"]) == pytest.approx(1.0) and first["topic_runs"] == "2"
    assert second["average"] == "" and second["rating_runs"] == "0"
    lines = board_average.to_markdown(found).split("\n")
    assert lines[0].startswith("| System | Kind | topic, ") and lines[0].endswith(" | Average |")
    assert " ± " in lines[2] and "rating: 4 documents" in board_average.to_markdown(found)


def test_one_layer_has_no_average(compared):
    with pytest.raises(WorkbenchError, match="at least two layers") as caught:
        average(compared, ("topic", "topic"))

    assert "rating, topic" in caught.value.hint
    assert AverageSystem("x", "train", {}, None).average is None
