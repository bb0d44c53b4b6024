"""Options whose values are ids of contributions."""

import click
import pytest

from workbench.cli import choices
from workbench.cli.choices import ContributionChoice


def test_the_values_are_those_of_the_registry_when_the_command_runs(monkeypatch):
    choice = ContributionChoice("exporter")
    assert "csv" in choice.choices and choice.convert("csv", None, None) == "csv"

    class Later:
        @staticmethod
        def ids(kind):
            return (f"later.{kind}",)

    monkeypatch.setattr(choices, "registry", Later)

    assert choice.convert("later.exporter", None, None) == "later.exporter"
    with pytest.raises(click.BadParameter, match="'csv' is not"):
        choice.convert("csv", None, None)


def test_an_id_of_a_plugin_that_is_not_enabled_names_the_plugin():
    choice = ContributionChoice("importer")

    with pytest.raises(click.BadParameter, match="'lines.all' is not.*Enable the plugin lines,"):
        choice.convert("lines.all", None, None)
    with pytest.raises(click.BadParameter, match="'kapa' is not one of (?!.*Enable)"):
        choice.convert("kapa", None, None)
