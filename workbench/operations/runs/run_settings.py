"""The settings of runs as rows, and those that differ between runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.i18n import N_, _
from workbench.operations.prompts import prompt_versions
from workbench.operations.runs.run_results import planned, trained
from workbench.training.spec import all_options

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run

_TITLES = {
    "kind": N_("Kind"),
    "task": N_("Task"),
    "layer": N_("Layer"),
    "model": N_("Model"),
    "seed": N_("Seed"),
    "training_documents": N_("Training documents"),
    "data": N_("Data"),
    "base_model": N_("Weights of the base model"),
}
_FINGERPRINTS = ("data", "base_model")
# what `spec` holds beside settings, or under another name in the rows
_NOT_SETTINGS = frozenset(
    "name model model_name model_info plan resolved options licence fingerprint task layer seed "
    "family split dropped cut with_test allow_pickle chain job_of taught_by".split()
)
_VERSION = "version."


@dataclass(frozen=True)
class SettingRow:
    """A setting and its value in each run; None where a run does not have it."""

    name: str
    values: tuple[object, ...]

    @property
    def is_fingerprint(self) -> bool:
        """Whether the values are hashes, of which only the difference can be read."""
        return self.name in _FINGERPRINTS

    def title(self, titles: Mapping[str, str]) -> str:
        """The display name; `titles` are those of `option_titles`."""
        if self.name in _TITLES:
            return _(_TITLES[self.name])
        if self.name.startswith(_VERSION):
            return _("Version of {name}", name=self.name.removeprefix(_VERSION))
        return titles.get(self.name) or self.name.replace("_", " ").capitalize()


def option_titles() -> dict[str, str]:
    """Name of every training setting → its display name."""
    return {option.name: _(option.title) for option in all_options() if option.title}


def differing(chosen: Sequence[Run]) -> tuple[SettingRow, ...]:
    """The settings that are not equal in all runs, in the order of the first run that has them."""
    tables = [dict(_settings(run)) for run in chosen]
    names = dict.fromkeys(name for table in tables for name in table)
    rows = (SettingRow(name, tuple(table.get(name) for table in tables)) for name in names)
    return tuple(row for row in rows if any(value != row.values[0] for value in row.values))


def _settings(run: Run) -> Iterator[tuple[str, object]]:
    """(name, value) of everything that was chosen for a run, or follows from it."""
    spec, result = run.spec, trained(run)
    yield "kind", run.kind
    yield "task", spec.get("task")
    yield "layer", run.layer
    yield "model", spec.get("model_name") or spec.get("model")
    yield "seed", spec.get("seed")
    for name, value in {**spec.get("options", {}), **result.options, **_plan(run)}.items():
        yield name, value
    if prompt := prompt_versions.spec_of_run(run):
        yield "template", prompt.template
        yield from ((row.title, row.value) for row in prompt_versions.settings(prompt, own=True))
    else:
        for name, value in spec.items():
            if name not in _NOT_SETTINGS:
                yield name, value
    if used := result.used or spec.get("plan", {}).get("used", {}):
        yield "training_documents", used.get("train")
    yield "data", run.data_fingerprint or None
    yield "base_model", run.base_fingerprint or None
    for name, value in run.versions.items():
        yield f"{_VERSION}{name}", value


def _plan(run: Run) -> dict[str, object]:
    """What automatic settings became, for those of the run's own settings."""
    if (plan := planned(run)) is None:
        return {}
    chosen = vars(plan)
    names = (name for name in trained(run).options if chosen.get(name) is not None)
    return {name: chosen[name] for name in names}
