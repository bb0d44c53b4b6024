"""`evaluate`, `predict`, `suggest`, `prompt`, `export`: refusals before a job, and prompt runs."""

import csv
import json
import signal
from contextlib import closing

import pytest

from tests.inline import InlineQueue
from workbench.base import paths
from workbench.cli.session import reading
from workbench.jobs.events import Finished
from workbench.project.project import Project
from workbench.storage.runs import replies, runs


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "template.jinja"
    path.write_text("{{ text }} Topic: {{ label }}")
    return path


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ((), "One of --text, --input and --where is required"),
        (("--text", "a", "--input", "x"), "One of --text, --input and --where is required"),
        (
            ("--text", "a", "--text", "b", "--text-b", "c"),
            "--text-b is required once for each --text",
        ),
    ],
)
def test_predict_is_asked_about_texts_or_a_file(call, tmp_path, more, word):
    code, out, err = call("predict", tmp_path, *more)

    assert code == 2 and word in err and out == ""


def test_a_name_without_its_project_says_how_to_name_it(call, file, tmp_path):
    code, out, err = call("predict", "first", "--text", "a", "--json")
    assert (
        code == 1
        and "'first' is not a model folder" in err
        and "--project FILE" in err
        and out == ""
    )

    code, out, err = call("predict", "first", "--project", file, "--text", "a")
    assert code == 1 and "no run 'first'" in err and "none yet" in err


def test_an_input_that_cannot_be_read_is_named_before_a_model_is_loaded(call, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"fine\n\xff\xfe\n")

    code, out, err = call("predict", tmp_path / "no-model", "--input", tmp_path / "a.txt")

    assert code == 1 and "a.txt, line 2: not valid UTF-8" in err and out == ""


@pytest.mark.parametrize("command", ["evaluate", "suggest", "export"])
def test_a_run_that_is_not_there_is_reported_with_those_that_are(call, file, tmp_path, command):
    with_run = Project.open(file)
    with with_run.write():
        runs.add(with_run.db, "tags-1", "train", spec={"task": "tag"}, status="done")
    with_run.close()

    code, out, err = call(
        command,
        file,
        *([tmp_path / "out"] if command == "export" else []),
        "--run",
        "tag-1",
        "--json",
    )

    assert code == 1 and "no run 'tag-1'" in err and "Runs: tags-1." in err and out == ""
    assert not (tmp_path / "out").exists()


def test_a_run_whose_weights_are_gone_says_where_they_should_be(call, file, tmp_path):
    project = Project.open(file)
    with project.write():
        spec = {"task": "tag", "layer": "s", "model": "starter-bert"}
        runs.add(project.db, "old", "train", spec=spec, status="done")
    project.close()

    for command in (
        ("predict", "old", "--project", file, "--text", "a"),
        ("export", file, "--run", "old", tmp_path / "out"),
    ):
        code, out, err = call(*command)
        assert (
            code == 1
            and "weights of run 'old' are missing" in err
            and "p.runs" in err
            and out == ""
        )


def test_an_export_is_of_a_run_or_of_a_published_model_that_predicts(call, file, tmp_path):
    code, _out, err = call("export", file, tmp_path / "out")
    assert code == 2 and "--run or --model" in err

    code, _out, err = call("export", file, tmp_path / "out", "--model", "starter-bert")
    assert code == 1 and "not trained for a task" in err


def test_an_unknown_export_format_is_named(call, file, tmp_path):
    code, _out, err = call("export", file, "--run", "x", tmp_path / "out", "--formats", "hf,tflite")

    assert code in (1, 2) and "tflite" in err and not (tmp_path / "out").exists()


def test_a_prompt_needs_a_template_that_can_be_read_and_a_layer_of_classes(call, file, tmp_path):
    code, _out, err = call(
        "prompt", file, "--template", tmp_path / "none.txt", "--model", "starter-gpt"
    )
    assert code == 1 and "none.txt" in err

    (tmp_path / "t.txt").write_text("{{ text }}: {{ label }}")
    code, _out, err = call(
        "prompt", file, "--template", tmp_path / "t.txt", "--model", "starter-gpt"
    )
    assert code == 1 and "layer" in err and "without effect" not in err

    code, _out, err = call(
        "prompt", file, "--template", tmp_path / "t.txt", "--model", "starter-gpt", "--seed", "2"
    )
    assert code == 1 and "--seed without effect: no examples are sampled without --shots" in err

    code, _out, err = call(
        "prompt", file, "--template", tmp_path / "t.txt", "--model", "starter-gpt", "--shots", "65"
    )
    assert code == 2 and "65" in err


