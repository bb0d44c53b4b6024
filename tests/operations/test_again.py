"""What training again has changed, on the documents that both runs predicted."""

from workbench.operations import again, annotate, labels, results
from workbench.storage import runs


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

    (found,) = again.differences(project, results.run(project, new.id))

    assert (found.before_name, found.split, found.n) == ("first", "dev", 3)
    assert found.before == found.after == 1.0


def test_a_run_that_repeats_none_has_no_difference(project, trained):
    assert again.differences(project, trained) == ()
