"""Subwords keep their offsets in the text, whatever the script."""

import pytest

from workbench.base import paths
from workbench.base.errors import ModelError
from workbench.runtime.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def bert():
    return Tokenizer.load(paths.resource("models") / "starter-bert")


@pytest.fixture(scope="module")
def gpt():
    return Tokenizer.load(paths.resource("models") / "starter-gpt")


def covered(encoded, text):
    return [
        text[start:end]
        for (start, end), which in zip(encoded.offsets, encoded.text, strict=True)
        if which == 0
    ]


def test_offsets_are_code_points_after_an_emoji(bert):
    text = "🚋 Obama in Zürich"

    encoded, cut = next(iter(bert.whole([(text,)], 64)))

    assert "".join(covered(encoded, text)).replace("🚋", "") == "ObamainZürich" and not cut
    assert (encoded.ids[0], encoded.ids[-1]) == (101, 102)
    assert encoded.text[[0, -1]].tolist() == [-1, -1]


def test_a_long_text_is_cut_and_says_so(bert):
    (short, cut_short), (long, cut_long) = bert.whole([("late",), ("word " * 900,)], 32)

    assert (len(short.ids), cut_short) == (3, False)
    assert (len(long.ids), cut_long) == (32, True)


def test_a_pair_has_two_types(bert):
    encoded, _ = next(iter(bert.whole([("a tram", "a bus")], 64)))

    assert encoded.arrays["token_type_ids"].tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert encoded.text.tolist() == [-1, 0, 0, -1, 1, 1, -1]


def test_windows_cover_the_whole_text_and_overlap(bert):
    text = " ".join(str(number) for number in range(300))

    windows = next(iter(bert.windows([text], 40, 10)))

    def seen(encoded):
        return {tuple(pair) for pair in encoded.offsets[encoded.text == 0].tolist()}

    assert len(windows) > 5 and all(len(window.ids) <= 40 for window in windows)
    whole, _ = next(iter(bert.whole([(text,)], 5000)))
    assert set.union(*map(seen, windows)) == seen(whole)
    assert windows[0].offsets[-2][1] > windows[1].offsets[1][0]


def test_an_empty_text_has_a_stand_in_where_the_tokenizer_adds_nothing(bert, gpt):
    assert len(next(iter(bert.whole([("",)], 8)))[0].ids) == 2
    assert list(next(iter(gpt.whole([("",)], 8)))[0].ids) == [gpt.fallback]


def test_a_lone_surrogate_moves_no_offset(bert):
    text = "late \ud83d tram"

    encoded, _ = next(iter(bert.whole([(text,)], 64)))

    assert covered(encoded, text)[0] == "late" and covered(encoded, text)[-1] == "tram"


def test_unknown_words_are_counted_once_each(bert, gpt):
    assert bert.unknown_share(["tram ᚠᚢᚦ", "bus 42"]) == pytest.approx(1 / 3)
    assert gpt.unknown_share(["ᚠᚢᚦ"]) == 0 and bert.unknown_share([]) == 0


def test_a_word_that_is_repeated_counts_each_time(bert):
    assert bert.unknown_share(["tram ᚠᚢᚦ", "ᚠᚢᚦ tram", "tram"]) == pytest.approx(2 / 5)


