"""The catalogue of published systems, `resources/models/catalogue.toml`, read and checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.models.spec.info import ModelInfo

# The context from which a model predicts a word.
DIRECTIONS = {"left": N_("left"), "right": N_("right"), "both": N_("both")}
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
_FIRST_YEAR = 2000  # earlier years are typing errors
_MODEL_KEYS: Mapping[str, type] = {
    "name": str,
    "group": str,
    "paper": str,
    "url": str,
    "year": int,
    "objective": list,
    "direction": str,
    "architecture": str,
    "parameters": int,
    "corpus": str,
    "licence": str,
    "language": str,
    "hub": str,
    "page": str,
}
_REQUIRED = ("name", "group", "paper", "url", "year", "objective", "direction")


@dataclass(frozen=True)
class ModelGroup:
    """Models that are listed together.

    format: the id of the family that loads them; architectures: values of `model_type`, empty for
    all of the format.
    """

    id: str
    title: str
    format: str
    architectures: frozenset[str] = frozenset()

    def fits(self, info: ModelInfo) -> bool:
        fitting = not self.architectures or info.architecture in self.architectures
        return info.family == self.format and fitting


@dataclass(frozen=True)
class Published:
    """One system. Unknown texts are "", unknown numbers 0.

    objective: titles, in English. year: of the first publication. direction: a key of DIRECTIONS.
    hub: its id on the Hugging Face Hub. page: where its files are otherwise.
    installed: name of the installed model with this hub id, "" if there is none.
    """

    name: str
    group: str
    paper: str
    url: str
    year: int
    objective: tuple[str, ...]
    direction: str
    architecture: str = ""
    parameters: int = 0
    corpus: str = ""
    licence: str = ""
    language: str = ""
    hub: str = ""
    page: str = ""
    installed: str = ""

    @property
    def objectives(self) -> str:
        """The pretraining objectives on one line, translated."""
        return ", ".join(map(_, self.objective))

    def to_json(self) -> dict[str, object]:
        """Unknown numbers are null."""
        return {
            **vars(self),
            "objective": list(self.objective),
            "parameters": self.parameters or None,
        }


@dataclass(frozen=True)
class Catalogue:
    """objectives: key → title, in English."""

    groups: tuple[ModelGroup, ...]
    models: tuple[Published, ...]
    objectives: Mapping[str, str] = field(default_factory=dict, hash=False)

    def group_of(self, info: ModelInfo) -> str:
        """The id of the first group that an installed model fits, "" for none."""
        return next((group.id for group in self.groups if group.fits(info)), "")

    def original(self, info: ModelInfo) -> Published | None:
        """The entry of an installed model, else the first one of its architecture.

        One that predicts in the same direction is preferred: forward and backward models of a
        family differ in nothing else.
        """
        by_id = (model for model in self.models if model.hub and model.hub == info.name)
        group = self.group_of(info)
        like = [
            _as_generator(model, self.objectives) if "masked_lm" in info.gives else model
            for model in self.models
            if model.group == group and model.architecture in ("", info.architecture)
        ]
        alike = (published for published in like if published.direction == _direction(info))
        return next(by_id, None) or next(alike, None) or next(iter(like), None)

    def with_installed(self, cards: Iterable[ModelInfo]) -> tuple[Published, ...]:
        """All entries, each with the name of its installed model."""
        known = {card.name: card.name for card in cards}
        return tuple(replace(model, installed=known.get(model.hub, "")) for model in self.models)


def _as_generator(model: Published, objectives: Mapping[str, str]) -> Published:
    """ELECTRA's models that find replaced words are not trained on masked ones: a model of its
    architecture that predicts these is the generator.
    """
    if model.objective != (objectives.get("replaced_tokens"),):
        return model
    return replace(model, objective=(objectives["masked_lm"],))


def _direction(info: ModelInfo) -> str:
    """The key of DIRECTIONS that the outputs of a model show, "" if they show none."""
    left = {"next_lm", "next_character"} & {*info.gives}
    right = {"previous_lm", "previous_character"} & {*info.gives}
    if left and right:
        return "both"
    return "left" if left else "right" if right else ""


def matches(model: Published, group: str, words: str) -> bool:
    """Whether every word occurs in its name, group title, paper, objectives, corpus or ids."""
    message = (model.name, group, model.paper, model.objectives, model.corpus, model.licence)
    text = " ".join((*message, model.hub, model.language, model.architecture, str(model.year)))
    return all(word in text.casefold() for word in words.casefold().split())


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The catalogue that ships with the application."""
    return read(paths.resource("models/catalogue.toml"))


def read(path: Path) -> Catalogue:
    """A catalogue file. Raises ModelError that names the entry and the key."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            _("The catalogue {path} cannot be read: {error}", path=path, error=error)
        ) from error
    groups = tuple(
        ModelGroup(
            item.get("id", ""),
            item.get("title", ""),
            item.get("format", ""),
            frozenset(item.get("architectures", ())),
        )
        for item in raw.get("group", ())
    )
    objectives = raw.get("objectives", {})
    models, names = [], set[str]()
    for number, entry in enumerate(raw.get("model", ()), 1):
        where = _(
            "{path}, model {n} ({name})",
            path=path.name,
            n=number,
            name=entry.get("name", _("no name")),
        )
        _check(where, entry, groups, objectives)
        if entry["name"] in names:
            raise _fault(where, _("the name is used twice"))
        names.add(entry["name"])
        titles = tuple(objectives[item] for item in entry["objective"])
        models.append(Published(**{**entry, "objective": titles}))
    return Catalogue(groups, tuple(models), objectives)


def _check(
    where: str,
    entry: Mapping[str, Any],
    groups: Sequence[ModelGroup],
    objectives: Mapping[str, str],
) -> None:
    """Raises ModelError for a missing, unknown or invalid value."""
    for key in _REQUIRED:
        if not entry.get(key):
            raise _fault(where, _("{key} is missing", key=key))
    for key, value in entry.items():
        kind = _MODEL_KEYS.get(key)
        if kind is None:
            raise _fault(where, _("the key {key} is unknown", key=key))
        if type(value) is not kind:
            raise _fault(where, _("{key} has the wrong type: {value!r}", key=key, value=value))
    for key, value, known in (
        ("group", entry["group"], [group.id for group in groups]),
        ("direction", entry["direction"], [*DIRECTIONS]),
        *(("objective", item, [*objectives]) for item in entry["objective"]),
    ):
        if value not in known:
            message = _("{key} is {value!r}, expected one of {known}")
            raise _fault(where, message.format(key=key, value=value, known=", ".join(known)))
    if entry["year"] < _FIRST_YEAR or entry.get("parameters", 1) < 1:
        raise _fault(where, _("year or parameters are out of range"))
    if entry.get("hub") and not _HUB_ID.fullmatch(entry["hub"]):
        raise _fault(where, _("{value!r} is not a hub id", value=entry["hub"]))
    for key in ("url", "page"):
        if entry.get(key) and not entry[key].startswith("https://"):
            raise _fault(where, _("{key} must begin with https://", key=key))


def _fault(where: str, what: str) -> ModelError:
    return ModelError(_("{where}: {what}.", where=where, what=what))
