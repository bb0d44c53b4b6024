from workbench.base.errors import LONGEST, WorkbenchError


def test_a_message_that_quotes_an_endless_value_keeps_both_ends():
    error = WorkbenchError(f"The value {'x' * 10_000_000} is wrong.", hint="Choose another.")

    assert len(error.message) < LONGEST + 10
    assert error.message.startswith("The value x") and str(error).endswith(
        "x is wrong. Choose another."
    )


def test_a_message_without_a_full_stop_is_a_sentence_of_its_own_before_the_hint():
    assert str(WorkbenchError("There is no tier 'x'", hint="Known: y")) == (
        "There is no tier 'x'. Known: y"
    )
    assert str(WorkbenchError("Which one?", hint="Choose one.")) == "Which one? Choose one."
    assert str(WorkbenchError("There is none")) == "There is none"
