"""The input forms of GPT-1: start, delimiter and extract tokens (Radford et al. 2018, 3.3)."""

import json

import pytest
import torch
import transformers

from tests import tiny_models
from workbench.base.errors import ModelError, SpecError
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.runtime.inputs import MASK, stack
from workbench.runtime.preparers.subwords import SWAPPED, Subwords
from workbench.tasks import model as networks
from workbench.tasks.pairs.task import Pairs
from workbench.tasks.predictor import Predictor
from workbench.text.document import Document
from workbench.training import loop
from workbench.training.events import Step
from workbench.training.spec import TrainSpec

FORMS = ("<|start|>", "<|delimiter|>", "<|extract|>")
PAIR = Document("1", (("text", "the tram"), ("text_b", "is very late")))


@pytest.fixture(scope="module")
def gpt(tmp_path_factory):
    """Folders of a tiny GPT-2 and GPT-1."""
    folder = tmp_path_factory.mktemp("gpt")
    return {kind: tiny_models.make(folder / kind, kind) for kind in ("gpt2", "openai-gpt")}


def train(data, model, folder, *, task="pairs", layer="p", **options):
    given = {"batch_size": 8, "learning_rate": 0.02, "device": "cpu", "precision": "fp32"}
    spec = TrainSpec(task, layer, str(model), options={**given, "epochs": 1, **options})
    return list(loop.train(spec, data, folder))


def built(folder, form, **options):
    setting = networks.Setting(Pairs(), ("x", "y"), {"input_form": form, **options})
    return networks.build(models.read_folder(folder), setting, LoadOptions()).eval()


def tensors(model, *documents):
    prepared = model.encoder.preparer.whole(documents, 64, texts=2)
    names = (*model.encoder.input_names, SWAPPED)
    arrays = stack(prepared.inputs, names, model.encoder.preparer.fill)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def test_texts_and_pairs_stand_between_the_three_tokens_also_when_cut(gpt):
    preparer = built(gpt["gpt2"], "gpt1").encoder.preparer

    whole = preparer.whole([PAIR], 64, texts=2).inputs[0]
    cut = preparer.whole([PAIR], 12, texts=2)
    single = preparer.whole([PAIR], 64).inputs[0]

    pieces = preparer.pieces(whole)
    assert (pieces[0], pieces[9], pieces[-1]) == FORMS
    assert whole.text.tolist() == [-1, *[0] * 8, -1, *[1] * 12, -1]
    assert whole.offsets[1:4].tolist() == [[0, 1], [1, 2], [2, 3]]
    assert whole.offsets[-2].tolist() == [11, 12]
    assert cut.cut.tolist() == [True] and len(cut.inputs[0]) == 12
    assert [piece for piece in preparer.pieces(cut.inputs[0]) if piece in FORMS] == list(FORMS)
    assert preparer.pieces(single)[:1] + preparer.pieces(single)[-1:] == [FORMS[0], FORMS[2]]


def test_the_other_order_has_the_second_text_first(gpt):
    preparer = built(gpt["gpt2"], "both").encoder.preparer
    swapped = Document("2", (("text", "is very late"), ("text_b", "the tram")))

    found, wanted = preparer.whole([PAIR, swapped], 64, texts=2).inputs
    single = preparer.whole([PAIR], 64).inputs[0]

    assert found.arrays[SWAPPED].tolist() == wanted.ids.tolist()
    assert single.arrays[SWAPPED].tolist() == single.ids.tolist()


@pytest.mark.parametrize("layers", ["last", "mix"])
def test_similarity_adds_the_extract_states_of_both_orders(gpt, layers):
    model = built(gpt["openai-gpt"], "both", layers=layers)
    short = Document("2", (("text", "a"), ("text_b", "b")))
    inputs = tensors(model, PAIR, short)  # the second one is padded
    body, ends = model.encoder.body, inputs[MASK].sum(1) - 1

    states = model.encoder(inputs)

    orders = [body(inputs[name], attention_mask=inputs[MASK]).last_hidden_state
              for name in ("input_ids", SWAPPED)]  # fmt: skip
    rows = torch.arange(2)
    wanted = orders[0][rows, ends] + orders[1][rows, ends]
    torch.testing.assert_close(states.layers[-1][rows, ends], wanted)
    torch.testing.assert_close(states.layers[-1][:, 0], orders[0][:, 0])
    if layers == "last":
        head = model.head
        torch.testing.assert_close(model(inputs)["logits"], head.linear(wanted))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("openai-gpt", {"input_form": "gpt1"}),
        ("gpt2", {"input_form": "gpt1", "lm_weight": 0.5}),
        ("gpt2", {"input_form": "both", "lm_weight": 0.5}),
    ],
)
def test_the_folder_of_a_run_answers_as_in_training(gpt, pairs, tmp_path, kind, options):
    events = train(pairs, gpt[kind], tmp_path, **options)

    loaded = Predictor.load(tmp_path / "model", "cpu")
    assert Subwords.load(tmp_path / "model").tokenizer.delimiter is not None
    documents = [record.document for record in pairs.by_split("dev")]
    lines = (tmp_path / "predictions.jsonl").read_text().splitlines()
    for line, prediction in zip(lines, loaded.predict(documents), strict=True):
        scores = json.loads(line)["prediction"]["scores"]
        assert scores == pytest.approx(prediction.classes.as_dict(), abs=1e-6)
    losses = next(event.losses for event in events if isinstance(event, Step))
    assert ("lm" in losses) == ("lm_weight" in options)


def test_transformers_alone_answers_alike_and_reads_the_extract_token(gpt, pairs, tmp_path):
    train(pairs, gpt["gpt2"], tmp_path, input_form="gpt1")
    folder = tmp_path / "model"

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    library = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    given = tokenizer("the tram", "is very late", return_tensors="pt")
    logits = library(**given).logits.softmax(-1)[0].tolist()

    assert tokenizer.convert_ids_to_tokens(given["input_ids"][0])[-1] == FORMS[2]
    ours = Predictor.load(folder, "cpu").predict([PAIR])[0].classes.scores
    assert ours == pytest.approx(logits, abs=1e-6)


def test_only_the_new_embeddings_are_added_to_a_decoder(gpt):
    plain, formed = (
        built(gpt["openai-gpt"], "plain").encoder,
        built(gpt["openai-gpt"], "gpt1").encoder,
    )

    before, after = plain.word_embeddings, formed.word_embeddings
    assert torch.equal(after[: len(before)], before) and len(after) == len(before) + 3
    assert formed.delimited and not plain.delimited
    assert float(after[-3:].detach().std()) == pytest.approx(0.02, rel=0.5)


def test_models_and_methods_that_cannot_have_it_are_refused(gpt, tiny_model):
    with pytest.raises(ModelError, match="special tokens of its own"):
        built(tiny_model, "gpt1")
    with pytest.raises(SpecError, match="does not train the embeddings"):
        TrainSpec("pairs", "p", "x", options={"input_form": "gpt1", "method": "lora"})
