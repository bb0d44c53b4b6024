"""Commands on sentences and paragraphs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.text.sentences import PARAGRAPH, SENTENCE, WHOLE
from workbench.ui.commands import Command

if TYPE_CHECKING:
    from workbench.ui.panels.annotate import AnnotatePanel


def _has_document(panel: AnnotatePanel) -> bool:
    return panel.state.doc is not None


def _has_units(panel: AnnotatePanel) -> bool:
    return bool(panel.state.units.ranges)


def _choose(kind: str, panel: AnnotatePanel) -> None:
    panel.state.units.choose_kind(kind)


def _is(kind: str, panel: AnnotatePanel) -> bool:
    return panel.state.units.kind == kind


def _kind(kind: str, title: str) -> Command:
    return Command(
        f"annotate.by-{kind}",
        title,
        partial(_choose, kind),
        "Labels",
        enabled=_has_document,
        checked=partial(_is, kind),
        group="units",
    )


UNIT_COMMANDS = (
    _kind(WHOLE, _("Label &whole documents")),
    _kind(PARAGRAPH, _("Label by pa&ragraph")),
    _kind(SENTENCE, _("Label by sente&nce")),
    Command(
        "annotate.unit-next",
        _("Next sentence or paragrap&h"),
        lambda p: p.state.step_unit(1),
        "Labels",
        "Alt+Down",
        enabled=_has_units,
        group="units",
    ),
    Command(
        "annotate.unit-previous",
        _("Previous sentence or para&graph"),
        lambda p: p.state.step_unit(-1),
        "Labels",
        "Alt+Up",
        enabled=_has_units,
        group="units",
    ),
)
