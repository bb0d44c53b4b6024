"""The adapter: every family loads with every head, its parts are complete, saved folders load."""

import json
import shutil

import pytest
import torch
import transformers

from tests import tiny_models
from workbench.base.errors import ModelError
from workbench.models import spec
from workbench.models.base import LoadOptions
from workbench.models.families.transformer import family as transformer
from workbench.models.families.transformer import saving
from workbench.models.families.transformer.family import TransformerFamily
from workbench.models.loading import load
from workbench.tasks.base import Features, Model, collate
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.classify.task import Classify
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.tag.task import Tagging
from workbench.text.document import Document
from workbench.text.spans import Span

FAMILY = TransformerFamily()
FAMILIES = (
    "bert",
    "distilbert",
    "roberta",
    "electra",
    "albert",
    "deberta",
    "gpt2",
    "llama",
    "olmo",
    "openai-gpt",
)
NO_TOKEN_HEAD = ("olmo", "openai-gpt")
TEXTS = ["the tram", "a bus from harbour gate to north field is late, thank you", ""]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {
        family: tiny_models.make(tmp_path_factory.mktemp("tiny") / family, family)
        for family in FAMILIES
    }


def classifier(folder, **more):
    """The encoder in a folder with a sequence head for the labels x and y."""
    return load(folder, LoadOptions(head="sequence", outputs=("x", "y"), **more))


def batch_of(task, encoder, golds=None, labels=("x", "y")):
    documents = [Document(str(number), (("text", text),)) for number, text in enumerate(TEXTS)]
    prepared = task.info.prepare(encoder.preparer, documents, encoder.max_length)
    targets = task.targets(prepared, golds, labels, {}) if golds else {}
    features = Features(prepared, targets)
    chosen = range(len(prepared.inputs))
    return collate(features, chosen, encoder=encoder, device=torch.device("cpu"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_class_head_learns_on_padded_batches(folders, family):
    encoder = classifier(folders[family], seed=1)
    batch = batch_of(Classify(), encoder, [ClassGold(label) for label in "xyx"])

    outputs = Classify().forward(Model(encoder), batch)
    outputs.losses["task"].total.backward()

    logits = outputs.logits["logits"]
    assert logits.shape == (3, 2) and torch.isfinite(logits).all()
    assert all(parameter.grad is not None for parameter in encoder.parts().layers[0])


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_changes_no_logits(folders, family):
    """GPT-2, Llama and OLMo classify by the last token, which they find by the padding."""
    encoder = classifier(folders[family], seed=1).eval()
    inputs = batch_of(Classify(), encoder).inputs
    length = int(inputs["attention_mask"][0].sum())

    with torch.inference_mode():
        together = encoder.logits(inputs)[0]
        alone = encoder.logits({name: rows[:1, :length] for name, rows in inputs.items()})[0]

    assert torch.allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in NO_TOKEN_HEAD])
def test_a_tag_head_learns(folders, family):
    task = Tagging()
    outputs = task.info.output_names(("P",))
    encoder = load(folders[family], LoadOptions(head="token", outputs=outputs, seed=1))
    golds = [SpanGold((Span(4, 8, "P"),)), SpanGold(), SpanGold()]

    result = task.forward(Model(encoder), batch_of(task, encoder, golds, ("P",)))
    loss = result.losses["task"]
    loss.total.backward()

    assert result.logits["logits"].shape[2] == 3 and torch.isfinite(loss.total)
    assert int(loss.count) == 15  # words: 2, 12 with the comma, none
    assert all(parameter.grad is not None for parameter in encoder.parts().layers[0])


@pytest.mark.parametrize("family", NO_TOKEN_HEAD)
def test_a_family_without_a_tag_head_says_so(folders, family):
    with pytest.raises(ModelError, match=f"is a {family} model, which has no token head"):
        load(folders[family], LoadOptions(head="token", outputs=("O",)))


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_hold_every_parameter_once(folders, family):
    model = Model(classifier(folders[family]))

    parts, head = model.encoder.parts(), model.head_parameters()

    groups = (parts.embeddings, *parts.layers, parts.pooler, head)
    result = [parameter for group in groups for parameter in group]
    assert len(result) == len({id(item) for item in result}) == len(list(model.parameters()))
    layers = 1 if family == "albert" else 2  # ALBERT's layers share their weights
    assert parts.embeddings and head and len(parts.layers) == layers


