"""The Results state, without widgets."""

from dataclasses import replace

import pytest

from tests.panel_tasks import add_tasks
from workbench.base import paths
from workbench.base.events import Signal
from workbench.jobs.spec import JobSpec
from workbench.metrics.evaluation import UNKNOWN
from workbench.operations.prompts import prompt_versions
from workbench.operations.runs import (
    baselines,
    results,
    run_folders,
    run_recorder,
    train,
)
from workbench.operations.runs.kinds import contract as kinds
from workbench.project.project import Project
from workbench.prompting.spec import PromptSpec
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.result_views import NUMBER
from workbench.ui.panels.results.runs.details import span_rows
from workbench.ui.panels.results.runs.facts import describe, fingerprints
from workbench.ui.panels.results.state import ResultsState
from workbench.ui.style.run_text import main_score, score_text, short_title, title_of


class Context:
    """A context that runs work synchronously and records messages."""

    def __init__(self, project):
        self.project, self.queue, self.gone, self.notes, self.faults = project, None, [], [], []
        self.steps = []
        self.opened = Signal()
        add_tasks(self)

    def go(self, page, **args):
        self.gone.append((page, args))

    def remember_place(self):
        pass

    def note(self, text, *_rest, **_named):
        self.notes.append(text)

    def note_step(self, text, title, back, again):
        self.notes.append(text)
        self.steps.append((title, back, again))

    def fail(self, error):
        self.faults.append(error)

    def attempt(self, act, *args, **named):
        return act(*args, **named)

    def commands_changed(self):
        pass


@pytest.fixture
def state(scored_file):
    project = Project.open(scored_file)
    state = ResultsState(Context(project))
    yield state
    state.close()
    project.close()


def test_a_run_of_a_missing_plugin_shows_its_stored_scores_and_cannot_predict(state):
    run = state.selection.shown_run
    with state.project.write():
        runs.update(state.project.db, run.id, spec={**run.spec, "task": "lines.ordered"})
    state.selection.refresh()

    shown = state.selection.shown_run
    assert (title_of(shown), short_title(shown)) == (
        "Ordered (needs the plugin lines)",
        "Ordered",
    )
    titled = replace(shown, result={"scoring": {"task": "Order of lines", "short": "Order"}})
    assert (title_of(titled), short_title(titled)) == (
        "Order of lines (needs the plugin lines)",
        "Order",
    )
    assert main_score(state.selection.shown_run) == score_text(
        "accuracy", run.scores["dev"]["accuracy"]
    )
    assert (
        state.selection.details.results.original.scores == run.scores["dev"]
        and state.selection.details.task is None
    )
    assert not (
        state.selection.can_answer or state.selection.usable or state.selection.can_train_again
    )
    assert state.selection.problem == "" and state.context.faults == []


def test_imported_predictions_are_a_run_that_is_selected(state, tmp_path):
    answers = runs.predictions(state.project.db, state.selection.shown_run.id)
    keys = [documents.get(state.project.db, id).key for id in answers]
    file = tmp_path / "mine.csv"
    file.write_text("id,label\nnobody,bad\n" + "".join(f"{key},bad\n" for key in keys))

    state.actions.import_predictions(file)

    run = state.selection.shown_run
    assert (run.name, run.kind, run.layer) == ("mine", "imported", state.selection.runs[1].layer)
    assert state.context.faults == [] and state.selection.busy == ""
    assert "1 line was left out. Line 2" in state.context.notes[-1]
    assert state.selection.details.results.current.n == len(keys) and not state.selection.can_answer
    assert state.selection.can_show_test and "no model" in state.selection.cannot_inspect
    rows = dict(describe(run))
    assert rows["File"] == str(file) and "Model" not in rows


def test_a_file_that_fits_nothing_is_reported(state, tmp_path):
    (tmp_path / "mine.csv").write_text("id,label\nnobody,bad\n")

    state.actions.import_predictions(tmp_path / "mine.csv")

    (error,) = state.context.faults
    assert "mine.csv has no prediction" in str(error) and state.selection.busy == ""
    assert [run.name for run in state.selection.runs] == ["second", "first"]


def test_a_pretraining_has_curves_and_settings_but_no_scores(state):
    spec = {"objective": "masked_lm", "model": "/m", "model_name": "m", "out": "/m2", "options": {}}
    scores = {"held-out": {"perplexity": 12.5}}
    with state.project.write():
        run = runs.add(state.project.db, "pre", "pretrain", status="done", spec=spec, scores=scores)
    state.selection.refresh()

    state.selection.choose((run.id,))

    assert (
        state.shown_part == "quality"
        and not state.selection.scored
        and state.selection.problem == ""
    )
    assert not (
        state.selection.can_answer
        or state.selection.usable
        or state.selection.can_train_again
        or state.selection.can_show_test
    )
    assert state.selection.others() == () and state.context.faults == []
    rows = dict(describe(state.selection.shown_run))
    assert rows["Perplexity on held-out text"] == "12.5" and rows["Pretrained model"] == "/m2"


