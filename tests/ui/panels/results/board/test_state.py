"""The board and the comparison of Results, without widgets."""

from tests.held import Held
from tests.ui.panels.results.test_state import state  # noqa: F401 (a fixture)


def test_letters_of_the_board_follow_the_order_of_the_choice(state):  # noqa: F811
    state.board.watch(True)
    assert [row.run.name for row in state.board.rows()] == ["first", "second"]

    state.board.choose((2,))
    state.board.choose((1, 2))

    assert state.board.chosen == (2, 1)
    assert [state.board.letter(row) for row in state.board.rows()] == ["B", "A"]
    assert state.board.comparing.pair.first == 2
    state.board.show_score("accuracy")
    assert state.board.comparing.comparison.score == "accuracy" and state.board.best == 4 / 6


def test_a_negative_gain_on_the_board_has_the_minus_sign_of_other_numbers(state):  # noqa: F811
    state.board.watch(True)
    state.board.choose((1,))
    state.board.show_score("accuracy")

    texts = [state.board.gain_text(row) for row in state.board.rows()]

    assert texts == ["–", "−16.7"]  # 3 of 6 after 4 of 6


def test_the_board_on_test_shows_no_score_that_was_not_asked_for(state):  # noqa: F811
    state.board.watch(True)
    state.board.show_split("test")

    assert all("has not been viewed yet" in row.problem for row in state.board.rows())


def test_a_query_on_the_board_scores_fewer_documents_there_and_in_the_comparison(state):  # noqa: F811
    state.board.watch(True)
    state.board.choose((1, 2))
    whole = state.board.board.n
    state.board.query.set("label:good")
    assert 0 < state.board.board.n < whole
    assert state.board.comparing.comparison.n == state.board.board.n

    state.board.query.set("label:unknown")
    assert state.board.query.problem is not None


def test_two_runs_are_compared_by_the_documents_that_one_alone_got_right(state):  # noqa: F811
    state.selection.choose((1, 2))

    pair = state.comparing.pair
    assert [row.key for row in pair.only_first] == ["k1"] and pair.only_second == ()
    assert (pair.both_right, len(pair.both_wrong)) == (3, 2)
    state.comparing.review(tuple(row.document_id for row in pair.both_wrong))
    assert state.context.gone[-1][0] == "annotate" and state.context.gone[-1][1]["run"] == 2


def test_a_new_comparison_replaces_the_previous_one(state):  # noqa: F811
    state.selection.choose((1, 2))
    state.comparing.swap()
    assert (state.comparing.pair.first, state.comparing.letter(2)) == (2, "B")

    state.comparing.show((1,))
    assert state.comparing.comparison is None and state.comparing.pair is None


def test_a_comparison_that_was_cancelled_says_so_and_is_made_again(state):  # noqa: F811
    held = Held(state.context)
    state.comparing.show((1, 2))
    assert state.comparing.share == 0.0
    state.comparing.cancel()
    assert state.comparing.problem == "The comparison was cancelled."
    assert state.comparing.cancelled and state.comparing.unscored == ()

    held.end()
    state.comparing.load()
    assert state.comparing.pair is not None and not state.comparing.problem
