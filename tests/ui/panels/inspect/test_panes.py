"""Two views side by side, two models side by side, and the keys between them."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget

from tests.ui.panels.inspect.test_state import CLASSIFIER, TAGGER, Host, holding
from tests.ui.panels.inspect.test_view import SPANS, TEXT, named, tagged
from workbench.jobs import threads
from workbench.operations.inspecting import inspect as operations
from workbench.operations.inspecting import inspect_host
from workbench.ui.panels.inspect import view as page
from workbench.ui.panels.inspect.view_list import VIEW

OTHER = operations.InspectableModel("run 7", "seventh · spans", "/run/7", "tag", 7, "spans")


@pytest.fixture
def hosts(monkeypatch):
    """One stand-in for each page: that of the first model, then that of a comparison."""
    made = []

    def make(**_named):
        made.append(Host())
        return made[-1]

    monkeypatch.setattr(inspect_host, "InspectorHost", make)
    monkeypatch.setattr(threads, "run", holding(threads.run))
    choices = (TAGGER, OTHER, CLASSIFIER)
    monkeypatch.setattr(operations, "choices", lambda project, settings=None: choices)
    monkeypatch.setattr(operations, "layer", lambda project, choice: None)
    return made


@pytest.fixture
def panel(hosts, make_panel, project_file, monkeypatch):
    monkeypatch.setattr(page, "BOTH", 100)  # screens of tests are small
    panel = make_panel("inspect", project_file)
    panel.state.type_text(TEXT)
    hosts[0].answer(tagged())
    return panel


def visible(panel):
    return [pane.isVisibleTo(panel.view) for pane in panel.view._panes]


def item_of(views, id):
    return next(views.item(n) for n in range(views.count()) if views.item(n).data(VIEW) == id)


def test_one_view_fills_the_page_until_another_is_opened_beside_it(panel, hosts):
    assert visible(panel) == [True, False]

    panel.state.show_beside("spans")
    hosts[0].answer(SPANS)

    assert visible(panel) == [True, True] and (panel.state.view, panel.state.pane) == (
        "token_scores",
        0,
    )
    assert panel.view._panes[1].current() is panel.view._panes[1].view


def test_control_enter_in_the_list_opens_beside(panel, hosts, qtbot):
    views = named(panel, QListWidget, "Views")
    views.setCurrentRow(views.row(item_of(views, "spans")))
    assert panel.state.view == "spans"

    views.setFocus()
    qtbot.keyClick(views, Qt.Key.Key_Up, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(views, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)

    assert (panel.state.view, panel.state.second) == ("spans", "token_scores")


def test_a_new_text_is_asked_for_in_both_panes(panel, hosts):
    panel.state.show_beside("spans")
    asked = len(hosts[0].asked)

    panel.state.type_text("Another text")

    assert [request.inspector for request in hosts[0].asked[asked:]] == ["token_scores", "spans"]


def test_the_list_acts_on_the_active_pane(panel):
    panel.state.show_beside("spans")
    panel.state.activate(1)

    panel.state.show("subwords")
    assert (panel.state.view, panel.state.second) == ("token_scores", "subwords")

    panel.state.close_second()
    assert (panel.state.second, panel.state.pane) == ("", 0)


def test_a_narrow_window_shows_the_active_pane_alone(panel, monkeypatch):
    monkeypatch.setattr(page, "BOTH", 10_000)
    panel.state.show_beside("spans")
    assert visible(panel) == [True, False]

    panel.view.change_pane()

    assert visible(panel) == [False, True] and panel.state.pane == 1


def test_another_model_shows_the_same_view_of_the_same_text(panel, hosts):
    panel.state.compare_with(OTHER.key)

    other = panel.state.compared
    assert (other.choice, other.view) == (OTHER, "token_scores")
    assert hosts[1].asked[-1].document.text == TEXT and visible(panel) == [True, True]

    panel.state.type_text("Late again")
    panel.state.show("spans")
    assert hosts[1].asked[-1].document.text == "Late again" and other.view == "spans"

    panel.state.close_second()
    assert hosts[1].closed and panel.state.compared is None and visible(panel) == [True, False]


def test_a_view_that_the_other_model_lacks_is_named_beside_it(panel):
    panel.state.show("spans")
    panel.state.compare_with(OTHER.key)
    other, warning = panel.state.compared, panel.view._panes[1]._warning
    assert warning.isHidden()

    refused = "This model does not provide: token labels."
    offers = (
        replace(offer, refused=refused) if offer.id == "token_scores" else offer
        for offer in other.offers
    )
    other.update(offers=tuple(offers))
    panel.state.show("token_scores")

    assert other.view == "spans" and not warning.isHidden()
    assert warning.text() == f"“Label distribution” is not available. {refused}"

    panel.state.show("spans")
    assert warning.isHidden()


def test_models_for_another_number_of_texts_are_not_compared(panel, monkeypatch):
    pair = operations.InspectableModel("run 9", "pairs", "/run/9", "pairs", 9, "spans")
    panel.state.update(choices=(*panel.state.choices, pair))

    assert [item.key for item in panel.state.comparable] == ["run 7", "run 2"]


def test_a_sample_text_is_offered_where_there_is_no_result(panel, hosts):
    panel.view._panes[0].empty.findChildren(type(panel.view._correct))[1].click()

    assert panel.state.document.text.startswith("I left my bag on the bank")
