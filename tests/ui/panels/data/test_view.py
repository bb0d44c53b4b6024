"""The Data page in a window: table, search, action bar, dialogs."""

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QSpinBox

from workbench.base.options import Option
from workbench.operations.annotation import annotate
from workbench.operations.documents import corpus
from workbench.ui.widgets.controls.button import Segments
from workbench.ui.widgets.tables.document_rows import CLASSES, KEY, LENGTH, SPANS, STATE, TEXT
from workbench.ui.widgets.tables.document_table import DocumentTable
from workbench.ui.widgets.tables.table import Table


@pytest.fixture
def panel(make_panel, project_file, qtbot):
    panel = make_panel("data", project_file)
    qtbot.waitUntil(
        lambda: panel.state.selection.counts is not None and not panel.state.selection.searching
    )
    return panel


def settled(qtbot, panel):
    selection = panel.state.selection
    qtbot.waitUntil(
        lambda: not selection.searching and not selection.acting and not selection.stale
    )


def shown(panel):
    model = panel.view.table.documents
    return [model.index(row, KEY).data() for row in range(model.rowCount())]


def named(parent, kind, name):
    return next(
        widget
        for widget in parent.findChildren(kind)
        if widget.accessibleName().rstrip("…") == name
    )


def test_names_for_screen_readers(panel):
    assert panel.view.table.accessibleName() == "Documents"
    for kind, name in (
        (QLineEdit, "Search"),
        (QPushButton, "Import"),
        (QPushButton, "Export"),
        (QComboBox, "Split"),
        (QComboBox, "Label"),
    ):
        assert named(panel.view, kind, name)


def test_typing_searches_after_a_moment(panel, qtbot):
    search = named(panel.view, QLineEdit, "Search")

    qtbot.keyClicks(search, "day")
    qtbot.waitUntil(lambda: shown(panel) == ["k1", "k2"])
    search.clear()
    qtbot.waitUntil(lambda: len(shown(panel)) == 3)


def test_enter_and_double_click_open_annotate(panel, qtbot, app, monkeypatch):
    went = []
    monkeypatch.setattr(app, "visit", lambda page, **args: went.append((page, args)))
    table = panel.view.table
    table.choose_rows(1, 1)

    qtbot.keyClick(table, Qt.Key.Key_Return)
    table.doubleClicked.emit(table.documents.index(2, KEY))

    ids = panel.state.selection.ids
    assert went == [("annotate", {"document": ids[1]}), ("annotate", {"document": ids[2]})]


def test_acts_show_while_something_is_chosen_and_delete_can_be_undone(panel, qtbot, app):
    delete = named(panel.view, QPushButton, "Delete the selected documents")
    assert not delete.isVisible()

    panel.view.table.choose_rows(0, 1)
    qtbot.waitUntil(delete.isVisible)
    delete.click()
    qtbot.waitUntil(lambda: shown(panel) == ["k2"])
    settled(qtbot, panel)
    app.undo()
    qtbot.waitUntil(lambda: len(shown(panel)) == 3)


def test_an_empty_project_offers_the_import(make_panel, tmp_path, qtbot):
    from workbench.project.project import Project

    path = tmp_path / "empty.glossbench"
    Project.create(path).close()

    panel = make_panel("data", path)

    qtbot.waitUntil(lambda: named(panel.view, QPushButton, "Import data").isVisible())
    qtbot.waitUntil(
        lambda: panel.view.window().focusWidget() is named(panel.view, QPushButton, "Import data")
    )


def test_filters_that_nothing_passes_can_be_cleared(panel, qtbot):
    panel.state.selection.filters.set_filter(split="test")
    clear = named(panel.view, QPushButton, "Clear all filters")
    qtbot.waitUntil(clear.isVisible)

    clear.click()

    qtbot.waitUntil(lambda: panel.view.table.isVisible() and len(shown(panel)) == 3)


def test_a_class_set_elsewhere_shows_at_once(panel, qtbot, app):
    from workbench.operations.annotation import annotate
    from workbench.operations.schema import labels

    layer = labels.layers(app.project)[0]
    annotate.set_class(app.project, panel.state.selection.ids[0], layer.label("bad").id)

    qtbot.waitUntil(lambda: panel.view.table.documents.index(0, 3).data() == "bad")
    settled(qtbot, panel)  # the counts are still being read


