"""Views that are described: shown, cleared, dependent on a selection, beside other widgets."""

from types import SimpleNamespace

import pytest

from tests.ui.panels.inspect.shown import Page, cells, renew, texts
from workbench.base.events import ALL
from workbench.ui.panels.inspect.declared import DeclaredView
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.parts import (
    ButtonPart,
    CustomPart,
    RowBox,
    TablePart,
    TextEntryPart,
    TextPart,
    ViewSpec,
)
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.tables.table import Column

WORDS = SimpleNamespace(words=("late", "again"))
LIST = TablePart(
    "Words",
    [Column("Word", lambda word: word)],
    lambda view: view.result.words,
    key=lambda word: word,
    id="words",
)


@pytest.fixture
def view(qtbot):
    """view(*parts, …) → a view with a result."""

    def make(*parts, result=WORDS, **spec):
        view = DeclaredView(InspectorState(Page(), "subwords"), ViewSpec(parts, **spec))
        qtbot.addWidget(view)
        renew(view, result)
        return view

    return make


def test_a_view_has_the_title_of_its_inspector_unless_it_has_another_or_none(view):
    assert texts(view(LIST)) == ["Tokenization"]
    assert texts(view(LIST, title="Words")) == ["Words"]
    assert texts(view(LIST, title=None)) == []


def test_a_part_that_reads_a_selection_is_shown_again_when_it_changes(view):
    chosen = []
    shown = view(
        TextPart(lambda it: f"chosen: {it.chosen('words')}"),
        TablePart(**{**vars(LIST), "chosen": lambda _it, word: chosen.append(word)}),
        title=None,
    )
    assert texts(shown) == ["chosen: None"]

    shown.part("words").selectRow(1)
    assert texts(shown) == ["chosen: again"] and chosen == ["again"]

    shown.choose("words", {"late"})  # by another part
    assert texts(shown) == ["chosen: late"] and chosen == ["again"]

    renew(shown, SimpleNamespace(words=("again",)))
    assert texts(shown) == ["chosen: None"]


def test_another_model_clears_all_parts_but_those_that_need_no_result(view):
    shown = view(
        TextPart(lambda it: it.result.words[0]),
        LIST,
        TextPart("legend"),
        TextPart(lambda it: str(it.result is None), always=True),
        title=None,
    )
    assert texts(shown) == ["late", "legend", "False"]

    shown.page.choice, shown.state.result = object(), None
    shown.show_state(ALL)

    assert texts(shown) == ["legend", "True"] and cells(shown.part("words")) == []


def test_the_last_result_stays_until_the_next_one_arrives(view):
    shown = view(TextPart(lambda it: it.result.words[0]), title=None)

    shown.state.result = None  # the text has changed
    shown.show_state(frozenset({"result"}))

    assert texts(shown) == ["late"]


def test_parts_and_boxes_are_visible_for_some_results_only(view):
    many = lambda it: len(it.result.words) > 1  # noqa: E731
    shown = view(RowBox(TextPart("many"), visible=many), TextPart("two", visible=many), title=None)
    assert texts(shown) == ["many", "two"]

    renew(shown, SimpleNamespace(words=("late",)))
    assert texts(shown) == []


def test_buttons_and_texts_act_and_follow_the_state(view):
    typed = []
    shown = view(
        ButtonPart(
            lambda it: "Stop" if it.state.continuing else "Go",
            lambda it: typed.append("pressed"),
            enabled=lambda it: not it.state.asking,
            id="button",
        ),
        TextEntryPart("Word", lambda _it, text: typed.append(text), emptied=True, id="entry"),
    )
    shown.state.continuing = shown.state.asking = True
    shown.show_state(frozenset({"continuing"}))
    assert shown.part("button").text() == "Stop" and not shown.part("button").isEnabled()

    shown.part("entry").setText("bus")
    shown.part("entry").returnPressed.emit()
    assert typed == ["bus"] and shown.part("entry").text() == ""


def test_a_widget_of_a_plugin_is_filled_and_cleared(view):
    def show(label, result):
        label.setText("" if result is None else " ".join(result.words))

    shown = view(CustomPart(lambda: words(""), show, id="own"), title=None)
    assert texts(shown) == ["late again"]

    shown.clear()
    assert texts(shown) == []


def test_data_are_those_of_the_description_else_all_values(view):
    assert view(LIST, data=lambda it: [["Word"], *([w] for w in it.result.words)]).data() == [
        ["Word"], ["late"], ["again"],
    ]  # fmt: skip
    assert view(LIST, data="words").data() == [["Word"], ["late"], ["again"]]
    assert view(TextPart("share"), result={"share": 0.5}).data() == [
        ["Value", "Result"],
        ["share", 0.5],
    ]


def test_a_description_is_refused_where_it_is_written():
    with pytest.raises(TypeError, match="'Words' is not a part of a view"):
        ViewSpec([RowBox(LIST, "Words")])
    with pytest.raises(ValueError, match="two parts have the id 'words'"):
        ViewSpec([LIST, RowBox(LIST)])
