import json

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options, Row, Skipped
from workbench.importers.source import Source
from workbench.importers.tables.table import TableImporter
from workbench.text.spans import Span


def test_roles_are_guessed_from_the_header_and_the_rest_is_metadata(read):
    records = read('id,text,label,page\nk1,"one, two",A,3\nk2,three,B,\n', "csv")

    first, second = records.records
    assert (first.document.key, first.document.text, first.marks) == (
        "k1",
        "one, two",
        {"class": ("A",)},
    )
    assert first.document.meta == {"page": "3"} and second.document.meta == {}


def test_mapped_columns_make_layers_and_unused_ones_are_reported(read):
    mapping = (("text", "text"), ("label:coarse", "coarse"), ("label:fine", "fine"))
    records = read("text\tcoarse\tfine\tnote\nWho?\tHUM\tHUM:ind\tx\n", "tsv", mapping=mapping)

    assert (
        records.records[0].marks == {"coarse": ("HUM",), "fine": ("HUM:ind",)}
        and "note" in records.remarks[0]
    )


@pytest.mark.parametrize("format", ["csv", "doccano"])
def test_a_mapping_of_labels_alone_keeps_both_texts_of_a_pair(read, format):
    row = {"premise": "It rains.", "hypothesis": "It is wet.", "gold": "yes"}
    content = ",".join(row) + "\n" + ",".join(row.values()) + "\n"
    content = content if format == "csv" else json.dumps(row) + "\n"
    [record] = read(content, format, mapping=(("label:nli", "gold"),)).records

    assert record.document.texts == (("text", "It rains."), ("text_b", "It is wet."))
    assert record.marks == {"nli": ("yes",)}


def test_a_cell_may_hold_lines_and_the_line_is_where_it_began(read):
    records = read('text,label\n"first\nsecond",A\n"",B\nlast,C\n', "csv")

    assert records.texts == ["first\nsecond", "last"] and [row.line for row in records.rows] == [
        2,
        5,
    ]
    assert records.skipped == [(4, "the text is empty")]


@pytest.mark.parametrize(
    "content, line, word",
    [
        ("text,label\nfine,A\nonly\n", 3, "1 column, expected 2"),
        ('text,label\nfine,A\n"open,B\nrest,C\n', 3, "is not closed"),
    ],
)
def test_broken_rows_are_named(read, content, line, word):
    records = read(content, "csv")

    assert (
        records.texts[0] == "fine"
        and records.skipped[0][0] == line
        and word in records.skipped[0][1]
    )


def test_every_row_that_an_unclosed_quotation_mark_swallows_is_reported(read):
    records = read('text,label\nfine,A\n"open,B\nrest,C\n\nlast,D\n', "csv")

    assert records.texts == ["fine"]
    assert [line for line, _why in records.skipped] == [3, 4, 6]
    assert "is not closed" in records.skipped[0][1] and "line 3" in records.skipped[1][1]


def test_rows_between_two_stray_quotation_marks_are_reported_and_the_rest_is_read(read):
    records = read('text,label\n"one,A\ntwo,B\n"three" four,C\nfive,D\n', "csv")

    assert records.texts == ["five"] and [line for line, _why in records.skipped] == [2, 3, 4]
    assert "line 4" in records.skipped[0][1]


def test_a_cell_that_holds_whole_rows_is_a_warning(read):
    records = read('text,label,n\n"one,A,1\ntwo,B,2\nthree,C,3\nfour",D,4\nfive,E,5\n', "csv")

    assert [row.line for row in records.rows] == [2, 6]
    assert records.remarks == [
        "file.txt: lines 2 to 5 were read as one row, but contain several: "
        "a quotation mark is missing in one of them."
    ]
    assert read('text,label\n"a poem\nof three\nlines, yes",A\nb,B\n', "csv").remarks == []


def test_a_fault_before_the_header_does_not_turn_the_header_into_a_row(read):
    records = read('"a" b,c\ntext,label\none,A\n', "csv")

    assert records.texts == ["one"] and [line for line, _why in records.skipped] == [1]


def test_quotation_marks_in_a_tsv_belong_to_the_text(read):
    records = read('text\tlabel\n"Stop" he said\tA\nand "go\tB\n', "tsv")

    assert records.texts == ['"Stop" he said', 'and "go']


def test_a_quoted_tsv_is_recognized_by_its_columns(read):
    records = read('text\tlabel\n"a\tb"\tA\nc\tB\nd\tA\n', "tsv")

    assert records.texts == ["a\tb", "c", "d"]


def test_semicolons_and_bars_are_guessed(read):
    for sign in ";|":
        assert read(f"text{sign}label\nno, not yet{sign}A\nwell{sign}B\n", "csv").texts == [
            "no, not yet",
            "well",
        ]


def test_tokens_with_tags_and_spans_as_json(read):
    mapping = (("text", "words"), ("tag:ner", "tags"))
    (record,) = read("words\ttags\nAda met Bob\tB-PER O B-PER\n", "tsv", mapping=mapping).records
    assert record.spans == {
        "ner": (Span(0, 3, "PER"), Span(8, 11, "PER"))
    } and record.document.tokens["text"][1] == (4, 7)

    mapping = (("text", "text"), ("spans:ner", "found"))
    (record,) = read('text,found\nAda met,"[[0, 3, ""PER""]]"\n', "csv", mapping=mapping).records
    assert record.spans == {"ner": (Span(0, 3, "PER"),)}


