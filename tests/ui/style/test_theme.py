"""Contrast is computed from the tokens; thresholds are WCAG 2.1 AA (text 4.5, controls 3)."""

import re

import pytest

from workbench.ui.style import theme

THEMES = {"light": theme.LIGHT, "dark": theme.DARK}


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("ink", ["text", "muted", "faint", "accent", "good", "warn", "bad"])
def test_words_can_be_read_on_every_ground(name, ink):
    colours = THEMES[name]

    assert (
        min(
            theme.contrast(colours[ink], colours[ground])
            for ground in ("window", "surface", "sunken")
        )
        >= 4.5
    )


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("tone", ["accent", "good", "warn", "bad"])
def test_states_can_be_read_on_their_soft_ground(name, tone):
    colours = THEMES[name]

    assert theme.contrast(colours[tone], colours[f"{tone}_soft"]) >= 4.5
    assert theme.contrast(colours["text"], colours[f"{tone}_soft"]) >= 4.5


@pytest.mark.parametrize("name", THEMES)
def test_borders_of_controls_and_words_on_the_primary_button_are_seen(name):
    colours = THEMES[name]

    for line in ("strong_line", "accent"):  # of controls, and their focus ring
        for ground in ("surface", "window", "sunken"):
            assert theme.contrast(colours[line], colours[ground]) >= 3, (line, ground)
    assert theme.contrast(colours["on_accent"], colours["accent"]) >= 4.5
    assert theme.contrast(colours["on_accent"], colours["accent_hover"]) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("position", range(12))
def test_each_of_the_twelve_label_colours_can_be_read(dark, position):
    colours, label = THEMES["dark" if dark else "light"], theme.label_colours(position, dark=dark)

    assert theme.contrast(label.line, colours["surface"]) >= 4.5
    assert theme.contrast(label.line, label.chip) >= 4.5
    assert theme.contrast(colours["text"], label.fill) >= 4.5


def test_a_users_own_colour_keeps_its_hue_at_the_common_lightness():
    chosen = theme.label_colours("#FFD700", dark=False)

    _, _, hue = theme.to_oklch("#FFD700")
    lightness, _, its_hue = theme.to_oklch(chosen.line)
    assert abs(its_hue - hue) < 3
    assert lightness == pytest.approx(0.47, abs=0.01)


def test_a_grey_of_the_users_own_stays_grey():
    _, chroma, _ = theme.to_oklch(theme.label_colours("#808080", dark=False).line)

    assert chroma < 0.01


def test_what_is_no_colour_counts_as_none_set():
    assert theme.label_colours("reddish", dark=False) == theme.label_colours(0, dark=False)


def test_oklch_of_pure_red_is_as_published():
    # Ottosson's reference implementation gives L 0.6280, C 0.2577, h 29.23° for sRGB red.
    lightness, chroma, hue = theme.to_oklch("#FF0000")

    assert (round(lightness, 3), round(chroma, 3), round(hue, 1)) == (0.628, 0.258, 29.2)


def test_oklch_there_and_back_gives_the_same_colour():
    assert theme.oklch(*theme.to_oklch("#3A52D0")) == "#3A52D0"


def test_contrast_of_black_and_white_is_twenty_one():
    assert theme.contrast("#000000", "#FFFFFF") == pytest.approx(21)


def test_text_size_goes_up_and_down_by_steps_and_ends(look):
    theme.set_up(dark=False, percent=100)

    assert theme.next_text_size(1) == 110
    assert theme.next_text_size(-1) == 90
    theme.set_up(dark=False, percent=500)
    assert theme.percent() == theme.next_text_size(1) == theme.TEXT_SIZES[-1]
    theme.set_up(dark=False)


BORDERED = (  # what has a border of its own, by which it is seen
    *("QPushButton", "QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox", "QPlainTextEdit, QTextEdit"),
    "QCheckBox::indicator, QRadioButton::indicator, QTableView::indicator, QListView::indicator",
)
FOCUSED = (
    *("QPushButton:focus", "QPlainTextEdit:focus, QTextEdit:focus", "QTabBar::tab:selected:focus"),
    *("QCheckBox:focus, QRadioButton:focus", "QTableView:focus, QListView:focus, QTreeView:focus"),
    *('QPushButton[kind="quiet"]:focus', 'QFrame[part="rail"] QToolButton:focus'),
    "QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus",
)


@pytest.fixture
def rules(look):
    """dark → selector → declarations, of the style sheet of that theme."""
    from workbench.ui.style import style_sheet

    def read(dark):
        theme.set_up(dark=dark)
        found = {}
        for rule in style_sheet.style_sheet().split("}"):
            selector, _brace, declared = rule.partition("{")
            found[" ".join(selector.split())] = declared
        return found

    yield read
    theme.set_up(dark=False)


@pytest.mark.parametrize("dark", [False, True])
def test_borders_and_focus_rings_of_the_style_sheet_are_seen(rules, dark):
    found, colours = rules(dark), theme.DARK if dark else theme.LIGHT

    for selector in (*BORDERED, *FOCUSED):
        (line,) = re.findall(r"border(?:-color)?:[^;]*(#[0-9A-F]{6})", found[selector])
        for ground in ("surface", "window", "sunken"):
            assert theme.contrast(line, colours[ground]) >= 3, (selector, ground)
    placeholder = colours[style_roles()["PlaceholderText"]]
    assert theme.contrast(placeholder, colours["surface"]) >= 4.5


def style_roles():
    from workbench.ui.style import style_sheet

    return style_sheet._ROLES
