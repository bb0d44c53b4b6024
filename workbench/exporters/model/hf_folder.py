"""The Hugging Face folder: what `from_pretrained` and `pipeline` of transformers load."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from workbench.models.spec import DESCRIPTION
from workbench.tasks import model as networks
from workbench.tasks.predictor import Predictor


def write(predictor: Predictor, source: Path, folder: Path) -> None:
    """config.json with id2label, model.safetensors, tokenizer files, and our own description for
    prediction with Glossbench.
    """
    folder.mkdir(parents=True, exist_ok=True)
    networks.save(predictor.model, folder)
    shutil.copyfile(source / DESCRIPTION, folder / DESCRIPTION)
    if (folder / "tokenizer.json").is_file():
        limit_length(folder, predictor.max_length)


def limit_length(folder: Path, max_length: int) -> None:
    """Truncate at the training length, so that `truncation=True` gives the same predictions."""
    path = folder / "tokenizer_config.json"
    raw = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    raw["model_max_length"] = max_length
    path.write_text(json.dumps(raw, indent=2, ensure_ascii=False), encoding="utf-8")
