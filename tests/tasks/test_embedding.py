"""Embeddings of documents against the hidden states of transformers, and of long texts."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_elmo, tiny_models  # noqa: E402
from workbench.base.errors import ModelError  # noqa: E402
from workbench.base.paths import resource  # noqa: E402
from workbench.models import folder as folders  # noqa: E402
from workbench.models import spec as cards  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.tasks import embedding  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXTS = ("The tram was late again, as ever. 😀 tokenization", "Short", "word " * 40, "")


def documents(texts, tokens=None):
    return [
        Document(str(number), (("text", text),), tokens=tokens or {}, id=number)
        for number, text in enumerate(texts)
    ]


@pytest.fixture
def embed(tmp_path):
    """embed(model, documents, unit="word", …) → the arrays of the file, and the result."""

    def run(model, given, *, unit="word", layers="all", **more):
        asked, out = tmp_path / "asked.jsonl", tmp_path / "out.npz"
        dataset.write(asked, (), map(dataset.Record, given), ids=True)
        params = {
            **{"model": str(model), "input": str(asked), "output": str(out), "device": "cpu"},
            **{"unit": unit, "layers": layers, **more},
        }
        work = embedding.run(params, tmp_path)
        while True:
            try:
                next(work)
            except StopIteration as end:
                with np.load(out) as file:
                    return dict(file), end.value

    return run


@pytest.mark.parametrize("name", ["starter-bert", "starter-gpt"])
def test_tokens_of_the_starters_are_the_hidden_states_of_transformers(embed, name):
    folder = resource("models") / name
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    arrays, result = embed(folder, documents(TEXTS[:3]), unit="token")

    for number, text in enumerate(TEXTS[:3]):
        inputs = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        offsets = inputs.pop("offset_mapping")[0].numpy()
        with torch.inference_mode():
            expected = model(**inputs, output_hidden_states=True).hidden_states
        assert arrays[f"{number}/offsets"].tolist() == offsets.tolist()
        for layer, states in enumerate(expected):
            found = arrays[f"{number}/layer_{layer}"]
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, states[0].numpy(), atol=1e-4, rtol=1e-4)
    assert result["layers"] == [f"layer_{layer}" for layer in range(len(expected))]


def test_words_and_the_document_are_means_of_tokens(embed):
    folder = resource("models") / "starter-bert"
    given = documents(["tokenization trams"])

    tokens, _result = embed(folder, given, unit="token")
    words, _result = embed(folder, given)
    whole, _result = embed(folder, given, unit="document")

    offsets = tokens["0/offsets"]
    inside = (offsets[:, 1] > 0) & (offsets[:, 1] <= 12)
    assert inside.sum() > 1 and words["0/offsets"].tolist() == [[0, 12], [13, 18]]
    expected = tokens["0/layer_3"][inside].mean(0)
    np.testing.assert_allclose(words["0/layer_3"][0], expected, atol=1e-5)
    np.testing.assert_allclose(whole["0/layer_3"][0], tokens["0/layer_3"].mean(0), atol=1e-5)
    assert whole["0/offsets"].tolist() == [[0, 18]]


def test_words_are_the_tokens_of_the_document(embed):
    given = documents(["New York is far"], {"text": ((0, 8), (9, 15))})

    arrays, _result = embed(resource("models") / "starter-bert", given, layers="last")

    assert arrays["0/offsets"].tolist() == [[0, 8], [9, 15]]


def test_the_last_layer_alone_and_the_mean_of_all(embed):
    given = documents(TEXTS[:1])
    folder = resource("models") / "starter-gpt"

    every, _result = embed(folder, given)
    last, _result = embed(folder, given, layers="last")
    mixed, result = embed(folder, given, layers="mix")

    assert {*last} == {"0/offsets", "0/layer_4"} and {*mixed} == {"0/offsets", "0/mix"}
    np.testing.assert_allclose(last["0/layer_4"], every["0/layer_4"], atol=1e-5)
    layers = [every[f"0/layer_{number}"] for number in range(5)]
    np.testing.assert_allclose(mixed["0/mix"], np.mean(layers, 0), atol=1e-4)
    assert result["layers"] == ["mix"]


def test_layers_of_different_widths_are_written_and_have_no_mean(embed):
    folder = Path(__file__).parents[1] / "data" / "awd_lstm" / "v2"

    every, result = embed(folder, documents(["a good film", "not"]), allow_pickle=True)
    with pytest.raises(ModelError, match="different widths \\(12, 20, 20, 12\\)"):
        embed(folder, documents(["a good film"]), layers="mix", allow_pickle=True)

    widths = [every[f"0/layer_{number}"].shape[1] for number in range(4)]
    assert widths == [12, 20, 20, 12] and result["width"] == 12
    assert all((np.abs(every[f"1/layer_{number}"]).sum(-1) > 0).all() for number in range(4))


def test_a_text_of_several_windows_has_every_word_and_token_once(embed, tiny_run):
    text = "the tram was late again . " * 40  # a run with 32 tokens per window

    words, _result = embed(tiny_run("classify"), documents([text]), layers="last")
    tokens, _result = embed(tiny_run("classify"), documents([text]), unit="token", layers="last")

    starts = words["0/offsets"][:, 0]
    assert len(starts) == 240 and (np.diff(starts) > 0).all()
    assert (np.abs(words["0/layer_2"]).sum(-1) > 0).all()
    assert (np.diff(tokens["0/offsets"][1:-1, 0]) > 0).all()
    assert tokens["0/offsets"][[0, -1]].tolist() == [[0, 0], [0, 0]]


def test_rows_of_a_large_document_are_collected_in_a_file(embed, tiny_run, monkeypatch):
    given = documents(["the tram was late . " * 60, "the tram"])
    expected, _result = embed(tiny_run("tag"), given)
    monkeypatch.setattr(embedding, "IN_MEMORY", 100)
    monkeypatch.setattr(embedding, "MAX_BUFFERED_BYTES", 100)

    found, _result = embed(tiny_run("tag"), given)

    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=1e-5)


def test_documents_without_words_have_no_row(embed, tmp_path):
    for model in (resource("models") / "starter-bert", tiny_elmo.make(tmp_path / "elmo")):
        arrays, _result = embed(model, documents(["", "a word"]), layers="last")

        assert len(arrays["0/offsets"]) == 0 and len(arrays["1/offsets"]) == 2


def test_stateful_reading_depends_on_the_texts_before(embed, tmp_path):
    model = tiny_elmo.make(tmp_path / "elmo")
    given = documents(["the tram", "was late"])

    usual, _result = embed(model, given)
    ordered, _result = embed(model, given, stateful=True)

    np.testing.assert_allclose(ordered["0/layer_2"], usual["0/layer_2"], atol=1e-6)
    np.testing.assert_allclose(ordered["1/layer_0"], usual["1/layer_0"], atol=1e-6)
    assert np.abs(ordered["1/layer_2"] - usual["1/layer_2"]).max() > 1e-3


def test_a_model_without_memory_refuses_stateful_reading(embed, tmp_path):
    with pytest.raises(ModelError, match="keeps no state"):
        embed(resource("models") / "starter-bert", documents(["a"]), stateful=True)

    assert not (tmp_path / "out.npz").exists() and not [*tmp_path.glob("*.tmp")]


def test_a_cancelled_job_leaves_no_file_and_keeps_an_earlier_one(tmp_path):
    asked, out = tmp_path / "asked.jsonl", tmp_path / "out.npz"
    dataset.write(asked, (), map(dataset.Record, documents(["a", "b", "c"])), ids=True)
    out.write_bytes(b"earlier")
    params = {"model": str(tiny_elmo.make(tmp_path / "elmo")), "unit": "word", "layers": "all"}

    work = embedding.run({**params, "input": str(asked), "output": str(out)}, tmp_path)
    for _turn in range(3):
        next(work)
    work.close()

    assert out.read_bytes() == b"earlier" and not [*tmp_path.glob(".out*")]


@pytest.fixture
def run_with(tmp_path):
    """run_with(layers=…) → the folder of a run whose layer weights are not uniform."""

    def make(**options):
        card = cards.read_folder(tiny_models.make(tmp_path / "base", "bert"))
        options = {"layer_norm": True, **options}
        setting = networks.Setting(networks.task_of("tag"), ("A",), options)
        model = networks.build(card, setting, LoadOptions())
        for parameter in model.layers.parameters():
            torch.nn.init.normal_(parameter)
        folder = tmp_path / "run"
        folder.mkdir()
        networks.save(model, folder)
        folders.describe(
            folder, {"task": "tag", "labels": ["A"], "max_length": 32, "options": options}
        )
        return folder

    return make


@pytest.mark.parametrize("layers", ["mean", "mix", "attention"])
def test_the_mix_of_a_run_is_what_its_head_reads(embed, run_with, layers):
    folder, given = run_with(layers=layers), documents(["the tram was late", "a tram"])
    predictor, received = Predictor.load(folder, "cpu"), []
    predictor.model.head.register_forward_pre_hook(lambda _head, args: received.append(args[0]))
    predictor.predict(given[:1])

    arrays, _result = embed(folder, given, unit="token", layers="mix")

    np.testing.assert_allclose(arrays["0/mix"], received[0].layers[-1][0].numpy(), atol=1e-5)


def test_concatenated_layers_are_no_mix(embed, run_with):
    with pytest.raises(ModelError, match="concatenated"):
        embed(run_with(layers="concat"), documents(["a tram"]), layers="mix")
