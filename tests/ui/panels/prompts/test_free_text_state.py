"""Free text: what is asked of the model, its samples, and what becomes of them. No worker."""

from types import SimpleNamespace

import pytest

from tests import panel_tasks
from workbench.base.events import Signal
from workbench.base.settings import Settings
from workbench.operations.prompts import free_text
from workbench.operations.prompts.prompt_models import AskableModel
from workbench.prompting.backends.spec import ABILITIES, SCORE, PromptModel
from workbench.prompting.generation import CANCELLED, LENGTH, STOP, Reply, ReplyToken
from workbench.prompting.spec import PromptSpec
from workbench.storage.documents import documents
from workbench.storage.runs import prompts
from workbench.ui.panels.prompts.free_text_state import CONVERSE, FreeTextState

WRITES = PromptModel("gpt", "gpt", can=frozenset(ABILITIES))
SCORES = PromptModel("bert", "bert", can=frozenset((SCORE,)))
OTHERS = (("good", -0.1), ("bad", -2.0), ("", -4.0))


class Models:
    """The models of the page."""

    def __init__(self):
        self.changed, self.key = Signal("models"), "bert"
        self.models = tuple(AskableModel(it.name, it.name, "local", it) for it in (SCORES, WRITES))


@pytest.fixture
def asked(monkeypatch):
    """What models are asked to write; each reply is two tokens."""
    requests = []

    def write(_host, sent, on_tokens, *, watch):
        requests.append(list(sent))
        tokens = (ReplyToken("good", -0.1, OTHERS), ReplyToken("!", -1.0))
        on_tokens([(number, token) for number in range(len(sent)) for token in tokens])
        return tuple(Reply("good!", LENGTH, tokens) for _request in sent)

    monkeypatch.setattr(free_text, "write", write)
    monkeypatch.setattr(FreeTextState, "_ready_host", lambda _self: None)
    return requests


@pytest.fixture
def state(project, asked):
    context = panel_tasks.context(
        project=project,
        settings=Settings(),
        commands_changed=lambda: None,
        dispatch=lambda act: act(),
        attempt=lambda act, *args, **named: act(*args, **named),
        note=lambda *_args: None,
    )
    draft = SimpleNamespace(
        context=context, project=project, spec=PromptSpec(template="", model="bert")
    )
    made = FreeTextState(draft, Models())
    yield made
    made.close()


def test_only_models_that_write_are_offered(state):
    assert [model.key for model in state.models] == ["gpt"] and state.key == "gpt"


def test_a_text_is_continued_by_several_samples(state, asked):
    state.set_text("It is ")
    state.set_settings({"samples": "2", "seed": "5"})

    state.write()

    assert [request.decoding.seed for request in asked[0]] == [5, 6]
    assert [(sample.text, sample.finish) for sample in state.samples] == [("good!", LENGTH)] * 2
    assert not state.running


def test_a_setting_that_does_not_fit_stops_before_the_model_is_asked(state, asked):
    state.set_settings({"temperature": "hot"})

    state.write()

    assert "temperature" in state.errors and asked == []


def test_another_token_goes_on_from_its_place(state, asked):
    state.set_text("It is ")
    state.write()
    state.show_token(0, 0)

    state.force("bad")

    assert asked[-1][0].begin == "bad" and asked[-1][0].decoding.max_tokens == 63
    assert state.samples[0].text == "badgood!"
    assert state.samples[0].tokens[0] == ReplyToken("bad", -2.0, OTHERS)


def test_the_end_of_the_text_can_be_forced_too(state, asked):
    state.write()
    state.show_token(0, 0)

    state.force("")

    assert (state.samples[0].text, state.samples[0].finish) == ("", STOP) and len(asked) == 1


def test_a_conversation_goes_on_with_the_chosen_reply(state, asked):
    state.choose_mode(CONVERSE)
    state.set_settings({"samples": "2"})
    state.set_system("Be kind.")
    state.set_text("Hello")
    state.write()
    state.choose(1)
    state.set_text("And now?")

    state.write()

    turns = [(turn.role, turn.content) for turn in asked[-1][0].messages]
    assert turns == [
        ("system", "Be kind."),
        ("user", "Hello"),
        ("assistant", "good!"),
        ("user", "And now?"),
    ]
    assert state.text == ""


def test_what_was_written_stays_when_it_is_stopped(state, monkeypatch):
    def stopped(_host, sent, on_tokens, *, watch):
        on_tokens([(0, ReplyToken("so"))])
        state.stop()
        return (Reply("never"),)

    monkeypatch.setattr(free_text, "write", stopped)

    state.write()

    assert (state.samples[0].text, state.samples[0].finish) == ("so", CANCELLED)
    assert not state.running


def test_samples_and_the_text_are_kept_in_the_project(state, project):
    state.set_text("It is ")
    state.write()

    state.save()
    state.save_prompt()

    assert documents.by_key(project.db, "generated-1").text == "It is good!"
    (saved,) = prompts.all(project.db)
    assert saved.name.startswith("Free text") and "It is" in saved.body
    assert saved.versions[0].spec["model_name"] == "gpt"


def test_samples_that_differ_are_kept_to_be_compared(state, project, monkeypatch):
    replies = iter(("late", "late ", "full"))

    def write(_host, sent, on_tokens, *, watch):
        return tuple(Reply(next(replies)) for _request in sent)

    monkeypatch.setattr(free_text, "write", write)
    state.set_settings({"samples": "3"})
    state.set_text("It is")
    assert not state.can_compare

    state.write()
    state.compare()

    document = documents.by_key(project.db, "generated-1")
    assert (document.prompt, document.choices) == ("It is", ("late", "full"))
