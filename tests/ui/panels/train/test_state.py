"""The Train state: choices, usable data, and a run from its events.

No window, no worker.
"""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.held import Held
from workbench.base.events import Signal
from workbench.base.settings import Settings
from workbench.jobs import machine
from workbench.jobs.events import Finished, Output, Started
from workbench.operations.runs import cut_texts, train
from workbench.operations.schema import labels as schema
from workbench.project.project import Project
from workbench.storage.labels import labels
from workbench.tasks import spec as tasks
from workbench.ui.panels.train.state import TrainState
from workbench.ui.project.job_progress import JobProgress, RunningMean, follow


class StillQueue:
    """A queue that starts nothing; tests send its events."""

    def __init__(self):
        self.changed, self.jobs = Signal("queue.changed"), ()
        self.results = []

    def add(self, spec):
        job = SimpleNamespace(
            spec=spec,
            status="waiting",
            events=[],
            asked=[],
            ending="",
            over=False,
            result={},
            stop=lambda: job.asked.append("stop"),
            cancel=lambda: job.asked.append("cancel"),
        )
        self.jobs = (*self.jobs, job)
        return job

    def run(self, spec, watch):
        """As `Queue.run`, which waits for the job: its answer is the next of `results`."""
        self.add(spec)
        return self.results.pop(0)

    def tell(self, job, event):
        self.changed.emit(job, event)


@pytest.fixture
def context(copy_sample, tmp_path):
    project = Project.open(copy_sample(tmp_path))
    yield panel_tasks.context(
        project=project,
        queue=StillQueue(),
        settings=Settings(),
        run=lambda work, done, failed=None: done(work()),
        attempt=lambda act, *args, **named: act(*args, **named),
        commands_changed=lambda: None,
        go=lambda *args, **named: None,
    )
    project.close()


@pytest.fixture
def state(context):
    made = TrainState(context)
    yield made
    made.close()


def step(number, total=10, loss=1.0):
    figures = {
        "epoch": 1,
        "learning_rate": 1e-4,
        "examples_per_second": 20.0,
        "memory_mb": 800,
        "seconds_left": 9.0,
    }
    return Output(
        {"kind": "step", "step": number, "total": total, "losses": {"task": loss}, **figures}
    )


def test_it_opens_with_the_layer_that_has_most_submitted_documents_and_the_starter(state):
    assert (state.task, state.layer, state.model) == ("classify", "class", "starter-bert")
    assert state.plan.used == {"train": 180, "dev": 60, "test": 60}
    assert state.ready


def test_another_task_takes_its_own_layer_and_reports_what_it_leaves_out(state):
    state.choose_task("tag")

    assert state.layer == "spans"
    assert any("overlap" in group.reason and group.count > 0 for group in state.plan.left_out)


def test_a_setting_that_does_not_fit_is_reported_at_its_field_and_holds_the_start_back(
    state, context
):
    state.set_values({"learning_rate": "abc"})

    assert "abc" in state.errors["learning_rate"]
    state.start()
    assert context.queue.jobs == ()

    state.set_values({"learning_rate": "0.001"})
    assert state.ready


def test_the_settings_are_those_of_the_chosen_method(state):
    state.set_values({"method": "full", "freeze": "2"})
    assert state.values["freeze"] == "2" and "freeze" in {option.name for option in state.options}

    state.set_values({**state.values, "method": "frozen"})

    assert state.values == {"method": "frozen"} and not state.errors
    assert "freeze" not in {option.name for option in state.options}


def test_what_a_method_trains_and_takes_is_reported_before_the_start(state):
    assert "Trains all" in state.defaults_text()

    state.set_values({"method": "lora", "lora_rank": "4"})
    small = state.defaults_text()
    state.set_values({"method": "lora", "lora_rank": "64"})

    assert "MB" in small and small != state.defaults_text()


def test_memory_that_is_not_free_is_warned_about_beside_the_start(state, monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: (8 << 30, 10 << 20))
    assert "10 MB are free" in state.memory_warning()

    monkeypatch.setattr(machine, "memory", lambda: (64 << 30, 64 << 30))
    assert state.memory_warning() == ""


