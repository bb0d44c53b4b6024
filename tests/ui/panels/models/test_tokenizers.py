"""State of the dialog on tokenizers: names, and words that are divided one after another."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.held import Held
from workbench.operations.models import tokenizers
from workbench.ui.panels.models.tokenizers_state import TokenizersState


@pytest.fixture
def state(monkeypatch):
    monkeypatch.setattr(tokenizers, "preparer_of", lambda name: name)
    monkeypatch.setattr(tokenizers, "divided", lambda by, words: [f"{by}: {words[0]}"])
    context = panel_tasks.context(project=None)
    return TokenizersState(context, ("bert", "own", "/learned/own", "/learned/new"))


def test_a_learned_tokenizer_has_the_name_of_its_folder_unless_another_has_it(state):
    titles = [title for _name, title in state.titles]
    assert titles == ["bert", "own", "/learned/own", "new"]


def test_of_the_words_typed_while_one_is_divided_only_the_last_is_divided(state):
    held = Held(state.context)
    for word in ("t", "tr", "tra", "tram"):
        state.divide("bert", word)
    assert len(held) == 1 and state.dividing

    held.answer(0)
    assert len(held) == 2 and state.division is None
    held.answer(1)

    assert (state.division, state.dividing, len(held)) == ("bert: tram", False, 2)


def test_a_division_that_fails_is_told_and_the_next_word_is_divided(state):
    held = Held(state.context)
    state.divide("bert", "tram")
    held.fail(0, ValueError("no vocabulary"))
    assert (state.error, state.dividing) == ("no vocabulary", False)

    state.divide("bert", "")
    assert len(held) == 1
    state.divide("bert", "bus")
    held.answer(1)
    assert (state.error, state.division) == ("", "bert: bus")


@pytest.fixture
def texts(state, monkeypatch):
    """A project for the state."""
    module = "workbench.ui.panels.models.tokenizers_state"
    monkeypatch.setattr(f"{module}.texts_of", lambda _project: ["a tram"])
    state.context.project = object()
    return state


@pytest.mark.parametrize("end", ["cancel", "close"])
def test_learning_that_is_cancelled_before_its_job_starts_starts_none_and_leaves_no_texts(
    texts, end, tmp_path
):
    held, folders, jobs = panel_tasks.hold(texts.context, "work"), [], []

    def run(spec, watch):
        folders.append(Path(spec.folder))
        assert (folders[0] / "texts.txt").read_text() == "a tram\n"
        watch.at(0.0)
        jobs.append(spec)

    texts.context.queue = SimpleNamespace(run=run)
    texts.learn(tmp_path / "new", kind="bpe", size=40, lowercase=True)

    getattr(texts, end)()
    assert not texts.learning
    held.pop()()

    assert not folders[0].exists() and not jobs and not texts.learning and texts.error == ""


def test_a_learned_tokenizer_is_listed(texts, tmp_path):
    result = {"size": 40, "output": str(tmp_path / "new")}
    texts.context.queue = SimpleNamespace(run=lambda _spec, _watch: result)

    texts.learn(tmp_path / "new", kind="bpe", size=40, lowercase=True)

    assert texts.names[-1] == str(tmp_path / "new") and not texts.learning
    assert texts.message.startswith("40 tokens")


def test_an_error_of_the_merges_does_not_end_a_comparison(texts):
    held = Held(texts.context)
    texts.compare("bert", "own")
    texts.learn_merges()
    held.fail(1, ValueError("no words"))

    assert texts.busy and not texts.merging and texts.error == "no words"
    texts.compare("bert", "own")
    assert len(held) == 2
