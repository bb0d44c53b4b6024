"""Near-duplicates: equal to a comparison of all pairs; each reported similarity is exact."""

import random
from itertools import combinations

import numpy as np
import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.text.similar import near_duplicates
from workbench.text.similar.near_duplicates import (
    DisjointSets,
    NearDuplicates,
    bands_of,
    missed,
    tokens,
)


def shingles(text, size=2):
    found = tokens(text)
    return {tuple(found[at : at + size]) for at in range(max(1, len(found) - size + 1))}


def similarity(item, other):
    first, second = shingles(item), shingles(other)
    return len(first & second) / len(first | second)


def links_of(texts, folder, *, threshold=0.8, size=2, batch=7):
    folder.mkdir(exist_ok=True)
    index = NearDuplicates(folder, threshold=threshold, size=size)
    for start in range(0, len(texts), batch):
        index.add([(text,) for text in texts[start : start + batch]])
    return list(index.links())


def changed_texts(count, seed=1):
    """Texts of 8 to 20 words, and versions of some of them with one or two other words."""
    choose = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(300)]
    texts = [" ".join(choose.choices(vocabulary, k=choose.randint(8, 20))) for _ in range(count)]
    for text in texts[: count // 3]:
        found = text.split()
        for _ in range(choose.randint(1, 2)):
            found[choose.randrange(len(found))] = "other"
        texts.append(" ".join(found))
    return texts


@pytest.mark.parametrize("threshold", [0.4, 0.6, 0.8])
def test_groups_are_those_of_comparing_all_pairs(tmp_path, threshold):
    texts = changed_texts(150)
    near = {
        (a, b): similarity(texts[a], texts[b])
        for a, b in combinations(range(len(texts)), 2)
        if similarity(texts[a], texts[b]) >= threshold
    }

    links = links_of(texts, tmp_path, threshold=threshold)

    joined, expected = DisjointSets(len(texts)), DisjointSets(len(texts))
    for a, b, found in links:
        assert near[a, b] == pytest.approx(found)
        joined.join(a, b)
    for pair in near:
        expected.join(*pair)
    heads = [joined.head(n) for n in range(len(texts))]
    assert heads == [expected.head(n) for n in range(len(texts))] and len(links) > 5


def test_case_punctuation_and_spaces_make_no_difference(tmp_path):
    texts = ["The 42 tram, was LATE!", "the 42  tram was late", "another text"]

    assert links_of(texts, tmp_path) == [(0, 1, 1.0)]


def test_short_empty_and_wordless_texts(tmp_path):
    texts = ["ok", "OK.", "", " ", "!!!", "???", "ok fine"]

    assert links_of(texts, tmp_path) == [(0, 1, 1.0), (2, 3, 1.0)]


def test_scripts_without_spaces_and_right_to_left(tmp_path):
    texts = [
        "我今天坐电车去学校上课很晚",
        "我今天坐电车去学校下课很晚",
        "עדה נסעה ברכבת לעיר הגדולה",
        "עדה נסעה ברכבת לעיר הגדולה!",
    ]

    links = links_of(texts, tmp_path, threshold=0.6)

    assert sorted(pair[:2] for pair in links) == [(0, 1), (2, 3)]


def test_the_texts_of_a_document_are_compared_in_order(tmp_path):
    index = NearDuplicates(tmp_path, threshold=0.9)
    index.add([("a b c", "d e f"), ("d e f", "a b c"), ("a b c", "d e f"), ("a b c d e f",)])

    assert [(a, b) for a, b, _s in index.links()] == [(0, 2)]


def test_a_bucket_of_many_equal_texts_is_joined_without_comparing_all(tmp_path, monkeypatch):
    asked = []
    whole = NearDuplicates.similarity
    monkeypatch.setattr(
        NearDuplicates, "similarity", lambda *all: asked.append(all[1:]) or whole(*all)
    )

    links = links_of(["the same text every time"] * 300, tmp_path, batch=100)

    assert len(links) == 299 and len(asked) == 299


def test_nothing_and_a_single_text(tmp_path):
    assert links_of([], tmp_path / "a") == [] and links_of(["x"], tmp_path / "b") == []


def test_results_do_not_depend_on_batches_and_forgotten_words(tmp_path, monkeypatch):
    texts = changed_texts(40)
    expected = links_of(texts, tmp_path / "a", batch=100)
    monkeypatch.setattr(near_duplicates, "MAX_CACHED_WORDS", 20)

    assert links_of(texts, tmp_path / "b", batch=3) == expected


def test_the_search_can_be_cancelled(tmp_path):
    index = NearDuplicates(tmp_path)
    index.add([("a b",), ("a b",)])
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        list(index.links(watch=watch))


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9, 1.0])
def test_bands_miss_one_pair_in_a_thousand_at_the_threshold(threshold):
    bands, rows = bands_of(threshold)

    assert (
        missed(threshold, bands, rows) <= 1e-3
        and bands * rows <= near_duplicates.MAX_SIGNATURE_ROWS
    )
    assert missed(threshold / 2, bands, rows) > 0.4  # few candidates far below it


def test_signatures_estimate_the_similarity(tmp_path):
    """The share of equal bands is near similarity ** rows (Broder 1997), here of 400 pairs."""
    choose = random.Random(3)
    pairs = []
    for number in range(400):
        base = [f"{number}-{at}" for at in range(21)]
        changed = list(base)
        changed[choose.randrange(1, 20)] = "x"  # 2 of 20 shingles: 18 of 22 are common
        pairs += [" ".join(base).replace("-", "x"), " ".join(changed).replace("-", "x")]
    index = NearDuplicates(tmp_path, threshold=0.8)
    index.add([(text,) for text in pairs])

    shares = []
    for band in range(index.bands):
        keys = np.fromfile(tmp_path / f"band-{band}", dtype=np.uint64)
        shares.append(float((keys[::2] == keys[1::2]).mean()))

    assert np.mean(shares) == pytest.approx((18 / 22) ** index.rows, abs=0.03)
