"""Commands called in this process, as the program's door calls them."""

import json

import jsonschema
import pytest

from tests.conftest import empty_project
from workbench.base import paths
from workbench.cli.main import main


def schema(name):
    return json.loads(paths.resource(f"help/cli/{name}.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def call(capfd):
    """call("project", "info", path) → (exit code, standard output, standard error)."""

    def run(*arguments):
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def ask(call):
    """ask("project-info", "project", "info", path) → the JSON value, checked against its schema."""

    def run(name, *arguments):
        code, out, err = call(*arguments, "--json")
        assert code == 0, err
        loaded = json.loads(out)
        jsonschema.validate(loaded, schema(name))
        return loaded

    return run


@pytest.fixture
def file(copy_of, tmp_path):
    """The file that `project new` writes."""
    return copy_of(empty_project, tmp_path / "p.glossbench")
