import math

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Row, Skipped
from workbench.importers.detect import checked, detect, importer
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

PRODIGY_CHOICE = (
    '{"text": "x", "options": [{"id": "A", "text": "A"}, {"id": "B", "text": "B"}], '
    '"accept": ["A"], "answer": "accept"}\n'
)


@pytest.mark.parametrize(
    "name, content, format",
    [
        ("a.jsonl", '{"glossbench": 1, "layers": []}\n', "glossbench"),
        ("a.jsonl", '{"text": "x", "label": [[0, 1, "A"]]}\n', "doccano"),
        ("a.json", '[{"text": "x", "label": ["A"]}]', "doccano"),
        ("a.jsonl", '{"text": "x", "spans": [], "answer": "accept"}\n', "prodigy"),
        ("a.jsonl", PRODIGY_CHOICE, "prodigy"),
        ("a.jsonl", '{"question": "x", "options": ["y", "z"], "answer": "A"}\n', "choices"),
        ("a.jsonl", '{"text": "cut in the mid', "doccano"),
        ("a.csv", "text,label\na,b\n", "csv"),
        ("a.txt", "text;label\na;b\nc;d\n", "csv"),
        ("a.tsv", "text\tlabel\na\tb\n", "tsv"),
        ("a.conll", "a\tO\nb\tB-X\n", "conll"),
        ("a.txt", "EU B-ORG\nrejects O\n", "conll"),
        ("a.tsv", "a\tO\nb\tB-X\n", "conll"),
        ("a.conllu", "1\tI\tI\tPRON\t_\t_\t0\troot\t_\t_\n", "conllu"),
        ("a.txt", "Well, yes.\nNo, thanks.\n", "text"),
        ("notes", "just words\n", "text"),
    ],
)
def test_the_format_is_detected_from_the_content(tmp_path, name, content, format):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")

    detection = detect(Source(path))

    assert detection.format == format and detection.why


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(ImportFailed, match="doccano, prodigy"):
        importer("docx")


TEXT = Document("", (("text", "Ada met Bob."),))


def rows_of(record, *layers):
    return list(checked("lines.all", [*layers, Row(3, record)]))


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (Record(Document("", "Ada")), "`texts` of the document is not a tuple of pairs"),
        (Record(Document("", TEXT.texts, tokens=((0, 3),))), "`tokens` of the document is tuple"),
        (Record(TEXT, marks=("4",)), "`marks` of the record is tuple, expected a dict by layer"),
        (Record(TEXT, marks={"stars": "45"}), "`marks` of the layer 'stars' is not a tuple of str"),
        (Record(TEXT, spans={"tags": (Span,)}), "`spans` of the layer 'tags' is not a tuple of"),
        (
            Record(TEXT, marks={"tags": ("N", "V")}),
            "layer 'tags' of the kind 'tag' is in `marks`, expected `spans`",
        ),
        (Record(TEXT, marks={"": ("4",)}), "the record has labels in a layer without a name"),
        (Record(TEXT, numbers={"grade": "4"}), "`numbers` of the layer 'grade' is str, expected"),
    ],
)
def test_a_part_of_the_wrong_type_is_named_with_the_line_and_the_plugin(record, says):
    with pytest.raises(ImportFailed, match="lines.all does not follow its contract in line 3") as e:
        rows_of(record, Layer("tags", "tag"))

    assert says in str(e.value) and "error of the plugin lines" in e.value.hint


@pytest.mark.parametrize(
    ("layer", "says"),
    [
        (Layer("", "class"), "the layer '' has the name or label ''"),
        (Layer("stars", "class", (Label("4"), Label(" "))), "'stars' has the name or label ' '"),
        (Layer("stars", "class", (Label(4),)), "has the name or label 4, expected 1 to 1000"),
        (Layer("stars", "class", ("4",)), "'stars' has a label of the type str, expected Label"),
    ],
)
def test_a_layer_and_its_labels_have_names(layer, says):
    with pytest.raises(ImportFailed, match="lines.all does not follow its contract") as caught:
        rows_of(Record(TEXT), layer)

    assert says in str(caught.value)


def test_a_layer_of_an_unknown_kind_is_named_with_the_known_ones():
    with pytest.raises(ImportFailed, match="the kind 'tags', expected one of class, multi"):
        rows_of(Record(TEXT), Layer("pos", "tags"))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Record(TEXT, spans={"names": (Span(0, 99, "PER"),)}), "does not lie within the text"),
        (Record(TEXT, states={"names": "done"}), "the state of layer 'names' is 'done'"),
        (Record(Document("", (("text", " "),))), "the text is empty"),
        (Record(TEXT, marks={"stars": ("",)}), "a label has no name"),
        (Record(TEXT, numbers={"grade": math.nan}), "'grade' is nan, expected a finite number"),
    ],
)
def test_a_record_that_cannot_be_stored_is_skipped(record, reason):
    (skipped,) = rows_of(record)

    assert isinstance(skipped, Skipped) and skipped.line == 3 and reason in skipped.reason


def test_a_record_as_the_contract_asks_is_passed_on():
    record = Record(TEXT, marks={"stars": ("4",)}, spans={"names": (Span(0, 3, "PER"),)})

    assert rows_of(record, Layer("names", "span"))[1] == Row(3, record)
