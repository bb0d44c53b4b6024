"""Tables of the scores of a run."""

from contextlib import closing

from PySide6.QtCore import Qt

from tests.prompt_runs import add_prompt_run
from workbench.project.project import Project
from workbench.ui.panels.results.runs.details import SchemeRow
from workbench.ui.panels.results.runs.scores import OUTCOMES, span_table
from workbench.ui.widgets.charts.matrix import Matrix


def test_every_outcome_of_spans_can_be_scrolled_to_and_no_row_is_hidden(look, qtbot):
    table = span_table()
    qtbot.addWidget(table)
    outcomes = dict.fromkeys(OUTCOMES, 1)
    schemes = ("strict", "exact", "partial", "type")
    table.set_rows([SchemeRow(scheme, outcomes, 0.5, 0.4, 0.6, "") for scheme in schemes])
    table.fit_height(4)
    table.resize(395, table.height())
    table.show()

    sideways = table.horizontalScrollBar()
    qtbot.waitUntil(sideways.isVisible)
    sideways.setValue(sideways.maximum())
    last = table.visualRect(table.model().index(3, len(OUTCOMES) + 2))
    assert table.viewport().rect().contains(last)


def test_no_answer_is_a_column_of_the_matrix_but_no_row(make_panel, copy_sample, tmp_path, qtbot):
    sample = copy_sample(tmp_path)
    with closing(Project.open(sample)) as project:
        run = add_prompt_run(project, "quiet", wrong=(0,), silent=(1, 2))
    panel = make_panel("results", sample, run=run.id)

    (matrix,) = panel.view.findChildren(Matrix)
    qtbot.waitUntil(lambda: matrix.model().columnCount() == 7)

    cells, across = matrix.model(), Qt.Orientation.Horizontal
    assert cells.rowCount() == 6 and cells.headerData(6, across) == "no answer"
