"""`prompts` on a small project whose predictions are stored by hand."""

import json
from contextlib import closing

import pytest

from tests.compared import project_with_runs
from tests.prompt_runs import add_prompt_run
from workbench.base import paths
from workbench.operations.runs import results
from workbench.project.project import Project
from workbench.prompting import transcript


@pytest.fixture
def compared(tmp_path):
    return project_with_runs(tmp_path / "c.glossbench")


def test_two_runs_are_compared_text_by_text(ask, call, compared):
    result = ask("prompts-compare", "prompts", "compare", compared, "first", "second")

    first, second = result["runs"]
    assert (first["right"], second["right"], first["no_answer"]) == (10, 8, 0)
    joint = result["joint"]
    assert joint["both_right"] + joint["only_first"] == 10
    assert len(result["documents"]) == joint["only_first"] + joint["only_second"]
    outcomes = {(row["outcome_a"], row["outcome_b"]) for row in result["documents"]}
    assert outcomes <= {("right", "wrong"), ("wrong", "right")}
    code, out, _err = call("prompts", "compare", compared, "first", "second", "--show", "all")
    assert code == 0 and "McNemar" in out and "Answer of B" in out


def test_one_run_alone_is_listed(ask, call, compared):
    result = ask("prompts-compare", "prompts", "compare", compared, "first")

    assert result["joint"] is None and len(result["documents"]) == result["n"] == 12
    _code, out, _err = call("prompts", "compare", compared, "first", "--show", "both-wrong")
    assert "Answer of A" not in out and "accuracy" in out


def test_runs_are_compared_on_the_documents_that_both_answered(ask, compared):
    result = ask("prompts-compare", "prompts", "compare", compared, "first", "partial")

    assert 0 < result["n"] < 12


def test_what_was_sent_for_a_document_is_printed_without_control_characters(
    ask, call, copy_sample, tmp_path
):
    path = copy_sample(tmp_path)
    with closing(Project.open(path)) as project:
        run = add_prompt_run(project, "one", wrong=(0,))
        (first, *_others) = results.scored(project, run, "dev")
        about = {"document_id": first.document.id, "text_hash": "h"}
        request = {**about, "key": "k", "parts": ["Which class?"], "text": 0}
        folder = paths.run_folder(project.path, run.id)
        folder.mkdir(parents=True)
        transcript.write_prompts(folder, [json.dumps(request)])
        reply = {"text": "\x1b[2Jdelay\nof course", "finish": "stop"}
        with transcript.AnswerFile(folder) as file:
            file.add([transcript.answer(0, request, {"replies": [reply]})])
    key = first.document.key

    result = ask("prompts-compare", "prompts", "compare", path, "one", "--exact", key)
    assert result["exact"][0]["sent"] == [["", "Which class?", "", ""]]
    code, out, _err = call("prompts", "compare", path, "one", "--exact", key)
    assert code == 0 and "Which class?" in out and "delay\nof course" in out and "\x1b" not in out
    code, _out, err = call("prompts", "compare", path, "one", "--exact", "nowhere")
    assert code == 1 and "'nowhere'" in err


def test_the_examples_of_a_document_are_listed_with_reasons(ask, call, copy_sample, tmp_path):
    path = copy_sample(tmp_path)
    options = ("--layer", "class", "--order", "random", "--shots", "3", "--every-label")

    result = ask("prompts-examples", "prompts", "examples", path, "m-0011", "m-0017", *options)

    assert [len(document["examples"]) for document in result["documents"]] == [3, 3]
    (first, *_others) = result["documents"][0]["examples"]
    assert first["place"] == 1 and first["reason"] == "random, seed 1"
    code, out, _err = call("prompts", "examples", path, "m-0011", "--pin", "m-0001")
    assert code == 0 and "pinned" in out and "Left out first: the last one pinned." in out


def test_documents_outside_of_training_are_not_pinned(call, copy_sample, tmp_path):
    path = copy_sample(tmp_path)
    code, _out, err = call("prompts", "examples", path, "m-0001", "--pin", "m-0011")
    assert code == 1 and "m-0011 cannot be an example: not in the training split" in err
