"""Backends as the window sees them."""

import pytest

from workbench.base.errors import SpecError
from workbench.base.manifest import Contribution
from workbench.base.registry import builtins
from workbench.models.spec import starters
from workbench.prompting.backends import spec
from workbench.prompting.backends.spec import AtHand, BackendInfo, PromptModel


class Info(BackendInfo):
    id, title = "made-up", "Made up"

    def models(self, at_hand):
        return [PromptModel("one", "1"), PromptModel("two", "2")]


NOTHING = AtHand((), lambda name: None)


def test_a_backend_counts_words_and_marks_unless_it_knows_better():
    measure = Info().measure(PromptModel("one", "1"), {})

    assert measure.count(["The 42 tram, late!", "", "路面電車"]) == [6, 0, 4]
    assert (measure.limit, measure.mask) == (2000, "")


def test_a_model_is_found_by_its_name_and_the_known_ones_are_named():
    assert Info().find("two", NOTHING).path == "2"

    with pytest.raises(SpecError, match="made-up has no model 'three'") as error:
        Info().find("three", NOTHING)
    assert "Known: one, two." in error.value.hint


def test_an_unknown_backend_names_the_known_ones():
    with pytest.raises(SpecError, match="no prompt backend 'x'") as error:
        spec.info("x")
    assert spec.DEFAULT in error.value.hint


def test_the_default_backend_ships_with_the_application():
    entry = builtins().entry("backend", spec.DEFAULT)

    assert isinstance(entry, Contribution) and spec.info(spec.DEFAULT).id == spec.DEFAULT


def test_of_the_models_on_this_computer_those_that_predict_words_can_be_asked():
    info = spec.info(spec.DEFAULT)
    cards = tuple(starters())

    models = info.models(AtHand(cards, lambda name: cards[0]))

    assert [model.title for model in models] == ["starter-bert (masked)", "starter-gpt (causal)"]
    assert [model.can for model in models] == [{"score"}, {*spec.ABILITIES} - {"chat"}]
    assert info.find("anything", AtHand(cards, lambda name: cards[0])).path == cards[0].path


def test_a_model_on_this_computer_is_measured_in_subwords_with_its_mask():
    info = spec.info(spec.DEFAULT)
    bert, gpt = (starter for starter in starters() if starter.tokenizer)

    measures = [info.measure(PromptModel("", item.path), {}) for item in (bert, gpt)]

    assert [measure.mask for measure in measures] == ["[MASK]", ""] and measures[0].limit == 512
    assert measures[0].count([""]) == [2]  # [CLS] [SEP]


def test_a_backend_that_returns_no_measure_is_named(monkeypatch):
    wrong = type("Wrong", (Info,), {"measure": lambda self, model, options: len})()
    monkeypatch.setattr(spec, "info", lambda backend: wrong)

    with pytest.raises(SpecError, match="of the prompt backend lines.all returned builtin"):
        spec.measure("lines.all", PromptModel("two", "2"), {})


@pytest.mark.parametrize("listed", [None, ["one"]])
def test_a_backend_that_lists_no_models_is_named(listed):
    wrong = type("Wrong", (Info,), {"models": lambda self, at_hand: listed})()

    with pytest.raises(SpecError, match="of the prompt backend made-up returned .*PromptModels"):
        wrong.find("two", NOTHING)
