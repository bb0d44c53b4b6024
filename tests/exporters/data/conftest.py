"""Records written to a string and read back by the importer of the same format."""

import io
from random import Random

import pytest

from workbench.base.registry import builtins
from workbench.exporters.data.base import ExportPlan
from workbench.importers.base import Hint, Options, Remark, Row
from workbench.importers.detect import importer
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import Relation
from workbench.text.spans import Span

NER = Layer("spans", "span", (Label("PER"), Label("LOC")))
LINKS = Layer("links", "relation", (Label("knows"),), options={"spans": "spans"})
TOPIC = Layer("class", "class", (Label("good"), Label("bad")))


class Written:
    def __init__(self, text, plan, count):
        self.text, self.warnings, self.count = text, plan.warnings, count


@pytest.fixture
def write():
    """write("conll", records, layers, escape=…) → Written."""

    def write(format, records, layers=(NER,), *, escape=False):
        out, plan = io.StringIO(newline=""), ExportPlan(tuple(layers), escape=escape)
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


class Folder:
    """The files that an exporter wrote for records, and the records that its importer reads."""

    def __init__(self, path, warnings, importer):
        self.path, self.warnings, self._importer = path, warnings, importer

    def text(self, name):
        return (self.path / name).read_bytes().decode("utf-8")

    def record(self, name, **options):
        found = self._importer.read(Source(self.path / name), Options(**options))
        items = [item for item in found if not isinstance(item, (Hint, Remark))]
        assert all(isinstance(item, Row) for item in items), items
        (row,) = items
        return row.record


@pytest.fixture
def folder(tmp_path):
    """folder("brat", records, layers) → Folder; files are named after keys."""

    def write(format, records, layers=(NER,)):
        exporter, plan = builtins().get("exporter", format)(), ExportPlan(tuple(layers))
        files = [file for item in records for file in exporter.files(item, item.document.key, plan)]
        for name, text in (*files, *exporter.shared(plan)):
            (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        return Folder(tmp_path, plan.warnings, importer(format))

    return write


HARD_TEXTS = (
    "Ada\tmet Bob.  Then\n\n she left.\n",
    "\n\n  leading 🚋🚋 lines\r\nand 👩‍👩‍👧 e\u0301motion\f\u2028end",
    "נסענו באוטובוס 42 הביתה. שלום, עולם!\nذهبنا إلى البيت؟ نعم.",
    "C:\\temp\\ a|b_c [1] x->y; *star* #Text=no",
    "一二三。四五六！",
)


def random_record(seed, *, words_only):
    """A hard text with nested, crossing and equal spans, and relations between them.

    words_only: spans do not begin or end in white space, where a format has no place for it.
    """
    random = Random(seed)
    text = HARD_TEXTS[seed % len(HARD_TEXTS)]
    spans = set()
    while len(spans) < 8:
        start, end = sorted(random.sample(range(len(text) + 1), 2))
        covered = text[start:end]
        if covered.strip() and (not words_only or covered == covered.strip()):
            spans.add(Span(start, end, random.choice(("PER", "LOC"))))
    ordered = tuple(sorted(spans))
    pairs = [random.sample(ordered, 2) for _n in range(4)]
    relations = tuple({Relation("knows", *pair): None for pair in pairs})
    return Record(
        Document(f"k{seed}", (("text", text),)),
        {"spans": "submitted"},
        spans={"spans": ordered},
        relations={"links": relations},
    )


@pytest.fixture
def ada():
    """A record with token offsets for each word, two spans and a class."""
    tokens = {"text": ((0, 3), (4, 7), (8, 11), (12, 14), (15, 19))}
    document = Document("k1", (("text", "Ada met Bob in Rome"),), "dev", None, {"page": 1}, tokens)
    states = {"spans": "submitted", "class": "submitted"}
    return Record(
        document, states, {"class": ("good",)}, {"spans": (Span(0, 3, "PER"), Span(15, 19, "LOC"))}
    )
