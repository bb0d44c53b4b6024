import pytest

from workbench.base.errors import MAX_LENGTH, WorkbenchError, unreadable


def test_a_message_that_quotes_an_endless_value_keeps_both_ends():
    error = WorkbenchError(f"The value {'x' * 10_000_000} is wrong.", hint="Choose another.")

    assert len(error.message) < MAX_LENGTH + 10
    assert error.message.startswith("The value x") and str(error).endswith(
        "x is wrong. Choose another."
    )


def test_a_message_without_a_full_stop_is_a_sentence_of_its_own_before_the_hint():
    assert str(WorkbenchError("There is no tier 'x'", hint="Known: y")) == (
        "There is no tier 'x'. Known: y"
    )
    assert str(WorkbenchError("Which one?", hint="Choose one.")) == "Which one? Choose one."
    assert str(WorkbenchError("There is none")) == "There is none"


def test_a_file_that_is_no_utf8_is_told_without_words_of_python():
    with pytest.raises(UnicodeDecodeError) as caught:
        b"ab\xff".decode()

    assert unreadable(caught.value) == "byte 3 is not valid UTF-8"
    assert unreadable(ValueError("no number.")) == "no number"
    assert unreadable(EOFError()) == "EOFError"
