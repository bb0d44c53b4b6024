"""Answers of prompts side by side: hand cases on eight documents."""

import json
from dataclasses import replace

import pytest

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.operations.prompts import prompt_answers
from workbench.operations.prompts.prompt_answers import (
    ALL,
    BOTH_WRONG,
    DISAGREE,
    NO_ANSWER,
    RIGHT,
    UNANSWERED,
    WRONG,
)
from workbench.operations.runs import results
from workbench.prompting import transcript
from workbench.storage.runs import runs
from workbench.text.columns import record
from workbench.text.fields import ClassScores, FromReply, Prediction

OTHER = {"praise": "complaint", "complaint": "praise"}


def predicted(label, share=0.9):
    scores = dict(sorted({label: share, OTHER[label]: 1 - share}.items()))
    return Prediction((ClassScores(tuple(scores), tuple(scores.values())),))


@pytest.fixture
def add_run(project, topics):
    """add_run("a", wrong=(0, 1), silent=(2,)) → a prompt run on the 8 documents of train."""

    def add(name, wrong=(), silent=(), kind="prompt", skip=()):
        spec = {"task": "classify", "layer": "topic", "template": "{{ text }}", "model": "m"}
        values = {"layer_id": topics[0].id, "spec": spec, "status": "done"}
        with project.write():
            run = runs.add(project.db, name, kind, **values)
        rows = []
        for at, item in enumerate(results.scored(project, run, "train")):
            label = OTHER[item.gold.label] if at in wrong else item.gold.label
            nothing = Prediction((FromReply("unreadable"),))
            answer = nothing if at in silent else predicted(label, 0.6 + at / 100)
            if at not in skip:
                rows.append((item.document.id, item.document.text_hash, answer.to_json()))
        with project.write():
            runs.save_predictions(project.db, run.id, rows)
        return run

    return add


def test_only_runs_with_answers_on_the_split_are_listed(project, add_run):
    first, second, third = (add_run(name) for name in "abc")
    with project.write():
        runs.update(project.db, second.id, spec={**second.spec, "split": "test"})
        runs.update(project.db, third.id, spec={**third.spec, "split": "train"})
        runs.update(project.db, third.id, scores={"train": {}, "dev": {"accuracy": 0.5}})
    every = runs.all(project.db)

    listed = prompt_answers.prompt_runs(every, "topic", "dev")

    assert {run.name for run in listed} == {"a", "c"}
    assert {run.name for run in prompt_answers.beside(first, every, "dev")} == {"c"}


@pytest.fixture
def two(project, add_run):
    """A: d0, d1 wrong, d2 without an answer. B: d0, d3, d4, d5 wrong, d6 without an answer."""
    first, second = add_run("a", (0, 1), (2,)), add_run("b", (0, 3, 4, 5), (6,))
    return prompt_answers.answers(project, first.id, second.id, "train")


def test_right_wrong_and_no_answer_are_counted_for_each_prompt(two):
    first, second = two.runs

    assert [first.counts[name] for name in (RIGHT, WRONG, NO_ANSWER)] == [5, 2, 1]
    assert [second.counts[name] for name in (RIGHT, WRONG, NO_ANSWER)] == [3, 4, 1]
    assert (first.accuracy, second.accuracy) == (5 / 8, 3 / 8)
    assert (first.accuracy_of_answered, second.accuracy_of_answered) == (5 / 7, 3 / 7)
    assert first.evaluation.scores["accuracy"] == 5 / 8 and first.evaluation.no_answer == 1


def test_joint_counts_and_the_paired_test_are_those_by_hand(two):
    joint = two.joint

    assert [joint[key] for key in ((True, True), (True, False), (False, True), (False, False))] == [
        1, 4, 2, 1,
    ]  # fmt: skip
    assert two.p == pytest.approx(2 * (1 + 6 + 15) / 64)  # 2 of 6, binomial, two-sided
    assert not two.is_decided and "undecided" in prompt_answers.verdict(two)


def test_segments_come_with_their_documents(two):
    assert dict(two.segments) == {DISAGREE: 6, BOTH_WRONG: 1, UNANSWERED: 2, ALL: 8}
    keys = [row.key for row in two.shown(DISAGREE, prompt_answers.FIRST)]
    assert keys == ["d3", "d4", "d5", "d6", "d1", "d2"]
    assert [row.key for row in two.shown(DISAGREE, prompt_answers.SECOND)][:2] == ["d1", "d2"]
    assert [row.key for row in two.shown(UNANSWERED, prompt_answers.KEY)] == ["d2", "d6"]


