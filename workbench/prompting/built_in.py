"""The templates that ship with the application."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base import paths


@dataclass(frozen=True, slots=True)
class BuiltIn:
    id: str
    title: str
    source: str


def built_in() -> tuple[BuiltIn, ...]:
    """Templates in the order of their ids; a comment in the first line holds the title."""
    templates = []
    for path in sorted(paths.resource("prompts").glob("*.jinja")):
        source = path.read_text(encoding="utf-8")
        title = source.partition("#}")[0].removeprefix("{#-").removesuffix("-").strip()
        templates.append(BuiltIn(path.stem, title, source))
    return tuple(templates)
