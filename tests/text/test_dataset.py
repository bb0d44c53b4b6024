"""The own format: what is written comes back, and a broken line is named."""

import json
from dataclasses import replace

import pytest

from workbench.base.errors import ImportFailed
from workbench.text.dataset import (
    Dataset,
    Record,
    gold_fingerprint,
    lines,
    read,
    record_from_json,
    record_to_json,
    write,
)
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

LAYERS = (
    Layer(
        "topic",
        "class",
        (Label("praise", "#112233", "q", "kind words"), Label("complaint", position=1)),
        guideline="# How\n",
    ),
    Layer("names", "span", (Label("PER"),), options={"nested": True}),
)
PAIR = Record(
    Document(
        "k2", (("text", "a\u2028b\x85"), ("text_b", "\ud800 \U0001f600")), meta={"n": [1, None]}
    ),
    {"topic": "draft"},
    {},
    {"names": (Span(2, 3, "PER", "text_b"), Span(0, 1, "PER"))},
)
FULL = Record(
    Document("k1", (("text", "Ada met"),), "dev", "g", tokens={"text": ((0, 3), (4, 7))}),
    {"topic": "submitted", "names": "submitted"},
    {"topic": ("praise",)},
    {"names": (Span(0, 3, "PER"),)},
)


def test_a_file_comes_back_as_it_was_with_odd_line_ends_and_lone_surrogates_in_the_text(tmp_path):
    write(tmp_path / "x.jsonl", LAYERS, (FULL, PAIR))

    records = read(tmp_path / "x.jsonl")

    assert records.layers == LAYERS and records.layers[1].options == {"nested": True}
    assert records.records[0] == FULL and records.records[1].document == PAIR.document
    assert records.records[1].spans["names"] == (Span(0, 1, "PER"), Span(2, 3, "PER", "text_b"))
    assert (tmp_path / "x.jsonl").read_bytes().count(b"\n") == 3


def test_ids_are_written_only_where_they_are_wanted():
    record = replace(FULL, document=replace(FULL.document, id=7))

    assert "id" not in record_to_json(record) and record_to_json(record, ids=True)["id"] == 7
    assert record_from_json(record_to_json(record, ids=True)).document.id == 7


def test_empty_parts_are_left_out_but_a_submitted_layer_without_a_span_stays():
    record = Record(
        Document("k", (("text", "x"),)), {"names": "submitted"}, {"topic": ()}, {"names": ()}
    )

    assert record_to_json(record) == {
        "key": "k",
        "texts": {"text": "x"},
        "states": {"names": "submitted"},
    }


def test_equal_content_has_equal_fingerprints_whatever_the_order_of_marks_and_the_ids():
    dataset = Dataset(
        LAYERS,
        (
            replace(
                FULL,
                marks={"topic": ("b", "a")},
                spans={"names": (Span(4, 7, "PER"), Span(0, 3, "PER"))},
            ),
        ),
    )
    numbered = replace(
        dataset.records[0], document=replace(FULL.document, id=9), marks={"topic": ("a", "b")}
    )
    other = Dataset(
        LAYERS,
        (replace(numbered, spans={"names": (Span(0, 3, "PER", score=0.5), Span(4, 7, "PER"))}),),
    )

    assert dataset.fingerprint() == other.fingerprint()
    assert dataset.fingerprint() != Dataset(LAYERS[:1], dataset.records).fingerprint()
    assert (
        dataset.fingerprint()
        != Dataset(LAYERS, (replace(dataset.records[0], states={}),)).fingerprint()
    )


def test_the_fingerprint_of_gold_does_not_depend_on_the_order_of_documents():
    rows = [("h1", "praise"), ("h2", [[0, 3, "PER"]]), ("h2", [[0, 3, "PER"]])]

    assert gold_fingerprint(rows) == gold_fingerprint(rows[::-1]) != gold_fingerprint(rows[:2])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", 1),
        ("[]\n", 1),
        ('{"layers": []}\n[]\n', 2),
        ('{"layers": [{"name": "x"}]}\n', 1),
        ('{"layers": []}\n{"key": "a"}\n', 2),
        ('{"layers": []}\n{"key": "a", "texts": {"text": 5}}\n', 2),
        ('{"layers": []}\n{"key": "a", "texts": {"text": "b"}}\n{\n', 3),
        ('{"layers": []}\n{"key": "a", "texts": {"text": "b"}, "spans": {"n": [[0]]}}\n', 2),
        ('{"layers": []}\n{"key": "a", "texts": ["b"]}\n', 2),
        ('{"layers": []}\n{"key": "a", "texts": {"text": "b"}, "spans": [[0, 1, "x"]]}\n', 2),
    ],
)
def test_a_broken_line_is_named(tmp_path, content, line):
    (tmp_path / "x.jsonl").write_text(content, encoding="utf-8")

    with pytest.raises(ImportFailed, match=f"line {line}:"):
        read(tmp_path / "x.jsonl")


def test_records_are_found_by_split_and_layers_by_name():
    data = Dataset(LAYERS, (FULL, PAIR))

    assert (
        data.by_split("dev") == (FULL,)
        and data.by_split("test") == ()
        and data.layer("names") is LAYERS[1]
    )
    with pytest.raises(KeyError):
        data.layer("other")


def test_the_first_line_names_the_format_and_letters_stay_letters():
    first, second, _third = lines(
        LAYERS, (FULL, replace(PAIR, document=Document("ключ", (("text", "東"),))))
    )

    assert json.loads(first)["glossbench"] == 1 and [
        layer["name"] for layer in json.loads(first)["layers"]
    ] == ["topic", "names"]
    assert (
        json.loads(second)["states"] == {"names": "submitted", "topic": "submitted"}
        and "ключ" in _third
        and "東" in _third
    )
