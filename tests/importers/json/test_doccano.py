import json

import pytest

from workbench.base.errors import ImportFailed
from workbench.text.relations import Relation
from workbench.text.spans import Span


def lines(*rows):
    return "\n".join(json.dumps(row) for row in rows) + "\n"


def test_spans_and_an_empty_list_are_submitted(read):
    records = read(
        lines(
            {"text": "Ada met Bob", "label": [[0, 3, "PER"]]},
            {"text": "none here", "label": []},
            {"text": "unlabelled"},
        ),
        "doccano",
    )

    assert records.records[0].spans == {"spans": (Span(0, 3, "PER"),)}
    assert [record.states for record in records.records] == [
        {"spans": "submitted"},
        {"spans": "submitted"},
        {},
    ]


def test_classes_stand_in_a_list_a_string_or_scores(read):
    records = read(
        lines(
            {"text": "a", "label": ["pos"]},
            {"text": "b", "label": "neg"},
            {"text": "c", "label": {"pos": 0.9, "neg": 0.1}},
        ),
        "doccano",
    )

    assert [record.marks for record in records.records] == [
        {"class": ("pos",)},
        {"class": ("neg",)},
        {"class": ("pos",)},
    ]


def test_an_empty_list_of_classes_is_no_answer(read):
    records = read(lines({"text": "a", "label": ["pos"]}, {"text": "b", "label": []}), "doccano")

    assert records.records[1].states == {}
    [remark] = records.remarks
    assert "1 document has an empty list of classes" in remark


def test_empty_lists_of_spans_are_not_mentioned(read):
    rows = lines({"text": "a b", "label": [[0, 1, "X"]]}, {"text": "b", "label": []})

    assert not read(rows, "doccano").remarks


def test_relations_connect_the_entities_with_their_ids(read):
    firm = {"id": 0, "start_offset": 0, "end_offset": 6, "label": "ORG"}
    word = {"id": 7, "start_offset": 7, "end_offset": 10, "label": "V"}
    record = {"text": "Google was", "entities": [firm, word]}
    good, bad = ({"from_id": 7, "to_id": id, "type": "x"} for id in (0, 5))

    records = read(
        lines({**record, "relations": [good]}, {**record, "relations": [bad]}), "doccano"
    )

    (found,) = records.records
    assert found.relations == {"relations": (Relation("x", Span(7, 10, "V"), Span(0, 6, "ORG")),)}
    assert found.states == {"spans": "submitted", "relations": "submitted"}
    assert "names the entities 7 and 5" in records.skipped[0][1]


def test_spans_are_read_from_another_field_in_the_records_with_relations(read):
    firm = {"id": 0, "start_offset": 0, "end_offset": 6, "label": "ORG"}
    related = {"text": "Google was", "entities": [firm], "relations": []}

    file = lines({"text": "Ada", "label": [[0, 3, "PER"]]}, related)
    plain, linked = read(file, "doccano").records

    assert plain.spans == {"spans": (Span(0, 3, "PER"),)}
    assert linked.spans == {"spans": (Span(0, 6, "ORG"),)}


def test_keys_and_metadata_come_along(read):
    (record,) = read(
        lines({"id": 7, "text": "a", "label": ["x"], "meta": {"page": 1}, "source": "web"}),
        "doccano",
    ).records

    assert record.document.key == "7" and record.document.meta == {"page": 1, "source": "web"}


def test_offsets_count_code_points(read):
    text = "👩‍👩‍👧 at 🚋 Ørsted"
    (record,) = read(
        lines({"text": text, "label": [[text.index("Ø"), len(text), "STOP"]]}), "doccano"
    ).records

    (span,) = record.spans["spans"]
    assert text[span.start : span.end] == "Ørsted"


@pytest.mark.parametrize(
    "row, word",
    [
        ({"text": "short", "label": [[0, 99, "A"]]}, "text of length 5"),
        ({"text": "x", "label": [[1, 0, "A"]]}, "1–0"),
        ({"label": []}, "no 'text'"),
        ({"text": 5}, "expected a string"),
        ([1, 2], "a list"),
        ({"text": ""}, "empty"),
        ({"text": "a", "label": [[0, 1]]}, "[start, end, label]"),
        ({"text": "a", "label": [[0, 1.5, "A"]]}, "whole number"),
        ({"text": "a", "label": [[0, 1, ""]]}, "no name"),
        ({"text": "a\ud83d"}, "surrogate"),
        ({"text": "a\0b"}, "NUL"),
        ({"text": "a", "label": [[0, 1, "A"], "B"]}, "[start, end, label]"),
        ({"text": "a", "split": "somewhere"}, "train, dev or test"),
    ],
)
def test_a_fault_skips_the_whole_record_and_names_the_line(read, row, word):
    records = read(
        lines({"text": "fine", "label": [[0, 4, "A"]]}, row, {"text": "last", "label": []}),
        "doccano",
    )

    assert records.texts == ["fine", "last"]
    ((line, reason),) = records.skipped
    assert line == 2 and word in reason


