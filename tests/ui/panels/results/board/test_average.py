"""The board of several layers in its dialog."""

from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QFileDialog, QTableView

from tests.compared import project_with_runs
from tests.operations.evaluation.test_board_average import rated
from workbench.project.project import Project
from workbench.ui.panels.results.board.average import AverageDialog, ask_file


@pytest.fixture
def board(make_panel, tmp_path, qtbot):
    path = project_with_runs(tmp_path / "c.glossbench")
    with closing(Project.open(path)) as project:
        rated(project)
    board = make_panel("results", path).state.board
    board.watch(True)
    qtbot.waitUntil(lambda: board.board is not None and not board.busy)
    return board


def test_layers_are_chosen_and_their_mean_is_in_a_column_and_a_file(board, qtbot, tmp_path):
    state = board.average()
    dialog = AverageDialog(None, state)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: state.average is not None and not state.busy)

    table = dialog.findChild(QTableView)
    cells = [table.model().index(0, column).data() for column in range(5)]
    assert cells[:3] == ["starter-bert", "Run", "100.0"] and " ± " in cells[3]
    assert cells[4] == "87.5"  # of 100 and 75
    state.save(tmp_path / "average.csv")
    qtbot.waitUntil((tmp_path / "average.csv").is_file)

    box = next(box for box in dialog.findChildren(QCheckBox) if box.text() == "rating")
    box.click()
    qtbot.waitUntil(lambda: "at least two layers" in state.problem)
    assert table.model().rowCount() == 0 and not dialog._export.isEnabled()
    box.click()
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)
    dialog.reject()


def test_a_run_that_is_deleted_meanwhile_is_no_error(board, qtbot, monkeypatch):
    from workbench.ui.panels.results.board import average_state

    def deleted(*_given, **_named):
        raise KeyError(2)

    failed = []
    monkeypatch.setattr(average_state.board_average, "average", deleted)
    monkeypatch.setattr(type(board.context), "fail", lambda _self, error: failed.append(error))

    state = board.average()
    state.load()
    qtbot.waitUntil(lambda: not state.busy)

    assert failed == [] and state.problem == ""


@pytest.mark.parametrize(
    ("path", "kind", "file"),
    [
        ("/a/b", "Markdown (*.md)", "/a/b.md"),
        ("/a/b.x", "CSV (*.csv)", "/a/b.x.csv"),
        ("/a/b.MD", "CSV (*.csv)", "/a/b.MD"),
        ("", "", None),
    ],
)
def test_a_file_without_the_suffix_of_a_kind_gets_that_of_the_chosen_one(
    monkeypatch, path, kind, file
):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_of: (path, kind))

    chosen = ask_file(None, "board.csv", "CSV (*.csv);;Markdown (*.md)")

    assert chosen == (Path(file) if file else None)
