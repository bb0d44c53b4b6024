"""The walk of a learning rate: typed in the form, parsed once, obeyed by the optimizer."""

import json

import pytest

torch = pytest.importorskip("torch")

from tests.ui.panels.train.test_state import context, state  # noqa: E402, F401
from workbench.base.options import Option  # noqa: E402
from workbench.training import loop  # noqa: E402

NAME = "learning_rate"
SMALL = {"train_limit": "8", "max_length": "16", "batch_size": "8", "device": "cpu"}


@pytest.fixture
def parsed(monkeypatch):
    """The texts of learning rates that the parser reads."""
    texts, parse = [], Option.parse

    def count(option, text):
        texts.extend([text] if option.name == NAME else [])
        return parse(option, text)

    monkeypatch.setattr(Option, "parse", count)
    return texts


@pytest.fixture
def groups(monkeypatch):
    """The parameter groups of the optimizer."""
    found, make = [], torch.optim.AdamW

    def keep(parameters, **named):
        made = make(parameters, **named)
        found.extend(made.param_groups)
        return made

    monkeypatch.setattr(torch.optim, "AdamW", keep)
    return found


def test_it_reaches_the_optimizer_with_one_call_of_the_parser(
    state,  # noqa: F811
    context,  # noqa: F811
    tmp_path,
    parsed,
    groups,
):
    state.set_values(SMALL)

    state.set_values({**SMALL, NAME: " 1.25e-3 "})
    state.defaults_text()
    state.start()
    (job,) = context.queue.jobs
    work = loop.run(json.loads(json.dumps(job.spec.params)), tmp_path)
    while not groups:
        next(work)
    work.close()

    assert {group["lr"] for group in groups} == {0.00125}
    assert parsed == [" 1.25e-3 "]
    assert state.live.run_id and job.spec.params["plan"][NAME] == 0.00125
