"""UIMA CAS in XMI and JSON: both forms of one CAS give equal records."""

import json
import re

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Hint, Options, Remark, Row, Skipped
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.labels import CLUSTER, TAG
from workbench.text.spans import Span

NER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
POS = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
TEXT = "\U0001f600 Ada met Bob"


def structure(id, type, begin=None, end=None, **features):
    place = {} if begin is None else {"@sofa": 1, "begin": begin, "end": end}
    return {"%ID": id, "%TYPE": type, **place, **features}


@pytest.fixture
def imported(tmp_path):
    """imported(*structures) → the items of a CAS in JSON with TEXT."""

    def read(*structures, options=None, content=None):
        sofa = structure(1, "uima.cas.Sofa", sofaID="_InitialView", sofaString=TEXT)
        whole = {"%TYPES": {}, "%FEATURE_STRUCTURES": [sofa, *structures]}
        path = tmp_path / "a.json"
        path.write_text(json.dumps(whole) if content is None else content, encoding="utf-8")
        source = Source(path)
        assert detect(source).format == "uima"
        return list(importer("uima").read(source, options or Options()))

    return read


def the_record(items):
    (row,) = (item for item in items if isinstance(item, Row))
    return row.record


def test_names_become_labels_and_numbers_and_flags_do_not(imported):
    record = the_record(
        imported(
            structure(2, TOKEN, 3, 6),
            structure(3, NER, 3, 6, value="PER", confidence=0.5, sure=True),
            structure(4, NER, 11, 14, value="PER"),
        )
    )

    assert (record.document.key, record.document.text) == ("a", TEXT)
    assert record.document.tokens == {"text": ((2, 5),)}
    assert record.spans == {"NamedEntity": (Span(2, 5, "PER"), Span(10, 13, "PER"))}


def test_a_layer_with_a_label_on_every_token_has_tags(imported):
    items = imported(
        structure(2, TOKEN, 3, 6),
        structure(3, TOKEN, 7, 10),
        structure(4, POS, 3, 6, PosValue="NNP"),
        structure(5, POS, 7, 10, PosValue="VBD"),
    )

    assert items[0] == Hint("POS", TAG)


def test_dependencies_of_tokens_connect_their_tags(imported):
    record = the_record(
        imported(
            structure(2, TOKEN, 3, 6, **{"@pos": 4}),
            structure(3, TOKEN, 7, 10, **{"@pos": 5}),
            structure(4, POS, 3, 6, PosValue="NNP"),
            structure(5, POS, 7, 10, PosValue="VBD"),
            structure(
                6, "x.Dependency", 3, 6, DependencyType="nsubj", **{"@Governor": 3, "@Dependent": 2}
            ),
        )
    )

    (relation,) = record.relations["Dependency"]
    assert (relation.label, relation.from_span.label, relation.to_span.label) == (
        "nsubj",
        "VBD",
        "NNP",
    )


def test_links_of_chains_are_spans_with_the_number_of_their_chain(imported):
    items = imported(
        structure(2, "x.Link", 3, 6, referenceType="nam", **{"@next": 3}),
        structure(3, "x.Link", 11, 14),
        structure(4, "x.Chain", **{"@first": 2}),
    )

    assert items[0] == Hint("Link", CLUSTER)
    assert the_record(items).spans == {
        "Link": (Span(2, 5, "nam", chain=1), Span(10, 13, "mention", chain=1))
    }


def test_annotations_of_other_views_and_relations_without_ends_are_counted(imported):
    items = imported(
        structure(2, NER, 3, 6, value="PER") | {"@sofa": 9},
        structure(3, "x.Relation", 3, 6, **{"@source": 7, "@target": 8}),
    )

    assert items[-1] == Remark(
        "a.json: not imported: relations whose ends have no label in common (1), "
        "annotations of other views (1)."
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"%TYPES": {}, ', "not valid JSON"),
        ('{"%TYPES": {}}', "is not a list of feature structures"),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": []}', "the file has no text"),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": [3]}', "a feature structure is 3"),
    ],
)
def test_a_damaged_file_is_skipped_with_the_reason(imported, content, reason):
    (skipped,) = imported(content=content)

    assert isinstance(skipped, Skipped) and reason in skipped.reason


def test_offsets_beyond_the_text_are_refused(imported):
    (skipped,) = imported(structure(2, NER, 3, 99, value="PER"))

    assert re.search("annotation 2 at 3–99 does not lie within the text", skipped.reason)


def test_columns_cannot_be_mapped(imported):
    with pytest.raises(ImportFailed, match="a UIMA CAS has no columns"):
        imported(options=Options(mapping=(("text", "token"),)))


def test_xmi_and_json_of_the_same_content_give_equal_records(data_folder):
    folder = data_folder / "datasets/tool-exports/uima-cassis/json/fs_as_array"
    compared = 0
    for path in sorted(folder.rglob("data.json")):
        other = path.with_name("debug.xmi")
        if not other.is_file() or "sofaString" not in other.read_text(encoding="utf-8"):
            continue
        found = []
        for file in (path, other):
            assert detect(Source(file)).format == "uima"
            items = list(importer("uima").read(Source(file), Options()))
            rows = [item.record for item in items if isinstance(item, Row)]
            found.append([(row.document.text, row.document.tokens, row.spans) for row in rows])
        assert found[0] == found[1], path.parent.name
        compared += bool(found[0])
    assert compared >= 5


def test_a_file_of_inception_has_its_entities_and_tokens(data_folder):
    (path,) = (data_folder / "datasets/tool-exports/inception-json-cas").glob("*.json")

    record = the_record(importer("uima").read(Source(path), Options()))

    text = record.document.text
    found = [(text[span.start : span.end], span.label) for span in record.spans["NamedEntity"]]
    assert len(found) == 17 and len(record.document.tokens["text"]) == 326
    assert found[0] == ("Northern British Columbia", "Location")


def test_rows_of_the_preview_name_the_structure_instead_of_the_line(data_folder):
    folder = data_folder / "datasets/tool-exports/inception-webanno/tsv3-suite"
    source = Source(folder / "testStackedChain" / "reference.xmi")

    rows = importer("uima").preview(source, Options(), 20).rows

    text = source.path.read_text(encoding="utf-8")
    for row in rows:
        begin, end = row.cells[2].split()
        (element,) = re.findall(f'<[^<]* xmi:id="{row.name[1:]}"[^>]*>', text)
        assert f'begin="{begin}" end="{end}"' in element
    assert len({row.name for row in rows}) == 6


BEFORE = (
    "",
    "<!-- by x > y -->\n",
    '<?xml-model href="x.rng"?>\n',
    '<!DOCTYPE x SYSTEM "x.dtd">\n',
)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("before", BEFORE)
def test_xmi_is_recognized_after_what_may_stand_before_its_root(tmp_path, encoding, before):
    cas = (
        f'<?xml version="1.0" encoding="UTF-16"?>\r\n{before}'
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
        'xmi:version="2.0">\r\n<cas:Sofa xmi:id="1" sofaID="_InitialView" sofaString="Für Ada"/>'
        '\r\n<cas:View sofa="1" members=""/>\r\n</xmi:XMI>\r\n'
    )
    path = tmp_path / "a.xml"
    path.write_bytes(cas.encode(encoding))

    found = detect(Source(path))

    items = list(importer(found.format).read(Source(path), Options()))
    assert found.format == "uima" and the_record(items).document.text == "Für Ada"