def test_the_import_dialog_imports_with_two_clicks(panel, qtbot, app, tmp_path):
    from workbench.ui.panels.data.import_dialog import ImportDialog
    from workbench.ui.panels.data.import_state import ImportState

    path = tmp_path / "t.csv"
    path.write_text("text,label\nNew one,good\n,bad\n")
    state = ImportState(panel.context, [path])
    dialog = ImportDialog(app.window, state)
    qtbot.addWidget(dialog)
    dialog.show()
    start = named(dialog, QPushButton, "Import")
    qtbot.waitUntil(start.isEnabled)
    assert named(dialog, QComboBox, "Role of label").currentData() == "label:class"

    start.click()
    qtbot.waitUntil(lambda: state.phase == "done", timeout=20_000)

    assert (
        state.summary.endswith("1 record was skipped.")
        and named(dialog, QPushButton, "Close").isVisible()
    )
    qtbot.waitUntil(lambda: len(shown(panel)) == 4)
    dialog.reject()
    state.close()


test_the_import_dialog_imports_with_two_clicks = pytest.mark.process(
    test_the_import_dialog_imports_with_two_clicks
)


@pytest.mark.process
def test_import_asks_for_files_at_once_and_leaves_its_numbers_in_the_note_line(
    panel, qtbot, app, tmp_path, monkeypatch
):
    from workbench.ui.panels.data import import_dialog

    path = tmp_path / "t.csv"
    path.write_text("text,label,split\nNew one,good,train\nNew two,,dev\n")
    choose = lambda *_args: ([str(path)], "")  # noqa: E731
    monkeypatch.setattr(import_dialog.QFileDialog, "getOpenFileNames", choose)

    def import_it(dialog):
        dialog.show()
        start = named(dialog, QPushButton, "Import")
        qtbot.waitUntil(start.isEnabled)
        start.click()
        qtbot.waitUntil(dialog.isHidden, timeout=20_000)

    monkeypatch.setattr(import_dialog.ImportDialog, "exec", import_it)
    panel.view.ask_import()

    expected = "Imported 2 documents, 1 labelled, 1 label. Splits: 1 train, 1 dev."
    assert app.window.note_line.text() == expected


def test_a_wrong_value_of_an_importer_is_shown_at_its_field(
    panel, qtbot, app, tmp_path, monkeypatch
):
    from workbench.importers.text.plain import PlainImporter
    from workbench.ui.panels.data.import_dialog import ImportDialog
    from workbench.ui.panels.data.import_state import ImportState

    option = Option("first", "int", 1, "Line to begin with.", low=1)
    monkeypatch.setattr(PlainImporter, "options", (option,), raising=False)
    (tmp_path / "t.txt").write_text("one\ntwo\n")
    state = ImportState(panel.context, [tmp_path / "t.txt"])
    dialog = ImportDialog(app.window, state)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: state.phase == "ready")

    state.set_settings({"first": "none"})

    form = dialog._file._form
    assert "expected a whole number" in form._fields["first"].error()
    assert dialog.focusWidget() is form.control("first") and not dialog._fault.isVisible()
    assert not named(dialog, QPushButton, "Import").isEnabled()
    dialog.reject()
    state.close()


def test_the_next_import_begins_in_the_folder_of_the_last(panel, qtbot, app, tmp_path, monkeypatch):
    from workbench.ui.panels.data import import_dialog
    from workbench.ui.panels.data.import_state import ImportState

    (tmp_path / "a.txt").write_text("One line\n")
    begun = []

    def choose(_parent, _title, start, _kinds):
        begun.append(start)
        return [str(tmp_path / "a.txt")], ""

    monkeypatch.setattr(import_dialog.QFileDialog, "getOpenFileNames", choose)
    for _time in range(2):
        state = ImportState(panel.context, [])
        dialog = import_dialog.ImportDialog(app.window, state)
        qtbot.addWidget(dialog)
        dialog.browse()
        qtbot.waitUntil(lambda state=state: state.phase == "ready")
        dialog.reject()
        state.close()
    assert begun[1] == str(tmp_path) != begun[0]


