"""All-words corpora with gold keys, in the layout of the evaluation framework of 2017."""

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options, Remark, Row
from workbench.importers.detect import detect
from workbench.importers.source import Source
from workbench.importers.xml.wsd import WsdImporter
from workbench.text.spans import Span

DATA = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="test">
<text id="d000" source="news">
<sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="art" pos="NOUN">art</instance>
<wf lemma="of" pos="ADP">of</wf>
<instance id="d000.s000.t001" lemma="change_ringing" pos="NOUN">change-ringing</instance>
<wf lemma="&amp;" pos="CONJ">&amp;</wf>
</sentence>
<sentence id="d000.s001">
<instance id="d000.s001.t000" lemma="play" pos="VERB">play</instance>
</sentence>
</text>
</corpus>
"""
KEYS = """d000.s000.t000 art%1:09:00::
d000.s000.t001 change_ringing%1:04:00:: change_ringing%1:04:01::
"""


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "small.data.xml").write_text(DATA, encoding="utf-8")
    (tmp_path / "small.gold.key.txt").write_text(KEYS, encoding="utf-8")
    return tmp_path / "small.data.xml"


def test_instances_are_spans_with_their_first_sense(corpus):
    first, second, *remarks = WsdImporter().read(Source(corpus), Options(span_layer="senses"))

    document = first.record.document
    assert (document.key, document.group, first.line) == ("d000.s000", "d000", 4)
    assert document.text == "The art of change-ringing &"
    assert document.tokens["text"][1] == (4, 7)
    assert first.record.spans["senses"] == (
        Span(4, 7, "art%1:09:00::"),
        Span(11, 25, "change_ringing%1:04:00::"),
    )
    assert isinstance(second, Row) and second.record.spans["senses"] == ()
    assert [remark.message for remark in remarks if isinstance(remark, Remark)] == [
        "1 instance has several senses; the first is imported.",
        "1 instance has no sense in small.gold.key.txt.",
    ]


def test_the_format_is_detected_and_previewed(corpus):
    assert detect(Source(corpus)).format == "wsd"

    table = WsdImporter().preview(Source(corpus), Options(), 2)
    assert table.rows[0].cells == ("d000.s000.t000", "art", "art%1:09:00::")
    assert len(table.rows) == 2 and "small.gold.key.txt" in table.why


def test_missing_keys_and_damaged_files_are_named(corpus):
    whole = corpus.read_text(encoding="utf-8")
    corpus.write_text(whole[:400], encoding="utf-8")
    with pytest.raises(ImportFailed, match=r"small.data.xml, line \d+"):
        list(WsdImporter().read(Source(corpus), Options()))

    corpus.with_name("small.gold.key.txt").unlink()
    with pytest.raises(ImportFailed, match="The senses small.gold.key.txt of small.data.xml"):
        list(WsdImporter().read(Source(corpus), Options()))