@pytest.mark.process
@pytest.mark.usefixtures("jobs_in_process")
def test_replies_are_written_and_read_in_the_form_of_the_answer(ask, call, copy_sample, tmp_path):
    sample = copy_sample(tmp_path)
    template = tmp_path / "t.jinja"
    template.write_text("{{ text }}\nTopic: {{ answer }}")
    asked = ("prompt", sample, "--template", template, "--layer", "class", "--max-tokens", 4)
    gpt = ("--model", "starter-gpt")

    free = ask("prompt", *asked, *gpt, "--form", "first", "--word", "delay=late")
    restricted = ask("prompt", *asked, *gpt, "--form", "first", "--constrained", "--name", "c")

    assert free["no_answer"] == sum(free["no_answer_reasons"].values()) > 0
    assert restricted["no_answer"] == 0 and restricted["form"] == "first"
    assert free["calibration"] == "none" and free["unplaced"] == 0
    again = ask("evaluate", "evaluate", sample, "--run", "prompt-1")
    assert again["no_answer"] == free["no_answer"] and again["scores"] == free["scores"]
    code, _out, err = call(*asked, "--model", "starter-bert", "--form", "first")
    assert code == 1 and "starter-bert cannot answer in the form 'first'" in err
    code, _out, err = call(*asked, *gpt, "--form", "quotes")
    assert code == 1 and "does not fit the layer" in err


@pytest.mark.process
def test_a_template_that_runs_without_end_is_ended(call, copy_sample, tmp_path):
    sample = copy_sample(tmp_path)
    (tmp_path / "t.jinja").write_text(
        "{{ label }}\n{{ ([[text] * 3000] * 10000)|sum(start=[])|length }}"
    )

    code, out, err = call(
        "prompt", sample, "--template", tmp_path / "t.jinja", "--model", "starter-gpt", "--json"
    )

    assert code == 1 and "takes too long (limit 1 s)" in err and out == ""


@pytest.mark.process
@pytest.mark.usefixtures("jobs_in_process")
def test_a_prompt_run_is_scored_on_dev(ask, copy_sample, template, tiny_model, tmp_path):
    sample = copy_sample(tmp_path)

    report = ask("prompt", "prompt", sample, "--template", template, "--model", tiny_model)

    assert (report["prompt"], report["n"]) == ("prompt-1", 60)
    assert sum(report["prior"].values()) == pytest.approx(1)
    again = ask("evaluate", "evaluate", sample, "--run", "prompt-1")
    assert again["scores"] == report["scores"]


@pytest.mark.process
@pytest.mark.usefixtures("jobs_in_process")
def test_a_prompt_run_predicts_texts_files_and_documents(
    call, ask, copy_sample, template, tiny_model, tmp_path
):
    sample, lines, saved = copy_sample(tmp_path), tmp_path / "in.txt", tmp_path / "out.csv"
    options = ("--template", template, "--model", tiny_model, "--shots", "2", "--sample", "4")
    ask("prompt", "prompt", sample, *options)
    asked = ("predict", "prompt-1", "--project", sample)

    code, out, err = call(*asked, "--text", "The tram was late.", "--text", "Kind driver!")
    assert code == 0 and len(out.splitlines()) == 2, err
    lines.write_text("The tram was late.\nKind driver!\n")
    code, _out, err = call(*asked, "--input", lines, "--output", saved)
    assert code == 0 and len(saved.read_text().splitlines()) == 3, err
    code, again, err = call(*asked, "--where", "split:test", "--json")
    assert code == 0 and len(again.splitlines()) == 70, err


