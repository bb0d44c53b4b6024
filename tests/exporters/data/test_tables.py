"""Tables are read back with the roles that their columns are named after."""

import pytest

from tests.exporters.data.conftest import NER, TOPIC
from workbench.base.registry import builtins
from workbench.importers.base import Hint, Options
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, Document, choice_names, with_choices
from workbench.text.labels import CLUSTER, MULTI, Label, Layer
from workbench.text.spans import Span

THEMES = Layer("themes", "multi", (Label("a"), Label("b; c")))
PAIR = Layer("same", "class", (Label("yes"),), texts=2)
CHAINS = Layer("coref", "cluster", (Label("it"),))
PICK = Layer("pick", "choice", tuple(map(Label, choice_names(3))), CHOICES)
TAGS = Layer("pos", "tag", (Label("NOUN"),))
LAYERS = (
    NER, TOPIC, THEMES, PAIR, CHAINS, PICK, Layer("mood", "score"), Layer("summary", "text")
)  # fmt: skip
EMOJI = "👩‍👩‍👧 e\u0301 Bob\r\nאבג\tend"


def submitted(document, **parts):
    names = [name for part in parts.values() for name in part]
    return Record(document, dict.fromkeys(names, "submitted"), **parts)


RECORDS = (
    submitted(
        Document("one", (("text", EMOJI),), "train", "g", {"n": 1}),
        marks={"class": ("good",), "themes": ("a",)},
        spans={
            "spans": (Span(0, 5, "PER"), Span(9, 16, "LOC", parts=((9, 12), (14, 16)))),
            "coref": (Span(9, 12, "it", chain=2),),
        },
        numbers={"mood": 0.5},
        written={"summary": 'A "short";\nsummary'},
    ),
    submitted(
        Document("none", (("text", "x"),)), marks={"themes": ()}, spans={"spans": ()}
    ),
    submitted(Document("list", (("text", "y"),)), marks={"themes": ("a", "b; c")}),
    submitted(
        Document("pair", (("text", "a b"), ("text_b", "c d"))),
        marks={"same": ("yes",)},
        spans={"spans": (Span(2, 3, "PER", "text_b"),)},
    ),
    submitted(with_choices("ask", "Why?", ("p", "q"), "So?"), marks={"pick": ("2",)}),
    Record(with_choices("open", "Who?", ("p", "q", "r"))),
    Record(Document("pending", (("text", "later"),))),
)  # fmt: skip


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_documents_of_every_kind_come_back_as_they_were(back, format):
    found = back(format, RECORDS, LAYERS)

    assert [record.document for record in found] == [record.document for record in RECORDS]
    for record, wanted in zip(found, RECORDS, strict=True):
        assert {name: given for name, given in record.marks.items() if given} == {
            name: given for name, given in wanted.marks.items() if given
        }
        assert {**record.spans} == {**wanted.spans}
        assert (record.numbers, record.written) == (wanted.numbers, wanted.written)
        assert record.states == wanted.states


def test_the_kinds_of_layers_are_told_and_the_format_is_found(write, tmp_path):
    path = tmp_path / "all.csv"
    path.write_text(write("csv", RECORDS, LAYERS).text, newline="")

    found = detect(Source(path)).format
    items = list(importer(found).read(Source(path), Options()))

    assert found == "csv"
    assert [item for item in items if isinstance(item, Hint)] == [
        Hint("themes", MULTI),
        Hint("coref", CLUSTER),
    ]
    (layer,) = [item for item in items if isinstance(item, Layer)]
    assert (layer.name, layer.kind, layer.names) == ("pick", "choice", choice_names(3))


def test_a_column_may_be_mapped_by_the_name_of_its_layer(back):
    mapping = (("text", "text"), ("label:topic", "class"))

    (found,) = back("csv", RECORDS[:1], (TOPIC,), mapping=mapping)

    assert found.marks == {"topic": ("good",)}


def test_what_a_table_cannot_hold_is_named_before_it_is_written():
    links = Layer("links", "relation", options={"spans": "spans"})

    lost = " ".join(builtins().get("exporter", "csv")().lost((NER, links, TAGS, CHAINS)))

    assert "not written: links" in lost and "written as spans: pos" in lost
    assert "chain" not in lost and "parts" not in lost