def test_the_newest_finished_run_is_chosen_at_first(state):
    assert [run.name for run in state.selection.runs] == ["second", "first"]
    assert state.selection.run.name == "second"


def test_every_score_has_its_interval_and_its_definition(state):
    rows = {row.name: row for row in state.selection.score_rows()}

    accuracy, kappa = rows["Accuracy"], rows["Cohen’s kappa"]
    assert accuracy.current == 0.5 and accuracy.low < 0.5 < accuracy.high
    assert kappa.original is None and kappa.current == 0.0 and "Cohen 1960" in kappa.hint
    current = state.selection.evaluation("dev", "today")
    low, high = current.of_label("bad", "f1").interval
    assert low < high
    assert state.selection.evaluation("dev", "run").of_label("bad", "f1") == UNKNOWN
    assert span_rows(current) == ()


def test_errors_are_the_documents_answered_otherwise_surest_first(state):
    state.selection.choose((state.selection.runs[1].id,))

    assert [(row.key, row.gold, row.predicted) for row in state.selection.errors] == [
        ("k5", "bad", "good"),
        ("k2", "good", "bad"),
    ]


def test_an_error_opens_annotate_with_the_whole_list_to_go_through(state):
    state.actions.review_errors()

    page, args = state.context.gone[-1]
    assert page == "annotate"
    assert (
        args["document"] == args["errors"][0]
        and len(args["errors"]) == 3
        and args["run"] == state.selection.run.id
    )


def test_a_cell_of_the_matrix_shows_its_errors_and_the_diagonal_its_documents(state):
    state.browser.watch(True)

    state.browser.open_cell("good", "bad")
    assert state.part == "errors" and "gold good, predicted bad" in state.browser.caption
    assert {item.key for item in state.browser.shown} == {"k1", "k2"}

    state.browser.open_cell("bad", "bad")
    page, args = state.context.gone[-1]
    assert page == "data" and len(args["ids"]) == 2


def test_scores_follow_todays_gold_while_those_as_run_stay(state):
    from workbench.operations.annotation import annotate
    from workbench.operations.schema import labels

    (layer,) = labels.layers(state.project)
    state.watch(True)
    wrong = state.selection.errors[0].document_id
    annotate.set_class(state.project, wrong, layer.label("good").id)

    rows = {row.name: (row.original, row.current) for row in state.selection.score_rows()}
    assert rows["Accuracy"] == (pytest.approx(0.5), pytest.approx(4 / 6))


def test_nothing_is_computed_again_while_the_page_is_hidden(state):
    from workbench.operations.annotation import annotate
    from workbench.operations.schema import labels

    (layer,) = labels.layers(state.project)
    state.watch(False)
    before = state.selection.details
    annotate.set_class(state.project, state.selection.errors[0].document_id, layer.label("good").id)
    assert state.selection.details is before

    state.watch(True)
    assert state.selection.details is not before


def test_two_runs_are_averaged_into_a_third_that_is_chosen(state):
    assert "two different runs" in state.actions.no_average

    state.selection.choose(tuple(run.id for run in state.selection.runs))
    assert state.actions.no_average == ""
    state.actions.average()

    assert (
        state.context.faults == []
        and state.selection.run.kind == "ensemble"
        and state.selection.busy == ""
    )
    assert ("Averaged runs", "first, second") in state.selection.settings_rows()
    assert not state.selection.can_answer and "weights of run" in state.selection.note[0]
    assert not state.selection.usable and not state.selection.can_train_again
    assert "first, second" in state.context.notes[-1]


def test_an_ensemble_without_one_of_its_runs_says_so(state, monkeypatch):
    monkeypatch.setattr(run_folders, "existing_model", lambda *_of: state.selection.folder)
    state.selection.choose(tuple(run.id for run in state.selection.runs))
    state.actions.average()
    made, member = state.selection.run.id, min(state.selection.run_of(id).id for id in (1, 2))
    assert (
        state.selection.can_answer
        and state.selection.cannot_inspect == ""
        and state.selection.note[0] == ""
    )

    results.delete(state.project, member)
    state.selection.choose((made,))

    text, tone = state.selection.note
    assert "was deleted" in text and "remaining run" in text and tone == "warn"
    assert (
        state.selection.cannot_inspect == text
        and not state.selection.can_answer
        and not state.selection.can_suggest
    )


