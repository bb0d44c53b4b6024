"""The rail shows every page in windows of any height."""

import pytest
from PySide6.QtCore import Qt


@pytest.fixture
def sized(app):
    def change(height: int, percent: int):
        app.go("models")
        app.window.rail.show()
        app.settings.text_size = percent
        app.restyle()
        app.window.rail.setFixedHeight(height)
        app.window.rail._area.resize(app.window.rail.size())
        app.qt.processEvents()
        return app.window.rail

    yield change
    app.settings.text_size = 100
    app.restyle()


def buttons(app):
    return [app.window.rail.button(page.id) for page in app.window.pages()]


@pytest.mark.parametrize(("height", "percent", "low"), [(720, 100, False), (690, 200, True)])
def test_buttons_never_overlap_and_names_go_beside_the_icons_where_it_is_low(
    app, sized, height, percent, low
):
    rail = sized(height, percent)

    assert rail.low == low
    places = [button.geometry() for button in buttons(app)]
    assert all(a.bottom() < b.top() for a, b in zip(places, places[1:], strict=False))
    assert places[-1].bottom() <= height
    under = Qt.ToolButtonStyle.ToolButtonTextUnderIcon
    assert all((button.toolButtonStyle() == under) != low for button in buttons(app))


def test_the_page_shown_is_scrolled_into_sight_where_not_even_that_is_enough(app, sized):
    rail = sized(300, 200)

    for page in ("export", "data"):
        rail.show_chosen(page)
        button = rail.button(page)
        top = button.mapTo(rail, button.rect().topLeft()).y()
        assert top >= 0 and top + button.height() <= 300


def test_names_beside_icons_are_not_cut(app, sized):
    rail = sized(690, 200)

    for button in buttons(app):
        words = button.fontMetrics().horizontalAdvance(button.text())
        assert button.iconSize().width() + words < rail.width()
