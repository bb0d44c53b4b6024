"""Decoders with weights of 8 or 4 bits, by bitsandbytes on NVIDIA GPUs.

Sources: Dettmers et al. 2022, LLM.int8(); Dettmers et al. 2023, QLoRA, section 3, for NF4.
"""

from __future__ import annotations

import importlib.util
import logging
from typing import Any

import torch

from workbench.base import extras
from workbench.base.errors import ModelError, SpecError
from workbench.base.i18n import _
from workbench.models import spec
from workbench.models.families.transformer.info.architectures import DECODERS

PACKAGE = "bitsandbytes"


def arguments(info: spec.ModelInfo, bits: int, device: str) -> dict[str, Any]:
    """Arguments of `from_pretrained` that quantize the weights while loading; {} for 0 bits.

    Raises ModelError for other architectures than decoders, SpecError where the device cannot do it
    or the package is missing.
    """
    if not bits:
        return {}
    if info.architecture not in DECODERS:
        raise ModelError(
            _(
                "{model} cannot be loaded with {bits}-bit weights: only decoders are supported.",
                model=info.name,
                bits=bits,
            ),
            hint=_("Load it in full precision, or choose a model such as Llama, OLMo or Qwen."),
        )
    if not torch.cuda.is_available() or not device.startswith("cuda"):
        raise SpecError(
            _(
                "{bits}-bit weights need an NVIDIA GPU; the device is {device}.",
                bits=bits,
                device=device,
            ),
            hint=_("Load the model in full precision, or choose the device cuda."),
        )
    if importlib.util.find_spec(PACKAGE) is None:
        raise SpecError(
            _(
                "{bits}-bit weights need the package {package}, which is not installed.",
                bits=bits,
                package=PACKAGE,
            ),
            hint=extras.advice(PACKAGE),
        )
    logging.getLogger(PACKAGE).setLevel(logging.ERROR)  # a line per product about its precision
    return {
        "quantization_config": config(bits),
        "device_map": {"": device},
        "dtype": torch.bfloat16,
    }


def config(bits: int) -> Any:
    """8 bits: LLM.int8(). 4 bits: NF4, computed in bfloat16."""
    from transformers import BitsAndBytesConfig

    if bits == 8:
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_compute_dtype=torch.bfloat16,
        bnb_4bit_use_double_quant=True,
    )
