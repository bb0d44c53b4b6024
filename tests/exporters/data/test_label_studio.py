"""Label Studio's tasks: read back by the importer, and in the form of its own exports."""

import json
from dataclasses import replace

from tests.exporters.data.conftest import NER, TOPIC
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import Relation
from workbench.text.spans import Span

LINKS = Layer("relations", "relation", (Label("knows"),), options={"spans": "spans"})
ROLES = Layer("roles", "span", (Label("AGENT"),))
ADA_FIRST = Span(0, 3, "PER")
ADA, BOB = Span(4, 7, "PER"), Span(12, 15, "PER")


def met(relations=None):
    """A text whose first character is two UTF-16 units."""
    document = Document("k1", (("text", "🚋🚋 \u200dAda met Bob"),), "dev", None, {"page": 1})
    return Record(
        document,
        {"spans": "submitted"},
        spans={"spans": (ADA, BOB)},
        relations=relations or {},
    )


def test_classes_spans_relations_split_and_metadata_come_back(back, ada):
    knows = Relation("knows", ada.spans["spans"][0], ada.spans["spans"][1])
    given = Record(
        ada.document, ada.states, ada.marks, ada.spans, relations={"relations": (knows,)}
    )

    (found,) = back("label-studio", [given], (TOPIC, NER, LINKS))

    same = ("key", "text", "split", "meta")
    assert all(getattr(found.document, item) == getattr(ada.document, item) for item in same)
    assert (found.marks, found.spans, found.relations) == (ada.marks, ada.spans, given.relations)


def test_offsets_behind_emoji_come_back(back):
    (found,) = back("label-studio", [met()])

    assert found.spans == {"spans": (ADA, BOB)}


def test_several_layers_are_controls_of_their_names(back):
    record = Record(
        Document("k", (("text", "Ada ran"),)),
        {"spans": "submitted", "roles": "submitted"},
        spans={"spans": (Span(0, 3, "PER"),), "roles": (Span(0, 3, "AGENT"),)},
    )

    (found,) = back("label-studio", [record], (NER, ROLES))

    assert found.spans == record.spans


def test_discarded_empty_and_pending_documents_stay_so(back, ada):
    given = [
        ada,
        Record(Document("e", (("text", "none"),)), {"spans": "submitted"}),
        Record(Document("p", (("text", "later"),))),
        Record(Document("x", (("text", "skip"),)), {"spans": "discarded"}),
    ]

    found = back("label-studio", given)

    expected = [{"spans": "submitted"}, {"spans": "submitted"}, {}, {"spans": "discarded"}]
    assert [item.states for item in found] == expected


def test_layers_that_are_pending_or_drafts_beside_a_submitted_one_stay_so(back):
    chains = Layer("coreference", "cluster", (Label("m"),))
    given = [
        Record(
            Document("k", (("text", "Ada ran"),)),
            {"spans": "submitted", "coreference": "draft"},
            spans={"spans": (ADA_FIRST,), "coreference": (replace(ADA_FIRST, label="m"),)},
        ),
        Record(Document("p", (("text", "none"),)), {"spans": "submitted"}),
        Record(Document("x", (("text", "skip"),)), {"coreference": "discarded"}),
    ]

    found = back("label-studio", given, (NER, chains))

    assert [item.states for item in found] == [item.states for item in given]


def test_a_task_has_the_form_of_label_studios_export(write):
    """The keys are those of `tool-exports/label-studio` and labelstud.io/guide/task_format."""
    undirected = Layer(
        "relations", "relation", (Label("knows"),), options={"undirected": ["knows"]}
    )
    record = met(relations={"relations": (Relation("knows", ADA, BOB),)})

    (task,) = json.loads(write("label-studio", [record], (NER, undirected)).text)

    first, second, relation = task["annotations"][0]["result"]
    assert first == {
        "id": "spans-1",
        "from_name": "spans",
        "to_name": "text",
        "type": "labels",
        "value": {"start": 4, "end": 7, "text": "Ada", "labels": ["PER"]},
    }
    ends = relation["from_id"], relation["to_id"]
    assert ends == (first["id"], second["id"])
    assert (relation["type"], relation["direction"]) == ("relation", "bi")
    assert task["data"] == {"text": record.document.text, "split": "dev"}


def test_spans_of_second_texts_are_omitted_and_counted(write):
    pair = Record(
        Document("k", (("text", "one"), ("text_b", "two"))),
        {"spans": "submitted"},
        spans={"spans": (Span(0, 3, "PER", "text_b"),)},
    )

    result = write("label-studio", [pair])

    assert result.warnings == ("1 span of a second text was omitted.",)
    (task,) = json.loads(result.text)
    assert task["data"] == {"text": "one", "text_b": "two"}
