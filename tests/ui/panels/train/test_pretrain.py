"""Pretraining on the Train page: what can be chosen, the text, and a run from its events."""

import json
import shutil
from pathlib import Path

import pytest

from tests.held import Held
from tests.ui.panels.train.test_state import context  # noqa: F401 (a fixture)
from workbench.base import owned_folder, scratch
from workbench.base.events import Signal
from workbench.jobs.events import Finished, Output, Started
from workbench.operations.models import new_models
from workbench.operations.runs import results
from workbench.storage.runs import runs
from workbench.training.states import HEADER, TENSORS, StateHeader
from workbench.ui.panels.train.pretrain_state import FILES, VECTORS, PretrainState


@pytest.fixture
def state(context):  # noqa: F811
    add = context.queue.add

    def added(spec, _earlier=()):
        job = add(spec)
        job.id, job.changed, job.status = len(context.queue.jobs), Signal("job"), "running"
        return job

    context.queue.add = added
    made = PretrainState(context)
    made.show(True)
    yield made
    made.close()


def tell(state, job, event):
    """As the queue and the application do."""
    job.changed.emit(event)
    if isinstance(event, Finished):
        job.status = event.status
        new_models.ended(job, state.context.settings)
    state.queue.changed.emit(job, event)
    for folder in job.spec.scratch if isinstance(event, Finished) else ():
        scratch.remove(Path(folder))


def test_objectives_without_weights_in_the_model_are_refused_with_the_reason(state):
    assert (state.model, state.objective) == ("starter-bert", "masked_lm")
    assert "predictions of next words" in state.refused["causal_lm"]
    assert "glove" in state.refused and "masked_lm" not in state.refused

    state.choose_model("starter-gpt")
    assert state.objective == "causal_lm" and "masked_lm" in state.refused

    state.choose_model(VECTORS)
    assert state.objective == "skipgram" and "causal_lm" in state.refused


def test_the_text_is_that_of_the_project_without_test_or_of_files(state, tmp_path):
    before = state.size.documents
    state.set_split("none", False)
    assert 0 < state.size.documents < before and state.size.held_out > 0

    state.choose_source(FILES)
    assert not state.ready and "Add files" in state.problem
    (tmp_path / "a.txt").write_text("a tram\n")
    state.add_files([str(tmp_path / "a.txt")])
    assert state.size.files == 1 and state.ready


def test_settings_are_those_of_the_new_model_and_its_objective(state):
    state.choose_model("new:bert")
    assert [option.name for option in state.sizes][:2] == ["layers", "width"]

    state.set_values({"layers": "2", "mask_rate": "2"})
    assert "mask_rate" in state.errors and not state.ready

    state.set_values({"layers": "2"})
    assert state.spec().settings()["layers"] == 2 and state.ready


def test_a_run_shows_loss_and_perplexity_and_its_model_can_be_used(state, context):  # noqa: F811
    state.start()
    job = context.queue.jobs[-1]
    spec = job.spec.params["spec"]
    assert Path(spec["texts"][0]).is_file() and Path(spec["held_out"][0]).is_file()

    tell(state, job, Started(1, ""))
    scores = {"perplexity": 40.0, "perplexity_per_word": 90.0}
    tell(state, job, Output({"kind": "evaluated", "step": 0, "scores": scores}))
    figures = {"epoch": 1, "learning_rate": 1e-4, "examples_per_second": 2.0, "memory_mb": 1}
    step = {"kind": "step", "step": 1, "total": 2, "losses": {"mlm": 3.0}, "seconds_left": 1.0}
    tell(state, job, Output({**figures, **step}))
    assert state.live.losses == {"mlm": [3.0]} and len(state.live.scores) == 2

    state.stop()
    assert job.asked == ["stop"] and state.live.ending == "stop"
    Path(job.spec.params["out"]).mkdir(parents=True)
    tell(state, job, Finished("stopped", {"seconds": 2.0, "steps": 1}))
    assert not state.running and context.settings.model_folders == [job.spec.params["out"]]
    assert context.notes == ["starter-bert-adapted can now be used."]
    assert not Path(spec["texts"][0]).exists()


