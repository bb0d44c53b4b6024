"""Rungs of the ladder as data: the models they need, and rungs of the user's own."""

import pytest

from workbench.base.errors import SpecError
from workbench.models.spec import ModelInfo
from workbench.operations.experiments.ladder_rungs import (
    RUNGS,
    available,
    check_parts,
    named,
    parse,
)


def installed(*names):
    families = {"my-vectors": "vectors"}
    return [ModelInfo(name, f"/{name}", family=families.get(name, "x")) for name in names]


def rung(name):
    return next(rung for rung in RUNGS if rung.id == name)


def test_the_usual_ladder_climbs_from_random_to_fine_tuned():
    ids = [rung.id for rung in named(())]

    assert ids == ["random", "vectors", "characters", "elmo", "bert"]
    assert [rung.id for rung in named(("bert", "random"))] == ["random", "bert"]
    with pytest.raises(SpecError, match="no rung 'elmoo'") as error:
        named(("elmoo",))
    assert "elmo, flair" in error.value.hint


def test_a_rung_names_the_model_that_is_not_installed():
    found = available(rung("elmo"), installed("bilstm", "starter-glove"))

    assert found.missing == "starter-elmo is not installed" and found.card is None


def test_a_rung_names_what_is_wrong_with_an_installed_model():
    broken = ModelInfo("starter-elmo", "/elmo", problems=("weights.hdf5 is missing",))

    found = available(rung("elmo"), [*installed("bilstm", "starter-glove"), broken])

    assert found.missing == "starter-elmo is not usable: weights.hdf5 is missing"


def test_parts_are_filled_by_the_first_installed_model_that_serves():
    cards = installed("bilstm", "my-vectors", "starter-vectors")

    usual = available(rung("characters"), cards)
    chosen = available(rung("characters"), cards, {"vectors": "my-vectors"})
    other = available(rung("characters"), installed("bilstm", "my-vectors"))

    assert usual.rung.options == {"embeddings": "words+starter-vectors+chars"}
    assert (usual.card.name, usual.missing) == ("bilstm", "")
    assert chosen.rung.options == other.rung.options == {"embeddings": "words+my-vectors+chars"}
    with pytest.raises(SpecError, match="no part 'bert'"):
        check_parts({"bert": "x"})


def test_a_rung_of_the_users_own_has_a_title_a_model_and_settings():
    found = parse("Frozen BERT: my-bert method=frozen layers=mix")

    assert (found.id, found.title, found.model) == ("frozen-bert", "Frozen BERT", "my-bert")
    assert available(found, installed("my-bert")).rung.options == {
        "method": "frozen",
        "layers": "mix",
    }


@pytest.mark.parametrize("text", ["", "Title", "Title:", ": model", "T: model x", "T: 'model"])
def test_an_unreadable_rung_is_refused_with_the_format(text):
    with pytest.raises(SpecError, match="is not a rung") as error:
        parse(text)

    assert "MODEL KEY=VALUE" in error.value.hint


def test_braces_in_a_rung_of_the_users_own_are_text():
    found = available(parse("Odd: {vectors}"), installed("{vectors}"))

    assert found.card.name == "{vectors}"
