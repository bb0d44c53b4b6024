"""WebAnno TSV 3. The files of INCEpTION's own tests are compared with the XMI beside them."""

import re
from xml.etree import ElementTree

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Hint, Options, Remark, Row, Skipped
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.labels import CLUSTER, TAG
from workbench.text.spans import Span

NER = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value"
POS = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue"
CHAIN = "#T_CH=webanno.custom.Coref|referenceType|referenceRelation"


@pytest.fixture
def imported(tmp_path):
    """imported(header, lines) → the items of a file of one sentence or several."""

    def read(header, *lines, name="a.tsv", options=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        parts = ("#FORMAT=WebAnno TSV 3.3", *header, "", "", *lines, "")
        path.write_text("\n".join(parts), encoding="utf-8")
        source = Source(path)
        assert detect(source).format == "webanno"
        return list(importer("webanno").read(source, options or Options()))

    return read


def the_record(items):
    (row,) = (item for item in items if isinstance(item, Row))
    return row.record


def test_tokens_with_one_number_are_one_span_and_a_feature_without_values_no_layer(imported):
    record = the_record(
        imported(
            (NER,),
            "#Text=Ada Lovelace met Bob",
            "1-1\t0-3\tAda\t*[1]\tPER[1]\t",
            "1-2\t4-12\tLovelace\t*[1]\tPER[1]\t",
            "1-3\t13-16\tmet\t_\t_\t",
            "1-4\t17-20\tBob\t*\tPER\t",
        )
    )

    assert (record.document.key, record.document.text) == ("a", "Ada Lovelace met Bob")
    assert record.document.tokens == {"text": ((0, 3), (4, 12), (13, 16), (17, 20))}
    assert record.spans == {"NamedEntity": (Span(0, 12, "PER"), Span(17, 20, "PER"))}
    assert record.states == {"NamedEntity": "submitted"}


def test_offsets_are_utf_16_units_in_the_file_and_sentences_are_lines_of_the_text(imported):
    record = the_record(
        imported(
            (NER,),
            "#Text=😀 Ada",
            "1-1\t0-2\t😀\t_\t_\t",
            "1-2\t3-6\tAda\t*\tPER\t",
            "",
            "#Text=in Rome",
            "2-1\t7-9\tin\t_\t_\t",
            "2-2\t10-14\tRome\t*\tLOC\t",
        )
    )

    assert record.document.text == "😀 Ada\nin Rome"
    assert record.spans["NamedEntity"] == (Span(2, 5, "PER"), Span(9, 13, "LOC"))


def test_the_only_layer_of_spans_may_be_named(imported):
    items = imported(
        (NER,), "#Text=Ada", "1-1\t0-3\tAda\t*\tPER\t", options=Options(span_layer="names")
    )

    assert the_record(items).spans == {"names": (Span(0, 3, "PER"),)}


def test_a_layer_with_a_value_on_every_token_has_tags_and_each_feature_is_a_layer(imported):
    items = imported(
        (POS + "|coarseValue",),
        "#Text=Ada met",
        "1-1\t0-3\tAda\tNNP\tNOUN\t",
        "1-2\t4-7\tmet\tVBD\tVERB\t",
    )

    assert items[:2] == [Hint("POS.PosValue", TAG), Hint("POS.coarseValue", TAG)]
    found = the_record(items).spans["POS.coarseValue"]
    assert [span.label for span in found] == ["NOUN", "VERB"]


def test_relations_begin_at_the_token_that_they_name_and_end_at_their_line(imported):
    header = (
        "#T_SP=webanno.custom.Span|value",
        "#T_RL=webanno.custom.Link|role|BT_webanno.custom.Span",
    )
    record = the_record(
        imported(
            header,
            "#Text=Ada met Bob",
            "1-1\t0-3\tAda\tPER[1]|HUMAN[2]\t_\t_\t",
            "1-2\t4-7\tmet\tACT\tagent\t1-1[2_0]\t",
            "1-3\t8-11\tBob\tPER\t_\t_\t",
        )
    )

    (relation,) = record.relations["Link"]
    assert (relation.label, relation.from_span.label, relation.to_span.label) == (
        "agent",
        "HUMAN",
        "ACT",
    )


def test_links_of_chains_are_spans_with_the_number_of_their_chain(imported):
    items = imported(
        (CHAIN,),
        "#Text=Ada met her",
        "1-1\t0-3\tAda\tnam[1]\t*->1-1\t",
        "1-2\t4-7\tmet\t_\t_\t",
        "1-3\t8-11\ther\tpro[1]\tanaphoric->1-2\t",
    )

    assert items[0] == Hint("Coref", CLUSTER)
    assert the_record(items).spans["Coref"] == (
        Span(0, 3, "nam", chain=1),
        Span(8, 11, "pro", chain=1),
    )
    assert items[-1] == Remark("a.tsv: not imported: names of the links in chains (1).")


def test_escapes_are_read(imported):
    record = the_record(
        imported(
            (NER,), "#Text=a\\tb", r"1-1	0-1	a	*	x\|y\_\[1\]	", "1-2\t2-3\tb\t_\t_\t"
        )
    )

    assert record.document.text == "a\tb"
    assert record.spans["NamedEntity"][0].label == "x|y_[1]"


def test_a_label_that_ends_in_a_backslash_does_not_join_the_next(imported):
    line = r"1-1	0-3	Ada	*[1]|*[2]	a\\[1]|b\\[2]	"

    record = the_record(imported((NER,), "#Text=Ada", line))

    assert [span.label for span in record.spans["NamedEntity"]] == ["a\\", "b\\"]


def test_documents_of_a_project_are_named_after_their_folder(imported):
    items = imported((), "#Text=Ada", "1-1\t0-3\tAda\t", name="letter.txt/admin.tsv")

    assert the_record(items).document.key == "letter.txt"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("#Text=Ada", "1-1\t0-3\tAda\t*\t"), r"line 6 has 4 columns, expected 5"),
        (("#Text=Ada", "1-1\t0-3\tBob\t*\tX\t"), r"the token 0–3 covers 'Ada', but .* says 'Bob'"),
        (("#Text=Ada", "1-1\t0-9\tAda\t*\tX\t"), r"the token 0–9 covers '', but"),
        (("#Text=Ada", "Ada\t0-3\tAda\t*\tX\t"), r"expected the number and offsets of a token"),
        (("#Text=Ada",), "the file has no sentences"),
    ],
)
def test_a_damaged_file_is_skipped_with_the_reason(imported, lines, reason):
    (skipped,) = imported((NER,), *lines)

    assert isinstance(skipped, Skipped) and re.search(reason, skipped.reason)


