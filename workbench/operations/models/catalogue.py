"""The catalogue of published systems joined with the installed models."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.settings import Settings
from workbench.models.spec import ModelInfo
from workbench.models.spec.catalogue import Published, catalogue, matches
from workbench.operations.models import installed


def published(
    search: str = "", sort: str = "", *, settings: Settings | None = None
) -> tuple[Published, ...]:
    """The entries that match, each with its installed model.

    sort: the name of a field, "" for the order of the file; unknown values come last.
    """
    return select(installed.list(settings), search, sort)


def select(cards: Sequence[ModelInfo], search: str = "", sort: str = "") -> tuple[Published, ...]:
    """As `published`, for cards that have been read already."""
    titles = {group.id: group.title for group in catalogue().groups}
    rows = [
        item
        for item in catalogue().with_installed(cards)
        if matches(item, titles[item.group], search)
    ]
    if sort:
        rows.sort(key=lambda item: _key(getattr(item, sort)))
    return tuple(rows)


def _key(value: object) -> tuple[bool, object]:
    return not value, value.casefold() if isinstance(value, str) else value
