"""The Export state: initial run and folder, and an export from its events.

No window, no worker.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base import owned_folder
from workbench.base.errors import JobFailed
from workbench.exporters.model import spec as exporters
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
    assert context.queue.specs == []


def test_the_check_grows_text_by_text_and_ends_with_a_sentence(state, context, checked, written):
    stages = []

    def worker(spec, watch):
        assert state.busy and not state.ready
        watch.at(0.0)
        stages.append(state.stage)
        watch.event({"kind": "stage", "stage": "onnx", "title": "Turning the model into a graph"})
        stages.append(state.stage)
        for number in range(3):
            watch.event(checked(number, equal=number != 1))
        assert len(state.rows) == 3 and state.share == 1.0
        return written(spec.params["out"])

    context.queue.worker = worker
    state.start()
    (spec,) = context.queue.specs
    assert spec.params["formats"] == ["hf", "onnx"] and spec.params["out"] == state.folder
    assert stages == ["Starting a worker", "Turning the model into a graph"]

    ((title, check),) = state.checks
    assert title == "ONNX, 32 bit"
    assert check.sentence() == "2 of 3 labels equal, largest difference 3.0e-06"
    assert not state.busy and state.stage == ""
    assert [row.checked.text for row in state.rows] == [
        "Text number 1",
        "Text number 2",
        "Text number 0",
    ]
    assert "onnxruntime" in state.code() and "pipeline" in state.code()
    assert state.folder in context.notes[0]


def test_an_export_that_waits_for_another_job_is_queued(state, context, written):
    stages = []

    def worker(spec, watch):
        watch.wait_behind("a training")
        stages.append(state.stage)
        watch.wait_behind("")
        stages.append(state.stage)
        return written(spec.params["out"])

    context.queue.worker = worker
    state.start()

    assert stages == ["Queued", "Starting a worker"]


def test_exporting_again_goes_to_a_folder_of_its_own(state, context, tmp_path):
    state.start()
    (tmp_path / "out" / "small second").mkdir(parents=True)

    state.start()

    assert context.queue.specs[1].params["out"] == str(tmp_path / "out" / "small second 2")


def test_a_failed_export_says_why_and_another_can_begin(state, context, written):
    def fail(_spec, _watch):
        raise JobFailed("The folder is not empty.", hint="Choose another.", details="Traceback")

    context.queue.worker = fail
    state.start()

    assert state.problem == "The folder is not empty. Choose another."
    assert state.details == "Traceback" and state.ready and state.checks == ()
    context.queue.worker = lambda spec, _watch: written(spec.params["out"])
    state.start()
    assert state.problem == "" and len(context.queue.specs) == 2


def test_a_cancelled_export_leaves_no_complaint(state, context):
    def worker(_spec, watch):
        state.cancel()
        watch.at(0.5)

    context.queue.worker = worker
    state.start()

    assert state.problem == "" and state.ready
    assert context.notes == ["Export cancelled. No files were kept."]


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
    monkeypatch.setattr(exporters, "check_fit", lambda *_args: None)
    state = ExportState(context)
    assert state.run is not None and [item.name for item in state.models] == ["tagger"]

    state.choose_model("tagger")
    assert state.run is None and state.folder.endswith("small tagger")
    state.set_format("hf", True)
    state.start()

    (spec,) = context.queue.specs
    assert spec.params["model"] == card.path and "run" not in spec.params
    state.choose(state.runs[0].id)
    assert state.card is None and state.run is not None
    state.close()


def test_from_the_click_on_cancel_the_page_says_so_and_nothing_of_a_killed_worker_is_left(
    state, context, tmp_path
):
    drafts = []

    def worker(spec, watch):
        draft = tmp_path / f".target.partial-{Path(spec.folder).name}"
        owned_folder.create(draft)
        (draft / "hf").mkdir()
        drafts.append(draft)
        state.cancel()
        watch.event({"kind": "stage", "stage": "onnx", "title": "Turning the model into a graph"})
        assert state.stage.startswith("Cancelling")
        watch.at(0.5)

    context.queue.worker = worker
    state.set_folder(str(tmp_path / "target"))
    state.start()

    assert not drafts[0].exists() and state.stage == ""


def test_the_code_is_that_of_the_exported_run_after_another_one_was_chosen(state, context, written):
    folder, other = state.folder, state.runs[1]

    def worker(spec, _watch):
        with context.project.write():
            runs.update(context.project.db, other.id, spec={**other.spec, "task": "tag"})
        state.refresh()
        state.choose(other.id)
        return written(spec.params["out"])

    context.queue.worker = worker
    state.start()

    assert state.where == folder and "text-classification" in state.code()


def test_each_format_has_its_own_check(state, context, written):
    def worker(spec, _watch):
        result = written(spec.params["out"])
        main = {**result["check"], "equal_labels": 1.0}
        other = {**main, "largest_difference": 5e-5}
        return {**result, "check": main, "checks": {"onnx": main, "hf": other}}

    context.queue.worker = worker
    state.start()

    assert [(title, check.sentence()) for title, check in state.checks] == [
        ("ONNX, 32 bit", "3 of 3 labels equal, largest difference 3.0e-06"),
        ("Hugging Face folder", "3 of 3 labels equal, largest difference 5.0e-05"),
    ]