def test_the_import_dialog_stays_open_on_garbage(panel, qtbot, app, tmp_path):
    from workbench.ui.panels.data.import_dialog import ImportDialog
    from workbench.ui.panels.data.import_state import ImportState

    path = tmp_path / "noise.csv"
    path.write_bytes(bytes(range(256)) * 20)
    state = ImportState(panel.context, [path])
    dialog = ImportDialog(app.window, state)
    qtbot.addWidget(dialog)
    dialog.show()

    qtbot.waitUntil(lambda: "noise.csv" in state.error)
    assert dialog.isVisible() and not named(dialog, QPushButton, "Import").isEnabled()
    dialog.reject()
    state.close()


def test_the_export_dialog_writes_and_says_what_is_lost(panel, qtbot, app, tmp_path):
    from workbench.ui.panels.data.export_dialog import ExportDialog

    dialog = ExportDialog(app.window, panel.context)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog._format.setCurrentIndex(dialog._format.findData("conll"))
    dialog._format_changed()
    assert "overlapping" in dialog._lost.text() and dialog._path.text().endswith(".conll")

    dialog._path.setText(str(tmp_path / "out.conll"))
    dialog.start()
    qtbot.waitUntil(lambda: "3 documents written" in dialog._message.text())

    assert (tmp_path / "out.conll").read_text().startswith("Ada\tO\n")
    dialog._path.setText(str(tmp_path / "none" / "x.conll"))
    dialog.start()
    qtbot.waitUntil(lambda: "There is no folder" in dialog._fault.text())
    dialog.reject()


def test_a_typed_name_never_replaces_a_file_without_a_question(panel, qtbot, app, tmp_path):
    from workbench.ui.panels.data.export_dialog import ExportDialog

    (tmp_path / "mine.jsonl").write_text("keep")
    dialog = ExportDialog(app.window, panel.context)
    qtbot.addWidget(dialog)
    dialog.show()

    dialog._path.setText(str(tmp_path / "mine.jsonl"))
    dialog.start()

    assert (tmp_path / "mine.jsonl").read_text() == "keep"
    assert "exists" in dialog._path_field.error()
    dialog._path.setText(str(tmp_path / "new.jsonl"))
    for _again in range(2):  # a file written by this dialog may be overwritten by it
        dialog._message.set("")
        dialog.start()
        qtbot.waitUntil(lambda: "3 documents written" in dialog._message.text())
    dialog.reject()


def test_a_format_with_files_for_each_document_writes_a_folder(
    panel, qtbot, app, tmp_path, monkeypatch
):
    from workbench.ui.panels.data import export_dialog

    dialog = export_dialog.ExportDialog(app.window, panel.context)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog._format.setCurrentIndex(dialog._format.findData("brat"))
    dialog._format_changed()
    name = dialog._path.text()
    assert name.endswith("small") and "Classes" in dialog._lost.text()
    (tmp_path / "other.txt").write_text("keep")
    monkeypatch.setattr(
        export_dialog.QFileDialog, "getExistingDirectory", lambda *_args: str(tmp_path)
    )

    dialog._browse()
    dialog.start()
    qtbot.waitUntil(lambda: "3 documents written" in dialog._message.text())

    files = {path.name for path in (tmp_path / "small").iterdir()}
    assert {"annotation.conf", "k0.ann", "k0.txt"} <= files
    dialog.reject()


class _Row:
    def __init__(self, id):
        self.id, self.key, self.text = id, f"k{id}", f"text {id}"
        self.split = self.state = "train"
        self.classes, self.span_count, self.suggestion_count = (), 0, 0


def test_a_million_rows_are_read_by_pages(look, qtbot):
    from array import array

    asked = []

    def fetch(ids):
        asked.append(len(ids))
        return [_Row(id_) for id_ in ids]

    table = DocumentTable(fetch, dict, "Documents")
    qtbot.addWidget(table)
    table.show_ids(array("q", range(1_000_000)))

    assert table.documents.index(999_999, KEY).data() == "k999999" and asked == [64]
    table.selectAll()
    assert table.chosen_count() == 1_000_000 and table.chosen_ids()[-1] == 999_999


