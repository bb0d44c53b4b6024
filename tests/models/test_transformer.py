"""The adapter: every family loads under our heads, its parts are whole, what is saved loads again."""

import pytest
import torch

from tests import tiny_models
from workbench.base.errors import ModelError
from workbench.models.families.transformer import TransformerFamily
from workbench.tasks.base import collate
from workbench.tasks.classify import Classify
from workbench.tasks.spec import Gold
from workbench.tasks.tagging import Tagging
from workbench.text.document import Document
from workbench.text.spans import Span

FAMILY = TransformerFamily()
FAMILIES = (
    "bert",
    "distilbert",
    "roberta",
    "electra",
    "albert",
    "gpt2",
    "llama",
    "olmo",
    "openai-gpt",
)
TEXTS = ["the tram", "a bus from harbour gate to north field is late, thank you", ""]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {
        family: tiny_models.make(tmp_path_factory.mktemp("tiny") / family, family)
        for family in FAMILIES
    }


def batch_of(task, checkpoint, golds, labels=("x", "y")):
    documents = [Document(str(number), (("text", text),)) for number, text in enumerate(TEXTS)]
    features = task.features(
        documents, checkpoint.tokenizer, labels, checkpoint.max_length, golds=golds
    )
    device = torch.device("cpu")
    return collate(
        features,
        range(len(features.items)),
        pad=checkpoint.tokenizer.pad,
        types=checkpoint.types,
        device=device,
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_class_head_learns_on_padded_batches(folders, family):
    checkpoint = FAMILY.load(folders[family], head="sequence", labels=("x", "y"), seed=1)
    batch = batch_of(Classify(), checkpoint, [Gold("x"), Gold("y"), Gold("x")])

    outputs = Classify().forward(checkpoint.model, batch)
    outputs.losses["task"].backward()

    assert outputs.logits.shape == (3, 2) and torch.isfinite(outputs.logits).all()
    assert all(one.grad is not None for one in FAMILY.parts(checkpoint.model).layers[0])


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_changes_no_answer(folders, family):
    """GPT-2, Llama and OLMo read the last word, which they find by the padding."""
    checkpoint = FAMILY.load(folders[family], head="sequence", labels=("x", "y"), seed=1)
    checkpoint.model.eval()
    batch = batch_of(Classify(), checkpoint, None)

    with torch.inference_mode():
        together = checkpoint.model(**batch).logits[0]
        alone = checkpoint.model(
            **{
                name: one[:1, : int(batch["attention_mask"][0].sum())]
                for name, one in batch.items()
            }
        ).logits[0]

    assert torch.allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("family", [one for one in FAMILIES if one not in ("olmo", "openai-gpt")])
def test_a_tag_head_learns(folders, family):
    checkpoint = FAMILY.load(
        folders[family], head="token", labels=Tagging().outputs_of(("P",)), seed=1
    )
    golds = [Gold(None, (Span(4, 8, "P"),)), Gold(), Gold()]

    outputs = Tagging().forward(checkpoint.model, batch_of(Tagging(), checkpoint, golds, ("P",)))
    outputs.losses["task"].backward()

    assert outputs.logits.shape[2] == 3 and torch.isfinite(outputs.losses["task"])


@pytest.mark.parametrize("family", ["olmo", "openai-gpt"])
def test_a_family_without_a_tag_head_says_so(folders, family):
    with pytest.raises(ModelError, match="no token tagging"):
        FAMILY.load(folders[family], head="token", labels=("O",))


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_hold_every_parameter_once(folders, family):
    model = FAMILY.load(folders[family], head="sequence", labels=("x", "y")).model

    parts = FAMILY.parts(model)

    found = [
        one
        for group in (parts.embeddings, *parts.layers, parts.summit, parts.head)
        for one in group
    ]
    assert len(found) == len({id(one) for one in found}) == len(list(model.parameters()))
    assert (
        parts.embeddings and parts.head and len(parts.layers) == (1 if family == "albert" else 2)
    )  # ALBERT's layers are one


def test_the_body_comes_from_the_folder_and_the_head_from_the_seed(folders):
    one, same, other = (
        FAMILY.load(folders["bert"], head="sequence", labels=("x", "y"), seed=seed).model
        for seed in (1, 1, 2)
    )

    assert torch.equal(one.classifier.weight, same.classifier.weight) and not torch.equal(
        one.classifier.weight, other.classifier.weight
    )
    assert torch.equal(
        one.bert.encoder.layer[0].output.dense.weight,
        other.bert.encoder.layer[0].output.dense.weight,
    )


def test_half_precision_weights_are_loaded_as_float32():
    from workbench.base import paths

    checkpoint = FAMILY.load(
        paths.resource("models") / "starter-gpt", head="sequence", labels=("x", "y")
    )

    assert {one.dtype for one in checkpoint.model.parameters()} == {torch.float32}
    assert checkpoint.model.config.pad_token_id == checkpoint.tokenizer.pad == 0


def test_dropout_is_changed_in_memory_only(folders):
    model = FAMILY.load(
        folders["bert"], head="sequence", labels=("x", "y"), attention_dropout=0.0, dropout=0.4
    ).model

    assert model.bert.encoder.layer[0].attention.self.dropout.p == 0 and model.dropout.p == 0.4
    assert model.bert.encoder.layer[0].output.dropout.p == 0.4
    assert (model.config.attention_probs_dropout_prob, model.config.hidden_dropout_prob) == (
        0.1,
        0.1,
    )


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_what_is_saved_loads_with_transformers_and_answers_alike(folders, family, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    checkpoint = FAMILY.load(folders[family], head="sequence", labels=("x", "y"), seed=1)
    checkpoint.model.eval()
    batch = batch_of(Classify(), checkpoint, None)

    FAMILY.save(checkpoint, tmp_path)

    theirs, tokenizer = (
        AutoModelForSequenceClassification.from_pretrained(tmp_path).eval(),
        AutoTokenizer.from_pretrained(tmp_path),
    )
    inputs = tokenizer(TEXTS[:2], padding=True, return_tensors="pt")
    with torch.inference_mode():
        assert torch.allclose(
            theirs(**inputs).logits, checkpoint.model(**batch).logits[:2], atol=1e-5
        )
    assert theirs.config.id2label == {0: "x", 1: "y"} and (tmp_path / "model.safetensors").is_file()


def test_a_tokenizer_of_another_model_is_refused(folders, tmp_path):
    import shutil

    shutil.copytree(folders["bert"], tmp_path / "mixed")
    shutil.copy(folders["roberta"] / "tokenizer.json", tmp_path / "mixed" / "tokenizer.json")

    with pytest.raises(ModelError, match="entries"):
        FAMILY.load(tmp_path / "mixed", head="sequence", labels=("x", "y"))


def test_weights_of_another_size_are_refused_in_one_line(folders, tmp_path):
    import json
    import shutil

    shutil.copytree(folders["bert"], tmp_path / "wrong")
    config = json.loads((tmp_path / "wrong" / "config.json").read_text())
    (tmp_path / "wrong" / "config.json").write_text(json.dumps({**config, "hidden_size": 15}))

    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        FAMILY.load(tmp_path / "wrong", head="sequence", labels=("x", "y"))
    assert "\n" not in caught.value.message


def test_a_pickle_that_is_garbage_ends_in_a_model_error(folders, tmp_path):
    import shutil

    shutil.copytree(folders["bert"], tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").unlink()
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"\x80\x02}q\x00.")

    with pytest.raises(ModelError):
        FAMILY.load(tmp_path / "pickled", head="sequence", labels=("x", "y"), allow_pickle=True)


def test_pickled_weights_load_once_allowed(folders, tmp_path):
    import shutil

    from safetensors.torch import load_file

    shutil.copytree(folders["bert"], tmp_path / "pickled")
    weights = load_file(tmp_path / "pickled" / "model.safetensors")
    torch.save(weights, tmp_path / "pickled" / "pytorch_model.bin")
    (tmp_path / "pickled" / "model.safetensors").unlink()

    with pytest.raises(ModelError, match="pickle"):
        FAMILY.load(tmp_path / "pickled", head="sequence", labels=("x", "y"))
    model = FAMILY.load(
        tmp_path / "pickled", head="sequence", labels=("x", "y"), allow_pickle=True
    ).model
    assert torch.equal(
        model.bert.embeddings.word_embeddings.weight,
        weights["bert.embeddings.word_embeddings.weight"],
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("bos_token_id", True), ("hidden_dropout_prob", [1]), ("num_attention_heads", 7)],
)
def test_nonsense_in_the_configuration_is_told_in_one_line(folders, tmp_path, key, value):
    import json
    import shutil

    shutil.copytree(folders["bert"], tmp_path / "wrong")
    config = json.loads((tmp_path / "wrong" / "config.json").read_text())
    (tmp_path / "wrong" / "config.json").write_text(json.dumps({**config, key: value}))

    with pytest.raises(ModelError, match="cannot be (read|loaded)") as caught:
        FAMILY.load(tmp_path / "wrong", head="sequence", labels=("x", "y"))
    assert "\n" not in caught.value.message
