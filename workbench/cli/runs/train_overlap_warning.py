"""The caution that a run was scored on documents that it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import ngettext
from workbench.cli.output import note

if TYPE_CHECKING:
    from workbench.operations.runs.trained_on import TrainedOn

NAMED = 5  # documents


def warn_of_training_texts(run: str, overlap: Sequence[TrainedOn], n: int) -> None:
    """A line on standard error, nothing without such documents. n: documents that were scored."""
    if not overlap:
        return
    message = ngettext(
        "Caution: the text of {seen:,} of {n:,} scored document was in the training data of "
        "{run}, so its scores are too optimistic ({keys}).",
        "Caution: the texts of {seen:,} of {n:,} scored documents were in the training data of "
        "{run}, so its scores are too optimistic ({keys}).",
        n,
    )
    keys = ", ".join(on.key for on in overlap[:NAMED]) + (", …" if len(overlap) > NAMED else "")
    note(message.format(seen=len(overlap), n=n, run=run, keys=keys))
