"""Values of options that are ids of contributions, and which options were specified."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click
from click.core import ParameterSource

from workbench.base.registry import plugin_hint, registry


class ContributionChoice(click.Choice[str]):
    """One of the ids of a kind, as they are when a command runs: plugins may be enabled later."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(registry().ids(self.kind))

    @choices.setter
    def choices(self, values: Iterable[str]) -> None:
        """Click sets the attribute; the registry has the values."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """The known ids; for an id of a plugin also which one to enable."""
        message = super().get_invalid_choice_message(value, ctx)
        return f"{message} {plugin_hint(str(value))}".rstrip()


def explicit_options(*names: str) -> list[str]:
    """Those of the parameters of the running command that are not at their default: `--name`."""
    source = click.get_current_context().get_parameter_source
    changed = [name for name in names if source(name) is not ParameterSource.DEFAULT]
    return [f"--{name.replace('_', '-')}" for name in changed]
