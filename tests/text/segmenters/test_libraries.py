"""Segmenters of optional libraries give offsets in code points."""

import pytest

from workbench.text.segmenters.built_in import Characters, Rules, offsets

THAI = "😀 รถไฟฟ้ามาสาย"  # an emoji of two UTF-16 units; "the train comes late"


def words(segmenter, text):
    return [text[start:end] for start, end in segmenter.words(text)]


def test_parts_that_are_joined_give_offsets_without_white_space():
    assert offsets(["ab", "  ", "c", "\n"]) == [(0, 2), (4, 5)]


def test_rules_split_at_spaces_and_characters_everywhere():
    assert words(Rules(), "don't go 地铁") == ["don", "'", "t", "go", "地", "铁"]
    assert words(Characters(), "go 👍🏽 ที่") == ["g", "o", "👍🏽", "ที่"]


def test_icu_finds_words_with_its_dictionaries():
    pytest.importorskip("icu4py")
    from workbench.text.segmenters.built_in import Icu

    assert words(Icu(), THAI) == ["😀", "รถไฟฟ้า", "มา", "สาย"]
    assert words(Icu(), "今日は電車が遅れた。") == ["今日", "は", "電車", "が", "遅れ", "た", "。"]


def test_newmm_finds_thai_words():
    pytest.importorskip("pythainlp")
    from workbench.text.segmenters.built_in import Newmm

    assert words(Newmm(), THAI) == ["😀", "รถไฟฟ้า", "มาสาย"]
