"""The learning curve of the instant model: its points, kept beside the project, and advice."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import queue_orders
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Layer

STABLE, POINTS = 0.99, 3  # agreement at so many points that predictions are called stable
GAIN = 0.01  # of the score over these points below which it is called level


@dataclass(frozen=True)
class CurvePoint:
    """What was measured after so many labels. score: on `tested` held-out labels, or None.

    agreement: Cohen's kappa with the predictions of the point before.
    """

    labels: int
    score: float | None
    tested: int
    agreement: float | None


# ---------------------------------------------------------------- keeping


def keep(project: Project, layer: Layer, model: str, points: Sequence[CurvePoint]) -> None:
    """Store the points of a layer with the vectors of a model, "" for words; nothing if the
    project is read-only.
    """
    if project.read_only:
        return
    path = _file(project, layer, model)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.part")
    content = {"model": model, "points": [asdict(point) for point in points]}
    draft.write_text(json.dumps(content), encoding="utf-8")
    os.replace(draft, path)


def kept(project: Project, layer: Layer, model: str) -> tuple[CurvePoint, ...]:
    """The points of a layer with this model; () if there are none, or the file is damaged."""
    try:
        saved = json.loads(_file(project, layer, model).read_text(encoding="utf-8"))
        points = tuple(CurvePoint(**raw) for raw in saved["points"])
        return points if saved["model"] == model else ()
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def _file(project: Project, layer: Layer, model: str) -> Path:
    name = f"instant-{row_id(layer)}" if model else f"instant-{row_id(layer)}-words"
    return project.runs_folder / queue_orders.FOLDER / f"{name}.json"


# ---------------------------------------------------------------- advice


def advice(points: Sequence[CurvePoint]) -> str:
    """Whether more labels are likely to help, in a sentence.

    Predictions that no longer change are the sign (Bloodgood and Vijay-Shanker 2009, kappa of at
    least 0.99 at three points); the score on held-out labels confirms it.
    """
    known = [point for point in points if point.agreement is not None]
    if len(known) < POINTS:
        missing = POINTS - len(known)
        return ngettext(
            "Too early to say: {n} more point is needed, one for every 10 labels.",
            "Too early to say: {n} more points are needed, one for every 10 labels.",
            missing,
        )
    last = known[-POINTS:]
    stable = all((point.agreement or 0.0) >= STABLE for point in last)
    scores = [point.score for point in last if point.score is not None]
    level = len(scores) < 2 or scores[-1] - scores[0] < GAIN
    if stable and level:
        return _(
            "More labels are unlikely to help this model: its predictions have stopped changing."
        )
    if stable:
        return _(
            "Continue: predictions hardly change, but the score on held-out labels still rises."
        )
    if level:
        return _("Continue: predictions still change, although the score has levelled off.")
    return _("Continue: the score still rises with each label.")
