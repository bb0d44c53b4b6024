"""The caution that systems were scored on texts that they were trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.controls.button import Button

if TYPE_CHECKING:
    from workbench.ui.panels.results.runs.details import TrainOverlap

SENTENCES = 2  # systems that have a sentence each


class TrainOverlapWarning(Callout):
    """show(ids, caption) shows documents."""

    def __init__(self, show: Callable[[tuple[int, ...], str], None]):
        self._overlaps: tuple[TrainOverlap, ...] = ()
        button = Button(_("Show documents"), "database", "quiet", small=True, on=self._show)
        super().__init__("", "warn", button)
        self._shown_by = show
        self.set("", "warn")

    def show_systems(self, overlaps: Sequence[TrainOverlap]) -> None:
        """Show the systems that were trained on scored documents."""
        self._overlaps = overlapping = tuple(scored for scored in overlaps if scored.seen)
        message = " ".join(map(_sentence, overlapping))
        if len(overlapping) > SENTENCES:
            names = ", ".join(f"{scored.name} ({len(scored.seen)})" for scored in overlapping)
            message = ngettext(
                "The texts of scored documents were in the training data of {n} system: {names}. "
                "Its scores are too optimistic.",
                "The texts of scored documents were in the training data of {n} systems: {names}. "
                "Their scores are too optimistic.",
                len(overlapping),
                names=names,
            )
        self.set(message, "warn")

    def _show(self) -> None:
        ids = dict.fromkeys(
            document.document_id for scored in self._overlaps for document in scored.seen
        )
        names = ", ".join(scored.name for scored in self._overlaps)
        self._shown_by(tuple(ids), _("training data of {runs}", runs=names))


def _sentence(overlap: TrainOverlap) -> str:
    return ngettext(
        "The text of {seen:,} of {n:,} {split} document was in the training data of {run}: its "
        "scores are too optimistic.",
        "The texts of {seen:,} of {n:,} {split} documents were in the training data of {run}: its "
        "scores are too optimistic.",
        overlap.n,
        seen=len(overlap.seen),
        split=term(overlap.split),
        run=overlap.name,
    )
