"""Pages of a stack are created on first use, once each."""

from PySide6.QtWidgets import QLabel

from workbench.ui.widgets.later import LaterStack


def stack(qtbot, log: list) -> LaterStack:
    def page(number):
        log.append(number)
        return QLabel(f"page {number}")

    made = LaterStack(*[lambda number=number: page(number) for number in range(3)])
    qtbot.addWidget(made)
    made.show()
    return made


def test_a_page_is_made_when_it_is_shown_and_only_once(look, qtbot):
    log = []
    pages = stack(qtbot, log)

    assert log == [] and pages.currentIndex() == -1
    for number in (2, 0, 2):
        pages.setCurrentIndex(number)

    assert log == [2, 0] and pages.made() == (2, 0)
    assert pages.currentIndex() == 2 and pages.widget(2).isVisible()
    assert not pages.widget(0).isVisible()


def test_asking_for_a_page_makes_it_without_showing_it(look, qtbot):
    log = []
    pages = stack(qtbot, log)
    pages.setCurrentIndex(1)

    assert pages.widget(0).text() == "page 0"

    assert log == [1, 0] and pages.currentIndex() == 1 and pages.widget(1).isVisible()


def test_a_page_is_filled_before_it_is_seen(look, qtbot):
    seen = []
    pages = LaterStack(
        QLabel, made=lambda number: seen.append((number, pages.widget(number).isVisible()))
    )
    qtbot.addWidget(pages)
    pages.show()

    pages.setCurrentIndex(0)

    assert seen == [(0, False)]
