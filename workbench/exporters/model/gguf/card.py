"""The README.md and the Modelfile of a GGUF folder, in English: they travel with the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import transformers

from workbench.exporters.model.gguf.info import FILE, GgufInfo
from workbench.exporters.model.results import Verification


def modelfile(config: Mapping[str, Any]) -> str:
    """What `ollama create` reads."""
    length = config.get("n_positions") or config["max_position_embeddings"]
    return f"FROM ./{FILE}\nPARAMETER num_ctx {length}\n"


def readme(facts: Mapping[str, Any], check: Verification, info: GgufInfo) -> str:
    """`facts` as in ExportSpec."""
    name, rounded = facts.get("base_model") or "model", ", its matrices rounded to float16"
    compared = (
        f"Check with transformers {transformers.__version__}, which read the file again, against "
        f"the original{rounded if info.half else ''}: {check.texts:,} texts have the same token "
        f"ids; the most probable next token is the same after {check.equal:,} of "
        f"{check.labels:,} tokens, largest difference of logits {check.largest_difference:.1e}."
    )
    parts = [
        f"# {name}, {info.title}",
        "Written by Glossbench for llama.cpp, Ollama, LM Studio and others.",
        f"The check failed: {check.problem}" if check.problem else compared,
        f"Licence of the model: {facts.get('base_licence') or 'see the original'}.",
        f"```python\n{info.usage('path/of/this/folder')}```",
        f"With Ollama: `ollama create {name} -f Modelfile`",
    ]
    return "\n\n".join(parts) + "\n"
