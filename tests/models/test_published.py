"""Folders as their authors published them: each is added, trained, asked, exported and compared."""

import json
import shutil

import pytest

from tests import published
from tests.training.conftest import *  # noqa: F403 (the data sets)
from workbench.models import spec
from workbench.models.families.transformer.info.architectures import (
    ARCHITECTURES,
    DECODERS,
    ENCODERS,
    SEQ2SEQ,
)
from workbench.operations.models import installed
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.predictor import Predictor

# Each family learns one task here, one is exported as ONNX. Left out are those whose files and code
# are another's: tests/benchmarks/published_models.py runs every combination.
ALIKE = (
    *("ernie", "gemma", "gemma2", "gpt_neox", "mistral", "mt5", "olmo2", "olmo3", "phi", "qwen3"),
)
CLASSES = ("albert", "bert", "gemma3_text", "gpt2", "olmo", "qwen2", "roberta", "t5", "xlnet")
CASES = [
    (family, "classify" if family in CLASSES else "tag", ("hf",))
    for family in published.FAMILIES
    if family not in (*ALIKE, "xlm-roberta")
]
ONNX = [
    pytest.param(family, "classify", ("hf", "onnx"), marks=pytest.mark.slow)
    for family in ("deberta", "xlm-roberta")
]


@pytest.fixture(scope="session")
def vocabularies(data_folder):
    folder = data_folder / "tokenizers"
    if not folder.is_dir():
        pytest.skip(f"no tokenizers in {data_folder}")
    return folder


@pytest.fixture(scope="session")
def folder_of(vocabularies, tmp_path_factory):
    """folder_of(family, layers) → a folder that no test may change; made when first asked for."""
    made = {}

    def get(family, layers=2):
        if (family, layers) not in made:
            place = tmp_path_factory.mktemp("published") / f"some-{family}"
            made[family, layers] = published.make(place, family, vocabularies, layers)
        return made[family, layers]

    return get


def test_every_family_is_in_the_matrix():
    assert set(published.FAMILIES) == ARCHITECTURES


@pytest.mark.parametrize("family", published.FAMILIES)
def test_the_card_says_what_the_folder_is_good_for(folder_of, family):
    card = spec.card(folder_of(family), allow_pickle=True)

    assert card.problems == () and card.parameters > 1000 and card.layers == 2
    assert ("masked_lm" in card.gives) == (family in ENCODERS)
    assert ("next_lm" in card.gives) == (family in DECODERS)
    assert ("text_to_text" in card.gives) == (family in SEQ2SEQ)
    assert "states" in card.gives


@pytest.mark.parametrize(("family", "task", "formats"), [*CASES, *ONNX])
def test_it_is_trained_and_the_export_answers_alike(
    folder_of, family, task, formats, classes, tags, tmp_path
):
    layers = 1 if "onnx" in formats else 2  # converting one takes half the time
    folder, data = folder_of(family, layers), classes if task == "classify" else tags
    before = sorted(path.name for path in folder.iterdir())

    model = published.train(data, folder, task, tmp_path / "run")
    result = published.export(data, model, tmp_path / "out", formats)

    assert sorted(path.name for path in folder.iterdir()) == before
    assert result["check"]["equal_labels"] == result["checks"]["hf"]["equal_labels"] == 1.0
    assert result["check"]["largest_difference"] < 1e-4
    if family in SEQ2SEQ:
        assert result["own_head"]  # no pipeline scores the texts of labels
    documents = [record.document for record in data.records]
    ours, theirs = (
        Predictor.load(item, "cpu").predict(documents) for item in (model, result["folders"]["hf"])
    )
    assert [(our.label, our.spans) for our in ours] == [
        (their.label, their.spans) for their in theirs
    ]


@pytest.mark.parametrize("family", ["bert", "gpt2", "xlm-roberta", "llama"])
def test_it_is_added_and_its_tokenizer_read_in_the_window(folder_of, family):
    card = installed.add(folder_of(family), allow_pickle=True)

    tokenizer = Tokenizer.load(card.path)

    assert tokenizer.count_cut([("the tram " * 40,), ("the tram",)], 32) == 1
    assert tokenizer.unknown_share(["the tram is late"]) == 0


@pytest.mark.parametrize(
    ("family", "share"), [("bert", 1.0), ("albert", 1.0), ("llama", 1.0), ("gpt2", 0.0)]
)
def test_words_that_a_converted_tokenizer_does_not_know_are_counted(folder_of, family, share):
    """Llama spells unknown letters byte by byte; GPT-2's vocabulary consists of bytes."""
    text = "ꯃꯤꯇꯩ ꯃꯌꯦꯛ ꯃꯌꯦꯛ"  # Meitei script

    assert Tokenizer.load(folder_of(family)).unknown_share([text]) == share


def test_what_is_kept_of_a_conversion_can_be_deleted_at_any_time(folder_of, user_dir):
    first = Tokenizer.load(folder_of("albert")).backend.to_str()
    shutil.rmtree(user_dir / "cache" / "glossbench" / "tokenizers")

    assert json.loads(Tokenizer.load(folder_of("albert")).backend.to_str()) == json.loads(first)
