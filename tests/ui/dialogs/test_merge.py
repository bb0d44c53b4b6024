"""File ▸ Merge: a preview of another project file, and one step that can be undone."""

from contextlib import closing

import pytest
from PySide6.QtWidgets import QComboBox

from workbench.operations.annotation import annotate
from workbench.operations.people import hand_out, people
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.ui.dialogs.merge import Merge


@pytest.fixture
def other(project_file, tmp_path):
    """A file that was handed out to Ben, who labelled two documents."""
    path = tmp_path / "ben.glossbench"
    with closing(Project.open(project_file)) as project:
        ben = people.add(project, "Ben")
        hand_out.hand_out(project, {ben.id: [1, 2, 3]}, {ben.id: path})
    with closing(Project.open(path)) as project:
        layer = labels.layer_named(project, "class")
        for id in (1, 2):
            annotate.set_class(project, id, layer.label("good").id)
            annotate.submit(project, id, [layer.id])
    return path


@pytest.fixture
def dialog(app, qtbot, project_file, other):
    app.open_project(project_file)
    dialog = Merge(app)
    qtbot.addWidget(dialog)
    yield dialog
    qtbot.waitUntil(lambda: not dialog.state.title, timeout=30_000)
    dialog.state.close()


def test_a_file_is_previewed_merged_and_undone(dialog, app, other, qtbot, monkeypatch):
    choose = "workbench.ui.dialogs.merge.QFileDialog.getOpenFileName"
    monkeypatch.setattr(choose, lambda *_: (str(other), ""))
    dialog.show()
    assert not dialog._merge.isEnabled()

    dialog._choose.click()
    qtbot.waitUntil(lambda: dialog.state.preview is not None, timeout=30_000)
    (row,) = dialog.table.rows()
    assert (row.name, row.new) == ("Ben", 2)
    assert [n for _title, n, _tip in dialog.state.matches] == [3, 0, 0, 0, 0]
    assert dialog.focusWidget() is dialog._merge
    dialog._merge.click()
    qtbot.waitUntil(lambda: dialog.state.over, timeout=30_000)

    def submitted():
        return {row.person.name: row.submitted for row in people.overview(app.project)}["Ben"]

    assert submitted() == 2
    app.undo()
    qtbot.waitUntil(lambda: submitted() == 0)


def test_a_file_that_is_no_project_is_refused(dialog, tmp_path, qtbot):
    path = tmp_path / "x.glossbench"
    path.write_text("no project", encoding="utf-8")

    dialog.state.read(path)
    qtbot.waitUntil(lambda: bool(dialog.state.fault), timeout=30_000)

    assert not dialog._merge.isEnabled()


def test_the_dialog_is_as_low_as_before_when_the_next_file_is_refused(
    dialog, other, tmp_path, qtbot
):
    dialog.show()
    dialog.state.read(other)
    qtbot.waitUntil(lambda: dialog.state.preview is not None, timeout=30_000)
    qtbot.waitUntil(lambda: dialog.table.isVisible())
    tall = dialog.height()
    dialog.state.read(tmp_path / "missing.glossbench")
    qtbot.waitUntil(lambda: bool(dialog.state.fault), timeout=30_000)

    qtbot.waitUntil(lambda: dialog.height() < tall - dialog.table.minimumHeight())


def test_labels_and_people_that_are_not_here_are_mapped(dialog, app, other, qtbot):
    with closing(Project.open(other)) as project:
        layer = labels.layer_named(project, "class")
        fine = labels.add_label(project, layer.id, "fine")
        annotate.set_class(project, 3, fine)
        annotate.submit(project, 3, [layer.id])
    dialog.state.read(other)
    qtbot.waitUntil(lambda: bool(dialog.state.mappings), timeout=30_000)
    (mapping,) = dialog.state.mappings
    assert mapping.title == "Label class/fine" and mapping.names == ("good", "bad")
    assert "New labels: class/fine" in dialog._sentences.text()
    dialog.show()
    (box,) = (b for b in dialog.findChildren(QComboBox) if b.accessibleName() == mapping.title)

    box.setCurrentText("good")
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: dialog.state.preview.labels == (), timeout=30_000)
    assert dialog.state.mappings[0].chosen == "good"
    qtbot.waitUntil(lambda: dialog.state.can_merge, timeout=30_000)
    dialog._merge.click()
    qtbot.waitUntil(lambda: dialog.state.over, timeout=30_000)

    assert labels.layer_named(app.project, "class").names == ("good", "bad")
    ben = people.named(app.project, "Ben")
    with app.project.db.labels_of(ben.id):
        (record,) = documents.records(app.project.db, ids=[3])
    assert record.marks["class"] == ("good",)
