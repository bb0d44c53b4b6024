"""Script and language of texts, with sentences of the Universal Declaration of Human Rights."""

import pytest

from workbench.text.language import language_of, matches

SENTENCES = {
    "en": "Everyone has the right to life, liberty and security of person. It is for all of us.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit der "
    "Vernunft und dem Gewissen begabt.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits, dans la "
    "fraternité des hommes.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y deben "
    "comportarse con los otros como en la familia.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Это не так.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Це є про нас.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι.",
    "zh": "人人生而自由,在尊严和权利上一律平等。",
    "ja": "すべての人間は、生まれながらにして自由である。",
    "ko": "모든 인간은 태어날 때부터 자유로우며",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระ",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_language_is_recognized_by_script_and_frequent_words(language):
    assert language_of([SENTENCES[language]])[1] == language


def test_what_is_not_recognized_is_unknown():
    assert language_of(["xylophone zebra quartz"]) == ("Latin", "")
    assert language_of(["12 + 3 = 15 !"]) == ("", "") == language_of([])


def test_a_model_fits_where_nothing_speaks_against_it():
    assert matches(("en",), "Latin", "en") and not matches(("en",), "Latin", "de")
    assert matches(("en-GB", "de"), "Latin", "de") and matches((), "Thai", "th")
    assert matches(("mul",), "Thai", "th") and matches(("en",), "", "")
    assert matches(("en",), "Latin", "") and not matches(("en",), "Cyrillic", "")
