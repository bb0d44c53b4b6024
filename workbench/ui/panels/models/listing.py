"""The rows of the Models page: families, installed models and published systems. Without Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.base.i18n import _, ngettext
from workbench.models.spec import ModelInfo
from workbench.models.spec.catalogue import (
    DIRECTIONS,
    Catalogue,
    Published,
    catalogue,
    matches,
)
from workbench.models.spec.licences import spdx

OTHER = ""  # the group of installed models that fit no family of the catalogue
ALL, INSTALLED, MISSING = "all", "installed", "missing"
UNSTATED = "-"  # the licence filter for models whose licence is not known


@dataclass(frozen=True)
class ModelRow:
    """A family (`is_group`), an installed model (`card`) or one that is only published.

    about: the entry of the catalogue; for an installed model that has none, the first published one
    of its architecture, and `own` is False. opened: of a family, whether its models are shown.
    """

    key: str
    title: str
    group: str
    card: ModelInfo | None = None
    about: Published | None = None
    own: bool = True
    is_group: bool = False
    summary: str = ""
    opened: bool = False

    @property
    def paper(self) -> str:
        return self.about.paper if self.about else ""

    @property
    def year(self) -> int:
        return self.about.year if self.about else 0

    @property
    def parameters(self) -> int:
        if self.card is not None and self.card.parameters:
            return self.card.parameters
        return self.about.parameters if self.about and self.own else 0

    @property
    def objective(self) -> str:
        return self.about.objectives if self.about else ""

    @property
    def direction(self) -> str:
        return _(DIRECTIONS[self.about.direction]) if self.about else ""

    @property
    def licence(self) -> str:
        if self.card is not None and self.card.licence:
            return spdx(self.card.licence)
        return self.about.licence if self.about and self.own else ""


@dataclass(frozen=True)
class Filters:
    """What is shown. search: words; shown: ALL, INSTALLED or MISSING; others: "" for any.

    direction: a key of DIRECTIONS. licence: as in the rows, case ignored, or UNSTATED.
    """

    search: str = ""
    shown: str = ALL
    direction: str = ""
    licence: str = ""

    @property
    def active(self) -> bool:
        return self != Filters()

    def allow(self, row: ModelRow, group: str) -> bool:
        if self.shown != ALL and (row.card is not None) != (self.shown == INSTALLED):
            return False
        if self.direction and (row.about is None or row.about.direction != self.direction):
            return False
        if self.licence and (row.licence.casefold() or UNSTATED) != self.licence:
            return False
        return _matches(row, group, self.search)


def models(cards: Iterable[ModelInfo], known: Catalogue | None = None) -> tuple[ModelRow, ...]:
    """All models by family: the installed ones of a family first, as given."""
    known = known or catalogue()
    installed = [_installed(card, known) for card in cards]
    taken = {row.about.name for row in installed if row.about and row.own}
    published = [
        ModelRow(f"published:{model.name}", model.name, model.group, about=model)
        for model in known.models
        if model.name not in taken
    ]
    order = [*(group.id for group in known.groups), OTHER]
    return tuple(sorted([*installed, *published], key=lambda row: order.index(row.group)))


def _installed(card: ModelInfo, known: Catalogue) -> ModelRow:
    about = known.original(card) if card.family else None
    own = about is not None and about.hub == card.name
    group = about.group if about else known.group_of(card)
    return ModelRow(f"card:{card.path}", card.name, group, card, about, own)


def shown(
    rows: Sequence[ModelRow], filters: Filters, closed: frozenset[str], *, flat: bool = False
) -> tuple[ModelRow, ...]:
    """The rows to show: families with their models, or models alone if `flat`.

    Families in `closed` show no models, unless a filter is active.
    """
    titles = {group.id: _(group.title) for group in catalogue().groups}
    titles[OTHER] = _("Other models")
    fitting = [row for row in rows if filters.allow(row, titles[row.group])]
    if flat:
        return tuple(fitting)
    listed: list[ModelRow] = []
    for group, title in titles.items():
        inside = [row for row in fitting if row.group == group]
        if not inside:
            continue
        is_open = filters.active or group not in closed
        listed.append(
            ModelRow(
                f"group:{group}",
                title,
                group,
                is_group=True,
                summary=_summary(inside),
                opened=is_open,
            )
        )
        listed += inside if is_open else []
    return tuple(listed)


def _summary(rows: Sequence[ModelRow]) -> str:
    there = sum(row.card is not None for row in rows)
    return ngettext(
        "{n} model, {there} installed", "{n} models, {there} installed", len(rows), there=there
    )


def without_installed(rows: Iterable[ModelRow]) -> frozenset[str]:
    """The families with no installed model, which are closed at first."""
    rows = tuple(rows)
    there = {row.group for row in rows if row.card is not None}
    return frozenset(row.group for row in rows) - there


def licences(rows: Iterable[ModelRow]) -> tuple[tuple[str, str], ...]:
    """(value of the filter, title) of each licence that occurs, by frequency."""
    counts: dict[str, int] = {}
    titles: dict[str, str] = {}
    for row in rows:
        key = row.licence.casefold() or UNSTATED
        counts[key] = counts.get(key, 0) + 1
        if row.licence and not titles.get(key, "").isupper():
            titles[key] = row.licence if row.card is None else titles.get(key, row.licence)
    titles[UNSTATED] = _("not stated")
    return tuple((key, titles[key]) for key in sorted(counts, key=lambda count: -counts[count]))


def _matches(row: ModelRow, group: str, search: str) -> bool:
    if row.card is None and row.about is not None:
        return matches(row.about, group, search)
    message = (row.title, row.paper, row.objective, row.licence, group, str(row.year))
    card = row.card
    where = " ".join((card.architecture, card.path)) if card is not None else ""
    text = " ".join((*message, where)).casefold()
    return all(word in text for word in search.casefold().split())
