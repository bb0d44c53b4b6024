import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source

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
