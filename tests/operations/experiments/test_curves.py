"""Learning curves: which runs an experiment has, what is read off them, and the tables."""

import json
from pathlib import Path

import pytest

from workbench.base.errors import SpecError
from workbench.metrics.learning_curve import Answer
from workbench.operations.experiments import curves, experiment
from workbench.operations.experiments.curves import Curves, CurvesSpec
from workbench.operations.experiments.ladder_rungs import named
from workbench.operations.runs import run_recorder
from workbench.storage.runs import runs
from workbench.text import columns as texts

SYSTEM = {
    ("starter-glove", "frozen"): "frozen-vectors",
    ("starter-bert", "frozen"): "frozen-bert",
    ("starter-bert", "full"): "bert",
}
CEILING = {"frozen-vectors": 0.7, "frozen-bert": 0.8, "bert": 0.95}  # asymptotes of the scores


@pytest.fixture
def wiring(project, queue):
    wiring = run_recorder.wire(project, queue)
    yield wiring
    wiring.close()


@pytest.fixture
def documents(add_layer, add_documents):
    """Layer `topic` with 40 documents in train, of which one is rare, and 4 in dev."""
    add_layer("topic")
    golds = ["praise"] * 20 + ["complaint"] * 20
    rows = [(f"text {n}", "train", "submitted", "topic", gold) for n, gold in enumerate(golds)]
    dev = [(f"dev {n}", "dev", "submitted", "topic", golds[n * 10]) for n in range(4)]
    return add_documents([*rows, *dev])


@pytest.fixture
def draw(project, queue, wiring, documents):
    """draw(systems, sizes=…, draws=…) → the experiment on layer topic."""

    def make(*systems, sizes=(4, 8, 16, 32), draws=2, **more):
        spec = CurvesSpec(
            "classify",
            "topic",
            named(systems or ("frozen-vectors", "bert")),
            tuple(range(1, draws + 1)),
            sizes=sizes,
            **more,
        )
        return Curves(project, spec)

    return make


@pytest.fixture
def train(queue):
    """train(work): every run ends with a score on a known power law, a little off by draw."""

    def run(work, act=lambda job: None):
        def finish(job):
            spec = job.spec.params["spec"]
            n, draw = spec["options"]["train_limit"], spec["seed"]
            name = SYSTEM[spec["model_name"], spec["options"].get("method", "full")]
            score = CEILING[name] - n**-0.7 + 0.002 * (draw - 1.5)
            act(job)
            job.start()
            scores = {"macro_f1": score, "accuracy": score - 0.1}
            result = {"scores": {"dev": scores}, "seconds": 30.0, "used": {"train": n, "dev": 4}}
            job.end("done", result)

        queue.worker = finish
        experiment.run(work, queue)

    return run


def test_every_draw_is_the_same_part_of_train_for_all_systems(project, queue, draw, train):
    work = draw(sizes=(4, 8))
    train(work)

    samples = {}
    for job in queue.jobs:
        spec = job.spec.params["spec"]
        key = spec["seed"], spec["options"]["train_limit"]
        samples.setdefault(key, []).append(set(job.spec.params["splits"]["train"]))
    assert len(queue.jobs) == 8 and all(len(each) == 2 for each in samples.values())
    assert all(first == second for first, second in samples.values())
    assert samples[1, 4][0] < samples[1, 8][0] and samples[1, 8][0] != samples[2, 8][0]
    assert len({str(job.spec.params["splits"]["dev"]) for job in queue.jobs}) == 1


def test_draws_are_computed_one_after_another_and_runs_are_archived(project, draw, train):
    work = draw(sizes=(4, 8))
    train(work)

    names = [run.name for run in runs.all(project.db)]
    assert names[:4] == [
        "curves-frozen-vectors-4-1",
        "curves-bert-4-1",
        "curves-frozen-vectors-8-1",
        "curves-bert-8-1",
    ]
    assert all(run.listing.archived and run.listing.group for run in runs.all(project.db))


def test_more_draws_and_numbers_use_the_finished_runs_again(queue, draw, train):
    train(draw(sizes=(4, 8)))

    more = draw(sizes=(4, 8, 16), draws=3)
    assert sum(cell.reused for cell in more.cells) == 8
    train(more)

    assert len(queue.jobs) == 18 and more.status == "done"


def test_the_last_experiment_of_a_layer_is_there_again(project, draw, train):
    work = draw(sizes=(4, 8), score="accuracy")
    train(work)

    assert curves.last(project) == work.spec == curves.last(project, "topic")
    assert curves.last(project, "other") is None


