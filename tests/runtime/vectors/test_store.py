"""The index of a file of vectors: equal to what gensim reads, made once, and its errors."""

import os

import numpy as np
import pytest

from tests.vector_files import WIDTH, WORDS, binary_of, native_of, quantized_of, text_of
from workbench.base.errors import Cancelled, ModelError
from workbench.base.watch import Watch
from workbench.runtime.vectors import store, writing

PLAIN = ("words.bin", "words.txt", "glove.txt", "words.vec")


@pytest.mark.parametrize("name", PLAIN)
def test_every_format_gives_the_same_words_and_vectors(written, values, name):
    opened = store.open_file(written[name])

    assert [opened.words.word(row) for row in range(len(opened.words))] == list(WORDS)
    assert np.array_equal(opened.rows, values)


@pytest.mark.parametrize("name", ("skipgram.bin", "skipgram.txt", "skipgram.glove.txt"))
def test_published_formats_equal_gensim(data_folder, name):
    from gensim.models import KeyedVectors

    path = data_folder / "vectors" / name
    expected = KeyedVectors.load_word2vec_format(
        path, binary=path.suffix == ".bin", no_header="glove" in name
    )

    opened = store.open_file(path)

    assert np.array_equal(opened.table(), expected.vectors)
    assert [opened.words.word(row) for row in range(len(opened.words))] == expected.index_to_key


def test_vectors_of_a_fasttext_file_equal_gensim_in_and_out_of_the_vocabulary(data_folder):
    from gensim.models.fasttext import load_facebook_vectors

    path = data_folder / "vectors" / "fasttext.bin"
    expected = load_facebook_vectors(path)

    opened = store.open_file(path)

    assert np.allclose(opened.table(), expected.vectors, atol=2e-6)
    first = len(opened.words)
    for word in ("kingdomlike", "Größe", "日本語", "a" * 40):
        rows = [first + row for row in opened.ngrams.rows(word)]
        assert np.allclose(opened.rows[rows].mean(0), expected[word], atol=1e-6)


def test_binary_files_without_line_ends_are_read(tmp_path, values):
    path = tmp_path / "a.bin"
    path.write_bytes(binary_of(values, newline=b""))

    assert np.array_equal(store.open_file(path).rows, values)


def test_words_of_glove_may_contain_spaces(tmp_path, values):
    path = tmp_path / "a.txt"
    path.write_text(text_of(values, words=("the", ". . .", "at b@c.d", "a", "b", "c", "d")))

    opened = store.open_file(path)

    assert opened.words.row(". . .") == 1
    assert opened.words.row("at b@c.d") == 2


def test_spaces_at_line_ends_tabs_and_blank_lines_are_accepted(tmp_path, values):
    path = tmp_path / "a.txt"
    lines = text_of(values).splitlines()
    path.write_text(
        "\r\n".join([lines[0], lines[1] + " ", lines[2].replace(" ", "\t"), *lines[3:]]) + "\n\n"
    )

    assert np.array_equal(store.open_file(path).rows, values)


def test_the_index_is_made_once_and_anew_after_a_change(written, values):
    path = written["words.txt"]
    first = store.open_file(path)

    assert store.is_indexed(path)
    assert store.open_file(path).entry == first.entry
    path.write_text(text_of(-values))
    os.utime(path, ns=(1, 1))
    assert not store.is_indexed(path)
    assert np.array_equal(store.open_file(path).rows, -values)
    assert not first.entry.exists()  # the file has changed


def test_changes_in_memory_reach_neither_the_index_nor_the_file(written, values):
    store.open_file(written["words.bin"]).rows[:] = 0

    assert np.array_equal(store.open_file(written["words.bin"]).rows, values)


def test_a_cancelled_index_leaves_nothing(written):
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        store.open_file(written["words.bin"], watch)
    assert list(store.root().iterdir()) == []


def test_a_full_disk_is_reported_before_anything_is_written(written, monkeypatch):
    monkeypatch.setattr(store.shutil, "disk_usage", lambda _path: type("U", (), {"free": 10}))

    with pytest.raises(ModelError, match="only 10 bytes are free"):
        store.open_file(written["words.bin"])


def error_of(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelError) as raised:
        store.open_file(path)
    assert list(store.root().iterdir()) == []
    return raised.value.message


