"""Files beside the weights of a pretrained model: its report, and the first batch of the run.

Does not import torch.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.pretraining.results import PretrainResult, ShownRow

REPORT = "pretraining.json"  # settings, texts, curve
FIRST_BATCH = "first_batch.json.gz"


def write(folder: Path, result: PretrainResult, rows: Sequence[ShownRow]) -> None:
    """Write both files; rows: of the first batch, as text."""
    report = json_text(result.to_json(), indent=1)
    (folder / REPORT).write_text(report, encoding="utf-8")
    batch = {"objective": result.objective, "rows": [row.to_json() for row in rows]}
    content = json.dumps(batch, ensure_ascii=False).encode("utf-8", "surrogatepass")
    (folder / FIRST_BATCH).write_bytes(gzip.compress(content, mtime=0))


def has_first_batch(model: Path) -> bool:
    return (model / FIRST_BATCH).is_file()


def first_batch(model: Path) -> Mapping[str, Any]:
    """{"objective", "rows"} of the run that wrote a model. Raises ModelError."""
    path = model / FIRST_BATCH
    try:
        batch: Any = json.loads(gzip.decompress(path.read_bytes()).decode("utf-8", "surrogatepass"))
    except (OSError, EOFError, ValueError) as error:
        raise ModelError(_("{path} cannot be read: {error}.", path=path, error=error)) from error
    if not isinstance(batch, dict) or not isinstance(batch.get("rows"), list):
        raise ModelError(_("{path} holds no batch.", path=path))
    return batch
