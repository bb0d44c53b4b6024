"""The text rules of fastai: units, marks and offsets in the original text."""

import json
from pathlib import Path

import pytest

from workbench.runtime.preparers import fastai_rules

DATA = Path(__file__).parents[2] / "data" / "awd_lstm"
RULES = json.loads((DATA / "rules.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", RULES, ids=lambda case: case["text"][:20])
def test_units_are_those_of_fastai(case):
    # written by fastai 2.8, see tests/data/awd_lstm/make.py
    text = case["text"]

    units = fastai_rules.units(text, fastai_rules.split(text), fastai_rules.NEW)

    # spaCy leaves a space at some line breaks
    expected = [token.rstrip(" ") for token in case["tokens"]]
    assert ["xxbos", *(word for word, _span in units)] == expected


def test_offsets_are_those_of_the_original_text_and_marks_have_none():
    text = "Hello WORLD!!!! &lt;b&gt; no... it's very very very ok"

    units = fastai_rules.units(text, fastai_rules.split(text), fastai_rules.NEW)

    result = [(word, text[span[0] : span[1]]) for word, span in units if span]
    assert result == [
        ("hello", "Hello"), ("world", "WORLD"), ("!", "!!!!"), ("<", "&lt;"), ("b", "b"),
        (">", "&gt;"), ("no", "no"), ("…", "..."), ("it", "it"), ("'s", "'s"),
        ("very", "very very very"), ("ok", "ok"),
    ]  # fmt: skip
    marks = [word for word, span in units if span is None]
    assert marks == ["xxmaj", "xxup", "xxrep", "4", "xxwrep", "3"]


def test_the_older_rules_mark_long_words_in_capitals_and_no_capitalized_ones():
    # fastai 0.7: Tokenizer.do_caps and proc_text
    text = "Hello US NATO !!! !!!!"

    units = fastai_rules.units(text, fastai_rules.split(text), fastai_rules.OLD)

    words = [word for word, _span in units]
    assert words == ["hello", "us", "t_up", "nato", "!", "!", "!", "tk_rep", "4", "!"]
