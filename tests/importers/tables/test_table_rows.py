"""What is above a table, and quotation marks that are escaped with a backslash."""

import pytest

from workbench.importers.base import Options, Remark, Row
from workbench.importers.detect import detect
from workbench.importers.detect import read as read_all
from workbench.importers.source import Source
from workbench.importers.tables.table_rows import escapes, lines_above


@pytest.fixture
def read(tmp_path):
    def _read(content, name="table.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        source = Source(path)
        return list(read_all(detect(source).format, source, Options()))

    return _read


def texts(items):
    return [(item.line, item.record.document.text) for item in items if isinstance(item, Row)]


@pytest.mark.parametrize(
    ("above", "lines"),
    [
        ("Survey of trams\n\n", 2),
        ("# exported by Ada, in 2026\n# again\n", 2),
        ('"The ""late"" trams"\n', 1),
        ("Report,,\n", 1),
        ("", 0),
    ],
)
def test_titles_and_comments_above_the_header_are_left_out(read, above, lines):
    items = read(above + 'id,text,label\n1,"late, again",neg\n2,on time,pos\n3,fine,pos\n')

    assert texts(items) == [
        (lines + 2, "late, again"),
        (lines + 3, "on time"),
        (lines + 4, "fine"),
    ]
    assert any("above the table" in item.message for item in items if isinstance(item, Remark)) == (
        lines > 0
    )


@pytest.mark.parametrize(
    "head",
    [
        "text\nHello, world\nBye, all\n",  # texts in one column, with commas
        "# id,text,label\n1,a,x\n2,b,y\n",  # a header that begins with a sharp
        "id,text,label\n1,a,x\n2,b,y\n",
        "a\nb\nc\n",
        "one, two\nthree\nfour, five, six\nseven\n",  # prose
        "",
    ],
)
def test_nothing_is_above_other_tables(head):
    assert lines_above(head, ",") == []


def test_quotation_marks_escaped_with_a_backslash_are_read_as_such(read):
    items = read(
        'text,label\n"She said \\"hello, Bob\\" and left",pos\nNothing,neg\n'
        '"C:\\new and a \\"quote\\"",pos\n'
    )

    assert texts(items) == [
        (2, 'She said "hello, Bob" and left'),
        (3, "Nothing"),
        (4, 'C:\\new and a "quote"'),
    ]


def test_backslashes_before_quotation_marks_are_kept_where_the_table_is_valid(read):
    content = 'text,label\n"a path C:\\",pos\n"{""key"": ""a \\""b\\""""}",neg\n'

    assert not escapes(content, ",")
    assert texts(read(content)) == [(2, "a path C:\\"), (3, '{"key": "a \\"b\\""}')]
