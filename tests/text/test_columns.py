"""One description of columns as a terminal's text, Markdown, CSV and JSON."""

from types import SimpleNamespace

import pytest

from workbench.text.columns import (
    MARKDOWN,
    TERMINAL,
    Column,
    ValueKind,
    by_key,
    cells,
    delimited,
    markdown,
    of_records,
    record,
    titled,
    write_delimited,
)

COLUMNS = (
    Column("Run", lambda row: row.name, key="run"),
    Column("Status", lambda row: row.status, kind=ValueKind.TERM, key="status"),
    Column("F1", lambda row: row.f1, kind=ValueKind.SHARE, key="f1"),
    Column("", lambda row: row.id, key="id"),
    Column("Note", display=lambda row: "old" if row.id < 5 else None),
)


@pytest.fixture
def row():
    return SimpleNamespace(id=7, name="a|b", status="out_of_memory", f1=0.8861)


def test_a_fraction_is_written_as_each_medium_does(row):
    f1 = COLUMNS[2]

    assert TERMINAL.cell(f1, row) == "0.886"
    assert MARKDOWN.cell(f1, row) == "88.6"
    assert record([f1], row) == {"f1": 0.8861}


def test_unknown_values_are_a_dash_for_people_and_null_for_programs(row):
    row.f1 = None

    assert TERMINAL.cell(COLUMNS[2], row) == MARKDOWN.cell(COLUMNS[4], row) == "–"
    assert record(COLUMNS, row)["f1"] is None


def test_json_has_the_stored_values_of_the_columns_with_a_key(row):
    assert record(COLUMNS, row) == {
        "run": "a|b",
        "status": "out_of_memory",
        "f1": 0.8861,
        "id": 7,
    }


def test_a_record_is_listed_under_the_titles_of_its_columns_with_its_plain_values(row):
    listed = of_records(COLUMNS)

    stored = record(COLUMNS, row)
    texts = [TERMINAL.cell(column, stored) for column in listed]
    assert texts == ["a|b", "out_of_memory", "0.886"]
    assert TERMINAL.cell(listed[2], {"run": "a"}) == "–"


def test_columns_are_found_by_their_keys():
    known = by_key(COLUMNS)

    assert [*known] == ["run", "status", "f1", "id"] and known["f1"] is COLUMNS[2]


def test_a_column_without_title_but_with_a_key_is_for_programs_only(row):
    assert [column.title for column in titled(COLUMNS)] == ["Run", "Status", "F1", "Note"]


def test_markdown_aligns_numbers_right_and_escapes_bars(row):
    assert markdown(COLUMNS, [row]).splitlines() == [
        "| Run | Status | F1 | Note |",
        "| --- | --- | ---: | --- |",
        "| a\\|b | out of memory | 88.6 | – |",
    ]


def test_csv_has_keys_and_raw_values_and_escapes_formulas(row, tmp_path):
    row.name, row.f1 = "=1+1", None

    assert delimited(cells(COLUMNS, [row])) == "run,status,f1,id\n'=1+1,out_of_memory,,7\n"
    assert delimited(cells(COLUMNS[1:3], [row]), delimiter="\t") == "status\tf1\nout_of_memory\t\n"
    write_delimited(tmp_path / "a.csv", cells(COLUMNS[:1], [row]))
    assert (tmp_path / "a.csv").read_bytes() == b"run\r\n'=1+1\r\n"