def test_settings_that_exclude_one_another_are_reported_at_the_field(state):
    state.choose_task("tag")

    state.set_values({"decoder": "crf", "label_subwords": "all"})
    assert "CRF" in state.errors["label_subwords"] and not state.ready

    state.set_values({"decoder": "crf"})
    assert not state.errors


def test_weights_of_labels_that_the_layer_does_not_have_are_reported_at_the_field(state, context):
    first = schema.layers(context.project)[0]
    label = first.names[0]
    state.set_values({"class_weights": f"{label}=2, NIX=3"})
    assert "'NIX', which is not a label here" in state.errors["class_weights"]
    assert f"{label}" in state.errors["class_weights"] and not state.ready

    state.set_values({"class_weights": f"{label}=2"})
    assert not state.errors

    state.choose_task("tag")  # of another layer
    assert f"{label!r}, which is not a label here" in state.errors["class_weights"]


def test_start_queues_a_run_and_its_events_become_curves(state, context):
    state.set_values({"epochs": "2"})
    state.start()
    (job,) = context.queue.jobs
    assert state.running and state.live.status == "waiting"

    context.queue.tell(job, Started(1, "2026-01-01T00:00:00Z"))
    context.queue.tell(job, step(1, loss=2.0))
    context.queue.tell(job, step(2, loss=1.5))
    context.queue.tell(
        job,
        Output(
            {
                "kind": "evaluated",
                "step": 2,
                "split": "dev",
                "scores": {"macro_f1": 0.5, "accuracy": 0.6},
            }
        ),
    )
    context.queue.tell(job, Output({"kind": "saved", "step": 2}))

    assert state.live.share == 0.2
    assert state.live.losses == {"task": [2.0, 1.5]}
    assert state.live.scores["macro_f1"] == [0.5] and state.live.best == 2


def test_steps_that_come_in_one_message_are_points_of_their_own(state, context):
    state.start()
    (job,) = context.queue.jobs
    context.queue.tell(job, Started(1, "2026-01-01T00:00:00Z"))

    context.queue.tell(job, step(1, loss=2.0))
    burst = step(4, loss=0.5)
    burst.payload["earlier"] = {"step": [2, 3], "losses": {"task": [1.5, 1.0]}}
    context.queue.tell(job, burst)

    assert state.live.steps == [1, 2, 3, 4] and state.live.step == 4
    assert state.live.losses == {"task": [2.0, 1.5, 1.0, 0.5]}
    assert len(state.live.smoothed["task"]) == 4


def test_stop_and_cancel_reach_the_job_of_the_run(state, context):
    state.start()
    (job,) = context.queue.jobs

    state.stop()
    state.cancel()
    assert job.asked == ["stop", "cancel"]


@pytest.mark.parametrize("status", ["failed", "out_of_memory", "crashed"])
def test_a_bad_end_is_reported_with_its_hint_and_another_run_can_start(state, context, status):
    state.start()
    (job,) = context.queue.jobs
    context.queue.tell(job, Started(1, ""))
    context.queue.tell(job, Finished(status, message="It broke.", hint="Do this."))

    assert (state.live.status, state.live.message, state.live.hint) == (
        status,
        "It broke.",
        "Do this.",
    )
    assert not state.running and state.ready


def test_a_second_start_with_the_same_choices_within_a_second_does_nothing(
    state, context, monkeypatch
):
    clock = [100.0]
    monkeypatch.setattr("workbench.ui.panels.train.checks.time.monotonic", lambda: clock[0])
    state.start()

    clock[0] += 0.6
    state.start()
    assert len(context.queue.jobs) == 1

    clock[0] += 0.6
    state.start()
    assert len(context.queue.jobs) == 2


def test_a_second_run_waits_and_takes_over_when_it_begins(state, context):
    state.start()
    state.set_seed(2)
    state.start()
    first, second = context.queue.jobs
    assert state.waiting == 1

    context.queue.tell(first, Started(1, ""))
    context.queue.tell(first, Finished("done", {"best_step": 3}))
    context.queue.tell(second, Started(2, ""))
    assert state.live.run_id == second.spec.params["run"]["id"]


