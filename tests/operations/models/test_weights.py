"""The table of what smaller weights cost: measured once, kept with the run, told in words."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.exporters.model.weights import WeightsRow, WeightsTable
from workbench.metrics.evaluation import Measured
from workbench.operations.models import weights
from workbench.text import dataset
from workbench.text.columns import TERMINAL, record, titled

FULL = WeightsRow("fp32", 91_500_000, 9.0, 4.8, 1842, 1842, Measured(0.886, 0.87, 0.901))
EIGHT = WeightsRow(
    "int8",
    23_100_000,
    4.0,
    2.0,
    1821,
    1842,
    Measured(0.881, 0.865, 0.897),
    Measured(-0.005, -0.016, 0.004),
    products=41,
    kept=("bert.encoder.layer.0.output.dense",),
)
TABLE = WeightsTable((FULL, EIGHT), "macro_f1", 1842, 2, "2026-11-29T04:00:00Z")


def test_the_sentence_names_speed_size_labels_and_whether_the_score_may_be_chance():
    assert weights.sentence(TABLE) == (
        "8 bit, 40 of 41 products: 2.4 times as fast at 25% of the size. 21 of 1,842 labels "
        "change. The change of the score (-0.5, 95%: -1.6 to +0.4) may be chance."
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"ms_32": 4.7}, "25% of the size, not faster here."),
        ({"equal": 1842}, "All 1,842 labels are the same."),
        ({"change": Measured(-0.02, -0.03, -0.01)}, "(-2.0, 95%: -3.0 to -1.0) is more than"),
        ({"change": Measured(0.0, 0.0, 0.0)}, "The score is the same."),
        (
            {"bytes": 0, "ms_32": None, "problem": "Too large."},
            "no weights with 8 bits: Too large.",
        ),
    ],
)
def test_the_sentence_follows_the_figures(row, expected):
    table = WeightsTable((FULL, WeightsRow(**{**vars(EIGHT), **row})), "macro_f1")

    assert expected in weights.sentence(table)


@pytest.mark.parametrize(
    ("row", "expected"),
    [({"equal": 1824}, True), ({"equal": 1823}, False), ({"equal": 1842, "ms_32": 4.7}, False)],
)
def test_suggestions_are_made_with_weights_that_change_hardly_any_label_and_are_faster(
    row, expected
):
    table = WeightsTable((FULL, WeightsRow(**{**vars(EIGHT), **row})), "macro_f1")

    assert table.suggests is expected
    assert ("Suggestions are made with them." in weights.sentence(table)) is expected


def test_a_table_without_both_rows_has_no_sentence():
    assert weights.sentence(WeightsTable((FULL,), "macro_f1")) == ""


def test_the_columns_are_for_people_and_for_programs():
    columns = weights.columns(TABLE)

    shown = [TERMINAL.cell(column, EIGHT) for column in titled(columns)]
    assert shown == [
        "8 bit, 40 of 41 products",
        "23.1 MB",
        "4.00",
        "2.00",
        "1,821 of 1,842",
        "88.1 (86.5 – 89.7)",
        "-0.5 (-1.6 to +0.4)",
    ]
    values = record(columns, EIGHT)
    assert (values["id"], values["equal"], values["change_low"]) == ("int8", 1821, -0.016)
    assert [TERMINAL.cell(column, FULL) for column in titled(columns)][-1] == "–"


def test_a_table_is_measured_once_and_again_on_request(trained, project, queue):
    jobs = []

    def measured(job):
        texts, others = (
            dataset.read(job.spec.params[name]).records for name in ("texts", "calibration")
        )
        jobs.append(({item.document.split for item in texts}, others[0].document.split))
        job.end(result=TABLE.to_json())

    queue.worker = measured
    first = weights.weights_table(project, queue, trained)
    again = weights.weights_table(project, queue, trained)

    assert first.rows == TABLE.rows and first.at and again == first
    assert weights.stored(project, trained) == first
    assert jobs == [({"dev"}, "train")]
    weights.weights_table(project, queue, trained, again=True)
    assert len(jobs) == 2


def test_a_run_without_gold_on_dev_cannot_be_measured(trained, project, queue):
    from workbench.storage.documents import documents

    with project.edit("Remove the split"):
        ids = documents.ids(project.db, documents.Filter(split="dev"))
        documents.set_split(project.db, ids, None)

    with pytest.raises(WorkbenchError, match="in dev"):
        weights.weights_table(project, queue, trained)
    assert weights.stored(project, trained) is None
