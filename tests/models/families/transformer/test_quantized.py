"""Weights of 8 and 4 bits: refused with a reason where they cannot be, else passed on."""

import pytest
import torch
import transformers

from tests import tiny_models
from workbench.base.errors import ModelError, SpecError
from workbench.models.families.transformer import quantized
from workbench.models.generate import LanguageModel
from workbench.models.spec import card


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("llama") / "llama", "llama")


@pytest.fixture
def gpu(monkeypatch):
    """Pretends that there is a GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)


def test_without_a_gpu_or_the_package_it_is_said(llama, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SpecError, match="8-bit weights need an NVIDIA GPU; the device is cpu"):
        LanguageModel.load(llama, device="cpu", bits=8)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(quantized.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(SpecError, match="package bitsandbytes, which is not installed") as raised:
        quantized.arguments(card(llama), 4, "cuda")
    assert "extra “quantized”" in raised.value.hint


def test_only_decoders_can_have_such_weights(tiny_model, gpu):
    with pytest.raises(ModelError, match="4-bit weights: only decoders are supported"):
        quantized.arguments(card(tiny_model), 4, "cuda")
    assert quantized.arguments(card(tiny_model), 0, "cpu") == {}


@pytest.mark.parametrize("bits", [8, 4])
def test_the_configuration_reaches_the_library(llama, gpu, monkeypatch, bits):
    asked = {}

    def from_pretrained(path, **named):
        asked.update(named, path=path)
        raise RuntimeError("no GPU here")

    monkeypatch.setattr(quantized.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr("workbench.models.generate.devices.pick", lambda _name: "cuda:0")
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", from_pretrained)
    with pytest.raises(ModelError, match="no GPU here"):
        LanguageModel.load(llama, bits=bits)

    config = asked["quantization_config"]
    assert (config.load_in_8bit, config.load_in_4bit) == (bits == 8, bits == 4)
    assert asked["device_map"] == {"": "cuda:0"} and asked["dtype"] == torch.bfloat16
    assert bits == 8 or config.bnb_4bit_quant_type == "nf4"
