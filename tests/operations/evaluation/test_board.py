"""The board on runs whose predictions are stored by hand."""

from dataclasses import replace

import pytest

from tests.compared import project_with_runs
from workbench.base import paths
from workbench.metrics.evaluation import Evaluation
from workbench.operations.annotation import annotate
from workbench.operations.evaluation import board_export, compare, quality
from workbench.operations.evaluation.board import board, layers_with_runs, made_from, with_rankings
from workbench.operations.runs import results, run_list
from workbench.project.project import Project
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.tasks.classify.info import ClassifyInfo
from workbench.text.queries.query import QueryError


@pytest.fixture
def compared(tmp_path):
    project = Project.open(project_with_runs(tmp_path / "c.glossbench"))
    yield project
    project.close()


def named(project, name):
    return runs.by_name(project.db, name)


def test_scores_and_intervals_are_those_of_the_report(compared):
    found = board(compared)

    assert (found.layer, found.n, found.score) == ("topic", 12, "macro_f1")
    assert found.names[:2] == ("macro_f1", "accuracy")
    for entry in found.entries:
        evaluation = quality.evaluate(quality.evidence(compared, entry.run, "dev"))
        assert entry.scores == evaluation.intervals.scores
    assert layers_with_runs(compared) == ("topic",)


def test_rankings_can_be_resampled_after_the_other_scores(compared):
    whole, later = board(compared), {}

    found = board(compared, later=later)

    assert later.keys() == {entry.run.id for entry in found.entries}
    for entry, done in zip(found.entries, whole.entries, strict=True):
        ranking = entry.scores["macro_roc_auc"]
        assert (ranking.value, ranking.low) == (done.value("macro_roc_auc"), None)
        assert entry.scores["macro_f1"] == done.scores["macro_f1"]
    assert with_rankings(found, later) == whole


def test_the_method_of_intervals_is_that_of_the_task(compared, monkeypatch):
    assert "1,000 resamples, seed 1" in quality.interval_method(board(compared).intervals)

    monkeypatch.setattr(ClassifyInfo, "statistic", lambda *_: None)
    assert board(compared).intervals is None
    monkeypatch.setattr(ClassifyInfo, "interval", lambda *_: ("accuracy", 0.25, 0.75))

    method = quality.interval_method(board(compared).intervals)
    assert method == "95% intervals: computed by the task."


def test_a_task_without_a_statistic_has_the_interval_of_its_own(compared, monkeypatch):
    monkeypatch.setattr(ClassifyInfo, "statistic", lambda *_: None)
    plain = board(compared).entries[0].scores
    monkeypatch.setattr(ClassifyInfo, "interval", lambda *_: ("accuracy", 0.25, 0.75))

    found = board(compared).entries[0].scores

    assert {score.low for score in plain.values()} == {None}
    assert (found["accuracy"].low, found["accuracy"].high) == (0.25, 0.75)
    assert found["macro_f1"].low is None


def test_archived_runs_are_left_out_unless_asked_for(compared):
    run_list.archive(compared, (named(compared, "first").id,))

    assert [entry.run.name for entry in board(compared).entries] == ["second", "majority"]
    assert len(board(compared, archived=True).entries) == 3


def test_a_test_score_that_was_not_shown_stays_hidden(compared):
    found = board(compared, split="test")

    assert found.entries == () and len(found.others) == 4
    assert {other.problem for other in found.others} == {"Its test score has not been viewed yet."}


def test_gold_that_changed_since_a_run_is_noted(compared):
    first = named(compared, "first")
    evaluation = results.results(compared, first.id).current
    with compared.write():
        stored = {**first.result, "evaluations": {"dev": evaluation.to_json()}}
        runs.update(compared.db, first.id, result=stored)
    assert not board(compared).entries[0].changed

    document = results.scored(compared, first, "dev")[0].document.id
    annotate.set_class(compared, document, label_of(compared, "praise"))

    assert {entry.run.name: entry.changed for entry in board(compared).entries}["first"]


def with_missing_task(project, *names):
    with project.write():
        for name in names:
            run = named(project, name)
            runs.update(project.db, run.id, spec={**run.spec, "task": "lines.ordered"})


def test_a_run_whose_plugin_is_missing_is_not_scored_and_names_the_plugin(compared):
    with_missing_task(compared, "first")

    found = board(compared)

    assert [entry.run.name for entry in found.entries] == ["second", "majority"]
    (other,) = (item for item in found.others if item.run.name == "first")
    assert "no task 'lines.ordered'" in other.problem and "plugin lines" in other.problem
    assert "first cannot be compared" in compare.why_not(other.run, found.entries[0].run)


def test_a_board_of_runs_with_missing_plugins_alone_lists_them(compared):
    with_missing_task(compared, "first", "second", "majority", "partial")

    found = board(compared)

    assert found.entries == () and len(found.others) == 4


def label_of(project, name):
    return labels.layer_by_name(project.db, "topic").label(name).id


def test_the_size_is_that_of_the_weights(compared):
    first = named(compared, "first")
    model = paths.run_folder(compared.path, first.id) / "model"
    model.mkdir(parents=True)
    (model / "weights.bin").write_bytes(b"x" * 1234)

    sizes = {entry.run.name: entry.bytes for entry in board(compared).entries}

    assert sizes == {"first": 1234, "second": None, "majority": None}


def test_names_are_escaped_in_tables(compared):
    run_list.rename(compared, named(compared, "first").id, "=a|b")
    found = board(compared)

    assert "\n'=a|b,train," in board_export.to_csv(found)
    assert "| =a\\|b |" in board_export.to_markdown(found)


def test_a_query_leaves_out_documents_that_do_not_match(compared):
    found = board(compared, where="label:praise")

    assert (found.n, found.where) == (6, "label:praise")
    first = next(entry for entry in found.entries if entry.run.name == "first")
    assert first.value("accuracy") == pytest.approx(5 / 6)  # one of its two errors is in praise
    assert "Query: label:praise." in board_export.to_markdown(found)
    with pytest.raises(QueryError):
        board(compared, where="label:unknown")


def test_a_ratio_of_scores_has_no_gain(compared):
    entry = board(compared).entries[0]
    scores = ("accuracy", "pronoun_bias")
    scored = [
        replace(entry, evaluation=Evaluation("dev", scores=dict.fromkeys(scores, value)))
        for value in (0.5, 0.9)
    ]

    assert scored[1].gain(scored[0], "accuracy").errors_removed == pytest.approx(0.8)
    assert scored[1].gain(scored[0], "pronoun_bias") is None


def test_a_board_without_intervals_does_not_name_a_method_for_them(compared):
    from dataclasses import replace

    found = board(compared)
    bare = replace(
        found,
        entries=tuple(
            replace(
                entry,
                evaluation=replace(entry.evaluation, intervals=None),
            )
            for entry in found.entries
        ),
    )

    assert "bootstrap" in board_export.to_markdown(found)
    assert "bootstrap" not in board_export.to_markdown(bare)


def test_a_run_is_made_from_an_adapted_model(compared):
    with compared.write():
        options = {"adapt_epochs": 1, "epochs": 2}
        spec = {"task": "classify", "model": "starter-bert", "options": options}
        run = runs.add(compared.db, "adapted", "train", spec=spec)

    assert made_from(run) == "starter-bert, adapted for 1 epoch, 2 epochs"
