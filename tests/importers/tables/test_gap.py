"""GAP as multiple choice; the real files are those of Webster et al. 2018."""

from collections import Counter

import pytest

from workbench.importers.base import Options, Row, Skipped
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.importers.tables.gap import COLUMNS
from workbench.text.labels import Layer

TEXT = "Ada met Bob at the_sea. He waved."
ROW = ("t-1", TEXT, "He", "24", "Ada", "0", "FALSE", "Bob", "8", "TRUE", "http://x")


@pytest.fixture
def imported(tmp_path):
    """imported(*rows) → the items of a table with these rows."""

    def read(*rows):
        lines = ["\t".join(cells) for cells in ((*COLUMNS, "URL"), *rows)]
        path = tmp_path / "gap.tsv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        source = Source(path)
        assert detect(source).format == "gap"
        return list(importer("gap").read(source, Options()))

    return read


def test_both_names_and_neither_are_the_choices_and_the_pronoun_is_a_blank(imported):
    layer, row = imported(ROW)
    document = row.record.document

    assert isinstance(layer, Layer) and row.record.marks == {layer.name: ("2",)}
    assert document.choices == ("Ada", "Bob", "neither")
    assert document.question == "Ada met Bob at the sea. _ waved."
    assert document.inputs[1] == (TEXT, "Ada met Bob at the sea. Bob waved.")
    assert document.meta == {
        "pronoun": "He",
        "offset": 24,
        "gender": "masculine",
        "offset_a": 0,
        "offset_b": 8,
    }


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("A-coref", "yes", "expected TRUE or FALSE"),
        ("A-coref", "TRUE", "both names are the answer"),
        ("Pronoun-offset", "x", "the offset of Pronoun is 'x', expected a number"),
        ("B-offset", "3", "but the file says 'Bob'"),
    ],
)
def test_a_wrong_row_is_skipped_with_the_reason(imported, column, value, reason):
    cells = dict(zip((*COLUMNS, "URL"), ROW, strict=True)) | {column: value}

    items = imported(tuple(cells.values()), ROW)

    assert isinstance(items[1], Skipped) and items[1].line == 2 and reason in items[1].reason
    assert isinstance(items[2], Row)


def test_the_real_validation_set_is_complete_and_balanced(data_folder):
    source = Source(data_folder / "datasets/coref-gap/dev.tsv")

    items = list(importer("gap").read(source, Options()))

    rows = [item.record for item in items if isinstance(item, Row)]
    assert len(rows) == 454 and not any(isinstance(item, Skipped) for item in items)
    genders = Counter(record.document.meta["gender"] for record in rows)
    assert genders == {"masculine": 227, "feminine": 227}
    assert all(record.document.question.count("_") == 1 for record in rows)
