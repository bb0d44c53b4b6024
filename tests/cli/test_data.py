"""`import`, `labels`, `export-data`: the same values as the operations, as JSON and in words."""

import json

import pytest

pytestmark = pytest.mark.process  # an import parses in a child

LINES = [
    {"text": "Ada met Bob.", "label": [[0, 3, "PER"], [8, 11, "PER"]]},
    {"text": "in Paris", "label": [[3, 8, "LOC"]]},
]


@pytest.fixture
def filled(ask, file, tmp_path):
    path = tmp_path / "two.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)) + "\n{broken\n")
    found = ask("import", "import", file, path, "--format", "doccano", "--split", "dev")
    assert (found["documents"], found["spans"]) == (2, 3)
    assert [(one["line"], one["file"].endswith("two.jsonl")) for one in found["skipped"]] == [
        (3, True)
    ]
    return file


def test_labels_are_listed_with_counts(ask, call, filled):
    layers = {
        one["layer"]: {label["name"]: label["count"] for label in one["labels"]}
        for one in ask("labels", "labels", filled)
    }

    assert {"PER": 2, "LOC": 1} in layers.values() and "PER" in call("labels", filled)[1]


def test_what_goes_out_is_what_came_in(ask, call, filled, tmp_path):
    out = tmp_path / "out.jsonl"

    found = ask("export-data", "export-data", filled, out, "--format", "doccano", "--split", "dev")

    texts = [json.loads(line)["text"] for line in out.read_text().splitlines()]
    assert found["documents"] == 2 and texts == [one["text"] for one in LINES]


def test_columns_are_mapped_by_role(ask, file, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("nr,words,kind\nk1,one,A\nk2,two,B\n")

    ask(
        "import",
        "import",
        file,
        path,
        "--map",
        "id=nr",
        "--map",
        "text=words",
        "--map",
        "label:topic=kind",
    )

    (topic,) = [one for one in ask("labels", "labels", file) if one["layer"] == "topic"]
    assert [one["count"] for one in topic["labels"]] == [1, 1]


def test_an_import_says_in_words_what_was_skipped(call, file, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "fine", "label": []}\n{"text": "short", "label": [[0, 99, "A"]]}\n')

    code, out, err = call("import", file, path, "--format", "doccano")

    assert code == 0 and out.startswith("1 documents") and "line 2" in err


def test_predictions_need_a_run(call, file, tmp_path):
    code, _out, err = call(
        "export-data", file, tmp_path / "o", "--format", "doccano", "--source", "predictions"
    )

    assert code == 2 and "--run" in err
