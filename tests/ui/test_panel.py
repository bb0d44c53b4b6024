"""Views show what changes of their states: at once while visible, else when shown."""

from workbench.base.events import ALL, State
from workbench.ui.panel import View


class Page(View):
    def __init__(self, state: State, part: State) -> None:
        super().__init__(state)
        self.shown: list[tuple[str, frozenset[str]]] = []
        self.shows(part, lambda fields: self.shown.append(("part", fields)))

    def render(self, fields: frozenset[str]) -> None:
        self.shown.append(("page", fields))


def test_a_part_is_told_of_its_own_state_and_of_what_it_missed(qtbot):
    state, part = State(), State()
    page = Page(state, part)
    qtbot.addWidget(page)
    part.update(number=1)
    page.show()
    assert page.shown == [("page", ALL)]  # which shows the parts as well

    part.update(number=2)
    page.hide()
    part.update(number=3, name="c")
    part.update(name="d")
    state.update(title="t")
    page.show()

    assert page.shown[1:] == [
        ("part", frozenset({"number"})),
        ("page", frozenset({"title"})),
        ("part", frozenset({"number", "name"})),
    ]
