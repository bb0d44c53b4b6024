"""Repeated seeds and folds: cells, intervals, differences of pairs, out-of-fold predictions."""

import json
from pathlib import Path

import pytest

from tests.operations.conftest import STARTER, leave_model
from workbench.base.errors import SpecError
from workbench.operations.evaluation import board, errors, folds, label_errors
from workbench.operations.experiments.experiment import run
from workbench.operations.experiments.repeat import Repeat, RepeatSpec, System, last, repeat_titles
from workbench.operations.runs import results, train
from workbench.operations.runs.run_recorder import wire
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.training.spec import TrainSpec


def system(title, **options):
    return System(title, TrainSpec("classify", "topic", STARTER, "starter", options=options))


@pytest.fixture
def compute(project, queue):
    """compute(spec, score) → the experiment, with the scores of its jobs in their order. Every
    document is predicted as gold but d0, which is "praise".
    """
    wiring = wire(project, queue)

    def computed(spec, scores):
        values = iter(scores)

        def worker(job):
            job.start()
            ids = job.spec.params["splits"]["dev"]
            rows = [(item, gold(item)) for item in (documents.get(project.db, id) for id in ids)]
            leave_model(Path(job.spec.folder), rows)
            (Path(job.spec.folder) / "job.json").write_text(json.dumps({"params": job.spec.params}))
            scores = {"dev": {"macro_f1": next(values)}}
            job.end("done", {"scores": scores, "seconds": 60.0})

        queue.worker = worker
        work = Repeat(project, spec)
        run(work, queue)
        return work

    yield computed
    wiring.close()


def gold(document):
    number = int(document.text.split()[-1])
    return "praise" if document.text.endswith("train 0") else ("complaint", "praise")[number % 2]


def test_two_systems_are_trained_on_the_same_folds_and_compared_in_pairs(
    project, queue, topics, compute
):
    spec = RepeatSpec((system("A"), system("B", epochs=2)), seeds=(1,), folds=3)

    work = compute(spec, [0.5, 0.6, 0.7, 0.6, 0.8, 0.7])

    assert [cell.status for cell in work.cells] == ["done"] * 6 and work.status == "done"
    held_out = [job.spec.params["splits"]["dev"] for job in queue.jobs]
    assert held_out[:3] == held_out[3:] and len({*map(tuple, held_out)}) == 3
    first, second = work.rows
    assert (first.first.mean, second.first.mean) == (pytest.approx(0.6), pytest.approx(0.7))
    # by hand: s is 0.1, t(2) at 97.5% 4.30265, (1/3 + 1/2) for three folds
    assert work.interval(first).high == pytest.approx(0.6 + 4.30265 * 0.1 * (5 / 6) ** 0.5)
    (difference,) = work.differences  # 0.1, 0.2, 0.0
    assert (difference.first, difference.second) == ("A", "B")
    assert difference.interval.mean == pytest.approx(0.1) and difference.interval.n == 3
    assert difference.interval.p == pytest.approx(1 - (1.2 / 3.2) ** 0.5)  # t² = 1 / (5/6)


def test_an_experiment_is_found_again_and_continued(project, queue, topics, compute):
    spec = RepeatSpec((system("A"),), seeds=(1, 2), folds=2)
    compute(spec, [0.5, 0.6, 0.7, 0.8])

    again = Repeat(project, last(project))
    more = Repeat(project, RepeatSpec((system("A"),), seeds=(1, 2, 3), folds=2))

    assert [cell.status for cell in again.cells] == ["done"] * 4
    assert [cell.status for cell in more.cells].count("waiting") == 2
    assert repeat_titles(spec)[2] == "Seed 2, fold 1"
    assert Repeat(project, RepeatSpec((system("A"),), (1, 2))).cells[0].run is None