@pytest.mark.process
@pytest.mark.usefixtures("jobs_in_process")
def test_a_prompt_run_that_ended_early_is_resumed(
    call, ask, copy_sample, template, tiny_model, tmp_path
):
    sample = copy_sample(tmp_path)
    prompted = ("--template", template, "--model", tiny_model)
    first = ask("prompt", "prompt", sample, *prompted)
    with closing(Project.open(sample)) as project, project.write():  # as if it had been stopped
        answers = paths.run_folder(project.path, runs.all(project.db)[0].id) / "answers.jsonl"
        answers.write_text("".join(answers.read_text().splitlines(keepends=True)[:20]))
        runs.update(project.db, runs.all(project.db)[0].id, status="stopped", result={"n": 17})
        replies.delete(project.db)

    code, _out, err = call("prompt", sample, "--resume", "prompt-1", *prompted)
    assert code == 2 and "without --template, --model" in err
    report = ask("prompt", "prompt", sample, "--resume", "prompt-1")

    assert (report["prompt"], report["n"], report["scores"]) == ("prompt-1", 60, first["scores"])
    code, _out, err = call("prompt", sample, "--resume", "prompt-1")
    assert code == 1 and "nothing left to send" in err
    again = ask("prompt", "prompt", sample, *prompted)
    assert (again["known"], again["scores"]) == (63, first["scores"])


@pytest.mark.process
def test_ctrl_c_cancels_a_prompt_run_and_keeps_none(
    call, copy_sample, template, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr("workbench.jobs.queue.Queue", InterruptedQueue)
    sample = copy_sample(tmp_path)

    code, out, err = call("prompt", sample, "--template", template, "--model", tiny_model)

    assert (code, out) == (1, "") and "The prompt run was cancelled. No result was kept." in err
    with reading(sample) as project:
        assert list(runs.all(project.db)) == []


class InterruptedQueue(InlineQueue):
    """Ctrl+C is pressed while a job runs, which ends only when it is cancelled."""

    def _start(self, job):
        job.status = "running"
        self.dispatch(lambda: signal.raise_signal(signal.SIGINT))

    def _end(self, job, how):
        self._over(job, Finished("cancelled" if how == "cancel" else "failed"))


@pytest.mark.usefixtures("jobs_in_process")
def test_a_baseline_predicts_files_and_their_answers_are_an_input_again(ask, call, tmp_path):
    pytest.importorskip("pyarrow")
    sample = ask("sample", "sample", tmp_path / "s")["path"]
    ask("train", "train", sample, "--task", "classify", "--model", "baseline:svm", "--name", "svm")
    first, second = tmp_path / "first.parquet", tmp_path / "second.csv"
    predict = ("predict", "svm", "--project", sample)

    saved = ask("predict-output", *predict, "--where", "split:dev", "--output", first)
    again = ask("predict-output", *predict, "--input", first, "--output", second)

    assert saved["documents"] == again["documents"] > 50
    labels = [
        line.split("  ")[0] for line in call(*predict, "--where", "split:dev")[1].splitlines()
    ]
    rows = list(csv.DictReader(second.read_text(encoding="utf-8").splitlines()))
    assert [row["label"] for row in rows] == labels


@pytest.mark.parametrize(("lossy", "expected"), [(False, 1), (True, 0)])
def test_an_export_that_differs_is_shown_and_ends_with_an_error_unless_it_rounds_weights(
    call, file, tmp_path, monkeypatch, lossy, expected
):
    from workbench.exporters.model.results import CheckedText, ExportResult, Verification
    from workbench.operations.models import export
    from workbench.operations.runs import results

    text = CheckedText("Never late!", 3.0, False, expected="praise", answer="delay")
    check = Verification(4, 4, 0.25, 3.0, lossy=lossy, differing=(text,), ms_1=2.0, bytes=5000)
    original = Verification(4, bytes=9000)
    result = ExportResult({"onnx": "x"}, checks={"onnx": check}, check=check, original=original)
    monkeypatch.setattr(results, "run_named", lambda _project, name: name)
    monkeypatch.setattr(export, "export_run", lambda *_args, **_named: result)

    code, out, err = call("export", file, tmp_path / "out", "--run", "first")
    assert code == expected and "1 of 4" in out and "the original" in out
    assert "'Never late!' is praise for the model, delay for the export" in err

    code, out, _err = call("export", file, tmp_path / "out", "--run", "first", "--json")
    raw = json.loads(out)
    assert code == expected and raw["checks"]["onnx"]["differing"][0]["text"] == "Never late!"