def test_a_queued_run_that_is_cancelled_is_no_longer_counted(state, context):
    state.start()
    state.set_seed(2)
    state.start()
    first, second = context.queue.jobs
    context.queue.tell(first, Started(1, ""))
    fields = []
    state.changed.connect(fields.append)

    context.queue.tell(second, Finished("cancelled"))

    assert state.waiting == 0 and "run" in fields[-1]
    assert state.live.run_id == first.spec.params["run"]["id"]


def test_the_settings_of_an_earlier_run_can_be_taken(state, context):
    state.choose_task("tag")
    state.set_values({"epochs": "3"})
    state.set_seed(7)
    spec = state.spec()
    state.choose_task("classify")

    state.take(spec)
    assert (state.task, state.layer, state.seed, state.values) == (
        "tag",
        "spans",
        7,
        {"epochs": "3"},
    )


def test_without_a_submitted_document_it_says_why_it_cannot_begin(tmp_path, context):
    from workbench.operations.schema import labels

    project = Project.create(tmp_path / "empty.glossbench")
    labels.add_layer(project, "class", "class", labels=("good", "bad"))
    context.project, before = project, context.project
    state = TrainState(context)

    assert "submitted" in state.plan.problem and not state.ready
    state.close()
    project.close()
    context.project = before


def test_a_page_made_while_a_run_goes_on_shows_what_it_has_missed(state, context):
    run = train.start(context.project, context.queue, state.spec())
    (job,) = context.queue.jobs
    job.status, job.events = "running", [Started(1, ""), step(1), step(2)]

    late = TrainState(context)
    assert late.live.run_id == run.id and late.live.steps == [1, 2]
    late.close()


def test_smoothing_starts_at_the_first_value_and_follows_a_constant():
    assert [*map(RunningMean().add, (2.0, 2.0, 2.0))] == pytest.approx([2.0, 2.0, 2.0])
    # (0.9 · 0.1 · 1 + 0.1 · 0) / (1 − 0.9²)
    assert [*map(RunningMean().add, (1.0, 0.0))][1] == pytest.approx(0.09 / 0.19)


def test_a_hidden_page_counts_again_only_when_it_is_shown(state, context):
    from workbench.operations.annotation import annotate, document_view
    from workbench.storage.documents import documents

    (document, *_rest) = documents.ids(
        context.project.db, documents.Filter(state="submitted", texts=1)
    )
    layer = next(
        layer
        for layer in document_view.view(context.project, document).layers
        if layer.name == "class"
    )
    state.watch(False)

    annotate.reopen(context.project, document, [layer.id])
    assert state.plan.used["train"] == 180

    state.watch(True)
    assert state.plan.used["train"] == 179


def test_the_page_opens_with_the_curves_of_the_last_training(context):
    from workbench.base import paths
    from workbench.jobs import events

    first = TrainState(context)
    first.start()
    run_id = first.live.run_id
    first.close()
    context.queue.jobs = ()
    with context.project.write():
        from workbench.storage.runs import runs

        runs.update(
            context.project.db,
            run_id,
            status="failed",
            result={"message": "It broke.", "hint": "Look."},
        )
    lines = [
        step(1, loss=2.0),
        step(2, loss=1.0),
        Output({"kind": "evaluated", "step": 2, "scores": {"macro_f1": 0.5, "accuracy": 0.6}}),
    ]
    path = paths.run_folder(context.project.path, run_id) / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(events.to_json(line)) + "\n" for line in lines))

    again = TrainState(context)

    assert again.live.losses == {"task": [2.0, 1.0]}
    assert (again.live.status, again.live.message, again.running) == ("failed", "It broke.", False)
    assert again.live.log == ["step 2: dev Macro F1 50.0  Accuracy 60.0"]
    again.close()


