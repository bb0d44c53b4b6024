"""Columns of numbers and written texts; the examples are made up."""

import json

import pytest

TABLE = "text\tscore\nthe tram\t3.5\nthe lift\tx4\nthe bus\t\n"


def test_a_bad_number_names_its_line_and_value(read):
    mapping = (("text", "text"), ("score:rating", "score"))
    found = read(TABLE, "tsv", name="x.tsv", mapping=mapping)

    assert [record.numbers for record in found.records] == [{"rating": 3.5}, {}]
    ((line, reason),) = found.skipped
    assert line == 3 and "'score'" in reason and "'x4'" in reason and "3.5" in reason


@pytest.mark.parametrize("value", [True, [1], "nan", "1e999", {"a": 1}])
def test_what_is_no_finite_number_is_skipped(read, value):
    content = json.dumps({"text": "a tram", "points": value}) + "\n"
    mapping = (("text", "text"), ("score:rating", "points"))
    found = read(content, "doccano", name="x.jsonl", mapping=mapping)

    assert found.records == [] and found.skipped[0][0] == 1


def test_the_layout_of_sick_has_a_class_and_a_number(read):
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    found = read(header + "1\tA tram runs\tA tram stops\t3.3\tNEUTRAL\n", "tsv", name="x.tsv")

    (record,) = found.records
    assert record.document.fields == ("text", "text_b")
    assert record.numbers == {"relatedness_score": 3.3}
    assert record.marks == {"pairs": ("NEUTRAL",)}


def test_a_column_named_score_with_other_values_stays_metadata(read):
    (record,) = read("text,score\nthe tram,high\n", "csv", name="x.csv").records
    assert record.numbers == {} and record.document.meta == {"score": "high"}


HEADER = {
    "glossbench": 1,
    "layers": [
        {"name": "rating", "kind": "score", "options": {"minimum": 0, "maximum": 5, "step": 1}},
        {"name": "summary", "kind": "text"},
    ],
}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"numbers": {"rating": 7}}, "7 is not on the scale of the layer 'rating', 0 to 5"),
        ({"numbers": {"rating": "much"}}, "'much'"),
        ({"numbers": {"summary": 1}}, "does not fit its kind text"),
        ({"written": {"summary": 1}}, "expected a string"),
        ({"written": {"other": "x"}}, "'other' is not declared"),
    ],
)
def test_the_own_format_refuses_values_that_do_not_fit(read, part, message):
    line = {"key": "a", "texts": {"text": "the tram"}, **part}
    content = f"{json.dumps(HEADER)}\n{json.dumps(line)}\n"
    ((number, reason),) = read(content, "glossbench", name="x.jsonl").skipped

    assert number == 2 and message in reason