def test_a_run_without_its_weights_offers_nothing_that_needs_them(state):
    assert not state.selection.usable and not state.selection.can_show_test
    assert state.selection.can_train_again


def test_a_baseline_is_trained_again_and_the_page_stays(state, inline_jobs):
    wiring = run_recorder.wire(state.project, inline_jobs)
    state.context.queue = inline_jobs
    with state.project.edit("Import"):
        rows = [
            Record(
                Document(name, (("text", name),), "train"),
                {"class": "submitted"},
                {"class": (name,)},
            )
            for name in ("good", "bad")
        ]
        documents.add(state.project.db, rows, source_id=state.project.source("import", "f"))
    found = baselines.prepare(state.project, "majority", "classify")
    first = kinds.start(state.project, inline_jobs, found)
    inline_jobs.wait(inline_jobs.jobs[-1])
    state.selection.refresh()
    state.selection.choose((first.id,))

    assert state.selection.can_train_again
    state.actions.train_again()
    inline_jobs.wait(inline_jobs.jobs[-1])

    assert f"{first.name} 2 was started with the settings of {first.name}." in state.context.notes
    assert state.context.gone == [] and f"{first.name} 2" in [
        run.name for run in state.selection.runs
    ]
    wiring.close()


def test_a_finished_run_is_compared_with_quick_baselines_once_it_is_looked_at(state, inline_jobs):
    state.context.queue, run = inline_jobs, state.selection.run
    with state.project.edit("Import"):
        rows = [
            Record(
                Document(name, (("text", name),), "train"),
                {"class": "submitted"},
                {"class": (name,)},
            )
            for name in ("good", "good too", "bad")
        ]
        rows = [replace(row, marks={"class": (row.document.key[:4].strip(),)}) for row in rows]
        documents.add(state.project.db, rows, source_id=state.project.source("import", "f"))
    (layer,) = labels.layers(state.project.db)
    _plan, data, splits = train.freeze(state.project, "classify", layer)
    params = {"data": str(data.path), "splits": splits}
    folder = paths.run_folder(state.project.path, run.id)
    JobSpec("a:b", params).write(folder / "job.json")
    with state.project.write():
        runs.update(state.project.db, run.id, scores={"dev": {"macro_f1": 0.1}})
    state.selection.reload()
    assert state.selection.advice.unmeasured == ("majority", "svm") and inline_jobs.jobs == ()

    state.watch(True)
    state.watch(True)

    assert len(inline_jobs.jobs) == 1
    assert state.selection.advice.unmeasured == () and state.selection.advice.below.own == 0.1
    assert [item.name for item in state.selection.runs] == ["second", "first"]


def test_a_prompt_can_be_asked_though_it_has_no_model_of_its_own(state):
    with state.project.write():
        made = runs.add(
            state.project.db,
            "asked",
            "prompt",
            layer_id=state.selection.run.layer_id,
            spec={"task": "classify", "split": "dev"},
        )
        runs.update(state.project.db, made.id, status="done")
    state.selection.refresh()
    state.selection.choose((state.selection.runs[0].id,))

    assert (
        state.selection.run.name == "asked"
        and state.selection.can_answer
        and state.selection.can_show_test
    )
    assert not state.selection.usable and not state.selection.can_train_again


def test_deleting_takes_the_run_off_and_chooses_another(state):
    state.actions.delete()

    assert [run.name for run in state.selection.runs] == ["first"]
    assert state.selection.run.name == "first"


def test_settings_tell_seed_options_and_looks(state):
    rows = dict(state.selection.settings_rows())

    assert (rows["Seed"], rows["Epochs"], rows["Test score views"], rows["Model"]) == (
        "1",
        "2",
        "0",
        "starter-bert",
    )
    assert "--seed 1" in state.selection.command()


def test_fingerprints_are_in_the_tooltips_of_what_they_name(state):
    hashes = {"base_fingerprint": "b1", "data_fingerprint": "d2", "test_fingerprint": "t3"}
    with state.project.write():
        result = {"weights_sha256": "w4"}
        runs.update(state.project.db, state.selection.run.id, **hashes, result=result)
    state.selection.refresh()

    shown = " ".join(" ".join(row) for row in state.selection.settings_rows())
    tips = fingerprints(state.selection.run)

    assert not any(value in shown for value in ("b1", "d2", "t3", "w4"))
    assert tips == {
        "Model": "Fingerprint of the base model: b1\nTrained weights (SHA-256): w4",
        "Layer": "Fingerprint of the data: d2",
        "Test score views": "Fingerprint of the test set: t3",
    }
    assert set(tips) <= {name for name, _value in state.selection.settings_rows()}