def test_a_pretraining_of_the_window_is_a_run_of_the_project(state, context):  # noqa: F811
    state.start()
    about = context.queue.jobs[-1].spec.params["run"]

    run = results.run(context.project, about["id"])

    assert (run.name, run.kind, run.spec["objective"]) == (
        state.live.title,
        "pretrain",
        "masked_lm",
    )
    assert not results.has_task(run) and "texts" not in run.spec


def test_a_second_click_on_start_queues_no_second_pretraining(state, context):  # noqa: F811
    state.start()
    state.start()
    assert len(context.queue.jobs) == 1

    state.set_values({"epochs": "2"})
    state.start()
    assert len(context.queue.jobs) == 2


def test_the_batches_of_a_finished_run_are_those_of_its_settings_and_text(state, context):  # noqa: F811
    state.set_values({"mask_rate": "0.3"})
    state.start()
    run = context.queue.jobs[-1]
    context.queue.results = [{"rows": []}, {"rows": [], "fingerprint": "of other texts"}]
    running = state.batch_of_run()
    params = context.queue.jobs[-1].spec.params["spec"]
    assert params == run.spec.params["spec"]
    running.close()

    run.result = {"fingerprint": "of the run"}
    tell(state, run, Finished("stopped", {"seconds": 2.0, "steps": 1}))
    state.set_values({"mask_rate": "0.5"})
    state.set_split("train", False)
    finished = state.batch_of_run()
    job = context.queue.jobs[-1]
    (text,) = job.spec.params["spec"]["texts"]
    assert job.spec.params["spec"]["options"]["mask_rate"] == 0.3
    assert text != run.spec.params["spec"]["texts"][0] and not Path(text).exists()
    assert finished.changed_text
    finished.close()


def test_the_perplexity_of_a_character_model_is_named_per_character(state, context):  # noqa: F811
    state.choose_model("new:char_lm")
    state.start()
    scores = {"perplexity": 6.0, "perplexity_per_word": 900.0}
    event = Output({"kind": "evaluated", "step": 0, "scores": scores})

    tell(state, context.queue.jobs[-1], event)

    assert list(state.live.scores) == ["per character", "per word"]


def test_the_model_of_a_run_can_be_trained_further(state, context, tiny_model):  # noqa: F811
    state.choose_objective("nsp")
    state.set_name("mine")
    state.start()
    job = context.queue.jobs[-1]
    shutil.copytree(tiny_model, job.spec.params["out"])
    tell(state, job, Finished("stopped", {"seconds": 2.0, "steps": 1}))
    state.choose_model("starter-gpt")

    state.choose_again()

    assert (state.model, state.objective, state.name) == ("mine", "nsp", "mine-adapted")
    assert state.ready


def end_with_state(state, job, status, epochs=2):
    """As a training that ends and has written its state."""
    folder = Path(job.spec.folder)
    job.spec.write(folder / "job.json")
    header = StateHeader(4, 6, epochs - 1, epochs)

    def write(draft):
        (draft / HEADER).write_text(json.dumps(header.to_json()))
        (draft / TENSORS).write_bytes(bytes(header.bytes))

    owned_folder.replace(folder / "state", write)
    with state.project.write():
        runs.update(state.project.db, job.spec.params["run"]["id"], status=status)
    tell(state, job, Finished(status, {"seconds": 2.0, "steps": 1}))


def test_a_stopped_run_goes_on_with_the_text_that_it_began_with(state, context):  # noqa: F811
    state.start()
    job = context.queue.jobs[-1]
    (copy,) = job.spec.params["spec"]["texts"]
    text = Path(copy).read_text()
    assert state.resumed_state is None
    end_with_state(state, job, "stopped")
    assert not Path(copy).exists() and not state.needs_epochs

    state.resume()

    again = context.queue.jobs[-1]
    (written,) = again.spec.params["spec"]["texts"]
    assert again is not job and again.spec.folder == job.spec.folder
    assert again.spec.params["resume"] is True and Path(written).read_text() == text
    assert (state.job, state.live.run_id) == (again, again.id)
    tell(state, again, Finished("cancelled"))
    assert not Path(written).exists()


