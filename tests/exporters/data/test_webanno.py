"""WebAnno TSV 3, read back by its importer. Lines: reference files of INCEpTION's tests."""

import pytest

from tests.exporters.data.conftest import HARD_TEXTS, LINKS, NER, TOPIC, random_record
from workbench.exporters.data.webanno import WebannoExporter, type_names
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import Relation
from workbench.text.segment import words
from workbench.text.spans import Span

CHAINS = Layer("coreference", "cluster", (Label("mention"),))


@pytest.mark.parametrize("seed", range(2 * len(HARD_TEXTS)))
def test_texts_spans_and_relations_come_back_as_they_were(folder, seed):
    given = random_record(seed, words_only=True)

    found = folder("webanno", [given], (NER, LINKS)).record(f"k{seed}.tsv")

    text, back = given.document.text, found.document.text
    assert (back.lstrip(), len(back)) == (text.lstrip(), len(text))  # it begins with a token
    assert found.document.tokens["text"] == words(text)
    assert set(found.spans["Spans"]) == set(given.spans["spans"])
    assert set(found.relations["Links"]) == set(given.relations["links"])


def test_stacked_spans_parts_of_tokens_and_offsets_are_written_as_in_inception(folder):
    spans = (Span(0, 6, "PER"), Span(0, 1, "LOC"), Span(3, 4, "A|b_[1]"))
    record = Record(Document("a", (("text", "🚋 is\tx.\nNo"),)), spans={"spans": spans})

    assert folder("webanno", [record]).text("a.tsv").split("\n") == [
        "#FORMAT=WebAnno TSV 3.3",
        "#T_SP=webanno.custom.Spans|value",
        "",
        "",
        "#Text=🚋 is\\tx.",
        "1-1\t0-2\t🚋\tPER[1]|LOC[2]\t",
        "1-2\t3-5\tis\tPER[1]\t",
        "1-2.1\t4-5\ts\tA\\|b\\_\\[1\\]\t",
        "1-3\t6-7\tx\tPER[1]\t",
        "1-4\t7-8\t.\t_\t",
        "",
        "#Text=No",
        "2-1\t9-11\tNo\t_\t",
        "",
    ]  # no empty line at the end, where `Tsv3XDeserializer` expects another sentence


def test_the_text_of_the_first_sentence_begins_with_its_token(folder):
    """Else INCEpTION adds spaces before it, and all offsets are wrong."""
    record = Record(Document("a", (("text", " \n No"),)))

    lines = folder("webanno", [record]).text("a.tsv").split("\n")

    assert lines[-3:] == ["#Text=No", "1-1\t3-5\tNo\t_\t", ""]


def test_relations_stand_where_their_target_begins(folder):
    """As in `testSingleStackedNonTokenRelationWithoutFeatureValue3` of INCEpTION."""
    first, same, second = Span(0, 4, "PER"), Span(0, 4, "LOC"), Span(15, 16, "PER")
    record = Record(
        Document("a", (("text", "This is a test ."),)),
        spans={"spans": (first, same, second)},
        relations={"links": (Relation("knows", first, second), Relation("knows", second, same))},
    )

    lines = folder("webanno", [record], (NER, LINKS)).text("a.tsv").splitlines()

    assert lines[2] == "#T_RL=webanno.custom.Links|value|BT_webanno.custom.Spans"
    assert lines[6] == "1-1\t0-4\tThis\tPER[1]|LOC[2]\tknows\t1-5[0_2]\t"
    assert lines[10] == "1-5\t15-16\t.\tPER\tknows\t1-1[1_0]\t"


def test_chains_and_tags_come_back_with_their_kind_and_empty_spans_at_their_place(folder):
    """As in `testStackedChain` and `testZeroLengthSpansWithFeatureValues` of INCEpTION."""
    tags = Layer("tags", "tag", (Label("X"),))
    mentions = (Span(0, 3, "mention", chain=2), Span(0, 7, "mention", chain=5))
    mentions += (Span(8, 11, "mention", chain=2),)
    given = Record(
        Document("a", (("text", "Ada met her"),)),
        spans={
            "spans": (Span(0, 0, "PER"), Span(11, 11, "LOC")),
            "coreference": mentions,
            "tags": tuple(Span(start, end, "X") for start, end in words("Ada met her")),
        },
    )

    files = folder("webanno", [given], (NER, CHAINS, tags))
    found = files.record("a.tsv")

    assert "1-1\t0-3\tAda\t_\t*->1-1|*->2-1\tmention[1]|mention[2]" in files.text("a.tsv")
    assert found.spans["Spans"] == given.spans["spans"]
    assert found.spans["Tags"] == given.spans["tags"]
    chains = {(span.start, span.end): span.chain for span in found.spans["Coreference"]}
    assert chains[0, 3] == chains[8, 11] != chains[0, 7]


def test_mentions_of_two_chains_at_one_place_keep_their_chains(folder):
    """The spans of `testStackedChain` of INCEpTION."""
    places = ((0, 4), (5, 7), (8, 9))
    mentions = tuple(Span(*place, "mention", chain=chain) for chain in (1, 2) for place in places)
    record = Record(Document("a", (("text", "This is a"),)), spans={"coreference": mentions})

    files = folder("webanno", [record], (CHAINS,))

    assert "This\t*->1-1|*->2-1\tmention[1]|mention[2]\t" in files.text("a.tsv")
    assert set(files.record("a.tsv").spans["Coreference"]) == set(mentions)


def test_imported_tokens_are_kept_and_no_sentence_divides_one(folder):
    tokens = ((0, 9), (10, 13))
    document = Document("a", (("text", "Ms. A. B. met"),), tokens={"text": tokens})

    found = folder("webanno", [Record(document)]).record("a.tsv")

    assert (found.document.text, found.document.tokens["text"]) == (document.text, tokens)
    assert not found.spans and not found.states


def test_layers_are_named_as_inception_names_them():
    """`StringUtils.capitalize` of the name without what is no ASCII letter, digit or underscore."""
    names = ("person names", "Person-names", "1st", "ישויות")
    layers = [Layer(name, "span") for name in names]

    assert list(type_names([*layers, TOPIC]).values()) == [
        "Personnames",
        "Personnames2",
        "Layer1st",
        "Layer",
    ]


def test_what_is_lost_is_named_and_counted(folder):
    said = " ".join(WebannoExporter().lost((TOPIC, NER, LINKS)))
    for part in ("written: class.", "spans → Spans", "layers with these names", "several parts"):
        assert part in said
    spans = (Span(3, 4, "PER"), Span(0, 3, "LOC"), Span(0, 4, "PER"))
    record = Record(
        Document("a", (("text", "Ada  met"), ("text_b", "Bob"))),
        spans={"spans": (*spans, Span(0, 3, "PER", "text_b"))},
        relations={"links": (Relation("knows", *spans[:2]),), "others": ()},
    )

    files = folder("webanno", [record, Record(Document("e", (("text", " "),)))], (NER, LINKS))

    assert [warning.split(" was ")[0].split(" has ")[0] for warning in files.warnings] == [
        "1 span begins or ends between words and",
        "1 span of a second text",
        "1 span without a word",
        "1 relation of omitted spans, or of spans in another layer,",
        "1 document",
    ]