def test_the_same_span_twice_is_one(read):
    (record,) = read(
        lines({"text": "exampleA", "label": [[0, 1, "LOC"], [0, 1, "LOC"]]}), "doccano"
    ).records

    assert record.spans["spans"] == (Span(0, 1, "LOC"),)


def test_fields_can_be_mapped(read):
    mapping = (("text", "a"), ("text_b", "b"), ("label:nli", "verdict"), ("id", "nr"))
    (record,) = read(
        lines({"a": "one", "b": "two", "verdict": "same", "nr": "k1"}), "doccano", mapping=mapping
    ).records

    assert record.document.texts == (("text", "one"), ("text_b", "two"))
    assert (record.document.key, record.marks) == ("k1", {"nli": ("same",)})


def test_files_of_the_tool_itself_come_in(read, data_folder):
    folder = data_folder / "datasets/tool-exports/doccano"
    counts = {
        "export-examples/sequence_labeling/example.jsonl": (3, 4),
        "export-examples/relation_extraction/example.jsonl": (1, 4),
        "export-examples/intent_detection/example.jsonl": (2, 3),
        "import-tests/text_classification/example.json": (3, 0),
        "import-examples/sequence_labeling/example.jsonl": (3, 3),
    }
    for name, (documents, spans) in counts.items():
        records = read(folder / name)
        assert (
            len(records.records),
            sum(len(s) for r in records.records for s in r.spans.values()),
        ) == (documents, spans), name


def test_an_object_that_holds_all_records_by_name_is_recognized(read):
    content = "{" + ", ".join(f'"key{n}": {{"text": "a"}}' for n in range(10_001)) + "}"

    with pytest.raises(ImportFailed, match="different fields: 10,001.*contains all records"):
        read(content, name="all.json")


def test_fields_whose_names_differ_in_spaces_only_are_kept_apart(read):
    records = read('{"text": "x", " ": 1, "": 2, "a": 3, "a ": 4}\n', "doccano")

    assert records.records[0].document.meta == {"column": 1, "column (2)": 2, "a": 3, "a (2)": 4}


def test_the_longest_field_is_the_text_where_none_has_a_usual_name(read):
    records = read('{"nr": "1", "wording": "a longer text", "label": ["A"]}\n', name="a.jsonl")

    assert records.texts == ["a longer text"] and records.records[0].marks == {"class": ("A",)}


def test_objects_without_a_text_are_refused_with_their_fields(read):
    with pytest.raises(ImportFailed, match=r"file\.json.*config, n"):
        read('{"config": {"a": 1}, "n": 3}', name="file.json")


def test_texts_stand_among_pairs(read):
    records = read(
        lines(
            {"text": "one", "text_b": "two", "label": ["same"]},
            {"text": "alone", "label": ["other"]},
            {"text": "alone too", "text_b": None},
        ),
        "doccano",
    )

    assert [record.document.texts for record in records.records] == [
        (("text", "one"), ("text_b", "two")),
        (("text", "alone"),),
        (("text", "alone too"),),
    ]
    assert not records.skipped


# ---------------------------------------------------------------- pairs of text and annotations


SPACY = [
    ["Acme fell again", {"entities": [[0, 4, "ORG"]]}],
    ["Paris", {"entities": [[0, 5, "LOC"]]}],
]


# explosion/spaCy#5272, #3805: the simple training style
@pytest.mark.parametrize(
    "content",
    [
        json.dumps(SPACY),
        json.dumps(SPACY, indent=1),
        "\n".join(json.dumps(pair) for pair in SPACY),
        json.dumps({"classes": ["ORG"], "annotations": [*SPACY, None]}),
    ],
)
def test_pairs_of_a_text_and_its_entities_are_records(read, content):
    found = read(content, name="x.json")

    assert found.texts == ["Acme fell again", "Paris"] and found.skipped == []
    assert [record.spans["spans"] for record in found.records] == [
        (Span(0, 4, "ORG"),),
        (Span(0, 5, "LOC"),),
    ]


