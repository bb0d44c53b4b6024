"""The Models page in a window."""

import shutil

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from tests import tiny_models
from workbench.models.results import Repository, RepositoryFile
from workbench.ui.panels.models.dialogs import Delete, Download, Trust
from workbench.ui.panels.models.view import ModelCard


@pytest.fixture
def mine(tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture
def panel(app, project_file, qtbot):
    assert app.open_project(project_file, page="models")
    found = app.window.panel("models")
    qtbot.waitUntil(lambda: len(cards(found)) >= 2)
    return found


def cards(panel):
    return [one for one in panel.view.findChildren(ModelCard) if one.isVisibleTo(panel.view)]


def button(panel, name):
    return next(
        one
        for one in panel.view.findChildren(QAbstractButton)
        if one.accessibleName().rstrip("…") == name and one.isVisibleTo(panel.view)
    )


def said(widget):
    return " | ".join(one.text() for one in widget.findChildren(QLabel))


def with_dialog(qtbot, open_it, act):
    """Call `act(dialog)` in the modal dialog that `open_it` opens."""
    done = []

    def later():
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            QTimer.singleShot(20, later)
            return
        try:
            act(dialog)
        finally:
            done.append(True)
            if dialog.isVisible():
                dialog.reject()

    QTimer.singleShot(20, later)
    open_it()
    qtbot.waitUntil(lambda: bool(done))


def test_each_starter_has_a_card_with_its_figures_and_uses(panel):
    bert = cards(panel)[0]

    assert bert.info.name == "starter-bert"
    for word in ("22.9 M", "6 × 384", "30,522", "512 tokens", "apache-2.0", "46.5 MB"):
        assert word in said(bert)
    assert {"Document class", "Sentence pair", "Token tagging", "Masked words"} <= {
        one.accessibleName() for one in bert.findChildren(QWidget)
    }


def test_two_columns_stand_where_there_is_room_and_one_where_there_is_none(panel, app, qtbot):
    app.window.resize(1280, 800)
    qtbot.waitUntil(lambda: cards(panel)[0].y() == cards(panel)[1].y())

    panel.view.setMaximumWidth(600)
    qtbot.waitUntil(lambda: cards(panel)[0].x() == cards(panel)[1].x())


def test_a_broken_folder_stays_to_be_seen_with_what_is_missing(panel, mine, qtbot):
    panel.view.add(mine)
    qtbot.waitUntil(lambda: len(cards(panel)) == 3)
    (mine / "model.safetensors").unlink()

    panel.state.look()
    qtbot.waitUntil(
        lambda: any("model.safetensors is missing" in said(one) for one in cards(panel))
    )

    button(panel, "Remove mine").click()
    qtbot.waitUntil(lambda: len(cards(panel)) == 2)


def test_a_folder_that_is_no_model_is_told_at_the_top(panel, tmp_path, app, qtbot):
    panel.view.add(tmp_path)

    qtbot.waitUntil(lambda: "config.json is missing" in app.window.banner.text())


def test_a_folder_that_cannot_even_be_parsed_is_shown_with_its_fault(panel, mine, qtbot):
    panel.view.add(mine)
    qtbot.waitUntil(lambda: len(cards(panel)) == 3)
    (mine / "config.json").write_text('{"architectures": 5, "hidden_size": [1], "model_type": {}}')

    panel.state.look()

    qtbot.waitUntil(lambda: any("hidden_size as [1]" in said(one) for one in cards(panel)))
    assert button(panel, "Remove mine").isEnabled()


def test_pickled_weights_are_asked_about_and_left_unless_confirmed(panel, mine, qtbot):
    tiny_models.pickle_weights(mine)
    answered = []
    with_dialog(
        qtbot,
        lambda: panel.view.add(mine),
        lambda dialog: answered.append(qtbot.keyClick(dialog, Qt.Key.Key_Return)),
    )
    assert len(cards(panel)) == 2  # Enter chooses the safe button

    def trust(dialog):
        assert isinstance(dialog, Trust)
        for shown in ("bert", "2 × 16", "float32, pickled", "pytorch_model.bin ("):
            assert shown in said(dialog)
        next(
            one
            for one in dialog.findChildren(QAbstractButton)
            if one.accessibleName() == "Trust and load"
        ).click()

    with_dialog(qtbot, lambda: panel.view.add(mine), trust)
    qtbot.waitUntil(lambda: len(cards(panel)) == 3)
    assert cards(panel)[-1].info.usable


def test_train_leads_to_the_train_page_with_this_model(panel, app, qtbot):
    button(panel, "Train with starter-gpt").click()

    qtbot.waitUntil(lambda: app.window.page == "train")
    qtbot.waitUntil(lambda: app.window.panel("train").state.model == "starter-gpt")


def test_the_download_dialog_asks_first_and_is_off_while_offline(panel, qtbot):
    def look(dialog):
        assert isinstance(dialog, Download)
        act = next(
            one
            for one in dialog.findChildren(QAbstractButton)
            if one.accessibleName() == "Show size and license"
        )
        assert not act.isEnabled() and "Offline" in said(dialog)
        next(
            one
            for one in dialog.findChildren(QAbstractButton)
            if one.accessibleName() == "Allow downloads"
        ).click()
        assert act.isEnabled()
        dialog.state.update(
            stage="told",
            found=Repository(
                "a/b", "c", "mit", 5_000_000, (RepositoryFile("a", 5_000_000),), pickled=True
            ),
        )
        assert (
            "5.0 MB" in said(dialog) and not act.isEnabled() and act.accessibleName() == "Download"
        )
        dialog.state.set_trust(True)
        assert act.isEnabled()

    with_dialog(qtbot, button(panel, "Download by id").click, look)


def test_the_page_works_without_a_project(app, qtbot):
    app.go("models")
    panel = app.window.panel("models")
    qtbot.waitUntil(lambda: len(cards(panel)) == 2)

    assert not button(panel, "Train with starter-bert").isEnabled()


def test_everything_can_be_reached_by_tab(panel, qtbot):
    panel.view.take_focus()
    seen = set()
    for _ in range(12):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.add(QApplication.focusWidget().accessibleName())

    assert {"Train with starter-bert", "Inspect starter-bert", "Train with starter-gpt"} <= seen


def test_a_download_is_deleted_only_after_a_question(panel, mine, user_dir, qtbot):
    from tests.operations.test_models import cached

    repository = cached(user_dir, mine, ours=True)
    panel.state.look()
    qtbot.waitUntil(lambda: len(cards(panel)) == 3)

    with_dialog(qtbot, button(panel, "Delete some/tiny").click, lambda dialog: dialog.reject())
    assert repository.is_dir()

    def confirm(dialog):
        assert isinstance(dialog, Delete) and "cannot be undone" in said(dialog)
        dialog.accept()

    with_dialog(qtbot, button(panel, "Delete some/tiny").click, confirm)
    qtbot.waitUntil(lambda: len(cards(panel)) == 2)
    assert not repository.exists()
