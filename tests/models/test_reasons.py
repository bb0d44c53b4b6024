"""Why a file was not loaded, in one line and without advice that would execute code."""

import io

import pytest
import torch
from torch import nn

from workbench.models.reasons import reason


class Payload:
    def __reduce__(self):
        return print, ("executed",)


def refused(content):
    with pytest.raises(Exception) as caught:  # noqa: PT011 (the library's own kinds)
        torch.load(io.BytesIO(content), weights_only=True)
    return reason(caught.value)


def test_a_pickle_with_a_payload_is_named_without_advice_to_execute_it(capsys):
    file = io.BytesIO()
    torch.save({"weights": Payload()}, file)

    text = refused(file.getvalue())

    assert text.startswith("the pickle needs ") and "print" in text
    assert text.endswith("which can execute code and is not loaded")
    assert "executed" not in capsys.readouterr().out


def test_a_pickle_that_is_garbage_is_called_damaged():
    assert refused(b"\x80\x02\xff.") == "the pickle is damaged, or holds more than weights"


def test_weights_that_do_not_fit_are_named():
    model = nn.Linear(2, 3)
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict({**model.state_dict(), "weight": torch.zeros(3, 4)})

    assert "size mismatch for weight" in reason(caught.value)
    assert "\n" not in reason(caught.value)


def test_other_errors_are_shortened_to_their_first_line():
    assert reason(ValueError("No such file.\nTry again.")) == "No such file"
    assert reason(ValueError()) == "ValueError"
