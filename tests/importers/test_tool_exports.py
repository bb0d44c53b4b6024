"""Every real file of other tools is imported correctly, refused by name, or asked about."""

from pathlib import Path

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options, Row, Skipped
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source

TABLE = Path(__file__).resolve().parents[1] / "data" / "tool-exports.tsv"
LINES = TABLE.read_text(encoding="utf-8").splitlines()[1:]
EXPECTED = {path: tuple(cells) for path, *cells in (line.split("\t") for line in LINES)}


def outcome(path):
    """The columns of the table for one file, as the importers see it."""
    source = Source(path)
    detection = detect(source)
    if detection.question:
        return ("asked", detection.question)
    items = list(importer(detection.format).read(source, Options()))
    records = [item.record for item in items if isinstance(item, Row)]
    skipped = sum(isinstance(item, Skipped) for item in items)
    spans = sum(len(spans) for record in records for spans in record.spans.values())
    marks = sum(len(labels) for record in records for labels in record.marks.values())
    return (detection.format, *map(str, (len(records), spans, marks, skipped)))


def test_every_file_has_a_line_in_the_table(data_folder):
    folder = data_folder / "datasets/tool-exports"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}

    assert files == set(EXPECTED)


@pytest.mark.parametrize("tool", sorted({path.partition("/")[0] for path in EXPECTED}))
def test_each_file_is_imported_refused_or_asked_about_as_the_table_says(data_folder, tool):
    folder = data_folder / "datasets/tool-exports"
    for name in (name for name in EXPECTED if name.partition("/")[0] == tool):
        expected = EXPECTED[name]
        if expected[0] == "refused":
            with pytest.raises(ImportFailed) as caught:
                outcome(folder / name)
            message = str(caught.value)
            assert expected[1] in message and Path(name).name in message and caught.value.hint, name
            continue
        result = outcome(folder / name)
        if expected[0] == "asked":
            assert result[0] == "asked" and expected[1] in result[1], name
        else:
            assert result == expected, name
