"""The Prompts page's state: the exact prompt, what is wrong with it, and the run. No window, no worker."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench.base.errors import WorkbenchError
from workbench.base.events import Signal
from workbench.base.settings import Settings
from workbench.jobs.events import Finished, Output, Started
from workbench.operations import corpus, prompt
from workbench.operations.wire import wire
from workbench.project.project import Project
from workbench.ui.panels.prompts.state import OWN, PromptsState


class StillQueue:
    """A queue that starts nothing; tests tell its events."""

    def __init__(self):
        self.changed, self.jobs, self.spare = Signal("queue.changed"), (), None

    def add(self, spec):
        asked = []
        job = SimpleNamespace(
            spec=spec,
            asked=asked,
            stop=lambda: asked.append("stop"),
            cancel=lambda: asked.append("cancel"),
        )
        self.jobs = (*self.jobs, job)
        return job

    def tell(self, job, event):
        self.changed.emit(job, event)


@pytest.fixture
def context(tmp_path):
    project = Project.open(corpus.create_sample(tmp_path))
    faults, went = [], []

    def run(work, done, failed=None):
        try:
            found = work()
        except WorkbenchError as error:
            return (failed or faults.append)(error)
        done(found)

    made = SimpleNamespace(
        project=project, queue=StillQueue(), settings=Settings(), run=run, fail=faults.append, faults=faults, went=went,
        commands_changed=lambda: None, go=lambda page, **args: went.append((page, args)), dispatch=None,
        attempt=lambda act, *args, **named: act(*args, **named),
    )  # fmt: skip
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
    assert (state.layer, state.model, state.problem) == ("class", "starter-bert", "")
    assert state.ready and state.dev == 60 and state.teaching
    assert state.preview.examples == 6 and 40 < state.preview.tokens <= 512
    assert state.document.text in state.preview.text and state.preview.text.strip().endswith(
        state.preview.label
    )


def test_what_is_wrong_with_a_template_is_told_and_holds_the_run_back(state, context):
    state.set_template("{{ text }")

    assert "Line 1" in state.problem and not state.ready and context.faults == []
    assert state.chosen == OWN


def test_more_shots_than_fit_are_left_out_and_counted(state):
    state.set(shots=60)

    assert state.preview.dropped > 0 and state.preview.examples + state.preview.dropped == 60
    assert state.preview.tokens <= 512


def test_the_pair_layer_brings_its_own_template_unless_one_was_written(state):
    pairs = next(name for name, _count in state.layers if name != "class")
    state.choose_layer(pairs)
    assert "text_b" in state.template and state.problem == ""

    state.choose_layer("class")
    state.set_template("{{ text }} {{ label }}")
    state.choose_layer(pairs)
    assert state.template == "{{ text }} {{ label }}"


def test_next_shows_another_document_of_dev(state):
    first = state.document.id
    state.step(1)
    second = state.document.id
    state.step(-1)

    assert first != second and state.document.id == first


def test_another_candidate_changes_only_the_label(state):
    other = next(one for one in state.preview.prompts if one != state.preview.label)
    before = state.preview
    state.show_label(other)

    assert state.preview.label == other and state.preview.prompts == before.prompts


def test_a_run_is_followed_to_its_scores(state, context):
    state.run_on_dev()
    job = context.queue.jobs[-1]
    context.queue.tell(job, Started(1, "2026-01-01T00:00:00"))
    context.queue.tell(
        job, Output({"kind": "progress", "done": 30, "total": 60, "seconds_left": 5.0})
    )
    assert state.running and state.live.share == 0.5 and not state.ready

    _answer(job, "delay")
    context.queue.tell(job, Finished("done", {"n": 60, "seconds": 1.0, "versions": {}}))

    assert state.live.status == "done" and state.evaluation.n == 60
    assert state.evaluation.scores["accuracy"] == pytest.approx(1 / 6)
    assert state.ready


def _answer(job, label):
    lines = [json.loads(one) for one in Path(job.spec.params["prompts"]).read_text().splitlines()]
    rows = []
    for line in lines:
        about = {name: line[name] for name in ("document_id", "text_hash", "split", "cut")}
        rows.append(
            {
                **about,
                "logprobs": {name: [-1.0] if name == label else [-4.0] for name in line["prompts"]},
            }
        )
    (Path(job.spec.folder) / "scores.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )


def test_a_template_that_was_edited_is_kept_in_the_project_when_it_is_run(state, context):
    state.set_template("{{ text }} is about {{ label }}")
    state.run_on_dev()

    assert [one.body for one in prompt.saved(context.project)] == [
        "{{ text }} is about {{ label }}"
    ]
    assert state.chosen.startswith("saved ")


def test_stop_and_cancel_reach_the_job(state, context):
    state.run_on_dev()
    state.stop()
    state.cancel()

    assert context.queue.jobs[-1].asked == ["stop", "cancel"]


def test_a_failed_run_says_why(state, context):
    state.run_on_dev()
    context.queue.tell(
        context.queue.jobs[-1], Finished("failed", message="No memory.", hint="Close something.")
    )

    assert state.live.status == "failed" and state.live.message == "No memory. Close something."
