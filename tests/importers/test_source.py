import os

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.source import Source


def source(tmp_path, content, **more):
    path = tmp_path / "file.txt"
    path.write_bytes(content)
    return Source(path, **more)


def test_only_a_newline_ends_a_line_and_crlf_is_tolerated(tmp_path):
    text = "next\u2028line\x85and\x0cpage\r\nsecond\rhalf\nlast"

    assert list(source(tmp_path, text.encode()).lines()) == [
        "next\u2028line\x85and\x0cpage",
        "second\rhalf",
        "last",
    ]


@pytest.mark.parametrize(
    "codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_are_detected_from_the_bytes(tmp_path, codec):
    text = "Die Straße ist größer als gedacht.\nZweite Zeile.\n"

    assert list(source(tmp_path, text.encode(codec)).lines()) == text.split("\n")[:2]


def test_a_guessed_code_page_is_not_sure_and_shows_a_word(tmp_path):
    encoding = source(tmp_path, "Ort;Straße;Käse\n".encode("latin-1")).encoding

    assert (encoding.name, encoding.sure) == ("cp1252", False) and "“Straße”" in encoding.why


@pytest.mark.parametrize("before", [3, 4, 5, 9])
def test_a_code_page_is_recognized_however_late_its_first_letter_comes(tmp_path, before):
    content = b"plain text\n" * (before * (1 << 20) // 11) + "Straße und Käse\n".encode("latin-1")

    result = source(tmp_path, content)

    assert result.encoding.name == "cp1252" and "Straße" in result.encoding.why
    assert list(result.lines())[-1] == "Straße und Käse"


@pytest.mark.parametrize("content", [b"caf\xe9", b"caf\xe9\n", b"Ma\xdf", b"gr\xfcn\n"])
def test_a_western_letter_at_the_end_of_a_short_file_is_not_damaged_utf_8(tmp_path, content):
    result = source(tmp_path, content)

    assert result.encoding.name == "cp1252"
    assert list(result.lines()) == [content.decode("latin-1").rstrip("\n")]


@pytest.mark.parametrize("content", ["Übermut tut gut: €", "nur 5 €"])
def test_a_file_cut_off_within_its_last_character_is_utf_8(tmp_path, content):
    encoding = source(tmp_path, content.encode()[:-1]).encoding

    assert (encoding.name, encoding.sure) == ("utf-8", False) and "cut off" in encoding.why


@pytest.mark.parametrize(
    "text, codec",
    [
        ("Привет, как дела сегодня", "cp1251"),
        ("こんにちは世界", "shift_jis"),
        ("今天天气很好", "gb18030"),
        ("Łódź żółć gęś źle ząb", "cp1250"),
    ],
)
def test_letters_that_would_come_out_wrong_are_refused(tmp_path, text, codec):
    with pytest.raises(ImportFailed, match="encoding"):
        source(tmp_path, text.encode(codec))

    assert list(source(tmp_path, text.encode(codec), encoding=codec).lines()) == [text]


@pytest.mark.parametrize(
    "content, word",
    [
        (b"", "empty"),
        (b" \n\n ", "empty"),
        (b"a\0b" * 50, "not text"),
        (b"PK\x03\x04rest", "Excel"),
        (b"%PDF-1.7", "PDF"),
    ],
)
def test_what_is_no_text_is_named(tmp_path, content, word):
    with pytest.raises(ImportFailed, match=word):
        source(tmp_path, content)


def test_random_bytes_are_refused(tmp_path):
    with pytest.raises(ImportFailed):
        source(tmp_path, os.urandom(50_000))


def test_a_nul_far_behind_the_head_is_found(tmp_path):
    with pytest.raises(ImportFailed, match="byte 200000 is zero"):
        source(tmp_path, b"a" * 200_000 + b"\0")


def test_one_damaged_byte_does_not_change_the_encoding(tmp_path):
    result = source(tmp_path, "größer\n".encode() * 20 + b"bad \xff byte\n")

    assert result.encoding.name == "utf-8" and "\udcff" in list(result.lines())[-1]


def test_a_missing_file_and_a_folder_say_so(tmp_path):
    with pytest.raises(ImportFailed, match="none.txt"):
        Source(tmp_path / "none.txt")
    with pytest.raises(ImportFailed, match="folder"):
        Source(tmp_path)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no named pipes here")
    os.mkfifo(tmp_path / "pipe.csv")

    with pytest.raises(ImportFailed, match="pipe or a device"):
        Source(tmp_path / "pipe.csv")


def test_a_preview_reads_the_first_line_whole_and_not_the_file_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.importers.source.LOOK", 1000)
    path = tmp_path / "t.txt"
    path.write_text("a" * 5000 + "\nb\n")
    assert (
        list(Source(path, scan=4096).lines()) == ["a" * 5000]
        and len(list(Source(path).lines())) == 2
    )

    path.write_text("short\n" * 1000)
    assert len(list(Source(path, scan=4096).lines())) == 167 == 1000 // 6 + 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_chosen_wrongly_is_reported(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("schön,gut\nübel,schlecht\n".encode("latin-1"))

    for look in (Source.head, Source.text, lambda source: list(source.lines())):
        with pytest.raises(ImportFailed, match=f"is not valid {encoding}"):
            look(Source(path, encoding))


def xml(encoding, word):
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<p>In {word} ist es.</p>\n'
    return text.encode("latin-1" if encoding == "x-none" else encoding)


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("ISO-8859-2", "Łódź"), ("windows-1251", "Москва"), ("Shift_JIS", "東京"), ("Big5", "台北"),
     ("ISO-8859-15", "Bœuf"), ("ISO-8859-1", "Köln"), ("x-none", "Köln")],
)  # fmt: skip
def test_an_xml_file_that_is_not_utf8_has_the_encoding_that_it_declares(tmp_path, encoding, word):
    assert word in source(tmp_path, xml(encoding, word)).text()


def test_an_encoding_that_was_declared_but_not_used_is_ignored(tmp_path):
    content = xml("UTF-8", "Köln").replace(b"UTF-8", b"Shift_JIS")

    assert "Köln" in source(tmp_path, content).text()
