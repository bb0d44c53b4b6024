"""New models: created from sizes and text, pretrained, and saved in the format of their family."""

import json
import pickle

import numpy as np
import pytest

from workbench.base.errors import ModelError, SpecError
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.models.loading import family_of, load
from workbench.pretraining.loop import pretrain
from workbench.pretraining.spec import PretrainSpec
from workbench.tasks import embedding
from workbench.text.document import Document
from workbench.text.segmenters import base as segmenters

SMALL = {
    "elmo": {"cell": 12, "projection": 8, "filters": "1x4 2x6", "highways": 1},
    "awd_lstm": {"width": 8, "hidden": 12, "layers": 2},
    "char_lm": {"hidden": 16, "character_width": 6},
}
TINY = {"layers": 2, "width": 16, "heads": 2, "inner": 24, "positions": 40, "vocabulary": 300}
FAMILIES = ("elmo", "awd_lstm", "char_lm", "bert", "gpt2", "roberta", "albert", "xlm-roberta", "t5",
            "bart")  # fmt: skip
FILES = {
    "elmo": {"options.json", "weights.hdf5", "softmax_weights.hdf5", "vocab.txt"},
    "awd_lstm": {"lm_fwd.pth", "vocab.pkl"},
    "char_lm": {"forward.pt"},
}
TRANSFORMER = {"config.json", "model.safetensors", "tokenizer.json"}


def objective_of(new):
    gives = new.creation.gives
    if "masked_lm" in gives:
        return "masked_lm"
    if "text_to_text" in gives:
        return "denoising"
    return "bidirectional_lm" if new.architecture == "elmo" else "causal_lm"


def run(name, text_file, out, *, objective="", **options):
    new = models.new_model(f"new:{name}")
    fast = {
        "batch_size": 8, "length": 12, "device": "cpu", "precision": "fp32", "evaluations": 1,
        "max_steps": 3, **SMALL.get(name, TINY),
    }  # fmt: skip
    wanted = PretrainSpec(
        objective or objective_of(new), new.name, (str(text_file),), options={**fast, **options}
    )
    work = pretrain(wanted, out)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("name", FAMILIES)
def test_a_new_model_is_pretrained_loaded_and_embeds_text(text_file, tmp_path, name):
    result = run(name, text_file, tmp_path / "out")

    assert result.steps == 3 and result.model == f"new:{name}"
    assert FILES.get(name, TRANSFORMER) <= {path.name for path in (tmp_path / "out").iterdir()}
    card = models.card(tmp_path / "out", allow_pickle=True)
    assert card.problems == () and card.architecture == name
    encoder = load(tmp_path / "out", LoadOptions(allow_pickle=True))
    embedder = embedding.Embedder(encoder, 40, "word", "all", tmp_path)
    (found,) = embedder.stream([Document("1", (("text", "the tram is late"),))])
    assert len(found.offsets) == 4
    assert all(np.isfinite(layer).all() for layer in found.layers.values())


def test_every_architecture_that_can_be_created_declares_sizes_and_outputs():
    result = {new.architecture: new for new in models.new_models()}

    assert set(FAMILIES) <= set(result)
    for new in result.values():
        options = new.settings({})
        assert {"vocabulary", "layers"} <= options.keys()
        assert "states" in new.creation.gives and new.card().gives == new.creation.gives


@pytest.mark.parametrize(
    "name", ["gpt2", "distilbert", "llama", "electra", "deberta-v2", "qwen2", "t5"]
)
def test_other_transformers_are_created_with_the_sizes_that_were_asked_for(
    text_file, tmp_path, name
):
    run(name, text_file, tmp_path / "out", max_steps=1)

    card = models.card(tmp_path / "out")
    assert (card.layers, card.width, card.max_length) == (2, 16, 40)
    assert 20 < card.vocabulary <= 300


def test_the_vocabulary_has_the_most_frequent_words_of_the_text(text_file, tmp_path):
    run("awd_lstm", text_file, tmp_path / "out", vocabulary=16, max_steps=1)

    words = json.loads((tmp_path / "out" / "itos.json").read_text())
    assert words[:4] == ["xxunk", "xxpad", "xxbos", "xxeos"]
    assert len(words) == 16 and {"the", "is", "late", "bus"} <= set(words[9:])


