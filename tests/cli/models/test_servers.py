"""`servers`, and `prompt --server`."""

import io
import json
from contextlib import closing

import pytest

from tests.cli.conftest import schema
from tests.faulty_server import faulty_server
from tests.memory_keys import memory_keys
from tests.operations.prompts.test_servers import KEY, scoring
from tests.prompt_runs import add_prompt_run
from workbench.cli.runs import prompt as prompt_command
from workbench.operations.annotation import suggest
from workbench.operations.prompts import servers
from workbench.project.project import Project
from workbench.prompting.spec import PromptSpec

pytestmark = pytest.mark.usefixtures("jobs_in_process")
FAR = "https://api.example.org/v1"


@pytest.fixture
def store():
    with memory_keys() as store:
        yield store


def test_a_server_is_added_listed_tested_and_removed(ask, call, store):
    with faulty_server(scoring) as server:
        address = server.address
        added = ask("servers-add", "servers", "add", address, "--title", "mine", "--price-in", "2")
        tested = ask("servers-test", "servers", "test", "mine", "--model", "m")
    listed = ask("servers-list", "servers", "list")

    assert added["price_in"] == 2.0 and listed == [tested] and tested["title"] == "mine"
    _code, text, _err = call("servers", "list")
    assert "scores of labels" in text and address in text
    assert ask("servers-remove", "servers", "remove", "mine") == {"address": address}
    assert ask("servers-list", "servers", "list") == []


def test_a_server_that_does_not_answer_is_not_added(call):
    with faulty_server(scoring) as server:
        pass

    code, _out, error = call("servers", "add", server.address)

    assert code == 1 and "cannot be reached" in error and servers.listed() == ()


def test_a_key_is_read_and_never_printed(call, store, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    with faulty_server(scoring) as server:
        code, out, error = call("servers", "add", server.address, "--key")

    assert code == 0 and KEY not in out + error
    assert store.keys == {("glossbench", server.address): KEY}


def test_without_a_key_store_a_key_is_refused(call, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    import keyring
    from keyring.backends import fail

    with memory_keys():
        keyring.set_keyring(fail.Keyring())
        code, _out, error = call("servers", "add", FAR, "--key", "--no-test")

    assert code == 1 and "no key store" in error and servers.listed() == ()


@pytest.mark.process  # the worker that renders templates
def test_a_prompt_is_scored_by_a_server(call, copy_sample, tmp_path, store):
    file, template = copy_sample(tmp_path), tmp_path / "t.jinja"
    template.write_text("{{ text }} => {{ label }}")
    with faulty_server(scoring) as server:
        words = ("--template", template, "--server", server.address, "--calibration", "none")
        code, out, error = call("prompt", file, *words, "--layer", "class", "--json")

    assert code == 0, error
    report = json.loads(out)
    assert report["backend"] == "server" and report["n"] == 60
    assert schema("prompt")["type"] == "object"


def test_consent_is_asked_on_a_terminal_and_needs_an_option_elsewhere(file, monkeypatch, capsys):
    spec = PromptSpec("{{ label }}", f"{FAR}#m", backend=servers.BACKEND)
    terminal = io.StringIO("n\n")
    monkeypatch.setattr("sys.stdin", terminal)
    project = Project.open(file)

    with pytest.raises(servers.ConsentNeeded, match="--yes-send"):
        prompt_command.agree(project, spec, "a text\x1b[2J", yes=False)

    terminal.isatty = lambda: True
    monkeypatch.setattr("click.confirm", lambda *_texts, **_more: True)
    prompt_command.agree(project, spec, "a text\x1b[2J", yes=False)
    shown = capsys.readouterr().err
    assert FAR in shown and "a text\ufffd[2J" in shown
    prompt_command.agree(project, spec, "", yes=False)  # once
    project.close()


@pytest.mark.process  # the worker that renders templates
def test_what_a_prompt_on_a_server_predicts_needs_consent(call, copy_sample, tmp_path, monkeypatch):
    file = copy_sample(tmp_path)
    with closing(Project.open(file)) as project:
        model = {"model": f"{FAR}#m", "backend": servers.BACKEND, "shots": 0}
        add_prompt_run(project, "far", template="{{ text }}: {{ label }}", **model)

    code, _out, error = call("suggest", file, "--run", "far")
    assert code == 1 and "would be sent to" in error and "--yes-send" in error
    code, _out, error = call("predict", "far", "--project", file, "--text", "Late again.")
    assert code == 1 and "would be sent to" in error

    outcome = suggest.Suggested("far", 0, 0, "")
    monkeypatch.setattr(suggest, "suggest", lambda *_where, **_options: outcome)
    code, _out, error = call("suggest", file, "--run", "far", "--yes-send")

    assert code == 0, error
    with closing(Project.open(file)) as project:
        assert servers.consents(project) == (FAR,)


def test_yes_send_agrees_for_the_project(file, monkeypatch):
    spec = PromptSpec("{{ label }}", f"{FAR}#m", backend=servers.BACKEND)
    project = Project.open(file)

    prompt_command.agree(project, spec, "a text", yes=True)

    assert servers.consents(project) == (FAR,)
    project.close()
