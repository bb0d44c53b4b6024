"""brat's standoff files; the layout is that of brat.nlplab.org/standoff.html."""

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options, Row, Skipped
from workbench.importers.detect import detect
from workbench.importers.source import Source
from workbench.importers.text.brat import BratImporter, annotations_of
from workbench.text.labels import CLUSTER
from workbench.text.remarks import FLAG, NOTE, DocumentRemark
from workbench.text.spans import Span

TEXT = "Ada met Bob\nin Rome and Naples."


@pytest.fixture
def standoff(tmp_path):
    """standoff(lines, text) → what the importer gives for NAME.ann beside NAME.txt."""

    def read(*lines, text=TEXT, **options):
        (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
        (tmp_path / "a.ann").write_text("\n".join(lines) + ("\n" if lines else ""))
        return list(BratImporter().read(Source(tmp_path / "a.ann"), Options(**options)))

    return read


def test_the_text_is_one_document_with_the_spans_of_the_annotations(standoff):
    (row,) = standoff("T1\tPER 0 3\tAda", "T2\tLOC 15 19\tRome", span_layer="ner")

    assert (row.record.document.key, row.record.document.text) == ("a", TEXT)
    assert row.record.spans == {"ner": (Span(0, 3, "PER"), Span(15, 19, "LOC"))}
    assert row.record.states == {"ner": "submitted"}


def test_offsets_are_code_points_and_line_ends_within_a_span_are_spaces_in_the_file(standoff):
    (row,) = standoff("T1\tX 2 9\tmet Bob", "T2\tY 6 13\tBob in", text="😀 met Bob\r\nin")[:1]

    assert row.record.spans["spans"][0] == Span(2, 9, "X")


def test_a_span_in_pieces_keeps_its_parts(standoff):
    (row,) = standoff("T1\tLOC 15 19;24 30\tRome Naples")

    parts = ((15, 19), (24, 30))
    assert row.record.spans == {"spans": (Span(15, 30, "LOC", parts=parts),)}


def test_a_relation_of_a_span_that_is_missing_is_named(standoff):
    (skipped,) = standoff("T1\tPER 0 3\tAda", "R1\tknows Arg1:T1 Arg2:T9")

    assert skipped.line == 2 and "names T9, which the file does not have" in skipped.reason


def test_relations_and_arguments_of_events_connect_spans_and_what_has_no_place_is_counted(standoff):
    lines = (
        "T1\tPER 0 3\tAda",
        "T2\tPER 8 11\tBob",
        "R1\tknows Arg1:T1 Arg2:T2",
        "E1\tMeet:T1 A2:T2",
        "E2\tSay:T2 Topic:E1",
    )
    more = (
        "A1\tSure R1",
        "M1\tSure T1 High",
        "N1\tReference T1 Wiki:1\tAda",
        "#1\tNote T9\tof no span",
    )

    row, remark = standoff(*lines, *more)

    assert len(row.record.spans["spans"]) == 2
    relations = row.record.relations["relations"]
    assert remark.message == ("a.ann: not imported: attributes (2), normalizations (1), notes (1).")
    found = [
        (relation.label, relation.from_span.start, relation.to_span.start) for relation in relations
    ]
    assert found == [("knows", 0, 8), ("A", 0, 8), ("Topic", 8, 0)]


@pytest.mark.parametrize(
    "line, word",
    [
        ("T2\tPER 0 3\tEve", "covers 'Ada', but the file says 'Eve'"),
        ("T2\tPER 0 x\tAda", "is not a span"),
        ("T2 PER 0 3 Ada", "is not a span"),
        ("Q1\tx", "begins with 'Q1"),
        ("T2\tPER 90 99", "does not lie within"),
    ],
)
def test_a_faulty_line_costs_the_document_and_is_named(standoff, line, word):
    (skipped,) = standoff("T1\tPER 0 3\tAda", line)

    assert isinstance(skipped, Skipped) and word in skipped.reason
    assert skipped.line == (1 if "within" in word else 2)


def test_an_empty_file_is_a_text_without_annotations(standoff, tmp_path):
    (row,) = standoff()

    assert isinstance(row, Row) and row.record.states == {} and row.record.document.text == TEXT
    assert detect(Source(tmp_path / "a.ann")).format == "brat"


def test_annotations_without_their_text_are_refused(tmp_path):
    (tmp_path / "b.ann").write_text("T1\tPER 0 3\tAda\n")

    with pytest.raises(ImportFailed, match="text b.txt of the brat annotations b.ann is missing"):
        list(BratImporter().read(Source(tmp_path / "b.ann"), Options()))
    assert annotations_of(tmp_path / "b.txt") == tmp_path / "b.ann"
    assert annotations_of(tmp_path / "c.txt") is None


def test_a_preview_lists_the_spans_with_their_lines(standoff, tmp_path):
    standoff("#1\tNote T1\tx", "T1\tLOC 15 19;24 30\tRome Naples")

    table = BratImporter().preview(Source(tmp_path / "a.ann"), Options(), 20)

    assert [(row.line, row.cells) for row in table.rows] == [
        (2, ("T1", "LOC", "15 19;24 30", "Rome Naples"))
    ]


def test_real_documents_have_a_span_for_each_line_that_begins_with_t(data_folder):
    """LitBank's coreference sample: six novels."""
    folder = data_folder / "datasets/coref-litbank/brat-sample"
    for path in sorted(folder.glob("*.ann")):
        lines = path.read_text(encoding="utf-8").splitlines()
        wanted = {line.split("\t")[1] for line in lines if line.startswith("T")}

        rows = [
            item for item in BratImporter().read(Source(path), Options()) if isinstance(item, Row)
        ]

        assert len(rows) == 1 and len(rows[0].record.spans["spans"]) == len(wanted), path.name


def test_equivalences_that_share_a_span_are_one_chain_beside_the_spans(standoff):
    names = [f"T{number}\tX {number} {number + 1}\t{TEXT[number]}" for number in (0, 4, 8, 15)]
    lines = (*names, "*\tEquiv T0 T4", "*\tEquiv T8 T15", "*\tEquiv T4 T8")

    hint, row = standoff(*lines, chain_layer="coreference")

    assert (hint.layer, hint.kind) == ("coreference", CLUSTER)
    assert len(row.record.spans["spans"]) == 4
    found = {(span.start, span.chain) for span in row.record.spans["coreference"]}
    assert found == {(0, 1), (4, 1), (8, 1), (15, 1)}


def test_an_equivalence_of_a_span_that_is_missing_is_named_with_its_line(standoff):
    (skipped,) = standoff("T1\tPER 0 3\tAda", "*\tEquiv T1 T7")

    assert skipped.line == 2 and "equivalence names T7" in skipped.reason


def test_notes_and_attributes_without_values_become_remarks_of_their_spans(standoff):
    lines = ("T1\tPER 0 3\tAda", "T2\tLOC 15 19\tRome", "E1\tMeet:T2", "A1\tNegation E1")
    notes = ("#1\tAnnotatorNotes T1\twho?", "#2\tAnnotatorNotes T1\tAda Lovelace")

    (row,) = standoff(*lines, *notes, span_layer="ner")

    ada, rome = (span.place for span in row.record.spans["ner"])
    assert row.record.remarks == (
        DocumentRemark(NOTE, "who?\nAda Lovelace", "ner", ada),
        DocumentRemark(FLAG, "Negation", "ner", rome),
    )
