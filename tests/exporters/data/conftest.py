"""Records written to a string and read back by the importer of the same format."""

import io

import pytest

from workbench.base.registry import builtins
from workbench.exporters.data.base import Plan
from workbench.importers.base import Options, Row
from workbench.importers.detect import importer
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

NER = Layer("spans", "span", (Label("PER"), Label("LOC")))
TOPIC = Layer("class", "class", (Label("good"), Label("bad")))


class Written:
    def __init__(self, text, plan, count):
        self.text, self.warnings, self.count = text, plan.warnings, count


@pytest.fixture
def write():
    """write("conll", records, layers, escape=…) → Written."""

    def write(format, records, layers=(NER,), *, escape=False):
        out, plan = io.StringIO(newline=""), Plan(tuple(layers), escape=escape)
        count = builtins().get("exporter", format)().write(records, plan, out)
        return Written(out.getvalue(), plan, count)

    return write


@pytest.fixture
def back(write, tmp_path):
    """back("doccano", records, layers) → the records that the importer reads back."""

    def back(format, records, layers=(NER,), *, escape=False, **options):
        path = tmp_path / "file.txt"
        path.write_bytes(write(format, records, layers, escape=escape).text.encode("utf-8"))
        result = list(importer(format).read(Source(path), Options(**options)))
        return [item.record for item in result if isinstance(item, Row)]

    return back


@pytest.fixture
def ada():
    """A record with token offsets for each word, two spans and a class."""
    tokens = {"text": ((0, 3), (4, 7), (8, 11), (12, 14), (15, 19))}
    document = Document("k1", (("text", "Ada met Bob in Rome"),), "dev", None, {"page": 1}, tokens)
    states = {"spans": "submitted", "class": "submitted"}
    return Record(
        document, states, {"class": ("good",)}, {"spans": (Span(0, 3, "PER"), Span(15, 19, "LOC"))}
    )
