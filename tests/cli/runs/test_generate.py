"""`generate`: texts of a model on the terminal, as JSON, and as documents."""

import json

import jsonschema
import pytest

from tests.cli.conftest import schema
from workbench.cli.session import reading
from workbench.storage.documents import documents


def test_a_model_that_only_scores_is_refused_before_it_is_loaded(call):
    code, out, err = call("generate", "starter-bert", "The tram")

    assert code == 1 and "cannot continue texts" in err and out == ""


@pytest.mark.process
def test_samples_are_printed_as_json_and_added_to_a_project(call, file):
    settings = ("--samples", 2, "--max-tokens", 3, "--device", "cpu", "--json", "--add-to", file)

    code, out, err = call("generate", "starter-gpt", "The tram", *settings)

    jsonschema.validate(json.loads(out), schema("generate"))
    replies = json.loads(out)["replies"]
    assert code == 0 and [reply["reply_tokens"] for reply in replies] == [3, 3]
    assert "Added 2 documents." in err
    with reading(file) as project:
        added = [documents.by_key(project.db, f"generated-{n}").text for n in (1, 2)]
    assert added == ["The tram" + reply["text"] for reply in replies]