def test_the_same_documents_again_keep_choice_and_place(look, qtbot):
    from array import array

    table = DocumentTable(lambda ids: [_Row(id_) for id_ in ids], dict, "Documents")
    qtbot.addWidget(table)
    table.show_ids(array("q", range(50)))
    table.choose_rows(3, 5)

    table.show_ids(array("q", range(50)))
    assert list(table.chosen_ids()) == [3, 4, 5]
    table.show_ids(array("q", range(0, 50, 3)))
    assert table.current_id() == 3 and table.chosen_count() == 0


def test_the_sample_fills_every_column(make_panel, sample_file, qtbot, app):
    panel = make_panel("data", sample_file)
    qtbot.waitUntil(
        lambda: panel.state.selection.counts is not None and not panel.state.selection.searching
    )

    row = panel.view.table.documents.row(0)
    assert (row.key, row.classes, row.split, row.state) == (
        "m-0001",
        (("class", "delay"),),
        "train",
        "submitted",
    )
    assert corpus.counts(app.project).documents == panel.state.selection.total == 488


@pytest.mark.timeout(60)
def test_of_thousands_of_columns_the_import_dialog_shows_those_that_matter(
    panel, qtbot, app, tmp_path
):
    from workbench.ui.panels.data.import_columns import COLUMNS_SHOWN
    from workbench.ui.panels.data.import_dialog import ImportDialog
    from workbench.ui.panels.data.import_state import ImportState

    path = tmp_path / "wide.csv"
    names = [*(f"c{n}" for n in range(5000)), "text", "label"]
    path.write_text(",".join(names) + "\n" + ",".join(["x"] * len(names)) + "\n")
    state = ImportState(panel.state.context, [path])
    dialog = ImportDialog(app.window, state)
    qtbot.waitUntil(lambda: state.phase == "ready")

    table = dialog._columns.table
    assert table.columnCount() == COLUMNS_SHOWN
    assert [
        table.horizontalHeaderItem(n).text() for n in (0, COLUMNS_SHOWN - 2, COLUMNS_SHOWN - 1)
    ] == ["c0", "text", "label"]
    assert "4,942 more columns" in dialog._columns._note.text()
    dialog.reject()
    state.close()


def test_the_filters_stay_within_the_window_with_large_text(make_panel, project_file, qtbot, app):
    app.change_text_size(0)
    for _step in range(3):
        app.change_text_size(1)  # 150%
    try:
        panel = make_panel("data", project_file)
        app.window.resize(1280, 780)
        search, states, label = (
            named(panel.view, kind, name)
            for kind, name in ((QLineEdit, "Search"), (Segments, "State"), (QComboBox, "Label"))
        )

        qtbot.waitUntil(lambda: right_edge(label, panel.view) <= panel.view.width())
        assert label.isVisible() and states.width() >= states.sizeHint().width()
        assert not search.geometry().intersects(states.geometry().translated(states.parent().pos()))
    finally:
        app.change_text_size(0)


def right_edge(widget, page) -> int:
    return widget.mapTo(page, widget.rect().topRight()).x()


# ---------------------------------------------------------------- sorting and searching


def click_header(qtbot, table, column: int) -> None:
    table.window().resize(1280, 800)
    qtbot.waitUntil(lambda: not table.isColumnHidden(column))
    head = table.horizontalHeader()
    at = head.sectionViewportPosition(column) + head.sectionSize(column) // 2
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at, head.height() // 2))


def test_a_click_on_a_header_sorts_again_the_other_way_and_then_as_it_was(panel, qtbot):
    table, seen = panel.view.table, []
    for _turn in range(3):
        click_header(qtbot, table, LENGTH)
        settled(qtbot, panel)
        head = table.horizontalHeader()
        arrow = head.sortIndicatorOrder().name if head.isSortIndicatorShown() else ""
        seen.append((shown(panel), arrow))

    # texts of 21, 11 and 18 characters
    assert seen == [
        (["k1", "k2", "k0"], "AscendingOrder"),
        (["k0", "k2", "k1"], "DescendingOrder"),
        (["k0", "k1", "k2"], ""),
    ]


