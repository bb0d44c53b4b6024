"""Two people on two computers: assign, label apart, merge, and read how far they agree."""

import os
from contextlib import closing
from unittest import mock

import pytest
from PySide6.QtCore import Qt

from workbench.base import settings
from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.dialogs.assign import Assign
from workbench.ui.dialogs.merge import Merge
from workbench.ui.widgets.controls.button import Button

ANSWERS = {"Ada": "qqwq", "Ben": "qwwq"}  # keys of the classes, in the order of the documents


@pytest.fixture
def lead(tmp_path):
    """A project of Ada with four documents, in which Ben is too; closed."""
    own = settings.load()
    own.annotator = "Ada"
    own.save()
    path = tmp_path / "lead.glossbench"
    with closing(Project.create(path)) as project:
        labels.add_layer(project, "class", "class", labels=["yes", "no"])
        with project.edit("Import"):
            records = [Record(Document(f"d{n}", (("text", f"Text {n}"),))) for n in range(4)]
            documents.add(project.db, records, source_id=project.source("import"))
        people.add(project, "Ben")
    return path


def label_all(app, qtbot, answers):
    """Label each document in the real window, by keys."""
    app.window.go("annotate")
    panel = app.window.panel("annotate")
    session, page = panel.state.session, panel.view._document_pane.texts[0]
    for number, key in enumerate(answers, 1):
        qtbot.waitUntil(lambda: session.doc is not None)
        qtbot.keyClick(page, key)
        qtbot.mouseClick(panel.view._actions._submit, Qt.MouseButton.LeftButton)

        def submitted(number=number):
            rows = people.overview(app.project)
            return max(row.submitted for row in rows) == number

        qtbot.waitUntil(submitted)


def test_two_people_label_the_same_documents_and_their_agreement_is_shown(
    app, qtbot, lead, tmp_path
):
    app.settings.annotator, app.settings.person_uids = "Ada", settings.load().person_uids
    app.open_project(lead)
    assign = Assign(app)
    qtbot.addWidget(assign)
    assign.show()
    assign.folder.setText(str(tmp_path / "out"))
    assign.pair.setValue(0)
    assign.every.setValue(100)
    qtbot.waitUntil(lambda: assign.state.plan is not None and assign.state.plan.by_number[2] == 4)
    qtbot.mouseClick(assign.write, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: assign.state.over, timeout=60_000)

    for name, answers in ANSWERS.items():
        home = str(tmp_path / name)
        with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": home} if name == "Ben" else {}):
            if name == "Ben":
                app.settings.annotator, app.settings.person_uids = settings.Settings.annotator, []
            app.open_project(tmp_path / "out" / f"lead-{name}.glossbench")
            if name == "Ben":
                mine = app.window.note_line.findChildren(Button)[0]
                qtbot.mouseClick(mine, Qt.MouseButton.LeftButton)
            label_all(app, qtbot, answers)
            app.close_project()

    app.settings.annotator, app.settings.person_uids = "Ada", settings.load().person_uids
    app.open_project(lead)
    for name in ANSWERS:
        merge = Merge(app)
        qtbot.addWidget(merge)
        merge.state.read(tmp_path / "out" / f"lead-{name}.glossbench")
        qtbot.waitUntil(lambda merge=merge: merge.state.can_merge, timeout=60_000)
        qtbot.mouseClick(merge._merge, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda merge=merge: merge.state.over, timeout=60_000)
    app.window.go("results")
    panel = app.window.panel("results")
    qtbot.mouseClick(panel.view._views.button("people"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(panel.state.people.agreements), timeout=60_000)

    (agreement,) = panel.state.people.agreements
    assert agreement.value("observed_agreement").value == pytest.approx(3 / 4)
    # chance: yes 3/4 · 2/4 + no 1/4 · 2/4 = 1/2
    assert agreement.value("kappa").value == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    app.close_project()
    assert check(lead) == []
