"""Find in the open document, without a window."""

import pytest

from tests.held import Held
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.annotate.find.finder import TextMatch


@pytest.fixture
def finder(state):
    return state.finder


def test_the_first_match_is_the_one_at_the_caret_or_behind_it(finder):
    finder.open("a", "text", 1)  # Ada met Bob in Paris.
    assert (finder.count, finder.match) == (3, TextMatch("text", 2, 3))

    finder.open("ada", "text", 1)
    assert (finder.current, finder.match) == (0, TextMatch("text", 0, 3))  # wraps around at the end


def test_steps_go_round_the_ends(finder):
    finder.open("a", "text", 0)
    seen = []
    for way in (1, 1, 1, -1, -1):
        finder.step(way, "text", finder.match.end)
        seen.append(finder.current)

    assert seen == [1, 2, 0, 2, 1]


def test_a_step_begins_at_the_caret_where_that_has_been_moved(finder):
    finder.open("a", "text", 0)
    finder.step(1, "text", 10)
    assert finder.match == TextMatch("text", 16, 17)
    finder.step(-1, "text", 10)
    assert finder.match == TextMatch("text", 2, 3)


def test_case_and_whole_words_narrow_the_search(finder):
    finder.open("A", "text", 0)
    finder.set(match_case=True)
    assert finder.count == 1
    finder.set(match_case=False, text="bo", whole_words=True)
    assert finder.count == 0 and finder.match is None


def test_all_texts_of_a_pair_are_searched_in_order(state, finder):
    state.session.open(state.queue.ids[-1])  # It rains. / The sun shines.
    finder.open("s", "text", 0)
    assert [len(value) for value in finder.found.values()] == [1, 3]
    finder.step(1, "text", finder.match.end)

    assert finder.match == TextMatch("text_b", 4, 5)


def test_another_document_is_searched_for_the_same(state, finder):
    finder.open("a", "text", 12)
    state.queue.step(1)  # The 42 tram was late.

    assert (finder.count, finder.match) == (3, TextMatch("text", 9, 10))


def test_nothing_is_searched_while_the_search_is_closed(state, finder):
    finder.open("a", "text", 0)
    finder.close_search()
    state.queue.step(1)
    assert finder.count == 0 and finder.match is None

    finder.step(1, "text", 0)  # F3: the same query again
    assert finder.shown and finder.text == "a" and finder.count == 3


def test_a_long_document_is_searched_off_the_main_thread(state, finder, context):
    with state.project.edit("long"):
        record = Record(Document("long", (("text", "tram 🚋 " * 40_000),)))
        documents.add(state.project.db, [record], source_id=state.project.source("person"))
    held = Held(context)
    state.session.open(state.queue.ids[-1])
    finder.open("tra", "text", 0)
    finder.set(text="tram")
    assert finder.searching and finder.count == 0

    held.answer(1, 0)  # the result of the first search arrives too late
    assert not finder.searching and finder.count == 40_000
    assert finder.match == TextMatch("text", 0, 4)