def test_the_current_document_stays_current_when_the_order_changes(panel, qtbot):
    table = panel.view.table
    table.choose_rows(0, 0)
    click_header(qtbot, table, LENGTH)
    settled(qtbot, panel)

    assert shown(panel)[-1] == "k0" and table.current_id() == panel.state.selection.ids[-1]


def test_a_click_on_the_header_of_the_texts_sorts_nothing(panel, qtbot):
    click_header(qtbot, panel.view.table, TEXT)

    assert panel.state.selection.order is None
    assert not panel.view.table.horizontalHeader().isSortIndicatorShown()


def test_keys_are_searched_and_what_was_found_is_marked(panel, qtbot):
    search = named(panel.view, QLineEdit, "Search")
    search.setFocus()
    qtbot.keyClicks(search, "K2")
    qtbot.waitUntil(lambda: shown(panel) == ["k2"])
    table = panel.view.table
    plain = table.visualRect(table.documents.index(0, TEXT))
    marked = picture(table)
    table.set_search("")

    assert marked != picture(table)  # the key is marked
    assert table.viewport().grab(plain).toImage() == marked_text(table, "K2", plain)


def picture(table):
    return table.viewport().grab().toImage()


def marked_text(table, wanted, box):
    """The text cell during a search for `wanted`: it does not contain it, so nothing is marked
    there.
    """
    table.set_search(wanted)
    return table.viewport().grab(box).toImage()


def test_the_export_dialog_offers_to_escape_formulas_in_tables_only(panel, qtbot, app, tmp_path):
    from PySide6.QtWidgets import QCheckBox

    from workbench.ui.panels.data.export_dialog import ExportDialog

    dialog = ExportDialog(app.window, panel.context)
    qtbot.addWidget(dialog)
    dialog.show()
    escape = named(dialog, QCheckBox, "Escape formulas")
    for format, offered in (("csv", True), ("tsv", True), ("conll", False)):
        dialog._format.setCurrentIndex(dialog._format.findData(format))
        dialog._format_changed()
        assert escape.isVisible() == offered and not escape.isChecked()

    dialog._format.setCurrentIndex(dialog._format.findData("csv"))
    dialog._format_changed()
    escape.setChecked(True)
    dialog._path.setText(str(tmp_path / "out.csv"))
    dialog.start()
    qtbot.waitUntil(lambda: "3 documents written" in dialog._message.text())

    assert "escaped cells" in (tmp_path / "out.csv").read_text().splitlines()[0]


# ---------------------------------------------------------------- layers


@pytest.fixture
def sample(make_panel, sample_file, qtbot):
    panel = make_panel("data", sample_file)
    qtbot.waitUntil(
        lambda: panel.state.selection.counts is not None and not panel.state.selection.searching
    )
    return panel


def switch(panel, qtbot, name):
    """Check or uncheck a layer in the menu."""
    menu = named(panel.view, QPushButton, "Layers").menu()
    next(action for action in menu.actions() if action.text() == name).trigger()
    settled(qtbot, panel)


def state_words(panel, *words):
    buttons = panel.view._filters.findChild(Segments).findChildren(QPushButton)
    return {button.accessibleName() for button in buttons} >= set(words)


def test_columns_and_counts_follow_the_layers_chosen_in_the_menu(sample, qtbot):
    table = sample.view.table
    assert state_words(sample, "Pending  120", "Draft  8", "Submitted  360")
    assert not table.isColumnHidden(CLASSES) and not table.isColumnHidden(SPANS)

    switch(sample, qtbot, "pairs")
    assert state_words(sample, "Pending  120", "Draft  8", "Submitted  300")
    switch(sample, qtbot, "spans")
    assert table.isColumnHidden(SPANS) and not table.isColumnHidden(CLASSES)
    assert "layers: class" in sample.view._header.findChildren(QLabel)[1].text()
    switch(sample, qtbot, "spans")
    switch(sample, qtbot, "class")
    assert table.isColumnHidden(CLASSES) and not table.isColumnHidden(SPANS)


