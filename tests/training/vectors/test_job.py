"""Training of word vectors: files that gensim and Glossbench read, seeds, stop, errors."""

import lzma

import numpy as np
import pytest

from workbench.base.errors import ModelError, SpecError
from workbench.runtime.vectors import store
from workbench.training.vectors import corpus as corpora
from workbench.training.vectors import job, spec
from workbench.training.vectors.corpus import Corpus

METHODS = (("skipgram", ".bin"), ("cbow", ".txt"), ("fasttext", ".bin"), ("glove", ".txt"))
SMALL = {"dimension": 8, "min_count": 1, "epochs": 3, "window": 2}


@pytest.fixture
def text(tmp_path):
    draw = np.random.default_rng(1)
    subjects, verbs = ("Ada", "the king", "a queen"), ("met", "saw", "left")
    lines = [
        f"{draw.choice(subjects)} {draw.choice(verbs)} {draw.choice(subjects)}." for _ in range(400)
    ]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def params(text, out, method, seed=1, **more):
    given = {**SMALL, **({"buckets": 50} if method == "fasttext" else {}), **more}
    options = spec.settings(method, given)
    return {
        "inputs": [str(text)] if not isinstance(text, list) else [*map(str, text)],
        "output": str(out),
        "method": method,
        "options": options,
        "seed": seed,
    }


def finish(work, events=None):
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            return end.value
        if events is not None:
            events.append(event)


def trained(text, folder, method, suffix, **more):
    folder.mkdir()
    finish(job.run(params(text, folder / f"v{suffix}", method, **more), folder))
    return store.open_file(folder / f"v{suffix}").table()


@pytest.mark.parametrize(("method", "suffix"), METHODS)
def test_every_method_writes_vectors_and_reports_a_loss_per_epoch(text, tmp_path, method, suffix):
    events = []
    out = tmp_path / f"vectors{suffix}"

    result = finish(job.run(params(text, out, method), tmp_path), events)

    assert store.open_file(out).rows.shape[1] == 8
    assert store.open_file(out).words.row("queen") >= 0
    assert [event["loss"] for event in events if event["kind"] == "epoch"] == result["losses"]
    assert result["losses"][-1] < result["losses"][0]
    shares = [event["part"] for event in events if event["kind"] == "progress"]
    assert shares == sorted(shares) and 0 <= shares[0] <= shares[-1] <= 1
    assert (result["words"], result["dimension"], result["epochs"]) == (9, 8, 3)


@pytest.mark.parametrize(("method", "suffix"), METHODS)
def test_equal_seeds_give_equal_vectors(text, tmp_path, method, suffix):
    first = trained(text, tmp_path / "a", method, suffix, epochs=2)
    again = trained(text, tmp_path / "b", method, suffix, epochs=2)
    other = trained(text, tmp_path / "c", method, suffix, epochs=2, seed=2)

    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_stop_keeps_the_vectors_so_far_and_closing_writes_nothing(text, tmp_path):
    out = tmp_path / "v.bin"
    work = job.run(params(text, out, "skipgram", epochs=50), tmp_path)
    next(work)
    work.close()
    assert not out.exists()

    work = job.run(params(text, out, "skipgram", epochs=50), tmp_path)
    next(work)
    work.send("stop")
    result = finish(work)

    assert result["epochs"] == 1 and out.is_file()


def test_rare_words_are_left_out_and_case_can_be_kept(text, tmp_path):
    text.write_text(text.read_text() + "\nUnique\n")
    out = tmp_path / "v.txt"

    finish(job.run(params(text, out, "cbow", min_count=5, lowercase=False), tmp_path))

    words = store.open_file(out).words
    assert words.row("Ada") >= 0 and words.row("ada") < 0 and words.row("Unique") < 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "^The text contains no words"),
        (b"one two three", "Only 0 words have a frequency of at least 5"),
        (b"fine\n\xff\xfe bad\n", "line 2: the text is not valid UTF-8"),
    ],
)
def test_texts_that_cannot_be_used_are_reported(tmp_path, content, message):
    path = tmp_path / "text.txt"
    path.write_bytes(content)

    with pytest.raises(SpecError, match=message):
        finish(job.run(params(path, tmp_path / "v.bin", "skipgram", min_count=5), tmp_path))


