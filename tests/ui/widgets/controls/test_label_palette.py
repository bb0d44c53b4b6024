"""Finding a label by parts of its name."""

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QLineEdit, QListView, QWidget

from workbench.text.labels import Label
from workbench.ui.widgets.controls.label_palette import LabelChoice, LabelPalette, matching

NAMES = ("pending_cash_withdrawal", "cash_withdrawal_charge", "cardArrival", "top-up.failed")


def choices(*names, **named):
    return [
        LabelChoice(Label(name, id=number, **named), "class") for number, name in enumerate(names)
    ]


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("cash with", ["cash_withdrawal_charge", "pending_cash_withdrawal"]),
        ("withdrawal cash", ["pending_cash_withdrawal", "cash_withdrawal_charge"]),
        ("card arr", ["cardArrival"]),
        ("up fai", ["top-up.failed"]),
        ("charge", ["cash_withdrawal_charge"]),
        ("drawal", ["pending_cash_withdrawal", "cash_withdrawal_charge"]),
        ("xyz", []),
    ],
)
def test_words_inside_names_are_found(typed, names):
    assert [choice.label.name for choice in matching(choices(*NAMES), typed)] == names


def test_descriptions_are_searched_after_names():
    described = choices("refund", description="Money comes back")

    assert matching([*choices("money_lost"), *described], "money")[-1].label.name == "refund"


def test_without_a_match_the_palette_says_so(look, qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    page.resize(600, 500)
    palette = LabelPalette(page)
    page.show()
    palette.ask(choices(*NAMES), QPoint(300, 480))
    palette.findChild(QLineEdit).setText("xyz")

    shown = [label.text() for label in palette.findChildren(QLabel) if label.isVisible()]
    assert shown == ["No label matches “xyz”."] and palette.findChild(QListView).isHidden()
    palette.findChild(QLineEdit).setText("card")
    assert palette.findChild(QListView).isVisible()
