"""Spreadsheets: `messages.xls` was written by xlwt, `messages.ods` by odfpy."""

import struct

import pytest

from tests.importers import spreadsheets
from tests.importers.spreadsheets import DATE
from workbench.base.errors import ImportFailed
from workbench.importers.base import Options
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.operations.transfer import import_preview
from workbench.text.spans import Span

ROWS = [["id", "text", "label"], [1, "Late again, sorry", "delay"], [2, "Thank you", "praise"]]


@pytest.fixture
def sheet(tmp_path, read):
    """sheet(rows, …) → what is read of a workbook with these rows."""

    def sheet(rows, *, merged=(), **options):
        path = spreadsheets.write(tmp_path / "a.xlsx", {"Messages": rows}, merged=merged)
        return read(path, **options)

    return sheet


@pytest.mark.parametrize("ending", ["xls", "ods"])
def test_old_workbooks_and_those_of_libreoffice_are_read(read, tiny, ending):
    path = tiny / f"messages.{ending}"

    found = read(path)

    assert detect(Source(path)).format == "excel"
    assert found.texts == ["Late again, sorry", "Thank you"]
    assert [record.document.key for record in found.records] == ["1", "2"]
    assert found.records[0].marks == {"class": ("delay",)}


def test_the_first_sheet_with_data_is_read_unless_another_is_chosen(tmp_path, read):
    sheets = {"Empty": [], "Messages": ROWS, "Other": [["text", "topic"], ["Hello", "x"]]}
    path = spreadsheets.write(tmp_path / "a.xlsx", sheets)

    first, other = read(path), read(path, settings={"sheet": "Other"})

    assert first.texts == ["Late again, sorry", "Thank you"]
    assert first.remarks == [
        "a.xlsx: only the sheet Messages was imported. Others with data: Other."
    ]
    assert import_preview.preview(path).warnings == tuple(first.remarks)
    assert other.texts == ["Hello"] and other.remarks == []
    with pytest.raises(ImportFailed, match=r"a.xlsx has no sheet 'May'") as caught:
        read(path, settings={"sheet": "May"})
    assert caught.value.hint == "Its sheets: Empty, Messages, Other."


def test_whole_numbers_dates_and_truth_values_are_written_as_in_csv(sheet):
    found = sheet(
        [["text", "stars", "share", "date", "time", "open"],
         ["Good", 4.0, 0.25, (45413, DATE), (45413.5, DATE), True]],
    )  # fmt: skip

    # day 45,413 of Excel is 1 May 2024
    assert found.records[0].document.meta == {
        "stars": "4", "share": "0.25", "date": "2024-05-01", "time": "2024-05-01T12:00:00",
        "open": "true",
    }  # fmt: skip


@pytest.mark.parametrize("merged", [(), ("A1:C1",)])
def test_titles_above_the_table_are_left_out_and_rows_keep_their_numbers(sheet, merged):
    title = ["Messages of May", None, None]

    found = sheet([title, [], *ROWS, [3, None, "x"]], merged=merged)

    assert [row.line for row in found.rows] == [4, 5]
    assert found.skipped == [(6, "the text is empty")]
    assert found.remarks == ["a.xlsx: 1 line above the table was not imported: 'Messages of May'"]


def test_a_class_that_is_merged_over_rows_counts_for_each(sheet):
    rows = [["text", "label"], ["a", "late"], ["b", None], ["c", None], ["d", "praise"]]

    found = sheet(rows, merged=("B2:B3",))

    assert [record.marks.get("class") for record in found.records] == [
        ("late",), ("late",), None, ("praise",),
    ]  # fmt: skip


def test_texts_keep_line_breaks_quotation_marks_and_delimiters(sheet):
    text = 'One, "two";\n\n,x,y\n,z,w\nthree\\'

    found = sheet([["id", "text", "label"], [1, text, "A"], [2, "b", "B"]])

    assert found.texts == [text, "b"] and [row.line for row in found.rows] == [2, 3]
    assert found.remarks == []


def test_a_single_column_of_texts_keeps_its_spaces(sheet):
    assert sheet([["One  two"], ["three"]]).texts == ["One  two", "three"]


def test_columns_have_the_roles_of_a_table(sheet):
    rows = [["body", "names"], ["Ada met Bob", '[[0, 3, "PER"]]']]

    found = sheet(rows, mapping=(("text", "body"), ("spans:people", "names")))

    assert found.records[0].spans == {"people": (Span(0, 3, "PER"),)}
    with pytest.raises(ImportFailed, match=r"a.xlsx has no column 'x'"):
        sheet(rows, mapping=(("text", "x"),))


def test_tokens_and_multiple_choice_in_a_sheet_are_recognized(sheet):
    tokens = sheet(
        [["Sentence", "Word", "Tag"], [1, "Ada", "B-PER"], [1, "met", "O"], [2, "x", "O"]]
    )
    choice = sheet([["question", "choice_1", "choice_2", "answer"], ["Which?", "a", "b", "1"]])

    assert tokens.texts == ["Ada met", "x"]
    assert [row.line for row in tokens.rows] == [2, 4]
    assert choice.records[0].document.choices == ("a", "b")


def test_the_preview_shows_the_columns_and_names_the_sheet(tmp_path):
    path = spreadsheets.write(tmp_path / "a.xlsx", {"Messages": [["May"], *ROWS, [3, "", "x"]]})

    found = import_preview.preview(path)

    assert found.columns == ("id", "text", "label") and not found.is_text
    assert (found.format, found.note, found.delimiter) == ("excel", "the sheet Messages", "")
    assert [(row.line, row.problem) for row in found.rows] == [
        (3, ""), (4, ""), (5, "the text is empty"),
    ]  # fmt: skip


def test_damaged_workbooks_and_formats_of_text_are_refused_by_name(tmp_path):
    path = spreadsheets.write(tmp_path / "a.xlsx", {"Messages": ROWS})
    whole = path.read_bytes()
    with pytest.raises(ImportFailed, match=r"a.xlsx is an Excel workbook."):
        list(importer("csv").read(Source(path), Options()))

    path.write_bytes(whole.replace(b"<sheetData>", b"<sheet</a>>"))
    with pytest.raises(ImportFailed, match=r"a.xlsx cannot be read as a spreadsheet"):
        list(importer("excel").read(Source(path), Options()))


def test_a_workbook_without_data_is_refused(tmp_path):
    path = spreadsheets.write(tmp_path / "a.xlsx", {"Messages": []})

    with pytest.raises(ImportFailed, match=r"a.xlsx has no sheet with data"):
        list(importer("excel").read(Source(path), Options()))


@pytest.mark.parametrize(("at", "number"), [(0, 0), (30, 30 << 8)])
def test_old_workbooks_with_circular_or_huge_sectors_are_refused(tiny, tmp_path, at, number):
    content = bytearray((tiny / "messages.xls").read_bytes())
    if at == 0:  # the first sector follows itself
        at = 512 + 512 * struct.unpack_from("<I", content, 76)[0]
    struct.pack_into("<I", content, at, number)
    path = tmp_path / "a.xls"
    path.write_bytes(content)

    with pytest.raises(ImportFailed, match="a.xls cannot be read .*: its sectors are damaged"):
        list(importer("excel").read(Source(path), Options()))
