"""Subwords keep their borders in the text, whatever the script."""

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


def covered(piece, text):
    return [text[start:end] for (start, end), which in zip(piece.borders, piece.text, strict=True) if which == 0]


def test_borders_are_code_points_after_an_emoji(bert):
    text = "🚋 Obama in Zürich"

    piece, cut = next(iter(bert.whole([(text,)], 64)))

    assert "".join(covered(piece, text)).replace("🚋", "") == "ObamainZürich" and not cut
    assert piece.ids[0] == 101 and piece.ids[-1] == 102 and list(piece.text[[0, -1]]) == [-1, -1]


def test_a_long_text_is_cut_and_says_so(bert):
    (short, cut_short), (long, cut_long) = bert.whole([("late",), ("word " * 900,)], 32)

    assert (len(short.ids), cut_short) == (3, False)
    assert (len(long.ids), cut_long) == (32, True)


def test_a_pair_has_two_types(bert):
    piece, _ = next(iter(bert.whole([("a tram", "a bus")], 64)))

    assert list(piece.types) == [0, 0, 0, 0, 1, 1, 1] and list(piece.text) == [-1, 0, 0, -1, 1, 1, -1]


def test_windows_cover_the_whole_text_and_overlap(bert):
    text = " ".join(str(number) for number in range(300))

    windows = next(iter(bert.windows([text], 40, 10)))

    assert len(windows) > 5 and all(len(one.ids) <= 40 for one in windows)
    seen = {tuple(border) for one in windows for border in one.borders[one.text == 0].tolist()}
    whole, _ = next(iter(bert.whole([(text,)], 5000)))
    assert seen == {tuple(border) for border in whole.borders[whole.text == 0].tolist()}
    assert windows[0].borders[-2][1] > windows[1].borders[1][0]


def test_an_empty_text_has_a_stand_in_where_the_tokenizer_adds_nothing(bert, gpt):
    assert len(next(iter(bert.whole([("",)], 8)))[0].ids) == 2
    assert list(next(iter(gpt.whole([("",)], 8)))[0].ids) == [gpt.fallback]


def test_a_lone_surrogate_moves_no_border(bert):
    text = "late \ud83d tram"

    piece, _ = next(iter(bert.whole([(text,)], 64)))

    assert covered(piece, text)[0] == "late" and covered(piece, text)[-1] == "tram"


def test_unknown_words_are_counted_once_each(bert, gpt):
    assert bert.unknown_share(["tram ᚠᚢᚦ", "bus 42"]) == pytest.approx(1 / 3)
    assert gpt.unknown_share(["ᚠᚢᚦ"]) == 0 and bert.unknown_share([]) == 0


def test_a_missing_or_damaged_file_is_named(tmp_path):
    with pytest.raises(ModelError, match="tokenizer.json"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"model": 3}')
    with pytest.raises(ModelError, match="tokenizer.json"):
        Tokenizer.load(tmp_path)