def test_annotate_and_data_show_the_same_state_of_a_document(sample, app, qtbot):
    document = sample.state.selection.ids[310]
    app.go("annotate", document=document)
    annotating = app.window.panel("annotate").state.session
    annotate.submit(app.project, document, [annotating.layers[1].id])
    qtbot.waitUntil(lambda: annotating.state_of_document == "draft")

    annotating.switch_layer(annotating.layers[0].id, False)
    assert annotating.state_of_document == "submitted"
    app.go("data")
    settled(qtbot, sample)
    assert sample.state.selection.rows([document])[0].state == "submitted"

    switch(sample, qtbot, "class")
    assert (
        sample.state.selection.rows([document])[0].state == annotating.state_of_document == "draft"
    )


def test_no_spans_are_shown_as_0_and_a_document_without_state_has_none(sample, qtbot):
    pairs = [place for place, id in enumerate(sample.state.selection.ids) if place >= 428]
    model = sample.view.table.documents
    assert model.index(pairs[0], SPANS).data() == "0"

    switch(sample, qtbot, "pairs")

    assert model.index(pairs[0], STATE).data() == ""
    sample.view.table.scrollToBottom()
    sample.view.table.grab()  # paints no icon for it


def test_splits_are_previewed_and_made_in_one_step(make_panel, sample_file, qtbot, app):
    from workbench.ui.panels.data.splits_dialog import SplitsDialog

    panel = make_panel("data", sample_file)
    settled(qtbot, panel)

    def answer():
        dialog = app.window.findChild(SplitsDialog)
        named(dialog, Segments, "Existing splits").button(False).click()
        qtbot.waitUntil(lambda: named(dialog, QPushButton, "Create splits").isEnabled())
        table = named(dialog, Table, "Preview by label").rows_model
        texts = [table.index(0, column).data() for column in range(table.columnCount())]
        assert texts == ["All documents", "", "288", "36", "36"]
        spin = named(dialog, QSpinBox, "Share of train")
        spin.setValue(70)
        assert not named(dialog, QPushButton, "Create splits").isEnabled()
        spin.setValue(80)
        qtbot.waitUntil(lambda: named(dialog, QPushButton, "Create splits").isEnabled())
        named(dialog, QPushButton, "Create splits").click()

    QTimer.singleShot(0, answer)
    named(panel.view, QPushButton, "Create splits").click()
    settled(qtbot, panel)

    assert corpus.info(app.project)["splits"] == {"train": 288, "dev": 36, "test": 36, "none": 128}
    assert app.project.undo_title == "Create splits"
    app.project.undo()
    assert corpus.info(app.project)["splits"]["dev"] == 70


def test_enter_in_a_share_creates_the_splits_of_the_typed_number(make_panel, sample_file, qtbot):
    from workbench.ui.panels.data.splits_dialog import SplitsDialog
    from workbench.ui.panels.data.splits_state import SplitsState

    panel = make_panel("data", sample_file)
    state = SplitsState(panel.state.context)
    dialog = SplitsDialog(panel.view.window(), state, panel.state.selection.labels)
    qtbot.addWidget(dialog)
    dialog.show()
    state.set_keep(False)
    share = named(dialog, QSpinBox, "Share of train")

    share.setValue(70)
    named(dialog, QSpinBox, "Share of dev").setValue(20)
    qtbot.keyClick(share, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(dialog.result()))
    assert state.percent["train"] == 70
    state.close()


def test_without_submitted_documents_no_splits_are_offered(panel, qtbot, app):
    from workbench.ui.panels.data.splits_dialog import SplitsDialog
    from workbench.ui.panels.data.splits_state import SplitsState

    state = SplitsState(panel.state.context)
    dialog = SplitsDialog(app.window, state, panel.state.selection.labels)
    qtbot.addWidget(dialog)
    dialog.show()

    assert not named(dialog, QPushButton, "Create splits").isEnabled()
    shown = [label.text() for label in dialog.findChildren(QLabel)]
    assert "No documents are submitted yet, so there is nothing to split." in shown
    state.close()


