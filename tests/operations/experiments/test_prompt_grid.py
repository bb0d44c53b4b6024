"""The grid of prompts: its cells, costs calculated by hand, the plot and the verdict."""

from dataclasses import replace

import pytest

from tests.operations.prompts.test_prompt import answer_all, spec
from workbench.operations.experiments import experiment, prompt_grid
from workbench.operations.experiments.prompt_grid import GridSpec, PromptGrid
from workbench.operations.runs import results
from workbench.operations.runs.run_recorder import wire
from workbench.prompting.results import PromptResult
from workbench.storage.runs import runs
from workbench.text.columns import record
from workbench.text.fields import ClassScores, Prediction

pytestmark = pytest.mark.process  # the worker that renders templates

STARTER = prompt_grid.model_fields("local", "starter-bert")


def grid_of(shots=(0, 2), selections=("balanced", "random"), seeds=(1, 2, 3), **more):
    asked = spec(calibration="none", layer="topic", prompt_name="mine", prompt_version=2)
    rows = prompt_grid.combined([asked], [STARTER], selections, shots)
    return GridSpec("topic", seeds=seeds, **more).with_rows(rows)


@pytest.fixture
def work(project, queue, topics):
    """work(grid) → the grid whose cells the test answers."""
    wiring = wire(project, queue)
    yield lambda grid: PromptGrid(project, grid)
    wiring.close()


def answer(job, label="praise", **more):
    job.start()
    answer_all(job, label)
    result = {"n": 4, "answer_seconds": 2.0, "prompt_tokens": 400, "reply_tokens": 8, **more}
    job.end("done", result)


def test_a_row_of_no_examples_and_a_selection_without_chance_have_one_cell(work):
    grid = work(grid_of(shots=(0, 2), selections=("random", "nearest"), seeds=(4, 5)))

    assert [(cell.title, cell.seed) for cell in grid.cells] == [
        ("mine@2 with starter-bert and no examples", 4),
        ("mine@2 with starter-bert and 2 examples (at random)", 4),
        ("mine@2 with starter-bert and 2 examples (at random)", 5),
        ("mine@2 with starter-bert and 2 examples (most similar to the text)", 4),
    ]


def test_a_cell_that_cannot_run_says_why(project, work):
    masked = spec(layer="topic")
    rows = [
        replace(masked, answer=replace(masked.answer, form="first")),
        replace(masked, model="none", model_name="none"),
    ]
    cells = work(GridSpec("topic", tuple(rows), (1,))).cells

    assert [cell.status for cell in cells] == ["missing", "missing"]
    assert cells[0].message == "the model cannot write replies" and "none" in cells[1].message


def test_the_rows_have_means_costs_and_a_verdict(project, queue, work):
    grid = work(grid_of(shots=(0, 2), selections=("random",)))

    def worker(job):
        run = runs.get(project.db, job.spec.params["run"]["id"])
        with project.write():
            runs.update(project.db, run.id, spec={**run.spec, "prices": [1.0, 10.0]})
        answer(job, "praise" if run.spec["shots"] else "complaint")

    queue.worker = worker
    experiment.run(grid, queue)
    measured = grid.measure()

    none, two = measured.rows
    assert (grid.status, len(queue.jobs)) == ("done", 4)
    assert none.summary.mean == two.summary.mean == pytest.approx(1 / 3)
    assert len(none.runs) == 1 and len(two.runs) == 3 and two.interval is not None
    costs = two.cost
    assert costs.seconds == 500  # 2 s for 4 documents
    assert (costs.prompt_tokens, costs.reply_tokens) == (100_000, 2000)
    assert costs.price == pytest.approx(0.1 + 0.02)  # 1 and 10 per million tokens
    rows = [record(prompt_grid.columns(grid.score), row) for row in measured.rows]
    assert [(row["prompt"], row["shots"], row["seeds"]) for row in rows] == [
        ("mine@2", 0, 1),
        ("mine@2", 2, 3),
    ]
    [line] = measured.series
    assert [(point.x, point.mean) for point in line.points] == [
        (0, pytest.approx(1 / 3)),
        (2, pytest.approx(1 / 3)),
    ]
    assert measured.verdict.best is none and not measured.verdict.is_trained
    assert "not differ significantly from the next" in measured.verdict.sentence
    raw = prompt_grid.to_json(grid, measured)
    assert raw["rows"][1]["price"] == pytest.approx(0.12) and raw["verdict"]["n"] == 4


