"""Every format says before writing what it cannot hold, and what it holds comes back."""

import pytest

from tests.exporters.data.conftest import LINKS, NER, TOPIC
from workbench.base.registry import builtins
from workbench.importers.base import Hint, Options, Row
from workbench.importers.detect import importer
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, Document, choice_names, with_choices
from workbench.text.labels import CLASS, Label, Layer
from workbench.text.spans import Span

PAIR = Layer("same", "class", (Label("yes"),), texts=2)
PICK = Layer("pick", "choice", tuple(map(Label, choice_names(2))), CHOICES)
CHAINS = Layer("coref", "cluster", (Label("it"),))
OWN, QUESTIONS = "glossbench", ("squad", "squad_jsonl")
TEXTS = ("text", "brat", "webanno", "conll", "conllu", "conll2012", "prodigy")  # one per document


def lost(format, *layers):
    return builtins().get("exporter", format)().lost(layers)


def formats(*without):
    return [entry.id for entry in builtins().all("exporter") if entry.id not in without]


@pytest.mark.parametrize("format", formats(OWN, "csv", "tsv", "text"))
@pytest.mark.parametrize("layer", [LINKS, CHAINS, PAIR, PICK], ids=lambda layer: layer.kind)
def test_a_layer_that_a_format_does_not_hold_in_full_changes_what_it_says(format, layer):
    held = {
        "doccano": (LINKS,), "label-studio": (LINKS,), "webanno": (LINKS, CHAINS), "brat": (LINKS,),
        "conll2012": (CHAINS,), "preferences": (PICK,), "preferences-chat": (PICK,),
    }  # fmt: skip
    if layer in held.get(format, ()):
        return

    assert lost(format, NER, layer) != lost(format, NER)


@pytest.mark.parametrize("format", [name for name in TEXTS if name != "text"])
def test_second_texts_that_are_left_out_are_announced(format):
    said = set(lost(format, NER, PAIR)) - set(lost(format, NER))

    assert any("text" in sentence or "pairs" in sentence for sentence in said)


@pytest.mark.parametrize("format", ["conll", "conllu"])
def test_documents_without_a_group_do_not_join_the_one_before(back, format):
    records = [
        Record(Document(name, (("text", "a b"),), group=group))
        for name, group in (("1", "g"), ("2", None), ("3", "h"), ("4", None), ("5", None))
    ]

    found = back(format, records)

    assert [record.document.group for record in found] == ["g", None, "h", None, None]


def test_spans_beside_tags_of_conllu_come_back(back):
    tags = Layer("upos", "tag", (Label("DET"), Label("NOUN")))
    text = Document("k", (("text", "the tram 18"),), tokens={"text": ((0, 3), (4, 8), (9, 11))})
    given = {"spans": (Span(4, 11, "LINE"),), "upos": (Span(0, 3, "DET"), Span(4, 8, "NOUN"))}
    names = Record(Document("n", (("text", "Ada"),)), spans={"spans": (Span(0, 3, "PER"),)})

    first, second = back("conllu", [Record(text, {}, {}, given), names], (NER, tags))

    assert first.spans == given
    assert second.spans["spans"] == (Span(0, 3, "PER"),) and second.spans["upos"] == ()


def test_pairs_choices_and_groups_in_tasks_of_label_studio_come_back(back):
    records = [
        Record(
            Document("p", (("text", "a"), ("text_b", "b")), None, "g"),
            {"same": "submitted"},
            {"same": ("yes",)},
        ),
        Record(with_choices("c", "Who?", ("x", "y"), "So?"), {"pick": "draft"}, {"pick": ("2",)}),
        Record(Document("t", (("text", "t"),)), {"class": "submitted"}, {"class": ("good",)}),
    ]

    found = back("label-studio", records, (PAIR, PICK, TOPIC))

    assert [record.document for record in found] == [record.document for record in records]
    assert [record.marks for record in found] == [record.marks for record in records]
    assert [record.states for record in found] == [record.states for record in records]


def test_the_number_of_a_choice_is_no_class_in_doccano(write):
    record = Record(with_choices("c", "Who?", ("x", "y")), {"pick": "submitted"}, {"pick": ("2",)})

    assert '"2"' not in write("doccano", [record], (PICK, TOPIC)).text
    assert any("pick" in sentence for sentence in lost("doccano", PICK))


def test_an_ignored_task_of_prodigy_belongs_to_a_layer_of_classes(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text('{"text": "a", "answer": "ignore"}\n{"text": "b", "label": "X"}\n')

    items = list(importer("prodigy").read(Source(path), Options()))

    assert items[0] == Hint("class", CLASS)
    states = [item.record.states for item in items if isinstance(item, Row)]
    assert states == [{"class": "discarded"}, {"class": "submitted"}]