@pytest.mark.parametrize(("count", "asked"), [(100, False), (101, True)])
def test_deleting_more_than_a_hundred_documents_asks_and_enter_cancels(
    make_panel, sample_file, qtbot, app, monkeypatch, count, asked
):
    from workbench.ui.panels.data.dialogs import DeleteDocuments

    panel = make_panel("data", sample_file)
    settled(qtbot, panel)
    shown = []

    def enter(dialog):
        shown.append(dialog.windowTitle())
        dialog.show()
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
        return dialog.result()

    monkeypatch.setattr(DeleteDocuments, "exec", enter)
    panel.view.table.choose_rows(0, count - 1)
    qtbot.waitUntil(lambda: len(panel.state.selection.chosen) == count)

    qtbot.keyClick(panel.view.table, Qt.Key.Key_Backspace)
    settled(qtbot, panel)

    assert shown == (["Delete 101 documents?"] if asked else [])
    assert corpus.counts(app.project).documents == (488 if asked else 388)


def test_the_question_before_deleting_deletes_on_request(qtbot, app):
    from workbench.ui.panels.data.dialogs import DeleteDocuments

    dialog = DeleteDocuments(app.window, 500, 500)
    qtbot.addWidget(dialog)
    dialog.show()

    named(dialog, QPushButton, "Delete").click()

    assert dialog.result() == DeleteDocuments.DialogCode.Accepted
    message = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "all documents of the project" in message and "Undo restores" in message


def test_removal_for_good_is_asked_when_it_is_known_what_is_removed(panel, qtbot):
    from workbench.ui.panels.data.dialogs import RemoveForGood

    panel.view.table.choose_rows(0, 1)
    qtbot.waitUntil(lambda: len(panel.state.selection.chosen) == 2)
    dialog = RemoveForGood(panel.view.window(), panel.state.actions)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.cancel.isDefault() and not dialog.remove.isEnabled()
    qtbot.waitUntil(dialog.remove.isEnabled, timeout=30_000)

    assert "2 documents" in " ".join(label.text() for label in dialog.findChildren(QLabel))
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert dialog.result() == RemoveForGood.DialogCode.Rejected


def test_keys_and_labels_are_completed_in_the_search_bar(panel, qtbot):
    selection = panel.state.selection
    bar = panel.view._filters.bar
    bar.query.read_names()
    qtbot.waitUntil(lambda: "good" in bar.query.known.names.get("label", ()), timeout=30_000)
    qtbot.keyClicks(bar.line, "-lab")
    qtbot.keyClick(bar._offers._list, Qt.Key.Key_Tab)
    assert bar.line.text() == "-label:"
    qtbot.keyClicks(bar.line, "goo")
    qtbot.keyClick(bar._offers._list, Qt.Key.Key_Tab)
    assert bar.line.text() == "-label:good "

    qtbot.keyClick(bar.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: selection.filters.filtered and not selection.searching, timeout=30_000)
    assert selection.filters.asks("label") and bar._problem.isHidden()
    qtbot.keyClicks(bar.line, "labl:x")
    qtbot.keyClick(bar.line, Qt.Key.Key_Return)
    qtbot.waitUntil(bar._problem.isVisible, timeout=30_000)
    assert "Did you mean label:?" in bar._problem.text()


def test_down_and_enter_lead_from_the_search_to_the_first_row_found(panel, qtbot):
    table, line = panel.view.table, panel.view._filters.search
    window = table.window()
    for key, written in ((Qt.Key.Key_Down, "k2"), (Qt.Key.Key_Return, "k1")):
        line.setFocus()
        line.setText(written)  # keys would open the list of completions, a window of its own
        qtbot.keyClick(line, key)

        qtbot.waitUntil(lambda: window.focusWidget() is table, timeout=30_000)
        assert shown(panel) == [written]
        assert table.current_id() == panel.state.selection.ids[0]

    line.setFocus()
    line.setText("nowhere")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    settled(qtbot, panel)
    assert not panel.state.selection.ids and window.focusWidget() is line


def test_one_document_of_another_page_becomes_the_current_row_and_several_are_selected(
    panel, qtbot
):
    ids, table = list(panel.state.selection.ids), panel.view.table
    panel.state.project.select((ids[2],), "inspect")
    assert table.current_id() == ids[2] and table.chosen_count() == 0

    panel.state.project.select((ids[2], ids[0], 99), "inspect")
    assert list(table.chosen_ids()) == [ids[0], ids[2]]
    qtbot.waitUntil(lambda: list(panel.state.selection.chosen) == [ids[0], ids[2]])
    assert panel.state.project.selection == (ids[2], ids[0], 99)