def test_labels_advantages_and_the_reference_are_read_off(draw, train):
    work = draw("frozen-vectors", "frozen-bert", "bert")
    train(work)

    result = work.measure()

    bert, vectors = result.row("bert"), result.row("frozen-vectors")
    needed = bert.needed(0.9)
    assert needed.answer is Answer.LABELS
    assert needed.labels == pytest.approx(20 ** (1 / 0.7), rel=0.05)
    assert vectors.needed(0.9).answer is Answer.NEVER
    assert vectors.over is None and bert.over.start.value == pytest.approx(0.25)
    assert bert.over.asymptote.value == pytest.approx(0.25, abs=0.02)
    assert [point.x for point in bert.series.points] == [4, 8, 16, 32]
    assert work.measure("bert").row("bert").over is None


def test_the_sentence_says_what_is_needed_and_which_system_needs_less(draw, train):
    work = draw("frozen-bert", "bert")
    train(work)
    result = work.measure()

    def sentence(system, target):
        return curves.verdict(work, result, system, target, 40)

    assert "Labels needed for 70.0 with Fine-tuned BERT: 7 (" in sentence("bert", 0.7)
    assert "train has 40" in sentence("bert", 0.7)
    assert "Fine-tuned BERT needs about 20 fewer" in sentence("frozen-bert", 0.7)
    assert "The asymptote of Frozen BERT is below 90.0" in sentence("frozen-bert", 0.9)
    assert "Fine-tuned BERT needs about 72" in sentence("frozen-bert", 0.9)
    assert "unknown" in sentence("bert", 0.95)


def test_another_score_is_read_from_the_same_runs(queue, draw, train):
    train(draw(sizes=(4, 8)))

    other = draw(sizes=(4, 8), score="accuracy")

    row = other.measure().row("bert")
    assert row.curve.start.value == pytest.approx(0.95 - 4**-0.7 - 0.1)
    assert len(queue.jobs) == 8 and curves.usual_target(other.measure()) > row.curve.mean[-1]


def test_the_scores_during_the_training_are_those_of_all_draws(project, draw, train):
    def evaluate(job):
        path = Path(job.spec.folder) / "events.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for step in (0, 5, 10)[: 3 - (job.spec.params["spec"]["seed"] == 2)]:
                losses = {"kind": "step", "step": step, "losses": {"loss": 1.0}}
                scores = {"macro_f1": step / 20 + job.spec.params["spec"]["seed"] / 10}
                for payload in (losses, {"kind": "evaluated", "step": step, "scores": scores}):
                    file.write(json.dumps({"type": "output", "payload": payload}) + "\n")

    work = draw("bert", sizes=(4, 8))
    train(work, evaluate)

    (series,) = work.measure().over_steps
    assert work.measure().steps_at == 8
    assert [point.x for point in series.points] == [0, 5]  # steps that both draws have
    assert (series.points[1].mean, series.points[1].low) == pytest.approx((0.4, 0.35))
    assert work.measure().steps_for("bert", 0.39) == 5
    assert work.measure().steps_for("bert", 0.9) is None


def test_rows_are_written_as_csv_markdown_and_json(draw, train):
    work = draw("frozen-bert", "bert")
    train(work)
    result = work.measure()
    described = curves.columns(work, result, 0.9)

    header, *rows = texts.cells(described, result.rows)
    markdown = texts.markdown(described, result.rows)
    report = curves.to_json(work, result, 0.9)

    assert dict(zip(header, rows[0], strict=True))["labels_answer"] == "never"
    assert "| Labels for 90.0 |" in markdown and "| never |" in markdown
    assert json.loads(json.dumps(report))["systems"][1]["points"][0]["x"] == 4
    assert report["systems"][1]["results"][0]["runs"][0]["run"] == "curves-bert-4-1"


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("", (25, 50, 100, 200, 400, 800)),
        ("100, 10,10", (10, 100)),
        ("10, 40, …", (10, 40, 160, 640, 800)),
        ("50 all", (50, 800)),
    ],
)
def test_numbers_of_labels_are_read(text, sizes):
    assert curves.sizes_in(text, 800) == sizes


@pytest.mark.parametrize(
    ("text", "message"), [("many", "no list of numbers"), ("0", "no list"), ("900", "fewer than")]
)
def test_wrong_numbers_of_labels_are_refused(text, message):
    with pytest.raises(SpecError, match=message):
        curves.sizes_in(text, 800)


def test_more_labels_than_train_has_pause_the_experiment(queue, draw, train):
    work = draw(sizes=(8, 80))
    train(work)

    assert work.status == "paused" and "40 documents" in work.error and not queue.jobs


def test_the_time_left_counts_larger_parts_as_longer(draw, train):
    work = draw("bert", sizes=(4, 32), draws=1)
    cells = work.cells
    train(work)
    cells[1].status, cells[1].run = "waiting", None

    assert work.seconds_left == pytest.approx(30 * 132 / 104)
