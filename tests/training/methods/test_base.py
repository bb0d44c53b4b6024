"""The parameter groups of a plugin's method are checked before the optimizer is built."""

from types import SimpleNamespace

import pytest

from workbench.base.errors import SpecError
from workbench.training.methods.base import Method

WHOLE = {"params": [], "lr": 0.1, "peak": 0.1, "weight_decay": 0.0}


def method(groups, id="lines.biases"):
    kind = type("Biases", (Method,), {"groups": lambda self, rate: groups})
    kind.info = SimpleNamespace(id=id)
    return kind(None, {})


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ([{**WHOLE, "params": []}, {"parameters": []}], "a group with 'parameters', expected a"),
        ([WHOLE["params"]], "returned a list, expected a list of dicts with params, lr, peak"),
        (None, "returned a NoneType"),
    ],
)
def test_a_group_without_a_key_is_named(groups, says):
    with pytest.raises(SpecError, match="lines.biases does not follow its contract") as caught:
        method(groups).checked_groups(0.1)

    assert says in str(caught.value) and "plugin lines" in caught.value.hint
    assert method([WHOLE]).checked_groups(0.1) == [WHOLE]
    assert method(groups, id="own").checked_groups(0.1) == groups  # covered by its own tests
