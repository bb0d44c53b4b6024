"""Runs and baselines that are trained again, and what has changed on the same documents."""

from dataclasses import replace

import pytest

from workbench.operations.annotation import annotate
from workbench.operations.runs import baselines, rerun, results, rounds, run_recorder
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.schema import labels
from workbench.storage.runs import runs


def test_both_runs_are_scored_against_the_same_current_gold(project, trained):
    dev = [item.document for item in results.scored(project, trained, "dev")]
    (layer,) = labels.layers(project)
    with project.write():
        spec = dict(trained.spec)
        new = runs.add(
            project.db, "second", "train", layer_id=layer.id, spec=spec, parent_id=trained.id
        )
        kept = runs.predictions(project.db, trained.id, [item.id for item in dev])
        rows = [(id, text, raw.to_json()) for id, (text, raw) in kept.items()]
        runs.save_predictions(project.db, new.id, rows[:3])
    wrong = dev[0]
    annotate.set_class(project, wrong.id, layer.label("praise").id)

    (found,) = rerun.differences(project, results.run(project, new.id))

    assert (found.before_name, found.split, found.n) == ("first", "dev", 3)
    assert found.before == found.after == 1.0


def test_a_run_that_repeats_none_has_no_difference(project, trained):
    assert rerun.differences(project, trained) == ()


@pytest.fixture
def baseline(project, inline_jobs, topics):
    """A baseline trained with test, seed 3 and a name."""
    wiring = run_recorder.wire(project, inline_jobs)
    prepared = baselines.prepare(
        project, "majority", "classify", name="most", seed=3, with_test=True
    )
    run = kinds.start(project, inline_jobs, prepared)
    inline_jobs.wait(inline_jobs.jobs[-1])
    yield results.run(project, run.id)
    wiring.close()


def test_a_baseline_is_repeated_on_the_current_labels(project, baseline, inline_jobs, topics):
    layer, ids = topics
    first = baseline.result["used"]["train"]
    annotate.set_class(project, ids[-1], layer.label("praise").id)
    annotate.submit(project, ids[-1], (layer.id,))

    new = rerun.start(project, inline_jobs, rerun.prepare(project, baseline), baseline)
    inline_jobs.wait(inline_jobs.jobs[-1])

    new = results.run(project, new.id)
    assert (new.status, new.kind, new.name) == ("done", "baseline", "most 2")
    assert (new.parent_id, new.spec["seed"]) == (baseline.id, 3)
    assert new.result["used"]["train"] == first + 1
    assert "--with-test" in results.command(project, new)
    (dev, _test) = rerun.differences(project, new)
    assert (dev.before_name, dev.split) == ("most", "dev")
    assert rounds.rounds(project, new).runs == ("most", "most 2")


def test_a_training_is_repeated_before_a_newer_baseline(project, trained, baseline):
    assert rerun.last_of([baseline, trained]) == trained
    assert rerun.last_of([baseline]) == baseline
    assert rerun.last_of([]) is None
    assert not rerun.can_repeat(replace(trained, status="running"))
    assert not rerun.can_repeat(replace(trained, kind="prompt"))
