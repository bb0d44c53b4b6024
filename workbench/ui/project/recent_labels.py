"""The labels that were used last, kept per project in the settings of the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.text.labels import Label
    from workbench.ui.panel import PanelContext

KEPT = 20  # labels whose last use is remembered
_KEY = "annotate.latest"  # project uid → uids of labels, the last one first


def latest(context: PanelContext, labels: Iterable[Label]) -> tuple[int, ...]:
    """Ids of the labels that were used last, the last one first."""
    uids = context.settings.window.get(_KEY, {}).get(opened(context).uid, [])
    known = {label.uid: label.id for label in labels}
    return tuple(id for uid in uids if (id := known.get(uid)) is not None)


def used(context: PanelContext, label: Label) -> None:
    """Put a label first. Written to the disk with the next change of the settings, or at exit."""
    window, uid = context.settings.window, opened(context).uid
    before = window.get(_KEY, {})
    uids = [label.uid, *(item for item in before.get(uid, []) if item != label.uid)][:KEPT]
    if uids != before.get(uid):
        window[_KEY] = {**before, uid: uids}
