"""The Grid tab in a window: finished prompt runs, stored by hand, and cells that were not run."""

import json
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit

from tests.prompt_runs import add_prompt_run
from workbench.base.errors import SpecError
from workbench.operations.experiments import prompt_grid
from workbench.operations.experiments.prompt_grid import GridSpec
from workbench.operations.people import people
from workbench.operations.runs import results
from workbench.project.project import Project
from workbench.prompting.spec import PromptSpec
from workbench.storage.documents import documents
from workbench.storage.staging.record_writer import RecordWriter
from workbench.ui.panels.prompts.grid_state import numbers
from workbench.ui.panels.prompts.grid_tab import RowsDialog

pytestmark = pytest.mark.process  # the worker that renders templates
BERT = {
    "model": "starter-bert",
    "model_name": "starter-bert",
    "prompt_name": "few",
    "prompt_version": 1,
}


@pytest.fixture
def panel(make_panel, copy_sample, tmp_path, qtbot):
    """Two finished runs of one seed: none and two examples."""
    path = copy_sample(tmp_path)
    with closing(Project.open(path)) as project:
        add_prompt_run(project, "zero", wrong=range(20), shots=0, **BERT)
        add_prompt_run(project, "two", wrong=range(8), silent=(9,), shots=2, **BERT)
    made = make_panel("prompts", path)
    qtbot.waitUntil(lambda: made.state.preview.prompt is not None, timeout=20_000)
    made.state.show("grid")
    return made


@pytest.fixture
def grid(panel, qtbot):
    """The tab with the finished runs as rows."""
    panel.state.grid.add_runs()
    qtbot.waitUntil(lambda: panel.state.grid.result is not None, timeout=30_000)
    return panel.view.tab("grid")


def cells(table):
    model = table.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_finished_runs_on_a_sample_bring_its_size_to_an_empty_grid(
    make_panel, copy_sample, tmp_path, qtbot
):
    path = copy_sample(tmp_path)
    with closing(Project.open(path)) as project:
        add_prompt_run(project, "zero", shots=0, sample=20, **BERT)
    grid = make_panel("prompts", path).state.grid

    grid.add_runs()
    qtbot.waitUntil(lambda: grid.result is not None, timeout=30_000)

    assert grid.spec.sample == 20
    assert [cell.status for cell in grid.cells] == ["done"]


def test_an_empty_grid_offers_rows_and_finished_runs(panel):
    tab = panel.view.tab("grid")

    assert tab._pages.currentIndex() == 0 and not tab._start.isVisible()


def test_finished_runs_are_rows_with_score_and_interval(grid, panel):
    by_shots = {row[2]: row for row in cells(grid.table)}

    assert set(by_shots) == {"0", "2"}
    score, _space, bounds = by_shots["2"][3].partition("  ")
    assert 80 < float(score) < 90 and "–" in bounds
    assert grid._verdict.isVisible() and "best now" in grid._verdict.text()
    assert [len(line.x) for line in grid.chart.series] == [2]  # one line over 0 and 2 shots
    assert grid._start.text().strip() == "Run 2 missing cells"  # seeds 2 and 3 of two examples
    assert grid.chart.series[0].x[0] < grid.chart.series[0].x[1]


def test_enter_on_a_row_shows_its_answers_beside_the_best_other(grid, panel, qtbot):
    grid.table.choose({next(row.group for row in grid.table.rows() if row.spec.shots)})
    qtbot.keyClick(grid.table, Qt.Key.Key_Return)

    qtbot.waitUntil(lambda: panel.state.answers.comparison is not None, timeout=10_000)
    assert panel.state.tab == "answers"
    names = [answered.run.name for answered in panel.state.answers.comparison.runs]
    assert names == ["two", "zero"]


def test_the_prompt_that_is_edited_becomes_a_row_and_stays_after_a_restart(panel, qtbot):
    panel.view.add_to_grid()
    state = panel.state.grid
    qtbot.waitUntil(lambda: state.work is not None, timeout=10_000)

    assert [row.spec.shots for row in state.grid_rows] == [6] and state.missing == 3
    assert len(prompt_grid.last(panel.state.project, "class").prompts) == 1
    (row,) = panel.view.tab("grid").table.rows()
    assert panel.view.tab("grid")._status(row) == "not run yet"


