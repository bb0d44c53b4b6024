"""Formats of a locale: in Germany, the decimal separator is a comma."""

import time

import pytest
from PySide6.QtCore import QLocale

from workbench.base.i18n import _, ngettext
from workbench.ui.style import formats, locale


@pytest.fixture
def german():
    formats.use(locale.LocaleFormats(QLocale("de_DE")))
    yield
    formats.use(formats.Plain())


def test_numbers_sizes_and_shares(german):
    assert formats.count(1234567) == "1.234.567"
    assert formats.decimal(1234.56, 1) == "1234,6"
    assert formats.significant(0.00123456, 3) == "0,00123"
    assert formats.points(0.8861) == "88,6"
    assert [formats.size(item) for item in (46_501_823, 268_000_000)] == ["46,5 MB", "268 MB"]


def test_moments(german):
    now = time.mktime((2026, 11, 18, 12, 0, 0, 0, 0, -1))

    assert formats.when(now - 3600, now, brief=True) == "11:00"
    assert formats.when(now - 400 * 86400, now) == "14.10.25"


def test_numbers_in_sentences(german):
    message = ngettext("{n:,} document", "{n:,} documents", 1234)

    assert message.format(n=1234) == "1.234 documents"
    assert _("{share:.1f}% of {all:,}").format(share=12.5, all=2000) == "12,5% of 2.000"
    assert _("{rate:g} at {share:.0%}").format(rate=0.5, share=0.25) == "0,5 at 25%"


def test_ids_and_words_in_sentences_stay_as_they_are(german):
    message = _("Run {id}: {name} {flag} {number:>3}")

    assert message.format(id=12345, name="a,b", flag=True, number=1.5) == (
        "Run 12345: a,b True 1.5"
    )


def test_numpy_numbers_are_numbers(german):
    np = pytest.importorskip("numpy")

    assert formats.count(np.int64(12345)) == "12.345"
    assert formats.decimal(np.float32(0.5), 2) == "0,50"
    assert _("{n:,}").format(n=np.int64(12345)) == "12.345"


def test_english_numbers_are_those_without_a_locale():
    english, plain = locale.LocaleFormats(QLocale("en_US")), formats.Plain()

    for value, spec in (
        (1234567, ","),
        (-1234, ","),
        (1234.56, ".1f"),
        (1234.56, ",.1f"),
        (0.25, ".0%"),
        (2e-5, "g"),
        (2e-5, ".1e"),
        (0.5, "+.1f"),
        (-0.5, "+.1f"),
        (0.5, ".3g"),
        (7, "d"),
    ):
        assert english.number(value, spec) == plain.number(value, spec)
    for size in (0, 999, 1500, 46_501_823, 13_500_000_000):
        assert english.size(size, 1) == plain.size(size, 1)


def test_the_locale_c_leaves_the_formats_as_they_are(monkeypatch):
    monkeypatch.setattr(QLocale, "system", lambda: QLocale.c())
    locale.use_system()

    assert formats.count(1234) == "1,234" and _("{n:,}").format(n=1234) == "1,234"
