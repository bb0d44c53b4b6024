"""Tokens with parallel tags, and indicators of classes, in JSON and in tables."""

import json

import pytest

from workbench.importers.base import Hint
from workbench.text.labels import TAG, Layer


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def spans(record, layer="spans"):
    text = record.document.text
    return [(text[span.start : span.end], span.label) for span in record.spans[layer]]


def tokens(record):
    return [record.document.text[start:end] for start, end in record.document.tokens["text"]]


SAW = ["We", "saw", "Otto"]
TAGS = ["O", "O", "B-PER"]


# argilla-io/argilla#1225, huggingface/autotrain-advanced#594: to_json() of a set of entities
@pytest.mark.parametrize(
    ("words", "tags"),
    [("tokens", "ner_tags"), ("words", "labels"), ("sentence", "tags"), ("zeichen", "bio")],
)
@pytest.mark.parametrize("name", ["x.jsonl", "compact.jsonl", "x.json"])
def test_lists_of_tokens_and_tags_become_a_text_with_spans(read, words, tags, name):
    records = [
        {words: SAW, tags: TAGS, "lang": "en"},
        {words: ["New", "York"], tags: ["B-LOC", "I-LOC"], "lang": "en"},
    ]
    content = json.dumps(records) if name == "x.json" else lines(*records)
    if name == "compact.jsonl":
        content = content.replace(", ", ",").replace(": ", ":")

    found = read(content, name=name)

    assert found.texts == ["We saw Otto", "New York"]
    assert [spans(record) for record in found.records] == [[("Otto", "PER")], [("New York", "LOC")]]
    assert tokens(found.records[0]) == SAW
    assert found.records[0].document.meta == {"lang": "en"}


def test_tags_of_the_words_of_a_text_refer_to_the_text(read):  # argilla-io/argilla#1283
    found = read(
        lines({"text": "We saw  Otto.", "tokens": [*SAW, "."], "ner_tags": [*TAGS, "O"]}),
        name="x.jsonl",
    )

    (record,) = found.records
    assert record.document.text == "We saw  Otto."
    assert spans(record) == [("Otto", "PER")]


def test_tokens_that_are_not_in_the_text_replace_it_with_a_remark(read):
    content = lines({"text": "(Otto)", "tokens": ["-LRB-", "Otto"], "ner_tags": ["O", "B-PER"]})

    found = read(content, name="x.jsonl")

    assert found.texts == ["-LRB- Otto"]
    assert spans(found.records[0]) == [("Otto", "PER")]
    assert "x.jsonl: 1 text does not contain its tokens" in found.remarks[0]


def test_each_column_of_tags_has_a_layer_and_one_tag_per_token_is_a_layer_of_tags(read):
    content = lines(
        {"tokens": SAW, "pos_tags": ["PRP", "VBD", "NNP"], "ner_tags": TAGS, "id": "7"},
    )

    found = read(content, name="x.jsonl")

    (record,) = found.records
    assert record.document.key == "7"
    assert spans(record) == [("Otto", "PER")]
    assert spans(record, "pos") == [("We", "PRP"), ("saw", "VBD"), ("Otto", "NNP")]
    assert Hint("pos", TAG) in found.layers


def test_the_scheme_of_a_column_is_that_of_the_whole_file(read):
    records = [
        {"tokens": ["a", "b"], "tags": ["PER", "PER"]},
        {"tokens": ["a", "b"], "tags": ["O", "LOC"]},
    ]

    found = read(lines(*records), name="x.jsonl")

    assert [spans(record) for record in found.records] == [[("a b", "PER")], [("b", "LOC")]]


def test_numbers_of_tags_are_tags_of_tokens_until_their_names_are_given(read):
    content = lines({"tokens": SAW, "ner_tags": [0, -100, 1]})

    numbered = read(content, name="x.jsonl")
    named = read(content, name="x.jsonl", settings={"names": "O,B-PER,I-PER"})

    assert spans(numbered.records[0], "ner") == [("We", "0"), ("Otto", "1")]
    assert "--set names=O,B-PER,I-PER" in numbered.remarks[0]
    assert spans(named.records[0], "ner") == [("Otto", "PER")]
    assert named.remarks == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", '{"text": "a", "label": 1}\n{"text": "b", "label": 0}\n'),
        ("x.csv", "text,label\na,1\nb,0\n"),
    ],
)
def test_numbers_of_classes_may_be_named(read, name, content):
    found = read(content, name=name, settings={"names": "neg, pos"})

    assert [record.marks["class"] for record in found.records] == [("pos",), ("neg",)]


