"""The import dialog's own state: guesses, corrections, results; an error never ends it."""

import pytest

from workbench.operations import corpus
from workbench.ui.panels.data.import_state import ImportState


@pytest.fixture
def choose(context, tmp_path):
    """choose("t.csv", "text,label…") → an ImportState with that file."""
    made = []

    def choose(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        made.append(ImportState(context, [path]))
        return made[-1]

    yield choose
    for one in made:
        one.close()


def finish(state, context):
    state.start()
    context.queue.wait(state.handle.job)


def test_everything_is_guessed_with_a_reason(choose):
    state = choose("t.csv", "text,label,page\none,good,1\n")

    assert state.phase == "ready" and state.used_format == "csv" and state.preview.why
    assert (
        state.roles == {"text": "text", "label": "label:class", "page": "meta:page"}
        and state.can_start
    )


def test_roles_can_be_corrected_and_a_role_stands_once(choose):
    state = choose("t.csv", "a,b\none,two\n")

    state.set_role("b", "text")
    assert state.roles == {"b": "text"}
    state.set_role("a", "label:class")
    assert state.roles == {"a": "label:class", "b": "text"} and state.phase == "ready"


def test_a_wrong_choice_tells_an_error_and_can_be_taken_back(choose):
    state = choose("t.csv", "text,label\none,good\n")

    state.set_form(format="glossbench")
    assert "own format" in state.error and not state.can_start
    state.set_form(format="")
    assert state.error == "" and state.can_start


@pytest.mark.parametrize(
    "content", [b"", b"\0\1\2\3" * 50, "Привет, мир и все остальные".encode("cp1251")]
)
def test_garbage_is_told_and_the_dialog_stays(choose, content):
    state = choose("x.csv", content)

    assert state.error and state.phase == "choosing"


def test_an_import_tells_what_came_in_and_what_was_skipped(choose, context):
    state = choose("t.csv", "text,label\none,good\n,bad\n")

    finish(state, context)

    assert state.phase == "done" and state.summary == "1 document came in, 1 record was skipped."
    assert (
        context.notes == [("1 document came in.", True)]
        and corpus.counts(context.project).documents == 4
    )


def test_an_import_that_fails_leaves_the_choices_standing(choose, context):
    state = choose("t.csv", "text,label\none,good\n")
    state.files[0].unlink()

    state.start()

    assert "t.csv" in state.error and state.phase == "ready"


def test_it_can_be_cancelled(choose, context):
    state = choose("t.csv", "text,label\none,good\n")
    state.start()
    state.cancel()
    context.queue.wait(state.handle.job)

    assert (
        state.phase == "ready"
        and "cancelled" in state.error
        and corpus.counts(context.project).documents == 3
    )


def test_columns_of_tokens_offer_tokens_and_tags(choose):
    state = choose("t.conll", "Ada\tB-PER\nmet\tO\n")

    assert [role for role, _words in state.role_choices("2")][:3] == ["", "text", "tag:spans"]
