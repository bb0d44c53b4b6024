from workbench.base.errors import LONGEST, WorkbenchError


def test_a_message_that_quotes_an_endless_value_keeps_both_ends():
    error = WorkbenchError(f"The value {'x' * 10_000_000} is wrong.", hint="Choose another.")

    assert len(error.message) < LONGEST + 10
    assert error.message.startswith("The value x") and str(error).endswith(
        "x is wrong. Choose another."
    )
