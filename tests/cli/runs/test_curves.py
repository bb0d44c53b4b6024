"""Output of `curves` with small models: JSON by its schema, tables, and the repeated command."""

import pytest

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


@pytest.fixture
def command(ask, tmp_path, tiny_model, jobs_in_process):
    sample = ask("sample", "sample", tmp_path / "s")["path"]
    systems = ("--systems", "frozen-bert", "--add", f"Tiny BERT: {tiny_model}")
    small = ("--use", f"transformer={tiny_model}", "--set", "epochs=1", "--set", "device=cpu")
    sizes = ("--sizes", "6,12", "--draws", "2")
    return ("curves", sample, "--layer", "class", *systems, *small, *sizes)


def test_curves_are_measured_once_and_written_as_json_table_csv_and_markdown(ask, call, command):
    planned = ask("curves", *command, "--plan")
    first = ask("curves", *command, "--target", "60")
    _code, table, _err = call(*command, "--plan", "--target", "60")
    _code, csv, _err = call(*command, "--plan", "--csv")
    _code, markdown, _err = call(*command, "--plan", "--markdown")

    assert planned["status"] == "ready" and planned["systems"][0]["points"] == []
    assert first["status"] == "done" and first["target"] == 0.6
    assert [point["x"] for point in first["systems"][1]["points"]] == [6, 12]
    runs = [run for item in first["systems"][1]["results"] for run in item["runs"]]
    assert len(runs) == 4 and all(0 <= run["score"] <= 1 for run in runs)
    assert first["systems"][0]["higher_start"] is None
    assert "A fit needs 4 numbers of labels, there are 2." in table and "tiny-bert" in table
    assert csv.startswith("system,title,source,start,") and len(csv.splitlines()) == 3
    assert markdown.startswith("| System | Made from | Start |")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--sizes", "100000"), "fewer than 100,000"),
        (("--score", "bleu"), "no score 'bleu'"),
        (("--reference", "elmo"), "no system 'elmo'"),
    ],
)
def test_what_the_experiment_lacks_is_told_before_a_run(call, command, more, message):
    code, _out, err = call(*command, *more)

    assert code != 0 and message in err
