"""Files of other programs are recognized; ordinary texts that resemble them are not."""

import zipfile

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers import foreign
from workbench.importers.detect import chosen, detect
from workbench.importers.source import Source

NAMED = {
    "UIMA CAS": ("a.json", '{"_context": {"_types": {}}, "_views": {}, "_referenced_fss": {}}'),
    "spaCy 2": ("a.json", '[{"id": 0, "paragraphs": [{"raw": "x"}]}]'),
    "images or audio": ("a.jsonl", '{"filename": "a.png", "label": ["cat"]}\n'),
    "notebook": ("a.ipynb", '{"cells": [], "nbformat": 4}'),
    "BioNLP": ("a.a1", "T1\tProtein 0 4\tLMP1\n"),
    "configuration of brat": ("annotation.conf", "[entities]\nPER\n\n[relations]\n"),
    "WebAnno TSV": ("a.tsv", "#id=1\n#text=Ada met\n1\tAda\t_\tB-PER\n2\tmet\t_\tO\n"),
    "Turtle": ("a.ttl", "@prefix nif: <http://x> .\n"),
    "TextGrid": ("a.TextGrid", 'File type = "ooTextFile"\nObject class = "TextGrid"\n'),
    "Rich Text": ("a.rtf", "{\\rtf1\\ansi Ada}"),
    "after bars": ("a.iob", "Ada|NNP|B-PER met|VBD|O Bob|NNP|B-PER .|.|O\n"),
    "type system": ("a.xml", '<typeSystemDescription xmlns="u">\n</typeSystemDescription>'),
    "FoLiA": ("a.xml", '<!-- x -->\n<FoLiA xmlns="http://ilk.uvt.nl/folia">\n'),
    "configuration of Label Studio": ("a.xml", "<View>\n<Text name='t'/>\n</View>"),
    "ELAN": ("a.eaf", '<?xml version="1.0"?>\n<ANNOTATION_DOCUMENT AUTHOR="">\n'),
    "between XML elements": ("a.vrt", "<text id='1'>\n<s>\nAda\tNNP\tAda\nmet\tVBD\tmeet\n</s>\n"),
}
ASKED = {
    "XML": ("a.xml", '<?xml version="1.0"?>\n<root>\n<a>x</a>\n</root>\n'),
    "web page": ("a.txt", "<!DOCTYPE html>\n<html><body><p>Hello</p></body></html>\n"),
    "LaTeX": ("a.txt", "% a paper\n\\documentclass{article}\n\\begin{document}\nHi\n"),
    "Markdown": ("notes.md", "# Title\n\nSome text.\n"),
    "subtitles": (
        "a.srt",
        "1\n00:00:01,000 --> 00:00:02,000\nHi\n\n2\n00:00:03,000 --> 00:00:04,000\n",
    ),
}
PLAIN = (
    "<3 this song\nanother line\n",
    "<br />Great film, and <b>long</b>.\nNothing to add.\nThird review.\n",
    "[Music] Hello there\n[Applause] Thank you\n",
    "{smile} he said\nand left\n",
    "# hashtag of the day\nplain line\n",
    "T1 is a tank\nand T2 is not\n",
    "I|you|they went home\nnobody|knows why it was so\n",
    "The section \\alpha is here\nnothing else\n",
    "View the <View> element\nnext\n",
)


def source(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    return Source(path)


@pytest.mark.parametrize("what", NAMED)
def test_a_file_of_another_program_is_refused_by_name_with_what_to_do(tmp_path, what):
    name, content = NAMED[what]

    with pytest.raises(ImportFailed, match=name) as caught:
        detect(source(tmp_path, name, content))

    assert what in caught.value.message and len(caught.value.hint) > 20


@pytest.mark.parametrize("what", ASKED)
def test_markup_is_imported_as_text_only_after_a_question(tmp_path, what):
    detection = detect(source(tmp_path, *ASKED[what]))

    assert (
        detection.format == "text"
        and what in detection.question
        and ASKED[what][0] in detection.question
    )


@pytest.mark.parametrize("content", PLAIN)
def test_ordinary_text_that_resembles_markup_is_not_asked_about(tmp_path, content):
    detection = detect(source(tmp_path, "a.txt", content))

    assert (detection.format, detection.question) == ("text", "")


def test_a_chosen_format_is_kept_and_the_doubt_is_a_warning(tmp_path):
    file = source(tmp_path, *NAMED["WebAnno TSV"])
    page = source(tmp_path, *ASKED["web page"])

    assert "WebAnno TSV" in chosen(file, "tsv") and chosen(page, "text") == ""
    assert "web page" in chosen(page, "csv")


def test_a_configuration_is_recognized_by_its_ending_only():
    assert foreign.recognize("[entities]\nPER\n", "notes.txt") is None


@pytest.mark.parametrize(
    "inside, what",
    [("word/document.xml", "Word"), ("content.xml", "OpenDocument"),
     ("exportedproject123.json", "INCEpTION"), ("a.txt", "zip archive")],
)  # fmt: skip
def test_a_zip_archive_is_named_by_what_is_in_it(tmp_path, inside, what):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(inside, "x")

    with pytest.raises(ImportFailed, match=what):
        Source(path)


@pytest.mark.parametrize(
    "content, what",
    [(b"BZh91AY", "bzip2"), (b"\x80\x04\x95\0\0", "pickle")],
)  # fmt: skip
def test_binary_tables_are_named(tmp_path, content, what):
    path = tmp_path / "a.bin"
    path.write_bytes(content + bytes(range(256)))

    with pytest.raises(ImportFailed, match=what):
        Source(path)
