"""What an objective of a plugin returns is checked, and its message names the plugin."""

from types import SimpleNamespace

import pytest
import torch

from workbench.base.errors import SpecError
from workbench.pretraining import contract
from workbench.pretraining.objectives.base import TextBatch
from workbench.tasks.base import Loss


def objective(id="lines.lm", **returned):
    functions = {name: lambda *_given, value=value: value for name, value in returned.items()}
    return SimpleNamespace(info=SimpleNamespace(id=id), **functions)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("batches", [("inputs", "targets")], "`batches` yielded tuple, expected a TextBatch"),
        ("batches", [TextBatch({}, {}, 1, 0)], "the progress of a batch is 0"),
        ("losses", torch.ones(()), "`losses` returned Tensor"),
        ("losses", {}, "expected names with Loss"),
        ("losses", {"lm": torch.ones(())}, "the loss 'lm' is of type Tensor"),
        ("losses", {"lm": Loss(torch.ones(2), torch.ones(()))}, "'lm' are not scalar tensors"),
        ("losses", {"lm": Loss(0.5, 1)}, "'lm' are not scalar tensors"),
        ("shown", ["a row"], "not of the type ShownRow"),
    ],
)
def test_a_wrong_value_is_refused_and_the_plugin_named(name, value, words):
    made = objective(**{name: value})
    calls = {
        "batches": lambda: list(contract.batches(made, None)),
        "losses": lambda: contract.losses(made, {}, {}),
        "shown": lambda: contract.shown(made, None),
    }

    with pytest.raises(SpecError, match=words) as caught:
        calls[name]()

    assert "lines.lm" in str(caught.value) and "plugin lines" in caught.value.hint


def test_right_values_are_given_back():
    batch, loss = TextBatch({}, {}, 1, 1.0), Loss(torch.ones(()), torch.ones(()))
    made = objective(batches=[batch], losses={"lm": loss}, shown=[])

    assert list(contract.batches(made, None)) == [batch]
    assert contract.losses(made, {}, {}) == {"lm": loss} and contract.shown(made, batch) == []
