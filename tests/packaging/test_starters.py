"""The models that ship: every family has one, small enough, usable offline, with a card."""

import pytest

from tests.starters import SHIPPED, STARTERS
from workbench.base import paths
from workbench.base.registry import registry
from workbench.models import spec

OTHERS = ("starter-bert", "starter-gpt")  # not pretrained with Glossbench itself
MOST = 110_000_000  # bytes of all together


def test_every_family_has_a_starter_and_each_has_a_complete_card():
    cards = spec.starters()

    assert tuple(card.name for card in cards) == SHIPPED
    assert {card.family for card in cards} == set(registry().ids("family"))
    for card in cards:
        assert card.usable and card.licence, card.name
        assert (card.parameters > 100_000) == (card.name in STARTERS)


def test_together_they_are_small_enough_for_the_wheel():
    sizes = {card.name: card.size_bytes for card in spec.starters()}

    assert sum(sizes.values()) < MOST, sizes


@pytest.mark.parametrize(
    "name", [name for name in STARTERS if name not in ("starter-bert", "starter-gpt")]
)
def test_cards_say_where_a_starter_comes_from_and_what_it_is_worth(name):
    folder = paths.resource("models") / name
    text = (folder / "README.md").read_text(encoding="utf-8")

    for word in ("Wikipedia", "CC BY-SA 3.0", "Good for", "Frozen features", "random weights"):
        assert word in text, word
    assert ("Perplexity on 66 held-out articles" in text) != ("Spearman" in text)


@pytest.mark.parametrize("name", STARTERS)
def test_no_starter_has_files_that_it_does_not_need(name):
    files = {path.name for path in (paths.resource("models") / name).iterdir()}

    assert not {name for name in files if name.startswith(".")}
    assert "pretraining.json" not in files
