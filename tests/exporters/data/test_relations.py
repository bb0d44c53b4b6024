"""Relations in exports: doccano has them, the others say that they are not written."""

import io
import json
from dataclasses import replace

import pytest

from workbench.base.registry import builtins
from workbench.exporters.data.base import ExportPlan
from workbench.exporters.data.doccano import DoccanoExporter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import Relation
from workbench.text.spans import Span

NAMES = Layer("names", "span", (Label("PER"),))
LINKS = Layer("links", "relation", (Label("knows"),), options={"spans": "names"})
CHAINS = Layer("chains", "cluster", (Label("mention"),))


def test_doccano_gets_entities_with_ids_and_relations_of_them():
    ada, bob = Span(0, 3, "PER"), Span(8, 11, "PER")
    record = Record(
        Document("k", (("text", "Ada met Bob"),)),
        {"names": "submitted"},
        spans={"names": (bob, ada)},
        relations={"links": (Relation("knows", ada, bob),)},
    )
    out = io.StringIO()

    DoccanoExporter().write([record], ExportPlan((NAMES, LINKS)), out)

    found = json.loads(out.getvalue())
    assert [(item["id"], item["start_offset"]) for item in found["entities"]] == [(0, 0), (1, 8)]
    assert found["relations"] == [{"id": 0, "from_id": 0, "to_id": 1, "type": "knows"}]


def test_records_with_and_without_relations_come_back_from_one_file_of_doccano(back):
    ada, bob = Span(0, 3, "PER"), Span(8, 11, "PER")
    document, states = Document("k", (("text", "Ada met Bob"),)), {"spans": "submitted"}
    plain = Record(document, states, spans={"spans": (ada,)})
    linked = Record(
        document, states, spans={"spans": (ada, bob)},
        relations={"relations": (Relation("knows", ada, bob),)},
    )  # fmt: skip
    layers = replace(NAMES, name="spans"), replace(LINKS, options={"spans": "spans"})

    found = back("doccano", [plain, linked], layers)

    assert [record.spans for record in found] == [plain.spans, linked.spans]
    assert [record.relations.get("relations", ()) for record in found] == [
        (),
        linked.relations["relations"],
    ]


@pytest.mark.parametrize("format", ["conll", "conllu", "prodigy", "csv", "conll2012"])
def test_formats_without_relations_say_so(format):
    lost = builtins().get("exporter", format)().lost((NAMES, LINKS, CHAINS))

    assert any("links" in sentence for sentence in lost)
    assert not any(
        "links" in item for item in builtins().get("exporter", "glossbench")().lost([LINKS])
    )
