import pytest

from workbench.base.errors import WorkbenchError
from workbench.project.project import Project
from workbench.storage.runs import prompts, runs
from workbench.text.fields import ClassScores, Prediction, SpanScores
from workbench.text.spans import Span


def test_a_run_keeps_what_it_is_given_and_updates_are_reported(project):
    heard = []
    stop = project.changed.connect(heard.append)
    with project.write("Start run"):
        run = runs.add(project.db, "first", "train", spec={"epochs": 3}, status="running")
    with project.write("End run"):
        run = runs.update(
            project.db,
            run.id,
            status="done",
            scores={"dev": {"accuracy": 0.5}},
            result={"seconds": 2.5},
        )
    stop()

    assert (run.spec, run.status, run.scores, run.seconds) == (
        {"epochs": 3},
        "done",
        {"dev": {"accuracy": 0.5}},
        2.5,
    )
    assert [event.touches("run") for event in heard] == [True, True] and heard[0].rows["run"] == {
        run.id
    }
    assert project.history() == ()


def test_group_tags_note_and_archive_are_kept_beside_the_settings(project):
    listing = runs.Listing("paper", ("a", "b"), "better", True)
    with project.write():
        run = runs.add(project.db, "first", spec={"epochs": 3})
        runs.organise(project.db, run.id, listing)
    assert run.listing == runs.Listing()

    found = runs.get(project.db, run.id)
    assert found.listing == listing and found.spec == {"epochs": 3}

    with project.write():
        runs.organise(project.db, run.id, runs.Listing())
    assert runs.get(project.db, run.id) == run


def test_a_damaged_listing_is_read_as_far_as_possible():
    found = runs.Listing.from_json({"group": 3, "tags": ["a", 4], "note": "n", "archived": "yes"})

    assert found == runs.Listing("", ("a",), "n", False)
    assert runs.Listing.from_json("x") == runs.Listing()


def test_a_name_is_taken_once_and_a_free_one_is_found(project):
    with project.write():
        runs.add(project.db, "run")
        with pytest.raises(WorkbenchError, match="already"):
            runs.add(project.db, "run")
        assert runs.free_name(project.db, "run") == "run 2"
    with pytest.raises(TypeError):
        with project.write():
            runs.add(project.db, "other", nonsense=1)


def test_a_run_that_lost_its_writer_reads_as_interrupted_and_the_next_writer_records_it(project):
    with project.write():
        runs.add(project.db, "lost", status="running")
    reader = Project.open(project.path, read_only=True)
    assert runs.by_name(reader.db, "lost").status == "running"

    project.db._lock.free()  # as after kill -9
    assert runs.by_name(reader.db, "lost").status == "interrupted"
    reader.close()
    project.close()

    again = Project.open(project.path)
    assert again.db.reader().execute("select status from run").fetchone() == ("interrupted",)
    again.close()


def test_predictions_come_back_and_an_ids_filter_works(project):
    prediction = Prediction(
        (
            ClassScores(("a", "b"), (0.25, 0.75)),
            SpanScores((Span(0, 3, "PER", score=0.5),)),
        ),
        cut=True,
    )
    with project.write():
        run = runs.add(project.db, "r")
        runs.save_predictions(
            project.db,
            run.id,
            [(7, "hash", prediction.to_json()), (8, "other", Prediction().to_json())],
        )
        runs.save_predictions(project.db, run.id, [(8, "new", Prediction().to_json())])

    assert runs.predictions(project.db, run.id)[7] == ("hash", prediction)
    assert set(runs.predictions(project.db, run.id, [8, 9])) == {8}
    with project.write():
        runs.delete(project.db, run.id)
    assert runs.predictions(project.db, run.id) == {} and runs.all(project.db) == ()


def test_ids_of_deleted_runs_are_not_given_again(project):
    with project.write():
        first = runs.add(project.db, "a")
        runs.delete(project.db, first.id)
        assert runs.add(project.db, "b").id > first.id


def test_prompts_keep_their_versions_and_can_be_undone(project):
    with project.edit("New prompt"):
        prompt = prompts.add(project.db, "mine", "one")
    with project.edit("Change prompt"):
        prompts.add_version(project.db, prompt.id, "two")
        prompts.add_version(project.db, prompt.id, "two")  # unchanged: no new version

    assert [
        (version.number, version.body) for version in prompts.by_name(project.db, "mine").versions
    ] == [
        (1, "one"),
        (2, "two"),
    ]
    project.undo()
    assert prompts.get(project.db, prompt.id).body == "one"
    project.undo()
    assert prompts.all(project.db) == ()
