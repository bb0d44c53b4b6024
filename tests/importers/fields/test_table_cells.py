"""Tables of other tools: which roles their columns get, and what their cells hold."""

import pytest

from workbench.importers.base import Fault
from workbench.importers.fields import roles, table_cells
from workbench.text.spans import Span

STUDIO = '[{""start"":3,""end"":6,""text"":""Bob"",""labels"":[""PER"",""X""]}]'


def mapping(*rows):
    columns, *cells = rows
    found = roles.guess(columns, cells, class_layer="class", pair_layer="pairs")
    return {column: role for role, column in found}


def test_spans_of_label_studio_are_counted_in_code_points(read):
    records = read(f'annotation_id,id,label,text\n1,7,"{STUDIO}","😀 Bob"\n2,8,,none\n', "csv")

    first, second = records.records
    assert first.spans == {"spans": (Span(2, 5, "PER"), Span(2, 5, "X"))}
    assert first.document.key == "7" and second.states == {}


@pytest.mark.parametrize(
    "cell", ["[(0, 3, 'PER')]", "[{'start': 0, 'end': 3, 'label': 'PER'}]", '[[0,3,"PER"]]']
)
def test_lists_of_spans_are_known_by_their_content(cell):
    assert mapping(("text", "found"), ("Ada met", cell), ("none", "[]"))["found"] == "spans:found"
    assert mapping(("text", "entities"), ("Ada", cell))["entities"] == "spans:spans"
    assert table_cells.spans(cell, "Ada met") == (Span(0, 3, "PER"),)


@pytest.mark.parametrize(
    "columns, cells",
    [
        (("id", "data", "label"), (("1", "x", "neg#pos"), ("2", "y", "pos"))),  # doccano
        (("text", "sentiment"), (("x", '{"choices":["neg","pos"]}'), ("y", "pos"))),
        (("text", "labels"), (("x", '["neg", "pos"]'), ("y", '["pos"]'))),
        (("text", "labels"), (("x", "neg; pos"), ("y", "pos"))),
    ],
)
def test_several_classes_in_a_cell_are_known(columns, cells):
    assert mapping(columns, *cells)[columns[-1]] == "labels:class"
    assert [table_cells.labels(row[-1]) for row in cells] == [("neg", "pos"), ("pos",)]


def test_a_sign_of_a_name_divides_no_labels():
    assert mapping(("id", "text", "label"), ("1", "x", "C#"))["label"] == "label:class"
    assert mapping(("text", "label"), ("x", "a; b"))["label"] == "label:class"
    assert table_cells.labels("C#") == ("C#",)


def test_tags_for_each_word_are_known_but_a_word_in_each_row_is_no_text_with_tags():
    tagged = mapping(("tokens", "ner_tags"), ("['EU', 'rejects']", "['B-ORG', 'O']"))
    words = mapping(("Word", "Tag"), ("London", "B-geo"), ("is", "O"))

    assert tagged == {"tokens": "text", "ner_tags": "tag:spans"}
    assert words == {"Word": "text", "Tag": "meta:Tag"}


def test_classes_of_single_texts_among_pairs_have_a_layer_of_their_own(read):
    records = read("id,text,text_b,label\n1,One,,A\n2,Two,Zwei,same\n", "csv").records

    assert [record.marks for record in records] == [{"class": ("A",)}, {"pairs": ("same",)}]
    assert read("text,text_b,label\nOne,,A\n", "csv").records[0].marks == {"class": ("A",)}


def test_the_delimiter_that_excel_writes_in_the_first_line_is_used(read):
    records = read('\ufeffsep=;\r\nid;text;label\r\n1;"a, b\nc";A\r\n2;d;B\r\n', "csv")

    assert records.texts == ["a, b\nc", "d"] and [row.line for row in records.rows] == [3, 5]


@pytest.mark.parametrize("cell", ["[[0, 3]]", "[[0, 3, 'PER', 1]]", "[1]", "x", '[[0,"3","PER"]]'])
def test_other_cells_are_no_spans(cell):
    with pytest.raises(Fault):
        table_cells.spans(cell)


def test_a_column_whose_cells_do_not_fit_the_role_in_its_name_is_metadata():
    found = mapping(("text", "score:a", "spans:b", "label:c"), ("x", "high", "y", "z"))

    assert found == {
        "text": "text", "score:a": "meta:score:a", "spans:b": "meta:spans:b", "label:c": "label:c"
    }  # fmt: skip
