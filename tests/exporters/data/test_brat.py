"""brat's standoff, read back by its importer. Lines: brat.nlplab.org/standoff.html."""

import pytest

from tests.exporters.data.conftest import HARD_TEXTS, LINKS, NER, TOPIC, random_record
from workbench.exporters.data.brat import BratExporter
from workbench.importers.base import CHAINS
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import Relation
from workbench.text.remarks import FLAG, NOTE, DocumentRemark
from workbench.text.spans import Span


@pytest.mark.parametrize("seed", range(2 * len(HARD_TEXTS)))
def test_texts_spans_and_relations_come_back_as_they_were(folder, seed):
    given = random_record(seed, words_only=False)

    found = folder("brat", [given], (NER, LINKS)).record(f"k{seed}.ann", relation_layer="links")

    assert found.document.text == given.document.text
    assert set(found.spans["spans"]) == {_bare(span, given) for span in given.spans["spans"]}
    relations = {
        Relation(it.label, _bare(it.from_span, given), _bare(it.to_span, given))
        for it in given.relations["links"]
    }
    assert set(found.relations["links"]) == relations


def _bare(span, record):
    """Without line breaks at its ends: a line of brat's cannot quote them."""
    text = record.document.text[span.start : span.end]
    breaks = "\n\r\f\u2028"
    start = span.start + len(text) - len(text.lstrip(breaks))
    return Span(start, span.end - len(text) + len(text.rstrip(breaks)), span.label)


def test_a_span_in_parts_stays_one_and_a_document_without_labels_has_an_empty_file(folder):
    parts = Span(0, 11, "PER", parts=((0, 3), (8, 11)))
    given = [
        Record(Document("a", (("text", "New and old\nYork"),)), {}, spans={"spans": (parts,)}),
        Record(Document("b", (("text", "none"),))),
    ]

    files = folder("brat", given)

    assert files.text("a.ann") == "T1\tPER 0 3;8 11\tNew old\n"
    assert files.record("a.ann").spans["spans"] == (parts,)
    assert files.text("b.ann") == "" and files.record("b.ann").document.text == "none"


def test_a_span_over_a_line_break_is_quoted_in_parts_and_comes_back_whole(folder):
    text, span = "New\tand old\r\n\nYork \n", Span(0, 19, "PER")
    record = Record(
        Document("a", (("text", text),)), {}, spans={"spans": (span, Span(11, 14, "LOC"))}
    )

    files = folder("brat", [record])

    assert files.text("a.ann") == "T1\tPER 0 11;14 19\tNew\tand old York \n"
    assert files.record("a.ann").spans["spans"] == (span,)
    assert files.warnings == ("1 span without characters was omitted.",)


def test_chains_notes_and_flags_have_lines_of_their_own(folder):
    chains = Layer("coreference", "cluster", (Label("mention"),))
    mentions = tuple(Span(at, at + 3, "mention", chain=7) for at in (0, 8))
    person = Span(0, 3, "my type", id=1)
    remarks = (
        DocumentRemark(FLAG, "unsure", "spans", person.place),
        DocumentRemark(NOTE, "which\nAda?", "spans", person.place),
        DocumentRemark(NOTE, "of the document"),
    )
    record = Record(
        Document("a", (("text", "Ada met her"),)),
        spans={"spans": (person,), "coreference": mentions},
        remarks=remarks,
    )

    files = folder("brat", [record], (NER, chains))

    assert files.text("a.ann").splitlines() == [
        "T1\tmy_type 0 3\tAda",
        "T2\tmention 0 3\tAda",
        "T3\tmention 8 11\ther",
        "*\tEquiv T2 T3",
        "A1\tunsure T1",
        "#1\tAnnotatorNotes T1\twhich Ada?",
    ]
    assert "unsure\tArg:<ENTITY>" in files.text("annotation.conf").splitlines()
    back = files.record("a.ann")
    assert [span.ranges for span in back.spans[CHAINS]] == [((0, 3),), ((8, 11),)]
    assert {span.chain for span in back.spans[CHAINS]} == {1}
    assert [remark.text for remark in back.remarks] == ["which Ada?", "unsure"]


def test_mentions_of_two_chains_at_one_place_keep_their_chains(folder):
    chains = Layer("coreference", "cluster", (Label("mention"),))
    places = ((0, 4), (8, 9))
    mentions = tuple(Span(*place, "mention", chain=chain) for chain in (1, 2) for place in places)
    record = Record(Document("a", (("text", "This is a"),)), spans={"coreference": mentions})

    files = folder("brat", [record], (chains,))

    assert [line.split("\t")[0] for line in files.text("a.ann").splitlines()] == [
        *("T1", "T2", "T3", "T4", "*", "*")
    ]
    assert set(files.record("a.ann").spans[CHAINS]) == set(mentions)


def test_the_configuration_has_the_labels_and_rules_of_the_layers():
    rules = {"spans": "spans", "undirected": ["near"], "pairs": {"knows": [["PER", ""]]}}
    links = Layer("links", "relation", (Label("knows"), Label("near")), options=rules)

    lines = BratExporter().shared(_plan(NER, links))

    ((name, text),) = lines
    assert name == "annotation.conf"
    assert text.split("\n\n")[0] == "[entities]\nPER\nLOC"
    assert "knows\tArg1:PER, Arg2:<ENTITY>" in text.splitlines()
    assert "near\tArg1:<ENTITY>, Arg2:<ENTITY>, <REL-TYPE>:symmetric" in text.splitlines()


def test_labels_have_types_of_their_own_that_the_configuration_can_hold(folder):
    layer = Layer("spans", "span", tuple(map(Label, ("a b", "a/b", "#1", "--", "北京"))))
    spans = tuple(Span(n, n + 1, label.name) for n, label in enumerate(layer.labels))
    record = Record(Document("a", (("text", "abcde"),)), spans={"spans": spans})

    files = folder("brat", [record], (layer,))

    types = ["a_b", "a_b_2", "_1", "_", "北京"]
    found = [line.split("\t")[1].split(" ")[0] for line in files.text("a.ann").splitlines()]
    assert found == types
    assert files.text("annotation.conf").split("\n\n")[0].splitlines()[1:] == types
    assert "a/b → a_b_2" in " ".join(BratExporter().lost((layer,)))


def test_what_is_lost_is_named_and_counted(folder):
    other = Layer("roles", "span", (Label("my type"),))
    said = " ".join(BratExporter().lost((TOPIC, NER, other, LINKS)))
    for part in ("Classes of documents are not written: class", "spans, roles", "my type"):
        assert part in said
    record = Record(
        Document("a", (("text", "Ada"), ("text_b", "Bob"))),
        spans={"spans": (Span(0, 0, "PER"), Span(0, 3, "PER", "text_b"))},
        relations={"links": (Relation("knows", Span(0, 0, "PER"), Span(0, 0, "PER")),)},
    )

    warnings = folder("brat", [record], (NER, LINKS)).warnings

    assert [warning.split(" was ")[0] for warning in warnings] == [
        "1 span without characters",
        "1 span of a second text",
        "1 relation of omitted spans",
    ]


def _plan(*layers):
    from workbench.exporters.data.base import ExportPlan

    return ExportPlan(layers)
