"""`glossbench pretrain`: text in, a model folder out."""

import json

import pytest

from tests import tiny_models
from workbench.base.errors import WorkbenchError
from workbench.cli.session import reading
from workbench.operations.runs import results
from workbench.operations.runs.kinds import contract as kinds

SENTENCES = ["the tram is late today", "a bus from harbour gate", "thank you for the ride"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join(SENTENCES * 100), encoding="utf-8")
    return path


@pytest.fixture
def bert(tmp_path):
    return tiny_models.make(tmp_path / "bert", "bert")


FAST = ("--set", "device=cpu", "--set", "batch_size=4", "--set", "length=16")


@pytest.mark.usefixtures("jobs_in_process")
def test_a_text_file_becomes_a_model_that_is_a_model_again(ask, call, text, bert, tmp_path):
    result = ask(
        "pretrain",
        "pretrain", text, tmp_path / "new", "--objective", "masked_lm", "--model", bert, *FAST,
        "--set", "max_steps=3",
    )  # fmt: skip

    assert result["steps"] == 3 and result["curve"][-1]["perplexity"] > 1
    code, out, _err = call("models", "info", tmp_path / "new", "--json")
    assert json.loads(out)["problems"] == []


@pytest.mark.usefixtures("jobs_in_process")
def test_the_documents_of_a_project_are_text_too(call, file, text, bert, tmp_path):
    call("import", file, text)

    code, out, _err = call(
        "pretrain", file, tmp_path / "new", "--objective", "masked_lm", "--model", bert, *FAST,
        "--set", "epochs=1", "--held-out", text, "--json",
    )  # fmt: skip

    assert code == 0 and json.loads(out)["words"] > 1000


@pytest.mark.usefixtures("jobs_in_process")
def test_a_pretraining_on_a_project_is_one_of_its_runs(ask, call, file, text, bert, tmp_path):
    call("import", file, text)
    out = tmp_path / "more"
    ask(
        "pretrain", "pretrain", file, out, "--objective", "masked_lm", "--model", bert, *FAST,
        "--set", "max_steps=3", "--held-out", text,
    )  # fmt: skip

    code, listed, _err = call("runs", "list", file, "--json")

    (run,) = [run for run in json.loads(listed) if run["kind"] == "pretrain"]
    assert (run["run"], run["status"], run["task"]) == ("more", "done", None)
    assert code == 0 and run["scores"]["held-out"]["perplexity"] > 1
    with reading(file) as project:
        kept = results.run_named(project, "more")
        assert kinds.of(kept).model(project, kept) == out
        with pytest.raises(WorkbenchError, match="predicts no labels"):
            results.evaluate_stored(project, kept, "dev")


def test_options_lists_the_objectives_and_their_settings(call):
    code, out, _err = call("pretrain", "--options")

    assert code == 0
    assert "masked_lm" in out and "causal_lm" in out and "mask_rate (only masked_lm" in out


def test_options_lists_the_sizes_of_a_new_model(call):
    code, out, _err = call("pretrain", "--options", "--model", "new:elmo")

    assert code == 0 and "filters\n" in out and "cell\n" in out and "heads" not in out


@pytest.mark.usefixtures("jobs_in_process")
def test_a_new_model_gets_the_vocabulary_of_the_text(ask, text, tmp_path):
    result = ask(
        "pretrain",
        "pretrain", text, tmp_path / "new", "--objective", "causal_lm", "--model", "new:awd_lstm",
        *FAST, "--set", "width=8", "--set", "hidden=12", "--set", "layers=1",
        "--set", "max_steps=2",
    )  # fmt: skip

    assert result["model"] == "new:awd_lstm" and result["options"]["hidden"] == 12
    assert "harbour" in (tmp_path / "new" / "itos.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--objective", "masked_lm"), "TEXTS and OUTDIR"),
        (("a.txt", "out", "--model", "starter-bert"), "--objective"),
        (("a.txt", "out", "--objective", "masked_lm"), "--model"),
    ],
)
def test_what_is_missing_is_named(call, arguments, expected):
    code, _out, err = call("pretrain", *arguments)

    assert code == 2 and expected in err


def test_an_unknown_objective_is_named_with_the_known_ones(call, text, tmp_path):
    code, _out, err = call(
        "pretrain", text, tmp_path / "new", "--objective", "mlm", "--model", "starter-bert"
    )

    assert code == 1 and "'mlm'" in err and "masked_lm" in err


def test_a_missing_text_is_named(call, bert, tmp_path):
    code, _out, err = call(
        "pretrain", tmp_path / "no.txt", tmp_path / "new", "--objective", "masked_lm",
        "--model", bert,
    )  # fmt: skip

    assert code == 1 and "no.txt" in err


@pytest.mark.usefixtures("jobs_in_process")
def test_the_first_batch_is_shown_without_training(ask, call, text, bert, tmp_path):
    given = (text, "--objective", "masked_lm", "--model", bert, *FAST, "--show-batch")

    found = ask("pretrain-batch", "pretrain", *given)
    code, out, _err = call("pretrain", *given)

    assert len(found["rows"]) == 4 and code == 0
    assert "→" in out and "Input 4" in out
    assert not list(tmp_path.rglob("pretraining.json"))
