import pytest

from workbench.base.errors import ImportFailed
from workbench.text.spans import Span


def test_blocks_become_documents_with_token_borders(read, tiny):
    first, second = read(tiny / "two.conll", "conll").records

    assert first.document.text == "Ada met Bob Blau" and first.document.tokens["text"] == (
        (0, 3),
        (4, 7),
        (8, 11),
        (12, 16),
    )
    assert first.spans == {"spans": (Span(0, 3, "PER"), Span(8, 16, "PER"))} and first.states == {
        "spans": "submitted"
    }
    assert second.document.text == "北京好"


def test_docstart_sets_the_group_and_the_last_column_is_the_tag(read, tiny):
    first, second = read(tiny / "conll2003.txt", "conll").records

    assert first.spans["spans"] == (Span(0, 2, "ORG"),) and second.spans["spans"] == (
        Span(0, 11, "PER"),
    )
    assert first.document.group != second.document.group


def test_doc_comments_set_the_group_and_a_hash_may_be_a_token(read):
    found = read("# doc = novel\n#\tO\n1\tO\n\nx\tB-A\n", "conll")

    assert [one.document.group for one in found.records] == ["novel", "novel"] and found.texts[
        0
    ] == "# 1"


def test_no_space_follows_where_the_file_says_so(read):
    found = read(
        "Wait\tO\tSpaceAfter=No\n!\tO\t_\nGo\tB-A\t_\n",
        "conll",
        mapping=(("text", "1"), ("tag:a", "2")),
    )

    assert found.texts == ["Wait! Go"]


@pytest.mark.parametrize(
    "content, line, word",
    [
        ("a\tO\nb\n\nc\tO\n", 2, "1 column, expected 2"),
        ("a\tO\nb\tO\tx\n\nc\tO\n", 2, "3 columns"),
        ("a\tO\n\tO\n\nc\tO\n", 2, "token is empty"),
        ("a\tO\nb\t\n\nc\tO\n", 2, "tag is empty"),
    ],
)
def test_a_faulty_line_costs_its_block(read, content, line, word):
    found = read(content, "conll")

    assert found.texts == ["c"] and found.skipped[0][0] == line and word in found.skipped[0][1]


def test_other_schemes_give_the_same_spans(read):
    tags = {
        "IOB1": "I-A I-A O I-B B-B",
        "IOB2": "B-A I-A O B-B B-B",
        "IOBES": "B-A E-A O S-B S-B",
        "BILOU": "B-A L-A O U-B U-B",
    }
    want = (Span(0, 3, "A"), Span(6, 7, "B"), Span(8, 9, "B"))
    for scheme, row in tags.items():
        content = "".join(
            f"{word}\t{tag}\n" for word, tag in zip("vwxyz", row.split(), strict=True)
        )
        assert read(content, "conll").records[0].spans["spans"] == want, scheme


def test_odd_letters_in_tokens_stay(read):
    found = read(
        "watched\u200bwas\tO\nDubbz\ufeff\tB-person\nnext\u2028line\tO\n\u00a0\tO\n", "conll"
    )

    text, borders = found.texts[0], found.records[0].document.tokens["text"]
    assert [text[a:b] for a, b in borders] == [
        "watched\u200bwas",
        "Dubbz\ufeff",
        "next\u2028line",
        "\u00a0",
    ]


def test_one_column_is_refused(read):
    with pytest.raises(ImportFailed, match="expected at least 2"):
        read("one\ntwo\n", "conll")


def test_real_files_have_the_published_counts(read, data_folder):
    """1,287 messages and 1,079 names: Derczynski et al. 2017, table 2."""
    found = read(data_folder / "datasets/ner-wnut17/test.conll")

    assert (
        len(found.records) == 1287 and sum(len(one.spans["spans"]) for one in found.records) == 1079
    )


def test_an_endless_line_is_not_cut_up(read):
    found = read("Ada B-PER\nmet O\n\n" + "Ada B-PER " * 200_000 + "\n\nBob B-PER\n", "conll")

    assert found.texts == ["Ada met", "Bob"]
    assert found.skipped == [
        (4, "the line has 2,000,000 characters, at most 1,000,000 are read in this format")
    ]


def test_lines_of_thousands_of_columns_are_refused(read):
    with pytest.raises(ImportFailed, match="2,000 columns"):
        read("Ada B-PER " * 1000 + "\n", "conll")
