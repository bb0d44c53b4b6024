"""Models that families can create: untrained, their sizes as options, a vocabulary from text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.base.options import Option, complete
from workbench.base.registry import registry
from workbench.models.spec.info import Creation, ModelInfo

PREFIX = "new:"  # of the names of such models, followed by the architecture

# Options that several families have.
MIN_COUNT = Option(
    "min_count", "int", 2, N_("Minimum frequency of a word in the vocabulary."),
    low=1, high=10**6, title=N_("Minimum count"),
)  # fmt: skip
DIRECTION = Option(
    "direction", "choice", "forward",
    N_("Direction of reading: the model predicts the next word (or character), or the "
       "previous one."),
    choices=("forward", "backward"), choice_titles=(N_("Forward"), N_("Backward")),
    title=N_("Direction"),
)  # fmt: skip


def size(
    name: str, default: int, help: str, *, title: str, low: int = 1, high: int = 8192
) -> Option:
    """An option for the size of a part of the network."""
    return Option(name, "int", default, help, low=low, high=high, group="main", title=title)


def vocabulary(default: int, help: str) -> Option:
    return size("vocabulary", default, help, title=N_("Vocabulary"), low=16, high=10**6)


@dataclass(frozen=True)
class NewModel:
    """A model that is to be created. architecture: the name after PREFIX. family: its id."""

    architecture: str
    family: str
    creation: Creation = field(repr=False)

    @property
    def name(self) -> str:
        return PREFIX + self.architecture

    def card(self) -> ModelInfo:
        """A card without sizes; its path is the name."""
        return ModelInfo(
            self.name,
            self.name,
            family=self.family,
            architecture=self.architecture,
            gives=self.creation.gives,
        )

    def settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Every option of the model. Raises SpecError for an invalid value."""
        own = {option.name for option in self.creation.options}
        chosen = {name: value for name, value in settings.items() if name in own}
        return complete(self.creation.options, chosen, owner=self.name)


def new_models() -> tuple[NewModel, ...]:
    return tuple(
        NewModel(architecture, info.id, creation)
        for info in registry().infos("family")
        for architecture, creation in info.creates.items()
    )


def new_model(name: str) -> NewModel | None:
    """The model for a name that begins with PREFIX; None for any other name.

    Raises ModelError that lists the known ones if it is unknown.
    """
    if not name.startswith(PREFIX):
        return None
    known = {model.name: model for model in new_models()}
    if name not in known:
        raise ModelError(
            _("There is no architecture {name!r} for a new model.", name=name.removeprefix(PREFIX)),
            hint=_("Known: {names}.", names=", ".join(known)),
        )
    return known[name]