def test_a_missing_or_damaged_file_is_named(tmp_path):
    with pytest.raises(ModelError, match="tokenizer.json"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(ModelError, match="tokenizer.json"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("name", ["bert", "gpt"])
@pytest.mark.parametrize(
    "text",
    [
        "The tram is late. " * 3000,
        "x" * 60_000,
        " " * 50_000 + "late tram " * 20,
        "电车晚点了" * 8000,
        "late" + "\u200b" * 50_000,
    ],
)
def test_a_truncated_text_is_encoded_alike_however_much_follows(request, monkeypatch, name, text):
    tokenizer = request.getfixturevalue(name)

    (encoded, cut), (pair, pair_cut) = (
        next(tokenizer.whole([(text,)], 32)),
        next(tokenizer.whole([("late", text)], 32)),
    )
    monkeypatch.setattr("workbench.runtime.tokenizer.CHARACTERS_PER_SUBWORD", 10**9)
    (all_of_it, all_cut), (whole_pair, whole_cut) = (
        next(tokenizer.whole([(text,)], 32)),
        next(tokenizer.whole([("late", text)], 32)),
    )

    assert (encoded.ids.tolist(), cut, pair_cut) == (all_of_it.ids.tolist(), all_cut, whole_cut)
    assert (
        encoded.offsets.tolist() == all_of_it.offsets.tolist()
        and pair.ids.tolist() == whole_pair.ids.tolist()
    )


def test_the_rest_of_a_truncated_text_is_not_tokenized(bert, monkeypatch):
    seen = []
    encode = bert._encode
    monkeypatch.setattr(
        bert,
        "_encode",
        lambda texts, *more: seen.append(sum(map(len, texts[0]))) or encode(texts, *more),
    )

    (encoded, cut) = next(bert.whole([("a tram " * 1_000_000,)], 32))

    assert len(encoded.ids) == 32 and cut and seen == [seen[0]] and seen[0] <= 6400


@pytest.mark.parametrize(("first", "second"), [(900, 700), (700, 900), (800, 800), (900, 5)])
@pytest.mark.parametrize("most", [32, 33])
def test_a_long_pair_is_truncated_as_by_the_library(bert, first, second, most):
    pair = ("a tram to Zürich 🚋 " * first, "unbelievable buses " * second)
    bert.backend.enable_truncation(most)
    wanted = bert.backend.encode(*pair)
    bert.backend.no_truncation()

    ((encoded, cut),) = bert.whole([pair], most)

    assert encoded.ids.tolist() == wanted.ids and cut
    assert encoded.offsets.tolist() == [list(place) for place in wanted.offsets]


def test_what_is_cut_off_a_long_pair_is_not_combined(bert, monkeypatch):
    """The library returns a further encoding of every two pieces: 1,600 of this pair."""
    found = []
    encode = bert._encode
    monkeypatch.setattr(
        bert, "_encode", lambda *given: (found.append(one) or one for one in encode(*given))
    )

    list(bert.whole([("a tram " * 300, "a bus " * 300)], 32))

    assert [len(encoding.overflowing) < 30 for encoding in found] == [True]


def test_long_texts_go_to_the_library_a_few_at_a_time(bert):
    from workbench.runtime.tokenizer import _bundles

    assert [len(bundle) for bundle in _bundles([("a" * 600_000,)] * 3 + [("b",)] * 600)] == [
        1,
        1,
        512,
        89,
    ]


def test_a_book_is_encoded_in_parts_with_the_offsets_of_the_whole(bert, monkeypatch):
    text = "Zürich 🚋 is late. " * 100
    whole = next(bert.windows([text], 40, 10))
    monkeypatch.setattr("workbench.runtime.tokenizer.CHARACTERS", 500)

    parts, short = bert.windows([text, "late"], 40, 10)

    def places(windows):
        return {
            (int(id), *pair)
            for window in windows
            for id, pair in zip(
                window.ids[window.text == 0], window.offsets[window.text == 0].tolist(), strict=True
            )
        }

    assert places(parts) == places(whole)
    assert len(short) == 1 and len(short[0].ids) == 3


def test_the_tokens_of_a_text_name_their_ids_and_the_reserved_ones(bert, gpt):
    assert bert.tokens("a tram") == [
        ("[CLS]", 101, True),
        ("a", 1037, False),
        ("tram", 12517, False),
        ("[SEP]", 102, True),
    ]
    text = "Late 🌱 שלום"
    tokens = gpt.tokens(text)
    assert "".join(content for content, _id, _reserved in tokens) == text
    assert [id for _content, id, _reserved in tokens] == gpt.backend.encode(text).ids
    assert gpt.tokens("<|endoftext|>") == [("<|endoftext|>", 0, True)]
    assert len(bert.tokens("a tram", added=False)) == 2
