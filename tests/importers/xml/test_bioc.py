"""BioC, modelled on BioC.dtd and on the JSON of PubTator; texts invented."""

import json

import pytest

from workbench.importers.base import Options
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.relations import Relation
from workbench.text.spans import Span

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection>
<source>test</source><date>2024</date><key>test.key</key>
<document>
<id>d1</id>
<infon key="journal">J</infon>
<passage><infon key="type">title</infon><offset>0</offset><text>Für Lithium</text>
<annotation id="1"><infon key="type">Chemical</infon><location offset="5" length="7"/>
<text>Lithium</text></annotation>
</passage>
<passage><offset>13</offset>
<sentence><offset>13</offset><text>Left and right arm.</text>
<annotation id="2"><infon key="type">Part</infon>
<location offset="13" length="4"/><location offset="28" length="3"/>
<text>Left arm</text></annotation>
<relation id="r"><infon key="type">in</infon>
<node refid="1" role="a"/><node refid="2" role="b"/></relation>
</sentence>
<sentence><offset>33</offset><text>End.</text></sentence>
</passage>
</document>
<document><id>d2</id><passage><offset>0</offset><text>None.</text></passage></document>
</collection>
"""
LITHIUM = Span(4, 11, "Chemical")
ARM = Span(12, 30, "Part", parts=((12, 16), (27, 30)))


def test_passages_and_sentences_are_joined_and_annotations_placed(read, tmp_path):
    found = read(XML, name="a.xml")

    first, second = found.records
    assert detect(Source(tmp_path / "a.xml")).format == "bioc"
    assert first.document.key == "d1" and first.document.meta == {"journal": "J"}
    # offsets of this file count bytes: ü has two
    assert first.document.text == "Für Lithium\nLeft and right arm. End."
    assert first.spans == {"spans": (LITHIUM, ARM)}
    assert first.relations == {"relations": (Relation("in", LITHIUM, ARM),)}
    assert found.remarks == [
        "a.xml: the offsets of 1 document were converted: bytes of UTF-8 are counted."
    ]
    assert second.spans == {"spans": ()} and [row.line for row in found.rows] == [5, 23]


def document(**more):
    annotation = {"id": "1", "infons": {"type": "Gene", "identifier": "9"}, "text": "abl",
                  "locations": [{"offset": 4, "length": 3}]}  # fmt: skip
    passage = {"offset": 0, "infons": {}, "text": "The abl gene", "annotations": [annotation]}
    return {"id": "7", "infons": {}, "passages": [passage], **more}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda item: json.dumps({"source": "x", "documents": [item]}),
        lambda item: json.dumps({"PubTator3": [item]}, indent=1),
        lambda item: json.dumps(item) + "\n" + json.dumps({**item, "id": "8"}) + "\n",
    ],
)
def test_json_of_a_collection_of_pubtator_and_of_a_document_per_line(read, tmp_path, wrap):
    found = read(wrap(document()), name="a.json")

    assert detect(Source(tmp_path / "a.json")).format == "bioc"
    assert found.records[0].document.key == "7"
    assert found.records[0].spans == {"spans": (Span(4, 7, "Gene"),)}


def test_relations_between_concepts_connect_their_first_mentions(read):
    infons = {"type": "Bind", "entity1": "9", "entity2": "9"}
    ends = [{"id": "R0", "infons": infons, "nodes": [{"refid": "", "role": ""}]}]
    lost = [{"id": "R1", "infons": {**infons, "entity2": "4"}, "nodes": []}]

    found = read(json.dumps({"documents": [document(relations=ends + lost)]}), name="a.json")

    gene = Span(4, 7, "Gene")
    assert found.records[0].relations == {"relations": (Relation("Bind", gene, gene),)}
    assert found.remarks == ["a.json: not imported: relations of what is not annotated (1)."]


def test_an_annotation_that_covers_other_words_is_named(read):
    found = read(XML.replace('offset="5" length="7"', 'offset="1" length="7"'), name="a.xml")

    ((line, reason),) = found.skipped
    assert line == 5 and reason.startswith("annotation '1': the span 1–8 covers 'ür Lith'")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"passages": 3}, "'passages' is 3, expected a list of objects"),
        ({"passages": [{"offset": "x", "text": "a"}]}, "'offset' is 'x', expected a whole number"),
        ({"passages": [{"offset": 0, "text": 5}]}, "a text is 5, expected a string"),
    ],
)
def test_values_of_the_wrong_kind_are_named(read, change, reason):
    content = json.dumps({"documents": [document(), {**document(), **change}]})

    assert read(content, name="a.json").skipped == [(1, reason)]


def test_the_preview_shows_the_annotations(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(XML, encoding="utf-8")

    table = importer("bioc").preview(Source(path), Options(), 5)

    assert table.rows[0].cells == ("d1", "Lithium", "Chemical", "4")


def test_passages_of_questions_are_no_bioc(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"query": "Who?", "passages": [{"text": "Ada"}], "text": "x"}\n')

    assert detect(Source(path)).format == "doccano"


def test_other_collections_are_no_bioc(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<collection>\n<book>One</book>\n</collection>\n", encoding="utf-8")

    assert detect(Source(path)).question


def test_a_document_with_several_converted_passages_is_counted_once(read):
    passages = [
        {
            "offset": offset,
            "text": "für abl",
            "annotations": [
                {
                    "id": str(offset),
                    "infons": {"type": "Gene"},
                    "text": "abl",
                    "locations": [{"offset": offset + 5, "length": 3}],
                }
            ],
        }
        for offset in (0, 9)
    ]

    found = read(json.dumps({"documents": [{"id": "1", "passages": passages}]}), name="a.json")

    assert [len(record.spans["spans"]) for record in found.records] == [2]
    assert found.remarks == [
        "a.json: the offsets of 1 document were converted: bytes of UTF-8 are counted."
    ]
