"""The box of examples in a window: what is selected, pinned, searched and removed."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QPushButton, QTableView

from workbench.ui.panels.prompts.examples_box import ExamplesBox, PickDialog

pytestmark = pytest.mark.process  # the worker that renders templates


@pytest.fixture
def panel(make_panel, copy_sample, tmp_path, qtbot):
    made = make_panel("prompts", copy_sample(tmp_path))
    qtbot.waitUntil(lambda: made.state.preview.prompt is not None, timeout=20_000)
    return made


@pytest.fixture
def box(panel):
    (box,) = panel.view.findChildren(ExamplesBox)
    return box


def named(widget, kind, name):
    return next(it for it in widget.findChildren(kind) if it.accessibleName() == name)


def keys(box):
    return [row.key for row in box.table.rows()]


def filled(panel, qtbot):
    """Wait for the preview of the present settings."""
    qtbot.waitUntil(
        lambda: (
            panel.state.preview.prompt is not None and not panel.state.context.waiting("preview")
        ),
        timeout=20_000,
    )


def test_the_examples_of_the_text_are_listed_with_key_split_and_reason(panel, box):
    assert len(box.table.rows()) == 6 == len(panel.state.preview.prompt.selected)
    first = box.table.rows_model.index(0, 0).data()
    row = panel.state.preview.prompt.selected[0]
    assert first.splitlines()[1] == f"{row.key}, train, balanced, seed 1"
    assert " ".join(row.text.split()) == first.splitlines()[0]


def test_this_set_is_pinned_for_every_text(panel, box, qtbot):
    before = keys(box)
    named(box, QPushButton, "Pin this set").click()
    filled(panel, qtbot)

    spec = panel.state.draft.spec
    assert spec.order == "pinned" and len(spec.pinned) == spec.shots == 6
    panel.state.preview.step(1)
    filled(panel, qtbot)
    assert keys(box) == before
    assert {row.reason for row in box.table.rows()} == {"pinned"}


def test_delete_removes_a_pinned_example(panel, box, qtbot):
    named(box, QPushButton, "Pin this set").click()
    filled(panel, qtbot)
    left = keys(box)[1:]

    box.table.selectRow(0)
    qtbot.keyClick(box.table, Qt.Key.Key_Delete)
    filled(panel, qtbot)

    assert keys(box) == left and panel.state.draft.spec.shots == 5


def test_enter_opens_an_example_in_annotate(panel, box, qtbot, monkeypatch):
    went = []
    monkeypatch.setattr(panel.state.context, "go", lambda page, **args: went.append((page, args)))
    box.table.selectRow(1)

    qtbot.keyClick(box.table, Qt.Key.Key_Return)

    assert went == [("annotate", {"document": panel.state.preview.prompt.selected[1].id})]


def test_each_method_shows_the_settings_it_has(panel, box):
    def visible(name):
        return named(box, QComboBox, name).isVisibleTo(box)

    panel.state.draft.change(order="uncertain")
    assert visible("Uncertain run") and not visible("Vectors")
    panel.state.draft.change(order="random")
    assert not visible("Uncertain run") and not visible("Vectors")
    panel.state.draft.change(shots=0)
    assert not named(box, QComboBox, "Order in the prompt").isVisibleTo(box)


def test_every_class_occurs_if_it_is_ticked(panel, box, qtbot):
    panel.state.draft.change(order="random", seed=3)
    (tick,) = box.findChildren(QCheckBox)
    tick.click()
    filled(panel, qtbot)

    assert len({row.label for row in box.table.rows()}) == 6


def test_documents_are_searched_and_added(panel, box, qtbot):
    dialog = PickDialog(panel.view, panel.state.examples)
    qtbot.addWidget(dialog)
    dialog.line.setText("ferry")
    table = dialog.findChild(QTableView)
    qtbot.waitUntil(lambda: 0 < len(table.rows()) < 50, timeout=10_000)

    table.selectAll()
    ids = [row.id for row in table.rows()]
    dialog._take()

    assert panel.state.draft.spec.pinned == tuple(ids)
    assert panel.state.draft.spec.order == "pinned"
    dialog.close_search()


def test_a_document_sent_from_annotate_is_pinned_or_refused_with_the_reason(panel, qtbot):
    from workbench.storage.documents import documents

    db = panel.state.project.db
    first, dev = documents.by_key(db, "m-0001"), documents.by_key(db, "m-0011")
    panel.shown(example=first.id)
    assert panel.state.draft.spec.pinned == (first.id,)

    errors = []
    panel.state.context.fail = errors.append
    panel.shown(example=dev.id)

    assert panel.state.draft.spec.pinned == (first.id,)
    assert [str(error) for error in errors] == [
        "m-0011 cannot be an example: not in the training split."
    ]


def test_what_the_selection_needs_is_computed_with_progress(panel, box, qtbot, monkeypatch):
    from workbench.operations.prompts import prompt_examples

    asked = []

    def entropies(project, run, layer, ids, queue, watch):
        asked.append(queue)
        if queue is None:
            raise prompt_examples.NotComputed("not computed")
        return dict.fromkeys(ids, 0.5)

    monkeypatch.setattr(prompt_examples, "source_run", lambda *_args: type("Run", (), {"id": 1}))
    monkeypatch.setattr(prompt_examples, "_entropies", entropies)
    panel.state.draft.change(order="uncertain")
    assert panel.state.preview.prompt is None or not panel.state.preview.not_computed

    qtbot.waitUntil(
        lambda: (
            panel.state.preview.prompt is not None
            and panel.state.preview.prompt.selected[0].reason.startswith("uncertain")
        ),
        timeout=20_000,
    )
    assert asked[0] is None and asked[1] is panel.state.context.queue and len(asked) == 2
    assert panel.state.examples.share is None
    assert not any("Predicting" in it.text() for it in box.findChildren(QLabel) if it.isVisible())
