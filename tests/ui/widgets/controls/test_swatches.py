from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from workbench.ui.style import theme
from workbench.ui.widgets.controls.swatches import NAMES, Swatches


def button(swatches, name):
    return next(
        widget
        for widget in swatches.findChildren(QAbstractButton)
        if widget.accessibleName() == name
    )


def test_every_hue_has_a_name_and_a_button(look, qtbot):
    swatches = Swatches()
    qtbot.addWidget(swatches)
    assert set(NAMES) == set(theme.HUES) and len(set(NAMES.values())) == len(theme.HUES)
    assert all(button(swatches, f"Colour {name}") for name in NAMES.values())


def test_return_on_a_swatch_gives_its_colour_and_the_chosen_one_says_so(look, qtbot):
    swatches, picked = Swatches(), []
    qtbot.addWidget(swatches)
    swatches.picked.connect(picked.append)
    qtbot.keyClick(button(swatches, "Colour teal"), Qt.Key.Key_Return)
    swatches.set(picked[0])

    assert picked[0].startswith("#") and len(picked[0]) == 7
    assert button(swatches, "Colour teal").accessibleDescription() == "chosen"
    assert button(swatches, "Colour pink").accessibleDescription() == ""