def test_a_grid_that_was_cancelled_goes_on_with_the_run_that_it_left(project, queue, work):
    grid = work(grid_of(shots=(2,), selections=("random",), seeds=(1, 2)))

    def worker(job):
        if len(queue.jobs) == 2:
            grid.cancel(queue)
            answer_all(job, "praise", most=2)
            job.end("cancelled")
        else:
            answer(job)

    queue.worker = worker
    experiment.run(grid, queue)
    left = runs.all(project.db)[-1]
    assert (grid.status, left.status) == ("paused", "interrupted")

    again = work(prompt_grid.last(project))
    experiment.run(again, queue)

    assert [cell.status for cell in again.cells] == ["done", "done"]
    assert again.cells[1].run.id == left.id and len(runs.all(project.db)) == 2


def trained(project, predicted, dev, used=8):
    """A fine-tuned run that has predicted these labels on dev."""
    layer = results.layer_of(project, runs.all(project.db)[0]).id
    with project.write():
        run = runs.add(
            project.db,
            "tuned",
            "train",
            layer_id=layer,
            status="done",
            spec={"task": "classify", "model_name": "starter-bert"},
            scores={"dev": {"macro_f1": 1.0}},
            result={"used": {"train": used}},
        )
        rows = [
            (
                document.id,
                document.asked_hash,
                Prediction((ClassScores(("praise", "complaint"), scores),)).to_json(),
            )
            for document, scores in zip(dev, predicted, strict=True)
        ]
        runs.save_predictions(project.db, run.id, rows)
    return run


def test_fine_tuning_is_compared_and_drawn(project, queue, work):
    grid = work(grid_of(shots=(2,), selections=("random",), seeds=(1,)))
    queue.worker = answer
    experiment.run(grid, queue)
    gold = results.scored(project, runs.all(project.db)[0], "dev")
    right = [(0.9, 0.1) if item.gold.label == "praise" else (0.1, 0.9) for item in gold]
    trained(project, right, [item.document for item in gold])

    measured = grid.measure()

    verdict = measured.verdict
    assert (verdict.other, verdict.is_trained, verdict.n) == ("tuned", True, 4)
    assert verdict.difference.value == pytest.approx(1 / 3 - 1)
    assert "from tuned, fine-tuned on 8 labels (95% " in verdict.sentence
    assert "interval of the difference −" in verdict.sentence
    assert [(line.kind, line.points[0].x) for line in measured.series] == [
        ("prompt", 2),
        ("fine-tuned", 8),
    ]


def test_a_sample_of_dev_is_the_same_for_every_run(project, queue, work):
    grid = work(grid_of(shots=(0, 2), selections=("random",), seeds=(1,), sample=3))
    queue.worker = answer
    experiment.run(grid, queue)

    done = [cell.run for cell in grid.cells]
    assert [results.evaluate_stored(project, run, "dev").n for run in done] == [3, 3]
    assert len({run.spec["fingerprint"] for run in done}) == 1
    assert PromptResult.from_json(done[0].result).n == 4 and grid.measure().rows[0].interval


def test_a_run_on_a_sample_does_not_fill_a_cell_of_all_documents(project, queue, work):
    few = grid_of(shots=(0,), seeds=(1,), sample=3)
    queue.worker = answer
    experiment.run(work(few), queue)

    assert [cell.status for cell in work(few).cells] == ["done"]
    assert [cell.status for cell in work(replace(few, sample=0)).cells] == ["waiting"]


def test_a_test_of_median_runs_against_the_order_of_the_means_decides_nothing(
    project, queue, work, monkeypatch
):
    from workbench.metrics.paired import PairedDifference
    from workbench.operations.experiments import prompt_grid

    grid = work(grid_of(shots=(2, 4), selections=("random",), seeds=(1,)))
    queue.worker = answer
    experiment.run(grid, queue)
    opposed = (PairedDifference(-0.05, -0.09, -0.01), 0.01, 4)
    monkeypatch.setattr(prompt_grid, "_tested", lambda *_args: opposed)

    assert "does not differ significantly" in grid.measure().verdict.sentence
