"""Texts without tokens get the words of a segmenter of the registry."""

import sys

import pytest

from workbench.base.errors import ModelError, SpecError
from workbench.text.document import Document
from workbench.text.segmenters import base

MIXED = Document(
    "1",
    (("text", "地铁 ok"), ("text_b", "a b")),
    tokens={"text_b": ((0, 3),)},
)


class Pairs:
    """Words of two characters."""

    def __init__(self, *words):
        self.given = words

    def words(self, text):
        return self.given


def test_only_texts_without_tokens_are_segmented():
    (found,) = base.segmented([MIXED], "characters")

    assert found.tokens == {"text": ((0, 1), (1, 2), (3, 4), (4, 5)), "text_b": ((0, 3),)}
    assert found.texts == MIXED.texts and MIXED.tokens == {"text_b": ((0, 3),)}


def test_the_default_leaves_documents_as_they_are():
    assert base.segmented([MIXED], base.DEFAULT) == [MIXED]


@pytest.mark.parametrize("words", [((0, 6),), ((2, 3), (0, 1)), ((1, 1),), ((0, 2), (1, 3))])
def test_words_that_do_not_fit_the_text_are_refused(monkeypatch, words):
    monkeypatch.setattr(base, "load", lambda id: Pairs(*words))

    with pytest.raises(SpecError, match="my.pairs returned the word") as caught:
        base.segmented([Document("1", (("text", "地铁 ok"),))], "my.pairs")

    assert "must not overlap" in caught.value.hint


def test_a_segmenter_that_returns_strings_is_refused(monkeypatch):
    monkeypatch.setattr(base, "load", lambda id: Pairs("地铁", "ok!"))

    with pytest.raises(SpecError, match="my.pairs returned .*, expected pairs") as caught:
        base.segmented([Document("1", (("text", "地铁 ok"),))], "my.pairs")

    assert "error of the plugin my" in caught.value.hint


def test_a_segmenter_that_is_not_installed_is_named_with_what_to_do():
    with pytest.raises(ModelError, match=r"'my\.pairs' is not installed") as caught:
        base.load("my.pairs")

    assert "Enable the plugin" in caught.value.hint and "rules" in caught.value.hint


@pytest.mark.parametrize(("id", "package"), [("icu", "icu4py"), ("newmm", "pythainlp")])
def test_a_missing_package_is_named_with_its_installation(monkeypatch, id, package):
    base._segmenter.cache_clear()
    for name in (package, f"{package}.breakers", f"{package}.tokenize"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(ModelError, match=f"needs the Python package {package}") as caught:
        base.load(id)

    assert "extra “segmenters”" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("รถไฟฟ้ามาสายอีกแล้ว", ": icu, newmm."),
        ("地铁今天又晚点了", ": icu."),
        ("今日は電車がまた遅れた。", ": icu."),
        ("The tram was late.", ""),
        ("전차가 또 늦었다.", ""),
    ],
)
def test_texts_without_spaces_get_a_hint_that_names_what_fits_the_language(
    monkeypatch, text, names
):
    monkeypatch.setattr(base, "missing", lambda id: "")
    documents = [Document("1", (("text", text),))] * 3

    found = base.hint(documents, base.DEFAULT)

    assert found.endswith(names) and bool(found) == bool(names)
    assert base.hint(documents, "icu") == ""


def test_texts_with_tokens_and_few_foreign_letters_get_no_hint():
    given = Document("1", (("text", "地铁晚点"),), tokens={"text": ((0, 2), (2, 4))})
    few = [Document("1", (("text", "地铁"),)), *[Document("2", (("text", "late"),))] * 9]

    assert base.hint([given], base.DEFAULT) == base.hint(few, base.DEFAULT) == ""


def test_names_in_another_script_do_not_make_texts_spaceless():
    plain = ["The tram was late again today."] * 4
    named = ["The tram of the driver 李娜 was late.", "李娜, the driver of the tram, was late."]
    texts = ["地铁又晚点了。", "我用 PyTorch 训练了一个很小的模型。", "รถไฟฟ้ามาสายอีกแล้ว 10 นาที"]

    assert base.advice(named) is None and base.advice([*plain, named[0]]) is None
    assert all(base.advice([text]) is not None for text in texts)
    assert base.advice([*plain, texts[0]]) is not None


def test_the_first_segmenter_that_is_installed_is_the_remedy(monkeypatch):
    lacking = {"icu": "icu4py"}
    monkeypatch.setattr(base, "missing", lambda id: lacking.get(id, ""))
    texts = ["รถไฟฟ้ามาสายอีกแล้ว"]

    assert base.advice(texts) == base.SegmenterAdvice(("icu", "newmm"), "newmm")
    lacking["newmm"] = "pythainlp"
    found = base.advice(texts)
    assert (found.remedy, found.package) == ("", "icu4py")
    assert "icu, newmm. icu needs the package icu4py. " in found.message
    assert found.message.endswith("“Optional packages” in the README.")
    assert base.advice(["late"]) is None and base.advice([]) is None