def test_a_single_pair_with_classes_and_groups_of_spans_is_a_record(read):
    parts = {"cats": {"POS": 1.0, "NEG": 0.0}, "spans": {"sc": [[0, 4, "ORG"], [0, 9, "NP"]]}}

    (record,) = read(json.dumps(["Acme fell", parts]), name="x.jsonl").records

    assert record.marks == {"class": ("POS",)}
    assert record.spans == {"sc": (Span(0, 4, "ORG"), Span(0, 9, "NP"))}


# ---------------------------------------------------------------- JSON_MIN


def test_each_group_of_choices_of_json_min_is_a_layer(read):  # HumanSignal/label-studio#2588
    content = json.dumps(
        [
            {"text": "x", "id": 1, "topics": {"choices": ["a", "b"]}, "genre": {"choices": ["y"]}},
            {"text": "y", "id": 2, "topics": {"choices": ["c", "b"]}, "genre": "z"},
        ]
    )

    found = read(content, name="min.json")

    assert [record.marks for record in found.records] == [
        {"topics": ("a", "b"), "genre": ("y",)},
        {"topics": ("c", "b"), "genre": ("z",)},
    ]


def test_records_in_one_field_of_an_object_are_read(read):
    """The rest of the object says something of all of them."""
    records = [{"text": "good tram", "label": "pos"}, {"text": "bad tram", "label": "neg"}]

    found = read(json.dumps({"version": "1", "data": records}), name="a.json")

    assert found.texts == ["good tram", "bad tram"]
    assert [record.marks for record in found.records] == [{"class": ("pos",)}, {"class": ("neg",)}]


@pytest.mark.parametrize(
    ("labels", "kept"), [((0, -1, 2), ("0", "2")), (("neutral", "-"), ("neutral",))]
)
def test_pairs_without_a_class_are_not_labelled(read, labels, kept):
    """-1 in data sets of Hugging Face, "-" in SNLI, whose annotators did not agree."""
    rows = [{"premise": "A", "hypothesis": "B", "label": label} for label in labels]

    found = read("".join(json.dumps(row) + "\n" for row in rows), name="nli.jsonl")

    classes = [record.marks.get("pairs") for record in found.records]
    assert [names for names in classes if names] == [(name,) for name in kept]
    assert sum("pairs" in record.states for record in found.records) == len(kept)


def test_minus_one_is_a_class_of_single_texts(read):
    rows = ({"text": "A", "label": label} for label in (-1, 0, 1))

    found = read("".join(json.dumps(row) + "\n" for row in rows), name="a.jsonl")

    assert [record.marks["class"] for record in found.records] == [("-1",), ("0",), ("1",)]


def test_names_of_numbered_labels_are_read_from_the_description_of_the_data_set(read, tmp_path):
    """Each column has its own; a setting of the user takes their place."""
    classes = {
        "ner_tags": ["O", "B-PER", "I-PER"],
        "pos_tags": ["PRON", "VERB", "NOUN"],
    }
    features = {
        name: {"_type": "Sequence", "feature": {"_type": "ClassLabel", "names": names}}
        for name, names in classes.items()
    }
    (tmp_path / "dataset_info.json").write_text(json.dumps({"features": features}))
    row = {"tokens": ["We", "saw", "Otto"], "ner_tags": [0, 0, 1], "pos_tags": [0, 1, 2]}

    found = read(json.dumps(row) + "\n", name="train.jsonl")

    (record,) = found.records
    assert record.spans["spans"] == (Span(7, 11, "PER"),)
    assert [span.label for span in record.spans["pos"]] == ["PRON", "VERB", "NOUN"]
    assert found.remarks == [
        "train.jsonl: the names of the classes of ner_tags, pos_tags were taken from "
        "dataset_info.json."
    ]

    chosen = read(json.dumps(row) + "\n", name="train.jsonl", settings={"names": "a,b,c"})
    assert [span.label for span in chosen.records[0].spans["pos"]] == ["a", "b", "c"]


def test_a_damaged_description_of_a_data_set_is_not_used(read, tmp_path):
    (tmp_path / "dataset_info.json").write_text("{")

    (record,) = read('{"text": "A", "label": 1}\n', name="a.jsonl").records

    assert record.marks == {"class": ("1",)}
