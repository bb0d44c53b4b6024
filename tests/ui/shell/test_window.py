"""The window: pages, projects, errors, messages, detached pages, text size."""

from contextlib import closing

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from workbench.base.errors import ProjectError, WorkbenchError
from workbench.operations.annotation import annotate, relations
from workbench.operations.documents import queries
from workbench.operations.people import hand_out, people
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.ui.style import theme

RAIL = ("Data", "Annotate", "Labels", "Models", "Train", "Results", "Inspect", "Prompts", "Export")


@pytest.fixture
def app(app):
    """As after the start without a project: the Welcome page is shown."""
    app.window.go("welcome")
    return app


def shown_words(window) -> str:
    labels = [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and hasattr(widget, "text")
    ]
    return "\n".join(str(label.text()) for label in labels if callable(label.text))


def test_the_rail_names_its_pages_in_order(app):
    titles = tuple(page.title for page in app.window.pages())

    assert titles == tuple(name for name in RAIL if name in titles)
    for page in app.window.pages():
        assert app.window.rail.button(page.id).accessibleName() == page.title


def test_it_starts_on_welcome_without_the_rail(app):
    assert app.window.page == "welcome"
    assert not app.window.rail.isVisible()
    assert "Glossbench" in app.window.windowTitle()


def test_a_page_that_needs_a_project_says_so_with_a_button_that_leads_there(app, qtbot):
    app.go("results")
    assert "No project is open" in shown_words(app.window)

    button = next(
        widget
        for widget in app.window.stack.currentWidget().findChildren(QWidget)
        if widget.accessibleName() == "Open or create a project"
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert app.window.page == "welcome"


def test_opening_a_project_names_it_in_title_and_status_and_remembers_it(app, project_file):
    assert app.open_project(project_file, page="results")

    assert app.window.windowTitle().startswith("small.glossbench")
    assert "Saved" in shown_words(app.window.status)
    assert app.settings.recent[0] == str(project_file)
    assert app.window.rail.isVisible()


@pytest.mark.parametrize("content", [b"", b"junk" * 1000], ids=["empty", "junk"])
def test_a_file_that_is_no_project_is_named_and_left_alone(app, tmp_path, content):
    path = tmp_path / "broken.glossbench"
    path.write_bytes(content)

    assert not app.open_project(path)
    assert "broken.glossbench" in app.window.banner.text()
    assert path.read_bytes() == content
    assert app.project is None


@pytest.mark.parametrize("content", [b"", b"junk" * 1000, None], ids=["empty", "junk", "missing"])
def test_a_file_that_cannot_be_opened_does_not_mark_the_open_project_as_unsaved(
    app, project_file, tmp_path, content
):
    path = tmp_path / "broken.glossbench"
    if content is not None:
        path.write_bytes(content)
    app.open_project(project_file, page="results")

    assert not app.open_project(path)
    assert "broken.glossbench" in app.window.banner.text()
    assert "Saved" in shown_words(app.window.status)
    assert "Not saved" not in shown_words(app.window.status)


def test_a_sample_that_cannot_be_copied_does_not_mark_the_open_project_as_unsaved(
    app, project_file, monkeypatch
):
    def fail(_folder):
        raise ProjectError("The disk is full.")

    app.open_project(project_file, page="results")
    monkeypatch.setattr("workbench.operations.application.sample.create_sample", fail)

    app.act("sample")
    assert "The disk is full." in app.window.banner.text()
    assert "Saved" in shown_words(app.window.status)
    assert "Not saved" not in shown_words(app.window.status)


def test_a_file_that_is_not_there_is_named(app, tmp_path):
    assert not app.open_project(tmp_path / "gone.glossbench")
    assert "gone.glossbench" in app.window.banner.text()


def test_a_project_open_elsewhere_is_read_only_and_says_so(app, project_file):
    from workbench.project.project import Project

    other = Project.open(project_file)
    try:
        assert app.open_project(project_file, page="results")
        assert app.project.read_only
        assert (
            "already open" in app.window.banner.text() and "read-only" in app.window.banner.text()
        )
        assert "Read-only" in shown_words(app.window.status)
    finally:
        app.close_project()
        other.close()


def test_closing_a_project_leads_back_to_welcome(app, project_file):
    app.open_project(project_file, page="results")

    app.close_project()
    assert app.project is None
    assert app.window.page == "welcome"
    assert app.window.windowTitle() == "Glossbench"


def test_undo_and_redo_name_the_step(app, project_file):
    from workbench.operations.schema import labels
    from workbench.ui.shell.window_commands import redo_title, undo_title

    app.open_project(project_file, page="results")
    labels.add_layer(app.project, "topic", "class")
    assert undo_title(app.window) == "&Undo – Add layer topic"

    app.undo()
    assert "topic" not in [layer.name for layer in labels.layers(app.project)]
    assert redo_title(app.window) == "&Redo – Add layer topic"
    app.redo()
    assert "topic" in [layer.name for layer in labels.layers(app.project)]


def test_a_workbench_error_is_reported_at_the_top_and_can_be_closed(app, qtbot):
    app.fail(WorkbenchError("Line 3 is empty.", hint="Fill it."))
    assert app.window.banner.isVisible() and app.window.banner.text() == "Line 3 is empty. Fill it."

    close = next(
        widget
        for widget in app.window.banner.findChildren(QWidget)
        if widget.accessibleName() == "Close message"
    )
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert not app.window.banner.isVisible()


def test_text_size_and_theme_change_at_once_and_are_kept(app):
    from workbench.base import settings

    app.change_text_size(1)
    assert QApplication.font().pixelSize() == theme.size("ui") == round(13 * 1.1)
    app.change_theme("dark")
    assert (
        theme.is_dark()
        and app.window.palette().window().color().name().upper() == theme.DARK["window"]
    )

    kept = settings.load()
    assert (kept.text_size, kept.theme) == (110, "dark")
    app.change_text_size(0)
    app.change_theme("light")


def test_a_page_is_torn_off_and_comes_back(app, project_file):
    app.open_project(project_file, page="results")
    view = app.window.panel("results").view

    app.window.tear_off()
    assert view.window() is not app.window
    assert "This page is in its own window" in shown_words(app.window)
    view.window().close()
    assert view.window() is app.window
    assert app.window.stack.currentWidget() is view


def test_a_page_in_its_own_window_has_the_focus_where_it_has_it_when_opened(app, project_file):
    app.open_project(project_file, page="annotate")
    panel = app.window.panel("annotate")
    panel.focus()
    opened = panel.view.window().focusWidget()

    app.window.tear_off()

    assert panel.view.window().focusWidget() is opened
    panel.view.window().close()


@pytest.fixture
def more(tmp_path):
    """A data file."""
    path = tmp_path / "more.csv"
    path.write_text("text,class\nThe lift is broken.,bad\n", encoding="utf-8")
    return path


@pytest.fixture
def asked(app, monkeypatch):
    """asked(button): answers the question about the project by this button; → its text."""
    from workbench.ui.dialogs.files import DataTarget

    texts = []

    def answer(name):
        def press(dialog):
            texts.append("\n".join(label.text() for label in dialog.findChildren(QLabel)))
            next(
                button
                for button in dialog.findChildren(QAbstractButton)
                if button.accessibleName().rstrip("…") == name
            ).click()
            return dialog.result()

        monkeypatch.setattr(DataTarget, "exec", press)
        return texts

    return answer


def test_a_data_file_opened_while_a_project_is_open_can_go_into_it(
    app, project_file, more, asked, monkeypatch
):
    gone = []
    app.open_files([str(project_file)])
    assert app.project.path == project_file

    texts = asked("Import into this project")
    monkeypatch.setattr(app, "go", lambda page, **args: gone.append((page, args)))
    app.open_files([str(more)])
    assert gone == [("data", {"files": [more]})]
    assert "more.csv" in texts[0] and "“small”" in texts[0]


def test_a_data_file_opened_while_a_project_is_open_can_begin_a_new_one(
    app, project_file, more, asked, monkeypatch
):
    new = []
    monkeypatch.setattr("workbench.ui.dialogs.new_project", lambda app, data: new.append(data))
    app.open_files([str(project_file)])

    asked("Cancel")
    app.open_files([str(more)])
    assert not new

    asked("New project")
    app.open_files([str(more)])
    assert new == [[more]]


def test_without_a_project_a_data_file_begins_a_new_one(app, more, monkeypatch):
    new = []
    monkeypatch.setattr("workbench.ui.dialogs.new_project", lambda app, data: new.append(data))

    app.open_files([str(more)])
    assert new == [[more]]


def test_a_project_is_told_by_its_content_too(app, project_file):
    other = project_file.rename(project_file.with_suffix(".backup"))

    app.open_files([str(other)])
    assert app.project.path == other


def test_closing_the_window_keeps_its_place_for_the_next_time(app, project_file):
    app.open_project(project_file, page="results")
    app.window.resize(1111, 700)

    assert app.window.close()
    assert app.settings.window["geometry"]
    assert app.project is None


def test_a_large_step_is_undone_off_the_main_thread(app, project_file, qtbot, monkeypatch):
    from workbench.operations.schema import labels
    from workbench.ui.shell import undo_steps

    app.open_project(project_file, page="results")
    labels.add_layer(app.project, "topic", "class")
    monkeypatch.setattr(undo_steps, "LARGE_STEP_ROWS", 0)

    app.undo()
    qtbot.waitUntil(lambda: app.window.note_line.text() == "Undone: Add layer topic")
    assert "topic" not in [layer.name for layer in labels.layers(app.project)]


def test_a_note_covers_no_button_of_the_page(app, project_file, qtbot):
    app.open_project(project_file, page="annotate")
    window = app.window
    window.resize(1280, 760)
    qtbot.waitUntil(lambda: window.status is not None and window.status.isVisible())

    app.note("Undone: Change label to PER", lambda: None)

    note = window.note_line.geometry()
    buttons = [
        button for button in window.stack.findChildren(QAbstractButton) if button.isVisible()
    ]
    assert buttons
    assert not [
        button.accessibleName()
        for button in buttons
        if note.intersects(QRect(button.mapTo(window, QPoint(0, 0)), button.size()))
    ]
    assert note.intersects(window.status.geometry())


def test_a_note_goes_with_the_project_that_its_button_would_act_on(app, project_file):
    app.open_project(project_file, page="annotate")
    app.window.panel("annotate").state.queue.skip()
    assert "Skipped k0" in app.window.note_line.text()
    app.close_project()

    assert not app.window.note_line.isVisible()


def test_the_style_sheet_is_on_the_windows_and_reaches_dialogs_and_pages_of_their_own(
    app, project_file
):
    from workbench.ui.widgets.controls.words import words
    from workbench.ui.widgets.dialog import Dialog

    app.open_project(project_file, page="labels")
    app.window.tear_off()
    torn = app.window.windows()[1]
    app.settings.text_size = 150
    app.restyle()

    dialog = Dialog(app.window, "Title")
    inside = words("text", "title")
    dialog.put(inside)
    inside.ensurePolished()
    assert app.qt.styleSheet() == ""
    assert inside.font().pixelSize() == torn_title(torn).font().pixelSize() == round(19 * 1.5)
    app.settings.text_size = 100
    app.restyle()
    dialog.deleteLater()


def torn_title(window):
    from PySide6.QtWidgets import QLabel

    return next(label for label in window.findChildren(QLabel) if label.property("kind") == "title")


def test_a_page_makes_only_the_parts_that_are_seen(app, scored_file, qtbot):
    app.open_project(scored_file, page="results")
    view = app.window.panel("results").view
    qtbot.waitUntil(lambda: app.window.panel("results").state.selection.details is not None)

    assert view._right.made() == (1,) and view._pages.made() == (0,)
    view._tabs.setCurrentIndex(3)
    assert view._pages.made() == (0, 3) and view._pages.widget(3)._table.rows() is not None

    app.go("prompts")
    assert app.window.panel("prompts").view._tabs.made() == (0,)


def test_a_page_clicked_in_the_rail_is_built_over_several_turns(app, project_file, qtbot):
    app.open_project(project_file, page="results")
    app.window.rail.button("labels").click()
    assert app.window.rail.button("labels").isChecked() and app.window.page == "results"

    qtbot.waitUntil(lambda: app.window.page == "labels")
    assert app.window.stack.currentWidget() is app.window.panel("labels").view


def test_of_two_pages_clicked_quickly_the_last_one_is_shown(app, project_file, qtbot):
    app.open_project(project_file, page="results")
    app.window.rail.button("labels").click()
    qtbot.waitUntil(lambda: app.window.panel("labels") is not None)
    app.window.rail.button("data").click()

    qtbot.waitUntil(lambda: app.window.page == "data")
    app.window.rail.button("labels").click()
    assert app.window.page == "labels" and app.window.panel("labels").view.isVisible()


def test_closing_the_project_while_a_page_is_built_shows_the_welcome_page(app, project_file, qtbot):
    app.open_project(project_file, page="results")
    app.window.rail.button("annotate").click()
    qtbot.waitUntil(lambda: app.window.panel("annotate") is not None)
    app.close_project()

    qtbot.wait(20)
    assert app.window.page == "welcome" and app.window.panel("annotate") is None


def test_blind_mode_hides_the_pages_with_predictions_until_it_is_turned_off(app, project_file):
    app.open_project(project_file, page="results")
    window = app.window
    window.toggle_dock("jobs", True)
    assert window.panel("results") is not None

    people.set_blind(app.project, True)
    assert window.page == "results" and window.panel("results") is None
    for page in ("train", "results", "inspect", "prompts"):
        window.go(page)
        assert window.panel(page) is None
        assert any("Blind mode" in line for line in shown_words(window).splitlines())
    assert window.dock_shown("jobs") and window.shown_panel is None
    window.go("annotate")
    assert window.panel("annotate").state.session.blind

    people.set_blind(app.project, False)
    assert window.panel("annotate") is not None and not window.panel("annotate").state.session.blind
    window.go("results")
    assert window.panel("results") is not None


def test_a_project_opened_in_blind_mode_reads_only_the_labels_of_the_one_who_labels(
    app, project_file
):
    with closing(Project.open(project_file)) as project:
        ben = people.add(project, "Ben")
        layer = labels.layer_named(project, "class")
        annotate.set_class(project, 1, layer.label("good").id)
        people.set_blind(project, True)

    app.open_project(project_file)
    assert list(queries.matching(app.project, "has:label")) == [1]
    people.work_as(app.project, ben.id)
    assert list(queries.matching(app.project, "has:label")) == []
    app.undo()
    assert list(queries.matching(app.project, "has:label")) == [1]


def test_read_only_spans_can_be_connected_in_blind_mode(app, project_file, qtbot, tmp_path):
    path = tmp_path / "ben.glossbench"
    with closing(Project.open(project_file)) as lead:
        labels.add_layer(lead, "links", "relation", labels=["met"])
        spans = labels.layer_named(lead, "spans")
        for start, end in ((0, 3), (8, 11)):
            annotate.add_span(lead, 1, start, end, spans.label("PER").id)
        ben = people.add(lead, "Ben")
        hand_out.hand_out(lead, {ben.id: [1]}, {ben.id: path}, blind=True, context=[spans.id])

    app.open_project(path, page="annotate")
    session = app.window.panel("annotate").state.session
    qtbot.waitUntil(lambda: session.doc is not None)
    assert [layer.name for layer in session.active] == ["class", "spans", "links"]
    ada, bob = (row.id for row in session.shown_doc.spans)
    met = labels.layer_named(app.project, "links").label("met")
    session.attempt(relations.add_relation, ada, bob, met.id)
    session.attempt(annotate.delete_span, ada)

    assert [(row.from_span, row.to_span) for row in session.shown_doc.relations] == [(ada, bob)]
    assert len(list(session.shown_doc.spans)) == 2
    assert "The labels of spans are read-only in this file." in shown_words(app.window)
