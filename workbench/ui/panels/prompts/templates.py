"""The templates that the Prompts page offers: built in, and saved in the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.operations.prompts import prompt

if TYPE_CHECKING:
    from workbench.project.project import Project

OWN = "own"  # id of the template as edited, which is none of the list


@dataclass(frozen=True)
class Known:
    """A template to choose. `id` is that of a built-in one, or "saved NAME"."""

    id: str
    title: str
    source: str
    builtin: bool = True


def known_templates(project: Project) -> tuple[Known, ...]:
    """Built-in templates, then those saved in the project."""
    return (
        *(Known(built.id, _(built.title), built.source) for built in prompt.templates()),
        *(
            Known(f"saved {saved.name}", saved.name, saved.body, builtin=False)
            for saved in prompt.saved(project)
        ),
    )


def unused_name(known: Sequence[Known]) -> str:
    """A title for a new template that none of the known ones has."""
    titles = {template.title for template in known}
    number = 1
    while (name := _("My prompt {n}", n=number)) in titles:
        number += 1
    return name