def test_a_number_without_a_name_is_an_error(read):
    found = read('{"text": "a", "label": 2}\n', "doccano", settings={"names": "neg,pos"})

    assert found.skipped == [(1, "there is no name for the number 2; 2 names are given")]


def test_a_record_with_too_few_tags_is_skipped(read):
    good = {"tokens": SAW, "tags": TAGS}

    found = read(lines(good, good, {"tokens": SAW, "tags": ["O"]}), "doccano")

    assert len(found.records) == 2
    assert found.skipped == [
        (3, "the number of tags (1) differs from the number of tokens (3)"),
    ]


def test_tokens_may_be_mapped(read):
    content = lines({"a": SAW, "b": TAGS, "c": "en"})

    found = read(content, "doccano", mapping=(("text", "a"), ("tag:ner", "b")))

    assert found.texts == ["We saw Otto"]
    assert spans(found.records[0], "ner") == [("Otto", "PER")]


def test_lists_of_classes_are_no_tags(read):
    content = lines({"text": "a b", "label": ["x"], "tags": ["y"], "words": ["z"]})

    (record,) = read(content, name="x.jsonl").records

    assert record.marks == {"class": ("x",)}
    assert record.document.meta == {"tags": ["y"], "words": ["z"]}


# ---------------------------------------------------------------- Argilla 1


def test_records_of_argilla_name_the_label_before_the_offsets(read):  # argilla-io/argilla#1283
    content = lines(
        {
            "text": "We saw Otto",
            "tokens": SAW,
            "prediction": [["LOC", 7, 11, 0.4]],
            "annotation": [["PER", 7, 11]],
            "status": "Validated",
        },
        {"text": "no", "tokens": ["no"], "prediction": None, "annotation": None},
        {"text": "x", "tokens": ["x"], "prediction": None, "annotation": [], "status": "Discarded"},
    )

    found = read(content, name="x.jsonl")

    assert spans(found.records[0]) == [("Otto", "PER")]
    assert tokens(found.records[0]) == SAW
    assert [record.states for record in found.records[1:]] == [{}, {"spans": "discarded"}]
    assert found.records[0].document.meta == {}
    assert found.remarks == ["x.jsonl: 1 record has predictions, which were not imported."]


def test_classes_of_argilla_have_their_text_among_the_inputs(read):
    content = lines(
        {"inputs": {"text": "good"}, "annotation": "pos", "prediction": None},
        {"inputs": {"text": "bad"}, "annotation": ["neg", "rude"], "prediction": None},
    )

    found = read(content, name="x.jsonl")

    assert found.texts == ["good", "bad"]
    assert [record.marks["class"] for record in found.records] == [("pos",), ("neg", "rude")]


# ---------------------------------------------------------------- indicators

VECTORS = ([1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0])
CLASSES = [("0",), ("2",), ("0", "1"), ()]


@pytest.mark.parametrize("mapping", [(), (("text", "text"), ("labels:class", "label"))])
def test_a_list_of_indicators_names_classes_by_position(read, mapping):  # huggingface/setfit#337
    content = lines(*({"text": f"t{n}", "label": value} for n, value in enumerate(VECTORS)))

    found = read(content, name="x.jsonl", mapping=mapping)

    assert [record.marks["class"] for record in found.records] == CLASSES
    assert {record.states["class"] for record in found.records} == {"submitted"}
    (layer,) = (item for item in found.layers if isinstance(item, Layer))
    assert (layer.kind, [label.name for label in layer.labels]) == ("multi", ["0", "1", "2"])
    assert "label holds indicators (0 or 1) of length 3" in found.remarks[0]


@pytest.mark.parametrize("style", [str, lambda value: str(value).replace(",", "")])
def test_indicators_in_cells_are_read_alike_and_may_be_named(read, style):
    content = "text,label\n" + "".join(f't{n},"{style(v)}"\n' for n, v in enumerate(VECTORS))

    found = read(content, name="x.csv")
    named = read(content, name="x.csv", settings={"names": "a,b,c"})

    assert [record.marks["class"] for record in found.records] == CLASSES
    assert [record.marks["class"] for record in named.records] == [("a",), ("c",), ("a", "b"), ()]


