"""Coreference in CoNLL-2012: chains come back, broken brackets are named, LitBank is read whole."""

from pathlib import Path

import pytest

from workbench.importers.base import Hint, Options, Row, Skipped
from workbench.importers.columns.conll2012 import Conll2012Importer
from workbench.importers.detect import detect
from workbench.importers.source import Source
from workbench.text.labels import CLUSTER
from workbench.text.spans import Span

# words and chains after the example in Pradhan et al. 2012, figure 2, shortened
LINES = """#begin document (wb/a2e/00); part 001
wb 0 0 Ada - * - - - - * (0)
wb 0 1 met - * - - - - * -
wb 0 2 her - * - - - - * (3|(0)
wb 0 3 aunt - * - - - - * 3)

wb 0 0 She - * - - - - * (3)
#end document
"""


def items(tmp_path, text):
    path = tmp_path / "a.conll"
    path.write_text(text)
    return list(Conll2012Importer().read(Source(path), Options()))


def test_words_are_joined_and_nested_brackets_are_spans_of_chains(tmp_path):
    hint, row = items(tmp_path, LINES)

    assert hint == Hint("coreference", CLUSTER)
    assert (row.record.document.key, row.record.document.text) == (
        "wb/a2e/00#1",
        "Ada met her aunt\nShe",
    )
    assert set(row.record.spans["coreference"]) == {
        Span(0, 3, "mention", chain=1),
        Span(8, 11, "mention", chain=1),
        Span(8, 16, "mention", chain=4),
        Span(17, 20, "mention", chain=4),
    }
    assert row.record.document.tokens["text"][2:4] == ((8, 11), (12, 16))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("* 3)", "* 4)", "chain 4 ends but does not start"),
        ("* 3)", "* -", "chain 3 does not end"),
        ("* (0)\n", "* x\n", "expected brackets"),
        ("#end document\n", "", "no “#end document”"),
        ("met - * - - - - * -", "met", "has 4 columns"),
    ],
)
def test_broken_documents_are_skipped_with_the_reason(tmp_path, old, new, reason):
    found = items(tmp_path, LINES.replace(old, new, 1))[-1]

    assert isinstance(found, Skipped) and reason in found.reason


def test_litbank_is_recognized_and_its_chains_are_read(data_folder):
    """Counts by awk over dev.conll: 10 documents, 2,776 closing brackets."""
    path = Path(data_folder) / "datasets" / "coref-litbank" / "dev.conll"
    source = Source(path)

    assert detect(source).format == "conll2012"
    rows = [item for item in Conll2012Importer().read(source, Options()) if isinstance(item, Row)]

    closing = sum(
        line.split("\t")[-1].count(")")
        for line in path.read_text().splitlines()
        if not line.startswith("#")
    )
    spans = [span for row in rows for span in row.record.spans["coreference"]]
    assert (len(rows), len(spans)) == (10, closing)