@pytest.mark.parametrize("family", FAMILIES)
def test_states_are_those_of_every_layer_embeddings_first(folders, family):
    import transformers

    encoder = load(folders[family], LoadOptions()).eval()
    inputs = batch_of(Classify(), encoder).inputs

    with torch.inference_mode():
        states = encoder(inputs)
        theirs = transformers.AutoModel.from_pretrained(folders[family]).eval()(**inputs)

    shape = (*inputs["input_ids"].shape, 16)
    assert len(states.layers) == 3 and {layer.shape for layer in states.layers} == {shape}
    mask = inputs["attention_mask"].bool()
    assert torch.equal(states.mask, mask)
    assert torch.allclose(states.layers[-1][mask], theirs.last_hidden_state[mask], atol=1e-5)
    assert (states.pooled is not None) == (family == "bert")  # the only one saved with a pooler
    if family == "bert":
        assert torch.allclose(states.pooled, theirs.pooler_output, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_encoder_without_a_head_has_no_head_parameters(folders, family):
    model = Model(load(folders[family], LoadOptions()))

    assert model.head_parameters() == [] and model.encoder.head == ""


@pytest.mark.parametrize(
    ("family", "head"), [("bert", "mask"), ("deberta", "mask"), ("gpt2", "next"), ("llama", "next")]
)
def test_vocabulary_logits_at_some_positions_are_those_of_all(folders, family, head):
    encoder = load(folders[family], LoadOptions(head=head)).eval()
    inputs = batch_of(Classify(), encoder).inputs
    positions = torch.tensor([[0, 2], [5, 1], [0, 0]])

    with torch.inference_mode():
        some, all_of_them = encoder.logits_at(inputs, positions), encoder.logits(inputs)

    assert some.shape == (3, 2, encoder.info.vocabulary)
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        expected = all_of_them[row, positions[row, column]]
        assert torch.allclose(some[row, column], expected, atol=1e-5)
    again = encoder.logits(inputs)
    assert again.shape == all_of_them.shape  # the next call computes all positions again


def test_the_masked_language_model_of_deberta_is_found_under_its_published_name(folders, tmp_path):
    """The published config.json names no head, and the weights are called lm_predictions."""
    import transformers

    theirs = transformers.DebertaForMaskedLM.from_pretrained(folders["deberta"]).eval()
    folder = shutil.copytree(folders["deberta"], tmp_path / "published")
    config = json.loads((folder / "config.json").read_text())
    for name in ("legacy", "architectures"):
        del config[name]
    (folder / "config.json").write_text(json.dumps(config))

    encoder = load(folder, LoadOptions(head="mask")).eval()
    inputs = batch_of(Classify(), encoder).inputs
    with torch.inference_mode():
        ours, expected = encoder.logits(inputs), theirs(**inputs).logits

    assert "masked_lm" in spec.card(folder).gives
    assert torch.allclose(ours, expected, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_head_that_can_be_named_can_be_loaded(folders, family):
    from workbench.models.spec import read_folder

    heads = FAMILY.heads(read_folder(folders[family]))

    assert ("token" in heads) == (family not in NO_TOKEN_HEAD) and "sequence" in heads
    for head in heads:
        encoder = load(folders[family], LoadOptions(head=head, outputs=("x", "y")))
        assert (
            encoder.head == head
            and encoder.logits(batch_of(Classify(), encoder).inputs).isfinite().all()
        )


def test_the_body_comes_from_the_folder_and_the_head_from_the_seed(folders):
    item, same, other = (classifier(folders["bert"], seed=seed).model for seed in (1, 1, 2))

    assert torch.equal(item.classifier.weight, same.classifier.weight) and not torch.equal(
        item.classifier.weight, other.classifier.weight
    )
    assert torch.equal(
        item.bert.encoder.layer[0].output.dense.weight,
        other.bert.encoder.layer[0].output.dense.weight,
    )


def test_the_layers_within_the_groups_of_albert_are_counted(tmp_path):
    """Source: config.json of ALBERT, whose published models have one layer in each group."""
    config = transformers.AlbertConfig(
        vocab_size=106, hidden_size=16, embedding_size=8, num_attention_heads=2, inner_group_num=3,
        intermediate_size=32, num_hidden_layers=2, max_position_embeddings=64,
    )  # fmt: skip
    folder = tiny_models.make(tmp_path / "albert", "albert")
    transformers.AlbertModel(config).save_pretrained(folder)

    encoder = load(folder, LoadOptions())
    states = encoder(batch_of(Classify(), encoder).inputs)

    assert encoder.info.layers == 6 and len(states.layers) == len(encoder.widths) == 7


def test_half_precision_weights_are_loaded_as_float32():
    from workbench.base import paths

    encoder = classifier(paths.resource("models") / "starter-gpt")

    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    assert encoder.model.config.pad_token_id == encoder.tokenizer.pad == 0


def test_dropout_is_changed_in_memory_only(folders):
    model = classifier(folders["bert"], attention_dropout=0.0, dropout=0.4).model

    assert model.bert.encoder.layer[0].attention.self.dropout.p == 0 and model.dropout.p == 0.4
    assert model.bert.encoder.layer[0].output.dropout.p == 0.4
    assert (model.config.attention_probs_dropout_prob, model.config.hidden_dropout_prob) == (
        0.1,
        0.1,
    )


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_what_is_saved_loads_with_transformers_and_answers_alike(folders, family, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    encoder = classifier(folders[family], seed=1).eval()
    ours = batch_of(Classify(), encoder).inputs

    FAMILY.save(encoder, tmp_path)

    theirs, tokenizer = (
        AutoModelForSequenceClassification.from_pretrained(tmp_path).eval(),
        AutoTokenizer.from_pretrained(tmp_path),
    )
    inputs = tokenizer(TEXTS[:2], padding=True, return_tensors="pt")
    with torch.inference_mode():
        assert torch.allclose(theirs(**inputs).logits, encoder.logits(ours)[:2], atol=1e-5)
    assert theirs.config.id2label == {0: "x", 1: "y"} and (tmp_path / "model.safetensors").is_file()


def test_the_tokenizer_of_a_run_is_copied_and_made_anew_for_another_length(
    folders, tmp_path, monkeypatch
):
    run, copied, made = (tmp_path / name for name in ("run", "copied", "made"))
    FAMILY.save(classifier(folders["bert"]), run)
    (run / "glossbench.json").write_text("{}")  # what marks the model folder of a run
    encoder = FAMILY.load(spec.card(run), LoadOptions())
    tried = []
    monkeypatch.setattr(saving, "_make", lambda _encoder, folder: tried.append(folder))

    FAMILY.save(encoder, copied)
    shorter = FAMILY.load(spec.card(run), LoadOptions())
    shorter.max_length //= 2
    FAMILY.save(shorter, made)

    assert tried == [made]
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (copied / name).read_bytes() == (run / name).read_bytes()


@pytest.mark.parametrize(("family", "types"), [("distilbert", False), ("electra", True)])
def test_a_saved_tokenizer_gives_the_inputs_that_the_model_reads(folders, tmp_path, family, types):
    """Folders may say otherwise: pairs need token types, and a model without them may refuse any.

    That of DistilBERT may name the tokenizer of BERT.
    """
    from transformers import AutoTokenizer

    shutil.copytree(folders[family], tmp_path / "model")
    config = tmp_path / "model" / "tokenizer_config.json"
    wrong = ["input_ids", "attention_mask", *([] if types else ["token_type_ids"])]
    content = {**json.loads(config.read_text()), "model_input_names": wrong}
    config.write_text(json.dumps(content))

    FAMILY.save(classifier(tmp_path / "model"), tmp_path)

    given = AutoTokenizer.from_pretrained(tmp_path)("the tram", "is late")
    assert ("token_type_ids" in given) == types


def test_a_tokenizer_of_another_model_is_refused(folders, tmp_path):
    shutil.copytree(folders["bert"], tmp_path / "mixed")
    shutil.copy(folders["roberta"] / "tokenizer.json", tmp_path / "mixed" / "tokenizer.json")

    with pytest.raises(ModelError, match="vocabulary of the tokenizer"):
        classifier(tmp_path / "mixed")


def test_a_tokenizer_with_far_fewer_tokens_is_refused_when_it_is_loaded(folders, tmp_path):
    shutil.copytree(folders["bert"], tmp_path / "mixed")
    content = json.loads((tmp_path / "mixed" / "tokenizer.json").read_text())
    words = content["model"]["vocab"]
    content["model"]["vocab"] = {word: n for word, n in words.items() if n < len(words) // 3}
    (tmp_path / "mixed" / "tokenizer.json").write_text(json.dumps(content))

    with pytest.raises(ModelError, match="much smaller than that of the model"):
        classifier(tmp_path / "mixed")


def changed(folder, target, **values):
    """A copy of a model folder with other values in config.json."""
    shutil.copytree(folder, target)
    config = json.loads((target / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**config, **values}))
    return target


def test_weights_of_another_size_are_refused_not_drawn_at_random(folders, tmp_path):
    """64 is the number of positions, so no look at the sizes alone finds the fault."""
    wrong = changed(folders["bert"], tmp_path / "wrong", intermediate_size=64)

    with pytest.raises(ModelError, match="layer.0.intermediate.dense.weight") as caught:
        classifier(wrong)
    assert "\n" not in caught.value.message


def test_weights_that_lack_a_layer_are_refused(folders, tmp_path):
    from safetensors.torch import load_file, save_file

    wrong = changed(folders["bert"], tmp_path / "wrong")
    weights = load_file(wrong / "model.safetensors")
    del weights["bert.encoder.layer.0.attention.self.query.weight"]
    save_file(weights, wrong / "model.safetensors", {"format": "pt"})

    with pytest.raises(ModelError, match="lack bert.encoder.layer.0.attention.self.query.weight"):
        classifier(wrong)


def test_a_language_model_head_that_is_missing_is_never_drawn(folders, tmp_path):
    """SpanBERT's weights have no such head, whatever config.json says."""
    from safetensors.torch import load_file, save_file

    wrong = changed(folders["bert"], tmp_path / "wrong", architectures=["BertForMaskedLM"])
    body = load_file(wrong / "model.safetensors")
    body = {name: item for name, item in body.items() if not name.startswith("cls")}
    save_file(body, wrong / "model.safetensors", {"format": "pt"})

    with pytest.raises(ModelError, match="is a bert model, which has no mask head"):
        load(wrong, LoadOptions(head="mask"))
    classifier(wrong)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_a_configuration_far_larger_than_the_weights_is_refused(folders, tmp_path, family):
    wide = changed(folders[family], tmp_path / "wide", pooler_size=1, head_dim=1_000_000)
    if family != "llama":  # the others have no such size
        wide = changed(
            folders[family], tmp_path / "wider", type_vocab_size=9_999, n_inner=9_999_999
        )

    with pytest.raises(ModelError, match="config.json (describes|gives)"):
        classifier(wide)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_size_that_a_configuration_describes_is_that_of_the_model(folders, family, monkeypatch):
    counts, real = [], transformer._described

    def counted(*arguments):
        counts.append(real(*arguments))
        return counts[-1]

    monkeypatch.setattr(transformer, "_described", counted)
    (head,) = FAMILY.heads(spec.read_folder(folders[family])) & {"mask", "next"}
    encoder = load(folders[family], LoadOptions(head=head))  # shares its weights with embeddings

    assert counts == [sum(weights.numel() for weights in encoder.model.parameters())]


def test_a_pickle_that_is_garbage_ends_in_a_model_error(folders, tmp_path):
    shutil.copytree(folders["bert"], tmp_path / "pickled")
    (tmp_path / "pickled" / "model.safetensors").unlink()
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"\x80\x02}q\x00.")

    with pytest.raises(ModelError):
        classifier(tmp_path / "pickled", allow_pickle=True)


def test_pickled_weights_load_once_allowed(folders, tmp_path):
    from safetensors.torch import load_file

    shutil.copytree(folders["bert"], tmp_path / "pickled")
    weights = load_file(tmp_path / "pickled" / "model.safetensors")
    torch.save(weights, tmp_path / "pickled" / "pytorch_model.bin")
    (tmp_path / "pickled" / "model.safetensors").unlink()

    with pytest.raises(ModelError, match="pickle"):
        classifier(tmp_path / "pickled")
    model = classifier(tmp_path / "pickled", allow_pickle=True).model
    assert torch.equal(
        model.bert.embeddings.word_embeddings.weight,
        weights["bert.embeddings.word_embeddings.weight"],
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("bos_token_id", True), ("hidden_dropout_prob", [1]), ("num_attention_heads", 7)],
)
def test_nonsense_in_the_configuration_is_reported_in_one_line(folders, tmp_path, key, value):
    shutil.copytree(folders["bert"], tmp_path / "wrong")
    config = json.loads((tmp_path / "wrong" / "config.json").read_text())
    (tmp_path / "wrong" / "config.json").write_text(json.dumps({**config, key: value}))

    with pytest.raises(ModelError, match="cannot be (read|loaded)") as caught:
        classifier(tmp_path / "wrong")
    assert "\n" not in caught.value.message


def test_the_feed_forward_width_comes_from_the_configuration(folders):
    encoder = load(folders["bert"], LoadOptions())

    assert (encoder.width, encoder.feed_forward) == (16, 32)


@pytest.mark.parametrize("family", ("bert", "gpt2"))
def test_random_weights_keep_the_architecture_and_depend_on_the_seed_only(folders, family):
    pretrained = classifier(folders[family], seed=3).state_dict()

    random, again, other = (
        classifier(folders[family], seed=seed, random=True).state_dict() for seed in (3, 3, 4)
    )

    assert {name: value.shape for name, value in random.items()} == {
        name: value.shape for name, value in pretrained.items()
    }
    assert all(torch.equal(random[name], again[name]) for name in random)
    matrices = [name for name, value in random.items() if value.dim() == 2]
    assert not any(torch.equal(random[name], other[name]) for name in matrices)
    body = [name for name in matrices if not name.startswith(("classifier", "score"))]
    assert not any(torch.equal(random[name], pretrained[name]) for name in body)


def with_lora(folder, target, task="SEQ_CLS"):
    """A copy of the model with a LoRA adapter of peft beside its weights; returns the folder."""
    from peft import LoraConfig, get_peft_model

    shutil.copytree(folder, target)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2)
    torch.manual_seed(3)
    config = LoraConfig(r=2, target_modules=["query", "value"], task_type=task)
    adapted = get_peft_model(model, config)
    for name, parameter in adapted.named_parameters():
        if "lora_B" in name:  # which is 0 at first
            torch.nn.init.normal_(parameter)
    adapted.save_pretrained(target)
    return target