def test_a_line_of_wrong_width_is_named(tmp_path, values):
    lines = text_of(values).splitlines()
    short = [*lines[:3], lines[3].rsplit(" ", 1)[0], *lines[4:]]
    long = [*lines[:3], lines[3] + " 0.5", *lines[4:]]

    assert error_of(tmp_path / "a.txt", "\n".join(short).encode()).endswith(
        f"line 4 has {WIDTH - 1} numbers, expected {WIDTH}."
    )
    assert error_of(tmp_path / "b.txt", "\n".join(long).encode()).endswith(
        f"line 4 has {WIDTH + 1} numbers, expected {WIDTH}."
    )


@pytest.mark.parametrize("value", ("x1", "nan", "1e99"))
def test_a_value_that_is_no_finite_number_is_named(tmp_path, values, value):
    lines = text_of(values).splitlines()
    lines[5] = lines[5].rsplit(" ", 1)[0] + " " + value

    error = error_of(tmp_path / "a.txt", "\n".join(lines).encode())

    assert error.endswith(f"line 6: '{value}' is not a number.")


# word2vec cuts long words at a byte limit: gensim, unicode_errors of load_word2vec_format
@pytest.mark.parametrize("write", [text_of, binary_of])
def test_words_that_are_no_utf8_are_loaded_and_counted(tmp_path, values, write):
    content = write(values)
    content = content if isinstance(content, bytes) else content.encode()
    path = tmp_path / ("a.bin" if write is binary_of else "a.vec")
    path.write_bytes(content.replace("é ".encode(), b"\xe9 "))

    words = store.open_file(path).words

    assert words.word(5).startswith("\ufffd") and words.damaged() == 1


def test_a_file_in_another_encoding_is_refused(tmp_path):
    lines = [f"é{n} 0.1 0.2 0.3 {'0.4 ' * 30}".rstrip() for n in range(200)]

    error = error_of(tmp_path / "a.txt", "\n".join(lines).encode("latin-1"))

    assert error.endswith("200 words are not valid UTF-8.")


@pytest.mark.parametrize("write", [text_of, binary_of, lambda rows: text_of(rows, header=False)])
def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path, values, write):
    content = write(values)
    content = content if isinstance(content, bytes) else content.encode()
    path = tmp_path / ("a.bin" if write is binary_of else "a.vec")
    path.write_bytes(b"\xef\xbb\xbf" + content)

    opened = store.open_file(path)

    assert opened.words.word(0) == WORDS[0] and opened.words.damaged() == 0
    assert opened.starts[0] == content.index(WORDS[0].encode()) + len(WORDS[0].encode()) + 4


def test_cut_characters_of_binary_files_are_kept(tmp_path, values):
    path = tmp_path / "a.bin"
    path.write_bytes(binary_of(values).replace("é ".encode(), b"\xc3Z "))

    assert store.open_file(path).words.word(5) == "\ufffdZ"


def test_a_wrong_number_of_words_is_reported(tmp_path, values):
    text, binary = text_of(values).encode(), binary_of(values)

    assert "holds 7 words, but its first line gives 6" in error_of(
        tmp_path / "a.txt", b"6" + text[1:]
    )
    assert "longer than its first line says (number of words: 6)" in error_of(
        tmp_path / "a.bin", b"6" + binary[1:]
    )


def test_values_of_binary_files_that_are_not_finite_are_reported(tmp_path, values):
    values[2, 1] = np.inf

    assert "the vector of 'dog' has values that are not finite" in error_of(
        tmp_path / "a.bin", binary_of(values)
    )


def test_quantized_fasttext_files_are_rejected(tmp_path, values, grams):
    for content in (native_of(values, grams, quantized=1), quantized_of()):
        assert "is a quantized fastText model" in error_of(tmp_path / "a.bin", content)


@pytest.mark.parametrize("name", (*PLAIN, "native.bin"))
def test_a_written_file_differs_in_the_changed_vectors_alone(written, tmp_path, name):
    opened = store.open_file(written[name])
    expected = np.array(opened.rows)
    last = len(expected) - 1
    expected[1], expected[last] = 0.25, -1e-7

    out = tmp_path / "out"
    out.mkdir()
    changed = [(1, expected[1]), (last, expected[last])]
    target = writing.write(opened, changed, out)

    assert np.array_equal(store.open_file(target).rows, expected)
    same = writing.write(opened, [], tmp_path / "out")
    assert same.read_bytes() == written[name].read_bytes()


def test_a_file_that_changed_since_it_was_opened_is_not_copied(written, tmp_path):
    opened = store.open_file(written["words.txt"])
    written["words.txt"].write_text("the 1 2 3 4\n")

    with pytest.raises(ModelError, match="was changed or deleted"):
        writing.write(opened, [], tmp_path / "out")