def test_settings_are_checked(tmp_path):
    with pytest.raises(SpecError, match="glove has no option 'negatives'"):
        spec.settings("glove", {"negatives": 5})
    with pytest.raises(SpecError, match="v.bin has none of the suffixes of glove: .txt"):
        spec.check_output("glove", tmp_path / "v.bin")
    with pytest.raises(SpecError, match="There is no method 'lsa'"):
        spec.options("lsa")


def test_a_compressed_text_gives_the_same_vectors(text, tmp_path):
    packed = tmp_path / "text.txt.xz"
    packed.write_bytes(lzma.compress(text.read_bytes()))

    plain, other = (
        trained(source, tmp_path / name, "skipgram", ".bin")
        for source, name in ((text, "plain"), (packed, "packed"))
    )

    assert np.array_equal(plain, other)


def test_a_damaged_compressed_text_is_named(text, tmp_path):
    packed = tmp_path / "text.txt.xz"
    packed.write_bytes(lzma.compress(text.read_bytes())[:-40])

    with pytest.raises(SpecError, match=r"text\.txt\.xz cannot be read"):
        trained(packed, tmp_path / "out", "skipgram", ".bin")


def test_the_files_of_a_folder_are_read_as_one_text(text, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("Zeno met Ada.\nZeno left.\n", encoding="utf-8")
    events = []

    result = finish(job.run(params([text, other], tmp_path / "v.txt", "cbow"), tmp_path), events)

    written = (tmp_path / "v.txt").read_text(encoding="utf-8")
    assert "\nzeno " in written and "\nking " in written
    assert result["tokens"] > 1600
    parts = [event["part"] for event in events if event["kind"] == "progress"]
    assert parts == sorted(parts) and parts[-1] == 1


def test_words_are_counted_in_bounded_memory_and_the_rarest_left_out(tmp_path):
    source = tmp_path / "text.txt"
    rare = " ".join(f"x{number}" for number in range(60))
    source.write_text(f"late bus late bus {rare}\nlate tram\n", encoding="utf-8")
    corpus = Corpus(tmp_path / "corpus.txt")
    corpus.vocabulary.most = 20

    list(corpus.fill([source], lowercase=True))

    assert corpus.total == 66 and len(corpus.counts) <= 20
    assert corpus.frequent(1, 2) == {"late": 3, "bus": 2}


def test_a_text_on_one_line_is_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "LONGEST_LINE", 16)
    source = tmp_path / "text.txt"
    source.write_text("ää " * 20, encoding="utf-8")
    corpus = Corpus(tmp_path / "corpus.txt")

    list(corpus.fill([source], lowercase=True))

    assert corpus.counts["ää"] >= 12 and corpus.total <= 28


def test_texts_without_spaces_are_split_by_the_chosen_segmenter(tmp_path, monkeypatch):
    class Pairs:
        def words(self, text):
            return [(at, at + 2) for at in range(0, len(text) - 1, 2)]

    monkeypatch.setattr(corpora.segmenters, "load", lambda id: Pairs())
    text = tmp_path / "text.txt"
    text.write_text("地铁晚点\n今天晚点\n" * 9, encoding="utf-8")

    trained(text, tmp_path / "out", "skipgram", ".txt", segmenter="characters")

    words = (tmp_path / "out" / "v.txt").read_text("utf-8").split("\n")[1:-1]
    assert {line.split(" ")[0] for line in words} == {"地铁", "晚点", "今天"}


def test_vectors_that_were_written_otherwise_fail_and_leave_no_file(text, tmp_path, monkeypatch):
    monkeypatch.setattr(job.Glove, "save", lambda _model, path: path.write_text("Ada 0.5 0.5\n"))

    with pytest.raises(ModelError, match="cannot be read"):
        finish(job.run(params(text, tmp_path / "out.txt", "glove"), tmp_path))
    assert not list(tmp_path.glob("out*"))
