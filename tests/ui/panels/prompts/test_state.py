"""The Prompts state: the rendered prompt, its errors, and the run.

No window, no worker.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.held import Held
from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.settings import Settings
from workbench.jobs.events import Finished, Output, Started
from workbench.operations.documents import corpus
from workbench.operations.prompts import prompt_versions
from workbench.operations.runs import results
from workbench.operations.runs.run_recorder import wire
from workbench.project.project import Project
from workbench.prompting import transcript
from workbench.prompting.spec import AnswerSpec, Decoding
from workbench.storage.labels import labels
from workbench.ui.panels.prompts.state import PromptsState

pytestmark = pytest.mark.process  # the worker that renders templates


class StillQueue:
    """A queue that starts nothing; tests send its events."""

    def __init__(self):
        self.changed, self.jobs, self.spare = Signal("queue.changed"), (), None

    def add(self, spec):
        asked = []
        job = SimpleNamespace(
            spec=spec,
            asked=asked,
            ending="",
            stop=lambda: asked.append("stop"),
            cancel=lambda: asked.append("cancel"),
        )
        self.jobs = (*self.jobs, job)
        return job

    def run(self, spec, watch):
        """As `Queue.run`: every document is answered with the label delay."""
        _answer(self.add(spec), "delay")
        return {}

    def tell(self, job, event):
        self.changed.emit(job, event)


@pytest.fixture
def context(copy_sample, tmp_path):
    project = Project.open(copy_sample(tmp_path))
    went = []
    made = panel_tasks.context(
        project=project,
        queue=StillQueue(),
        settings=Settings(),
        went=went,
        commands_changed=lambda: None,
        go=lambda page, **args: went.append((page, args)),
        dispatch=lambda act: act(),
        attempt=lambda act, *args, **named: act(*args, **named),
    )
    wiring = wire(project, made.queue)
    yield made
    wiring.close()
    project.close()


@pytest.fixture
def state(context):
    made = PromptsState(context)
    yield made
    made.close()


def test_it_opens_with_a_template_that_works(state):
    assert (state.draft.spec.layer, state.models.key, state.preview.problem) == (
        "class",
        "starter-bert",
        "",
    )
    assert state.run.ready and state.preview.dev == 60 and state.models.teaching
    assert state.preview.prompt.examples == 6 and 40 < state.preview.prompt.tokens <= 512
    assert (
        state.preview.document.text in state.preview.prompt.text
        and state.preview.prompt.text.strip().endswith(state.preview.prompt.label)
    )


def test_what_is_wrong_with_a_template_is_reported_and_holds_the_run_back(state, context):
    state.draft.change(template="{{ text }")

    assert "Line 1" in state.preview.problem and not state.run.ready and context.faults == []
    assert state.prompt.edited and state.prompt.number == 0


def test_a_template_that_runs_without_end_is_reported_and_the_next_good_one_previews(state):
    good = state.draft.spec.template
    state.draft.change(template="{% for a in text %}" * 6 + "{% endfor %}" * 6 + "{{ label }}")
    assert "takes too long (limit 1 s)" in state.preview.problem and not state.run.ready

    state.draft.change(template="{{ (('x' * 9999) * 9999)|replace('x', 'y' * 9999) }}{{ label }}")
    assert "too much memory (limit 512 MB)" in state.preview.problem and not state.run.ready

    state.draft.change(template=good)
    assert state.preview.problem == "" and state.run.ready


def test_more_shots_than_fit_are_left_out_and_counted(state):
    state.draft.change(shots=60)

    assert (
        state.preview.prompt.dropped > 0
        and state.preview.prompt.examples + state.preview.prompt.dropped == 60
    )
    assert state.preview.prompt.tokens <= 512


def test_the_pair_layer_brings_its_own_template_unless_one_was_written(state):
    layers = labels.layers(state.draft.project.db)
    pairs = next(layer.name for layer in layers if layer.texts == 2 and layer.kind == "class")
    state.prompt.choose_layer(pairs)
    assert "text_b" in state.draft.spec.template and state.preview.problem == ""

    state.prompt.choose_layer("class")
    state.draft.change(template="{{ text }} {{ label }}")
    state.prompt.choose_layer(pairs)
    assert state.draft.spec.template == "{{ text }} {{ label }}"


def test_next_shows_another_document_of_dev(state):
    first = state.preview.document.id
    state.preview.step(1)
    second = state.preview.document.id
    state.preview.step(-1)

    assert first != second and state.preview.document.id == first


def test_another_candidate_changes_only_the_label(state):
    other = next(
        prompt for prompt in state.preview.prompt.prompts if prompt != state.preview.prompt.label
    )
    before = state.preview.prompt
    state.preview.show_label(other)

    assert state.preview.prompt.label == other and state.preview.prompt.prompts == before.prompts


def test_a_run_is_followed_to_its_scores(state, context):
    state.run.run_on_dev()
    job = context.queue.jobs[-1]
    context.queue.tell(job, Started(1, "2026-01-01T00:00:00"))
    context.queue.tell(
        job, Output({"kind": "progress", "done": 30, "total": 60, "seconds_left": 5.0})
    )
    assert state.run.running and state.run.live.share == 0.5 and not state.run.ready

    _answer(job, "delay")
    context.queue.tell(job, Finished("done", {"n": 60, "seconds": 1.0, "versions": {}}))

    assert state.run.live.status == "done" and state.run.evaluation.n == 60
    assert state.run.evaluation.scores["accuracy"] == pytest.approx(1 / 6)
    assert state.run.prior == pytest.approx(dict.fromkeys(state.preview.prompt.prompts, 1 / 6))
    assert state.run.ready
    low, high = state.run.evaluation.interval("accuracy")
    assert low < 1 / 6 < high
    assert state.run.evaluation.of_label("delay", "recall").interval == (1.0, 1.0)


def test_the_answers_to_unlabelled_documents_become_suggestions(state, context):
    state.run.run_on_dev()
    job = context.queue.jobs[-1]
    _answer(job, "delay")
    context.queue.tell(job, Finished("done", {"n": 60, "seconds": 1.0, "versions": {}}))

    state.run.make_suggestions()

    assert context.faults == []
    assert context.notes[-1].startswith("prompt-1 created 120 suggestions.")


def _answer(job, label, most=None):
    with transcript.AnswerFile(Path(job.spec.folder)) as file:
        lines = transcript.prompts(Path(job.spec.params["prompts"]))
        for number, line in enumerate(lines[:most]):
            chosen = label if line["document_id"] is not None else None
            scores = {name: [-1.0] if name == chosen else [-4.0] for name in line["prompts"]}
            file.add([transcript.answer(number, line, {"logprobs": scores, "seconds": 0.1})])


def test_a_prompt_is_saved_when_it_is_run_and_its_run_names_the_version(state, context):
    state.draft.change(template="{{ text }} is about {{ label }}", shots=2)
    state.run.run_on_dev()

    (saved,) = prompt_versions.every(context.project)
    assert (saved.name, saved.body) == ("Few-shot class", "{{ text }} is about {{ label }}")
    run = results.run(context.project, state.run.live.run_id)
    assert (run.spec["prompt_name"], run.spec["prompt_version"]) == ("Few-shot class", 1)
    assert not state.prompt.edited and state.prompt.number == 1


def test_a_prompt_that_was_written_is_saved_at_the_end_and_no_other(state, context):
    def versions():
        return [len(prompt.versions) for prompt in prompt_versions.every(context.project)]

    state.draft.change(shots=3)
    assert state.store_texts() is None and versions() == []
    state.draft.take = lambda: state.draft.change(template="{{ text }} is {{ label }}")
    assert state.store_texts() is None and versions() == [1]
    state.draft.take = lambda: None
    state.draft.change(seed=9)
    assert state.store_texts() is None and versions() == [1]
    state.draft.change(instruction="Read the message.")
    assert state.store_texts() is None and versions() == [2] and state.unsaved_texts() == ()

    again = PromptsState(context)
    assert again.draft.spec.instruction == "Read the message."
    again.close()


def test_a_prompt_that_cannot_be_saved_is_kept(state, monkeypatch):
    def full(*_arguments):
        raise WorkbenchError("The disk is full.")

    monkeypatch.setattr(prompt_versions, "save", full)
    state.draft.change(template="{{ text }} is {{ label }}")

    assert str(state.store_texts()) == "The disk is full."
    assert [text.text for text in state.unsaved_texts()] == ["{{ text }} is {{ label }}"]


def test_stop_and_cancel_reach_the_job(state, context):
    state.run.run_on_dev()
    state.run.stop()
    state.run.cancel()

    assert context.queue.jobs[-1].asked == ["stop", "cancel"]


def test_a_cancelled_run_with_answers_goes_on(state, context):
    state.run.run_on_dev()
    job = context.queue.jobs[-1]
    _answer(job, "delay", most=10)
    context.queue.tell(job, Finished("cancelled"))
    assert state.run.can_resume and state.run.live.status == "cancelled"
    assert state.run.live.message.startswith("Cancelled after the answers to ")

    state.run.resume()

    again = context.queue.jobs[-1]
    assert again is not job and again.spec.folder == job.spec.folder
    assert not state.run.can_resume and state.run.running
    _answer(again, "delay")
    context.queue.tell(again, Finished("done", {"n": 60, "seconds": 1.0, "versions": {}}))
    assert state.run.evaluation.n == 60 and not state.run.can_resume


def test_a_run_that_ended_early_can_go_on_after_a_restart(state, context):
    state.run.run_on_dev()
    job = context.queue.jobs[-1]
    _answer(job, "delay", most=10)
    context.queue.tell(job, Finished("cancelled"))

    again = PromptsState(context)

    assert again.run.can_resume and again.run.live.run_id == state.run.live.run_id
    assert again.run.live.message.startswith("Cancelled after the answers to ")
    again.run.resume()
    assert again.run.running
    again.close()


def test_cancelling_while_the_prompts_are_filled_starts_no_run(state, context):
    """The run is cancelled on a progress message of the rendering."""
    shares = []

    def cancel(fields):
        if "prepared" in fields:
            shares.append(state.run.prepared)
            state.run.cancel()

    state.run.listen(state.run.changed, cancel)
    state.run.run_on_dev()

    assert shares and context.queue.jobs == () and context.faults == []
    assert not state.run.preparing and state.run.ready


def test_a_deleted_document_gives_way_to_another(state, context):
    first = state.preview.document
    corpus.delete_documents(context.project, [first.id])

    state.refresh()

    assert state.preview.problem == "" and state.preview.document.id != first.id


def test_a_failed_run_says_why(state, context):
    state.run.run_on_dev()
    context.queue.tell(
        context.queue.jobs[-1], Finished("failed", message="No memory.", hint="Close something.")
    )

    assert state.run.live.status == "failed" and (state.run.live.message, state.run.live.hint) == (
        "No memory.",
        "Close something.",
    )


# ---------------------------------------------------------------- predictions for one text


class StillHost:
    """A model that answers when the test tells it to; the first label is the most probable."""

    made: list = []

    def __init__(self, *_args, **_named):
        StillHost.made.append(self)
        self.requests, self.waiting = [], []

    def ask(self, _kind, request, done):
        self.requests.append(request["prompts"])
        self.waiting = [(request["prompts"], done)]  # only the newest counts

    def answer(self):
        for tables, done in self.waiting:
            result = [
                {label: [-1.0 - number] for number, label in enumerate(table)} for table in tables
            ]
            done({"logprobs": result}, None)
        self.waiting = []

    def close(self):
        pass


@pytest.fixture
def host(state, monkeypatch):
    """The host that the first request creates."""
    monkeypatch.setattr("workbench.jobs.host.Host", StillHost)
    monkeypatch.setattr(StillHost, "made", [])
    state.preview.try_text()
    (made,) = StillHost.made
    return made


def test_answers_show_score_prior_and_share(state, host):
    assert state.preview.asking and state.preview.answers == ()
    host.answer()

    assert not state.preview.asking and len(state.preview.answers) == 6
    delay = next(row for row in state.preview.answers if row.label == "delay")
    assert delay.score == -1.0 and delay.share == pytest.approx(
        1 / 6
    )  # as probable as without a text
    assert sum(row.prior for row in state.preview.answers) == pytest.approx(1)


def test_answers_stay_when_the_page_is_left_and_shown_again(state, host):
    host.answer()
    before = state.preview.answers

    state.refresh()

    assert state.preview.answers == before and len(host.requests) == 1


def test_an_answer_that_arrives_while_the_page_is_left_is_kept(state, host):
    state.refresh()
    assert state.preview.asking

    host.answer()

    assert not state.preview.asking and len(state.preview.answers) == 6


def test_answers_to_another_template_come_back_with_it(state, host):
    host.answer()
    template, before = state.draft.spec.template, state.preview.answers

    state.draft.change(template="{{ text }} is about {{ label }}")
    assert state.preview.answers == ()
    state.draft.change(template=template)

    assert state.preview.answers == before and len(host.requests) == 1


def test_answers_stay_while_the_template_has_an_error(state, host):
    host.answer()
    before = state.preview.answers

    state.draft.change(template="{{ text }")

    assert state.preview.problem and state.preview.answers == before


def test_the_prior_is_asked_once_for_all_texts_with_the_same_examples(state, host):
    host.answer()
    state.preview.step(1)
    assert state.preview.answers == () and not state.preview.asking

    state.preview.try_text()
    host.answer()

    assert len(state.preview.answers) == 6
    assert [len(tables) for tables in host.requests] == [4, 1]  # a text and three content-free ones


def test_another_calibration_shows_its_answers_at_once(state, host):
    host.answer()
    state.draft.change(calibration="none")
    assert state.preview.answers[0].prior is None and state.preview.answers[0].share > 0.5

    state.draft.change(calibration="pmi")

    assert (
        state.preview.answers[0].prior is not None and len(host.requests) == 1
    )  # the prior of "" is known


def test_a_calibration_whose_prior_is_not_known_asks_for_it(state, monkeypatch):
    monkeypatch.setattr("workbench.jobs.host.Host", StillHost)
    monkeypatch.setattr(StillHost, "made", [])
    state.draft.change(calibration="none")
    state.preview.try_text()
    (host,) = StillHost.made
    host.answer()

    state.draft.change(calibration="content-free")
    assert state.preview.asking
    host.answer()

    assert state.preview.answers[0].prior is not None
    assert [len(tables) for tables in host.requests] == [1, 3]


def test_the_run_stays_when_the_page_is_left_and_shown_again(state, context):
    state.run.run_on_dev()
    job = context.queue.jobs[-1]
    context.queue.tell(job, Started(1, "2026-01-01T00:00:00"))
    context.queue.tell(job, Output({"kind": "progress", "done": 30, "total": 60}))

    state.refresh()
    context.queue.tell(job, Output({"kind": "progress", "done": 45, "total": 60}))

    assert state.run.running and state.run.live.share == 0.75


def test_a_request_to_one_model_is_not_awaited_from_another(state, host):
    other = next(
        model.key
        for model in state.models.models
        if model.key != state.models.key and model.backend == state.models.choice.backend
    )
    before = state.models.key

    state.models.choose(other)
    assert not state.preview.asking

    state.models.choose(before)
    assert state.preview.asking


def test_after_a_change_of_plugins_no_answer_is_awaited(state, host):
    state._plugins_changed()

    assert not state.preview.asking


def test_a_run_that_is_cancelled_after_its_last_prompt_is_not_started(state, context):
    held = Held(context)
    state.run.run_on_dev()
    held.compute(0)

    state.run.cancel()
    held.answer(0)

    assert context.queue.jobs == () and not state.run.preparing and context.faults == []


def test_the_preview_of_an_earlier_choice_does_not_replace_a_later_one(state, context):
    held = Held(context)
    state.draft.change(shots=2)
    held.compute(0)
    state.draft.change(shots=4)

    held.answer(1, 0)

    assert state.preview.prompt.examples == 4


class WritingHost(StillHost):
    """A model that writes the same reply to each request when the test tells it to."""

    def ask(self, _kind, request, done):
        self.requests.append(request["requests"])
        self.waiting = [(request["requests"], done)]

    def write(self, text):
        for requests, done in self.waiting:
            done({"replies": [{"text": text, "finish": "stop"} for _request in requests]}, None)
        self.waiting = []


@pytest.fixture
def written(state, monkeypatch):
    """written(answer, text, **more) → the state after the model replied to the text shown."""
    monkeypatch.setattr("workbench.jobs.host.Host", WritingHost)
    monkeypatch.setattr(StillHost, "made", [])

    def write(answer, text, **more):
        state.models.choose("starter-gpt")
        state.draft.change(answer=answer, **more)
        state.preview.try_text()
        host = StillHost.made[-1]
        host.write(text)
        return state.preview, host

    return write


def test_a_reply_to_one_text_is_shown_as_received_with_what_was_read(written):
    preview, host = written(AnswerSpec("first"), "It is <b>praise</b>.")

    assert preview.replies == ("It is <b>praise</b>.",) and preview.read == "praise"
    (request,) = host.requests[0]
    assert request["text"] == preview.prompt.text and request["decoding"]["stop"] == ["\n\n"]
    assert not preview.asking and preview.answers == ()


def test_a_reply_without_an_answer_says_why_and_samples_are_asked_together(written):
    preview, host = written(AnswerSpec("json"), "?", decoding=Decoding(samples=3))

    assert preview.read == "no answer: The reply holds no valid JSON."
    assert [request["decoding"]["seed"] for request in host.requests[0]] == [1, 2, 3]


def test_quoted_strings_that_are_not_in_the_text_are_named(written, state):
    state.models.choose("starter-gpt")
    state.prompt.choose_layer("spans")
    word = state.preview.document.text.split()[0]

    preview, _host = written(AnswerSpec("quotes"), f'LINE: "{word}", "Atlantis"')

    assert preview.read == f"LINE “{word}” (not in the text: “Atlantis”)"