def test_the_scores_of_a_fold_are_of_its_own_documents(project, queue, topics, compute):
    work = compute(RepeatSpec((system("A"),), seeds=(1,), folds=3), [0.5, 0.6, 0.7])

    for cell, job in zip(work.cells, queue.jobs, strict=True):
        dev = [item.document.id for item in results.scored(project, cell.run, "dev")]
        learned = [item.document.id for item in results.scored(project, cell.run, "train")]
        assert sorted(dev) == sorted(job.spec.params["splits"]["dev"])
        assert sorted(learned) == sorted(job.spec.params["splits"]["train"])
    wrong = [item for cell in work.cells for item in errors.items(project, cell.run, "dev")]
    assert [item.key for item in wrong] == ["d0"]
    assert errors.refreshed(project, work.cells[0].run, "dev", (), dev) == ()
    assert not board.board(project, "topic").entries  # dev of the project is no fold


def test_label_errors_take_the_predictions_of_all_folds(project, queue, topics, compute):
    work = compute(RepeatSpec((system("A"),), seeds=(1,), folds=3), [0.5, 0.6, 0.7])
    layer = folds.layer_named(project, "topic")
    known, jobs = dict(folds.models(project, layer)), len(queue.jobs)
    name = work.cells[0].run.name
    assert name in known and work.cells[1].run.name not in known

    measured = folds.measure(project, queue, "topic", model=name)

    assert len(queue.jobs) == jobs  # nothing was trained
    assert (measured.folds, len(measured.predictions)) == (3, 12)
    (item,) = label_errors.ranking(project, layer).suspects
    assert (item.key, item.mistake.gold, item.mistake.predicted) == ("d0", "complaint", "praise")
    assert work.folds_of(work.rows[0]) == tuple(cell.run for cell in work.cells)

    results.delete(project, work.cells[2].run.id)
    assert name not in dict(folds.models(project, layer))


def test_the_settings_of_a_fold_begin_without_it(project, queue, topics, compute):
    work = compute(RepeatSpec((system("A"),), seeds=(1,), folds=2), [0.5, 0.6])
    spec = train.spec_of(runs.get(project.db, work.cells[0].run.id))

    whole = Repeat(project, RepeatSpec((System("B", spec),), seeds=(1,)))

    assert spec.option("fold") == "1/2" and whole.cells[0].spec.option("fold") == ""


def test_systems_of_other_layers_or_tasks_are_refused(project, topics):
    other = System("B", TrainSpec("tag", "names", STARTER, "starter"))

    with pytest.raises(SpecError, match="one task and layer"):
        Repeat(project, RepeatSpec((system("A"), other)))
    with pytest.raises(SpecError, match="at least one run"):
        Repeat(project, RepeatSpec(()))
    with pytest.raises(SpecError, match="number of folds is 1"):
        Repeat(project, RepeatSpec((system("A"),), folds=1))


def test_a_teacher_is_compared_with_students_without_and_with_it(project, queue, trained, compute):
    spec = RepeatSpec((system("Small", alpha=0.25, epochs=2),), seeds=(1, 2), teacher="first")

    work = compute(spec, [0.5, 0.6, 0.8, 0.7])

    options = [
        dict(TrainSpec.from_json(job.spec.params["spec"]).options) for job in queue.jobs[-4:]
    ]
    assert [item.get("teacher") for item in options] == [None, None, "first", "first"]
    assert [item.get("alpha") for item in options] == [None, None, 0.25, 0.25]
    assert [(row.title, row.first.mean) for row in work.rows] == [
        ("Small without a teacher", pytest.approx(0.55)),
        ("Small with a teacher", pytest.approx(0.75)),
        ("Teacher: first", 0.7),
    ]
    (difference,) = work.differences
    assert difference.interval.mean == pytest.approx(0.2)  # of (0.3, 0.1)
    assert work.report()["teacher"] == {"run": "first", "score": 0.7}
    assert last(project) == spec


def test_a_run_that_cannot_teach_is_refused(project, trained):
    with pytest.raises(SpecError, match="no run 'nobody'"):
        Repeat(project, RepeatSpec((system("A"),), teacher="nobody"))
    with pytest.raises(SpecError, match="trained on other folds"):
        Repeat(project, RepeatSpec((system("A"),), folds=3, teacher="first"))