def test_numbers_in_keys_are_sorted_as_numbers(two):
    keys = ("d10", "d9", "e²", "d2")
    rows = tuple(replace(two.rows[0], key=key) for key in keys)

    shown = replace(two, rows=rows).shown(ALL, prompt_answers.KEY)
    assert [row.key for row in shown] == ["d2", "d9", "d10", "e²"]


def test_a_row_names_gold_answers_and_probabilities(two):
    row = next(row for row in two.rows if row.key == "d2")

    assert row.first.outcome == NO_ANSWER and row.first.share is None
    assert row.second.text == row.gold and row.second.share == pytest.approx(0.62)
    cells = record(prompt_answers.columns(two), row)
    assert cells["outcome_a"] == NO_ANSWER and cells["probability_b"] == pytest.approx(0.62)


def test_one_prompt_alone_has_no_joint_counts(project, add_run):
    alone = prompt_answers.answers(project, add_run("a", (0,)).id, split="train")

    assert alone.p is None and prompt_answers.verdict(alone) == ""
    assert dict(alone.segments) == {BOTH_WRONG: 1, UNANSWERED: 0, ALL: 8}
    assert [column.title for column in prompt_answers.columns(alone)][3:5] == ["Gold", "Answer"]


def test_the_stored_evaluation_is_shown_and_not_computed_again(project, add_run, monkeypatch):
    run = add_run("a", (0,))
    evaluation = results.evaluate_stored(project, run, "train")
    with project.write():
        runs.update(project.db, run.id, result={"evaluations": {"train": evaluation.to_json()}})
    monkeypatch.setattr(prompt_answers.scoring, "evaluate", None)

    alone = prompt_answers.answers(project, run.id, split="train")

    assert alone.runs[0].evaluation.scores == evaluation.scores


def test_a_trained_run_can_stand_beside_a_prompt_and_prompts_come_first(project, add_run):
    prompt, trained, newer = add_run("a"), add_run("t", kind="train"), add_run("b")

    every = results.all_runs(project)
    assert [run.name for run in prompt_answers.beside(prompt, every)] == ["b", "t"]
    assert {run.name for run in prompt_answers.prompt_runs(every, "topic")} == {"a", "b"}
    assert prompt_answers.answers(project, newer.id, trained.id, "train").joint[True, True] == 8
    assert prompt_answers.about(trained) == "m, fine-tuned"
    assert prompt_answers.about(prompt) == "m, 6 examples, balanced"


def test_a_sample_is_compared_on_the_documents_that_both_answered(project, add_run):
    first, second = add_run("a", wrong=(0, 7)), add_run("b", skip=(7,))

    comparison = prompt_answers.answers(project, first.id, second.id, "train")

    assert len(comparison.rows) == 7
    assert comparison.runs[0].counts["wrong"] == comparison.joint[False, True] == 1


def test_other_documents_are_refused_with_their_names(project, add_run):
    first, second = add_run("a", skip=range(7)), add_run("b", skip=(7,))

    with pytest.raises(WorkbenchError, match="1 train document .* \\(d7\\)"):
        prompt_answers.answers(project, first.id, second.id, "train")


def test_what_was_sent_and_received_is_read_from_the_files_of_the_run(project, add_run):
    run = add_run("a")
    folder = paths.run_folder(project.path, run.id)
    folder.mkdir(parents=True)
    (first, *_others) = results.scored(project, run, "train")
    about = {"document_id": first.document.id, "text_hash": "h"}
    request = {**about, "key": "k", "parts": ["Say: ", "yes", "no", ""]}
    request["prompts"] = {"yes": [0, 1, 3], "no": [0, 2, 3]}
    replies = [{"text": "yes, I think", "finish": "stop"}]
    transcript.write_prompts(folder, [json.dumps(request)])
    with transcript.AnswerFile(folder) as file:
        file.add([transcript.answer(0, request, {"replies": [{"text": "", "error": "429"}]})])
        file.add([transcript.answer(0, request, {"replies": replies})])

    exchange = prompt_answers.exchange(project, run, first.document.id)

    assert exchange.sent == (("yes", "Say: ", "yes", ""), ("no", "Say: ", "no", ""))
    assert exchange.replies == ("yes, I think",) and exchange.error == ""
    assert prompt_answers.exchange(project, run, 999_999) is None
    (folder / transcript.PROMPTS).write_text('{"document_id": 1, "parts": 3}\n')
    assert prompt_answers.exchange(project, run, 1) is None