def test_it_shows_how_long_a_run_takes_going_by_the_last_one_like_it(context):
    from workbench.storage.runs import runs
    from workbench.training.plan import Plan
    from workbench.training.results import TrainResult

    def ended(name, spec, seconds, steps=12):
        with context.project.edit("Train"):
            plan = Plan(1, 16, 1e-4, 64, 12, 12, "accuracy")
            result = TrainResult(steps=steps, seconds=seconds, plan=plan).to_json()
            runs.add(context.project.db, name, spec=spec, status="done", result=result)

    spec = {"task": "classify", "model_name": "starter-bert"}
    ended("same", spec, 24.0)
    ended("another model", {**spec, "model_name": "starter-gpt"}, 900.0)
    ended("hardly begun", spec, 20.0, steps=4)  # most of its time is the start
    state = TrainState(context)

    state.set_values({"epochs": "1"})
    assert state.defaults_text().startswith(
        "1 epoch. Steps per epoch: 12"
    ) and state.defaults_text().splitlines()[0].endswith(
        "Less than a minute, estimated from “same”."
    )
    state.set_values({"epochs": "10"})
    assert state.defaults_text().splitlines()[0].endswith("About 4 min, estimated from “same”.")
    state.choose_model("starter-gpt")
    assert "estimated from “another model”" in state.defaults_text()
    state.close()


def test_a_layer_that_cannot_be_trained_on_is_reported_if_no_other_can(context, state, tmp_path):
    project = Project.create(tmp_path / "other.glossbench")
    other = TrainState(SimpleNamespace(**{**vars(context), "project": project}))
    for shown in (context.project, project):
        with shown.edit("Add layer"):
            labels.add_layer(shown.db, "themes", "multi", texts=2)
    state.refresh()
    other.refresh()

    assert state.unlearned == ""
    assert other.unlearned == "No task can learn layer themes."
    other.close()
    project.close()


def test_how_many_texts_are_cut_is_counted_exactly_for_the_length_that_is_set(state):
    state.set_values({"max_length": "16"})

    (cut,) = [warning for warning in state.warnings if "longer than 16 subwords" in warning]
    count, total = cut.removesuffix(".").rpartition(": ")[2].split(" of ")
    assert total == "240" and 0 < int(count) <= 240  # 180 train and 60 dev documents

    state.set_values({})
    assert not any("longer than 16" in warning for warning in state.warnings)


def test_a_count_that_is_no_longer_wanted_is_given_up_and_one_that_is_known_is_not_made_again(
    state, context, monkeypatch
):
    watches, count = [], cut_texts.count_cut
    held = panel_tasks.hold(context, "count_cut")

    def count_cut(*args, watch, **named):
        watches.append(watch)
        return count(*args, watch=watch, **named)

    monkeypatch.setattr(cut_texts, "count_cut", count_cut)

    state.set_values({"max_length": "16"})
    assert [warning for warning in state.warnings if warning.startswith("About")]
    state.set_values({"max_length": "12"})
    for count_now in held:
        count_now()
    assert [
        warning for warning in state.warnings if warning.startswith("Texts longer than 12 subwords")
    ] and [watch.cancelled for watch in watches] == [True, False]

    state.set_values({"max_length": "16"})
    state.set_values({"max_length": "12"})
    assert len(held) == 3 and [
        warning for warning in state.warnings if warning.startswith("Texts longer than 12 subwords")
    ]


def test_a_model_that_lacks_what_the_task_needs_is_refused(state, monkeypatch):
    state.choose_model("starter-gpt")
    assert state.unfit == {} and state.ready
    monkeypatch.setattr(type(tasks.info("tag")), "needs", frozenset({"masked_lm"}))

    state.choose_task("tag")

    assert state.model == "starter-gpt" and not state.ready
    assert "needs predictions of masked words" in state.unfit["starter-gpt"]
    state.choose_model("starter-bert")
    assert state.ready


