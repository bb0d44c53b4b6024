import json

import pytest

from workbench.base.errors import ImportFailed
from workbench.text import dataset
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

LAYERS = (
    Layer("ner", "span", (Label("PER", "#ff0000", "1", "people"),), guideline="Mark people."),
    Layer("nli", "class", (Label("yes"),), texts=2),
)
RECORD = Record(
    Document("k", (("text", "Ada met"),), "dev", "g", {"page": 1}, {"text": ((0, 3), (4, 7))}),
    {"ner": "draft"},
    {},
    {"ner": (Span(0, 3, "PER"),)},
)


def file(*records, layers=LAYERS):
    return "\n".join(dataset.lines(layers, records)) + "\n"


def test_everything_comes_back(read):
    records = read(file(RECORD), "glossbench")

    assert records.layers[0].labels[0] == LAYERS[0].labels[0] and records.layers[1].texts == 2
    assert (
        records.records == [RECORD] and records.records[0].document.tokens == RECORD.document.tokens
    )


def test_parents_of_labels_come_back(read):
    layer = Layer("ner", "span", (Label("PER"), Label("MAN", parent="PER")))

    records = read(file(RECORD, layers=(layer, *LAYERS[1:])), "glossbench")

    assert [label.parent for label in records.layers[0].labels] == ["", "PER"]


@pytest.mark.parametrize(
    "first",
    [
        "",
        "{}",
        "[]",
        '{"glossbench": 99, "layers": []}',
        '{"glossbench": 1, "layers": [{"name": "x"}]}',
        '{"glossbench": 1, "layers": [{"name": "x", "kind": "odd"}]}',
        '{"glossbench": 1, "layers": [{"name": "x", "kind": "span", "texts": 1e999}]}',
        '{"glossbench": 1, "layers": [{"name": "x", "kind": "span", "texts": -1}]}',
        '{"glossbench": 1, "layers": [{"name": "x", "kind": "span", "labels": {}}]}',
        '{"glossbench": 1, "layers": [{"name": "x", "kind": "span", "labels": [{}]}]}',
        '{"glossbench": 1, "layers": [{"name": "x", "kind": "span", "options": [1]}]}',
        '{"glossbench": 1, "layers": 5}',
        "{broken",
    ],
)
def test_a_wrong_first_line_is_named(read, first):
    with pytest.raises(ImportFailed, match="file.txt"):
        read(first + "\n" + json.dumps({"key": "k", "texts": {"text": "a"}}) + "\n", "glossbench")


@pytest.mark.parametrize(
    "change, word",
    [
        ({"states": {"other": "draft"}}, "first line"), ({"states": {"ner": "odd"}}, "odd"), ({"marks": {"ner": ["x"]}}, "do not fit"),
        ({"spans": {"nli": [[0, 1, "x"]]}}, "2 texts"), ({"texts": {}}, "no text"), ({"texts": "Ada"}, "no texts"), ({"key": 5}, "key"),
        ({"spans": {"ner": [[0.5, 3, "PER"]]}}, "0.5"),
        ({"spans": {"ner": [["0", 3, "PER"]]}}, "'0'"), ({"spans": {"ner": [[0]]}}, "expected"), ({"spans": {"ner": 3}}, "a list"),
        ({"tokens": {"text": [[0, 1.5]]}}, "1.5"), ({"tokens": {"text": [[0]]}}, "a token"), ({"marks": {"ner": "x"}}, "a list"),
        ({"texts": {"\ud800": "Ada"}}, "surrogate"), ({"texts": {"text": 3}}, "a string"), ({"spans": {"ner": [[0, 3, 5]]}}, "5"),
        ({"spans": {"ner": [[0, 99, "PER"]]}}, "99"), ({"tokens": {"text": [[3, 1]]}}, "token"), ({"split": "odd"}, "split"),
    ],
)  # fmt: skip
def test_a_faulty_document_is_skipped_with_its_reason(read, change, word):
    raw = {**json.loads(dataset.dumps(dataset.record_to_json(RECORD))), **change}
    records = read(file(RECORD) + json.dumps(raw) + "\n", "glossbench")

    assert (
        len(records.records) == 1 and records.skipped[0][0] == 3 and word in records.skipped[0][1]
    )


def test_a_number_beyond_every_float_is_no_offset(read):
    line = '{"key": "k", "texts": {"text": "a"}, "spans": {"ner": [[0, 1e999, "PER"]]}}'

    records = read(file() + line + "\n", "glossbench")

    assert records.skipped == [(2, "the end of a span is inf, expected a whole number")]
