"""What is exported as CoNLL-2012 is read back; what does not fit is counted."""

import io

from workbench.exporters.data.base import ExportPlan
from workbench.exporters.data.conll2012 import Conll2012Exporter
from workbench.importers.base import Options, Row
from workbench.importers.columns.conll2012 import Conll2012Importer
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

LAYER = Layer("coreference", "cluster", (Label("mention"),))


def span(start, end, chain, **more):
    return Span(start, end, "mention", chain=chain, **more)


def test_chains_and_nested_spans_come_back(tmp_path):
    spans = span(0, 3, 1), span(8, 11, 1), span(8, 16, 4), span(17, 20, 4)
    record = Record(
        Document("my text", (("text", "Ada met her aunt\nShe"),)), spans={"coreference": spans}
    )
    out = io.StringIO()

    assert Conll2012Exporter().write([record], ExportPlan((LAYER,)), out) == 1

    path = tmp_path / "a.conll"
    path.write_text(out.getvalue())
    rows = [
        item for item in Conll2012Importer().read(Source(path), Options()) if isinstance(item, Row)
    ]
    assert rows[0].record.document.text == record.document.text
    assert set(rows[0].record.spans["coreference"]) == set(spans)


def test_documents_that_are_not_labelled_are_counted():
    document, plan = Document("k", (("text", "Ada met her"),)), ExportPlan((LAYER,))
    records = [Record(document), Record(document, {"coreference": "submitted"})]

    Conll2012Exporter().write(records, plan, io.StringIO())

    assert plan.warnings == ("1 document is not labelled in this layer and has no chains.",)


def test_a_span_in_several_parts_is_written_from_first_to_last_and_one_without_chain_counted():
    spans = span(0, 3, None), span(0, 11, 2, parts=((0, 3), (8, 11)))
    record = Record(Document("k", (("text", "Ada met her"),)), spans={"coreference": spans})
    plan, out = ExportPlan((LAYER,)), io.StringIO()

    Conll2012Exporter().write([record], plan, out)

    assert plan.warnings == ("1 span has no chain or lies outside of tokens.",)
    assert [line.split("\t")[-1] for line in out.getvalue().split("\n")[1:4]] == ["(1", "-", "1)"]


def test_parts_of_speech_are_unknown_so_that_no_reader_expects_a_tree():
    """As allennlp.data.dataset_readers.dataset_utils.Ontonotes, version 0.9, treats "XX"."""
    out = io.StringIO()

    Conll2012Exporter().write(
        [Record(Document("k", (("text", "Ada"),)))], ExportPlan((LAYER,)), out
    )

    assert out.getvalue().split("\n")[1].split("\t")[4:6] == ["XX", "*"]
