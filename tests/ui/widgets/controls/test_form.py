"""A form built from options: groups, automatic values, and search."""

import pytest
from PySide6.QtCore import Qt

from workbench.base.options import Option
from workbench.ui.widgets.controls.form import Form

OPTIONS = (
    Option("epochs", "int", None, "Passes.", group="main", automatic="from the data"),
    Option("warmup", "float", 0.1, "Rise of the rate."),
    Option("rank", "int", 8, "Of the matrices.", group="main"),
)


TYPED = Option(
    "freeze",
    "text",
    "none",
    "Parts.",
    choices=("none", "all"),
    choice_titles=("None", "All"),
)


def test_a_text_with_choices_is_chosen_or_typed(qtbot):
    form, edited = Form((TYPED,), {"freeze": "3"}), []
    qtbot.addWidget(form)
    form.changed.connect(edited.append)
    box = form.control("freeze")
    assert box.currentText() == "3" and form.values() == {"freeze": "3"}

    box.setCurrentIndex(1)
    assert form.values() == {"freeze": "all"} and box.currentText() == "All"

    box.lineEdit().selectAll()
    qtbot.keyClicks(box.lineEdit(), "12")
    assert form.values() == {"freeze": "12"} and edited

    form.set_values({})
    assert form.values() == {} and box.currentText() == "None"


@pytest.fixture
def form(qtbot):
    made = Form(OPTIONS)
    qtbot.addWidget(made)
    made.show()
    return made


def heights(form, *names):
    """Vertical positions of controls, in pixels of the form."""
    form.layout().activate()
    return [
        form.control(name).mapTo(form, form.control(name).rect().topLeft()).y() for name in names
    ]


def test_options_of_a_group_stand_together_below_one_heading(form):
    assert list(form._headings) == ["main", "more"]
    placed = heights(form, "epochs", "rank", "warmup")
    assert placed == sorted(placed)


def test_a_heading_without_an_option_that_is_found_is_hidden(form):
    main, more = (heading for heading, _names in form._headings.values())

    form.filter("matrices")
    assert main.isVisible() and not more.isVisible()

    form.filter("")
    assert main.isVisible() and more.isVisible()


def test_an_automatic_value_shows_its_rule_while_nothing_is_typed(form):
    assert form.control("epochs").placeholderText() == "automatic: from the data"
    assert form.control("rank").placeholderText() == ""
    assert form.values() == {}


def test_the_mouse_wheel_changes_a_value_only_with_the_focus(look, qtbot, monkeypatch):
    from PySide6.QtCore import QPoint, QPointF
    from PySide6.QtGui import QWheelEvent
    from PySide6.QtWidgets import QApplication

    from workbench.ui.widgets.controls.field import combo
    from workbench.ui.widgets.controls.spin import SpinBox

    spin, box = SpinBox(0, 9), combo([(1, "one"), (2, "two")], value=2)
    spin.setValue(5)
    for widget in (spin, box):
        qtbot.addWidget(widget)
        widget.show()
        turned = QWheelEvent(
            QPointF(5, 5),
            QPointF(widget.mapToGlobal(QPoint(5, 5))),
            QPoint(),
            QPoint(0, 120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        widget.clearFocus()
        QApplication.sendEvent(widget, turned)
    assert (spin.value(), box.currentData()) == (5, 2)

    monkeypatch.setattr(SpinBox, "hasFocus", lambda _box: True)
    QApplication.sendEvent(spin, turned)
    assert spin.value() == 6


def test_a_choice_that_can_be_left_open_starts_with_the_automatic_one(qtbot):
    pooling = Option("pooling", "choice", None, "Pool.", choices=("mean", "max"), automatic="rule")
    schedule = Option("schedule", "choice", "linear", "Rate.", choices=("linear", "constant"))
    form = Form((pooling, schedule))
    qtbot.addWidget(form)

    box = form.control("pooling")
    assert [box.itemText(row) for row in range(box.count())][0] == "Automatic"
    assert form.text("pooling") == "" and form.values() == {}
    assert form.control("schedule").count() == 2

    box.setCurrentIndex(1)
    assert form.values() == {"pooling": "mean"}


def test_an_option_without_effect_is_hidden_until_it_is_changed_or_searched_for(qtbot):
    schedule = Option("schedule", "choice", "linear", "Form.", choices=("linear", "slanted"))
    ratio = Option("ratio", "float", 32.0, "Peak by lowest.", idle_with=("schedule", "linear"))
    decay = Option("decay", "float", 1.0, "Of the adaptation.", idle_with=("epochs", "0"))
    made = Form((schedule, ratio, decay), {"epochs": 0})
    qtbot.addWidget(made)
    made.show()
    assert made.control("schedule").isVisible()
    assert not made.control("ratio").isVisible() and not made.control("decay").isVisible()

    box = made.control("schedule")
    box.setCurrentIndex(box.findData("slanted"))
    box.activated.emit(box.currentIndex())
    assert made.control("ratio").isVisible()

    made.set_values({"epochs": 2})
    assert made.control("decay").isVisible() and not made.control("ratio").isVisible()
    made.set_values({"ratio": 16, "epochs": 0})
    assert made.control("ratio").isVisible()
    made.set_values({"epochs": 0})
    assert made.filter("peak") == 1 and made.control("ratio").isVisible()
    assert made.filter("") == 1
