"""`statistics`: JSON by its schema, text, and a layer that does not exist."""

import pytest


@pytest.fixture
def sample(copy_sample, tmp_path):
    return copy_sample(tmp_path)


def test_statistics_as_json_with_a_query_and_a_tokenizer(ask, sample):
    found = ask(
        "statistics", "statistics", sample, "--layer", "class", "--where", "split:dev",
        "--tokenizer", "starter-bert",
    )  # fmt: skip

    (layer,) = found["layers"]
    assert sum(row["count"] for row in layer["labels"]) == layer["submitted"] == 60
    assert found["documents"] == 70
    assert found["lengths"]["units"]["median"] > found["lengths"]["words"]["median"] > 0


def test_statistics_in_words(call, sample):
    code, out, _err = call("statistics", sample)

    assert code == 0 and "spans: 300 submitted documents, 22 without a label" in out
    assert "In the same document" in out and "Longer than" not in out


def test_a_layer_that_does_not_exist(call, sample):
    code, _out, err = call("statistics", sample, "--layer", "x")

    assert code == 1 and "The project has no layer 'x'" in err and "class, spans" in err
