"""The options of `evaluate` that change how a run decodes from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs import Run

FIT = "fit"  # in place of a threshold


def thresholds(given: tuple[str, ...]) -> dict[str, float] | None:
    """By label; None for those that fit dev best."""
    if given == (FIT,):
        return None
    found = {}
    for item in given:
        label, equals, value = item.rpartition("=")
        try:
            found[label] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise click.UsageError(
                _("{text!r} is neither of the form LABEL=VALUE nor the word “fit”.").format(
                    text=item
                )
            )
    return found


def set_temperature(project: Project, run: Run, how: str) -> None:
    from workbench.operations import calibration, quality_report

    if how == "none":
        calibration.set_temperature(project, run.id, 1.0)
    elif quality_report.fit_temperature(project, run) is None:
        raise WorkbenchError(
            _("Run {name!r} has no probabilities that a temperature can rescale.").format(
                name=run.name
            ),
            hint=_("Temperatures are for runs with classes, labels, tags or spans on dev."),
        )
