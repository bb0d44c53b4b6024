"""An adapter of the library peft in the folder of a model, beside its weights. Imports no torch.

transformers would apply it while it loads the folder, and then save the adapter alone.
"""

from __future__ import annotations

from pathlib import Path

from workbench.base.i18n import _
from workbench.models.formats.json_files import one_line, read_object

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
LORA = "LORA"  # the kind that can be merged into the weights


def is_there(folder: Path) -> bool:
    return (folder / CONFIG).is_file()


def note(folder: Path, problems: list[str]) -> tuple[str, ...]:
    """A sentence on the adapter, if there is one. Appends a problem if it cannot be merged."""
    if not is_there(folder):
        return ()
    kind = (read_object(folder / CONFIG, problems) or {}).get("peft_type")
    if kind != LORA:
        problems.append(
            _(
                "{file} describes an adapter of the type {type}; only LoRA can be merged",
                file=CONFIG,
                type=one_line(kind, 40) if isinstance(kind, str) else "?",
            )
        )
    elif not (folder / WEIGHTS).is_file():
        problems.append(
            _("{file} describes an adapter, but {weights} is missing", file=CONFIG, weights=WEIGHTS)
        )
    return (
        _(
            "It has a LoRA adapter ({file}), which is merged into the weights on loading.",
            file=WEIGHTS,
        ),
    )
