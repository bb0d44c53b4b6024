"""The view of the map: colours, legend, selection shared with other views, labelling."""

import numpy as np
import pytest
from shiboken6 import delete, isValid

from workbench.base.events import ALL, State
from workbench.inspection.document_map.info import DocumentMap
from workbench.operations.inspecting.map_colours import ColourGroup, Colours, Way
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.views.document_map import DocumentMapView

POINTS = np.array([(0, 0), (1, 0), (0, 1)], np.float32)
RESULT = DocumentMap(
    POINTS, np.array((7, 8, 9)), np.zeros(3, int), np.full(3, 4), np.array((0, 1, 0)),
    "pca", 2, (0, 1, 2), 3, 4, (0.5, 0.25), (0.1, 0.2),
)  # fmt: skip


class _Corpus:
    can_write = True

    def __init__(self, page):
        self.page, self.labelled = page, []

    def refused_methods(self):
        return {"umap": "Not installed."}

    def ways(self):
        return (Way("gold", "topic", "Gold: topic"), Way("split", "", "Split"))

    def colour(self, key, places, _clusters, then):
        assert places.tolist() == [[7, 0, 4], [8, 0, 4], [9, 0, 4]]
        groups = (ColourGroup("praise", None, 2), ColourGroup("", None, 1))
        then(Colours(key, groups, (0, 1, 0)))

    def choose(self, ids):
        self.page.chosen_documents = tuple(ids)

    def texts_at(self, places):
        return [(f"m-{id}", f"text {id}") for id, _start, _end in places]

    def show_chosen(self):
        pass

    def class_layers(self):
        return (("topic", ("praise", "complaint")),)

    def label_chosen(self, *given):
        self.labelled.append(given)


class Page(State):
    choice, document = object(), None

    def __init__(self):
        super().__init__()
        self.chosen_documents = ()
        self.corpus = _Corpus(self)


@pytest.fixture
def view(qtbot):
    state = InspectorState(Page(), "document_map")
    state.result = RESULT
    view = DocumentMapView(state)
    qtbot.addWidget(view)
    view.resize(1000, 700)
    view.show_state(ALL)
    return view


def listed(view):
    return [(point.key, point.group) for point in view._table.rows()]


def test_a_selection_before_a_result_is_drawn_changes_nothing(qtbot):
    state = InspectorState(Page(), "document_map")
    view = DocumentMapView(state)
    qtbot.addWidget(view)
    state.result = RESULT  # it arrived while the page was hidden
    state.page.update(chosen_documents=(9,))
    view.show_state(frozenset({"chosen_documents"}))
    assert listed(view) == []
    view.show_state(ALL)
    assert listed(view) == [("m-9", "praise")]


def test_the_legend_counts_groups_and_the_note_tells_of_the_sample(view):
    assert [button.text() for button in view._legend.buttons] == ["praise 2", "none 1"]
    assert view._note.text() == "3 documents · a random sample · explained variance: 75.0%"
    assert not view._method.button("umap").isEnabled()


def test_selected_points_are_listed_and_their_documents_selected_in_every_view(view):
    view._map._take(np.array([0, 2]))

    assert view.page.chosen_documents == (7, 9)
    assert listed(view) == [("m-7", "praise"), ("m-9", "praise")]
    assert view._count.text() == "2 of 3 selected"


def test_documents_selected_elsewhere_are_selected_on_the_map(view):
    view.page.chosen_documents = (8,)
    view.show_state(frozenset({"chosen_documents"}))

    assert view._map.chosen.tolist() == [False, True, False]
    assert listed(view) == [("m-8", "")]


def test_a_click_in_the_legend_selects_a_group(view):
    view._legend.buttons[0].click()

    assert view.page.chosen_documents == (7, 9)


def test_the_selected_documents_can_be_labelled(view):
    view._map._take(np.array([1]))
    (layer,) = view._label_choices()
    layer.choices[1].act()

    assert view.page.corpus.labelled == [("topic", "complaint")]


def test_the_text_of_the_point_under_the_mouse_is_told(view):
    assert view._describe(0) == "text 7\npraise\nm-7"


def test_the_saved_table_has_every_point_with_its_group(view):
    assert view.data()[1:] == [
        [0.0, 0.0, 7, 0, 4, 1, "praise"],
        [1.0, 0.0, 8, 0, 4, 2, ""],
        [0.0, 1.0, 9, 0, 4, 1, "praise"],
    ]


def test_another_projection_asks_again(view, monkeypatch):
    monkeypatch.setattr(view.state, "ask", lambda: None)
    view._method.button("tsne").click()

    assert view.state.option("method") == "tsne"


def test_colours_that_come_after_the_pane_was_closed_change_nothing(qtbot):
    page, late = Page(), []
    page.corpus.colour = lambda key, _places, _clusters, then: late.append((key, then))
    state = InspectorState(page, "document_map")
    state.result = RESULT
    view = DocumentMapView(state)
    view.show_state(ALL)
    delete(view)

    for key, then in late:
        then(Colours(key, (ColourGroup("praise", None, 3),), (0, 0, 0)))

    assert late and not isValid(view)