def test_a_prompt_run_is_described_with_its_calibration_and_prior(project):
    spec = {"task": "classify", "shots": 6, "order": "balanced", "calibration": "content-free"}
    with project.write():
        run = runs.add(project.db, "p", "prompt", spec=spec)
        runs.update(project.db, run.id, result={"prior": {"praise": 0.61, "delay": 0.39}})

    result = dict(describe(runs.get(project.db, run.id)))

    assert (result["Examples"], result["Selection of examples"]) == ("6", "balanced")
    assert result["Calibration"] == "content-free"
    assert (result["Prior of praise"], result["Prior of delay"]) == ("61.0%", "39.0%")


def test_a_prompt_run_is_described_with_what_its_answers_cost(project):
    result = {"n": 50, "known": 10, "no_answer": {"empty": 2}, "answer_seconds": 5.0}
    result |= {"prompt_tokens": 10_000, "reply_tokens": 1000}
    result |= {"sent_prompt_tokens": 8000, "sent_reply_tokens": 800}
    with project.write():
        run = runs.add(project.db, "p", "prompt", spec={"prices": [2.0, 10.0]}, result=result)

    rows = dict(describe(runs.get(project.db, run.id)))

    assert rows["Answered documents"] == "50"
    assert rows["Answers known before, not sent"] == "10"
    assert rows["Documents without a readable answer"] == "2" and "Failed requests" not in rows
    assert (rows["Tokens of prompts"], rows["Tokens of replies"]) == ("10,000", "1,000")
    assert rows["Price of what was sent"] == "0.024"  # 8,000 × 2 + 800 × 10, of a million
    assert rows["Price per 1,000 documents"] == "0.6"
    assert rows["Waiting per 1,000 documents, s"] == "100"


def test_a_prompt_run_shows_its_whole_prompt(project):
    spec = PromptSpec("{{ text }}: {{ label }}", "/m", "m", prompt_name="topics", prompt_version=2)
    with project.write():
        words = replace(spec, words={"delay": ("late",)}, instruction="Read.")
        run = runs.add(project.db, "p", "prompt", spec={**words.to_json(), "task": "classify"})

    result = dict(describe(run))

    assert result["Prompt"] == "topics, version 2" and result["Words of delay"] == "late"
    assert result["Instruction"] == "Read." and prompt_versions.spec_of_run(run).template


def test_the_settings_tell_how_the_language_model_was_adapted(project):
    adapted = {"objective": "masked_lm", "path": "adapted", "documents": 600, "held_out": 150}
    adapted |= {"steps": 2, "before": {"perplexity": 161.93}, "after": {"perplexity": 142.67}}
    with project.write():
        run = runs.add(project.db, "a", "train", spec={"task": "classify"})
        runs.update(project.db, run.id, result={"adaptation": adapted})

    rows = dict(describe(runs.get(project.db, run.id)))

    assert rows["Adapted with"] == "Masked language model"
    assert rows["Documents of the adaptation"] == "600, and 150 to measure perplexity"
    assert rows["Perplexity on dev"] == "161.9 before the adaptation, 142.7 after"
    assert "Perplexity per word on dev" not in rows


def test_the_settings_of_a_run_have_its_group_tags_and_note(state):
    rows = dict(describe(state.selection.run))
    assert not {"Group", "Tags", "Note"} & set(rows)

    state.selection.choose((state.selection.run.id,))
    state.listing.organise("trial", "good, quick", "first line\nsecond")

    rows = dict(describe(state.selection.run))
    assert [rows[name] for name in ("Group", "Tags", "Note")] == [
        "trial",
        "good, quick",
        "first line second",
    ]


def test_errors_of_numbers_are_ordered_by_difference_or_document_only(state, monkeypatch):
    browser = state.browser
    assert [value for _title, value in browser.orders] == [
        "confidence", "loss", "kind", "document",
    ]  # fmt: skip
    monkeypatch.setattr(type(browser), "view", NUMBER)
    assert browser.orders == [
        ("Difference from gold", "loss"), ("Order of the documents", "document"),
    ]  # fmt: skip


def test_an_archived_run_is_not_the_one_that_is_shown_first(state):
    from workbench.operations.runs import run_list

    newest, other = state.selection.runs[0].id, state.selection.runs[1].id
    assert state.selection.chosen == (newest,)
    run_list.archive(state.project, (newest,), True)
    state.selection.choose(())
    state.selection.refresh()
    assert state.selection.chosen == (other,)
