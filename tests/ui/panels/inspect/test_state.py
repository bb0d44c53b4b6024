"""The Inspect page's state: which model, which text, what comes back. No window, no worker: the host is played by the test."""

from types import SimpleNamespace

import pytest

from workbench.base.events import Signal
from workbench.base.settings import Settings
from workbench.inspection.spec import Answer, TokenRow, WordRow
from workbench.operations import corpus
from workbench.operations import inspect as operations
from workbench.operations.inspect import Choice
from workbench.project.project import Project
from workbench.text.spans import Span
from workbench.ui.panels.inspect.state import CLASS, SPANS, TOKENS, InspectState

TAGGER = Choice("run 1", "second · spans", "/run/1", "tag", 1, "spans")
CLASSIFIER = Choice("run 2", "first · class", "/run/2", "classify", 2, "class")
MASKED = Choice("model starter-bert", "starter-bert", "/starter", "masked")


class Host:
    """What operations.inspect.Inspector is to the page."""

    def __init__(self, **_named):
        self.changed, self.asked, self.choice, self.message, self.closed = (
            Signal("inspector"),
            [],
            None,
            "",
            False,
        )

    def open(self, choice):
        self.choice = choice

    def ask(self, document, done, *, top=5, start=0):
        self.asked.append(SimpleNamespace(document=document, done=done, start=start))

    def close(self):
        self.closed = True


@pytest.fixture
def host(monkeypatch):
    made = Host()
    monkeypatch.setattr(operations, "Inspector", lambda **named: made)
    monkeypatch.setattr(
        operations, "choices", lambda project, settings=None: (TAGGER, CLASSIFIER, MASKED)
    )
    return made


@pytest.fixture
def state(tmp_path, host, monkeypatch):
    project = Project.open(corpus.create_sample(tmp_path))
    went = []
    context = SimpleNamespace(
        project=project,
        queue=SimpleNamespace(spare=None),
        settings=Settings(),
        dispatch=None,
        commands_changed=lambda: None,
        fail=lambda error: went.append(error),
        go=lambda page, **args: went.append((page, args)),
    )
    layers = {
        one.name: one
        for one in __import__("workbench.operations.labels", fromlist=["layers"]).layers(project)
    }
    monkeypatch.setattr(
        operations,
        "layer",
        lambda project, choice: layers.get(choice.layer) if choice.run else None,
    )
    made = InspectState(context)
    made.went = went
    made.look()
    yield made
    made.close()
    project.close()


def answer(kind="tag", **more):
    tokens = (
        TokenRow("late", "late", 7, 0, 4, "text", 0, best=(("O", 0.9),)),
        TokenRow("again", "again", 8, 5, 10, "text", 1),
    )
    words = (WordRow(0, 4, "text", "late"), WordRow(5, 10, "text", "again"))
    return Answer(kind, "bert", tokens, words, **more)


def test_it_opens_with_the_latest_run_and_the_first_document_of_dev(state, host):
    assert state.choice == TAGGER and host.choice == TAGGER
    assert state.document.split == "dev" and state.document_id == state.document.id
    assert len(host.asked) == 1 and state.asking


def test_gold_and_answer_are_compared_where_a_document_is_asked_about(state, host):
    gold = operations.gold(state.project, TAGGER, state.document_id)
    first = gold.spans[0]
    wrong = Span(first.start, first.end, "MONEY" if first.label != "MONEY" else "TIME", score=0.5)

    host.asked[-1].done(answer(spans=(wrong, *gold.spans[1:])), None)

    assert [one.kind for one in state.differences].count("label") == 1
    assert len(state.differences) == len(gold.spans) and not state.asking


def test_a_typed_text_has_no_gold(state, host):
    state.type_text("Late again")
    host.asked[-1].done(answer(), None)

    assert state.document_id is None and state.gold is None and state.differences == ()
    assert host.asked[-1].document.text == "Late again"


def test_an_answer_to_an_earlier_question_is_dropped(state, host):
    state.type_text("One")
    late = host.asked[-1]
    state.type_text("Two")

    late.done(answer(), None)

    assert state.answer is None and state.asking


def test_another_model_is_asked_about_the_same_text_and_shows_its_own_view(state, host):
    before = state.document
    state.choose("run 2")
    host.asked[-1].done(answer("classify", classes=(("delay", 0.7), ("praise", 0.3))), None)

    assert state.document is before and host.choice == CLASSIFIER
    assert state.view == CLASS and state.views == (TOKENS, CLASS)
    assert state.gold.label in state.labels


def test_a_view_that_a_person_chose_stays(state, host):
    state.show(SPANS)
    host.asked[-1].done(answer(), None)

    assert state.view == SPANS


def test_unknown_words_and_a_cut_text_are_told(state, host):
    host.asked[-1].done(answer(unknown=0.25, cut=True), None)

    assert len(state.warnings) == 2 and "25%" in state.warnings[0]


def test_the_rest_of_a_long_text_is_asked_for_and_joined(state, host):
    state.choose("model starter-bert")
    first = answer("masked", answered=1)
    host.asked[-1].done(first, None)
    assert state.unanswered == 1

    state.more()
    rest = Answer(
        "masked",
        "bert",
        (first.tokens[1].__class__("late", "late", 7, 0, 4, "text", 0), _with(first.tokens[1])),
        first.words,
        first=1,
        answered=1,
    )
    assert host.asked[-1].start == 1
    host.asked[-1].done(rest, None)

    assert [bool(one.best) for one in state.answer.tokens] == [True, True] and state.unanswered == 0


def _with(token):
    from dataclasses import replace

    return replace(token, best=(("x", 0.5),))


def test_a_model_that_fails_to_load_says_why(state, host):
    host.message = "No memory. Close something."
    host.changed.emit("failed")

    assert state.error == "No memory. Close something." and not state.asking


def test_next_and_previous_go_through_the_documents_that_fit(state, host):
    first = state.document_id
    state.step(1)
    second = state.document_id
    state.step(-1)

    assert second != first == state.document_id


def test_correcting_opens_the_document_in_annotate(state):
    state.correct()

    assert state.went == [("annotate", {"document": state.document_id})]


def test_closing_ends_the_host(state, host):
    state.close()

    assert host.closed
