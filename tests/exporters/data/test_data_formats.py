import io

import pytest

from tests.exporters.data.conftest import NER, TOPIC
from workbench.exporters.data.base import ExportPlan
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

ODD = '👩‍👩‍👧 a\tb\r\nc "quoted" next\u2028line\x85and\x0cpage'


@pytest.mark.parametrize("format", ["glossbench", "doccano", "prodigy", "csv", "tsv"])
def test_texts_keys_splits_classes_and_spans_come_back(back, ada, format):
    (found,) = back(format, [ada], (NER, TOPIC))

    assert (found.document.key, found.document.text, found.document.split, found.document.meta) == (
        "k1",
        "Ada met Bob in Rome",
        "dev",
        {"page": 1},
    )
    assert found.spans == ada.spans and found.marks == ada.marks and found.states == ada.states


@pytest.mark.parametrize("format", ["glossbench", "doccano", "prodigy", "csv", "tsv"])
def test_odd_letters_come_back_unchanged(back, format):
    record = Record(
        Document("k", (("text", ODD),)), {"spans": "submitted"}, {}, {"spans": (Span(0, 5, "PER"),)}
    )

    (found,) = back(format, [record])

    assert found.document.text == ODD and found.spans == record.spans


@pytest.mark.parametrize("format", ["doccano", "prodigy"])
def test_a_document_that_is_not_labelled_stays_so(back, ada, format):
    pending, empty = (
        Record(Document("p", (("text", "a"),))),
        Record(Document("e", (("text", "b"),)), {"spans": "submitted"}),
    )

    result = back(format, [ada, pending, empty], (NER,))

    assert [item.states for item in result[1:]] == [{}, {"spans": "submitted"}]


def test_conll_gives_tokens_and_b_at_each_start(write, ada):
    result = write("conll", [ada, ada])

    block = "Ada\tB-PER\nmet\tO\nBob\tO\nin\tO\nRome\tB-LOC\n"
    assert result.text == f"{block}\n{block}" and result.warnings == ()


def test_conll_counts_what_it_cannot_hold(write):
    spans = {"spans": (Span(0, 11, "PER"), Span(0, 3, "LOC"), Span(13, 15, "LOC"))}
    nested = Record(
        Document("k", (("text", "Ada Lovelace"),)),
        {"spans": "submitted"},
        {},
        {"spans": spans["spans"][:2]},
    )
    pending = Record(Document("p", (("text", "later"),)))

    result = write("conll", [nested, pending])

    assert result.text == "Ada\tB-PER\nLovelace\tI-PER\n\nlater\tO\n"
    assert sorted(warning.split(" ", 1)[0] for warning in result.warnings) == ["1", "1", "1"]


def test_conll_writes_groups_as_they_came(back, write):
    rows = [
        Record(Document(f"k{n}", (("text", "a"),), None, group), {"spans": "submitted"})
        for n, group in enumerate(("-DOCSTART- x:1", "novel", "novel"))
    ]

    assert write("conll", rows).text == "-DOCSTART-\tO\n\na\tO\n\n# doc = novel\na\tO\n\na\tO\n"
    assert [item.document.group for item in back("conll", rows)] == [
        "-DOCSTART- file.txt:1",
        "novel",
        "novel",
    ]


def test_predictions_stand_in_a_third_column(write, ada):
    predicted = Layer("spans (r)", "span", (Label("PER"),), options={"predicted": "r"})
    record = Record(ada.document, ada.states, {}, {**ada.spans, "spans (r)": (Span(8, 11, "PER"),)})

    assert write("conll", [record], (NER, predicted)).text.split("\n")[:3] == [
        "Ada\tB-PER\tO",
        "met\tO\tO",
        "Bob\tO\tB-PER",
    ]


def test_conllu_splits_texts_without_tokens_into_words(back, write, ada):
    bare = Record(Document("k2", (("text", "no tokens"),)))
    empty = Record(Document("k3", (("text", " "),)))

    result = write("conllu", [ada, bare, empty])

    assert result.count == 2 and "1 document has no tokens" in result.warnings[0]
    assert "1\tno\t_" in result.text and "2\ttokens\t_" in result.text
    (again,) = back("conllu", [ada])
    assert again.document.text == ada.document.text and again.document.tokens == ada.document.tokens


def test_conllu_writes_tags_as_upos_and_spans_beside_them(registry):
    tags = Layer("upos", "tag", (Label("DET"), Label("NOUN")))
    text = Document("k", (("text", "the tram 18"),))
    given = {"spans": (Span(4, 11, "LINE"),), "upos": (Span(0, 3, "DET"), Span(4, 8, "NOUN"))}
    record = Record(text, {}, {}, given)
    plan, out = ExportPlan((NER, tags)), io.StringIO()

    exporter = registry.get("exporter", "conllu")()
    assert exporter.write([record], plan, out) == 1

    rows = [line.split("\t") for line in out.getvalue().splitlines() if line[:1].isdigit()]
    assert [(row[1], row[3], row[9]) for row in rows] == [
        ("the", "DET", "_"),
        ("tram", "NOUN", "Tag=B-LINE"),
        ("18", "_", "Tag=I-LINE"),
    ]
    lost = " ".join(exporter.lost((NER, tags)))
    assert "layer upos are written as UPOS" in lost and "layer spans are written as tags" in lost


def test_text_is_one_line_a_document(write):
    pair = Record(Document("k", (("text", "one\ntwo"), ("text_b", "three"))))

    result = write("text", [pair])

    assert result.text == "one two ‖ three\n" and len(result.warnings) == 2


def test_prodigy_numbers_the_tokens_of_a_span(write, ada):
    assert '"token_start": 4, "token_end": 4' in write("prodigy", [ada]).text


def test_each_format_says_what_it_cannot_hold(registry):
    pair = Layer("pairs", "class", (Label("same"),), texts=2)
    for entry in registry.all("exporter"):
        assert registry.get("exporter", entry.id)().lost((NER, TOPIC, pair)), entry.id
