"""The Export state: initial run and folder, and an export from its events.

No window, no worker.
"""

from dataclasses import replace

import pytest

from workbench.base import owned_folder
from workbench.exporters.model import spec
from workbench.jobs.events import Finished, Output, Started
from workbench.models.spec import ModelInfo
from workbench.operations.models import installed
from workbench.storage.runs import runs
from workbench.ui.panels.export.state import ExportState


@pytest.fixture
def state(context):
    made = ExportState(context)
    yield made
    made.close()


def test_it_begins_with_the_latest_finished_run_that_has_a_model(state, tmp_path):
    assert [run.name for run in state.runs] == ["second", "first"] and state.run.name == "second"
    assert state.folder == str(tmp_path / "out" / "small second") and state.formats == (
        "hf",
        "onnx",
    )
    assert state.offers[0].id == "hf" and state.offers[0].bytes >= 1000 and state.ready


def test_another_run_brings_its_own_folder_unless_one_was_typed(state):
    state.choose(state.runs[1].id)
    assert state.folder.endswith("small first")

    state.set_folder("/tmp/mine")
    state.choose(state.runs[0].id)
    assert state.folder == "/tmp/mine"


def test_nothing_begins_without_a_format_or_a_folder(state, context):
    state.set_format("hf", False)
    state.set_format("onnx", False)
    assert "format" in state.missing

    state.set_format("onnx", True)
    state.set_folder("  ")
    assert "folder" in state.missing.lower()
    state.start()
    assert context.queue.jobs == ()


def test_the_check_grows_text_by_text_and_ends_with_a_sentence(state, context, checked, finished):
    state.start()
    (job,) = context.queue.jobs
    assert (
        job.spec.params["formats"] == ["hf", "onnx"]
        and job.spec.params["out"] == state.folder
        and state.busy
    )

    job.tell(Started(1, "2026-01-01T00:00:00Z"))
    job.tell(Output({"kind": "stage", "stage": "onnx", "title": "Turning the model into a graph"}))
    assert state.stage == "Turning the model into a graph" and state.share is None
    for number in range(3):
        job.tell(checked(number, equal=number != 1))
    assert len(state.rows) == 3 and state.share == 1.0

    job.tell(finished(state.folder))
    assert (
        state.sentence == "2 of 3 labels equal, largest difference 3.0e-06"
        and not state.good
        and not state.busy
    )
    assert [row.text for row in state.rows] == ["Text number 1", "Text number 2", "Text number 0"]
    assert (
        "10 ms with torch, 4 ms" in state.speed
        and "onnxruntime" in state.code()
        and "pipeline" in state.code()
    )
    assert state.folder in context.notes[0]


def test_exporting_again_goes_to_a_folder_of_its_own(state, context, finished, tmp_path):
    state.start()
    (tmp_path / "out" / "small second").mkdir(parents=True)
    context.queue.jobs[0].tell(finished(state.folder))

    state.start()

    assert context.queue.jobs[1].spec.params["out"] == str(tmp_path / "out" / "small second 2")


def test_a_failed_export_says_why_and_another_can_begin(state, context):
    state.start()
    context.queue.jobs[0].tell(
        Finished("failed", message="The folder is not empty.", hint="Choose another.")
    )

    assert (
        state.problem == "The folder is not empty. Choose another."
        and state.ready
        and state.sentence == ""
    )
    state.start()
    assert state.problem == "" and len(context.queue.jobs) == 2


def test_a_cancelled_export_leaves_no_complaint(state, context):
    state.start()
    state.cancel()
    assert context.queue.jobs[0].asked == ["cancel"]

    context.queue.jobs[0].tell(Finished("cancelled"))
    assert state.problem == "" and state.ready


def test_a_run_that_ends_later_joins_the_list_and_a_deleted_one_leaves_it(state, context):
    chosen = state.run_id
    with context.project.write():
        runs.delete(context.project.db, chosen)

    assert state.run.name == "first"


def test_without_any_model_there_is_nothing_to_choose(context):
    with context.project.write():
        for run in runs.all(context.project.db):
            runs.delete(context.project.db, run.id)

    state = ExportState(context)

    assert state.runs == () and not state.ready and "no run" in state.missing
    state.close()


def test_a_published_model_can_be_chosen_in_place_of_a_run(context, tmp_path, monkeypatch):
    card = ModelInfo("tagger", str(tmp_path / "tagger"), task="classify")
    monkeypatch.setattr(
        installed, "list", lambda _settings: (card, replace(card, name="x", task=""))
    )
    monkeypatch.setattr(spec, "check_fit", lambda *_args: None)
    state = ExportState(context)
    assert state.run is not None and [item.name for item in state.models] == ["tagger"]

    state.choose_model("tagger")
    assert state.run is None and state.folder.endswith("small tagger")
    state.set_format("hf", True)
    state.start()

    (job,) = context.queue.jobs
    assert job.spec.params["model"] == card.path and "run" not in job.spec.params
    state.choose(state.runs[0].id)
    assert state.card is None and state.run is not None
    state.close()


def test_from_the_click_on_cancel_the_page_says_so_and_nothing_of_a_killed_worker_is_left(
    state, context, tmp_path
):
    state.set_folder(str(tmp_path / "target"))
    state.start()
    job = context.queue.jobs[0]
    job.tell(Started(4711, "2026-01-01T00:00:00Z"))
    draft = tmp_path / ".target.partial-4711"
    owned_folder.create(draft)
    (draft / "hf").mkdir()

    state.cancel()
    job.tell(Output({"kind": "stage", "stage": "onnx", "title": "Turning the model into a graph"}))
    assert state.stage.startswith("Cancelling")
    job.tell(Finished("cancelled"))
    assert not draft.exists() and state.stage == ""


def test_the_code_is_that_of_the_exported_run_after_another_one_was_chosen(
    state, context, finished
):
    state.start()
    folder, other = state.folder, state.runs[1]
    with context.project.write():
        runs.update(context.project.db, other.id, spec={**other.spec, "task": "tag"})
    state.refresh()

    state.choose(other.id)
    context.queue.jobs[0].tell(finished(folder))

    assert state.where == folder and "text-classification" in state.code()


def test_the_result_names_the_largest_difference_of_all_formats(state, finished):
    state.start()
    event = finished(state.folder)
    main = {**event.result["check"], "equal_labels": 1.0}
    other = {**main, "largest_difference": 5e-5}

    state.job.tell(
        replace(
            event, result={**event.result, "check": main, "checks": {"onnx": main, "hf": other}}
        )
    )

    assert state.sentence == "3 of 3 labels equal, largest difference 5.0e-05" and state.good
