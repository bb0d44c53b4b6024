"""Rules of relation layers, and relations, chains and parts of spans in the own format."""

import json

from workbench.text.dataset import Record, read, write
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.relations import (
    Relation,
    allowed,
    directed,
    pairs,
    renamed_label,
    with_rules,
)
from workbench.text.spans import Span

SPANS = Layer("names", "span", (Label("PER"), Label("ORG")))
RULES = Layer(
    "links",
    "relation",
    (Label("works for"), Label("married to"), Label("other")),
    options={
        "spans": "names",
        "undirected": ["married to"],
        "pairs": {"works for": [["PER", "ORG"]], "married to": [["PER", "PER"], ["PER", ""]]},
    },
)
ADA, FIRM = Span(0, 3, "PER"), Span(14, 17, "ORG")
BOTH = Span(0, 17, "ORG", parts=((0, 3), (14, 17)), chain=4)


def test_a_relation_connects_only_the_allowed_labels_in_the_allowed_direction():
    assert allowed(RULES, "works for", "PER", "ORG")
    assert not allowed(RULES, "works for", "ORG", "PER")


def test_without_a_direction_a_pair_is_allowed_both_ways_and_an_empty_name_is_any_label():
    assert not directed(RULES, "married to") and directed(RULES, "works for")
    assert allowed(RULES, "married to", "ORG", "PER")


def test_broken_rules_of_an_edited_file_allow_everything():
    layer = Layer("links", "relation", (Label("a"),), options={"pairs": {"a": [["PER"], 3]}})

    assert pairs(layer, "a") == () and allowed(layer, "a", "PER", "ORG")


def test_rules_follow_a_renamed_label_and_forget_a_deleted_one():
    renamed = renamed_label(RULES, "names", "ORG", "firm")
    assert renamed["pairs"]["works for"] == [["PER", "firm"]]

    gone = renamed_label(RULES, "links", "married to", None)
    assert "undirected" not in gone and list(gone["pairs"]) == ["works for"]


def test_rules_that_say_nothing_are_not_stored():
    assert with_rules(RULES, spans="names", undirected=(), pairs={"other": ()}) == {
        "spans": "names"
    }


def test_relations_parts_and_chains_come_back_from_a_file(tmp_path):
    record = Record(
        Document("k", (("text", "Ada works for IBM"),)),
        {"names": "submitted"},
        {},
        {"names": (ADA, BOTH, FIRM)},
        relations={"links": (Relation("works for", ADA, FIRM),)},
    )

    write(tmp_path / "x.jsonl", (SPANS, RULES), [record])

    assert read(tmp_path / "x.jsonl").records == (record,)
    line = json.loads((tmp_path / "x.jsonl").read_text().splitlines()[1])
    assert line["spans"]["names"][1] == [0, 17, "ORG", {"parts": [[0, 3], [14, 17]], "chain": 4}]
    assert line["relations"] == {"links": [["works for", [0, 3, "PER"], [14, 17, "ORG"]]]}
