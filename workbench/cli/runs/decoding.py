"""The options of `evaluate` that change how a run decodes from now on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

FIT = "fit"  # in place of a threshold


@dataclass(frozen=True)
class DecodingChanges:
    """What the options change. thresholds: by label, None for those that fit dev best; they are
    left as they are unless `sets_thresholds`.
    """

    temperature: str | None
    sets_thresholds: bool
    thresholds: dict[str, float] | None

    @classmethod
    def of(cls, temperature: str | None, items: tuple[str, ...]) -> DecodingChanges:
        """Raises UsageError for a threshold that is not of the form LABEL=VALUE."""
        return cls(temperature, bool(items), thresholds(items))

    def __bool__(self) -> bool:
        return bool(self.temperature) or self.sets_thresholds

    def apply(self, project: Project, run: Run) -> None:
        """Raises WorkbenchError if the run has no such temperature or thresholds."""
        from workbench.operations.evaluation import quality_report

        if self.temperature:
            set_temperature(project, run, self.temperature)
        if self.sets_thresholds:
            quality_report.change_thresholds(project, run, self.thresholds)


def thresholds(items: tuple[str, ...]) -> dict[str, float] | None:
    """By label; None for those that fit dev best. Raises UsageError for another form."""
    if items == (FIT,):
        return None
    values = {}
    for item in items:
        label, equals, value = item.rpartition("=")
        try:
            values[label] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise click.UsageError(
                _("{text!r} is neither of the form LABEL=VALUE nor the word “fit”.").format(
                    text=item
                )
            )
    return values


def set_temperature(project: Project, run: Run, how: str) -> None:
    """Store the temperature that fits dev best; none with "none".

    Raises WorkbenchError for a run without probabilities on dev.
    """
    from workbench.operations.evaluation import quality_report
    from workbench.operations.runs import calibration

    if how == "none":
        calibration.set_temperature(project, run.id, 1.0)
    elif quality_report.fit_temperature(project, run) is None:
        raise WorkbenchError(
            _("Run {name!r} has no probabilities that a temperature can rescale.").format(
                name=run.name
            ),
            hint=_("Temperatures are for runs with classes, labels, tags or spans on dev."),
        )
