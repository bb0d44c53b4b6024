"""In a pseudo-language no text of the window stays English: every text passes `_()`.

Texts of an untrusted project are shown verbatim and cause no file to be read.
"""

from pathlib import Path

import pytest

from tests.golden import records
from tests.ui.hostile import remover, texts, walked
from tests.ui.pseudo import Pseudo, plain


def test_the_language_changes_letters_and_leaves_places():
    language = Pseudo()

    assert language.gettext("{n:,} of {{ text }} &Open…") == "{n:,} ое {{ text }} ＆Опдн…".replace(
        "＆", "&"
    )
    language.gettext(language.gettext("Open"))
    assert language.twice == {"Опдн"}


@pytest.mark.parametrize(
    "text", ["saved", "тахдг today", "Αθήνα, submitted", "3 documents", "Loading ONNX"]
)
def test_words_that_did_not_pass_are_seen(text):
    assert plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "тахдг",
        "Αθήνα",
        "3.4 MB",
        "Ctrl+Shift+E",
        "starter-bert",
        "/tmp/a.glossbench",
        "B-άτομο 90",
        "F8",
    ],
)
def test_names_and_units_are_no_words(text):
    assert not plain(text)


@pytest.mark.parametrize(
    ("shown", "place", "left"),
    [
        ("Delete {0}", "data", "Delete ω"),
        ("Delete {1}.csv", "data", "Delete ω.csv"),
        ("Label: {2}…", "models", "Label: …"),
        ("can", "tokenizers, tab 2", ""),
        ("Can", "tokenizers, tab 2", "Can"),
        ("can", "models", "can"),
    ],
)
def test_only_texts_of_the_project_are_left_out(qapp, shown, place, left):
    long, short = texts(Path("/h/canary.png"))

    assert remover((long, short))(shown.format(long, short, long[:9]), place) == left


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_stays_english_and_texts_of_a_project_are_shown_as_they_are():
    """One walk through the window shows both, as building every page and dialog takes time.

    The texts look like HTML; an image that they name is not read.
    """
    loaded = walked()

    assert loaded["english"] == {}
    # a text that is translated twice would be looked up in its own translation
    assert loaded["twice"] == []
    assert loaded["altered"] == {}
    assert loaded["tips"] > 50  # tooltips with a text of the project were read
    assert records.difference("places", loaded["places"]) == ""
