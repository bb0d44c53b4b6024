"""Models: an encoder with the library's head or one of ours, in memory and on disk."""

import json

import pytest
import torch

from tests import tiny_models
from tests.tiny_heads import MeanHead, mean_head
from workbench.base.errors import ModelError
from workbench.models import spec as models
from workbench.models.base import LoadOptions
from workbench.tasks import model as networks
from workbench.tasks.base import Features, collate
from workbench.tasks.classify.task import Classify
from workbench.tasks.heads.linear import TokenHead
from workbench.tasks.model import HEAD, Setting, build, load, save
from workbench.tasks.tag.task import Tagging
from workbench.text.document import Document

LABELS = ("x", "y", "z")
CPU = torch.device("cpu")


class Averaged(Classify):
    """Document classes without the library's head."""

    native = ""

    head = mean_head


class Chosen(Averaged):
    """The library's head unless the options ask for ours."""

    native = "sequence"

    def uses_native(self, options):
        return not options.get("own")


def made(folder, task, *, seed=1, labels=LABELS, **options):
    setting = Setting(task, labels, options, seed)
    return build(models.read_folder(folder), setting, LoadOptions(seed=seed)), setting


def logits_of(model):
    texts = ("ada met bob in paris", "late", "the tram is late , thank you")
    documents = [Document(str(number), (("text", text),)) for number, text in enumerate(texts)]
    features = Features(model.encoder.preparer.whole(documents, 32), {})
    batch = collate(features, range(3), encoder=model.encoder, device=CPU)
    with torch.inference_mode():
        return model.eval()(batch.inputs)


def ids(parameters):
    return {id(parameter) for parameter in parameters}


# ---------------------------------------------------------------- the two kinds of head


def test_the_parameters_of_our_own_head_are_exactly_the_heads(tiny_model):
    model, _ = made(tiny_model, Averaged())

    assert model.head is not None and model.encoder.head == ""
    assert len(model.head_parameters()) == 2
    assert ids(model.head_parameters()) == ids(model.head.parameters())


@pytest.mark.parametrize("task", [Classify(), Tagging()], ids=["classify", "tag"])
def test_the_parameters_of_a_native_head_are_exactly_the_librarys(tiny_model, task):
    model, _ = made(tiny_model, task)

    assert model.head is None and model.encoder.head == task.native
    assert len(model.head_parameters()) == 2
    assert ids(model.head_parameters()) == ids(model.encoder.model.classifier.parameters())


@pytest.mark.parametrize("family", ["roberta", "electra", "distilbert", "gpt2"])
def test_a_native_head_of_several_layers_is_found_whole(tmp_path, family):
    names = {
        "roberta": ("classifier.",),
        "electra": ("classifier.",),
        "distilbert": ("classifier.", "pre_classifier."),
        "gpt2": ("score.",),
    }
    model, _ = made(tiny_models.make(tmp_path / family, family), Classify())

    theirs = [
        parameter
        for name, parameter in model.encoder.model.named_parameters()
        if name.startswith(names[family])
    ]
    assert ids(model.head_parameters()) == ids(theirs)


def test_logits_are_named_and_float32_even_in_half_precision(tiny_model):
    for task in (Classify(), Averaged()):
        model, _ = made(tiny_model, task)

        logits = logits_of(model.to(torch.bfloat16))

        assert list(logits) == ["logits"]
        assert logits["logits"].shape == (3, 3) and logits["logits"].dtype == torch.float32


def test_the_seed_draws_the_head_and_the_folder_gives_the_encoder(tiny_model):
    item, same, other = (made(tiny_model, Averaged(), seed=seed)[0] for seed in (1, 1, 2))

    assert torch.equal(item.head.out.weight, same.head.out.weight)
    assert not torch.equal(item.head.out.weight, other.head.out.weight)
    states = [model.encoder.state_dict() for model in (item, other)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_gradients_reach_encoder_and_head(tiny_model):
    model, _ = made(tiny_model, Averaged())
    documents = [Document("a", (("text", "ada met bob"),))]
    features = Features(model.encoder.preparer.whole(documents, 32), {})
    batch = collate(features, [0], encoder=model.encoder, device=CPU)

    model(batch.inputs)["logits"].sum().backward()

    parts = model.encoder.parts()
    assert all(parameter.grad is not None for parameter in model.head_parameters())
    assert all(parameter.grad is not None for layer in parts.layers for parameter in layer)


# ---------------------------------------------------------------- folders


@pytest.mark.parametrize("task", [Averaged(), Classify(), Tagging()], ids=["own", "class", "tag"])
def test_a_saved_model_loads_with_equal_logits(tiny_model, tmp_path, task):
    model, setting = made(tiny_model, task)
    expected = logits_of(model)["logits"]

    save(model, tmp_path)
    loaded = load(tmp_path, Setting(task, LABELS, {}, seed=7))

    assert torch.equal(logits_of(loaded)["logits"], expected)
    assert (tmp_path / HEAD).is_file() == (model.head is not None)
    assert setting.outputs(task.native) == task.info.output_names(LABELS)


def test_a_folder_with_a_native_head_names_its_outputs(tiny_model, tmp_path):
    model, _ = made(tiny_model, Tagging(), labels=("P",))

    save(model, tmp_path)

    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert config["id2label"] == {"0": "O", "1": "B-P", "2": "I-P"}


def test_the_options_decide_which_head_is_built(tiny_model, tmp_path):
    native, _ = made(tiny_model, Chosen())
    own, setting = made(tiny_model, Chosen(), own=True)

    save(own, tmp_path)

    assert (native.encoder.head, own.encoder.head) == ("sequence", "")
    assert isinstance(load(tmp_path, setting).head, MeanHead)
    loaded = load(tmp_path, setting)
    assert torch.equal(logits_of(loaded)["logits"], logits_of(own)["logits"])


def test_a_damaged_head_and_one_for_other_labels_are_named(tiny_model, tmp_path):
    model, setting = made(tiny_model, Averaged())
    save(model, tmp_path)

    with pytest.raises(ModelError, match=HEAD) as caught:
        load(tmp_path, Setting(Averaged(), ("x", "y"), {}))
    assert "\n" not in caught.value.message
    (tmp_path / HEAD).write_bytes(b"no weights")
    with pytest.raises(ModelError, match=HEAD):
        load(tmp_path, setting)


@pytest.mark.parametrize("task", [Averaged(), Chosen()], ids=["own", "chosen"])
def test_a_missing_head_is_named_and_not_replaced_by_a_new_one(tiny_model, tmp_path, task):
    model, setting = made(tiny_model, task, own=True)
    save(model, tmp_path)
    (tmp_path / HEAD).unlink()

    with pytest.raises(ModelError, match=HEAD):
        load(tmp_path, setting)


def test_a_model_without_the_librarys_head_gets_ours(tmp_path):
    folder = tiny_models.make(tmp_path / "olmo", "olmo")

    model, _setting = made(folder, Tagging())

    assert isinstance(model.head, TokenHead) and model.encoder.head == ""
    assert logits_of(model)["logits"].shape[2] == 2 * len(LABELS) + 1


def test_a_task_of_the_registry_is_made_by_its_id():
    assert isinstance(networks.task_of("tag"), Tagging)
    assert isinstance(networks.task_of("classify"), Classify)
