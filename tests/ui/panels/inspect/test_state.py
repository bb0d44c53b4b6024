"""The Inspect state. No window, no worker: the test simulates the host."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from workbench.base.errors import JobFailed, WorkbenchError
from workbench.base.events import Signal
from workbench.base.settings import Settings
from workbench.inspection.class_scores.info import ClassProbabilities
from workbench.inspection.spans.info import PredictedSpans
from workbench.inspection.spec import PAGE_TOKENS, Inspection, TokenRow, WordRow
from workbench.inspection.token_scores.info import TokenLabels
from workbench.inspection.vocabulary.info import ExpectedWords
from workbench.operations.inspecting import inspect as operations
from workbench.operations.inspecting import inspect_host
from workbench.operations.inspecting.inspect import InspectableModel
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.queries import listing
from workbench.text.spans import Span
from workbench.ui.panels.inspect.state import InspectState

TAGGER = InspectableModel("run 1", "second · spans", "/run/1", "tag", 1, "spans")
CLASSIFIER = InspectableModel("run 2", "first · class", "/run/2", "classify", 2, "class")
GIVES = ("states", "attention", "token_embeddings", "masked_lm")
MASKED = InspectableModel("model starter-bert", "starter-bert", "/starter", gives=GIVES)


class Host:
    """Stands in for operations.inspect_host.Inspector."""

    def __init__(self, **_named):
        self.changed, self.asked, self.choice, self.message, self.closed = (
            Signal("inspector"),
            [],
            None,
            "",
            False,
        )
        self.details = ""

    def open(self, choice):
        self.choice = choice

    def ask(self, *_given, **_named):
        raise AssertionError("the test answers")

    def hold(self, work, done):
        """Hold back a request, which is a task."""
        inspector, document = work.args
        options = work.keywords["options"]
        request = {"inspector": inspector, "document": document, "done": done, "options": options}
        self.asked.append(SimpleNamespace(**request))

    def answer(self, result, **more):
        """Answer the newest request with a result."""
        self.asked[-1].done(Inspection(self.asked[-1].inspector, result, **more), None)

    def close(self):
        self.closed = True


def holding(run):
    """Hold back requests to a Host; other work runs as with `run`."""

    def start(work, done, **more):
        host = getattr(getattr(work, "func", None), "__self__", None)
        return host.hold(work, done) if isinstance(host, Host) else run(work, done, **more)

    return start


@pytest.fixture
def host(monkeypatch):
    made = Host()
    monkeypatch.setattr(inspect_host, "InspectorHost", lambda **named: made)
    monkeypatch.setattr(
        operations, "choices", lambda project, settings=None: (TAGGER, CLASSIFIER, MASKED)
    )
    return made


@pytest.fixture
def state(copy_sample, tmp_path, host, monkeypatch):
    project = Project.open(copy_sample(tmp_path))
    went = []
    context = panel_tasks.context(
        project=project,
        queue=SimpleNamespace(spare=None),
        settings=Settings(),
        dispatch=None,
        commands_changed=lambda: None,
        go=lambda page, **args: went.append((page, args)),
    )
    context.fail = went.append
    context.runner.run = holding(context.runner.run)

    def layer(project, choice):
        return next(layer for layer in labels.layers(project) if layer.name == choice.layer)

    monkeypatch.setattr(operations, "layer", lambda *of: layer(*of) if of[1].run else None)
    made = InspectState(context)
    made.went = went
    made.refresh()
    yield made
    made.close()
    project.close()


TOKENS = (
    TokenRow("late", "late", 7, 0, 4, "text", 0, best=(("O", 0.9),)),
    TokenRow("again", "again", 8, 5, 10, "text", 1),
)
WORDS = (WordRow(0, 4, "text", "late"), WordRow(5, 10, "text", "again"))


def test_it_opens_with_the_latest_run_and_the_first_document_of_dev(state, host):
    assert state.choice == TAGGER and host.choice == TAGGER
    assert state.document.split == "dev" and state.document_id == state.document.id
    assert len(host.asked) == 1 and state.asking
    assert state.view == host.asked[0].inspector == "token_scores"


def test_an_ensemble_that_cannot_be_inspected_says_why(state, monkeypatch):
    run = SimpleNamespace(id=7, name="both")
    monkeypatch.setattr(operations, "refused", lambda project: ((run, "Its run was deleted."),))
    state.refresh()

    state.choose_run(7)

    assert [str(error) for error in state.went] == ["Its run was deleted."]
    assert state.choice == TAGGER


def test_gold_and_predicted_spans_are_compared_for_a_document(state, host):
    gold = operations.gold(state.project, TAGGER, state.document_id)
    first = gold.spans[0]
    wrong = Span(first.start, first.end, "MONEY" if first.label != "MONEY" else "TIME", score=0.5)
    state.show("spans")
    host.answer(PredictedSpans((wrong, *gold.spans[1:]), ()))

    result = state.compare(state.current.result.spans)

    assert [item.kind for item in result].count("label") == 1
    assert len(result) == len(gold.spans) and not state.asking


def test_a_typed_text_has_no_gold(state, host):
    state.type_text("Late again")

    assert state.document_id is None and state.gold is None
    assert state.compare((Span(0, 4, "TIME"),)) == ()
    assert host.asked[-1].document.text == "Late again"


def test_an_answer_to_an_earlier_question_is_dropped(state, host):
    state.type_text("One")
    late = host.asked[-1]
    state.type_text("Two")

    late.done(Inspection("token_scores", TokenLabels(TOKENS, WORDS)), None)

    assert state.current.result is None and state.asking


def test_another_model_is_asked_about_the_same_text_by_an_inspector_that_fits_it(state, host):
    before = state.document
    state.choose("run 2")
    host.answer(ClassProbabilities((("delay", 0.7), ("praise", 0.3))))

    assert state.document is before and host.choice == CLASSIFIER
    assert state.view == host.asked[-1].inspector == "class_scores"
    assert state.gold.label in state.labels


def test_a_view_that_a_person_chose_stays_where_it_fits(state, host):
    state.show("subwords")
    state.choose("run 2")
    assert state.view == "subwords"

    state.show("class_scores")
    state.choose("run 1")
    assert state.view == "token_scores"


def test_a_view_that_does_not_fit_the_model_cannot_be_shown(state):
    refused = {offer.id: offer.refused for offer in state.offers if offer.refused}
    assert refused["class_scores"] == "This model does not provide: a class label."

    state.show("class_scores")

    assert state.view == "token_scores"


def test_a_view_is_asked_once_for_a_text(state, host):
    host.answer(TokenLabels(TOKENS, WORDS))
    state.show("spans")
    host.answer(PredictedSpans((), ()))
    asked = len(host.asked)

    state.show("token_scores")
    state.show("spans")
    assert len(host.asked) == asked

    state.type_text("Another text")
    assert len(host.asked) == asked + 1 and state.of("token_scores").result is None


def test_other_options_are_asked_for_and_the_result_before_stays_meanwhile(state, host):
    host.answer(TokenLabels(TOKENS, WORDS))
    state.current.set_options(top=2)

    assert host.asked[-1].options == {"top": 2} and state.current.option("top") == 2
    assert state.current.result is not None and state.asking


def test_unknown_words_and_a_cut_text_are_shown(state, host):
    host.answer(TokenLabels(TOKENS, WORDS, cut=True), unknown=0.25)

    assert len(state.warnings) == 2 and "25%" in state.warnings[0]


def test_a_long_text_is_answered_in_parts_that_are_joined(state, host):
    state.choose("model starter-bert")
    assert host.asked[-1].options == {"part": PAGE_TOKENS}
    host.answer(ExpectedWords(TOKENS, WORDS, masked=True, answered=1))
    assert state.current.result.unanswered == 1  # shown while the rest is computed
    assert state.current.continuing and not state.asking

    assert host.asked[-1].options == {"part": PAGE_TOKENS, "start": 1}
    tokens = (replace(TOKENS[0], best=()), replace(TOKENS[1], best=(("x", 0.5),)))
    host.answer(ExpectedWords(tokens, WORDS, masked=True, first=1, answered=1))

    result = state.current.result
    assert [bool(token.best) for token in result.tokens] == [True, True] and result.unanswered == 0
    assert not state.current.continuing


def test_another_request_replaces_the_parts_to_come(state, host):
    state.choose("model starter-bert")
    host.answer(ExpectedWords(TOKENS, WORDS, masked=True, answered=1))
    part = host.asked[-1]

    state.current.set_options(top=2)
    assert state.asking and not state.current.continuing
    part.done(Inspection("vocabulary", ExpectedWords(TOKENS, WORDS, answered=2)), None)
    assert state.asking and state.current.result.answered == 1  # too late


def test_a_closed_view_computes_no_parts_until_it_is_open_again(state, host):
    state.choose("model starter-bert")
    state.of("vocabulary").ask()
    request = host.asked[-1]
    state.show("subwords")
    words = ExpectedWords(TOKENS, WORDS, masked=True, answered=1)
    request.done(Inspection("vocabulary", words), None)
    assert "start" not in host.asked[-1].options and not state.of("vocabulary").continuing

    state.show("vocabulary")
    assert host.asked[-1].options == {"part": PAGE_TOKENS, "start": 1} and state.current.continuing


def test_what_exceeds_the_budget_is_computed_on_request(state, host, monkeypatch):
    monkeypatch.setattr("workbench.inspection.vocabulary.info.BUDGET", 16)
    tokens = TOKENS * 8
    state.choose("model starter-bert")
    host.answer(ExpectedWords(tokens, WORDS, masked=True, answered=8))
    assert state.current.result.unanswered == 8 and not state.current.continuing

    state.current.ask_rest()
    assert state.current.continuing and host.asked[-1].options == {"part": PAGE_TOKENS, "start": 8}
    host.answer(ExpectedWords(tokens, WORDS, masked=True, first=8, answered=4))
    late = host.asked[-1]
    assert late.options == {"part": PAGE_TOKENS, "start": 12}

    state.current.stop()
    late.done(Inspection("vocabulary", ExpectedWords(tokens, WORDS, first=12, answered=4)), None)
    assert state.current.result.unanswered == 4 and not state.current.continuing  # too late


def test_a_model_that_fails_to_load_says_why(state, host):
    host.message = "No memory. Close something."
    host.changed.emit("failed")

    assert state.error == "No memory. Close something." and not state.asking


def test_an_inspector_that_fails_says_why_until_it_is_asked_again(state, host):
    host.asked[-1].done(None, WorkbenchError("It broke."))
    assert state.error == "It broke." and not state.asking

    state.ask()
    assert state.error == "" and state.asking


def test_gold_follows_the_project(state):
    before = state.gold
    labels.rename_label(state.project, next(iter(state.labels.values())).id, "Renamed")

    assert state.gold is not before and "Renamed" in state.labels


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


def test_a_document_selected_elsewhere_is_read_when_the_page_is_shown(state):
    first, second = list(listing.ids(state.project.db))[:2]
    state.choose(TAGGER.key)
    state.pick(first)
    assert state.project.selection == (first,)

    state.project.select((second,), "data")
    assert (state.document_id, state.chosen_documents) == (first, (second,))
    state.corpus.follow()
    assert state.document_id == second
    state.type_text("Typed here.")
    state.project.select((first,), "data")
    state.corpus.follow()
    assert state.document_id is None  # typed text stays


def test_documents_selected_on_a_map_are_those_of_all_pages(state):
    state.corpus.choose((3, 1))
    assert state.project.selection == (3, 1)
    state.corpus.choose(())
    assert (state.project.selection, state.chosen_documents) == ((3, 1), ())


def test_an_answer_that_failed_has_its_traceback_and_is_asked_for_again(state, host):
    state.show("spans")
    error = JobFailed("KeyError: 7", details="Traceback …")
    host.asked[-1].done(None, error)
    assert (state.current.error, state.current.details) == ("KeyError: 7", "Traceback …")

    asked = len(host.asked)
    state.show("subwords")
    state.show("spans")

    assert (state.current.error, state.current.details) == ("", "")
    assert [item.inspector for item in host.asked[asked:]] == ["subwords", "spans"]


def test_an_error_of_earlier_options_is_gone_when_the_view_is_shown_again(state, host):
    state.show("token_scores")
    host.answer(TokenLabels())
    state.current.set_options(top=2)
    host.asked[-1].done(None, JobFailed("Failed."))
    assert state.current.answer is not None and state.error == "Failed."

    state.show("subwords")
    state.show("token_scores")

    assert state.current.error == "" and host.asked[-1].inspector == "token_scores"


def test_a_crash_is_forgotten_when_the_model_is_loaded_again(state, host):
    host.message, host.details = "The process ended.", "Segmentation fault"
    host.changed.emit("crashed")
    assert (state.fault, state.fault_details) == ("The process ended.", "Segmentation fault")

    host.changed.emit("starting")

    assert (state.fault, state.fault_details) == ("", "")
