"""Help, exit codes and messages, the same for every command."""

import json

import jsonschema
import pytest

from tests.jobs import job_targets
from workbench.base import paths
from workbench.cli.main import COMMANDS

SCHEMAS = sorted(path.name for path in paths.resource("help/cli").glob("*.schema.json"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(call, name):
    code, out, err = call(name, "--help")

    assert code == 0 and len(out) > 80 and err == ""


def test_the_help_of_the_program_names_every_command_and_imports_none(call):
    import subprocess
    import sys

    program = (
        "import sys; from workbench.cli.main import main; main(['--help']); print([m for m "
        "in sys.modules if m.startswith('workbench.cli.')])"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    assert all(name in out for name in COMMANDS) and "['workbench.cli.main']" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["import"],
        ["import", "p.glossbench"],
        ["train", "p.glossbench", "--task", "nonsense", "--model", "m"],
        ["train", "p.glossbench", "--task", "classify"],
        ["train", "p.glossbench", "--task", "classify", "--model", "m", "--set", "epochs"],
        ["predict", "run"],
        ["predict", "run", "--text", "a", "--input", "b"],
        ["import", "p.glossbench", "x.csv", "--map", "text"],
        ["evaluate", "p.glossbench", "--run", "r", "--split", "all"],
    ],
)
def test_wrong_use_ends_with_2_and_prints_nothing(call, arguments):
    code, out, err = call(*arguments)

    assert (code, out) == (2, "") and "Usage" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.csv"], "There is no file or command named 'missing.csv'."),
        (["some/folder"], "There is no file or command named 'some/folder'."),
        (["data.csv"], "'data.csv' is a file without the suffix .glossbench"),
        (["a.glossbench", "b.glossbench"], "To open 'a.glossbench', pass it as the only argument."),
    ],
)
def test_a_file_in_the_place_of_a_command_is_explained(
    call, arguments, words, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("text\n")

    code, out, err = call(*arguments)

    assert (code, out) == (2, "") and words in err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["project", "info", "none.glossbench"], "none.glossbench"),
        (["labels", "none.glossbench", "--json"], "none.glossbench"),
        (
            ["train", "none.glossbench", "--task", "tag", "--model", "starter-bert"],
            "none.glossbench",
        ),
        (["predict", "no-run", "--text", "hello"], "no-run"),
        (["models", "info", "no-model"], "no-model"),
        (["models", "add", "no-folder"], "no-folder"),
        (["import", "none.glossbench", "x.csv"], "none.glossbench"),
    ],
)
def test_what_cannot_be_done_ends_with_1_and_a_message(call, arguments, word):
    code, out, err = call(*arguments)

    assert (code, out) == (1, "") and word in err and "Traceback" not in err


def test_a_bug_is_one_line_on_the_screen_and_whole_in_the_log(call, file, monkeypatch):
    from workbench.operations.documents import corpus

    monkeypatch.setattr(corpus, "info", lambda project: 1 / 0)
    code, out, err = call("project", "info", file, "--json")

    assert code == 1 and out == "" and "ZeroDivisionError" in err and "Traceback" not in err
    assert "Traceback" in paths.log_file().read_text()


def test_the_panic_of_a_library_is_one_line_on_the_screen(call, file, monkeypatch):
    from workbench.operations.documents import corpus

    monkeypatch.setattr(corpus, "info", lambda project: job_targets.panic())
    code, out, err = call("project", "info", file, "--json")

    assert code == 1 and out == "" and "PanicException" in err and "Traceback" not in err


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name):
    schema = json.loads(paths.resource(f"help/cli/{name}").read_text(encoding="utf-8"))

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"]
