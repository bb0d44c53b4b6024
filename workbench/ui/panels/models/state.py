"""What the Models page shows: a card for every model at hand, usable or broken."""

from __future__ import annotations

from pathlib import Path

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.models import spec
from workbench.models.spec import ModelInfo
from workbench.operations import models as operations

ORIGINS = {"starter": _("starter"), "folder": _("folder"), "cache": _("Hugging Face cache")}


class ModelsState(State):
    """`cards` is None until they have been read; `busy` while they are read again."""

    def __init__(self, context):
        super().__init__()
        self.context = context
        self.cards: tuple[ModelInfo, ...] | None = None
        self.busy = False
        self._again = False  # something changed while the cards were being read

    @property
    def can_train(self) -> bool:
        project = self.context.project
        return project is not None and not project.read_only

    @property
    def offline(self) -> bool:
        return self.context.settings.offline

    def look(self) -> None:
        """Read all cards again, off the main thread: folders may lie on a slow disk."""
        self._again = self.busy
        if self.busy:
            return
        self.update(busy=True)
        settings = self.context.settings
        self.context.run(lambda: operations.list(settings), self._found, self._failed)

    def _found(self, cards: tuple[ModelInfo, ...]) -> None:
        self.update(busy=False, cards=cards)
        if self._again:
            self.look()

    def _failed(self, error: Exception) -> None:
        self.update(busy=False, cards=self.cards or ())
        self.context.fail(error)

    # ---------------------------------------------------------------- adding and forgetting

    def wants_trust(self, folder: Path) -> bool:
        """Whether all that stands against this folder is that its weights are pickled."""
        card = spec.card(folder)
        return card.pickled and len(card.problems) == 1

    def add(self, folder: Path, *, trust: bool = False) -> ModelInfo | None:
        """None, and the reason told, where the folder is no usable model."""
        card = self.context.attempt(
            operations.add, folder, allow_pickle=trust, settings=self.context.settings
        )
        if card is not None:
            self.look()
            self.context.note(
                _("{name} can be used now.").format(name=card.name),
                lambda: self._forget(card.name),
                action=_("Undo"),
            )
        return card

    def trust(self, name: str) -> None:
        """Pickled weights of a listed model were confirmed."""
        if self.context.attempt(operations.allow_pickle, name, self.context.settings) is not None:
            self.look()

    def forget(self, card: ModelInfo) -> None:
        if self._forget(card.name):
            trusted = card.pickled and card.usable
            said = _("{name} was taken off the list; its files stay.").format(name=card.name)
            self.context.note(
                said, lambda: self.add(Path(card.path), trust=trusted), action=_("Undo")
            )

    def _forget(self, name: str) -> bool:
        done = self.context.attempt(
            lambda: (operations.remove(name, self.context.settings), True)[1]
        )
        self.look()
        return bool(done)

    # ---------------------------------------------------------------- leading on

    def train(self, card: ModelInfo) -> None:
        self.context.go("train", model=card.name)

    def inspect(self, card: ModelInfo) -> None:
        self.context.go("inspect", model=card.name)


def size_words(count: int) -> str:
    """46,501,823 → "46.5 MB"."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def number_words(count: int) -> str:
    """22,893,116 → "22.9 M"; "–" where it is not known."""
    for limit, words in ((1e9, _("{n:.1f} B")), (1e6, _("{n:.1f} M")), (1e3, _("{n:.1f} k"))):
        if count >= limit:
            return words.format(n=count / limit)
    return str(count) if count else "–"


def facts(card: ModelInfo) -> tuple[tuple[str, str], ...]:
    """(name, value) of a card, in the order of reading; "–" where it is not known."""
    shape = f"{card.layers} × {card.width}" if card.layers and card.width else ""
    found = (
        (_("Family"), card.family),
        (_("Parameters"), number_words(card.parameters)),
        (_("Layers × width"), shape),
        (_("Vocabulary"), f"{card.vocabulary:,}" if card.vocabulary else ""),
        (
            _("Maximum length"),
            _("{n} subwords").format(n=f"{card.max_length:,}") if card.max_length else "",
        ),
        (_("Size"), size_words(card.size_bytes) if card.size_bytes else ""),
        (_("Weights"), _("pickled") if card.pickled else card.dtype),
        (_("Licence"), card.licence or (_("not stated") if card.family else "")),
    )
    return tuple((name, value or "–") for name, value in found)


def problem_words(card: ModelInfo) -> str:
    """What is wrong with the folder, as one or more sentences."""
    return " ".join(f"{_sentence(one)}." for one in card.problems)


def _sentence(text: str) -> str:
    """With a capital, unless it begins with the name of a file."""
    return text if "." in text.split()[0] else text[0].upper() + text[1:]
