"""`--run-on`: train on a Ray cluster. For every command that starts trainings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workbench.base.i18n import _
from workbench.cli.runs.prompt import agree_to
from workbench.cli.runs.prompt_options import SEND_HELP
from workbench.training.general import MOST_AT_ONCE

if TYPE_CHECKING:
    from workbench.project.project import Project

Command = TypeVar("Command", bound=Callable[..., Any])
# in the context of a command
RUN_ON, YES_SEND, AT_ONCE = "glossbench.run_on", "glossbench.yes_send", "glossbench.at_once"


def _kept(context: click.Context, parameter: click.Parameter, value: object) -> None:
    context.meta[f"glossbench.{parameter.name}"] = value


def run_on(text: str) -> Callable[[Command], Command]:
    """The option --run-on, whose value `chosen_cluster` reads. text: its help."""
    return click.option(
        "--run-on", default="", metavar="ADDRESS", expose_value=False, callback=_kept, help=text
    )


def on_cluster(command: Command) -> Command:
    """The options --run-on and --yes-send, whose values `chosen_cluster` reads."""
    where = run_on(
        _(
            "Train on the Ray cluster at ADDRESS, such as ray://192.168.1.5:10001, instead of this "
            "computer."
        )
    )
    sends = click.option(
        "--yes-send", is_flag=True, expose_value=False, callback=_kept, help=SEND_HELP
    )
    return where(sends(command))


def several_on_cluster(command: Command) -> Command:
    """`on_cluster`, and --at-once, of a command that starts several trainings."""
    at_once = click.option(
        "--at-once",
        type=click.IntRange(1, MOST_AT_ONCE),
        expose_value=False,
        callback=_kept,
        help=_(
            "How many runs are trained on the cluster at a time. [default: as many as it has room "
            "for]"
        ),
    )
    return on_cluster(at_once(command))


def chosen_cluster(project: Project, address: str = "") -> str:
    """The address of --run-on, else the given one, once the user has agreed to it; "" for none.

    Raises SpecError for what is no address, ConsentNeeded without a terminal, Abort.
    """
    from workbench.operations.runs import clusters

    meta = click.get_current_context().meta
    where = clusters.address(meta.get(RUN_ON) or address)
    question = _(
        "Documents and labels of this project, and the model, will be sent to the Ray cluster at "
        "{address}, whose computers keep them to need them only once."
    )
    yes = bool(meta.get(YES_SEND))
    agree_to(project, clusters.needs_consent(project, where), question, yes)
    return where


def cluster_for_texts(project: Project | None, yes: bool) -> str:
    """As `chosen_cluster`, of texts that a model predicts. The consent is not kept, as the project
    may be open in a window.
    """
    from workbench.operations.runs import clusters

    where = clusters.address(click.get_current_context().meta.get(RUN_ON))
    question = _(
        "The texts and the model will be sent to the Ray cluster at {address}, whose computers "
        "keep them to need them only once."
    )
    agree_to(None, clusters.needs_consent(project, where), question, yes)
    return where
