import pytest

from workbench.base.errors import ImportFailed
from workbench.text.spans import Span


def test_roles_are_guessed_from_the_header_and_the_rest_is_metadata(read):
    found = read('id,text,label,page\nk1,"one, two",A,3\nk2,three,B,\n', "csv")

    first, second = found.records
    assert (first.document.key, first.document.text, first.marks) == (
        "k1",
        "one, two",
        {"class": ("A",)},
    )
    assert first.document.meta == {"page": "3"} and second.document.meta == {}


def test_mapped_columns_make_layers_and_unused_ones_are_told(read):
    mapping = (("text", "text"), ("label:coarse", "coarse"), ("label:fine", "fine"))
    found = read("text\tcoarse\tfine\tnote\nWho?\tHUM\tHUM:ind\tx\n", "tsv", mapping=mapping)

    assert (
        found.records[0].marks == {"coarse": ("HUM",), "fine": ("HUM:ind",)}
        and "note" in found.remarks[0]
    )


def test_a_cell_may_hold_lines_and_the_line_is_where_it_began(read):
    found = read('text,label\n"first\nsecond",A\n"",B\nlast,C\n', "csv")

    assert found.texts == ["first\nsecond", "last"] and [one.line for one in found.rows] == [2, 5]
    assert found.skipped == [(4, "the text is empty")]


@pytest.mark.parametrize(
    "content, line, word",
    [
        ("text,label\nfine,A\nonly\n", 3, "1 column, expected 2"),
        ('text,label\nfine,A\n"open,B\nrest,C\n', 3, "never closed"),
    ],
)
def test_broken_rows_are_named(read, content, line, word):
    found = read(content, "csv")

    assert found.texts[0] == "fine" and found.skipped[0][0] == line and word in found.skipped[0][1]


def test_quotation_marks_in_a_tsv_belong_to_the_text(read):
    found = read('text\tlabel\n"Stop" he said\tA\nand "go\tB\n', "tsv")

    assert found.texts == ['"Stop" he said', 'and "go']


def test_a_quoted_tsv_is_told_by_its_columns(read):
    found = read('text\tlabel\n"a\tb"\tA\nc\tB\nd\tA\n', "tsv")

    assert found.texts == ["a\tb", "c", "d"]


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


def test_splits_are_understood_and_wrong_ones_refused(read):
    found = read("text,split\na,validation\nb,TRAIN\nc,\nd,else\n", "csv")

    assert [one.document.split for one in found.records] == [
        "dev",
        "train",
        None,
    ] and found.skipped[0][0] == 5


def test_a_row_without_label_is_not_submitted(read):
    found = read("text,label\na,X\nb,\n", "csv")

    assert [one.states for one in found.records] == [{"class": "submitted"}, {}]


def test_unknown_columns_and_roles_say_what_is_known(read):
    with pytest.raises(ImportFailed, match="no column 'body'.*text, label"):
        read("text,label\na,b\n", "csv", mapping=(("text", "body"),))
    with pytest.raises(ImportFailed, match="text_b, label:LAYER"):
        read("text,label\na,b\n", "csv", mapping=(("words", "text"),))


def test_a_header_twice_is_told_apart(read):
    found = read("text,note,note\na,1,2\n", "csv")

    assert (
        found.records[0].document.meta == {"note": "1", "note (3)": "2"}
        and "twice" in found.remarks[0]
    )


def test_a_very_long_cell_is_read(read):
    found = read(f"text,label\n{'x' * 500_000},A\n", "csv")

    assert len(found.texts[0]) == 500_000


def test_a_table_of_endless_columns_is_refused_and_an_endless_row_skipped(read):
    with pytest.raises(ImportFailed, match="more than 10,000 columns"):
        read("ab," * 20_000 + "ab\nx,y\n", "csv")
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        found = read(
            f"text{delimiter}label\n" + f"ab{delimiter}" * 400_000 + f"\ngood{delimiter}x\n", format
        )
        assert found.texts == ["good"] and found.skipped == [
            (2, "the row has more than 10,000 columns")
        ]


def test_a_long_cell_in_quotes_may_hold_any_number_of_delimiters(read):
    text = "a," * 600_000

    found = read(f'text,label\n"{text}\n{text}",x\nshort,y\n', "csv")

    assert found.texts == [f"{text}\n{text}", "short"] and found.skipped == []


@pytest.mark.timeout(30)
def test_many_columns_take_no_longer_than_their_number(read):
    found = read(
        ",".join(["text", *(f"c{n}" for n in range(9_998)), "c1"])
        + "\n"
        + ",".join(["a"] * 10_000)
        + "\n",
        "csv",
    )

    assert len(found.records[0].document.meta) == 9_999


def test_many_equal_names_of_columns_are_told_in_one_breath(read):
    found = read("text," + ",".join(["n"] * 20) + "\n" + ",".join(["a"] * 21) + "\n", "csv")

    assert len(found.remarks) == 6 and "14 more columns" in found.remarks[-1]