def test_several_columns_of_spans_make_one_layer(read):
    mapping = (("text", "text"), ("spans:ner", "outer"), ("spans:ner", "inner"))
    content = 'text;outer;inner\nAda met;[[0, 7, "X"]];[[0, 3, "PER"]]\n'

    (record,) = read(content, "csv", mapping=mapping).records

    assert record.spans == {"ner": (Span(0, 7, "X"), Span(0, 3, "PER"))}


def test_splits_are_understood_and_wrong_ones_refused(read):
    records = read("text,split\na,validation\nb,TRAIN\nc,\nd,else\n", "csv")

    assert [record.document.split for record in records.records] == [
        "dev",
        "train",
        None,
    ] and records.skipped[0][0] == 5


def test_a_row_without_label_is_not_submitted(read):
    records = read("text,label\na,X\nb,\n", "csv")

    assert [record.states for record in records.records] == [{"class": "submitted"}, {}]


def test_unknown_columns_and_roles_say_what_is_known(read):
    with pytest.raises(ImportFailed, match="no column 'body'.*text, label"):
        read("text,label\na,b\n", "csv", mapping=(("text", "body"),))
    with pytest.raises(ImportFailed, match="text_b, tokens, label:LAYER"):
        read("text,label\na,b\n", "csv", mapping=(("words", "text"),))


def test_a_header_twice_is_told_apart(read):
    records = read("text,note,note\na,1,2\n", "csv")

    assert (
        records.records[0].document.meta == {"note": "1", "note (3)": "2"}
        and "two columns" in records.remarks[0]
    )


def test_a_very_long_cell_is_read(read):
    records = read(f"text,label\n{'x' * 500_000},A\n", "csv")

    assert len(records.texts[0]) == 500_000


def test_a_table_of_endless_columns_is_refused_and_an_endless_row_skipped(read):
    with pytest.raises(ImportFailed, match="more than 10,000 columns"):
        read("ab," * 20_000 + "ab\nx,y\n", "csv")
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        records = read(
            f"text{delimiter}label\n" + f"ab{delimiter}" * 400_000 + f"\ngood{delimiter}x\n", format
        )
        assert records.texts == ["good"] and records.skipped == [
            (2, "the row has more than 10,000 columns")
        ]


def test_a_long_cell_in_quotes_may_hold_any_number_of_delimiters(read):
    text = "a," * 600_000

    records = read(f'text,label\n"{text}\n{text}",x\nshort,y\n', "csv")

    assert records.texts == [f"{text}\n{text}", "short"] and records.skipped == []


@pytest.mark.timeout(30)
def test_many_columns_take_no_longer_than_their_number(read):
    records = read(
        ",".join(["text", *(f"c{n}" for n in range(9_998)), "c1"])
        + "\n"
        + ",".join(["a"] * 10_000)
        + "\n",
        "csv",
    )

    assert len(records.records[0].document.meta) == 9_999


def test_many_equal_names_of_columns_are_reported_together(read):
    records = read("text," + ",".join(["n"] * 20) + "\n" + ",".join(["a"] * 21) + "\n", "csv")

    assert len(records.remarks) == 6 and "14 more columns" in records.remarks[-1]


@pytest.mark.parametrize("cell", ["text", "[1]", '["none"]', "[[[[", '{"text": 1}'])
def test_a_list_of_escaped_cells_that_cannot_be_read_is_a_fault(read, cell):
    quoted = cell.replace('"', '""')

    records = read(f'text,escaped cells\n\'=1,"[""text""]"\nb,"{quoted}"\n', "csv")

    assert records.texts == ["=1"] and records.remarks == []
    assert records.skipped[0][0] == 3 and "escaped cells" in records.skipped[0][1]


def test_a_cell_whose_escape_was_removed_in_a_spreadsheet_stays_as_it_is(read):
    assert read('text,escaped cells\n=1,"[""text""]"\n', "csv").texts == ["=1"]


def test_a_preview_that_ends_within_a_cell_reports_no_error_but_an_endless_one(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("workbench.importers.source.LOOK", 30_000)
    path = tmp_path / "t.csv"
    importer = TableImporter()

    path.write_text(
        "text,label\n" + "row,A\n" * 4990 + '"' + "a line\n" * 40 + '",B\n' + "x,A\n" * 5000
    )
    items = list(importer.read(Source(path, scan=64), Options()))
    assert len(items) == 4990 and all(isinstance(item, Row) for item in items)

    path.write_text('text,label\n"open,A\n' + "row,A\n" * 9000)
    items = list(importer.read(Source(path, scan=64), Options()))
    assert all(isinstance(item, Skipped) for item in items) and items[0].line == 2


def test_pairs_on_which_annotators_did_not_agree_have_no_class(read):
    """The gold label of SNLI is then "-"."""
    content = (
        "gold_label\tsentence1\tsentence2\nentailment\tA man runs\tA man moves\n-\tA dog\tA cat\n"
    )

    first, second = read(content, name="snli.tsv").records

    assert first.marks == {"pairs": ("entailment",)} and not second.marks and not second.states