def test_sets_of_the_classes_0_and_1_are_no_indicators(read):
    content = lines({"text": "a", "label": [0]}, {"text": "b", "label": [0, 1]})

    found = read(content, name="x.jsonl")

    assert [record.marks["class"] for record in found.records] == [("0",), ("0", "1")]


@pytest.mark.parametrize("yes, no", [("1", "0"), ("1.0", "0.0"), ("True", "False")])
def test_columns_of_indicators_are_the_classes_of_one_layer(read, yes, no):
    content = f"id,text,toxic,obscene\n7,foo,{yes},{no}\n8,bar,{no},{no}\n9,baz,,\n"

    found = read(content, name="x.csv")

    assert [record.marks.get("class") for record in found.records] == [("toxic",), (), None]
    (layer,) = (item for item in found.layers if isinstance(item, Layer))
    assert [(label.name, label.key) for label in layer.labels] == [("toxic", "q"), ("obscene", "w")]


def test_fields_of_indicators_are_the_classes_of_one_layer(read):
    found = read(
        lines({"text": "x", "a": 1, "b": 0}, {"text": "y", "a": 1, "b": 1}), name="x.jsonl"
    )

    assert [record.marks["class"] for record in found.records] == [("a",), ("a", "b")]


@pytest.mark.parametrize("format, content", [
    ("csv", "text,a,b\nx,1,0\ny,1,1\n"),
    ("doccano", '{"text": "x", "a": 1, "b": 0}\n{"text": "y", "a": 1, "b": 1}\n'),
])  # fmt: skip
def test_several_columns_may_be_mapped_to_one_layer(read, format, content):
    found = read(content, format, mapping=(("labels:t", "a"), ("labels:t", "b"), ("text", "text")))

    assert [record.marks["t"] for record in found.records] == [("a",), ("a", "b")]


def test_columns_of_0_and_1_beside_a_label_stay_metadata(read):
    (record,) = read("text,label,seen,long\nx,pos,1,0\n", name="x.csv").records

    assert record.marks == {"class": ("pos",)}
    assert record.document.meta == {"seen": "1", "long": "0"}


def test_a_later_value_that_is_no_indicator_is_an_error(read):
    content = "text,a,b\n" + "x,1,0\n" * 60 + "y,2,1\n"

    found = read(content, name="x.csv")

    assert found.skipped == [(62, "column 'a' is '2', expected 0 or 1")]


# ---------------------------------------------------------------- lists in cells


@pytest.mark.parametrize("cells", [
    ("\"['We', 'saw', 'Otto']\"", "\"['O', 'O', 'B-PER']\""),
    ("\"['We' 'saw' 'Otto']\"", "\"['O' 'O' 'B-PER']\""),
    ('"[""We"", ""saw"", ""Otto""]"', '"[""O"", ""O"", ""B-PER""]"'),
    ("\"array(['We', 'saw', 'Otto'], dtype=object)\"", "\"['O' 'O'\n 'B-PER']\""),
])  # fmt: skip
def test_lists_in_cells_are_tokens_and_tags(read, cells):  # huggingface/datasets#2288
    content = f'tokens,labels\n{",".join(cells)}\n"[\'Paris\', ""it\'s""]","[\'B-LOC\', \'O\']"\n'

    found = read(content, name="x.csv")

    assert found.texts == ["We saw Otto", "Paris it's"]
    assert [spans(record) for record in found.records] == [[("Otto", "PER")], [("Paris", "LOC")]]
    assert tokens(found.records[1]) == ["Paris", "it's"]


def test_numbers_of_tags_in_cells_may_be_named(read):
    content = "tokens\tner_tags\n['We', 'saw', 'Otto']\t[0 0 1]\n"

    found = read(content, name="x.tsv", settings={"names": "O,B-PER"})

    assert spans(found.records[0], "ner") == [("Otto", "PER")]


def test_lists_of_tokens_beside_a_text_refer_to_it(read):
    content = "text,tokens,tags\nWe  saw Otto,\"['We','saw','Otto']\",\"['O','O','B-PER']\"\n"

    (record,) = read(content, name="x.csv").records

    assert record.document.text == "We  saw Otto"
    assert spans(record) == [("Otto", "PER")]