def query(folder_or_encoder):
    model = getattr(folder_or_encoder, "model", folder_or_encoder)
    return model.bert.encoder.layer[0].attention.self.query


def test_an_adapter_beside_the_weights_is_merged_and_the_whole_model_is_saved(folders, tmp_path):
    """W + (alpha / rank) B A, calculated here from the file of peft."""
    from safetensors.torch import load_file

    folder = with_lora(folders["bert"], tmp_path / "adapted")
    file = load_file(folder / "adapter_model.safetensors")
    name = "base_model.model.bert.encoder.layer.0.attention.self.query.lora_{}.weight"
    plain = query(classifier(folders["bert"])).weight
    expected = plain + 8 / 2 * file[name.format("B")] @ file[name.format("A")]

    encoder = classifier(folder)
    FAMILY.save(encoder, tmp_path / "saved")

    assert type(query(encoder)) is torch.nn.Linear
    assert torch.allclose(query(encoder).weight, expected, atol=1e-6)
    assert query(encoder).weight.requires_grad
    saved = load_file(tmp_path / "saved" / "model.safetensors")
    assert torch.equal(
        saved["bert.encoder.layer.0.attention.self.query.weight"], query(encoder).weight
    )
    assert not (tmp_path / "saved" / "adapter_config.json").exists()


def test_an_adapter_is_merged_below_another_head_too(folders, tmp_path):
    folder = with_lora(folders["bert"], tmp_path / "adapted")
    expected = query(classifier(folder)).weight

    alone = load(folder, LoadOptions()).model

    assert torch.equal(alone.encoder.layer[0].attention.self.query.weight, expected)


def test_the_card_names_an_adapter_and_one_that_cannot_be_merged(folders, tmp_path):
    folder = with_lora(folders["bert"], tmp_path / "adapted")
    assert any("LoRA adapter" in note for note in spec.card(folder).notes)

    (folder / "adapter_model.safetensors").unlink()
    assert "adapter_model.safetensors is missing" in spec.card(folder).problems[0]

    config = folder / "adapter_config.json"
    config.write_text(json.dumps({"peft_type": "PREFIX_TUNING"}))
    assert "PREFIX_TUNING" in spec.card(folder).problems[0]


def test_an_adapter_of_another_model_is_refused(folders, tmp_path):
    folder = with_lora(folders["bert"], tmp_path / "adapted")
    file = folder / "adapter_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "r": 3}))

    with pytest.raises(ModelError, match="cannot be merged"):
        classifier(folder)
