"""The first batch of the pretraining that wrote a model, as it is kept beside its weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.pretraining import report
from workbench.pretraining.spec import objectives

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo


def is_known(card: ModelInfo) -> bool:
    """Whether a model has one."""
    return report.has_first_batch(Path(card.path))


def read(card: ModelInfo) -> dict[str, Any]:
    """The title of its objective, and its rows, see `Pretraining.first_batches`.

    Raises ModelError for a damaged file.
    """
    batch = report.first_batch(Path(card.path))
    titles = {info.id: _(info.title) for info in objectives()}
    id = str(batch.get("objective", ""))
    return {"title": titles.get(id, id), "rows": batch["rows"]}