def test_a_model_with_damaged_files_is_listed_with_the_reason_and_not_chosen(
    state, context, tmp_path
):
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    (tmp_path / "torn" / "model.safetensors").write_bytes(b"0" * 5)
    context.settings.model_folders = [str(tmp_path / "torn")]

    state.refresh()

    assert state.unfit["torn"].startswith("torn cannot be used: ")
    assert "torn" in [card.name for card in state.models] and state.model == "starter-bert"


def test_with_the_last_layer_the_plan_goes_before_listeners_are_called(state, context):
    seen = []
    state.listen(state.changed, lambda _fields: seen.append((state.task, state.plan is None)))

    for layer in labels.layers(context.project.db):
        schema.delete_layer(context.project, layer.id)

    assert ("", False) not in seen and seen[-1] == ("", True)


def test_a_start_that_comes_while_the_plan_is_worked_out_waits_for_it(state, context):
    held = Held(context)
    state.refresh()

    state.start_soon()
    assert state.working_out and not context.queue.jobs

    held.end()
    held.answer(0)
    assert [job.spec.params["run"]["purpose"] for job in context.queue.jobs] == ["train"]


def test_the_plan_of_another_layer_is_not_shown_while_documents_are_counted(state, context):
    before, held = state.plan.layer.name, Held(context)

    state.choose_task("tag")
    assert state.plan is None and not state.ready
    held.answer(0)

    assert state.plan.layer.name == state.layer != before


def test_an_error_of_an_earlier_count_is_not_shown_and_that_of_the_last_leaves_no_plan(
    state, context
):
    held = Held(context)
    state.refresh()
    state.refresh()

    held.fail(0, ValueError("earlier"))
    assert context.faults == [] and state.plan is not None
    held.fail(1, error := ValueError("last"))

    assert context.faults == [error] and state.plan is None and not state.working_out


def test_texts_counted_for_an_earlier_choice_add_no_warning_to_a_later_one(state, context):
    state.set_values({"max_length": "16"})
    held = Held(context)
    state.set_values({"max_length": "12"})
    held.answer(0)  # the plan; the texts are counted next
    held.compute(1)
    state.set_values({})
    before = state.warnings

    held.answer(1)

    assert state.warnings == before


def test_a_run_can_be_the_model_of_a_new_one(state, context, monkeypatch):
    card = next(card for card in state.models if card.usable)
    of_run = replace(card, name="first", origin="run")
    monkeypatch.setattr("workbench.operations.runs.sources.of_run", lambda _project, _run: of_run)

    state.start_from(SimpleNamespace(name="first"))

    assert state.model == "first" and state.spec().model_name == "first"
    state.choose_model(card.name)
    state.refresh()
    assert "first" in [model.name for model in state.models]  # it can be chosen again


def test_other_layers_are_chosen_by_name_and_never_the_layer_itself(state):
    assert dict(state.also) == {"spans": False, "pairs": False}

    state.toggle_also("spans")
    state.toggle_also("pairs")
    assert state.spec().options["also"] == "spans,pairs" and dict(state.also)["spans"]
    state.toggle_also("spans")
    state.set_values({**state.values, "also": "pairs=0.5"})  # a weight, in the form
    assert dict(state.also) == {"spans": False, "pairs": True}
    state.toggle_also("pairs")
    assert "also" not in state.values


def test_curves_of_layers_that_are_trained_together_have_their_own_steps():
    live = JobProgress(1, "both", "", mains={"people": "span_f1"})
    for number, name in enumerate(("topic", "people", "people", "topic"), 1):
        event = step(number)
        event.payload["losses"] = {name: float(number)}
        follow(live, event)
    scores = {"kind": "evaluated_layer", "step": 4, "layer": "people", "split": "dev"}
    follow(live, Output({**scores, "scores": {"span_f1": 0.5, "precision": 1.0}}))

    assert live.losses == {"topic": [1.0, 4.0], "people": [2.0, 3.0]}
    assert live.loss_steps == {"topic": [1, 4], "people": [2, 3]}
    assert live.layers == {"people": [0.5]}
    follow(live, Output({"kind": "resumed", "step": 2}))
    assert live.losses == {"topic": [1.0], "people": [2.0]} and live.steps == [1, 2]
