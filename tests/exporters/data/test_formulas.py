"""Cells that spreadsheets run: warned of, escaped on request, restored by the importer."""

import csv
import io

import pytest

from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer

TEXTS = (
    "=1+1",
    "+1-555 call me",
    "-cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\ttab first",
    "\rreturn first",
    "'=already quoted",
    "plain",
    "'",
    "''=x",
)
RECORDS = [
    Record(Document(f"=k{n}", (("text", text),), meta={"a": 1})) for n, text in enumerate(TEXTS)
]
ODD = Layer("=layer", "class", (Label("=A"),))


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_formulas_are_counted_in_a_warning_and_written_as_they_are_by_default(write, format):
    result = write(format, RECORDS)

    # ten keys and the first six texts
    assert (
        "carriage return: 16." in result.warnings[0] and "--escape-formulas" in result.warnings[0]
    )
    assert "=1+1" in result.text and "'=1+1" not in result.text


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_no_escaped_cell_begins_a_formula_and_there_is_no_warning(write, format):
    marked = Record(Document("k", (("text", "x"),)), {}, {"=layer": ("=A",)})

    result = write(format, [*RECORDS, marked], (ODD,), escape=True)

    rows = list(
        csv.reader(
            io.StringIO(result.text, newline=""), "excel-tab" if format == "tsv" else "excel"
        )
    )
    assert result.warnings == ()
    assert not [
        cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    ]


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_the_importer_removes_exactly_the_escapes(back, format):
    result = back(format, RECORDS, escape=True)

    assert [record.document.text for record in result] == list(TEXTS)
    assert [record.document.key for record in result] == [f"=k{n}" for n in range(len(TEXTS))]
    assert all(record.document.meta == {"a": 1} for record in result)


def test_names_of_columns_come_back_too(back):
    marked = Record(Document("k", (("text", "x"),)), {}, {"=layer": ("=A",)})

    (found,) = back("csv", [marked], (ODD,), escape=True)

    assert found.marks == {"=layer": ("=A",)}


def test_numbers_are_no_formulas(write):
    record = Record(Document("-5", (("text", "+3,25"),)))

    assert write("csv", [record]).warnings == ()
