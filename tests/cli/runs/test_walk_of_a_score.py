"""A score from the worker to the page and to the command line: one Evaluation in one JSON form."""

import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ui.panels.results.test_state import Context
from workbench.base import paths
from workbench.baselines import job
from workbench.metrics.evaluation import Evaluation
from workbench.operations.evaluation.board import board
from workbench.operations.evaluation.compare import compare
from workbench.operations.runs import results
from workbench.project.project import Project
from workbench.training.results import TrainResult
from workbench.ui.panels.results.state import ResultsState

PROJECT_OF_SCHEMA_6 = Path(__file__).parents[2] / "data" / "schema6-project.tar.gz"


@pytest.fixture
def worker(monkeypatch):
    """The evaluations that workers made, by run and split."""
    made, evaluate = {}, job.evaluate

    def remember(info, split, *given):
        evaluation = evaluate(info, split, *given)
        made.setdefault(split, []).append(evaluation)
        return evaluation

    monkeypatch.setattr(job, "evaluate", remember)
    return made


@pytest.fixture
def trained(ask, tmp_path, worker, jobs_in_process):
    """Two baselines: one that predicts badly, and one whose scores have many digits."""
    sample = ask("sample", "sample", tmp_path / "s")["path"]
    for name in ("majority", "svm"):
        model = ("--model", f"baseline:{name}", "--name", name)
        ask("train", "train", sample, "--task", "classify", *model, "--with-test")
    return sample


@pytest.fixture
def page(trained):
    project = Project.open(trained)
    state = ResultsState(Context(project))
    yield state
    state.close()
    project.close()


def test_the_page_shows_the_evaluation_of_the_worker(page, worker):
    state, evaluation = page, worker["dev"][-1]
    original, current = (state.selection.evaluation("dev", gold) for gold in ("run", "today"))
    entry = next(item for item in board(state.project).entries if item.run.name == "svm")
    ids = [run.id for run in state.selection.runs]
    system = compare(state.project, ids).system(entry.run.id)

    way = (evaluation, original, current, entry.evaluation, system.evaluation)
    assert {type(step) for step in way} == {Evaluation}
    assert original == evaluation == replace(current, confusion=None, intervals=None)
    assert entry.evaluation.scores == system.evaluation.scores == evaluation.scores
    shown = {row.key: (row.original, row.current) for row in state.selection.score_rows()}
    for name, value in evaluation.scores.items():
        assert shown[name] == (value, value)
        assert entry.value(name) == system.scores[name].value == value


def test_a_run_and_its_folder_store_the_form_of_the_worker(page, worker):
    project, run = page.project, page.selection.shown_run
    form = {split: made[-1].to_json() for split, made in worker.items()}
    file = paths.run_folder(project.path, run.id) / "result.json"
    finished = json.loads(file.read_text(encoding="utf-8"))["result"]

    assert run.result["evaluations"] == finished["evaluations"] == form
    assert run.scores == {split: made["scores"] for split, made in form.items()}
    assert results.original(run, "test") == TrainResult.from_json(finished).evaluations["test"]


def test_the_command_line_prints_the_scores_of_the_worker(ask, trained, worker):
    form = worker["dev"][-1].to_json()

    printed = ask("evaluate", "evaluate", trained, "--run", "svm", "--split", "dev")
    entries = ask("board", "board", trained)["entries"]

    assert printed.items() >= form.items() and printed["as_run"].items() >= form.items()
    measured = (
        printed["report"]["scores"],
        next(entry["scores"] for entry in entries if entry["run"] == "svm"),
    )
    for name, value in form["scores"].items():
        assert [scores[name]["value"] for scores in measured] == [value, value]


def test_runs_of_an_earlier_version_have_the_evaluations_that_they_stored(tmp_path):
    with tarfile.open(PROJECT_OF_SCHEMA_6) as archive:
        archive.extractall(tmp_path, filter="data")
    project = Project.open(tmp_path / "metro.glossbench")
    every = [run for run in results.all_runs(project) if run.scores]

    for run in every:
        stored, original = run.result["evaluations"]["dev"], results.original(run, "dev")
        rows = [list(row.to_json().values()) for row in original.per_label]
        assert (original.fingerprint, rows) == (stored["fingerprint"], stored["per_label"])
        assert original.scores == stored["scores"] == run.scores["dev"]
        current = results.evaluate_stored(project, run, "dev")
        assert replace(current, at=original.at) == original  # the gold has not changed
    kinds = {run.kind for run in every}
    project.close()

    assert kinds >= {"train", "baseline", "ensemble", "prompt"}