@pytest.mark.parametrize("name", ["awd_lstm", "char_lm"])
def test_a_model_may_read_backwards(text_file, tmp_path, name):
    result = run(name, text_file, tmp_path / "out", direction="backward")

    assert set(result.curve[-1]["losses"]) == {"backward"}
    gives = models.card(tmp_path / "out", allow_pickle=True).gives
    assert any(given.startswith("previous_") for given in gives)


def test_an_unknown_architecture_is_named_with_those_there_are(text_file, tmp_path):
    with pytest.raises(ModelError, match="'elmos'") as caught:
        models.new_model("new:elmos")

    assert "new:elmo," in caught.value.hint


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bert", {"width": 10, "heads": 4}, r"width \(10\) is not divisible by heads \(4\)"),
        ("awd_lstm", {"layers": 0}, "layers is '0', expected a whole number from 1 to 24"),
        ("elmo", {"filters": "3"}, "filters is '3'"),
        ("elmo", {"filters": "9x4", "longest_word": 8}, "width 9, but longest_word is 8"),
        ("char_lm", {"heads": 2}, "no option 'heads'"),
        ("awd_lstm", {"min_count": 100_000}, "at least 100000"),
    ],
)
def test_sizes_that_do_not_fit_are_named(text_file, tmp_path, name, options, message):
    with pytest.raises(SpecError, match=message):
        run(name, text_file, tmp_path / "out", **options)

    assert not (tmp_path / "out").exists()


def test_an_objective_that_a_new_model_cannot_have_is_refused_before_its_text_is_read(tmp_path):
    (tmp_path / "text.txt").write_text("a\n")

    with pytest.raises(SpecError, match="does not provide"):
        run("gpt2", tmp_path / "text.txt", tmp_path / "out", objective="masked_lm")


class Pairs:
    """Words of two characters."""

    def words(self, text):
        return [(at, at + 2) for at in range(0, len(text) - 1, 2)]


@pytest.mark.parametrize(("name", "file"), [("elmo", "vocab.txt"), ("awd_lstm", "vocab.pkl")])
def test_words_of_a_new_model_are_those_of_the_chosen_segmenter(tmp_path, monkeypatch, name, file):
    monkeypatch.setattr(segmenters, "load", lambda id: Pairs())
    text = tmp_path / "text.txt"
    text.write_text("地铁晚点\n今天晚点\n" * 60, encoding="utf-8")

    result = run(name, text, tmp_path / "out", segmenter="characters", min_count=1, max_steps=1)

    raw = (tmp_path / "out" / file).read_bytes()
    words = pickle.loads(raw) if file.endswith("pkl") else raw.decode().split("\n")  # noqa: S301
    assert {"地铁", "晚点", "今天"} <= set(words) and "地" not in words
    assert result.steps == 1


@pytest.mark.parametrize("name", ["elmo", "awd_lstm"])
def test_a_pretrained_model_keeps_its_segmenter_and_reads_with_it(tmp_path, monkeypatch, name):
    monkeypatch.setattr(segmenters, "load", lambda id: {"characters": Pairs()}[id])
    text = tmp_path / "text.txt"
    text.write_text("地铁晚点\n今天晚点\n" * 60, encoding="utf-8")
    run(name, text, tmp_path / "out", segmenter="characters", min_count=1, max_steps=1)
    load_options = LoadOptions(allow_pickle=True)

    encoder = load(tmp_path / "out", load_options)
    (tmp_path / "again").mkdir()
    family_of(encoder.info).save(encoder, tmp_path / "again")
    params = {"model": str(tmp_path / "again"), "unit": "word", "layers": "last", "device": "cpu"}
    embedder = embedding.load_embedder({**params, "allow_pickle": True}, tmp_path)
    (found,) = embedder.stream([Document("1", (("text", "今天地铁"),))])

    assert models.segmenter(tmp_path / "again") == "characters"
    assert found.offsets.tolist() == [[0, 2], [2, 4]]
    assert encoder.info.notes == ("It reads the words of the segmenter characters.",)


def test_a_segmenter_is_refused_where_characters_are_read(text_file, tmp_path):
    with pytest.raises(SpecError, match="no effect on .*, which does not read words"):
        run("char_lm", text_file, tmp_path / "out", segmenter="characters")
