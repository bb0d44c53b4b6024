"""New project, settings, errors, closing, about."""

import sys
from dataclasses import fields

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from workbench.base import paths, settings
from workbench.base.errors import WorkbenchError
from workbench.operations.schema import labels
from workbench.ui.dialogs import error
from workbench.ui.dialogs.about import copy_diagnostics, diagnostics
from workbench.ui.dialogs.new_project import NewProject, split_labels
from workbench.ui.dialogs.settings import KEPT, SettingsDialog, records


def test_labels_can_be_typed_or_pasted():
    assert split_labels("delay, crowding;driver\n ticket \n\ndelay\tlate train") == [
        "delay",
        "crowding",
        "driver",
        "ticket",
        "late train",
    ]


def test_a_new_project_holds_what_was_asked_for_and_offers_the_import(app, qtbot, tmp_path):
    dialog = NewProject(app)
    qtbot.addWidget(dialog)
    dialog.set_place("Metro", tmp_path / "new folder")
    dialog.choose("class", "delay\ncrowding")
    dialog.choose("spans", "STOP, LINE")

    dialog.make()
    assert app.project.path == tmp_path / "new folder" / "Metro.glossbench"
    result = {
        layer.name: (layer.kind, layer.texts, layer.names) for layer in labels.layers(app.project)
    }
    assert result == {
        "class": ("class", 1, ("delay", "crowding")),
        "spans": ("span", 1, ("STOP", "LINE")),
    }
    assert app.window.note_line._undo.accessibleName() == "Import…"


def test_typing_labels_ticks_what_they_are_for(app, qtbot):
    dialog = NewProject(app)
    qtbot.addWidget(dialog)

    dialog._labels["pairs"].setPlainText("same")
    assert dialog._boxes["pairs"].isChecked()


def test_the_button_beside_the_folder_stays_on_its_line_when_an_error_shows(app, qtbot, tmp_path):
    dialog = NewProject(app)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.set_place("Metro", "")

    dialog.make()
    browse = next(
        button
        for button in dialog.findChildren(QPushButton)
        if button.accessibleName() == "Choose the folder"
    )
    assert dialog._folder_field.error()
    middles = [
        folder.mapTo(dialog, folder.rect().center()).y() for folder in (dialog._folder, browse)
    ]
    assert abs(middles[0] - middles[1]) <= 1


@pytest.mark.parametrize("name", ["", "a/b", ".hidden"])
def test_a_name_that_does_not_fit_is_reported_at_its_field(app, qtbot, tmp_path, name):
    dialog = NewProject(app)
    qtbot.addWidget(dialog)
    dialog.set_place(name, tmp_path)

    dialog.make()
    assert "Enter a name" in dialog._name_field.error()
    assert app.project is None


def test_nothing_is_overwritten(app, qtbot, project_file):
    dialog = NewProject(app)
    qtbot.addWidget(dialog)
    before = project_file.read_bytes()
    dialog.set_place(project_file.stem, project_file.parent)

    dialog.make()
    assert "already exists" in dialog._name_field.error()
    assert project_file.read_bytes() == before


def test_a_label_that_does_not_fit_leaves_no_half_made_file(app, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(
        labels, "add_layer", lambda *_args, **_named: (_ for _ in ()).throw(WorkbenchError("no"))
    )
    dialog = NewProject(app)
    qtbot.addWidget(dialog)
    dialog.set_place("Half", tmp_path)
    dialog.choose("class", "a")

    dialog.make()
    assert dialog._fault.text() == "no"
    assert not list(tmp_path.glob("Half*"))


def test_every_setting_is_asked_for_under_its_title_or_not_shown():
    shown = [record for group in ("look", "work", "network") for record in records(group)]
    asked = {record.name for record in shown}

    assert not asked & set(KEPT)
    assert asked | set(KEPT) == {field.name for field in fields(settings.Settings)}
    assert all(record.title[0].isupper() for record in shown)


def test_a_changed_setting_takes_effect_and_is_kept(app, qtbot):
    dialog = SettingsDialog(app)
    qtbot.addWidget(dialog)
    box = dialog._forms["look"].control("theme")
    box.setCurrentIndex(box.findData("dark"))
    box.activated.emit(box.currentIndex())
    dialog._forms["work"].control("annotator").setText("Ada")
    dialog._forms["work"].changed.emit("annotator")

    assert (settings.load().theme, settings.load().annotator) == ("dark", "Ada")
    app.change_theme("light")


def test_an_uncaught_exception_is_shown_logged_and_leaves_the_project_open(
    app, project_file, monkeypatch
):
    app.open_project(project_file, page="results")
    shown = []
    monkeypatch.setattr(error.ErrorDialog, "exec", lambda self: shown.append(self._details))
    error._open_log()

    reporter = error.Reporter(app)
    try:
        raise ValueError("broken on purpose")
    except ValueError:
        reporter.caught(*sys.exc_info())
    for handler in list(error.log.handlers):
        handler.close()
        error.log.removeHandler(handler)
    assert "broken on purpose" in shown[0]
    assert "broken on purpose" in paths.log_file().read_text(encoding="utf-8")
    assert app.project is not None


def test_a_workbench_error_that_nobody_told_becomes_a_message_not_a_crash(app):
    error.Reporter(app).caught(WorkbenchError, WorkbenchError("Disk full."), None)

    assert app.window.banner.text() == "Disk full."


def test_diagnostics_hold_versions_and_counts_but_no_text_and_no_names(app, project_file):
    app.open_project(project_file, page="results")
    message = diagnostics(app)

    assert "3 documents" in message and "PySide6-Essentials 6" in message
    for private in ("Ada", "Paris", "PER", "small.glossbench", str(project_file.parent)):
        assert private not in message
    copy_diagnostics(app)
    assert QApplication.clipboard().text().startswith("Glossbench")


def test_diagnostics_tell_where_a_fault_was_without_what_it_said(app, monkeypatch):
    trace = (
        'Traceback:\n  File "/home/ada/glossbench/workbench/ui/app.py", line 7, in go\n    x\n'
        'ValueError: File of Ada: secret\nFile "a secret"\n'
    )
    monkeypatch.setattr(
        "sys.excepthook",
        type("Reporter", (), {"last": trace, "caught": lambda self, *error: None})().caught,
    )

    message = diagnostics(app)

    assert "workbench/ui/app.py:7 go" in message
    assert "ada" not in message.lower() and "secret" not in message


def test_a_new_project_asks_who_labels_and_remembers_it(app, qtbot, tmp_path):
    first = NewProject(app)
    qtbot.addWidget(first)
    first.set_place("first", tmp_path)
    first._person.setText("Ada")
    first.make()
    assert app.project.annotator_name == app.settings.annotator == "Ada"

    second = NewProject(app)
    qtbot.addWidget(second)
    assert second._person.text() == "Ada"
    second.set_place("second", tmp_path)
    second._person.setText("Ben")
    second.make()

    assert app.project.annotator_name == "Ben" and app.settings.annotator == "Ada"
    assert app.window.status._person.text().strip() == "Labelling as Ben"