def test_a_finished_run_is_trained_for_more_epochs(state, context):  # noqa: F811
    state.start()
    job = context.queue.jobs[-1]
    end_with_state(state, job, "done", epochs=2)
    assert state.needs_epochs and state.resumed_state.epochs == 2

    state.resume(5)

    again = context.queue.jobs[-1]
    assert again.spec.params["spec"]["options"]["epochs"] == 5
    tell(state, again, Finished("cancelled"))


def test_a_run_that_was_continued_and_cancelled_keeps_its_model(state, context, tiny_model):  # noqa: F811
    state.start()
    job = context.queue.jobs[-1]
    shutil.copytree(tiny_model, job.spec.params["out"])
    end_with_state(state, job, "stopped")
    state.resume()

    tell(state, context.queue.jobs[-1], Finished("cancelled"))

    assert Path(job.spec.params["out"]).exists()


def test_word_vectors_are_trained_on_one_text_and_show_a_loss_per_epoch(state, context):  # noqa: F811
    state.choose_model(VECTORS)
    state.choose_objective("glove")
    state.set_values({"dimension": "8"})
    state.start()
    job = context.queue.jobs[-1]
    assert job.spec.params["options"]["dimension"] == 8

    tell(state, job, Output({"kind": "epoch", "epoch": 1, "loss": 0.5}))
    assert state.live.steps == [1] and state.live.epochs

    tell(state, job, Finished("cancelled"))
    assert not Path(job.spec.params["inputs"][0]).exists()
    assert context.settings.model_folders == []


def test_a_run_of_before_is_taken_over(state, context):  # noqa: F811
    state.start()
    events = [Started(1, ""), Output({"kind": "evaluated", "step": 0, "scores": {"perplexity": 2}})]
    context.queue.jobs[-1].events = events

    again = PretrainState(context)
    assert again.live.seen == [0]
    again.close()
    tell(state, context.queue.jobs[-1], Finished("cancelled"))


def test_the_co_occurrences_of_glove_are_those_of_the_text(state, context, look, qtbot):  # noqa: F811
    from workbench.ui.panels.train.pairs_dialog import PairsDialog

    state.choose_model(VECTORS)
    assert not state.has_pairs
    state.choose_objective("glove")
    state.set_values({"window": "3"})
    rows = [["the", "tram", 150.0, 1.0], ["tram", "late", 2.0, 0.053]]
    context.queue.results.append({"words": 9, "tokens": 99, "pairs": 40, "top": rows})
    dialog = PairsDialog(None, state.pairs())
    qtbot.addWidget(dialog)
    assert context.queue.jobs[-1].spec.params["options"]["window"] == 3

    dialog.state.set_filter("Late")
    assert [pair.word for pair in dialog.table.rows()] == ["tram"]
    assert "40 different pairs" in dialog._message.text()
    dialog.reject()


def test_the_focus_returns_to_the_button_of_the_batch(state, look, qtbot):
    from workbench.ui.panels.train.pretrain_view import PretrainChoices

    view = PretrainChoices(state, lambda: None)
    qtbot.addWidget(view)
    state.changed.connect(view.render)
    view.show()
    for button in (view.batch, view.start):
        button.setFocus()
        state.update(preparing=True)
        assert not button.isEnabled() and view.focusWidget() is view

        state.update(preparing=False)
        assert view.focusWidget() is button


def test_no_second_run_starts_while_the_text_of_the_first_is_written(state, context):  # noqa: F811
    held = Held(context)
    state.start()
    assert state.preparing and not state.ready

    state.set_values({"epochs": "2"})
    state.start()
    held.answer(0)

    assert len(held) == 1 and len(context.queue.jobs) == 1 and not state.preparing


def test_the_size_of_an_earlier_choice_does_not_replace_that_of_the_present_one(
    state,
    context,  # noqa: F811
):
    held = Held(context)
    state.set_words("no such words")
    state.set_words("")

    held.answer(1, 0)

    assert state.size.documents > 0 and not state.problem


def test_closing_ends_the_text_that_is_written(state, context):  # noqa: F811
    held, before = Held(context), set(scratch.root().glob("texts-*"))
    state.start()

    context.close()
    held.answer(0)

    assert context.faults == [] and context.queue.jobs == ()
    assert set(scratch.root().glob("texts-*")) == before