def test_a_row_is_added_to_the_last_grid_before_the_tab_was_shown(
    make_panel, copy_sample, tmp_path, qtbot
):
    path = copy_sample(tmp_path)
    with closing(Project.open(path)) as project:
        row = PromptSpec(template="{{ text }} {{ label }}", shots=1, layer="class", **BERT)
        prompt_grid.keep(project, GridSpec("class", (row,), (1,)))
    panel = make_panel("prompts", path)
    qtbot.waitUntil(lambda: panel.state.preview.prompt is not None, timeout=20_000)

    panel.view.add_to_grid()

    qtbot.waitUntil(lambda: len(panel.state.grid.grid_rows) == 2, timeout=10_000)
    assert [prompt.shots for prompt in prompt_grid.last(panel.state.project).prompts] == [1, 6]


def test_another_layer_has_a_grid_of_its_own(grid, panel, qtbot):
    layers = [name for name, _count in panel.state.draft.layers]
    other = next(name for name in layers if name != "class")

    panel.state.prompt.choose_layer(other)
    assert panel.state.grid.grid_rows == () and grid._pages.currentIndex() == 0

    panel.state.prompt.choose_layer("class")
    qtbot.waitUntil(lambda: len(panel.state.grid.grid_rows) == 2, timeout=10_000)


def test_rows_are_added_for_each_model_and_number_and_removed_by_delete(panel, qtbot):
    dialog = RowsDialog(panel.view, panel.state.grid)
    qtbot.addWidget(dialog)
    boxes = {box.accessibleName(): box for box in dialog.findChildren(QCheckBox)}
    boxes["starter-gpt (causal)"].setChecked(True)
    dialog._shots.setText("0, 4")
    assert dialog._count.text() == "4 rows"
    dialog._accept()
    state, table = panel.state.grid, panel.view.tab("grid").table
    qtbot.waitUntil(lambda: len(state.grid_rows) == 4, timeout=10_000)

    table.choose({table.rows()[0].group})
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: len(state.grid_rows) == 3, timeout=10_000)


def test_the_selection_of_examples_is_named_where_rows_differ_in_it(grid, panel, qtbot):
    panel.state.grid.add_all(["starter-bert"], ["random"], "2")
    qtbot.waitUntil(lambda: len(panel.state.grid.grid_rows) == 3, timeout=10_000)

    assert {row[2] for row in cells(grid.table)} == {"0", "2, balanced", "2, at random"}


def test_numbers_that_cannot_be_read_are_refused(panel, qtbot):
    dialog = RowsDialog(panel.view, panel.state.grid)
    qtbot.addWidget(dialog)
    dialog.findChild(QLineEdit).setText("0, many")
    dialog._accept()

    assert "no list of whole numbers" in dialog._field.error()
    assert numbers(" 0,2  4,2", 64) == (0, 2, 4)
    with pytest.raises(SpecError, match="0 to 64"):
        numbers("65", 64)


def test_other_seeds_make_other_cells(grid, panel, qtbot):
    grid._seeds.setText("1")
    grid._seeds.editingFinished.emit()

    qtbot.waitUntil(lambda: panel.state.grid.missing == 0, timeout=10_000)
    assert not grid._start.isEnabled()


def test_the_table_is_saved_as_csv_and_json(grid, panel, tmp_path):
    panel.state.grid.save_table(tmp_path / "grid.csv")
    panel.state.grid.save_table(tmp_path / "grid.json")

    head, *rows = (tmp_path / "grid.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("prompt,model,shots") and len(rows) == 2
    assert json.loads((tmp_path / "grid.json").read_text())["verdict"]["sentence"]


def test_what_people_score_against_each_other_is_a_line_in_the_plot(
    make_panel, copy_sample, tmp_path, qtbot
):
    path = copy_sample(tmp_path)
    with closing(Project.open(path)) as project:
        add_prompt_run(project, "zero", wrong=range(20), shots=0, **BERT)
        second = people.add(project, "Ben").id
        layer = next(run.layer for run in results.all_runs(project))
        records = [*documents.records(project.db, layers=[layer], submitted_in=layer)][:40]
        with project.edit("Labels of Ben"):
            writer = RecordWriter(project.db, project.source("import"), second)
            writer.write_labels([(record.document.id, record) for record in records])
    made = make_panel("prompts", path)
    qtbot.waitUntil(lambda: made.state.preview.prompt is not None, timeout=20_000)
    made.state.show("grid")
    made.state.grid.add_runs()
    qtbot.waitUntil(lambda: made.state.grid.result is not None, timeout=30_000)

    tab = made.view.tab("grid")

    assert made.state.grid.ceiling == 1.0  # Ben labelled as the first person did
    assert tab.chart.level == (100.0, "human ceiling 100.0")
    assert "40 documents" in made.state.grid.ceiling_text