def test_columns_cannot_be_mapped(imported):
    with pytest.raises(ImportFailed, match="columns of WebAnno TSV are fixed"):
        imported((), "#Text=Ada", options=Options(mapping=(("text", "token"),)))


def annotations(path):
    """(start, end) in UTF-16 units of the annotations in an XMI file."""
    found = set()
    for element in ElementTree.parse(path).getroot():
        namespace = element.tag[1:].partition("}")[0]
        custom = namespace.endswith(("custom.ecore", "ner/type.ecore", "pos.ecore"))
        if custom and "begin" in element.attrib and "Governor" not in element.attrib:
            found.add((int(element.get("begin")), int(element.get("end"))))
    return found


def test_spans_equal_those_of_the_reference_files(data_folder):
    suite = data_folder / "datasets/tool-exports/inception-webanno/tsv3-suite"
    compared = 0
    for path in sorted(suite.glob("*/reference.tsv")):
        reference = path.with_suffix(".xmi")
        # the format has no white space at the ends of a span, and no place between two tokens
        if not reference.is_file() or re.search("Whitespace|ZeroWidth", path.parent.name):
            continue
        items = list(importer("webanno").read(Source(path), Options()))
        record = the_record(items)
        text = record.document.text
        units = [len(text[:place].encode("utf-16-le")) // 2 for place in range(len(text) + 1)]
        spans = [span for found in record.spans.values() for span in found]
        found = {(units[span.start], units[span.end]) for span in spans}
        assert found == annotations(reference), path.parent.name
        compared += 1
    assert compared > 55


ESCAPED = (
    "#FORMAT=WebAnno TSV 3.1\n"
    "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value\n\n\n"
)


def test_letters_that_webanno_3_2_escaped_are_decoded(read):  # webanno/webanno#617, #447
    found = read(
        ESCAPED + "#Text=Gr\\u00FCn \\uD83D\\uDE00 er\\r\n"
        "1-1\t0-4\tGrün\t_\t\n1-2\t5-7\t😀\tX\t\n1-3\t8-10\ter\t_\t\n",
        name="u.tsv",
    )

    (record,) = found.records
    assert record.document.text == "Grün 😀 er\r\n"
    assert [(span.start, span.end) for span in record.spans["NamedEntity"]] == [(5, 6)]


def test_offsets_in_code_points_are_read_with_a_remark(read):
    found = read(ESCAPED + "#Text=😀 er\n1-1\t0-1\t😀\t_\t\n1-2\t2-4\ter\tX\t\n", name="u.tsv")

    assert [(span.start, span.end) for span in found.records[0].spans["NamedEntity"]] == [(2, 4)]
    assert found.remarks == [
        "u.tsv: the offsets of 1 document were converted: code points are counted."
    ]
