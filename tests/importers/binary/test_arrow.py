"""Parquet, Arrow and Feather as pyarrow writes them."""

import json
import struct
import sys

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.spans import Span

FEATURES = {"label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}


@pytest.fixture
def arrow():
    return pytest.importorskip("pyarrow")


@pytest.fixture
def write(arrow, tmp_path):
    """write(columns, name, features) → the path of a file with these columns."""
    from pyarrow import feather, ipc, parquet

    def write(columns, name="a.parquet", features=None):
        table, path = arrow.table(columns), tmp_path / name
        if features:
            info = json.dumps({"info": {"features": features}})
            table = table.replace_schema_metadata({"huggingface": info})
        if name.endswith(".parquet"):
            parquet.write_table(table, path)
        elif name.endswith(".feather"):
            feather.write_feather(table, path)
        else:
            with ipc.new_stream(str(path), table.schema) as out:
                out.write_table(table)
        return path

    return write


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow"])
def test_tables_of_all_three_forms_are_read_with_names_of_classes(write, read, name):
    path = write({"text": ["good", "bad", "so"], "label": [1, 0, -1]}, name, FEATURES)

    found = read(path)

    assert detect(Source(path)).format == "parquet"
    assert found.texts == ["good", "bad", "so"] and [row.line for row in found.rows] == [1, 2, 3]
    # -1 stands for no label, as in test sets of GLUE
    assert [record.marks for record in found.records] == [
        {"class": ("pos",)}, {"class": ("neg",)}, {},
    ]  # fmt: skip


def test_a_number_without_a_class_is_skipped_with_its_row(write, read):
    found = read(write({"text": ["a", "b"], "label": [0, 2]}, features=FEATURES))

    assert found.texts == ["a"]
    assert found.skipped == [(2, "'label' is 2, expected a class from 0 to 1")]


def test_dates_numbers_and_bytes_are_metadata_or_left_out(write, read, arrow):
    from datetime import datetime

    columns = {
        "text": ["a"],
        "when": [datetime(2024, 5, 1, 12)],
        "size": [float("nan")],
        "image": arrow.array([b"\x89PNG"]),
    }

    found = read(write(columns))

    assert found.records[0].document.meta == {"when": "2024-05-01T12:00:00"}
    assert found.remarks == ["a.parquet: column image was not imported, as it holds bytes."]


def test_columns_have_roles_and_lists_of_spans_are_read(write, read):
    spans = [[{"start": 0, "end": 3, "label": "PER"}]]
    path = write({"body": ["Ada met Bob"], "names": spans, "kind": ["x"]})

    found = read(
        path, mapping=(("text", "body"), ("spans:people", "names"), ("label:kind", "kind"))
    )

    assert found.records[0].spans == {"people": (Span(0, 3, "PER"),)}
    assert found.records[0].marks == {"kind": ("x",)}
    table = importer("parquet").preview(Source(path), Options(), 5)
    assert table.columns == ("body", "names", "kind") and table.rows[0].cells[0] == "Ada met Bob"


def test_lists_of_tokens_and_tags_are_spans_and_numbers_of_tags_get_the_names_given(write, read):
    path = write({"tokens": [["Ada", "met"], ["in", "Rome"]], "ner_tags": [[1, 0], [0, 2]]})

    found = read(path, settings={"names": "O,B-PER,B-LOC"})

    assert [record.spans["ner"] for record in found.records] == [
        (Span(0, 3, "PER"),), (Span(3, 7, "LOC"),),
    ]  # fmt: skip


def test_questions_with_answers_are_recognized(write, read):
    answers = [{"text": ["Ada"], "answer_start": [0]}]
    path = write({"context": ["Ada met Bob."], "question": ["Who met Bob?"], "answers": answers})

    (record,) = read(path).records

    assert record.questions["answers"][0].answers == ((0, 3),)


def test_a_damaged_table_is_refused_by_name(write):
    path = write({"text": ["a" * 100]})
    path.write_bytes(path.read_bytes()[:60])

    with pytest.raises(ImportFailed, match=r"a.parquet cannot be read as a table"):
        list(importer("parquet").read(Source(path), Options()))


def test_damaged_offsets_within_a_table_are_refused(arrow, tmp_path, write):
    path = write({"text": ["a" * 1000, "b" * 1000]}, "a.arrow")
    content = path.read_bytes()
    offsets = struct.pack("<3i", 0, 1000, 2000)  # of the texts in their buffer
    assert content.count(offsets) == 1
    path.write_bytes(content.replace(offsets, struct.pack("<3i", 0, 1 << 30, 2000)))

    with pytest.raises(ImportFailed, match=r"a.arrow cannot be read as a table"):
        list(importer("parquet").read(Source(path), Options()))


def test_without_pyarrow_the_package_and_the_extra_are_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + bytes(50))

    with pytest.raises(ImportFailed, match="need the Python package pyarrow") as caught:
        list(importer("parquet").read(Source(path), Options()))
    assert "extra “parquet”" in caught.value.hint and "JSON Lines or CSV" in caught.value.hint
