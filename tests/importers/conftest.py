"""Reading a file as the importers do."""

from pathlib import Path

import pytest

from workbench.importers.base import Options, Remark, Row, Skipped
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source

DATA = Path(__file__).resolve().parents[1] / "data"


class Read:
    """Importer output: `records`, `rows`, `skipped` (line, reason), `remarks`, `layers`."""

    def __init__(self, items):
        self.items = list(items)
        self.rows = [item for item in self.items if isinstance(item, Row)]
        self.records = [row.record for row in self.rows]
        self.skipped = [
            (item.line, item.reason) for item in self.items if isinstance(item, Skipped)
        ]
        self.remarks = [item.message for item in self.items if isinstance(item, Remark)]
        self.layers = [item for item in self.items if not isinstance(item, (Row, Skipped, Remark))]

    @property
    def texts(self):
        return [record.document.text for record in self.records]


@pytest.fixture
def read(tmp_path):
    """read(content or Path, "doccano", name="x.jsonl", mapping=…) → Read."""

    def read(content, format=None, *, name="file.txt", encoding="", **options):
        path = content
        if not isinstance(content, Path):
            path = tmp_path / name
            path.write_bytes(
                content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
            )
        source = Source(path, encoding)
        format = format or detect(source).format
        return Read(importer(format).read(source, Options(**options)))

    return read


@pytest.fixture
def tiny():
    """The folder of tiny files."""
    return DATA
