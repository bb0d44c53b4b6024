"""File ▸ Assign documents: who gets which, and a file for each person."""

from contextlib import closing

import pytest
from PySide6.QtCore import Qt

from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.dialogs.assign import Assign
from workbench.ui.dialogs.assign_state import HAND, QUERY


@pytest.fixture
def dialog(app, project_file, qtbot):
    """For three people and 23 documents, 10 of them with metadata."""
    people.introduce(app.settings, {"name": "Ada"})
    with closing(Project.open(project_file)) as project:
        for name in ("Ben", "Cleo"):
            people.add(project, name)
        labels.add_layer(project, "links", "relation", labels=["met"])
        records = [
            Record(
                Document(
                    f"m{n}",
                    (("text", f"Text {n}"),),
                    "test" if n < 5 else None,
                    meta={"source": ("mail", "chat")[n % 2]} if n < 10 else {},
                )
            )
            for n in range(20)
        ]
        with project.edit("Import"):
            documents.add(project.db, records, source_id=project.source("import"))
    app.open_project(project_file)
    dialog = Assign(app)
    qtbot.addWidget(dialog)
    dialog.show()
    planned(dialog, qtbot, 23)
    yield dialog
    qtbot.waitUntil(lambda: not dialog.state.title, timeout=30_000)
    dialog.state.close()


def planned(dialog, qtbot, n):
    """Wait until the plan has n documents; returns the documents of each person."""
    state = dialog.state
    qtbot.waitUntil(
        lambda: state.plan is not None and sum(len(unit.ids) for unit in state.plan.units) == n,
        timeout=20_000,
    )
    qtbot.wait(50)  # the next one that is on its way
    return {p.name: len(state.plan.parts.get(p.id, ())) for p in state.receivers}


def test_files_are_written_for_people_with_the_chosen_overlap(dialog, app, qtbot, tmp_path):
    dialog.folder.setText(str(tmp_path / "out"))
    dialog.every.setValue(10)
    qtbot.waitUntil(lambda: dialog.state.plan.by_number[3] == 2)
    assert dialog.state.plan.by_number == {1: 16, 2: 5, 3: 2}  # 20% and 10% of 23, rounded
    counts = planned(dialog, qtbot, 23)
    assert sum(counts.values()) == 16 + 2 * 5 + 3 * 2 and max(counts.values()) <= 11
    dialog._blind.setChecked(True)
    (box,) = dialog.context
    assert box.text() == "Gold of spans as context"
    box.setChecked(True)

    qtbot.mouseClick(dialog.write, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.state.over, timeout=60_000)

    files = sorted((tmp_path / "out").glob("*.glossbench"))
    assert [file.stem for file in files] == ["small-Ada", "small-Ben", "small-Cleo"]
    with closing(Project.open(files[1])) as ben:
        assert ben.annotator_name == "Ben" and people.is_blind(ben)
        assert [x.name for x in labels.layers(ben) if x.is_read_only] == ["spans"]
        assert len(documents.splits(ben.db)) == counts["Ben"]
    rows = {row.person.name: row.assigned for row in people.overview(app.project)}
    assert rows == counts
    app.undo()
    assert {row.assigned for row in people.overview(app.project)} == {0}


def test_documents_are_chosen_by_query_split_and_selection(dialog, app, qtbot):
    def which(value):
        dialog.which.setCurrentIndex(dialog.which.findData(value))
        dialog.which.activated.emit(dialog.which.currentIndex())

    which("test")
    planned(dialog, qtbot, 5)
    which(QUERY)
    dialog.query.setText("meta.source:mail")
    planned(dialog, qtbot, 5)
    dialog.query.setText("meta.source:")
    qtbot.waitUntil(lambda: bool(dialog.state.problem))
    assert not dialog.write.isEnabled()

    app.project.select((1, 2))
    again = Assign(app)
    qtbot.addWidget(again)
    again.which.setCurrentIndex(1)
    again.which.activated.emit(1)
    planned(again, qtbot, 2)
    again.state.close()


def test_documents_of_one_value_stay_together_and_can_be_moved(dialog, qtbot):
    qtbot.mouseClick(dialog.way.button("field"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(len(unit.ids) == 5 for unit in dialog.state.units))
    (mail,) = [unit for unit in dialog.state.units if unit.name == "mail"]
    ben = people.named(dialog.state.project, "Ben").id

    dialog.state.toggle([mail], ben)

    def people_of_mail():
        return next(unit.people for unit in dialog.state.units if unit.name == "mail")

    qtbot.waitUntil(lambda: people_of_mail() == mail.people ^ {ben})


def test_by_hand_a_number_gives_the_chosen_rows_to_a_person(dialog, qtbot):
    qtbot.mouseClick(dialog.way.button(HAND), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.units is not None and len(dialog.units.rows()) == 23)
    dialog.units.selectAll()
    dialog.units.setFocus()

    qtbot.keyClick(dialog.units, Qt.Key.Key_3)

    cleo = people.named(dialog.state.project, "Cleo").id
    qtbot.waitUntil(lambda: len(dialog.state.plan.parts[cleo]) == 23)
    qtbot.keyClick(dialog.units, Qt.Key.Key_3)
    qtbot.waitUntil(lambda: cleo not in dialog.state.plan.parts)
    assert dialog.state.can_write


def test_nobody_and_too_large_shares_are_refused(dialog, qtbot):
    dialog.pair.setValue(60)
    dialog.every.setValue(50)
    qtbot.waitUntil(lambda: "exceed 100%" in dialog.state.problem)
    for person in dialog.state.people:
        dialog.state.include(person.id, False)
    assert dialog.state.problem == "Choose people." and not dialog.write.isEnabled()
